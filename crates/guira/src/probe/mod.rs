//! Match tests on one machine word, and prefetching. Nothing here knows what a bucket or a fingerprint is.

mod lanes;
mod prefetch;
mod vectorized;

pub(crate) use lanes::{Lanes, Word};
#[cfg(feature = "std")]
pub(crate) use prefetch::PrefetchToWrite;
pub(crate) use prefetch::prefetch;
pub(crate) use vectorized::vectorized;
