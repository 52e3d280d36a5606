//! Whether a table is made to grow, and how far.

use guira::{Addressing, BuildError, FilterBuilder, GrowthPolicy, Layout, Parameters, Preference};

use crate::arguments::Prefer;
use crate::failure::Failure;
use crate::render::text;

/// What the options say of the number of keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growing {
    pub(super) capacity: Option<usize>,
    pub(super) max_capacity: Option<usize>,
}

/// Shorter fingerprints have no bits to spare for growth; with `--max-capacity` they get some.
pub(super) const MIN_BITS_TO_GROW: u32 = 8;

impl Growing {
    /// Refuses a `--max-capacity` that has no effect or contradicts other options.
    pub(super) fn refuse_contradictions(self, prefer: Prefer) -> Result<(), Failure> {
        match (self.max_capacity, self.capacity) {
            (Some(_), _) if prefer == Prefer::Space => Err(Failure::new(
                "what takes the least memory does not grow: leave out --prefer space, or --max-capacity",
            )),
            (Some(largest), Some(capacity)) if largest < capacity => {
                let [largest, capacity] = [largest, capacity].map(|keys| text::count(keys as u64));
                Err(Failure::new(format_args!("--max-capacity is {largest}, which is below --capacity, {capacity}")))
            }
            _ => Ok(()),
        }
    }

    /// The builder of a table that grows, for a builder of one for so many keys at a rate. `None` if the shape that it chooses can't
    /// grow, or if that would cost too much and was not asked for.
    pub(super) fn chosen(self, builder: &FilterBuilder, capacity: usize) -> Result<Option<FilterBuilder>, BuildError> {
        let planned = builder.parameters().map_err(|error| self.nearer(error, builder, capacity))?;
        if planned.layout() != Layout::Packed || planned.addressing() != Addressing::Regional {
            return Ok(None);
        }
        // Buckets of fewer slots don't grow.
        let slots = planned.slots_per_bucket().max(4);
        let parameters = builder.clone().slots_per_bucket(slots).parameters().unwrap_or(planned);
        let is_asked_for = self.max_capacity.is_some();
        if parameters.fingerprint_bits() < MIN_BITS_TO_GROW && !is_asked_for {
            return Ok(None);
        }
        let growing = builder
            .clone()
            .preference(Preference::Speed)
            .max_capacity(self.max_capacity(capacity, parameters.fingerprint_bits()))
            .slots_per_bucket(slots)
            .growth_policy(GrowthPolicy::RaiseRate);
        let is_chosen = is_asked_for || is_worth_growing(&parameters, growing.parameters());
        Ok(is_chosen.then_some(growing))
    }

    /// Why there is no table at such a rate: where it is to grow, the least rate is that of a table that does.
    fn nearer(self, error: BuildError, builder: &FilterBuilder, capacity: usize) -> BuildError {
        let Some(largest) = self.max_capacity else { return error };
        let growing = builder.clone().max_capacity(largest.max(capacity));
        growing.parameters().err().unwrap_or(error)
    }

    /// The number of keys up to which the rate is to hold.
    ///
    /// If the capacity is that of the input, as many keys again may be added: that takes one doubling, hence a bit per slot.
    /// Otherwise the first key beyond the capacity would raise the rate. The longest fingerprints have no bit to spare: they
    /// would need a table of twice the size, which is not worth it.
    pub(super) fn max_capacity(self, capacity: usize, fingerprint_bits: u32) -> usize {
        match (self.max_capacity, self.capacity) {
            (Some(largest), _) => largest.max(capacity),
            (None, None) if fingerprint_bits < Parameters::MAX_FINGERPRINT_BITS => capacity.saturating_mul(2),
            (None, _) => capacity,
        }
    }
}

/// The longest fingerprints have no bits to spare, and then a table that can grow is several times as large. That of a few keys is
/// so within a page of memory, which nobody misses.
pub(super) fn is_worth_growing(parameters: &Parameters, growing: Result<Parameters, BuildError>) -> bool {
    growing.is_ok_and(|growing| growing.table_size() <= parameters.table_size() / 4 * 5 + 4096)
}

#[cfg(test)]
mod tests {
    use guira::CuckooFilter;

    use super::*;

    #[test]
    fn the_least_rate_that_is_named_is_taken_also_where_the_table_is_to_grow() {
        for (capacity, largest) in [(10, 10), (1000, 1000), (1000, 1_000_000_000), (1_000_000, 1_000_000_000)] {
            let growing = Growing { capacity: Some(capacity), max_capacity: Some(largest) };
            let parameters = |rate| {
                let builder = CuckooFilter::builder().capacity(capacity).false_positive_rate(rate);
                growing.chosen(&builder, capacity)?.unwrap_or(builder).parameters()
            };
            let Err(BuildError::RateTooLow { least, .. }) = parameters(1e-30) else {
                panic!("{capacity} to {largest}")
            };
            assert!(parameters(least).is_ok(), "{least} for {capacity} to {largest}");
        }
    }
}
