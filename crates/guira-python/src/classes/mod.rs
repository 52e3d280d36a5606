//! The classes of the package: each is a table of the library, with the method names of Python's sets.

mod counting_cuckoo_filter;
mod cuckoo_filter;
mod cuckoo_filter_view;
mod cuckoo_map;
mod cuckoo_set;
mod expiring_cuckoo_filter;
mod methods;
mod planner;

pub(crate) use counting_cuckoo_filter::CountingCuckooFilter;
pub(crate) use cuckoo_filter::CuckooFilter;
pub(crate) use cuckoo_filter_view::{CuckooFilterView, open};
pub(crate) use cuckoo_map::CuckooMap;
pub(crate) use cuckoo_set::CuckooSet;
pub(crate) use expiring_cuckoo_filter::ExpiringCuckooFilter;
pub(crate) use methods::copied;
pub(crate) use planner::{Plan, plan};
