use crate::counting::CountingCuckooFilter;
use crate::filter::CuckooFilter;
use crate::map::CuckooMap;
use crate::set::CuckooSet;

/// What a file of any kind holds.
///
/// # Examples
///
/// ```
/// use guira::{AnyFilter, CuckooSet};
///
/// let mut set = CuckooSet::with_capacity(100, 0.01)?;
/// set.insert("ani")?;
/// match AnyFilter::from_bytes(&set.to_bytes())? {
///     AnyFilter::Set(set) => assert!(set.contains("ani")),
///     other => panic!("not a set: {other:?}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnyFilter {
    /// A filter, which may grow.
    Filter(CuckooFilter),
    /// A set without removal.
    Set(CuckooSet),
    /// A filter with counters.
    Counting(CountingCuckooFilter),
    /// A map. The file says how many bits its values have, at most 30, but not of which type they were.
    Map(CuckooMap<u32>),
}
