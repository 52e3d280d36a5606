//! Parsers for single values, and the errors for invalid ones.

use std::num::{NonZeroU64, NonZeroUsize};
use std::time::Duration;

use clap::ValueEnum;

use super::names::LayoutName;
use super::now::GivenTime;
use crate::keys::Separator;
use crate::time;

/// A share: `0.001`, `1e-3`, `0.1%` or `1/1000`.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let rate = if let Some(percent) = text.strip_suffix('%') {
        number(percent).map(|percent| percent / 100.0)
    } else if let Some((share, whole)) = text.split_once('/') {
        number(share).zip(number(whole)).map(|(share, whole)| share / whole)
    } else {
        number(text)
    };
    match rate {
        // NaN is not in the range either.
        Some(rate) if rate > 0.0 && rate < 1.0 => Ok(rate),
        _ => Err("a rate is a number between 0 and 1, both excluded, such as 0.001, 0.1% or 1/1000".into()),
    }
}

/// A number of keys: `5000000`, `5_000_000`, `5M` or `5e6`.
pub(super) fn capacity(text: &str) -> Result<usize, String> {
    match whole_number(text) {
        Ok(keys) if keys > 0 => Ok(keys),
        Err(Unfit::TooLarge) => {
            let slots = crate::render::text::count(guira::Parameters::MAX_BUCKETS * MAX_SLOTS_OF_BUCKET);
            Err(format!("that is too large: no table has more than {slots} slots"))
        }
        Err(Unfit::Comma) => {
            Err("a comma stands between groups of three digits only, as in 1,500,000; 1.5M has a point".into())
        }
        _ => Err("a capacity is a whole number of keys, at least 1, such as 1000000, 1M or 1e6".into()),
    }
}

const MAX_SLOTS_OF_BUCKET: u64 = 8;

/// Why a text stands for no number here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unfit {
    NotANumber,
    /// It has a comma elsewhere than where thousands end.
    Comma,
    TooLarge,
}

/// A whole number, exactly: with separators between its digits, with a decimal point, and with k, M, G or T or a power of
/// ten behind it. Commas are separators only where thousands end: elsewhere they may be meant as a decimal point.
fn whole_number(text: &str) -> Result<usize, Unfit> {
    let (number, power): (&str, &str) = if let Some((number, power)) = text.split_once(['e', 'E']) {
        (number, power.strip_prefix('+').unwrap_or(power))
    } else {
        let power = text.chars().last().and_then(|last| match last {
            'k' | 'K' => Some("3"),
            'M' | 'm' => Some("6"),
            'G' | 'g' => Some("9"),
            'T' | 't' => Some("12"),
            _ => None,
        });
        match power {
            Some(power) => (&text[..text.len() - 1], power),
            None => (text, "0"),
        }
    };
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    let is_separated = whole.split(['_', ',']).all(|group| !group.is_empty() && is_number(group));
    if !is_separated || !is_number(fraction) || power.is_empty() || !is_number(power) {
        return Err(Unfit::NotANumber);
    }
    if let Some((first, groups)) = whole.split_once(',')
        && (!is_number(first)
            || first.len() > 3
            || groups.split(',').any(|group| !is_number(group) || group.len() != 3))
    {
        return Err(Unfit::Comma);
    }
    let power: usize = power.parse().map_err(|_| Unfit::TooLarge)?;
    let zeros = power.checked_sub(fraction.len()).ok_or(Unfit::NotANumber)?;
    let digits: String = whole.chars().filter(char::is_ascii_digit).chain(fraction.chars()).collect();
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Ok(0);
    }
    let number = digits.parse::<usize>().map_err(|_| Unfit::TooLarge)?;
    let scale = u32::try_from(zeros).ok().and_then(|zeros| 10usize.checked_pow(zeros)).ok_or(Unfit::TooLarge)?;
    number.checked_mul(scale).ok_or(Unfit::TooLarge)
}

