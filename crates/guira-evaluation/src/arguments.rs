//! The command line as it is typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

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

    /// The folder for CSV, JSON and SVG files, and with "all" for report.md
    #[arg(long, short, global = true, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,

    /// The revision that is measured, for report.md [default: what git says]
    #[arg(long, global = true)]
    pub(crate) commit: Option<String>,
}

#[derive(Clone, Copy, Debug, Subcommand)]
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
    /// Filters of other people, by their own interfaces
    #[cfg(feature = "peers")]
    Peers,
    /// All of them
    All(Figure2Arguments),
}

#[derive(Args, Clone, Copy, Debug)]
struct Figure2Arguments {
    /// The exponent of the most buckets in figure 2
    ///
    /// At the paper's scale there are tables of 2^15, 2^20, 2^25 and, if they are asked for, 2^30 buckets. One of 2^25
    /// takes up to 0.7 GB, and all of them many hours by estimate; one of 2^30 up to 21 GB, and all of them weeks.
    #[arg(long, value_name = "EXPONENT", default_value_t = 25)]
    largest: u32,

    /// How many tables are filled for each point of figure 2; the lowest load counts [default: 10 at the paper's scale]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,
}

impl Arguments {
    /// What is to be reproduced, in order.
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
            #[cfg(feature = "peers")]
            What::Peers => vec![Name::Peers],
            What::All(_) => Name::ALL.to_vec(),
        }
    }

    /// Whether there is to be one page with everything.
    pub(crate) const fn wants_report(&self) -> bool {
        matches!(self.what, What::All(_))
    }

    pub(crate) const fn scale(&self) -> Scale {
        self.scale
    }

    pub(crate) fn extent(&self) -> Extent {
        let scale = self.scale;
        match self.what {
            What::Figure2(of_figure_2) | What::All(of_figure_2) => {
                Extent { scale, largest_exponent: of_figure_2.largest, runs: of_figure_2.runs.unwrap_or(scale.runs()) }
            }
            _ => Extent { scale, largest_exponent: 25, runs: scale.runs() },
        }
    }
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
