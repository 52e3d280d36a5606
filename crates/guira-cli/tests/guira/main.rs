//! The program as its users meet it.

mod cases;
mod files;
#[cfg(unix)]
mod readme;
mod reports;
mod streams;
mod workplace;
