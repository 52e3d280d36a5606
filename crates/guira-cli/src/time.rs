//! Times of keys that expire. In files of this program they are milliseconds since 1970-01-01 00:00 UTC.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bstr::ByteSlice;
use chrono::DateTime;
use chrono::format::{Fixed, Item, Numeric, Pad, Parsed, parse};
use humantime::format_rfc3339_millis;

/// Numbers below this are seconds, others milliseconds: seconds up to the year 5138, milliseconds from 1973.
const MIN_MILLISECONDS: u64 = 100_000_000_000;
/// A number from here on is no time: it may have been microseconds.
const END_OF_MILLISECONDS: u64 = 1000 * MIN_MILLISECONDS;
/// RFC 3339 ends with the year 9999.
const END_OF_RFC_3339: u64 = 253_402_300_800_000;

/// The time of the clock.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, milliseconds)
}

/// A duration in milliseconds, rounded down.
pub(crate) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Reads a time: that of RFC 3339, that of the common log format with or without its brackets, or seconds since 1970, with a
/// fraction or without, or milliseconds.
pub(crate) fn parsed(text: &[u8]) -> Option<u64> {
    match text {
        [b'[', inner @ ..] => of_common_log(inner.strip_suffix(b"]").unwrap_or(inner)),
        _ if text.iter().all(|&byte| byte.is_ascii_digit() || byte == b'.') => of_number(text),
        [_, _, b'/', ..] => of_common_log(text),
        _ => of_rfc_3339(text.to_str().ok()?),
    }
}

/// `2026-11-25T10:00:00+01:00`, also with a blank for the T, and without the colon in the zone.
fn of_rfc_3339(text: &str) -> Option<u64> {
    let date = DateTime::parse_from_rfc3339(text).or_else(|error| match text.as_bytes() {
        [.., b'+' | b'-', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9'] => {
            let (before, minutes) = text.split_at(text.len() - 2);
            DateTime::parse_from_rfc3339(&format!("{before}:{minutes}"))
        }
        _ => Err(error),
    });
    of_date(date.ok()?)
}

/// What keeps a text from being a time, if it is nearly one.
pub(crate) fn what_is_missing(text: &[u8]) -> Option<&'static str> {
    let with = |rest: &str| parsed(&[text, rest.as_bytes()].concat()).is_some();
    if with("Z") || with(" +0000") {
        Some("it has no zone, such as Z or +01:00")
    } else if with("T00:00:00Z") {
        Some("it is a date, and has no time of day")
    } else if text.iter().all(u8::is_ascii_digit) {
        Some("seconds since 1970 have at most 11 digits, and milliseconds at most 14")
    } else {
        None
    }
}

fn of_number(text: &[u8]) -> Option<u64> {
    let (whole, fraction) = text.split_once_str(".").unwrap_or((text, b"0"));
    let whole: u64 = whole.to_str().ok()?.parse().ok()?;
    let is_whole = !text.contains(&b'.');
    if is_whole && (MIN_MILLISECONDS..END_OF_MILLISECONDS).contains(&whole) {
        return Some(whole);
    }
    if whole >= MIN_MILLISECONDS || fraction.is_empty() || !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let thousandths = fraction.iter().copied().chain(std::iter::repeat(b'0')).take(3);
    Some(thousandths.fold(whole, |time, digit| 10 * time + u64::from(digit - b'0')))
}

/// `10/Oct/2000:13:55:36 -0700`
fn of_common_log(text: &[u8]) -> Option<u64> {
    const ITEMS: [Item<'_>; 13] = [
        Item::Numeric(Numeric::Day, Pad::Zero),
        Item::Literal("/"),
        Item::Fixed(Fixed::ShortMonthName),
        Item::Literal("/"),
        Item::Numeric(Numeric::Year, Pad::Zero),
        Item::Literal(":"),
        Item::Numeric(Numeric::Hour, Pad::Zero),
        Item::Literal(":"),
        Item::Numeric(Numeric::Minute, Pad::Zero),
        Item::Literal(":"),
        Item::Numeric(Numeric::Second, Pad::Zero),
        Item::Literal(" "),
        Item::Fixed(Fixed::TimezoneOffset),
    ];
    let mut fields = Parsed::new();
    parse(&mut fields, text.to_str().ok()?, ITEMS.iter()).ok()?;
    of_date(fields.to_datetime().ok()?)
}

fn of_date<Z: chrono::TimeZone>(date: DateTime<Z>) -> Option<u64> {
    u64::try_from(date.timestamp_millis()).ok()
}

/// A time as people read it, in UTC.
pub(crate) fn shown(time: u64) -> String {
    match UNIX_EPOCH.checked_add(Duration::from_millis(time)) {
        Some(date) if time < END_OF_RFC_3339 => format_rfc3339_millis(date).to_string(),
        _ => format!("{time} ms"),
    }
}

