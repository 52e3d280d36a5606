//! Commands as they are typed.

mod creation;
mod name;
mod parse;

pub use creation::Creation;
pub use name::{CommandName, KeyUse};
pub use parse::{Absent, Command, Repeats, Secret};

pub(crate) use creation::{MAX_CAPACITY, number};
pub(crate) use name::{Argument, ArgumentKind, Need, Specification};
