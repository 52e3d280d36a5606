//! The subcommands, one per file: each calls the library and reports the result.

pub(crate) mod add;
pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod count;
mod curves;
pub(crate) mod diff;
pub(crate) mod info;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod plan;
#[cfg(feature = "redis")]
pub(crate) mod pull;
#[cfg(feature = "redis")]
pub(crate) mod push;
pub(crate) mod remove;
pub(crate) mod shrink;
pub(crate) mod unique;
pub(crate) mod verify;

mod growing;
#[cfg(unix)]
mod intervals;
mod likeness;
mod warnings;
