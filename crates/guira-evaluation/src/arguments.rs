//! The command line as it is typed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand};

use crate::contender::Kind;
use crate::documents::Writing;
use crate::report::Drawing;
use crate::reproductions::{Extent, Name};
use crate::scale::Scale;

/// Measure the tables and figures of "Cuckoo Filter: Practically Better Than Bloom" again.
///
/// Prints tables, and for each claim of the paper whether it holds here. Everything but times is the same in every run.
/// Exits with an error if a filter denies a key that it holds, or finds absent ones more often than it may.
#[derive(Debug, Parser)]
#[command(name = "guira-evaluation", version, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,

    /// How much to measure
    #[arg(long, global = true, value_enum, default_value_t = Scale::Quick)]
    scale: Scale,

    /// How often filled filters are asked beside the floors; the median counts [default: 3, 16 at medium scale, 24 at the paper's]
    #[arg(long, global = true, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,

    /// How often each filter of tables and figures is filled [default: 3 at quick scale; otherwise 10 times, and on until all
    /// claims are decided, up to 24]
    #[arg(long, global = true, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    fills: Option<u64>,

    /// The folder for CSV, JSON and SVG files, and with "all" for report.md; with "report", the page [default there:
    /// report.html]
    #[arg(long, short, global = true, value_name = "PATH")]
    output: Option<PathBuf>,

    /// The revision that is measured [default: what git says]
    #[arg(long, global = true)]
    pub(crate) commit: Option<String>,
}

