//! `guira`: cuckoo filters on the command line.

fn main() -> std::process::ExitCode {
    guira_cli::run()
}
