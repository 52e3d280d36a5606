use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::parameters::{Addressing, Layout, Parameters};

/// Why there is no filter with the parameters asked for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// Neither a capacity nor a number of buckets was given.
    SizeMissing,
    /// Both a capacity and a number of buckets were given.
    SizeGivenTwice,
    /// Neither a rate nor a fingerprint length was given.
    PrecisionMissing,
    /// Both a rate and a fingerprint length were given.
    PrecisionGivenTwice,
    /// A capacity of 0, or one that no table takes.
    Capacity {
        /// The capacity asked for.
        given: u64,
        /// The slots of the largest table with this bucket size.
        most: u64,
    },
    /// A largest capacity below the first.
    MaxCapacity {
        /// The largest capacity asked for.
        given: u64,
        /// The first capacity.
        capacity: u64,
    },
    /// A rate that is not between 0 and 1, both excluded.
    FalsePositiveRate {
        /// The rate asked for.
        given: f64,
    },
    /// A rate that the longest fingerprints, or digests of 64 bits, do not reach.
    RateTooLow {
        /// The rate asked for.
        given: f64,
        /// The least rate for what else was asked for, or up to a thousandth more: with the longest fingerprints of its shape, in a
        /// table of the most buckets that are planned for it. It includes capacity / 2^64, the chance that an absent key has the digest of a
        /// stored one.
        least: f64,
    },
    /// A rate that fingerprints do not reach that are short enough for the values beside them.
    RateTooLowWithValues {
        /// The rate asked for.
        given: f64,
        /// The least rate for what else was asked for, or up to a thousandth more.
        least: f64,
        /// The bits of a value.
        value_bits: u32,
    },
    /// A fingerprint length out of range.
    FingerprintBits {
        /// The bits asked for.
        given: u32,
        /// The fewest bits that layout and addressing take.
        least: u32,
        /// The most bits that they take.
        most: u32,
    },
    /// A fingerprint too short for the capacity: more keys than fit would share both buckets.
    FingerprintTooShort {
        /// The bits asked for.
        given: u32,
        /// The fewest bits with which the capacity can be promised.
        least: u32,
        /// The capacity asked for.
        capacity: u64,
    },
    /// A bucket size that the layout does not have.
    SlotsPerBucket {
        /// The slots asked for.
        given: u32,
        /// The layout it was asked for.
        layout: Layout,
    },
    /// A bucket size that tables that can grow do not have: with fewer slots, too many keys would share both buckets.
    GrowingSlotsPerBucket {
        /// The slots asked for.
        given: u32,
    },
    /// A layout or an addressing that filters that grow do not have.
    GrowingShape {
        /// The layout asked for.
        layout: Layout,
        /// The addressing asked for.
        addressing: Addressing,
    },
    /// A number of buckets or a fingerprint length for a filter that grows, which takes a capacity and a rate.
    GrowingPrecision,
    /// A layout that does not go with the addressing.
    LayoutWithAddressing {
        /// The layout asked for.
        layout: Layout,
        /// The addressing asked for.
        addressing: Addressing,
    },
    /// Values of no bits, or too long for the fingerprints beside them.
    ValueBits {
        /// The bits of a value asked for.
        given: u32,
        /// The bits of the fingerprint beside it.
        fingerprint_bits: u32,
    },
    /// More bits than a value of the map's type has.
    ValueBitsOfType {
        /// The bits asked for.
        given: u32,
        /// The bits that the type has.
        most: u32,
    },
    /// Bits of values for a filter without values.
    ValueBitsUnused,
    /// No lifetime was given for a filter whose keys expire.
    LifetimeMissing,
    /// A lifetime, or a resolution of it, that filters whose keys expire can't have.
    Resolution {
        /// The resolution that was asked for, or that follows from the lifetime.
        given: u64,
        /// The lifetime asked for.
        lifetime: u64,
    },
    /// Values in a table that can't have them.
    ValuesInLayout {
        /// The layout asked for.
        layout: Layout,
        /// The addressing asked for.
        addressing: Addressing,
    },
    /// A layout that filters for several threads do not have: they are packed.
    ConcurrentLayout {
        /// The layout asked for.
        layout: Layout,
    },
    /// No buckets, or more than a table can have.
    BucketCount {
        /// The buckets asked for.
        given: u64,
    },
    /// A number of buckets that is not a power of 2, 3 or 4, where the addressing needs one.
    BucketCountNotPower {
        /// The buckets asked for.
        given: u64,
        /// The number whose powers are needed.
        base: u64,
    },
    /// An odd number of buckets per region, where the addressing needs pairs.
    BucketCountOdd {
        /// The buckets of a region.
        given: u64,
    },
    /// A table that can't have been doubled so often: it has another addressing, or would have begun with an odd number
    /// of buckets or with too many or too few fingerprint bits.
    Doublings {
        /// The doublings.
        given: u32,
    },
    /// No table with these parameters can have had half of its buckets doubled as often.
    HalfDoublings {
        /// How often half of the buckets were doubled.
        given: u32,
    },
    /// The memory for the table could not be allocated.
    OutOfMemory {
        /// The bytes of the table.
        bytes: u64,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SizeMissing => formatter.write_str("a filter needs a capacity (or a number of buckets)"),
            Self::SizeGivenTwice => formatter.write_str("give either a capacity or a number of buckets, not both"),
            Self::PrecisionMissing => {
                formatter.write_str("a filter needs a false positive rate or a fingerprint length")
            }
            Self::PrecisionGivenTwice => {
                formatter.write_str("give either a false positive rate or a fingerprint length, not both")
            }
            Self::Capacity { given: 0, .. } => {
                formatter.write_str("a capacity of 0: give the number of keys, at least 1")
            }
            Self::Capacity { given, most } => {
                write!(formatter, "a capacity of {given} keys is too large: the largest table has {most} slots")
            }
            Self::MaxCapacity { given, capacity } => {
                write!(formatter, "a largest capacity of {given} keys is below the first, which is {capacity}")
            }
            Self::FalsePositiveRate { given } => {
                write!(formatter, "a false positive rate of {given:?}: give a number between 0 and 1, such as 0.001")
            }
            Self::RateTooLow { given, least } => write!(
                formatter,
                "a false positive rate of {given:?} is too low for so many keys: with digests of 64 bits and the longest \
                 fingerprints the least is {}; give that or a higher one, or fewer keys",
                rounded_up(*least)
            ),
            Self::RateTooLowWithValues { given, least, value_bits } => write!(
                formatter,
                "a false positive rate of {given:?} is too low: a fingerprint has at most {} bits together with a value of \
                 {value_bits}, with which the least is {}; give that or a higher one, or values of fewer bits",
                Parameters::MAX_BITS_WITH_VALUE,
                rounded_up(*least)
            ),
            Self::FingerprintBits { given, least, most } => {
                write!(formatter, "fingerprints of {given} bits: they have {least} to {most} bits")
            }
            Self::FingerprintTooShort { given, least, capacity } => write!(
                formatter,
                "fingerprints of {given} bits are too short for {capacity} keys, of which too many would share their \
                 buckets: give at least {least} bits, a lower rate or larger buckets"
            ),
            Self::SlotsPerBucket { given, layout } => write!(
                formatter,
                "buckets of {given} slots: {layout} tables have buckets of {}",
                Alternatives(layout.bucket_sizes())
            ),
            Self::GrowingSlotsPerBucket { given } => {
                write!(formatter, "buckets of {given} slots: tables that can grow have buckets of 4 or 8")
            }
            Self::GrowingShape { layout, addressing } => write!(
                formatter,
                "a filter that grows, with {layout} layout and {addressing} addressing: it is packed, and chooses its \
                 addressing itself"
            ),
            Self::GrowingPrecision => formatter.write_str(
                "a filter that grows takes a capacity and a false positive rate, no number of buckets or fingerprint \
                 length",
            ),
            Self::LayoutWithAddressing { layout, addressing } => {
                write!(formatter, "{layout} tables do not go with {addressing} addressing")
            }
            Self::ValueBits { given, fingerprint_bits } => write!(
                formatter,
                "values of {given} bits beside fingerprints of {fingerprint_bits}: a value has 1 to {} bits, and both \
                 together have at most {}",
                Parameters::MAX_VALUE_BITS,
                Parameters::MAX_BITS_WITH_VALUE
            ),
            Self::ValueBitsOfType { given, most } => {
                write!(formatter, "values of {given} bits, of a type whose values have {most} at the most")
            }
            Self::ValueBitsUnused => formatter
                .write_str("bits of values, for a filter without values: maps and filters that count have them"),
            Self::ValuesInLayout { layout, addressing } => write!(
                formatter,
                "values in a {layout} table with {addressing} addressing: only packed tables with regional or doubling \
                 addressing have them"
            ),
            Self::LifetimeMissing => formatter.write_str("a filter whose keys expire needs a lifetime"),
            Self::Resolution { lifetime: 0, .. } => {
                formatter.write_str("a lifetime of 0: give the time for which keys are found, at least 1")
            }
            Self::Resolution { given, lifetime } => write!(
                formatter,
                "a resolution of {given} for a lifetime of {lifetime}: give at least a 254th of the lifetime, and at most all \
                 of it"
            ),
            Self::ConcurrentLayout { layout } => {
                write!(formatter, "a {layout} table: filters for several threads are packed")
            }
            Self::BucketCount { given } => {
                write!(formatter, "{given} buckets: a table has 1 to {}", Parameters::MAX_BUCKETS)
            }
            Self::BucketCountNotPower { given, base } => write!(
                formatter,
                "{given} buckets: this addressing needs a power of {base}; regional addressing takes any number"
            ),
            Self::BucketCountOdd { given } => {
                write!(formatter, "{given} buckets in a region: this addressing needs an even number")
            }
            Self::Doublings { given } => {
                write!(formatter, "no table with these parameters can have been doubled {given} times")
            }
            Self::HalfDoublings { given } => {
                let doublings = f64::from(*given) / 2.0;
                write!(formatter, "no table with these parameters can have been doubled {doublings} times")
            }
            Self::OutOfMemory { bytes } => write!(formatter, "no memory for a table of {bytes} bytes"),
        }
    }
}

impl core::error::Error for BuildError {}

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
