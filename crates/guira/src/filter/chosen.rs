//! What was chosen for a filter, and the table that follows from it.

use alloc::vec::Vec;

use super::growth::Growth;
use super::growth_plan::{GrowthPlan, GrowthRequest};
use super::{CuckooFilter, GrowthPolicy};
use crate::addressing::parts_of_regions;
use crate::analysis::{
    self, PLANNED_SLOTS, Preference, capacity_in_parts, fingerprint_bits_for_rate, in_large_regions, promised_by,
    with_fingerprint_bits, with_shape,
};
use crate::cuckoo::Scheme;
use crate::digest::KeyHasher;
use crate::error::BuildError;
use crate::parameters::{Addressing, Layout, Parameters, Regions, Shape};

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

impl Chosen {
    pub(crate) fn build_filter(&self) -> Result<CuckooFilter, BuildError> {
        built(self.plan_as_given()?, self.hasher)
    }

    /// The table that was chosen for a filter without values, and how far it grows.
    pub(crate) fn plan_as_given(&self) -> Result<(Parameters, Option<Growth>), BuildError> {
        self.refuse_value_bits()?;
        self.parameters_and_growth()
    }

    fn refuse_value_bits(&self) -> Result<(), BuildError> {
        if self.value_bits.is_some() { Err(BuildError::ValueBitsUnused) } else { Ok(()) }
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
        let tables = plans.into_iter().map(|plan| self.with_good_regions(plan, capacity));
        let mut tables = tables.collect::<Result<Vec<_>, _>>()?;
        tables.sort_by_key(Parameters::table_bits);
        Ok(tables)
    }

    fn parameters_and_growth(&self) -> Result<(Parameters, Option<Growth>), BuildError> {
        self.planned(|chosen| match chosen.max_capacity {
            None => chosen.parameters_without_growth().map(|parameters| (parameters, None)),
            Some(max_capacity) => {
                let (parameters, growth) = chosen.growth_request(max_capacity)?.plan()?;
                Ok((parameters, Some(growth)))
            }
        })
        .map_err(Refused::without_values)
    }

    /// What is planned. Where the rate is too low, the error says the lowest possible one, which is found by trying: how long
    /// fingerprints can be depends on the table, and on the values beside them.
    fn planned<T>(&self, plan: impl Fn(&Self) -> Result<T, BuildError>) -> Result<T, Refused> {
        plan(self).map_err(|error| {
            let guess = match (&error, self.false_positive_rate) {
                (BuildError::RateTooLow { least, .. }, Some(given)) => Some((given, *least)),
                (BuildError::ValueBits { .. }, Some(given)) => Some((given, given)),
                _ => None,
            };
            let takes = |rate| plan(&Self { false_positive_rate: Some(rate), ..*self }).is_ok();
            let least_rate = guess.and_then(|(given, guess)| Some((given, least_rate(given, guess, takes)?)));
            Refused { error, least_rate }
        })
    }

    /// What does not depend on the hasher, if the filter grows.
    pub(super) fn growth_plan(&self) -> Result<Option<GrowthPlan>, BuildError> {
        self.refuse_value_bits()?;
        self.planned(|chosen| match chosen.max_capacity {
            None => chosen.parameters_without_growth().map(|_| None),
            Some(max_capacity) => GrowthPlan::new(chosen.growth_request(max_capacity)?).map(Some),
        })
        .map_err(Refused::without_values)
    }

    fn growth_request(&self, max_capacity: u64) -> Result<GrowthRequest, BuildError> {
        let is_packed = matches!(self.layout, None | Some(Layout::Packed));
        if !is_packed || !matches!(self.addressing, Addressing::Regional | Addressing::Doubling) {
            let layout = self.layout.unwrap_or_default();
            return Err(BuildError::GrowingShape { layout, addressing: self.addressing });
        }
        if self.bucket_count.is_some() || self.fingerprint_bits.is_some() {
            return Err(BuildError::GrowingPrecision);
        }
        Ok(GrowthRequest {
            capacity: self.capacity.ok_or(BuildError::SizeMissing)?,
            max_capacity,
            false_positive_rate: self.false_positive_rate.ok_or(BuildError::PrecisionMissing)?,
            slots_per_bucket: self.slots_per_bucket.unwrap_or(4),
            value_bits: None,
            policy: self.growth_policy,
            seed: self.hasher.seed(),
        })
    }

