use alloc::format;
use alloc::string::String;
use core::fmt;

use thiserror::Error;

use crate::parameters::{Addressing, Layout, Parameters};

/// Why there is no filter with the parameters asked for.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// Neither a capacity nor a number of buckets was given.
    #[error("a filter needs a capacity (or a number of buckets)")]
    SizeMissing,
    /// Both a capacity and a number of buckets were given.
    #[error("give either a capacity or a number of buckets, not both")]
    SizeGivenTwice,
    /// Neither a rate nor a fingerprint length was given.
    #[error("a filter needs a false positive rate or a fingerprint length")]
    PrecisionMissing,
    /// Both a rate and a fingerprint length were given.
    #[error("give either a false positive rate or a fingerprint length, not both")]
    PrecisionGivenTwice,
    /// A capacity of 0, or one that no table takes.
    #[error(fmt = capacity)]
    Capacity {
        /// The capacity asked for.
        given: u64,
        /// The slots of the largest table with this bucket size.
        most: u64,
    },
    /// A largest capacity below the first.
    #[error("a largest capacity of {given} keys is below the first, which is {capacity}")]
    MaxCapacity {
        /// The largest capacity asked for.
        given: u64,
        /// The first capacity.
        capacity: u64,
    },
    /// A rate that is not between 0 and 1, both excluded.
    #[error("a false positive rate of {given:?}: give a number between 0 and 1, such as 0.001")]
    FalsePositiveRate {
        /// The rate asked for.
        given: f64,
    },
    /// A rate that the longest fingerprints, or digests of 64 bits, do not reach.
    #[error(
        "a false positive rate of {given:?} is too low for so many keys: with digests of 64 bits and the longest \
         fingerprints the least is {}; give that or a higher one, or fewer keys",
        rounded_up(*.least)
    )]
    RateTooLow {
        /// The rate asked for.
        given: f64,
        /// The least rate for what else was asked for, or up to a thousandth more: with the longest fingerprints of its shape, in a
        /// table of the most buckets that are planned for it. It includes capacity / 2^64, the chance that an absent key has the digest of a
        /// stored one.
        least: f64,
    },
    /// A rate that fingerprints do not reach that are short enough for the values beside them.
    #[error(
        "a false positive rate of {given:?} is too low: a fingerprint has at most {} bits together with a value of \
         {value_bits}, with which the least is {}; give that or a higher one, or values of fewer bits",
        Parameters::MAX_BITS_WITH_VALUE,
        rounded_up(*.least)
    )]
    RateTooLowWithValues {
        /// The rate asked for.
        given: f64,
        /// The least rate for what else was asked for, or up to a thousandth more.
        least: f64,
        /// The bits of a value.
        value_bits: u32,
    },
    /// A fingerprint length out of range.
    #[error("fingerprints of {given} bits: they have {least} to {most} bits")]
    FingerprintBits {
        /// The bits asked for.
        given: u32,
        /// The fewest bits that layout and addressing take.
        least: u32,
        /// The most bits that they take.
        most: u32,
    },
    /// A fingerprint too short for the capacity: more keys than fit would share both buckets.
    #[error(
        "fingerprints of {given} bits are too short for {capacity} keys, of which too many would share their buckets: give \
         at least {least} bits, a lower rate or larger buckets"
    )]
    FingerprintTooShort {
        /// The bits asked for.
        given: u32,
        /// The fewest bits with which the capacity can be promised.
        least: u32,
        /// The capacity asked for.
        capacity: u64,
    },
    /// A bucket size that the layout does not have.
    #[error(
        "buckets of {given} slots: {layout} tables have buckets of {}",
        Alternatives(.layout.bucket_sizes())
    )]
    SlotsPerBucket {
        /// The slots asked for.
        given: u32,
        /// The layout it was asked for.
        layout: Layout,
    },
    /// A bucket size that tables that can grow do not have: with fewer slots, too many keys would share both buckets.
    #[error("buckets of {given} slots: tables that can grow have buckets of 4 or 8")]
    GrowingSlotsPerBucket {
        /// The slots asked for.
        given: u32,
    },
    /// A layout or an addressing that filters that grow do not have.
    #[error(
        "a filter that grows, with {layout} layout and {addressing} addressing: it is packed, and chooses its addressing \
         itself"
    )]
    GrowingShape {
        /// The layout asked for.
        layout: Layout,
        /// The addressing asked for.
        addressing: Addressing,
    },
    /// A number of buckets or a fingerprint length for a filter that grows, which takes a capacity and a rate.
    #[error(
        "a filter that grows takes a capacity and a false positive rate, no number of buckets or fingerprint length"
    )]
    GrowingPrecision,
    /// A layout that does not go with the addressing.
    #[error("{layout} tables do not go with {addressing} addressing")]
    LayoutWithAddressing {
        /// The layout asked for.
        layout: Layout,
        /// The addressing asked for.
        addressing: Addressing,
    },
    /// Values of no bits, or too long for the fingerprints beside them.
    #[error(
        "values of {given} bits beside fingerprints of {fingerprint_bits}: a value has 1 to {} bits, and both together have \
         at most {}",
        Parameters::MAX_VALUE_BITS,
        Parameters::MAX_BITS_WITH_VALUE
    )]
    ValueBits {
        /// The bits of a value asked for.
        given: u32,
        /// The bits of the fingerprint beside it.
        fingerprint_bits: u32,
    },
    /// More bits than a value of the map's type has.
    #[error("values of {given} bits, of a type whose values have {most} at the most")]
    ValueBitsOfType {
        /// The bits asked for.
        given: u32,
        /// The bits that the type has.
        most: u32,
    },
    /// Bits of values for a filter without values.
    #[error("bits of values, for a filter without values: maps and filters that count have them")]
    ValueBitsUnused,
    /// No lifetime was given for a filter whose keys expire.
    #[error("a filter whose keys expire needs a lifetime")]
    LifetimeMissing,
    /// A lifetime, or a resolution of it, that filters whose keys expire can't have.
    #[error(fmt = resolution)]
    Resolution {
        /// The resolution that was asked for, or that follows from the lifetime.
        given: u64,
        /// The lifetime asked for.
        lifetime: u64,
    },
    /// Values in a table that can't have them.
    #[error(
        "values in a {layout} table with {addressing} addressing: only packed tables with regional or doubling addressing \
         have them"
    )]
    ValuesInLayout {
        /// The layout asked for.
        layout: Layout,
        /// The addressing asked for.
        addressing: Addressing,
    },
    /// A layout that filters for several threads do not have: they are packed.
    #[error("a {layout} table: filters for several threads are packed")]
    ConcurrentLayout {
        /// The layout asked for.
        layout: Layout,
    },
    /// No buckets, or more than a table can have.
    #[error("{given} buckets: a table has 1 to {}", Parameters::MAX_BUCKETS)]
    BucketCount {
        /// The buckets asked for.
        given: u64,
    },
    /// A number of buckets that is not a power of 2, 3 or 4, where the addressing needs one.
    #[error("{given} buckets: this addressing needs a power of {base}; regional addressing takes any number")]
    BucketCountNotPower {
        /// The buckets asked for.
        given: u64,
        /// The number whose powers are needed.
        base: u64,
    },
    /// An odd number of buckets per region, where the addressing needs pairs.
    #[error("{given} buckets in a region: this addressing needs an even number")]
    BucketCountOdd {
        /// The buckets of a region.
        given: u64,
    },
    /// A table that can't have been doubled so often: it has another addressing, or would have begun with an odd number
    /// of buckets or with too many or too few fingerprint bits.
    #[error("no table with these parameters can have been doubled {given} times")]
    Doublings {
        /// The doublings.
        given: u32,
    },
    /// No table with these parameters can have had half of its buckets doubled as often.
    #[error("no table with these parameters can have been doubled {} times", f64::from(*.given) / 2.0)]
    HalfDoublings {
        /// How often half of the buckets were doubled.
        given: u32,
    },
    /// The memory for the table could not be allocated.
    #[error("no memory for a table of {bytes} bytes")]
    OutOfMemory {
        /// The bytes of the table.
        bytes: u64,
    },
}

