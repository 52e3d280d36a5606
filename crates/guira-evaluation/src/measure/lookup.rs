use core::ops::Range;

use super::Seconds;
use super::filling::chunks;
use crate::cast::approximate;
use crate::contender::{Contender, Removing};
use crate::failure::Failure;
use crate::keys::Keys;

/// A rate that deviates by more standard deviations than this is wrong; by chance, that happens one time in a thousand
/// million.
const DEVIATIONS: f64 = 6.0;

/// Looks up the keys with these numbers, all of which are stored, and fails if one is denied.
pub(crate) fn check_present(
    name: &str,
    contender: &dyn Contender,
    keys: Keys,
    stored: Range<u64>,
) -> Result<(), Failure> {
    let of = stored.end - stored.start;
    let found = count_found(contender, keys, stored);
    if found < of {
        return Err(Failure::KeysLost { contender: name.to_owned(), lost: of - found, of });
    }
    Ok(())
}

/// How many of the keys with these numbers are found.
pub(crate) fn count_found(contender: &dyn Contender, keys: Keys, numbers: Range<u64>) -> u64 {
    chunks(numbers).map(|numbers| contender.count_found(&keys.present(numbers))).sum()
}

/// The share of absent keys that are found.
pub(crate) fn measure_rate(name: &str, contender: &dyn Contender, keys: Keys, queries: u64) -> Result<f64, Failure> {
    let absent = |numbers: Range<u64>| keys.absent(numbers.start, numbers.end - numbers.start);
    let found: u64 = chunks(0..queries).map(|numbers| contender.count_found(&absent(numbers))).sum();
    check_found(name, contender, found, queries)?;
    Ok(approximate(found) / approximate(queries))
}

/// Times lookups, of which `present` are for stored keys, and checks the answers.
pub(crate) fn timed_lookups(
    name: &str,
    contender: &dyn Contender,
    queries: &[u64],
    present: u64,
) -> Result<Seconds, Failure> {
    let (time, found) = Seconds::of(|| contender.count_found(queries));
    if found < present {
        return Err(Failure::KeysLost { contender: name.to_owned(), lost: present - found, of: present });
    }
    check_found(name, contender, found - present, queries.len() as u64 - present)?;
    Ok(time)
}

/// Times the removal of the keys with these numbers, all of which are stored.
pub(crate) fn timed_removals(
    name: &str,
    contender: &mut dyn Removing,
    keys: Keys,
    stored: Range<u64>,
) -> Result<Seconds, Failure> {
    let of = stored.end - stored.start;
    let (mut time, mut removed) = (Seconds::default(), 0);
    for numbers in chunks(stored) {
        let chunk = keys.present(numbers);
        let (chunk_time, count) = Seconds::of(|| contender.remove_all(&chunk));
        time += chunk_time;
        removed += count;
    }
    if removed < of {
        return Err(Failure::KeysLost { contender: name.to_owned(), lost: of - removed, of });
    }
    Ok(time)
}

/// Checks that absent keys are not found more often than expected.
fn check_found(name: &str, contender: &dyn Contender, found: u64, of: u64) -> Result<(), Failure> {
    check_answers(name, contender.expected_rate(), found, of)
}

/// Checks that a rate is not above the expected one by more than chance.
pub(crate) fn check_answers(name: &str, expected: f64, found: u64, of: u64) -> Result<(), Failure> {
    let mean = expected * approximate(of);
    // Keys may repeat, and filters differ: both effects are small compared with the deviation of a count, and with one key.
    if approximate(found) > mean + DEVIATIONS * (mean.sqrt() + 1.0) {
        return Err(Failure::RateTooHigh { contender: name.to_owned(), found, of, expected });
    }
    Ok(())
}