/// A time with its units: `24h`, `90m`, `7d`, `500ms`, `1h 30m`. `form` says how one is written.
fn with_units(text: &str, form: &str) -> Result<Duration, String> {
    if text.split(|character: char| !character.is_alphabetic()).any(|unit| unit == "M") {
        return Err("M is for months: write m for minutes, or a number of days, such as 30d".into());
    }
    humantime::parse_duration(text).map_err(|_| form.to_owned())
}

/// A time to wait: with its units, or a number of seconds.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    const FORM: &str = "a time is a number and its unit, such as 10s, 2m or 250ms, or a number of seconds";
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    match text.parse() {
        Ok(seconds) if is_plain => Duration::try_from_secs_f64(seconds).map_err(|_| FORM.to_owned()),
        _ => with_units(text, FORM),
    }
}

/// A time between two things that are done again and again.
#[cfg(any(unix, test))]
pub(super) fn interval(text: &str) -> Result<Duration, String> {
    // 136 years, which can be added to any time.
    const MOST: Duration = Duration::from_secs(1 << 32);
    match duration(text)? {
        interval if (Duration::from_millis(1)..=MOST).contains(&interval) => Ok(interval),
        _ => Err("the time between two is at least 1ms, and at most 1000000h".into()),
    }
}

/// A lifetime or the like, in milliseconds.
pub(super) fn lifetime(text: &str) -> Result<u64, String> {
    const FORM: &str = "a time is a number and its unit, at least 1ms, such as 24h, 90m, 7d or 500ms";
    let lifetime = with_units(text, FORM)?;
    let is_whole = lifetime.subsec_nanos().is_multiple_of(1_000_000);
    match time::milliseconds(lifetime) {
        milliseconds if is_whole && (1..u64::MAX / 2).contains(&milliseconds) => Ok(milliseconds),
        _ => Err(FORM.into()),
    }
}

/// A time: `2026-11-25T10:00:00Z`, or a number of seconds or milliseconds.
pub(super) fn time(text: &str) -> Result<GivenTime, String> {
    let number = text.parse().ok();
    match time::parsed(text.as_bytes()) {
        // A number may be in a unit of its own.
        None if number.is_none() => {
            Err("a time is one such as 2026-11-25T10:00:00Z, or seconds or milliseconds since 1970".into())
        }
        milliseconds => Ok(GivenTime { milliseconds, number }),
    }
}

pub(super) fn fingerprint_bits(text: &str) -> Result<u32, String> {
    let range = guira::Parameters::MIN_FINGERPRINT_BITS..=guira::Parameters::MAX_FINGERPRINT_BITS;
    match text.parse::<u32>() {
        Ok(bits) if range.contains(&bits) => Ok(bits),
        _ => Err(format!("a fingerprint has {} to {} bits", range.start(), range.end())),
    }
}

/// A bucket size that some layout has. The library checks whether the chosen layout has it.
pub(super) fn slots_per_bucket(text: &str) -> Result<u32, String> {
    let has = |layout: guira::Layout, slots| layout.bucket_sizes().contains(&slots);
    match text.parse::<u32>() {
        Ok(slots) if LayoutName::value_variants().iter().any(|&name| has(name.into(), slots)) => Ok(slots),
        _ => Err("a bucket has 1, 2, 3, 4 or 8 slots, depending on the layout".into()),
    }
}

pub(super) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a seed is a whole number, at most {}", u64::MAX))
}

pub(super) fn field(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "a field is a number, counted from 1; several are separated by commas: 1,2,3".into())
}

/// A path into JSON: `id` or `a.b`.
pub(crate) fn json_path(text: &str) -> Result<String, String> {
    match text.strip_prefix("$.").or_else(|| text.strip_prefix('.')) {
        None if !text.is_empty() => Ok(text.to_owned()),
        _ => Err("a path is written as id or source.ip, with nothing before the first name".into()),
    }
}

pub(super) fn delimiter(text: &str) -> Result<Separator, String> {
    match text.as_bytes() {
        b"blanks" => Ok(Separator::Blanks),
        b"\\t" => Ok(Separator::Byte(b'\t')),
        [byte] if !matches!(byte, b'\n' | b'\r') => Ok(Separator::Byte(*byte)),
        _ => {
            Err("a delimiter is one byte and no line end; \\t stands for the tab, and blanks for spaces and tabs"
                .into())
        }
    }
}

