//! One error type per activity, with the numbers that explain it.

mod build;
mod insert;
mod load;

pub use build::BuildError;
pub use insert::InsertError;
pub use load::LoadError;
