//! Every baseline against a plain model and against its theory.

#![expect(clippy::cast_precision_loss, reason = "the counts are far below 2^53, and statistics are approximate")]

mod bloom_family;
mod cuckoo;
mod d_left;
mod hash_table;
mod oracle {
    pub(crate) mod binomial;
    pub(crate) mod digests;
    pub(crate) mod occupancy;
    pub(crate) mod population;
}
mod quotient;
mod rank_indexed;
mod static_filters;
