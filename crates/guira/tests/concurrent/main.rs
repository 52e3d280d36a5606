//! The filter behind a shared reference: with one thread as the filter it is made of, with several against an oracle.

#[path = "../oracle"]
mod oracle {
    pub(crate) mod case;
    pub(crate) mod random;
}

mod doubling;
mod growth;
mod one_thread;
mod stress;
mod threads;
