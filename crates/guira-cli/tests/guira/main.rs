//! The program as its users meet it.

mod cases;
mod corpus;
#[cfg(unix)]
mod crash;
mod feeds;
mod files;
mod generated;
mod inputs;
mod pauses;
#[cfg(unix)]
mod races;
#[cfg(unix)]
mod readme;
#[cfg(unix)]
mod recipes;
#[cfg(unix)]
mod replacement;
mod reports;
mod streams;
#[cfg(target_os = "linux")]
mod terminal;
mod workplace;
