//! What was chosen for a filter, and the table that follows from it.

use alloc::vec::Vec;

use super::{GrowthPolicy, PlannedFilter};
use crate::addressing::parts_of_regions;
use crate::analysis::{
    self, PLANNED_SLOTS, Preference, capacity_in_parts, fingerprint_bits_for_rate, in_large_regions, promised_by,
    with_fingerprint_bits, with_shape,
};
use crate::cuckoo::Scheme;
use crate::digest::KeyHasher;
use crate::error::BuildError;
use crate::parameters::{Addressing, Layout, Parameters, Regions, Shape, check_values_in};

/// What a [`FilterBuilder`](super::FilterBuilder) was given, for a filter of any kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) capacity: Option<u64>,
    pub(crate) bucket_count: Option<u64>,
    pub(crate) false_positive_rate: Option<f64>,
    pub(crate) fingerprint_bits: Option<u32>,
    pub(crate) max_capacity: Option<u64>,
    pub(crate) growth_policy: GrowthPolicy,
    pub(crate) preference: Preference,
    pub(crate) layout: Option<Layout>,
    pub(crate) slots_per_bucket: Option<u32>,
    pub(crate) addressing: Addressing,
    pub(crate) hasher: KeyHasher,
    pub(crate) value_bits: Option<u32>,
    pub(crate) times: ChosenTimes,
}

/// What was chosen for a filter whose keys expire.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChosenTimes {
    pub(crate) lifetime: Option<u64>,
    pub(crate) resolution: Option<u64>,
    pub(crate) start: u64,
}

/// Which regions, these or larger ones, a seed asks for in a table with fingerprints of so many bits.
pub(super) type Enlarged<'plan> = dyn FnMut(Regions, Shape, u32) -> Regions + 'plan;

impl Chosen {
    /// The table that was chosen, and how far it grows.
    pub(crate) fn plan(&self) -> Result<PlannedFilter, BuildError> {
        self.plan_with(|regions, shape, bits| whole_regions(regions, shape, bits, self.hasher.seed()))
    }

    /// The table, with regions that are enlarged where a seed asks for it, and how far it grows.
    pub(super) fn plan_with(
        &self,
        mut enlarged: impl FnMut(Regions, Shape, u32) -> Regions,
    ) -> Result<PlannedFilter, BuildError> {
        self.try_plan(&mut enlarged).map_err(|error| self.advised(error))
    }

    fn try_plan(&self, enlarged: &mut Enlarged<'_>) -> Result<PlannedFilter, BuildError> {
        match self.max_capacity {
            Some(max_capacity) => self.plan_growing(max_capacity, enlarged),
            None => Ok(PlannedFilter { parameters: self.table(enlarged)?, growth: None, hasher: self.hasher }),
        }
    }

    /// The error. Where the rate is too low, it says the lowest possible one, which is found by trying: how long fingerprints can be
    /// depends on the table, and on the values beside them.
    fn advised(&self, error: BuildError) -> BuildError {
        let Some(given) = self.false_positive_rate else { return error };
        let (guess, without_values) = match error {
            BuildError::RateTooLow { least, .. } => (least, least),
            BuildError::ValueBits { .. } => (given, 0.0),
            _ => return error,
        };
        let takes = |rate| {
            let other = Self { false_positive_rate: Some(rate), ..*self };
            other.try_plan(&mut |regions, _, _| regions).is_ok()
        };
        match (least_rate(given, guess, takes), self.value_bits) {
            (None, _) => error,
            // Else longer fingerprints would hardly do better.
            (Some(least), Some(value_bits)) if least >= 1.01 * without_values => {
                BuildError::RateTooLowWithValues { given, least, value_bits }
            }
            (Some(least), _) => BuildError::RateTooLow { given, least },
        }
    }

    /// See [`FilterBuilder::alternatives`](super::FilterBuilder::alternatives).
    pub(super) fn alternatives(&self) -> Result<Vec<Parameters>, BuildError> {
        let capacity = self.capacity.ok_or(BuildError::SizeMissing)?;
        let rate = self.false_positive_rate.ok_or(BuildError::PrecisionMissing)?;
        let any = Self { preference: Preference::Space, ..Self::default() };
        let mut plans: Vec<_> = any.shapes().flat_map(|shape| with_shape(capacity, rate, shape)).collect();
        if plans.is_empty() {
            // There is no table at all; the error says why.
            plans.push(any.smallest(capacity, rate)?);
        }
        let enlarged = &mut |regions, shape, bits| whole_regions(regions, shape, bits, self.hasher.seed());
        let tables = plans.into_iter().map(|plan| self.with_good_regions(plan, capacity, enlarged));
        let mut tables = tables.collect::<Result<Vec<_>, _>>()?;
        tables.sort_by_key(Parameters::table_bits);
        Ok(tables)
    }

