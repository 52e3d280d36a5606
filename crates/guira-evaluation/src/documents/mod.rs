//! Numbers in documents, which a command copies from data files.

mod block;
mod data;
mod printed;
mod splice;

pub(crate) use data::record;
pub(crate) use splice::{Writing, splice};
