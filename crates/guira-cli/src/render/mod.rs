//! What goes to standard output: lines, and reports for people and for programs.

mod output;
mod report;
pub(crate) mod text;

pub(crate) use output::Output;
pub(crate) use report::{Rows, print};
