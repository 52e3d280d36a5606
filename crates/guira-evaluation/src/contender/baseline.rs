use guira_baselines::{Digest, Filter, Insert, Remove};

use super::{Contender, Full, Removing};
use crate::keys::Hash;

/// A baseline that keys can only be added to.
pub(crate) struct GrowOnly<F>(F, Hash);

/// A baseline that keys can be removed from.
pub(crate) struct Shrinkable<F>(F, Hash);

/// What both have in common: every method of a contender but the last.
macro_rules! delegate_to_baseline {
    () => {
        #[inline]
        fn insert(&mut self, key: u64) -> Result<(), Full> {
            let digest = Digest::new(self.1.digest(key).get());
            self.0.insert(digest).map_err(|_| Full)
        }

        #[inline]
        fn contains(&self, key: u64) -> bool {
            self.0.contains(Digest::new(self.1.digest(key).get()))
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
    pub(crate) const fn new(filter: F) -> Self {
        Self(filter, Hash::new())
    }
}

impl<F: Remove> Shrinkable<F> {
    pub(crate) const fn new(filter: F) -> Self {
        Self(filter, Hash::new())
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

    #[inline]
    fn remove(&mut self, key: u64) -> bool {
        self.0.remove(Digest::new(self.1.digest(key).get()))
    }
}
