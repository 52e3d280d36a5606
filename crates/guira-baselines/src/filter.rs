//! What the program that measures needs to know of a filter. What a filter can't do it has no trait for.

use crate::{BuildError, Digest, Full};

/// A set of keys that may be found to hold others too, at some rate.
pub trait Filter {
    /// Whether a key may be in it: never `false` for one that is.
    fn contains(&self, digest: Digest) -> bool;

    /// Looks up each of many keys, one after the other, and returns how many are found.
    ///
    /// What the shape of a table decides is decided once, before the loop, as in a program that is compiled for one shape.
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

    /// Whether there is no key in it.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bits of its tables, indexes included; measures and padding, some ten bytes, left out.
    fn memory_bits(&self) -> u64;

    /// The share of absent keys that theory expects it to find now, if its keys are distinct.
    fn expected_false_positive_rate(&self) -> f64;
}

/// A filter to which keys can be added.
pub trait Insert: Filter {
    /// Adds a key, or another copy of one.
    ///
    /// # Errors
    ///
    /// When there is no room for it. The filter then finds what it found before.
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

/// A filter from which keys can be taken again.
pub trait Remove: Insert {
    /// Takes a copy of a key out, and says whether there was one.
    ///
    /// Only what was inserted may be removed: a filter that takes an absent key for a present one loses the present one.
    fn remove(&mut self, digest: Digest) -> bool;

    /// Takes a copy of each key out, one after the other, and returns how many there were.
    #[inline(always)]
    fn remove_each(&mut self, digests: impl Iterator<Item = Digest>) -> u64
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

/// A filter that is built of all its keys at once.
pub trait StaticFilter: Filter + Sized {
    /// The filter of these keys with a rate of about 2^-`fingerprint_bits`.
    ///
    /// # Errors
    ///
    /// For lengths of fingerprints that there are not, and where there is no memory.
    fn build(digests: &[Digest], fingerprint_bits: u32) -> Result<Self, BuildError>;
}
