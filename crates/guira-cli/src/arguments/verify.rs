use std::path::PathBuf;

use clap::Args;

use super::KeyFileArguments;

/// Check that filter files are whole
///
/// Reads each file from its first byte to its last, and compares the checksums, the parameters, what the slots may hold
/// and how many of them are taken. Says OK or what is wrong. Of a filter that was made with a secret key, the key is
/// checked if it is given, and all the rest in any case.
///
/// Changes that were being appended when a program or the system ended are not in the filter, which is no fault: it is said.
#[derive(Args, Debug)]
#[command(
    before_help = "Examples:\n  guira verify words.guira\n  guira verify --json *.guira",
    after_help = "Exit status: 0 if all files are OK, 2 if not"
)]
pub(crate) struct VerifyArguments {
    /// Print nothing but errors: the exit status is the answer
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) key: KeyFileArguments,

    /// The filter files
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}
