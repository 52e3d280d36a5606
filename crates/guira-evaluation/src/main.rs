//! `guira-evaluation`: the tables and figures of "Cuckoo Filter: Practically Better Than Bloom", measured again.

mod arguments;
mod cast;
mod contender;
mod documents;
mod failure;
mod journal;
mod keys;
mod measure;
mod program;
mod report;
mod reproductions;
mod scale;

fn main() -> std::process::ExitCode {
    program::run()
}
