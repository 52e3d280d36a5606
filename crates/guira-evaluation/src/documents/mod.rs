//! Numbers in documents: they come from data files, and a command puts them there.

mod block;
mod data;
mod printed;
mod splice;

pub(crate) use data::record;
pub(crate) use splice::{Writing, splice};
