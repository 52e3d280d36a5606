//! What this program says of itself to other programs.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Print the completions of a shell
#[derive(Args, Debug)]
#[command(before_help = "Examples:\n  guira completions bash > ~/.local/share/bash-completion/completions/guira\n  \
                        guira completions fish > ~/.config/fish/completions/guira.fish")]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// Print the manual page, or write those of all commands
#[derive(Args, Debug)]
#[command(before_help = "Examples:\n  guira man | man -l -\n  guira man --output-dir ~/.local/share/man/man1")]
pub(crate) struct ManArguments {
    /// Write a page for the program and one for each command into this directory, which must exist
    #[arg(long, value_name = "DIR")]
    pub(crate) output_dir: Option<PathBuf>,
}