#[derive(Clone, Debug, Subcommand)]
enum What {
    /// What each kind of filter costs and can do
    #[command(name = "table-1")]
    Table1,
    /// Bits per key, loads and memory references of Bloom and cuckoo filters
    #[command(name = "table-2")]
    Table2,
    /// All filters with the same memory: keys, rates, and how fast they are built
    #[command(name = "table-3")]
    Table3,
    /// Load factors for lengths of fingerprints
    #[command(name = "figure-2")]
    Figure2(Figure2Arguments),
    /// Bits per key against rate, for buckets of 2, 4 and 8 slots
    #[command(name = "figure-3")]
    Figure3,
    /// Bits per key against rate, for Bloom and cuckoo filters and the limit
    #[command(name = "figure-4")]
    Figure4,
    /// Lookups of filled filters, against the share of present keys
    #[command(name = "figure-5")]
    Figure5,
    /// Lookups, against the load
    #[command(name = "figure-6")]
    Figure6,
    /// Insertions, against the load
    #[command(name = "figure-7")]
    Figure7,
    /// Removals, against the load
    #[command(name = "figure-8")]
    Figure8,
    /// The shortest fingerprints with which tables fill, against the bound
    #[command(name = "equation-3")]
    Equation3,
    /// Loads and bits per key with two, three and four candidate buckets
    #[command(name = "d-ary")]
    DAry,
    /// Small claims: copies of a key, short of room, removal of absent keys, values, lines of code
    Details,
    /// What the memory allows: reading one, two or four random lines
    Floors(FloorsArguments),
    /// Filters of other people, by their own interfaces
    #[cfg(feature = "peers")]
    Peers,
    /// What becomes of keys in filters of other people that are overfilled, emptied, or given one key again and again
    #[cfg(feature = "peers")]
    Losses,
    /// All of them, into a folder; stopped and typed again, it goes on where it was
    ///
    /// Says first how long it takes, and how much memory. Each finished measurement is kept in the folder, in state.jsonl. On
    /// another machine, of another commit or with other arguments it does not go on with those.
    All(AllArguments),
    /// All of them, as one HTML page; what is measured goes into the folder of earlier results
    Report(AllArguments),
    /// Runs a program and writes the tables that it prints to a data file, with machine and command
    Record(RecordArguments),
    /// Puts what data files give into the marked blocks of documents
    Splice(SpliceArguments),
    /// Draws a chart of a data file as a small picture, once for a light background and once for a dark one
    Draw(DrawArguments),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct RecordArguments {
    /// The data file, such as docs/data/growth.json
    pub(crate) file: PathBuf,

    /// The program and its arguments, after "--"
    #[arg(last = true, required = true)]
    pub(crate) command: Vec<OsString>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct SpliceArguments {
    /// Documents in Markdown
    #[arg(required = true)]
    documents: Vec<PathBuf>,

    /// Writes nothing: a document that differs from the data is an error
    #[arg(long)]
    check: bool,

    /// So are numbers in tables without data
    #[arg(long, requires = "check")]
    all_tables: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct DrawArguments {
    /// The data file of a reproduction, such as docs/report/peers.json
    pub(crate) file: PathBuf,

    /// The name of a chart in it
    pub(crate) chart: String,

    /// The folder for NAME-light.svg and NAME-dark.svg
    pub(crate) folder: PathBuf,

    /// Writes nothing: a picture that differs from the data is an error
    #[arg(long)]
    check: bool,
}

impl DrawArguments {
    pub(crate) const fn drawing(&self) -> Drawing {
        if self.check { Drawing::Check } else { Drawing::Write }
    }
}

/// The task to perform.
#[derive(Debug)]
pub(crate) enum Task<'arguments> {
    Reproduce,
    Record(&'arguments RecordArguments),
    Splice(&'arguments [PathBuf], Writing),
    Draw(&'arguments DrawArguments),
}

#[derive(Args, Clone, Copy, Debug)]
struct Figure2Arguments {
    /// The exponent of the most buckets in figure 2
    ///
    /// At the paper's scale there are tables of 2^15, 2^20, 2^25 and 2^30 buckets, up to this one. A single table of 2^25
    /// takes up to 0.7 GB, one of 2^30 up to 21 GB. How much and how long is said before it starts.
    #[arg(long, value_name = "EXPONENT", default_value_t = 25)]
    largest: u32,

    /// How many tables are filled for each point of figure 2; the lowest load counts [default: 10 at the paper's scale]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,
}

#[derive(Args, Clone, Debug)]
struct FloorsArguments {
    /// Sets only these filters beside the floors, which are otherwise all of them
    #[arg(long, value_name = "FILTER", value_delimiter = ',')]
    only: Vec<Kind>,
}

#[derive(Args, Clone, Debug)]
struct AllArguments {
    /// A folder of earlier results: those of this scale are taken, and only the others are measured
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,

    /// Takes earlier results of other scales, too; the page says which they are
    #[arg(long, requires = "from")]
    mixed: bool,

    #[command(flatten)]
    of_figure_2: Figure2Arguments,
}

/// The page with all results, which is written at the end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Page<'path> {
    /// Into a folder, also as Markdown.
    Folder(&'path Path),
    /// Into a file.
    Html(&'path Path),
}

impl Arguments {
    pub(crate) fn task(&self) -> Task<'_> {
        match &self.what {
            What::Record(recorded) => Task::Record(recorded),
            What::Draw(drawn) => Task::Draw(drawn),
            What::Splice(SpliceArguments { documents, check, all_tables }) => {
                let writing = match (check, all_tables) {
                    (true, true) => Writing::CheckTables,
                    (true, false) => Writing::Check,
                    (false, _) => Writing::Rewrite,
                };
                Task::Splice(documents, writing)
            }
            _ => Task::Reproduce,
        }
    }

    /// The reproductions to measure, in order.
    pub(crate) fn names(&self) -> Vec<Name> {
        match self.what {
            What::Table1 => vec![Name::Table1],
            What::Table2 => vec![Name::Table2],
            What::Table3 => vec![Name::Table3],
            What::Figure2(_) => vec![Name::Figure2],
            What::Figure3 => vec![Name::Figure3],
            What::Figure4 => vec![Name::Figure4],
            What::Figure5 => vec![Name::Figure5],
            What::Figure6 => vec![Name::Figure6],
            What::Figure7 => vec![Name::Figure7],
            What::Figure8 => vec![Name::Figure8],
            What::Equation3 => vec![Name::Equation3],
            What::DAry => vec![Name::DAry],
            What::Details => vec![Name::Details],
            What::Floors(_) => vec![Name::Floors],
            #[cfg(feature = "peers")]
            What::Peers => vec![Name::Peers],
            #[cfg(feature = "peers")]
            What::Losses => vec![Name::Losses],
            What::All(_) | What::Report(_) => Name::ALL.to_vec(),
            What::Record(_) | What::Splice(_) | What::Draw(_) => Vec::new(),
        }
    }

    /// The folder of the journal, and the parameters that must be equal to continue it. Fillings have entries of their own: a run with
    /// more of them goes on with those that are there.
    pub(crate) fn journaled(&self) -> Option<(&Path, Vec<(String, String)>)> {
        let (What::All(_), Some(folder)) = (&self.what, self.output.as_deref()) else { return None };
        let Extent { scale, rounds, largest_exponent, runs, .. } = self.extent();
        let parameters = [
            ("--scale", scale.name().to_owned()),
            ("--rounds", rounds.to_string()),
            ("--largest", largest_exponent.to_string()),
            ("--runs", runs.to_string()),
            ("with peers", cfg!(feature = "peers").to_string()),
        ];
        Some((folder, parameters.map(|(name, value)| (name.to_owned(), value)).into()))
    }

    /// The page with all results, if one is to be written.
    pub(crate) fn page(&self) -> Option<Page<'_>> {
        match &self.what {
            What::All(_) => self.output.as_deref().map(Page::Folder),
            What::Report(_) => Some(Page::Html(self.output.as_deref().unwrap_or(Path::new("report.html")))),
            _ => None,
        }
    }

    /// The folder for the files of each reproduction.
    pub(crate) fn results(&self) -> Option<&Path> {
        match &self.what {
            What::Report(AllArguments { from, .. }) => from.as_deref(),
            _ => self.output.as_deref(),
        }
    }

    /// The folder of earlier results, which need not be measured again.
    pub(crate) fn earlier(&self) -> Option<&Path> {
        match &self.what {
            What::All(AllArguments { from, .. }) | What::Report(AllArguments { from, .. }) => from.as_deref(),
            _ => None,
        }
    }

    /// The scale that earlier results must have; any, if they may be mixed.
    pub(crate) const fn scale_of_earlier(&self) -> Option<Scale> {
        match &self.what {
            What::All(AllArguments { mixed: true, .. }) | What::Report(AllArguments { mixed: true, .. }) => None,
            _ => Some(self.scale),
        }
    }

    pub(crate) const fn scale(&self) -> Scale {
        self.scale
    }

    /// The most fillings, where claims are undecided after those of the extent.
    pub(crate) fn most_fills(&self) -> u64 {
        self.fills.unwrap_or(self.scale.most_rounds())
    }

    pub(crate) fn extent(&self) -> Extent {
        let scale = self.scale;
        let of_figure_2 = match &self.what {
            What::Figure2(of_figure_2)
            | What::All(AllArguments { of_figure_2, .. })
            | What::Report(AllArguments { of_figure_2, .. }) => *of_figure_2,
            _ => Figure2Arguments { largest: 25, runs: None },
        };
        let beside_floors = match &self.what {
            What::Floors(floors) if !floors.only.is_empty() => floors.only.clone(),
            _ => Kind::ALL.into(),
        };
        Extent {
            scale,
            beside_floors,
            rounds: self.rounds.unwrap_or(scale.asks()),
            fills: self.fills.unwrap_or(scale.rounds()),
            largest_exponent: of_figure_2.largest,
            runs: of_figure_2.runs.unwrap_or(scale.runs()),
        }
    }

    /// The command for one reproduction.
    pub(crate) fn command_for(&self, name: Name) -> String {
        let figure_2 = if name == Name::Figure2 { self.options_of_figure_2() } else { String::new() };
        let features = if name.is_of_peers() { WITH_PEERS } else { "" };
        format!("{PROGRAM}{features} -- {}{}{figure_2}", name.name(), self.options())
    }

    /// The command for all reproductions.
    pub(crate) fn command_for_all(&self) -> String {
        let features = if cfg!(feature = "peers") { WITH_PEERS } else { "" };
        let from = self.earlier().map_or_else(String::new, |folder| format!(" --from {}", folder.display()));
        let mixed = if self.scale_of_earlier().is_none() { " --mixed" } else { "" };
        format!("{PROGRAM}{features} -- all{}{}{from}{mixed}", self.options(), self.options_of_figure_2())
    }

    fn options(&self) -> String {
        let Extent { scale, rounds, fills, .. } = self.extent();
        let mut options = format!(" --scale {}", scale.name());
        if rounds != scale.asks() {
            options += &format!(" --rounds {rounds}");
        }
        if self.fills.is_some() {
            options += &format!(" --fills {fills}");
        }
        options
    }

    fn options_of_figure_2(&self) -> String {
        let Extent { largest_exponent, runs, .. } = self.extent();
        format!(" --largest {largest_exponent} --runs {runs}")
    }
}

const PROGRAM: &str = "cargo run --release -p guira-evaluation";
const WITH_PEERS: &str = " --features peers";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn arguments_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }
}
