//! What goes to standard output: lines, and reports for people and for programs.

mod chart;
mod doublings;
mod escape;
pub(crate) mod names;
mod output;
mod report;
pub(crate) mod text;

pub(crate) use chart::{Chart, Line, Mark};
pub(crate) use doublings::Doublings;
pub(crate) use escape::escaped;
pub(crate) use output::Output;
pub(crate) use report::{Report, print, tell};
