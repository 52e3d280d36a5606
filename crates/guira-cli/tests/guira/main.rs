//! The program as its users meet it.

mod additions;
mod cases;
#[cfg(unix)]
mod crash;
mod expiring;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod faults;
mod feeds;
mod files;
mod generated;
mod inputs;
#[cfg(unix)]
mod journal;
#[cfg(unix)]
mod live;
#[cfg(target_os = "linux")]
mod opened;
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
#[cfg(unix)]
mod unique;
#[cfg(unix)]
mod unique_for;
mod words;
mod workplace;
