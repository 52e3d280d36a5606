//! The command line as it is typed. Help texts are written here; what a command does is in `commands`.

mod add;
mod build;
mod check;
mod convert;
mod count;
mod diff;
mod generate;
mod info;
mod inputs;
mod merge;
mod names;
mod now;
mod plan;
#[cfg(feature = "redis")]
mod pull;
#[cfg(feature = "redis")]
mod push;
mod remove;
mod shared;
mod shrink;
mod unique;
mod values;
mod verify;

use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};

pub(crate) use add::AddArguments;
pub(crate) use build::BuildArguments;
pub(crate) use check::{CheckArguments, Print, When};
pub(crate) use convert::ConvertArguments;
pub(crate) use count::CountArguments;
pub(crate) use diff::DiffArguments;
pub(crate) use generate::{CompletionsArguments, ManArguments};
pub(crate) use info::InfoArguments;
pub(crate) use inputs::InputArguments;
pub(crate) use merge::MergeArguments;
pub(crate) use names::{HashName, Prefer, Untimed};
pub(crate) use now::NowArguments;
pub(crate) use plan::PlanArguments;
#[cfg(feature = "redis")]
pub(crate) use pull::PullArguments;
#[cfg(feature = "redis")]
pub(crate) use push::PushArguments;
pub(crate) use remove::RemoveArguments;
#[cfg(feature = "redis")]
pub(crate) use shared::ServerArguments;
pub(crate) use shared::{KeyFileArguments, QuietArguments, ThreadArguments, TrustArguments, WaitArguments};
pub(crate) use shrink::ShrinkArguments;
pub(crate) use unique::UniqueArguments;
pub(crate) use values::json_path;
pub(crate) use verify::VerifyArguments;

/// Keep a set of keys in a few bits per key, and ask it, add to it, remove from it.
///
/// A cuckoo filter answers "certainly not" or "probably" for a key. How often "probably" is wrong is the false positive rate,
/// which you choose. A key is a line without its line end: any bytes, of any length, even none, compared byte for byte.
#[derive(Debug, Parser)]
#[command(name = "guira", version, long_version = LONG_VERSION, arg_required_else_help = true, max_term_width = 100)]
#[command(before_help = EXAMPLES, after_long_help = STATUS)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  Keep a word list, so that at most 1 in 1000 other words is taken for one of it:
    guira build -o words.guira words.txt

  The lines of a text that are probably in the list, and those that certainly are not:
    guira check words.guira text.txt
    guira check -v words.guira text.txt

  Lines of a log whose first field is in a list, as they are written:
    tail -f access.log | guira check --follow --field 1 --delimiter blanks blocked.guira

  Each line of a log the first time that it comes, as it comes:
    tail -f app.log | guira unique";

const STATUS: &str = "\
Exit status: 0 if all was done, 1 if nothing was found (check, count), not all was found (remove) or filters differ (diff), \
2 if there was an error, 3 if a part was done (add --keep-fitting)";

/// Whether it talks to servers.
#[cfg(not(feature = "redis"))]
macro_rules! servers {
    () => {
        ""
    };
}
#[cfg(all(feature = "redis", not(feature = "redis-tls")))]
macro_rules! servers {
    () => {
        "; servers, without TLS"
    };
}
#[cfg(feature = "redis-tls")]
macro_rules! servers {
    () => {
        "; servers, with TLS (rustls)"
    };
}

/// The version, what it was built from, and what it was built with.
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit: ",
    env!("GUIRA_COMMIT"),
    "\ntarget: ",
    env!("GUIRA_TARGET"),
    "\nfeatures: mmap, rayon; reads and writes gzip (zlib-rs) and zstd (ruzstd)",
    servers!(),
    "\nfile format: version 1"
);

impl Arguments {
    /// Reads the command line of this process. Options that only switch something on may come again, as they do behind an alias.
    pub(crate) fn of_process() -> Result<Self, clap::Error> {
        let mut command = Self::command().mut_subcommands(|command| {
            command.mut_args(|argument| match argument.get_action() {
                ArgAction::SetTrue => {
                    let itself = argument.get_id().clone();
                    argument.overrides_with(itself)
                }
                _ => argument,
            })
        });
        let mut matches = command.try_get_matches_from_mut(std::env::args_os())?;
        Self::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Build(BuildArguments),
    Check(CheckArguments),
    Unique(UniqueArguments),
    Add(AddArguments),
    Remove(RemoveArguments),
    Count(CountArguments),
    Merge(MergeArguments),
    Diff(DiffArguments),
    Convert(ConvertArguments),
    Shrink(ShrinkArguments),
    Info(InfoArguments),
    Verify(VerifyArguments),
    Plan(PlanArguments),
    #[cfg(feature = "redis")]
    Push(PushArguments),
    #[cfg(feature = "redis")]
    Pull(PullArguments),
    Completions(CompletionsArguments),
    Man(ManArguments),
}

impl Command {
    /// Returns `true` if the command replaces or creates a filter file, and a signal ends it as it is.
    pub(crate) const fn replaces_files(&self) -> bool {
        match self {
            // It stores what has come before it ends.
            #[cfg(unix)]
            Self::Add(add) if add.every.is_some() => false,
            Self::Build(_) | Self::Add(_) | Self::Remove(_) | Self::Merge(_) | Self::Convert(_) | Self::Shrink(_) => {
                true
            }
            Self::Plan(plan) => plan.plot.is_some(),
            #[cfg(feature = "redis")]
            Self::Pull(_) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }
}