fn capacity(given: &u64, most: &u64, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    match given {
        0 => formatter.write_str("a capacity of 0: give the number of keys, at least 1"),
        _ => write!(formatter, "a capacity of {given} keys is too large: the largest table has {most} slots"),
    }
}

fn resolution(given: &u64, lifetime: &u64, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    match lifetime {
        0 => formatter.write_str("a lifetime of 0: give the time for which keys are found, at least 1"),
        // What is advised below was done.
        _ if (1..=*lifetime).contains(given) && lifetime.div_ceil(*given) <= 254 => {
            write!(
                formatter,
                "a lifetime of {lifetime} is too long to be rounded up to a multiple of {given}, its resolution"
            )
        }
        _ => write!(
            formatter,
            "a resolution of {given} for a lifetime of {lifetime}: give at least a 254th of the lifetime, and at most all \
             of it"
        ),
    }
}

/// A number with two digits that is no lower: rounded to the nearest, it would be refused half of the time.
fn rounded_up(number: f64) -> String {
    let rounded = format!("{number:.1e}");
    if rounded.parse().is_ok_and(|rounded: f64| rounded >= number) {
        return rounded;
    }
    // Half of the last digit is at most a twentieth.
    format!("{:.1e}", number * 1.05)
}

/// `1, 2, 3, 4 or 8`
struct Alternatives(&'static [u32]);

impl fmt::Display for Alternatives {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, number) in self.0.iter().enumerate() {
            let before = match index {
                0 => "",
                _ if index + 1 == self.0.len() => " or ",
                _ => ", ",
            };
            write!(formatter, "{before}{number}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::parameters::Shape;

    #[test]
    fn rates_are_never_rounded_down() {
        for mantissa in 100..1000 {
            for exponent in [-3, -9, -10, -15] {
                let number: f64 =
                    format!("{}.{:02}e{exponent}", mantissa / 100, mantissa % 100).parse().expect("a number");
                let rounded: f64 = rounded_up(number).parse().expect("a number");
                assert!(rounded >= number && rounded <= number * 1.11, "{number}: {rounded}");
            }
        }
        assert_eq!([4.5e-10, 1.21e-10, 9.96e-10].map(rounded_up), ["4.5e-10", "1.3e-10", "1.0e-9"]);
    }

    #[test]
    fn errors_name_layouts_as_documents_do_and_say_what_there_is() {
        let refused =
            |layout, addressing, slots| Shape::new(layout, addressing, slots).map_err(|error| error.to_string());
        for (layout, addressing, slots, expected) in [
            (
                Layout::Packed,
                Addressing::Regional,
                5,
                "buckets of 5 slots: packed tables have buckets of 1, 2, 3, 4 or 8",
            ),
            (
                Layout::Packed,
                Addressing::Doubling,
                2,
                "buckets of 2 slots: tables that can grow have buckets of 4 or 8",
            ),
            (Layout::SemiSorted, Addressing::Regional, 2, "buckets of 2 slots: semi-sorted tables have buckets of 4"),
            (Layout::SemiSorted, Addressing::Ternary, 4, "semi-sorted tables do not go with ternary addressing"),
        ] {
            assert_eq!(refused(layout, addressing, slots), Err(expected.to_string()));
        }
    }
}
