use crate::analysis::promised_by;
use crate::cast::{saturating_ceil, to_f64, to_usize};
use crate::cuckoo::{Crowd, NoRoom};
use crate::error::{BuildError, InsertError};
use crate::parameters::{Addressing, Parameters, Regions, Shape};

/// The choice of what a filter that grows does with more keys than its largest capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GrowthPolicy {
    /// Refuses them, so that the false positive rate it was built for always holds.
    #[default]
    KeepRate,
    /// Goes on doubling its table. Every doubling doubles the false positive rate, until fingerprints have 8 bits; then
    /// further keys are refused as [`Full`](crate::InsertError::Full).
    RaiseRate,
}

/// How far a filter grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Growth {
    /// The doublings after which the rate still holds.
    pub(crate) doublings: u32,
    /// The capacity after that many doublings.
    pub(crate) max_capacity: u64,
    pub(crate) policy: GrowthPolicy,
}

impl Growth {
    /// Checks that a filter with these parameters can have been built to grow so far.
    pub(crate) fn check(&self, parameters: &Parameters) -> Result<(), BuildError> {
        let bits_at_first = parameters.fingerprint_bits() + parameters.doublings();
        let is_doubling = parameters.addressing() == Addressing::Doubling;
        let is_within = !self.is_last(parameters) || parameters.half_doublings() == self.half_doublings();
        if !is_doubling || !is_within || bits_at_first < self.doublings.saturating_add(Parameters::CORE_BITS) {
            return Err(BuildError::Doublings { given: self.doublings });
        }
        let first = parameters.regions_at_first();
        if first.bucket_count() > Parameters::MAX_BUCKETS >> self.doublings.min(63) {
            return Err(BuildError::Doublings { given: self.doublings });
        }
        let slots_at_last = slots(first, parameters.shape()) << self.doublings;
        if self.max_capacity > slots_at_last {
            return Err(BuildError::Capacity { given: self.max_capacity, most: slots_at_last });
        }
        Ok(())
    }

    /// The growth of a filter that was converted, and has these parameters now: the largest capacity is at most that of its last table.
    pub(crate) fn converted(self, parameters: &Parameters) -> Self {
        let fit = if parameters.half_doublings() == self.half_doublings() {
            parameters.capacity()
        } else {
            let first = parameters.regions_at_first();
            let last = Regions { buckets: first.buckets << self.doublings, ..first };
            promised_by(last, parameters.shape().half_doubled(false))
        };
        Self { max_capacity: self.max_capacity.min(fit), ..self }
    }

    /// The largest capacity, as far as a `usize` goes: the table that has it may not exist yet, nor fit the address space.
    pub(crate) fn max_capacity(&self) -> usize {
        usize::try_from(self.max_capacity).unwrap_or(usize::MAX)
    }

    /// Whether a table is not to be doubled any more.
    pub(crate) fn is_last(&self, parameters: &Parameters) -> bool {
        parameters.half_doublings() >= self.half_doublings() && self.policy == GrowthPolicy::KeepRate
    }

    /// How often half of the buckets become two while the rate still holds.
    const fn half_doublings(&self) -> u32 {
        self.doublings.saturating_mul(2)
    }

    /// The number of fingerprints that no table may exceed.
    fn most(&self) -> usize {
        match self.policy {
            GrowthPolicy::KeepRate => self.max_capacity(),
            GrowthPolicy::RaiseRate => usize::MAX,
        }
    }

    /// The parameters of a table that holds `len` fingerprints, and those after each doubling that is possible.
    ///
    /// A table that is less than a quarter full is not doubled. If a key finds no room in it, copies are in the way,
    /// since distinct keys fill far more of a table first; doubling would make it ever larger and ever emptier.
    pub(crate) fn doublings(self, parameters: Parameters, len: usize) -> impl Iterator<Item = Parameters> {
        core::iter::successors(Some(parameters), move |parameters| {
            let is_crowded = is_crowded(len, parameters.slot_count());
            if is_crowded { None } else { self.next(parameters) }
        })
    }

    /// Refuses a key that finds no room and would find none in a larger table either.
    ///
    /// The table has these parameters and holds `len` fingerprints; `copies` of them are the key's, and `crowd` is what
    /// keeps it out.
    pub(crate) fn refuse_without_hope(
        &self,
        parameters: &Parameters,
        len: usize,
        copies: usize,
        crowd: Option<Crowd>,
    ) -> Result<(), InsertError> {
        if len >= self.most() {
            return Err(NoRoom::Full.as_error(len, parameters));
        }
        let mut last = *parameters;
        let mut doublings = self.doublings(*parameters, len).inspect(|parameters| last = *parameters);
        let has_hope = match crowd {
            Some(crowd) => crowd.gives_way_to(doublings),
            None => doublings.nth(1).is_some(),
        };
        let slot_count = to_usize(parameters.slot_count());
        if has_hope {
            Ok(())
        } else if !is_crowded(len, last.slot_count()) {
            Err(NoRoom::Full.as_error(len, parameters))
        } else if copies >= to_usize(parameters.slots_per_bucket().into()) {
            // The key is one of those whose copies are in the way.
            Err(InsertError::TooManyCopies { copies })
        } else {
            Err(InsertError::Crowded { len, slot_count })
        }
    }

    /// The number of fingerprints at which a table is doubled. Small tables have room for far more keys than can be
    /// promised to fit, and it does no harm to try.
    pub(crate) fn limit(&self, parameters: &Parameters) -> usize {
        let capacity = parameters.capacity();
        let tried = keys_before_doubling(parameters.regions(), parameters.shape());
        to_usize(if self.is_last(parameters) { capacity } else { capacity.max(tried) }).min(self.most())
    }

