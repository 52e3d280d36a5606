//! What a reproduction says, and the ways in which it is told.

mod cell;
mod chart;
mod claim;
mod files;
mod machine;
mod reproduction;
mod svg;
mod table;

pub(crate) use cell::{Cell, Origin, four_digits};
pub(crate) use chart::{Axis, Chart, Scaling, Series};
pub(crate) use claim::{Claim, Verdict};
pub(crate) use files::{write_report, write_reproduction};
pub(crate) use machine::Machine;
pub(crate) use reproduction::Reproduction;
pub(crate) use table::{Column, Table};
