use guira_baselines::{Digest, Filter, Insert, MultiplyShift, Remove};
use pulp::{Arch, NullaryFnOnce};

use super::{Contender, Removing};

/// A baseline that keys can only be added to, with the hash of the paper's program.
pub(crate) struct GrowOnly<F>(F, MultiplyShift);

/// A baseline that keys can be removed from, with the hash of the paper's program.
pub(crate) struct Shrinkable<F>(F, MultiplyShift);

/// Loops over keys, compiled for several generations of processors; the newest that this processor supports is used, since the
/// authors of baselines compile for the processor that they measure on.
struct Lookups<'filter, F>(&'filter F, MultiplyShift, &'filter [u64]);
struct HashedLookups<'filter, F>(&'filter F, &'filter [u64]);
struct Insertions<'filter, F>(&'filter mut F, MultiplyShift, &'filter [u64]);
struct Removals<'filter, F>(&'filter mut F, MultiplyShift, &'filter [u64]);

/// The digests of keys, one after the other.
#[inline(always)]
fn hashed(hash: MultiplyShift, keys: &[u64]) -> impl Iterator<Item = Digest> {
    keys.iter().map(
        #[inline(always)]
        move |&key| hash.digest(key),
    )
}

impl<F: Filter> NullaryFnOnce for Lookups<'_, F> {
    type Output = u64;

    #[inline(always)]
    fn call(self) -> u64 {
        self.0.count_contained(hashed(self.1, self.2))
    }
}

impl<F: Filter> NullaryFnOnce for HashedLookups<'_, F> {
    type Output = u64;

    #[inline(always)]
    fn call(self) -> u64 {
        self.0.count_contained(self.1.iter().map(
            #[inline(always)]
            |&digest| Digest::new(digest),
        ))
    }
}

impl<F: Insert> NullaryFnOnce for Insertions<'_, F> {
    type Output = usize;

    #[inline(always)]
    fn call(self) -> usize {
        self.0.insert_each(hashed(self.1, self.2))
    }
}

impl<F: Remove> NullaryFnOnce for Removals<'_, F> {
    type Output = u64;

    #[inline(always)]
    fn call(self) -> u64 {
        self.0.remove_many_into(hashed(self.1, self.2))
    }
}

/// The methods that both have in common: all of a contender but the last.
macro_rules! delegate_to_baseline {
    () => {
        fn insert_all(&mut self, keys: &[u64]) -> usize {
            Arch::new().dispatch(Insertions(&mut self.0, self.1, keys))
        }

        fn count_found(&self, keys: &[u64]) -> u64 {
            Arch::new().dispatch(Lookups(&self.0, self.1, keys))
        }

        fn digests(&self, keys: &[u64]) -> Option<Vec<u64>> {
            Some(hashed(self.1, keys).map(Digest::get).collect())
        }

        fn count_found_hashed(&self, digests: &[u64]) -> Option<u64> {
            Some(Arch::new().dispatch(HashedLookups(&self.0, digests)))
        }

        fn bits(&self) -> u64 {
            self.0.memory_bits()
        }

        fn expected_rate(&self) -> f64 {
            self.0.expected_false_positive_rate()
        }
    };
}

impl<F: Insert> GrowOnly<F> {
    pub(crate) fn new(filter: F) -> Self {
        Self(filter, MultiplyShift::from_seed(0))
    }
}

impl<F: Remove> Shrinkable<F> {
    pub(crate) fn new(filter: F) -> Self {
        Self(filter, MultiplyShift::from_seed(0))
    }
}

impl<F: Insert> Contender for GrowOnly<F> {
    delegate_to_baseline!();
}

impl<F: Remove> Contender for Shrinkable<F> {
    delegate_to_baseline!();

    fn as_removing(&mut self) -> Option<&mut dyn Removing> {
        Some(self)
    }
}

impl<F: Remove> Removing for Shrinkable<F> {
    fn len(&self) -> u64 {
        Filter::len(&self.0) as u64
    }

    fn remove_all(&mut self, keys: &[u64]) -> u64 {
        Arch::new().dispatch(Removals(&mut self.0, self.1, keys))
    }
}
