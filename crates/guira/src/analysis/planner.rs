//! From what a user wants, a capacity and a rate, to the measures of the table that gives it best.

use alloc::vec::Vec;

use super::capacity::{fingerprint_bits_to_fill, load_factor, regions_for};
use super::formulas::{bits_per_key, rate_of_shape};
use crate::cast::approximate;
use crate::error::BuildError;
use crate::parameters::{Addressing, Layout, Parameters, Regions, Shape};

/// What matters more where layouts differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preference {
    /// The fastest operations: packed buckets, of the size that takes the least memory.
    #[default]
    Speed,
    /// The least memory of all layouts with two candidate buckets.
    Space,
}

impl Preference {
    /// The shapes to choose from; all have regional addressing.
    fn shapes(self) -> &'static [(Layout, u32)] {
        // One slot per bucket costs several times the memory; it is there for the reproduction of the paper.
        match self {
            Self::Speed => &[(Layout::Packed, 4), (Layout::Packed, 2), (Layout::Packed, 8)],
            Self::Space => &[
                (Layout::Packed, 4),
                (Layout::Packed, 2),
                (Layout::Packed, 8),
                (Layout::Windowed, 4),
                (Layout::Windowed, 3),
                (Layout::Windowed, 2),
                (Layout::SemiSorted, 4),
            ],
        }
    }
}

/// The table that a capacity and a rate come to, and what it costs.
///
/// # Examples
///
/// ```
/// use guira::analysis::{Plan, Preference};
///
/// let plan = Plan::new(1_000_000, 0.001, Preference::Speed)?;
/// assert!(plan.expected_false_positive_rate() <= 0.001);
/// assert!(plan.bits_per_key() < 14.0);
/// assert!(Plan::new(1_000_000, 0.001, Preference::Space)?.bits_per_key() < 12.7);
/// # Ok::<(), guira::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    parameters: Parameters,
    false_positive_rate: f64,
    raised_from: Option<u32>,
}

impl Plan {
    /// The table to be preferred for `capacity` distinct keys that keeps to `false_positive_rate` while it holds no more.
    ///
    /// # Errors
    ///
    /// A capacity of 0 or beyond the largest table, a rate that is not between 0 and 1 or that takes more than 32 bits.
    pub fn new(capacity: u64, false_positive_rate: f64, preference: Preference) -> Result<Self, BuildError> {
        let shapes = preference.shapes().iter();
        let shapes = shapes.flat_map(|&(layout, slots)| Shape::new(layout, Addressing::Regional, slots));
        Self::smallest(capacity, false_positive_rate, shapes)
    }

    /// The same with a shape that is given.
    ///
    /// # Errors
    ///
    /// Those of [`Self::new`].
    pub fn with_shape(capacity: u64, false_positive_rate: f64, shape: Shape) -> Result<Self, BuildError> {
        let regions = regions_to_promise(capacity, shape)?;
        let (fingerprint_bits, raised_from) = fingerprint_bits_for_rate(false_positive_rate, capacity, regions, shape)?;
        let parameters = Parameters::new(shape, fingerprint_bits, regions, capacity)?;
        Ok(Self { parameters, false_positive_rate, raised_from })
    }

    /// The plans for all shapes that take the capacity and keep to the rate, the smallest first.
    ///
    /// # Errors
    ///
    /// Those of [`Self::new`], if there is no such shape.
    pub fn alternatives(capacity: u64, false_positive_rate: f64) -> Result<Vec<Self>, BuildError> {
        let space = Self::new(capacity, false_positive_rate, Preference::Space)?;
        let shapes = Preference::Space.shapes().iter().map(|&(layout, slots)| (layout, Addressing::Regional, slots));
        let dary = [(Addressing::Ternary, 1), (Addressing::Ternary, 2), (Addressing::Quaternary, 1)];
        let shapes = shapes.chain(dary.map(|(addressing, slots)| (Layout::Packed, addressing, slots)));
        let shapes = shapes.flat_map(|(layout, addressing, slots)| Shape::new(layout, addressing, slots));
        let mut plans: Vec<_> =
            shapes.flat_map(|shape| Self::with_shape(capacity, false_positive_rate, shape)).collect();
        plans.sort_by_key(|plan| plan.parameters.table_bits());
        debug_assert!(plans.contains(&space));
        Ok(plans)
    }

