use std::path::PathBuf;

use clap::Args;

use super::{KeyFileArguments, NowArguments};

/// Show what a filter file holds
///
/// What stands before and behind the table is read and checked, so the answer comes at once however large the file is; "guira
/// verify" checks the table too. A filter that was made with a secret key is shown without it too.
#[derive(Args, Debug)]
#[command(
    before_help = "Examples:\n  guira info words.guira\n  guira info --json words.guira",
    after_help = "Exit status: 0 if the file is a filter, 2 if not"
)]
pub(crate) struct InfoArguments {
    /// Print nothing but errors: the exit status is the answer
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) now: NowArguments,

    #[command(flatten)]
    pub(crate) key: KeyFileArguments,

    /// The filter file; "-" is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}
