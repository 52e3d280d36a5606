use super::{
    d_ary, details, equation_3, figure_2, figure_3, figure_4, figure_5, figure_6, figure_7, figure_8, floors, table_1,
    table_2, table_3,
};
#[cfg(feature = "peers")]
use super::{losses, peers};
use crate::contender::Kind;
use crate::failure::Failure;
use crate::journal::Journal;
use crate::report::{Claim, Reproduction, Table};
use crate::scale::Scale;

/// The reproductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Table1,
    Table2,
    Table3,
    Figure2,
    Figure3,
    Figure4,
    Figure5,
    Figure6,
    Figure7,
    Figure8,
    Equation3,
    DAry,
    Details,
    Floors,
    #[cfg(feature = "peers")]
    Peers,
    /// Not one of all: it has no times, and is for another page.
    #[cfg(feature = "peers")]
    Losses,
}

/// How much to measure.
#[derive(Clone, Debug)]
pub(crate) struct Extent {
    pub(crate) scale: Scale,
    /// How often each filled filter is measured.
    pub(crate) rounds: u64,
    /// How often each filter is filled if filling is timed, or if it is changed.
    pub(crate) fills: u64,
    /// The exponent of the most buckets in figure 2.
    pub(crate) largest_exponent: u32,
    /// The tables per point of figure 2.
    pub(crate) runs: u64,
    /// The filters that are compared with the floors.
    pub(crate) beside_floors: Vec<Kind>,
}

impl Name {
    pub(crate) const ALL: &[Self] = &[
        Self::Table1,
        Self::Table2,
        Self::Table3,
        Self::Figure2,
        Self::Figure3,
        Self::Figure4,
        Self::Figure5,
        Self::Figure6,
        Self::Figure7,
        Self::Figure8,
        Self::Equation3,
        Self::DAry,
        Self::Details,
        Self::Floors,
        #[cfg(feature = "peers")]
        Self::Peers,
    ];

    /// The name on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Table1 => "table-1",
            Self::Table2 => "table-2",
            Self::Table3 => "table-3",
            Self::Figure2 => "figure-2",
            Self::Figure3 => "figure-3",
            Self::Figure4 => "figure-4",
            Self::Figure5 => "figure-5",
            Self::Figure6 => "figure-6",
            Self::Figure7 => "figure-7",
            Self::Figure8 => "figure-8",
            Self::Equation3 => "equation-3",
            Self::DAry => "d-ary",
            Self::Details => "details",
            Self::Floors => "floors",
            #[cfg(feature = "peers")]
            Self::Peers => "peers",
            #[cfg(feature = "peers")]
            Self::Losses => "losses",
        }
    }

    /// Returns `true` if it needs the feature `peers`.
    pub(crate) const fn is_of_peers(self) -> bool {
        match self {
            #[cfg(feature = "peers")]
            Self::Peers | Self::Losses => true,
            _ => false,
        }
    }

    /// Returns `true` if it uses the courses of filters, which are shared.
    pub(crate) const fn takes_courses(self) -> bool {
        matches!(self, Self::Table3 | Self::Figure5 | Self::Figure6 | Self::Figure7 | Self::Figure8)
    }

    /// Measures the reproduction, and judges its claims. The journal has an entry for each filling of a large filter, and
    /// otherwise one for the whole.
    pub(crate) fn reproduce(self, extent: &Extent, journal: &Journal) -> Result<Reproduction, Failure> {
        let whole = |reproduce: &dyn Fn() -> Result<Reproduction, Failure>| journal.measure(self.name(), reproduce);
        let mut reproduction = match self {
            Self::Table1 => whole(&|| table_1::reproduce(extent.scale)),
            Self::Table2 => whole(&|| table_2::reproduce(extent.scale)),
            Self::Table3 => table_3::reproduce(extent, journal),
            Self::Figure2 => figure_2::reproduce(extent, journal),
            Self::Figure3 => whole(&|| figure_3::reproduce(extent.scale)),
            Self::Figure4 => whole(&|| figure_4::reproduce(extent.scale)),
            Self::Figure5 => figure_5::reproduce(extent, journal),
            Self::Figure6 => figure_6::reproduce(extent, journal),
            Self::Figure7 => figure_7::reproduce(extent, journal),
            Self::Figure8 => figure_8::reproduce(extent, journal),
            Self::Equation3 => equation_3::reproduce(extent, journal),
            Self::DAry => whole(&|| d_ary::reproduce(extent.scale)),
            Self::Details => whole(&|| details::reproduce(extent.scale)),
            Self::Floors => whole(&|| floors::reproduce(extent)),
            #[cfg(feature = "peers")]
            Self::Peers => peers::reproduce(extent, journal),
            #[cfg(feature = "peers")]
            Self::Losses => whole(&|| losses::reproduce(extent.scale)),
        }?;
        reproduction.claims = self.claims(&reproduction.tables, extent.scale);
        Ok(reproduction)
    }

    /// The claims about its tables, whenever they were measured. Those of times are undecided until all of a page are settled.
    pub(crate) fn claims(self, tables: &[Table], scale: Scale) -> Vec<Claim> {
        match self {
            Self::Table1 => table_1::claims(tables, scale),
            Self::Table2 => table_2::claims(tables, scale),
            Self::Table3 => table_3::claims(tables, scale),
            Self::Figure2 => figure_2::claims(tables, scale),
            Self::Figure3 => figure_3::claims(tables, scale),
            Self::Figure4 => figure_4::claims(tables, scale),
            Self::Figure5 => figure_5::claims(tables, scale),
            Self::Figure6 => figure_6::claims(tables, scale),
            Self::Figure7 => figure_7::claims(tables, scale),
            Self::Figure8 => figure_8::claims(tables, scale),
            Self::Equation3 => equation_3::claims(tables, scale),
            Self::DAry => d_ary::claims(tables, scale),
            Self::Details => details::claims(tables, scale),
            Self::Floors => floors::claims(tables, scale),
            #[cfg(feature = "peers")]
            Self::Peers => peers::claims(tables, scale),
            #[cfg(feature = "peers")]
            Self::Losses => Vec::new(),
        }
    }
}
