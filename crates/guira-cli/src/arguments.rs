//! The command line as it is typed. Help texts are written here; what a command does is in `commands`.

mod add;
mod build;
mod check;
mod count;
mod generate;
mod info;
mod inputs;
mod merge;
mod names;
mod plan;
mod remove;
mod shared;
mod shrink;
mod values;
mod verify;

use clap::{Parser, Subcommand};

pub(crate) use add::AddArguments;
pub(crate) use build::BuildArguments;
pub(crate) use check::{CheckArguments, Print, When};
pub(crate) use count::CountArguments;
pub(crate) use generate::{CompletionsArguments, ManArguments};
pub(crate) use info::InfoArguments;
pub(crate) use inputs::InputArguments;
pub(crate) use merge::MergeArguments;
pub(crate) use names::{HashName, Prefer};
pub(crate) use plan::PlanArguments;
pub(crate) use remove::RemoveArguments;
pub(crate) use shared::{KeyFileArguments, QuietArguments, ThreadArguments, TrustArguments};
pub(crate) use shrink::ShrinkArguments;
pub(crate) use verify::VerifyArguments;

/// Keep a set of keys in a few bits per key, and ask it, add to it, remove from it.
///
/// A cuckoo filter answers "certainly not" or "probably" for a key; how often "probably" is wrong is yours to choose. A
/// key is a line without its line end (LF or CR LF): any bytes, of any length, compared byte for byte.
#[derive(Debug, Parser)]
#[command(name = "guira", version, long_version = LONG_VERSION, arg_required_else_help = true, max_term_width = 100, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  Keep a word list, so that at most 1 in 1000 other words is taken for one of it:
    guira build --output words.guira words.txt

  The lines of a text that are probably in the list, and those that certainly are not:
    guira check words.guira text.txt
    guira check --invert words.guira text.txt

  Keys in a field of compressed rows, at a lower rate, with room for more to come:
    guira build --field 2 --rate 0.0001 --capacity 5000000 -o users.guira users.tsv.gz

  A list that changes every day:
    guira add blocked.guira today.txt && guira remove blocked.guira expired.txt

Exit status: 0 all done, 1 nothing found (check) or not all found (remove), 2 an error";

/// The version, what it was built from, and what it was built with.
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit: ",
    env!("GUIRA_COMMIT"),
    "\ntarget: ",
    env!("GUIRA_TARGET"),
    "\nfeatures: mmap, rayon; reads and writes gzip (zlib-rs) and zstd (ruzstd)\nfile format: version 1"
);

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Build(BuildArguments),
    Check(CheckArguments),
    Add(AddArguments),
    Remove(RemoveArguments),
    Count(CountArguments),
    Merge(MergeArguments),
    Shrink(ShrinkArguments),
    Info(InfoArguments),
    Verify(VerifyArguments),
    Plan(PlanArguments),
    Completions(CompletionsArguments),
    Man(ManArguments),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn arguments_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }
}
