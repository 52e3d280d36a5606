//! The operations of filters that are measured. A filter implements only the traits for what it can do.

use crate::{BuildError, Digest, Full};

/// A set of keys with false positives.
pub trait Filter {
    /// Returns `true` if the key may be in the filter: always, if it is.
    fn contains(&self, digest: Digest) -> bool;

    /// Looks up each of many keys, one after the other, and returns how many are found.
    ///
    /// The shape of the table is matched once, before the loop, as in a program that is compiled for one shape.
    #[inline(always)]
    fn count_contained(&self, digests: impl Iterator<Item = Digest>) -> u64
    where
        Self: Sized,
    {
        let mut found = 0;
        for digest in digests {
            found += u64::from(self.contains(digest));
        }
        found
    }

    /// The keys that were inserted and not removed, counting repetitions.
    fn len(&self) -> usize;

    /// Returns `true` if the filter holds no keys.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bits of the tables, including indexes but not parameters and padding, some ten bytes.
    fn memory_bits(&self) -> u64;

    /// The expected false positive rate at present, if all keys are distinct.
    fn expected_false_positive_rate(&self) -> f64;
}

/// A filter to which keys can be added.
pub trait Insert: Filter {
    /// Adds a key, or another copy of one.
    ///
    /// # Errors
    ///
    /// If there is no room for the key. The filter then finds what it found before.
    fn insert(&mut self, digest: Digest) -> Result<(), Full>;

    /// Adds keys, one after the other, up to the first that is refused, and returns how many were added.
    #[inline(always)]
    fn insert_each(&mut self, digests: impl Iterator<Item = Digest>) -> usize
    where
        Self: Sized,
    {
        let mut inserted = 0;
        for digest in digests {
            if self.insert(digest).is_err() {
                break;
            }
            inserted += 1;
        }
        inserted
    }
}

/// A filter from which keys can be removed.
pub trait Remove: Insert {
    /// Removes a copy of a key. Returns `true` if there was one.
    ///
    /// Only keys that were inserted may be removed: removing a false positive loses another key.
    fn remove(&mut self, digest: Digest) -> bool;

    /// Removes a copy of each key, one after the other, and returns how many there were.
    #[inline(always)]
    fn remove_many_into(&mut self, digests: impl Iterator<Item = Digest>) -> u64
    where
        Self: Sized,
    {
        let mut removed = 0;
        for digest in digests {
            removed += u64::from(self.remove(digest));
        }
        removed
    }
}

/// A filter that is built from all its keys at once.
pub trait StaticFilter: Filter + Sized {
    /// Builds a filter of these keys with a rate of about 2^-`fingerprint_bits`.
    ///
    /// # Errors
    ///
    /// If the length of fingerprints is out of range, or there is not enough memory.
    fn build(digests: &[Digest], fingerprint_bits: u32) -> Result<Self, BuildError>;
}
