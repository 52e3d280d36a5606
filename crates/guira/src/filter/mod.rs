//! [`CuckooFilter`], its builder and its growth, and the filter with values that maps and counting filters are made of.

// First, so that its page begins with how a filter is made.
mod cuckoo_filter;

mod builder;
mod chosen;
mod comparison;
mod convert;
mod doubling;
mod file_table;
mod filter_plan;
mod growing;
mod growth;
mod growth_plan;
mod iter;
mod kept;
mod likeness;
mod many;
mod merge;
mod methods;
mod pending;
mod steps;
mod valued;
mod valued_growth;
mod valued_merge;
mod view;

pub(crate) use builder::Built;
pub use builder::{FilterBuilder, FilterKind};
pub(crate) use chosen::Chosen;
pub use cuckoo_filter::CuckooFilter;
pub use file_table::TablePiece;
pub use filter_plan::{FilterPlan, PlannedFilter};
pub use growth::GrowthPolicy;
pub use iter::{Fingerprints, StoredFingerprint};
pub(crate) use many::many;
pub use pending::Change;
pub use steps::{Merging, Shrinking, Step};
pub use view::CuckooFilterView;

pub(crate) use file_table::FileTable;
pub(crate) use growth::Growth;
pub(crate) use kept::Kept;
pub(crate) use methods::methods;
pub(crate) use pending::Pending;
pub(crate) use valued::ValuedFilter;
pub(crate) use valued_merge::{Changes, Meeting};

pub(crate) use crate::cuckoo::Filled;
pub(crate) use crate::table::{Living, Place};
pub(crate) use view::Description;
