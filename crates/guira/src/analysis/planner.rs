//! From what a user wants, a capacity and a rate, to the parameters of the table that gives it best.

use core::cmp::Ordering;

use super::formulas::rate_of_table;
use super::search::{capacity_with_fingerprints, regions_for};
use crate::cast::{saturating_ceil, to_f64};
use crate::error::BuildError;
use crate::parameters::{Parameters, Regions, Shape};

/// The choice of what matters more where layouts differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preference {
    /// The fastest operations: packed buckets of 2, 3, 4 or 8 slots, whichever takes the least memory; or up to 3 % more where buckets then
    /// fit a word of the processor, which is so at some rates below 0.01 %, and up to 1 % more where their numbers are then computed faster.
    /// Threads can share such a table.
    #[default]
    Speed,
    /// The least memory of all layouts.
    Space,
}

/// The slots of the packed buckets that are planned; of tables that are equally large, the first.
///
/// One slot per bucket costs several times the memory: it is there for research, as are more than two candidates, which cost another
/// cache line each.
pub(crate) const PLANNED_SLOTS: [u32; 4] = [4, 3, 2, 8];

/// The smallest table of a given shape for `capacity` distinct keys that keeps to `false_positive_rate`.
///
/// A rate may take one bit more of every fingerprint, or a few more buckets with one bit less: the table is the one
/// that takes less memory. Likewise if fingerprints are too short for so many keys.
pub(crate) fn with_shape(capacity: u64, false_positive_rate: f64, shape: Shape) -> Result<Parameters, BuildError> {
    let table = with_shape_below(capacity, false_positive_rate, shape, u64::MAX)?;
    table.ok_or_else(|| {
        let most_buckets = regions_to_promise(capacity, shape).map_or(1, room_for_rate);
        let roomy = Regions::of_buckets(most_buckets, shape);
        let least = rate_of_table(shape.most_fingerprint_bits(), roomy, shape, capacity);
        BuildError::RateTooLow { given: false_positive_rate, least }
    })
}

/// The smallest table of a shape, if it has less than `limit` bits.
fn with_shape_below(
    capacity: u64,
    false_positive_rate: f64,
    shape: Shape,
    limit: u64,
) -> Result<Option<Parameters>, BuildError> {
    check_rate(false_positive_rate)?;
    // No smaller table takes the capacity, however long its fingerprints are.
    let closest = regions_to_promise(capacity, shape)?;
    let rate_in = |regions, bits| rate_of_table(bits, regions, shape, capacity);
    let lengths = shape.least_fingerprint_bits()..=shape.most_fingerprint_bits();
    let for_rate = lengths.clone().find(|&bits| rate_in(closest, bits) <= false_positive_rate);
    // With two bits less there would have to be four times as many buckets.
    let shortest = for_rate.map_or(*lengths.end(), |bits| bits.saturating_sub(1));
    let mut best: Option<Parameters> = None;
    for bits in shortest.max(*lengths.start())..=*lengths.end() {
        let limit = best.map_or(limit, |best| best.table_bits());
        let least_bits = Parameters::new(shape, bits, closest, capacity)?.table_bits();
        if least_bits >= limit {
            break;
        }
        // The buckets that fit the limit in bits.
        let most_buckets = to_f64(closest.bucket_count()) * to_f64(limit) / to_f64(least_bits);
        let most_buckets = room_for_rate(closest).min(saturating_ceil(most_buckets));
        let keeps_rate = |regions| rate_in(regions, bits) <= false_positive_rate;
        let Some(regions) = regions_for(capacity, bits, shape, most_buckets, keeps_rate) else { continue };
        let parameters = Parameters::new(shape, bits, regions, capacity)?;
        if parameters.table_bits() < limit {
            best = Some(parameters);
        }
    }
    Ok(best)
}

/// The smallest table of those shapes that have one; of equals the first. Where speed is preferred, it may be larger if its
/// buckets are read in fewer words, and has to be as much smaller if in more: see [`WORTH_OF_FEWER_WORDS`].
pub(crate) fn smallest(
    capacity: u64,
    false_positive_rate: f64,
    first: Shape,
    others: impl Iterator<Item = Shape>,
    preference: Preference,
) -> Result<Parameters, BuildError> {
    others.fold(with_shape(capacity, false_positive_rate, first), |smallest, shape| match smallest {
        Ok(best) => {
            let bits = best.table_bits();
            let of_share = |share: f64| saturating_ceil(to_f64(bits) * (1.0 + share));
            let limit_for = |words: u32| match words.cmp(&best.words_of_bucket()) {
                _ if preference == Preference::Space => bits,
                Ordering::Less => of_share(WORTH_OF_FEWER_WORDS),
                Ordering::Equal => bits,
                Ordering::Greater => of_share(-WORTH_OF_FEWER_WORDS),
            };
            let other = with_shape_below(capacity, false_positive_rate, shape, limit_for(1));
            let fits = |table: &Parameters| table.table_bits() < limit_for(table.words_of_bucket());
            Ok(other.ok().flatten().filter(fits).unwrap_or(best))
        }
        Err(error) => with_shape(capacity, false_positive_rate, shape).map_err(|other| nearer(error, other)),
    })
}