    /// The smallest table of those shapes that have one; of equals the first.
    pub(crate) fn smallest(
        capacity: u64,
        false_positive_rate: f64,
        shapes: impl Iterator<Item = Shape>,
    ) -> Result<Self, BuildError> {
        let mut smallest: Result<Self, BuildError> = Err(BuildError::SizeMissing);
        for shape in shapes {
            let plan = Self::with_shape(capacity, false_positive_rate, shape);
            smallest = match (smallest, plan) {
                (Ok(best), Ok(plan)) if plan.parameters.table_bits() < best.parameters.table_bits() => Ok(plan),
                (Ok(best), _) => Ok(best),
                (Err(BuildError::SizeMissing), plan) => plan,
                (Err(_), Ok(plan)) => Ok(plan),
                (Err(error), Err(_)) => Err(error),
            };
        }
        smallest
    }

    /// The measures of the table.
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The rate that was asked for.
    #[must_use]
    pub const fn false_positive_rate(&self) -> f64 {
        self.false_positive_rate
    }

    /// The rate to expect when the filter holds as many keys as its capacity.
    #[must_use]
    pub fn expected_false_positive_rate(&self) -> f64 {
        self.parameters.expected_false_positive_rate(self.parameters.capacity())
    }

    /// The load factor when the filter holds as many keys as its capacity.
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        load_factor(self.parameters.capacity(), self.parameters.slot_count())
    }

    /// The bits per key when the filter holds as many keys as its capacity: equation (4).
    #[must_use]
    pub fn bits_per_key(&self) -> f64 {
        bits_per_key(self.parameters.bits_per_slot(), self.load_factor())
    }

    /// How many cache lines of 64 bytes a lookup touches on average: one per candidate, and one more for each bucket
    /// that straddles two.
    #[must_use]
    pub fn lines_per_lookup(&self) -> f64 {
        const LINE_BITS: u64 = 512;
        let bucket_bits = u64::from(self.parameters.bucket_bits());
        let stride = match self.parameters.layout() {
            Layout::Windowed => u64::from(self.parameters.bits_per_slot()),
            _ => bucket_bits,
        };
        // After 512 buckets the places within a line come again.
        let lines_of = |bucket: u64| (bucket * stride + bucket_bits - 1) / LINE_BITS - bucket * stride / LINE_BITS + 1;
        let lines = approximate((0..LINE_BITS).map(lines_of).sum()) / approximate(LINE_BITS);
        f64::from(self.parameters.addressing().candidates()) * lines
    }

    /// The bytes of the table.
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        self.parameters.table_size()
    }

    /// The fingerprint length that the rate alone asks for, where the capacity made it longer: with so few different
    /// fingerprints, more keys than fit would share both buckets (equation (3)).
    #[must_use]
    pub const fn raised_from(&self) -> Option<u32> {
        self.raised_from
    }
}

/// The smallest regions that `capacity` keys can be promised to fit.
pub(crate) fn regions_to_promise(capacity: u64, shape: Shape) -> Result<Regions, BuildError> {
    let most = Parameters::MOST_BUCKETS * u64::from(shape.slots_per_bucket());
    if capacity == 0 || capacity > most {
        return Err(BuildError::Capacity { given: capacity, most });
    }
    regions_for(capacity, shape).ok_or(BuildError::Capacity { given: capacity, most })
}

/// The shortest fingerprint that keeps to the rate at capacity and lets the capacity be reached; and the length that
/// the rate alone asks for, where that is less.
pub(crate) fn fingerprint_bits_for_rate(
    rate: f64,
    capacity: u64,
    regions: Regions,
    shape: Shape,
) -> Result<(u32, Option<u32>), BuildError> {
    // Not `rate <= 0.0 || rate >= 1.0`: that lets NaN through.
    if !(rate > 0.0 && rate < 1.0) {
        return Err(BuildError::FalsePositiveRate { given: rate });
    }
    let load_factor = load_factor(capacity, regions.count * shape.slots_of_region(regions.buckets));
    let rate_with = |bits, load_factor| rate_of_shape(bits, shape, load_factor);
    let mut lengths = shape.least_fingerprint_bits()..=Parameters::MOST_FINGERPRINT_BITS;
    let for_rate = lengths.find(|&bits| rate_with(bits, load_factor) <= rate);
    let least = rate_with(Parameters::MOST_FINGERPRINT_BITS, 1.0);
    let for_rate = for_rate.ok_or(BuildError::RateTooLow { given: rate, least })?;
    let to_fill = fingerprint_bits_to_fill(capacity, regions, shape);
    Ok((for_rate.max(to_fill), (to_fill > for_rate).then_some(for_rate)))
}
