//! The results of reproductions, and their output formats.

mod cell;
mod chart;
mod claim;
mod files;
mod machine;
mod page;
mod pairs;
mod palette;
mod reproduction;
mod rule;
mod run;
mod statements;
mod style;
mod svg;
mod table;

pub(crate) use cell::{Cell, Origin, four_digits, is_number};
pub(crate) use chart::{Axis, Chart, Point, Series};
pub(crate) use claim::{Claim, Judge, Verdict, Whose, settle};
use files::csv_of;
pub(crate) use files::{Drawing, draw_pictures, read_earlier, write_measured, write_report};
pub(crate) use machine::Machine;
pub(crate) use page::write_page;
pub(crate) use reproduction::Reproduction;
pub(crate) use rule::{Rule, Term, cells};
pub(crate) use run::{Measured, Run};
pub(crate) use style::{Line, Style};
pub(crate) use table::{Column, Table};