    fn parameters_without_growth(&self) -> Result<Parameters, BuildError> {
        match (self.capacity, self.bucket_count, self.false_positive_rate, self.fingerprint_bits) {
            (_, _, None, None) => Err(BuildError::PrecisionMissing),
            (_, _, Some(_), Some(_)) => Err(BuildError::PrecisionGivenTwice),
            (None, None, ..) => Err(BuildError::SizeMissing),
            (Some(_), Some(_), ..) => Err(BuildError::SizeGivenTwice),
            (Some(capacity), None, Some(rate), None) => {
                self.with_good_regions(self.smallest(capacity, rate)?, capacity)
            }
            (Some(capacity), None, None, Some(bits)) => {
                self.with_good_regions(with_fingerprint_bits(capacity, bits, self.given_shape()?)?, capacity)
            }
            (None, Some(given), Some(rate), None) => self.with_bucket_count(given, |regions, shape| {
                fingerprint_bits_for_rate(rate, promised_by(regions, shape), regions, shape)
            }),
            // A number of buckets asks for no promised capacity: the paper's figure 2 needs short fingerprints.
            (None, Some(given), None, Some(bits)) => self.with_bucket_count(given, |_, _| Ok(bits)),
        }
    }

    /// Planned parameters with a few more buckets, if the regions would fall into parts with the seed of this filter, or if speed is
    /// preferred and operations are faster in larger regions.
    fn with_good_regions(&self, planned: Parameters, capacity: u64) -> Result<Parameters, BuildError> {
        let (shape, bits) = (planned.shape(), planned.fingerprint_bits());
        let larger = if self.preference == Preference::Speed { in_large_regions(&planned) } else { None };
        let faster = larger.filter(|larger| Scheme::new(larger, 0).planned.is_in_regions_of_65536());
        let planned = faster.unwrap_or(planned);
        let regions = whole_regions(planned.regions(), shape, bits, self.hasher.seed());
        if regions == planned.regions() { Ok(planned) } else { Parameters::new(shape, bits, regions, capacity) }
    }

    /// The parameters of a table of a given number of buckets; its capacity is what can be promised with the seed of this
    /// filter.
    fn with_bucket_count(
        &self,
        given: u64,
        fingerprint_bits: impl Fn(Regions, Shape) -> Result<u32, BuildError>,
    ) -> Result<Parameters, BuildError> {
        let shape = self.given_shape()?;
        if given == 0 || given > Parameters::MAX_BUCKETS {
            return Err(BuildError::BucketCount { given });
        }
        let regions = Regions::of_buckets(given, shape);
        let bits = fingerprint_bits(regions, shape)?;
        // First without a capacity, so that what is out of range is refused before anything is computed from it.
        Parameters::new(shape, bits, regions, 0)?;
        let parts = parts_of_regions(regions, shape, bits, self.hasher.seed());
        Parameters::new(shape, bits, regions, capacity_in_parts(bits, regions, parts, shape))
    }

    /// The same with other capacities, each computed from the one that was given.
    pub(crate) fn with_capacities(&self, changed: impl Fn(u64) -> u64) -> Self {
        let (capacity, max_capacity) = (self.capacity.map(&changed), self.max_capacity.map(&changed));
        Self { capacity, max_capacity, ..*self }
    }

    /// The same with the packed layout, unless a layout was given, for filters that have no other.
    #[cfg(feature = "concurrent")]
    pub(crate) fn packed_unless_given(&self) -> ChosenPacked {
        ChosenPacked(self.with_packed_layout())
    }

    /// The same with the packed layout, unless a layout was given.
    fn with_packed_layout(&self) -> Self {
        Self { layout: self.layout.or(Some(Layout::Packed)), ..*self }
    }

