//! Match tests on one machine word, prefetching, and pages that are given back. Nothing here knows what a bucket or a
//! fingerprint is.

mod buckets;
mod bytes;
mod lanes;
#[cfg(all(feature = "std", target_os = "linux"))]
mod pages;
mod prefetch;
mod vectorized;
#[cfg(feature = "concurrent")]
mod words;

pub(crate) use buckets::{AnyRegions, Below, Buckets, Extent, OneRegion, Regions, Regions65536, Ways};
pub(crate) use bytes::Bytes;
pub(crate) use lanes::{Lanes, Word};
#[cfg(all(feature = "std", target_os = "linux"))]
pub(crate) use pages::give_back;
#[cfg(feature = "concurrent")]
pub(crate) use prefetch::PrefetchToWrite;
pub(crate) use prefetch::prefetch;
pub(crate) use vectorized::vectorized;
#[cfg(feature = "concurrent")]
pub(crate) use words::{WordMemory, Words};