    /// The table of a filter that does not grow.
    fn table(&self, enlarged: &mut Enlarged<'_>) -> Result<Parameters, BuildError> {
        let Some(value_bits) = self.value_bits else { return self.table_of_fingerprints(enlarged) };
        // Before a rate is called too low, where none would do.
        check_values_in(self.layout.unwrap_or_default(), self.addressing)?;
        let mut with_slots = |slots_per_bucket| {
            let chosen = Self { slots_per_bucket, ..*self };
            chosen.table_of_fingerprints(enlarged)?.with_value_bits(value_bits)
        };
        if self.slots_per_bucket.is_some() || self.capacity.is_none() || self.false_positive_rate.is_none() {
            return with_slots(self.slots_per_bucket);
        }
        // With a value in every slot, another bucket size may take the least memory.
        let tables = PLANNED_SLOTS.map(|slots| with_slots(Some(slots)));
        let smallest = tables.iter().flatten().min_by_key(|table| table.table_bits()).copied();
        let [first, ..] = tables;
        smallest.map_or(first, Ok)
    }

    fn table_of_fingerprints(&self, enlarged: &mut Enlarged<'_>) -> Result<Parameters, BuildError> {
        match (self.capacity, self.bucket_count, self.false_positive_rate, self.fingerprint_bits) {
            (_, _, None, None) => Err(BuildError::PrecisionMissing),
            (_, _, Some(_), Some(_)) => Err(BuildError::PrecisionGivenTwice),
            (None, None, ..) => Err(BuildError::SizeMissing),
            (Some(_), Some(_), ..) => Err(BuildError::SizeGivenTwice),
            (Some(capacity), None, Some(rate), None) => {
                self.with_good_regions(self.smallest(capacity, rate)?, capacity, enlarged)
            }
            (Some(capacity), None, None, Some(bits)) => {
                let planned = with_fingerprint_bits(capacity, bits, self.given_shape()?)?;
                self.with_good_regions(planned, capacity, enlarged)
            }
            (None, Some(given), ..) => self.with_bucket_count(given),
        }
    }

    /// Planned parameters with a few more buckets, if the regions would fall into parts with the seed of this filter, or if speed is
    /// preferred and operations are faster in larger regions.
    fn with_good_regions(
        &self,
        planned: Parameters,
        capacity: u64,
        enlarged: &mut Enlarged<'_>,
    ) -> Result<Parameters, BuildError> {
        let (shape, bits) = (planned.shape(), planned.fingerprint_bits());
        let larger = if self.preference == Preference::Speed { in_large_regions(&planned) } else { None };
        let faster = larger.filter(|larger| Scheme::new(larger, 0).planned.is_in_regions_of_65536());
        let planned = faster.unwrap_or(planned);
        let regions = enlarged(planned.regions(), shape, bits);
        if regions == planned.regions() { Ok(planned) } else { Parameters::new(shape, bits, regions, capacity) }
    }

    /// The parameters of a table of a given number of buckets; its capacity is what can be promised with the seed of this
    /// filter.
    fn with_bucket_count(&self, given: u64) -> Result<Parameters, BuildError> {
        let shape = self.given_shape()?;
        if given == 0 || given > Parameters::MAX_BUCKETS {
            return Err(BuildError::BucketCount { given });
        }
        let regions = Regions::of_buckets(given, shape);
        let bits = match (self.fingerprint_bits, self.false_positive_rate) {
            // Nothing asks for a promised capacity: the paper's figure 2 needs short fingerprints.
            (Some(bits), _) => bits,
            (None, rate) => {
                let rate = rate.ok_or(BuildError::PrecisionMissing)?;
                fingerprint_bits_for_rate(rate, promised_by(regions, shape), regions, shape)?
            }
        };
        // First without a capacity, so that what is out of range is refused before anything is computed from it.
        Parameters::new(shape, bits, regions, 0)?;
        let parts = parts_of_regions(regions, shape, bits, self.hasher.seed());
        Parameters::new(shape, bits, regions, capacity_in_parts(bits, regions, parts, shape))
    }

    /// These choices with other capacities, each computed from the one that was given, after a check of these.
    pub(crate) fn with_capacities(&self, changed: impl Fn(u64) -> u64) -> Result<Self, BuildError> {
        self.check_capacities()?;
        let (capacity, max_capacity) = (self.capacity.map(&changed), self.max_capacity.map(&changed));
        Ok(Self { capacity, max_capacity, ..*self })
    }

