use crate::analysis::rated_load_factor;
use crate::cast::{saturating_ceil, to_f64, to_usize};
use crate::error::BuildError;
use crate::parameters::{Addressing, Parameters};

/// The choice of what a filter that grows does with more keys than its largest capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GrowthPolicy {
    /// Refuses them, so that the false positive rate it was built for always holds.
    #[default]
    KeepRate,
    /// Goes on doubling its table. Every doubling doubles the false positive rate, until fingerprints have 8 bits.
    RaiseRate,
}

/// How far a filter grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Growth {
    /// The doublings after which the rate still holds.
    pub(crate) doublings: u32,
    /// The capacity after as many.
    pub(crate) max_capacity: u64,
    pub(crate) policy: GrowthPolicy,
}

impl Growth {
    /// Checks that a filter with these parameters can have been built to grow so far.
    pub(crate) fn check(&self, parameters: &Parameters) -> Result<(), BuildError> {
        let slots_per_bucket = parameters.slots_per_bucket();
        if !has_buckets_of(slots_per_bucket) {
            return Err(BuildError::GrowingSlotsPerBucket { given: slots_per_bucket });
        }
        let bits_at_first = parameters.fingerprint_bits() + parameters.doublings();
        let is_doubling = parameters.addressing() == Addressing::Doubling;
        let is_within = !self.is_last(parameters) || parameters.doublings() == self.doublings;
        if !is_doubling || !is_within || bits_at_first < self.doublings.saturating_add(Parameters::CORE_BITS) {
            return Err(BuildError::Doublings { given: self.doublings });
        }
        // Both shifts are by less than 32, and there are at most 2^35 slots.
        let slots_at_last = (parameters.slot_count() >> parameters.doublings()) << self.doublings.min(24);
        if self.max_capacity > slots_at_last {
            return Err(BuildError::Capacity { given: self.max_capacity, most: slots_at_last });
        }
        Ok(())
    }

    /// Whether a table is not to be doubled any more.
    pub(crate) fn is_last(&self, parameters: &Parameters) -> bool {
        parameters.doublings() >= self.doublings && self.policy == GrowthPolicy::KeepRate
    }

    /// How far a table is filled before it is doubled. Small tables have room for far more keys than can be promised to
    /// fit, and it does no harm to try.
    pub(crate) fn limit(&self, parameters: &Parameters) -> usize {
        let capacity = parameters.capacity();
        let slots = to_f64(parameters.slot_count());
        let rated = saturating_ceil(slots * rated_load_factor(parameters.shape()));
        to_usize(if self.is_last(parameters) { capacity } else { capacity.max(rated) })
    }
}

/// Whether growing filters have buckets of so many slots: with one slot, two copies of a key keep all others out of its
/// buckets.
pub(super) const fn has_buckets_of(slots: u32) -> bool {
    matches!(slots, 2 | 4 | 8)
}
