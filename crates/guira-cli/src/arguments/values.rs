//! Single values: what they may be, and what is said of others.

use std::num::NonZeroUsize;

use clap::ValueEnum;

use super::names::LayoutName;

pub(super) fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        // NaN is not in the range either.
        Ok(rate) if rate > 0.0 && rate < 1.0 => Ok(rate),
        _ => Err("a rate is a number between 0 and 1, both excluded, such as 0.001".into()),
    }
}

pub(super) fn capacity(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(keys) if keys > 0 => Ok(keys),
        _ => Err("a capacity is a whole number of keys, at least 1, such as 1000000".into()),
    }
}

pub(super) fn fingerprint_bits(text: &str) -> Result<u32, String> {
    let range = guira::Parameters::LEAST_FINGERPRINT_BITS..=guira::Parameters::MOST_FINGERPRINT_BITS;
    match text.parse::<u32>() {
        Ok(bits) if range.contains(&bits) => Ok(bits),
        _ => Err(format!("a fingerprint has {} to {} bits", range.start(), range.end())),
    }
}

/// Whether the layout has buckets of that size, the library knows.
pub(super) fn slots_per_bucket(text: &str) -> Result<u32, String> {
    let has = |layout, slots| guira::Shape::slots_per_bucket_of(layout).contains(&slots);
    match text.parse::<u32>() {
        Ok(slots) if LayoutName::value_variants().iter().any(|&name| has(name.into(), slots)) => Ok(slots),
        _ => Err("a bucket has 1, 2, 3, 4 or 8 slots, depending on the layout".into()),
    }
}

pub(super) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a seed is a whole number, at most {}", u64::MAX))
}

pub(super) fn field(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "fields are counted from 1".into())
}

pub(super) fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [byte] if !matches!(byte, b'\n' | b'\r') => Ok(*byte),
        _ => Err("a delimiter is one byte and no line end; \\t stands for the tab".into()),
    }
}

pub(super) fn threads(text: &str) -> Result<usize, String> {
    // A thread more than this has no processor to run on anywhere, and a slip of the hand should not start them.
    const MOST: usize = 4096;
    match text.parse() {
        Ok(count) if count <= MOST => Ok(count),
        _ => Err(format!("a number of threads is at most {MOST}, and 0 is one for each processor")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_between_0_and_1_are_taken_and_no_others() {
        assert_eq!(rate("0.001"), Ok(0.001));
        assert_eq!(rate("1e-9"), Ok(1e-9));
        for refused in ["0", "1", "1.5", "-0.1", "NaN", "inf", "", "0,1", "1%"] {
            assert!(rate(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn whole_numbers_in_range_are_taken_and_no_others() {
        assert_eq!(capacity("1"), Ok(1));
        assert_eq!(fingerprint_bits("2"), Ok(2));
        assert_eq!(fingerprint_bits("32"), Ok(32));
        assert_eq!(slots_per_bucket("3"), Ok(3));
        assert_eq!(slots_per_bucket("8"), Ok(8));
        for refused in ["0", "-1", "1.5", "", "x", "99999999999999999999"] {
            assert!(capacity(refused).is_err(), "{refused}");
            assert!(fingerprint_bits(refused).is_err(), "{refused}");
            assert!(slots_per_bucket(refused).is_err(), "{refused}");
        }
        assert!(fingerprint_bits("1").is_err() && fingerprint_bits("33").is_err());
        assert!(slots_per_bucket("5").is_err() && slots_per_bucket("16").is_err());
    }

    #[test]
    fn seeds_are_all_numbers_of_64_bits() {
        assert_eq!((seed("0"), seed("18446744073709551615")), (Ok(0), Ok(u64::MAX)));
        for refused in ["-1", "18446744073709551616", "0x7", "", "x"] {
            assert!(seed(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_delimiter_is_one_byte() {
        assert_eq!(delimiter(","), Ok(b','));
        assert_eq!(delimiter("\t"), Ok(b'\t'));
        assert_eq!(delimiter("\\t"), Ok(b'\t'));
        for refused in ["", ",,", "\n", "\r", "\\n", "\u{e9}"] {
            assert!(delimiter(refused).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn fields_are_counted_from_1_and_threads_from_0() {
        assert_eq!(field("1").map(NonZeroUsize::get), Ok(1));
        assert_eq!((threads("0"), threads("4096")), (Ok(0), Ok(4096)));
        assert!(field("0").is_err() && field("-1").is_err() && field("x").is_err());
        assert!(threads("4097").is_err() && threads("-1").is_err() && threads("").is_err());
    }
}
