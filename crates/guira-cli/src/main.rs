//! `guira`: cuckoo filters on the command line.

mod arguments;
mod commands;
mod exit_status;
mod failure;
mod filter_file;
mod inspection;
mod keys;
mod program;
mod progress;
mod render;
mod secret_key;
mod stored_filter;
mod threads;

fn main() -> std::process::ExitCode {
    program::run().into()
}