    /// An error of choices whose capacities were computed from these, with the capacities of these.
    pub(super) fn as_given(&self, error: BuildError, computed: &Self) -> BuildError {
        let as_given = |keys| match Some(keys) {
            found if found == computed.capacity => self.capacity.unwrap_or(keys),
            found if found == computed.max_capacity => self.max_capacity.unwrap_or(keys),
            _ => keys,
        };
        match error {
            BuildError::Capacity { given, most } => BuildError::Capacity { given: as_given(given), most },
            BuildError::FingerprintTooShort { given, least, capacity } => {
                BuildError::FingerprintTooShort { given, least, capacity: as_given(capacity) }
            }
            other => other,
        }
    }

    /// Checks that the largest capacity is not below the first.
    pub(super) fn check_capacities(&self) -> Result<(), BuildError> {
        match (self.max_capacity, self.capacity) {
            (Some(given), Some(capacity)) if given < capacity => Err(BuildError::MaxCapacity { given, capacity }),
            _ => Ok(()),
        }
    }

    /// These choices with values of so many bits beside fingerprints. The layout is packed unless another was given, which is refused.
    pub(crate) fn with_values(&self, value_bits: u32) -> Self {
        let layout = self.layout.or(Some(Layout::Packed));
        // With values, no regions are faster than others.
        Self { value_bits: Some(value_bits), layout, preference: Preference::Space, ..*self }
    }

    /// Whether a capacity or a number of buckets was given.
    pub(crate) const fn has_size(&self) -> bool {
        self.capacity.is_some() || self.bucket_count.is_some()
    }

    /// The shapes that the given choices allow, of which there are none if they contradict each other.
    fn shapes(&self) -> impl Iterator<Item = Shape> {
        let (given, addressing) = (self.slots_per_bucket, self.addressing);
        let semi_sorted = (self.layout, self.preference) == (None, Preference::Space);
        let layouts = [Some(self.layout.unwrap_or_default()), semi_sorted.then_some(Layout::SemiSorted)];
        layouts.into_iter().flatten().flat_map(move |layout| {
            let is_planned = layout == Layout::Packed && given.is_none();
            let sizes: &[u32] = if is_planned { &PLANNED_SLOTS } else { layout.bucket_sizes() };
            let sizes = sizes.iter().filter(move |&&size| given.is_none_or(|given| given == size));
            sizes.flat_map(move |&size| Shape::new(layout, addressing, size))
        })
    }

    /// The best table of those that the given choices allow.
    fn smallest(&self, capacity: u64, rate: f64) -> Result<Parameters, BuildError> {
        let mut shapes = self.shapes();
        // Where there is no shape, the error says why.
        let first = shapes.next().map_or_else(|| self.given_shape(), Ok)?;
        analysis::smallest(capacity, rate, first, shapes, self.preference)
    }

    /// The given shape, with defaults for what was not given.
    fn given_shape(&self) -> Result<Shape, BuildError> {
        let layout = self.layout.unwrap_or_default();
        Shape::new(layout, self.addressing, self.slots_per_bucket.unwrap_or(4))
    }
}

/// The least rate for which there is a table, if the one given is too low; to one part in some thousand, or just as guessed. `None`
/// where other rates are of no use.
fn least_rate(given: f64, guess: f64, takes: impl Fn(f64) -> bool) -> Option<f64> {
    if takes(guess) && !takes(guess.next_down()) {
        return Some(guess);
    }
    let (mut refused, mut taken) = (given, guess.max(given.next_up()));
    while !takes(taken) {
        (refused, taken) = (taken, 4.0 * taken);
        if taken >= 1.0 {
            return None;
        }
    }
    // Numbers above 0 are in the order of their bits.
    let (mut refused, mut least) = (refused.to_bits(), taken.to_bits());
    while least - refused > 1 << 40 {
        let middle = refused + (least - refused) / 2;
        if takes(f64::from_bits(middle)) {
            least = middle;
        } else {
            refused = middle;
        }
    }
    Some(f64::from_bits(least))
}

/// The smallest regions of at least this size that don't fall into parts with this seed.
pub(super) fn whole_regions(regions: Regions, shape: Shape, fingerprint_bits: u32, seed: u64) -> Regions {
    let larger = |regions: &Regions| Some(Regions { buckets: regions.buckets + 2, ..*regions });
    core::iter::successors(Some(regions), larger)
        .find(|&regions| parts_of_regions(regions, shape, fingerprint_bits, seed) == 1)
        .unwrap_or(regions)
}
