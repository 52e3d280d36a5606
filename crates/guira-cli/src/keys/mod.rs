//! Reading keys: records of files and streams, their digests, and examples to show.

mod block;
mod compression;
mod csv;
mod distinct;
mod examples;
mod foreign;
mod form;
mod inputs;
mod json;
mod list;
mod memory;
mod normalization;
mod record;
mod records;
mod run;
mod time_field;
mod zstandard;

pub(crate) use block::Block;
pub(crate) use compression::Compression;
pub(crate) use distinct::{DigestCollector, DistinctDigests, NewKeys, SeenDigests};
pub(crate) use examples::Examples;
pub use form::{FieldChoice, Fields, KeyForm, KeyPart, RecordEnd, Separator};
#[cfg(unix)]
pub(crate) use inputs::Pulse;
pub(crate) use inputs::{BATCH_SIZE, EmptyCounts, Input, Inputs};
pub(crate) use list::KeyList;
pub(crate) use normalization::{EmptyKeys, Normalization};
pub use record::Record;
pub(crate) use time_field::{RecordTime, TimeField};
