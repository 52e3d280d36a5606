//! The paper's tables and figures, a file for each.

mod cost;
mod course;
mod curves;
mod d_ary;
mod details;
mod equation_3;
mod figure_2;
mod figure_3;
mod figure_4;
mod figure_5;
mod figure_6;
mod figure_7;
mod figure_8;
mod floors;
mod formulas;
#[cfg(feature = "peers")]
mod losses;
mod name;
#[cfg(feature = "peers")]
mod peers;
mod space;
mod table_1;
mod table_2;
mod table_3;

pub(crate) use cost::Cost;
pub(crate) use name::{Extent, Name};
