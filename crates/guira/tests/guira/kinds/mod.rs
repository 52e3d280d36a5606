//! Maps, counting filters and sets: each against a plain model, and what their files hold and refuse.

#![expect(clippy::cast_precision_loss, reason = "the counts are far below 2^53, and statistics are approximate")]

mod counting;
mod files;
mod growing;
mod map;
mod rates;
mod set;
mod shape;
