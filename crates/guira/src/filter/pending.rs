//! Insertions and removals that a file holds beside its table.

use alloc::collections::BTreeMap;

use crate::addressing::{BucketIndex, Fingerprint};
use crate::cuckoo::Scheme;
use crate::digest::Digest;

/// An insertion or a removal of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// The key with this digest is inserted.
    Insert(Digest),
    /// The key with this digest is removed.
    Remove(Digest),
}

/// What changes make of the number of copies in a table that they have not been made in.
///
/// Keys whose copies can't be told apart have one entry, so that a key is answered as if the changes had been made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending {
    copies: BTreeMap<(Fingerprint, BucketIndex), Difference>,
    /// The insertions, less the removals.
    total: i64,
}

/// The copies of one fingerprint in its candidate buckets, beside those in the table.
#[derive(Clone, Copy, Debug)]
struct Difference {
    /// Of a key that has them.
    digest: Digest,
    /// The insertions, less the removals.
    more: i64,
    /// The least that `more` has been.
    least: i64,
}

impl Pending {
    pub(crate) fn of(scheme: &Scheme, changes: &[Change]) -> Self {
        let mut pending = Self::default();
        changes.iter().for_each(|&change| pending.push(scheme, change));
        pending
    }

    pub(crate) fn push(&mut self, scheme: &Scheme, change: Change) {
        let (digest, step) = match change {
            Change::Insert(digest) => (digest, 1),
            Change::Remove(digest) => (digest, -1),
        };
        let new = Difference { digest, more: 0, least: 0 };
        let copies = self.copies.entry(scheme.id_of_copies(digest)).or_insert(new);
        copies.more += step;
        copies.least = copies.least.min(copies.more);
        self.total += step;
    }

    /// The insertions of keys that a key's copies can't be told from, less their removals.
    pub(crate) fn more_copies(&self, scheme: &Scheme, digest: Digest) -> i64 {
        self.copies.get(&scheme.id_of_copies(digest)).map_or(0, |copies| copies.more)
    }

    /// The insertions, less the removals.
    pub(crate) const fn total(&self) -> i64 {
        self.total
    }

    /// Returns `true` if every removal finds a copy, in a table that these changes have not been made in.
    pub(crate) fn removes_what_is_there(&self, scheme: &Scheme, table: &[u8]) -> bool {
        let mut removed = self.copies.values().filter(|copies| copies.least < 0);
        removed.all(|copies| i64::from(scheme.count(table, copies.digest)) + copies.least >= 0)
    }
}
