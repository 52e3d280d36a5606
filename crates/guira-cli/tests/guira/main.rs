//! The program as its users meet it.

mod cases;
mod files;
mod reports;
mod streams;
mod workplace;
