//! `guira`: cuckoo filters on the command line.

mod arguments;
mod commands;
mod exit_status;
mod failure;
mod filter_file;
mod keys;
mod program;
mod progress;
mod render;

fn main() -> std::process::ExitCode {
    program::run().into()
}