pub(super) fn line_count(text: &str) -> Result<NonZeroU64, String> {
    text.parse().map_err(|_| "a number of lines is at least 1".into())
}

pub(super) fn threads(text: &str) -> Result<usize, String> {
    // No machine has processors for more threads, and a typing error should not start them.
    const MOST: usize = 4096;
    match text.parse() {
        Ok(count) if count <= MOST => Ok(count),
        _ => Err(format!("a number of threads is at most {MOST}, and 0 is one for each processor")),
    }
}

/// The prefix of the module's commands: `GF.`
#[cfg(feature = "redis")]
pub(super) fn prefix(text: &str) -> Result<String, String> {
    let is_name = |name: &str| {
        (1..=16).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    match text.strip_suffix('.') {
        Some(name) if is_name(name) => Ok(text.to_ascii_uppercase()),
        _ => Err("a prefix has at most 16 letters, digits, - or _ with a dot behind them, such as GF.".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_between_0_and_1_are_taken_and_no_others() {
        assert_eq!(rate("0.001"), Ok(0.001));
        assert_eq!(rate("1e-9"), Ok(1e-9));
        for (typed, expected) in
            [("0.1%", 0.001), ("1 %", 0.01), ("1/1000", 0.001), ("2/3", 2.0 / 3.0), ("1/1e6", 1e-6)]
        {
            assert_eq!(rate(typed), Ok(expected), "{typed}");
        }
        let refused = [
            "0", "1", "1.5", "-0.1", "NaN", "inf", "", "0,1", "100%", "%", "0%", "1/1", "1/0", "0/5", "5/2", "1/",
            "/2", "1/2/3", "1%/2",
        ];
        for refused in refused {
            assert!(rate(refused).is_err(), "{refused}");
        }
    }

    #[cfg(feature = "redis")]
    #[test]
    fn a_prefix_is_one_that_the_module_takes() {
        assert_eq!(prefix("gf.").as_deref(), Ok("GF."));
        for refused in ["", ".", "GF", "G F.", "GF..", "a23456789b1234567."] {
            assert!(prefix(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn capacities_are_typed_as_people_write_them() {
        for (typed, expected) in [
            ("5000000", 5_000_000),
            ("5_000_000", 5_000_000),
            ("5,000,000", 5_000_000),
            ("5M", 5_000_000),
            ("5m", 5_000_000),
            ("5e6", 5_000_000),
            ("5E+6", 5_000_000),
            ("1.5M", 1_500_000),
            ("2.50k", 2500),
            ("0.5G", 500_000_000),
            ("1T", 1_000_000_000_000),
            ("3.0", 3),
            ("007", 7),
            ("1e0", 1),
        ] {
            assert_eq!(capacity(typed), Ok(expected), "{typed}");
        }
        for refused in [
            "M", "k5", "5MM", "5 M", "1.5", "1.2345k", "1e", "e6", "1e-3", "1e99", "99e18", "_5", "5_", "5__0", ",",
            ".5M", "1.x", "1._5k", "0x10", "\u{665}", "5e6M", "+5",
        ] {
            assert!(capacity(refused).is_err(), "{refused}");
        }
        for decimal in ["1,5", "1,5M", "1,00,0", "1000,000", "1,0000", "1_0,000"] {
            assert!(capacity(decimal).expect_err("no thousands").contains("three digits"), "{decimal}");
        }
    }

    #[test]
    fn what_is_too_large_is_not_called_too_small() {
        for large in ["99999999999999999999", "1e99", "99e18", "18446744073709551616", "1e99999999999999999999"] {
            let refused = capacity(large).expect_err("no table is so large");
            assert!(refused.contains("too large") && refused.contains("34,359,738,368"), "{large}: {refused}");
        }
        for small in ["0", "0e99", "-1", ""] {
            assert!(capacity(small).expect_err("no number of keys").contains("at least 1"), "{small}");
        }
    }

    #[test]
    fn times_have_units_or_are_seconds() {
        for (typed, milliseconds) in [
            ("10", 10_000),
            ("10s", 10_000),
            ("1.5m", 90_000),
            ("250ms", 250),
            ("2h", 7_200_000),
            ("0", 0),
            ("1.5", 1500),
            ("1h30m", 5_400_000),
            ("7d", 604_800_000),
        ] {
            assert_eq!(duration(typed), Ok(Duration::from_millis(milliseconds)), "{typed}");
        }
        for refused in ["", ".", "s", "-1", "-1s", "inf", "nan", "1e3", "5M", "99999999999999999999999h"] {
            assert!(duration(refused).is_err(), "{refused}");
        }
        assert!(interval("0").is_err() && interval("0.0001s").is_err());
        assert!(interval("1000000h").is_ok() && interval("99999999999999999999s").is_err());
        assert_eq!(interval("1ms"), Ok(Duration::from_millis(1)));
    }

    #[test]
    fn lifetimes_have_units() {
        for (typed, milliseconds) in [
            ("24h", 86_400_000),
            ("90m", 5_400_000),
            ("1.5h", 5_400_000),
            ("7d", 604_800_000),
            ("500ms", 500),
            ("1h 30m", 5_400_000),
            ("2weeks", 1_209_600_000),
            ("1s", 1000),
        ] {
            assert_eq!(lifetime(typed), Ok(milliseconds), "{typed}");
        }
        for refused in ["", "0", "0s", "5", "-1h", "1500us", "999us", "h", "1 fortnight", "999999999999999y"] {
            assert!(lifetime(refused).is_err(), "{refused}");
        }
        for months in ["5M", "1h 5M", "1 M"] {
            assert!(lifetime(months).expect_err("no minutes").contains("months"), "{months}");
        }
    }

    #[test]
    fn a_number_is_a_time_in_any_unit() {
        let given = |milliseconds, number| Ok(GivenTime { milliseconds, number });
        assert_eq!(time("2026-11-25T10:00:00Z"), given(Some(1_795_600_800_000), None));
        assert_eq!(time("1795600800"), given(Some(1_795_600_800_000), Some(1_795_600_800)));
        assert_eq!(time("1795600800123456"), given(None, Some(1_795_600_800_123_456)));
        assert!(time("yesterday").is_err() && time("").is_err() && time("-5").is_err());
    }

    #[test]
    fn whole_numbers_in_range_are_taken_and_no_others() {
        assert_eq!(capacity("1"), Ok(1));
        assert_eq!(fingerprint_bits("2"), Ok(2));
        assert_eq!(fingerprint_bits("56"), Ok(56));
        assert_eq!(slots_per_bucket("4"), Ok(4));
        assert_eq!(slots_per_bucket("8"), Ok(8));
        for refused in ["0", "-1", "1.5", "", "x", "99999999999999999999"] {
            assert!(capacity(refused).is_err(), "{refused}");
            assert!(fingerprint_bits(refused).is_err(), "{refused}");
            assert!(slots_per_bucket(refused).is_err(), "{refused}");
        }
        assert!(fingerprint_bits("1").is_err() && fingerprint_bits("57").is_err());
        assert!(slots_per_bucket("5").is_err() && slots_per_bucket("6").is_err() && slots_per_bucket("16").is_err());
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
        assert_eq!(delimiter(","), Ok(Separator::Byte(b',')));
        assert_eq!(delimiter("\t"), Ok(Separator::Byte(b'\t')));
        assert_eq!(delimiter("\\t"), Ok(Separator::Byte(b'\t')));
        assert_eq!(delimiter("blanks"), Ok(Separator::Blanks));
        for refused in ["", ",,", "\n", "\r", "\\n", "\u{e9}"] {
            assert!(delimiter(refused).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn a_path_begins_with_a_name() {
        for path in ["id", "a.b", "$oid", "@timestamp", "$"] {
            assert_eq!(json_path(path).as_deref(), Ok(path));
        }
        for refused in ["", ".", ".id", "$.id", ".items[].id"] {
            assert!(json_path(refused).is_err(), "{refused}");
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