/// The share of memory that it is worth to read buckets in fewer words: beyond the caches, lookups then take two thirds of the time.
const WORTH_OF_FEWER_WORDS: f64 = 0.03;

/// The error that names the lower rate of two, where both say which rates there are.
fn nearer(error: BuildError, other: BuildError) -> BuildError {
    match (&error, &other) {
        (BuildError::RateTooLow { least, .. }, BuildError::RateTooLow { least: lower, .. }) if lower < least => other,
        _ => error,
    }
}

/// For the sake of the rate, a table may have up to so many times the buckets that the capacity needs.
const MAX_ROOM: u64 = 4;

fn room_for_rate(closest: Regions) -> u64 {
    closest.bucket_count().saturating_mul(MAX_ROOM).min(Parameters::MAX_BUCKETS)
}

fn check_rate(rate: f64) -> Result<(), BuildError> {
    // Not `rate <= 0.0 || rate >= 1.0`: that lets NaN through.
    if rate > 0.0 && rate < 1.0 { Ok(()) } else { Err(BuildError::FalsePositiveRate { given: rate }) }
}

/// The smallest regions that `capacity` keys can be promised to fit, with fingerprints that are long enough.
pub(crate) fn regions_to_promise(capacity: u64, shape: Shape) -> Result<Regions, BuildError> {
    let most = Parameters::MAX_BUCKETS * u64::from(shape.slots_per_bucket());
    let refused = BuildError::Capacity { given: capacity, most };
    if capacity == 0 || capacity > most {
        return Err(refused);
    }
    let bits = shape.most_fingerprint_bits();
    regions_for(capacity, bits, shape, Parameters::MAX_BUCKETS, |_| true).ok_or(refused)
}

/// The smallest regions that `capacity` keys can be promised to fit, and in which the longest fingerprints beside values of so many
/// bits keep to the rate; and the bits of these fingerprints.
pub(crate) fn regions_beside_values(
    capacity: u64,
    rate: f64,
    value_bits: u32,
    shape: Shape,
) -> Result<(Regions, u32), BuildError> {
    let most_buckets = room_for_rate(regions_to_promise(capacity, shape)?);
    let roomy = Regions::of_buckets(most_buckets, shape);
    let fingerprint_bits = fingerprint_bits_for_rate(rate, capacity, roomy, shape)?;
    let bits = Parameters::MAX_BITS_WITH_VALUE - value_bits.min(Parameters::MAX_VALUE_BITS);
    let keeps_rate = |regions| rate_of_table(bits, regions, shape, capacity) <= rate;
    match regions_for(capacity, bits, shape, most_buckets, keeps_rate) {
        Some(regions) => Ok((regions, bits)),
        None => Err(BuildError::ValueBits { given: value_bits, fingerprint_bits }),
    }
}

/// The parameters of the smallest table for a capacity with fingerprints of a given length.
pub(crate) fn with_fingerprint_bits(capacity: u64, bits: u32, shape: Shape) -> Result<Parameters, BuildError> {
    let closest = regions_to_promise(capacity, shape)?;
    let parameters = Parameters::new(shape, bits, closest, capacity)?;
    let most_buckets = closest.bucket_count().saturating_mul(MAX_ROOM_FOR_SHORT).min(Parameters::MAX_BUCKETS);
    let regions_with = |bits| regions_for(capacity, bits, shape, most_buckets, |_| true);
    let Some(regions) = regions_with(bits) else {
        let longer = bits + 1..=shape.most_fingerprint_bits();
        let least = longer.into_iter().find(|&bits| regions_with(bits).is_some());
        let least = least.unwrap_or(shape.most_fingerprint_bits());
        return Err(BuildError::FingerprintTooShort { given: bits, least, capacity });
    };
    Parameters::new(shape, parameters.fingerprint_bits(), regions, capacity)
}

/// If the fingerprints asked for are short, a table may have up to so many times the buckets that the capacity needs.
const MAX_ROOM_FOR_SHORT: u64 = 2;

/// The shortest fingerprint that keeps to the rate with `capacity` keys in a given table.
pub(crate) fn fingerprint_bits_for_rate(
    rate: f64,
    capacity: u64,
    regions: Regions,
    shape: Shape,
) -> Result<u32, BuildError> {
    check_rate(rate)?;
    let mut lengths = shape.least_fingerprint_bits()..=shape.most_fingerprint_bits();
    let least = rate_of_table(shape.most_fingerprint_bits(), regions, shape, capacity);
    lengths
        .find(|&bits| rate_of_table(bits, regions, shape, capacity) <= rate)
        .ok_or(BuildError::RateTooLow { given: rate, least })
}

/// The most distinct keys that can be promised to fit regions that nearly fall into so many parts each: no more than for separate
/// regions of that size.
pub(crate) fn capacity_in_parts(fingerprint_bits: u32, regions: Regions, parts: u64, shape: Shape) -> u64 {
    let apart = Regions { count: regions.count * parts, buckets: regions.buckets / parts };
    let capacity_of = |regions| capacity_with_fingerprints(fingerprint_bits, regions, shape);
    capacity_of(regions).min(capacity_of(apart))
}
