use crate::counting::CountingCuckooFilter;
use crate::digest::{Key, KeyHasher};
use crate::error::FileKind;
use crate::expiring::ExpiringCuckooFilter;
use crate::filter::{CuckooFilter, methods};
use crate::map::CuckooMap;
use crate::parameters::Parameters;
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
    /// A map. The file says how many bits its values have, at most 32, but not of which type they were.
    Map(CuckooMap<u32>),
    /// A filter whose keys expire.
    Expiring(ExpiringCuckooFilter),
}

impl AnyFilter {
    /// Returns `true` if a key is probably present; `false` is certain. A map has a key if it has a value for it.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut set = guira::CuckooSet::with_capacity(100, 0.01)?;
    /// set.insert("ani")?;
    /// let any = guira::AnyFilter::from_bytes(&set.to_bytes())?;
    /// assert!(any.contains("ani") && !any.contains("koel"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        match self {
            Self::Filter(filter) => filter.contains(key),
            Self::Set(set) => set.contains(key),
            Self::Counting(filter) => filter.contains(key),
            Self::Map(map) => map.contains_key(key),
            Self::Expiring(filter) => filter.contains(key),
        }
    }

    /// Returns how many fingerprints are stored, each copy or value of its own counted.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut set = guira::CuckooSet::with_capacity(100, 0.01)?;
    /// set.insert("ani")?;
    /// let any = guira::AnyFilter::from_bytes(&set.to_bytes())?;
    /// assert_eq!(any.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn len(&self) -> usize {
        self.made().0
    }

    /// The fingerprints stored, the parameters and the hash.
    const fn made(&self) -> (usize, &Parameters, &KeyHasher) {
        match self {
            Self::Filter(filter) => (filter.len(), filter.parameters(), filter.hasher()),
            Self::Set(set) => (set.len(), set.parameters(), set.hasher()),
            Self::Counting(filter) => (filter.len(), filter.parameters(), filter.hasher()),
            Self::Map(map) => (map.len(), map.parameters(), map.hasher()),
            Self::Expiring(filter) => (filter.len(), filter.parameters(), filter.hasher()),
        }
    }

    /// Returns what it is.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut set = guira::CuckooSet::with_capacity(100, 0.01)?;
    /// set.insert("ani")?;
    /// let any = guira::AnyFilter::from_bytes(&set.to_bytes())?;
    /// assert_eq!(any.kind(), guira::FileKind::Set);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn kind(&self) -> FileKind {
        match self {
            Self::Filter(filter) if filter.growth().is_some() => FileKind::Growing,
            Self::Filter(_) => FileKind::Filter,
            Self::Set(_) => FileKind::Set,
            Self::Counting(_) => FileKind::Counting,
            Self::Map(_) => FileKind::Map,
            Self::Expiring(_) => FileKind::Expiring,
        }
    }

    methods! { "guira::AnyFilter" "::Set(guira::CuckooSet::with_capacity(1000, 0.001)?)":
        is_empty, parameters(self, self.made().1), hasher(self, self.made().2),
    }
}
