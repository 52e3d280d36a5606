//! A blacklist of mail senders that changes every day: some come, some expire, and the filter grows with them.
//!
//!     cargo run --release -p guira --example blacklist
//!
//! Senders are the lines of a file that is given, such as the domains of npm's `disposable-email-domains`; without one,
//! they are made of Debian's words.

#[path = "words/mod.rs"]
mod words;

use std::collections::HashSet;
use std::env;
use std::error::Error;

use guira::{CuckooFilter, KeyHasher};

/// The senders come in equal parts, one on each of so many days.
const DAYS: usize = 30;
/// After which a sender is forgiven.
const DAYS_ON_THE_LIST: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let given = env::args().nth(1);
    let mut senders = words::read(given.as_deref())?;
    if given.is_none() {
        senders.iter_mut().for_each(|word| *word = format!("{word}@mail.example"));
    }
    println!("               bytes of  bytes of  blocked and  of 100,000 others,");
    println!("day  blocked   the list  a filter     let pass             stopped");
    for day in days(&senders)? {
        let Day { number, blocked, list_size, filter_size, passed, stopped } = day;
        println!("{number:3}  {blocked:7}  {list_size:9}  {filter_size:8}  {passed:11}  {stopped:18}");
    }
    Ok(())
}

/// What a day came to.
struct Day {
    number: usize,
    blocked: usize,
    /// The bytes of their lines.
    list_size: usize,
    filter_size: usize,
    /// Senders on the list that the filter let pass: there must be none.
    passed: usize,
    /// Senders who never wrote before that it stopped.
    stopped: usize,
}

fn days(senders: &[String]) -> Result<Vec<Day>, Box<dyn Error>> {
    let senders: Vec<&str> = distinct(senders);
    let of_a_day: Vec<&[&str]> = senders.chunks(senders.len().div_ceil(DAYS).max(1)).collect();
    let mut filter = CuckooFilter::builder()
        .capacity(of_a_day.first().map_or(1, |day| day.len()))
        .max_capacity(senders.len())
        .false_positive_rate(0.001)
        .build()?;
    let mut list: HashSet<&str> = HashSet::new();
    let mut days = Vec::new();
    for (number, coming) in of_a_day.iter().enumerate() {
        // A sender is added once and removed once: the list says who is on it.
        for sender in coming.iter().filter(|sender| list.insert(sender)) {
            filter.insert(*sender)?;
        }
        if let Some(going) = number.checked_sub(DAYS_ON_THE_LIST).map(|day| of_a_day[day]) {
            for sender in going.iter().filter(|sender| list.remove(**sender)) {
                assert!(filter.remove(*sender), "{sender} was on the list");
            }
            // The table gets smaller again when enough of them are gone.
            filter.shrink_to_fit();
        }
        let others = (0..100_000).map(|other| format!("{number}.{other}@stranger.example"));
        days.push(Day {
            number,
            blocked: list.len(),
            list_size: list.iter().map(|sender| sender.len() + 1).sum(),
            filter_size: filter.size_in_bytes(),
            passed: list.iter().filter(|sender| !filter.contains(**sender)).count(),
            stopped: others.filter(|other| filter.contains(other)).count(),
        });
    }
    Ok(days)
}

/// Each sender once, in no order but always the same: neighbours in a list don't come on the same day.
fn distinct(senders: &[String]) -> Vec<&str> {
    let mut distinct: Vec<&str> = senders.iter().map(String::as_str).collect();
    distinct.sort_unstable_by_key(|sender| (KeyHasher::xxh3(0).digest(*sender), *sender));
    distinct.dedup();
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_on_the_list_passes_on_any_day() {
        let senders: Vec<String> = (0..3000).map(|number| format!("{number}@mail.example")).collect();
        let days = days(&senders).expect("room for all");
        assert_eq!(days.len(), DAYS);
        assert!(days.iter().all(|day| day.passed == 0));
        assert_eq!(days[DAYS - 1].blocked, 3000 / DAYS * DAYS_ON_THE_LIST);
        // The filter grows and shrinks with the list: while it does, so do its bytes, never half as many as the list's.
        assert!(days[0].filter_size < days[DAYS_ON_THE_LIST - 1].filter_size);
        assert!(days.iter().all(|day| day.filter_size * 2 < day.list_size));
        // 3 million strangers at 1 in 1000 at most: beyond 3000, 6 standard deviations are 330.
        assert!(days.iter().map(|day| day.stopped).sum::<usize>() <= 3330);
    }
}
