use alloc::sync::Arc;
use core::fmt;

use super::methods;
use super::pending::{Change, Pending};
use crate::cast::{to_usize, wide};
use crate::cuckoo::Scheme;
use crate::digest::{Digest, Key, KeyHasher};
use crate::error::FileKind;
use crate::parameters::Parameters;
use crate::table::Borrowed;

/// A filter or set that is queried in the bytes of its file, without loading it.
///
/// Nothing is copied, and a large file takes no longer than a small one: only the header is checked, and that there are
/// as many bytes as it says. The table is not checked. If it was damaged or forged, lookups may give wrong answers, false
/// negatives included, but nothing worse happens. [`verify`](Self::verify) makes the checks that loading makes.
///
/// The bytes of the file may be in any memory: read, received, part of a larger buffer, or a file that the caller mapped.
/// With the feature `mmap`, `map` maps one.
///
/// Keys that the program `guira` has appended to the file, in a journal, are answered for as those of the table. What is appended
/// once the view was made is seen by the next one.
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
    table: Borrowed<'bytes>,
    /// What the file holds beside the table, if anything.
    pending: Option<Arc<Pending>>,
    /// The fingerprints in the table.
    table_len: usize,
    /// Those, and what is beside them.
    len: usize,
    waiting: u64,
    table_checksum: u64,
}

/// What a header says of its table, after the header was checked.
pub(crate) struct Description {
    pub(crate) kind: FileKind,
    pub(crate) parameters: Parameters,
    pub(crate) hasher: KeyHasher,
    pub(crate) len: usize,
    /// The buckets that waited to become two when the file was written.
    pub(crate) waiting: u64,
    pub(crate) table_checksum: u64,
}

impl<'bytes> CuckooFilterView<'bytes> {
    /// Makes a view of a table, whose size must be what its parameters give, and of changes that have not been made in it.
    pub(crate) fn from_parts(description: Description, table: Borrowed<'bytes>, changes: &[Change]) -> Self {
        let Description { kind, parameters, hasher, len, waiting, table_checksum } = description;
        let scheme = Scheme::new(&parameters, hasher.seed());
        let pending = (!changes.is_empty()).then(|| Arc::new(Pending::of(&scheme, changes)));
        let table_len = len;
        let mut view =
            Self { kind, parameters, hasher, scheme, table, pending, table_len, len, waiting, table_checksum };
        view.count_pending();
        view
    }

    fn count_pending(&mut self) {
        let total = self.pending.as_ref().map_or(0, |pending| pending.total());
        let len = wide(self.table_len).saturating_add_signed(total);
        self.len = to_usize(len);
    }

    /// Makes a change for this view, which the file does not hold.
    pub(crate) fn push(&mut self, change: Change) {
        Arc::make_mut(self.pending.get_or_insert_default()).push(&self.scheme, change);
        self.count_pending();
    }

    /// Returns `true` if a key is probably present; `false` is certain.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::CuckooFilter::with_capacity(1000, 0.001)?;
    /// filter.insert("ani")?;
    /// let file = filter.to_bytes();
    /// let view = guira::CuckooFilterView::new(&file)?;
    /// assert!(view.contains("ani") && !view.contains("koel"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        match self.hasher.as_xxh3() {
            Some(hasher) if self.pending.is_none() => self.scheme.contains(&self.table, hasher.digest(key)),
            _ => self.contains_elsewhere(key),
        }
    }

    #[inline(never)]
    fn contains_elsewhere<K: Key + ?Sized>(&self, key: &K) -> bool {
        let digest = self.hasher.digest(key);
        if self.pending.is_some() { self.count_digest(digest) > 0 } else { self.scheme.contains(&self.table, digest) }
    }

    /// Returns how many copies of a key are stored. See [`CuckooFilter::count`](crate::CuckooFilter::count).
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::CuckooFilter::with_capacity(1000, 0.001)?;
    /// filter.insert("ani")?;
    /// let file = filter.to_bytes();
    /// let view = guira::CuckooFilterView::new(&file)?;
    /// assert_eq!(view.count("ani"), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> usize {
        self.count_digest(self.hasher.digest(key))
    }

    /// Returns what the file holds.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::CuckooFilter::with_capacity(1000, 0.001)?;
    /// filter.insert("ani")?;
    /// let file = filter.to_bytes();
    /// let view = guira::CuckooFilterView::new(&file)?;
    /// assert_eq!(view.kind(), guira::FileKind::Filter);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn kind(&self) -> FileKind {
        self.kind
    }

    /// Returns how many fingerprints are stored, as the header and the journal say.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::CuckooFilter::with_capacity(1000, 0.001)?;
    /// filter.insert("ani")?;
    /// let file = filter.to_bytes();
    /// let view = guira::CuckooFilterView::new(&file)?;
    /// assert_eq!(view.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    methods! { "guira::CuckooFilterView" "::from_owner(guira::CuckooFilter::with_capacity(1000, 0.001)?.to_bytes())?":
        is_empty, capacity, load_factor, expected_false_positive_rate,
        parameters(self, &self.parameters), hasher(self, &self.hasher),
    }

    pub(crate) fn count_digest(&self, digest: Digest) -> usize {
        let count = self.scheme.count(&self.table, digest);
        match &self.pending {
            None => to_usize(u64::from(count)),
            Some(pending) => {
                let count = i64::from(count).saturating_add(pending.more_copies(&self.scheme, digest));
                // Only a forged file removes what is not there.
                to_usize(u64::try_from(count).unwrap_or(0))
            }
        }
    }

    pub(crate) const fn pending(&self) -> Option<&Arc<Pending>> {
        self.pending.as_ref()
    }

    /// How many fingerprints are in the table.
    pub(crate) const fn table_len(&self) -> usize {
        self.table_len
    }

    pub(crate) const fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.table
    }

    /// See [`Description::waiting`].
    pub(crate) const fn waiting(&self) -> u64 {
        self.waiting
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
