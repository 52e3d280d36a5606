#[cfg(feature = "peers")]
use super::peers;
use super::{figure_2, figure_3, figure_4, figure_5, figure_6, figure_7, figure_8, table_1, table_2, table_3};
use crate::failure::Failure;
use crate::report::Reproduction;
use crate::scale::Scale;

/// What there is to reproduce.
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
    #[cfg(feature = "peers")]
    Peers,
}

/// How much of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) scale: Scale,
    /// The exponent of the most buckets in figure 2.
    pub(crate) largest_exponent: u32,
    /// The tables per point of figure 2.
    pub(crate) runs: u64,
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
        #[cfg(feature = "peers")]
        Self::Peers,
    ];

    pub(crate) fn reproduce(self, extent: &Extent) -> Result<Reproduction, Failure> {
        match self {
            Self::Table1 => table_1::reproduce(extent.scale),
            Self::Table2 => table_2::reproduce(extent.scale),
            Self::Table3 => table_3::reproduce(extent.scale),
            Self::Figure2 => figure_2::reproduce(extent),
            Self::Figure3 => figure_3::reproduce(extent.scale),
            Self::Figure4 => figure_4::reproduce(extent.scale),
            Self::Figure5 => figure_5::reproduce(extent.scale),
            Self::Figure6 => figure_6::reproduce(extent.scale),
            Self::Figure7 => figure_7::reproduce(extent.scale),
            Self::Figure8 => figure_8::reproduce(extent.scale),
            #[cfg(feature = "peers")]
            Self::Peers => peers::reproduce(extent.scale),
        }
    }
}
