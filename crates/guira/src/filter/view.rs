use core::fmt;

use super::Growth;
use crate::cast::to_usize;
use crate::cuckoo::Scheme;
use crate::digest::{Key, KeyHasher};
use crate::error::FileKind;
use crate::parameters::Parameters;
use crate::table::Borrowed;

/// A filter or set that is queried in the bytes of its file, without loading it.
///
/// Nothing is copied, and making one takes as long for a large file as for a small one: only the header is checked, and
/// that there are as many bytes as it says. What stands in the table is believed. A table that was damaged, or made up,
/// gives wrong answers, of both kinds, and nothing worse. [`verify`](Self::verify) makes the checks that loading makes.
///
/// The bytes are those of a file, in any memory: what was read or received, a part of a larger buffer, a file that the
/// caller mapped to memory. With the feature `mmap`, `open` maps one.
///
/// # Examples
///
/// ```
/// use guira::{CuckooFilter, CuckooFilterView};
///
/// let mut filter = CuckooFilter::with_capacity(1000, 0.001)?;
/// filter.insert("ani")?;
/// let file = filter.to_bytes();
///
/// let view = CuckooFilterView::new(&file)?;
/// view.verify()?;
/// assert!(view.contains("ani"));
/// assert!(!view.contains("cuckoo"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CuckooFilterView<'bytes> {
    kind: FileKind,
    parameters: Parameters,
    hasher: KeyHasher,
    scheme: Scheme,
    growth: Option<Growth>,
    table: Borrowed<'bytes>,
    len: usize,
    table_checksum: u64,
}

/// What a file says of its table, which whoever reads the header has checked.
pub(crate) struct Description {
    pub(crate) kind: FileKind,
    pub(crate) parameters: Parameters,
    pub(crate) hasher: KeyHasher,
    pub(crate) growth: Option<Growth>,
    pub(crate) len: usize,
    pub(crate) table_checksum: u64,
}

impl<'bytes> CuckooFilterView<'bytes> {
    /// A view of a table that has as many bytes as its parameters give.
    pub(crate) fn from_parts(description: Description, table: Borrowed<'bytes>) -> Self {
        let Description { kind, parameters, hasher, growth, len, table_checksum } = description;
        let scheme = Scheme::new(&parameters, hasher.seed());
        Self { kind, parameters, hasher, scheme, growth, table, len, table_checksum }
    }

    /// Whether a key is probably in the set; `false` is certain.
    #[inline]
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.scheme.contains(&self.table, self.hasher.digest(key))
    }

    /// How many copies of a key are stored. See [`CuckooFilter::count`](crate::CuckooFilter::count).
    #[inline]
    #[must_use]
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> usize {
        to_usize(u64::from(self.scheme.count(&self.table, self.hasher.digest(key))))
    }

    /// Returns what the file holds: a filter, one that grows, or a set.
    #[must_use]
    pub const fn kind(&self) -> FileKind {
        self.kind
    }

    /// How many fingerprints are stored, as the header says.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is stored, as the header says.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many distinct keys were promised to fit.
    #[must_use]
    pub const fn capacity(&self) -> usize {
        to_usize(self.parameters.capacity())
    }

    /// The share of absent keys to be answered with "probably" at this load.
    #[must_use]
    pub fn expected_false_positive_rate(&self) -> f64 {
        self.parameters.expected_false_positive_rate(self.len as u64)
    }

    /// The parameters of the filter.
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// What turns keys into digests.
    #[must_use]
    pub const fn hasher(&self) -> &KeyHasher {
        &self.hasher
    }

    pub(crate) const fn growth(&self) -> Option<Growth> {
        self.growth
    }

    pub(crate) const fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.table
    }

    pub(crate) const fn table_checksum(&self) -> u64 {
        self.table_checksum
    }
}

impl fmt::Debug for CuckooFilterView<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CuckooFilterView")
            .field("kind", &self.kind)
            .field("len", &self.len)
            .field("parameters", &self.parameters)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