    /// The most distinct keys that can be promised to fit a table before more of its buckets become two, after so many half doublings.
    ///
    /// Those that were planned as the last are filled up, and so are fingerprints that have no bit to give away, and first tables
    /// unless they are large.
    pub(crate) fn capacity(&self, regions: Regions, shape: Shape, bits: u32, half_doublings: u32) -> u64 {
        let promised = promised_by(regions, shape);
        let is_first_and_small = half_doublings == 0 && !is_large(regions, shape);
        if half_doublings == self.half_doublings() {
            // Whatever the policy: with more keys, its rate would not be kept.
            promised.min(self.max_capacity)
        } else if bits == Parameters::CORE_BITS || is_first_and_small {
            self.within_rate(promised)
        } else {
            self.within_rate(promised.min(keys_before_doubling(regions, shape)))
        }
    }

    /// So many keys, or as many as the filter takes where it keeps its rate: after a conversion to larger buckets more would fit.
    pub(crate) fn within_rate(&self, keys: u64) -> u64 {
        match self.policy {
            GrowthPolicy::KeepRate => keys.min(self.max_capacity),
            GrowthPolicy::RaiseRate => keys,
        }
    }

    /// The parameters of the doubled table, if a table with these is to be doubled.
    pub(crate) fn next(&self, parameters: &Parameters) -> Option<Parameters> {
        if self.is_last(parameters) { None } else { self.after_doubling(parameters) }
    }

    /// The parameters of the first table with such a capacity that a filter grows to, if it may grow so far.
    pub(crate) fn up_to_capacity(&self, parameters: &Parameters, capacity: u64) -> Option<Parameters> {
        let mut tables = core::iter::successors(Some(*parameters), |parameters| self.next(parameters));
        tables.find(|parameters| parameters.capacity() >= capacity)
    }

    /// The parameters of the table in which half of the buckets are two; `None` where no bits are left to give away, or where there
    /// would be too many buckets.
    pub(crate) fn after_doubling(&self, parameters: &Parameters) -> Option<Parameters> {
        self.with_half_doublings(parameters, parameters.half_doublings() + 1)
    }

    /// The parameters before half of the buckets became two.
    pub(crate) fn before_doubling(&self, parameters: &Parameters) -> Option<Parameters> {
        self.with_half_doublings(parameters, parameters.half_doublings().checked_sub(1)?)
    }

    /// The parameters that a table with these began with.
    pub(crate) fn before_all_doublings(&self, parameters: &Parameters) -> Parameters {
        self.with_half_doublings(parameters, 0).unwrap_or(*parameters)
    }

    fn with_half_doublings(&self, of: &Parameters, half_doublings: u32) -> Option<Parameters> {
        let (doublings, is_half_doubled) = (half_doublings / 2, !half_doublings.is_multiple_of(2));
        let bits = (of.fingerprint_bits() + of.doublings()).checked_sub(doublings)?;
        let first = of.regions_at_first();
        let doubled = Regions { buckets: first.buckets.checked_mul(1 << doublings.min(63))?, ..first };
        let regions = if is_half_doubled { doubled.half_doubled() } else { doubled };
        let shape = of.shape().half_doubled(is_half_doubled);
        // First without a capacity, so that sizes out of range are refused before anything is computed from them.
        Parameters::new(shape, bits, regions, 0).ok()?.half_doubled(half_doublings).ok()?;
        let capacity = self.capacity(regions, shape, bits, half_doublings);
        let parameters = Parameters::new(shape, bits, regions, capacity).ok()?;
        let value_bits = of.value_bits();
        let with_values = if value_bits > 0 { parameters.with_value_bits(value_bits).ok()? } else { parameters };
        with_values.half_doubled(half_doublings).ok()
    }
}

/// The load factor at which a table is doubled. In large tables more would fit, but the search for room would take several times as
/// long, above all in the first moments of the doubling, when nearly all buckets still wait.
///
/// Where every second bucket is two, the others have as many keys to take as the two have together, and the table is full earlier.
const fn load_factor_before_doubling(shape: Shape) -> f64 {
    match (shape.slots_per_bucket(), shape.is_half_doubled()) {
        (4, false) => 0.93,
        (4, true) => 0.89,
        (_, false) => 0.96,
        (_, true) => 0.94,
    }
}

/// Whether regions are so large that a first table is doubled as early as others, so that no insertion takes long. Most tables stay
/// as they were asked for, and small ones have as many slots as ones that never grow.
fn is_large(regions: Regions, shape: Shape) -> bool {
    slots(regions, shape) >= 1 << 23
}

const fn slots(regions: Regions, shape: Shape) -> u64 {
    regions.count * shape.slots_of_region(regions.buckets)
}

/// The number of fingerprints at which these regions are doubled, if so many fit.
fn keys_before_doubling(regions: Regions, shape: Shape) -> u64 {
    saturating_ceil(to_f64(slots(regions, shape)) * load_factor_before_doubling(shape))
}

/// As many regions as these for a first table, and at least as large, that is not doubled before it holds so many keys, which fit.
pub(super) fn first_regions_for(keys: u64, least: Regions, shape: Shape) -> Regions {
    if !is_large(least, shape) || keys <= keys_before_doubling(least, shape) {
        return least;
    }
    let slots = to_f64(keys) / load_factor_before_doubling(shape);
    let buckets = saturating_ceil(slots / to_f64(least.count * u64::from(shape.slots_per_bucket())));
    Regions { buckets: buckets.next_multiple_of(2), ..least }
}

/// Whether a table is so empty that copies must be in the way where no room is found: see [`Growth::doublings`].
pub(super) const fn is_crowded(len: usize, slot_count: u64) -> bool {
    (len as u64) < slot_count / 4
}