    /// The table of a filter whose fingerprints carry values of so many bits, and how far it grows. The layout is packed
    /// unless another was given, which is refused.
    pub(crate) fn plan_with_values(&self, value_bits: u32) -> Result<(Parameters, Option<Growth>), BuildError> {
        let planned = self.planned(|chosen| chosen.table_with_values(value_bits));
        planned.map_err(|refused| refused.with_values(value_bits))
    }

    fn table_with_values(&self, value_bits: u32) -> Result<(Parameters, Option<Growth>), BuildError> {
        if let Some(max_capacity) = self.max_capacity {
            let request = self.growth_request(max_capacity)?;
            let (parameters, growth) = GrowthRequest { value_bits: Some(value_bits), ..request }.plan()?;
            return Ok((parameters, Some(growth)));
        }
        let of = |chosen: &Self| chosen.parameters_without_growth()?.with_value_bits(value_bits);
        // With values, no regions are faster than others.
        let packed = Self { preference: Preference::Space, ..self.with_packed_layout() };
        if self.slots_per_bucket.is_some() || self.capacity.is_none() || self.false_positive_rate.is_none() {
            return of(&packed).map(|parameters| (parameters, None));
        }
        // With a value in every slot, another bucket size may take the least memory.
        let with_slots = |slots| of(&Self { slots_per_bucket: Some(slots), ..packed });
        let [first, others @ ..] = PLANNED_SLOTS;
        let tables = others.into_iter().map(with_slots);
        let smallest = tables.fold(with_slots(first), |best, other| match (&best, &other) {
            (Ok(smallest), Ok(table)) if table.table_bits() < smallest.table_bits() => other,
            (Err(_), Ok(_)) => other,
            _ => best,
        });
        smallest.map(|parameters| (parameters, None))
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

/// Why there is no such table, with the rate asked for and the least one that there is a table for, where the rate is what stands in
/// the way.
struct Refused {
    error: BuildError,
    least_rate: Option<(f64, f64)>,
}

impl Refused {
    fn without_values(self) -> BuildError {
        self.least_rate.map_or(self.error, |(given, least)| BuildError::RateTooLow { given, least })
    }

    fn with_values(self, value_bits: u32) -> BuildError {
        match (self.least_rate, &self.error) {
            // Longer fingerprints would hardly do better.
            (Some((_, least)), BuildError::RateTooLow { least: without, .. }) if least < 1.01 * without => {
                self.without_values()
            }
            (Some((given, least)), _) => BuildError::RateTooLowWithValues { given, least, value_bits },
            (None, _) => self.error,
        }
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

/// What was chosen for a filter of a kind that is packed in any case: another layout is refused.
#[cfg(feature = "concurrent")]
pub(crate) struct ChosenPacked(Chosen);

#[cfg(feature = "concurrent")]
impl ChosenPacked {
    pub(crate) fn build_filter(&self) -> Result<CuckooFilter, BuildError> {
        built(self.plan_as_given()?, self.0.hasher)
    }

    /// See [`Chosen::plan_as_given`].
    pub(crate) fn plan_as_given(&self) -> Result<(Parameters, Option<Growth>), BuildError> {
        let plan = self.0.plan_as_given()?;
        match plan.0.layout() {
            Layout::Packed => Ok(plan),
            layout => Err(BuildError::ConcurrentLayout { layout }),
        }
    }
}

fn built((parameters, growth): (Parameters, Option<Growth>), hasher: KeyHasher) -> Result<CuckooFilter, BuildError> {
    Ok(CuckooFilter::with_parameters(parameters, hasher)?.with_growth(growth))
}

/// The smallest regions of at least this size that don't fall into parts with this seed.
pub(crate) fn whole_regions(regions: Regions, shape: Shape, fingerprint_bits: u32, seed: u64) -> Regions {
    let larger = |regions: &Regions| Some(Regions { buckets: regions.buckets + 2, ..*regions });
    core::iter::successors(Some(regions), larger)
        .find(|&regions| parts_of_regions(regions, shape, fingerprint_bits, seed) == 1)
        .unwrap_or(regions)
}
