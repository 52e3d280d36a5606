//! The program `guira`, as a library for its own binary, a fuzz target and tests. It has no stable interface: others should
//! use the crate `guira`.

mod allocator;
mod arguments;
mod commands;
mod edited_filter;
mod exit_status;
mod failure;
mod filter;
mod filter_bytes;
mod filter_file;
mod filter_output;
mod filter_view;
mod inspection;
mod journaled_filter;
pub mod keys;
mod program;
mod progress;
mod provenance;
mod render;
mod same_file;
mod secret_key;
#[cfg(feature = "redis")]
mod server;
mod shell;
mod signals;
mod stored_filter;
mod threads;
mod time;

pub use allocator::Ending;
pub use program::run;
