//! Keys as they come: lines of files and streams, their digests, and those that are shown to a person.

mod distinct;
mod examples;
mod inputs;
mod lines;

pub(crate) use distinct::{DigestCollector, DistinctDigests, NewKeys, SeenDigests};
pub(crate) use examples::Examples;
pub(crate) use inputs::{BATCH_SIZE, Inputs};
pub(crate) use lines::for_each_key_of_block;
