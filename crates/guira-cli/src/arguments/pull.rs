use std::path::PathBuf;

use clap::Args;

use super::{KeyFileArguments, QuietArguments, ServerArguments, WaitArguments};

const EXAMPLES: &str = "\
Examples:
  What a server has seen, as a file:
    guira pull redis://localhost:6379/seen --output seen.guira
    guira check seen.guira words.txt

  The same with the secret key of the server's filter, which all that ask the file need:
    guira pull redis://localhost:6379/seen --output seen.guira --save-key seen.key
    guira check --key-file seen.key seen.guira words.txt";

const STATUS: &str = "Exit status: 0 if the file was written, 2 if there was an error and none was";

/// Write a filter of Redis or Valkey to a file
///
/// The server has the module guira-redis. The file appears whole or not at all, and its checksums are verified
/// before. A filter that is changed while it is pulled is refused. What was pushed comes back byte
/// for byte, if nothing was changed on the server. Keys that expire there expire in the file too, by the clock.
///
/// Filters on a server have a secret key, unless they were made with HASH xxh3. It is not in the file, and it is not
/// written unless --save-key asks for it.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLES, after_help = STATUS)]
pub(crate) struct PullArguments {
    /// The filter file to write; "-" is standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// Replace the output file if there is one
    #[arg(long)]
    pub(crate) force: bool,

    /// Write the secret key of the filter to this file, for --key-file
    ///
    /// It has 32 hexadecimal digits on a line, and nobody but its owner may read it. A file that has this key already is left
    /// alone, and one with anything else is refused.
    #[arg(long, value_name = "KEYFILE", conflicts_with = "key_file")]
    pub(crate) save_key: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) server: ServerArguments,

    #[command(flatten)]
    pub(crate) key: KeyFileArguments,

    #[command(flatten)]
    pub(crate) wait: WaitArguments,

    #[command(flatten)]
    pub(crate) quiet: QuietArguments,

    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Where the filter is: redis://HOST:PORT/KEY, or redis://HOST:PORT/DATABASE/KEY
    #[arg(value_name = "URL", long_help = super::shared::URL_HELP)]
    pub(crate) url: String,
}
