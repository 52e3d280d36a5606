//! The filter behind a shared reference: with one thread as the filter it is made of, with several against an oracle.

mod doubling;
mod growth;
mod one_thread;
mod snapshots;
mod stress;
mod threads;