/// A duration of so many milliseconds, as people give it: in days at most, since months and years differ.
pub(crate) fn duration(milliseconds: u64) -> String {
    const UNITS: [(u64, &str); 5] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1000, "s"), (1, "ms")];
    let mut rest = milliseconds;
    let mut parts = Vec::new();
    for (size, unit) in UNITS {
        if rest >= size {
            parts.push(format!("{}{unit}", rest / size));
            rest %= size;
        }
    }
    if parts.is_empty() { "0s".to_owned() } else { parts.join(" ") }
}

/// The resolution of a lifetime for which none was given: a round number if there is one, such as two hours of a day. All of
/// these have numbers of 4 bits.
pub(crate) fn usual_resolution(lifetime: u64) -> u64 {
    const MOST: u64 = 14;
    let divisor = (7..=MOST).rev().find(|&parts| lifetime.is_multiple_of(parts));
    divisor.map_or(lifetime.div_ceil(MOST), |parts| lifetime / parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_all_forms_are_the_milliseconds_since_1970() {
        for (text, expected) in [
            ("2026-11-25T10:00:00Z", 1_795_600_800_000),
            ("2026-11-25T11:00:00.250+01:00", 1_795_600_800_250),
            ("2026-11-25 10:00:00.0019Z", 1_795_600_800_001),
            ("2026-11-25t10:00:00z", 1_795_600_800_000),
            ("1795600800", 1_795_600_800_000),
            ("1795600800.5", 1_795_600_800_500),
            ("1795600800.000999", 1_795_600_800_000),
            ("1795600800123", 1_795_600_800_123),
            ("[25/Nov/2026:10:00:00 +0000]", 1_795_600_800_000),
            ("[25/Nov/2026:03:00:00 -0700", 1_795_600_800_000),
            ("25/Nov/2026:10:00:00 +0000", 1_795_600_800_000),
            ("2026-11-25T11:00:00+0100", 1_795_600_800_000),
            ("2026-11-25 05:00:00.250-0500", 1_795_600_800_250),
            ("0", 0),
            ("99999999999", 99_999_999_999_000),
            ("100000000000", 100_000_000_000),
        ] {
            assert_eq!(parsed(text.as_bytes()), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        let texts = [
            "",
            ".",
            "1.",
            ".5",
            "1.5.5",
            "-1",
            "+5",
            "ani",
            "1969-12-31T23:59:59Z",
            "2026-11-25",
            "2026-11-25T10:00:00",
            "2026-13-25T10:00:00Z",
            "[",
            "[]",
            "32/Nov/2026:10:00:00 +0000",
            "25/Nov/2026:10:00:00",
            "1795600800123456",
            "99999999999999999999999",
            "1795600800123.5",
            "2026-11-25T10:00:00Z ",
        ];
        for text in texts {
            assert_eq!(parsed(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(parsed(b"2026-11-25T10:00:00\xff"), None);
    }

    #[test]
    fn what_is_nearly_a_time_lacks_something() {
        for (text, reason) in [
            ("2026-11-25T10:00:00", "no zone"),
            ("2026-11-25 10:00:00.5", "no zone"),
            ("25/Nov/2026:10:00:00", "no zone"),
            ("2026-11-25", "no time of day"),
            ("1795600800123456", "at most 14"),
        ] {
            assert!(what_is_missing(text.as_bytes()).is_some_and(|found| found.contains(reason)), "{text}");
        }
        for text in ["at", "10:00:00", "2026-13-25", "1.5.5"] {
            assert_eq!(what_is_missing(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_resolution_is_round_where_it_can_be() {
        const HOUR: u64 = 3_600_000;
        for (lifetime, expected) in
            [(24 * HOUR, 2 * HOUR), (HOUR, HOUR / 12), (7 * 24 * HOUR, 12 * HOUR), (500, 50), (1, 1), (17, 2), (14, 1)]
        {
            assert_eq!(usual_resolution(lifetime), expected, "{lifetime}");
        }
    }

    #[test]
    fn times_are_shown_in_utc_and_durations_in_units() {
        assert_eq!(shown(1_795_600_800_250), "2026-11-25T10:00:00.250Z");
        assert_eq!(shown(END_OF_RFC_3339 - 1), "9999-12-31T23:59:59.999Z");
        assert_eq!(shown(END_OF_RFC_3339), "253402300800000 ms");
        assert_eq!(shown(u64::MAX), "18446744073709551615 ms");
        assert_eq!(
            [0, 86_400_000, 45 * 86_400_000, 36 * 3_600_000, 5_400_500].map(duration),
            ["0s", "1d", "45d", "1d 12h", "1h 30m 500ms"]
        );
    }
}
