//! What CF.RESERVE makes of capacities and options, without a table.

use guira_redis::{Command, CommandName, Limits, Measures, Reply, Settings, execute};

fn measures(line: &str) -> Measures {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let Ok(Command::Reserve { creation }) = Command::parse(CommandName::Reserve, &words) else {
        panic!("{line}: it is not taken")
    };
    Measures::new(&creation, &Settings::DEFAULT).unwrap_or_else(|error| panic!("{line}: {error}"))
}

#[track_caller]
fn assert_is_taken(line: &str, capacity: u64) {
    let parameters = measures(line).parameters().unwrap_or_else(|error| panic!("{line}: {error}"));
    assert!(parameters.capacity() >= capacity, "{line}: {parameters:?}");
    let (size, limit) = (parameters.table_size(), Settings::DEFAULT.memory_limit);
    assert!(size <= limit, "{line}: {size} bytes, beyond the limit");
}

/// Numbers that look random, and are the same in every run.
fn numbers() -> impl Iterator<Item = u64> {
    std::iter::successors(Some(18_u64), |state| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1)))
        .map(|state| state >> 33)
}

#[test]
fn every_capacity_is_taken_with_the_default_settings_and_with_every_bucket_size() {
    let powers = (2..=28).map(|exponent| 1_u64 << exponent);
    let beside = powers.flat_map(|power| [power - 1, power, power + 1]);
    // Where the usual growth leads to tables that the builder does not take.
    let bands = [(8_060_351, 8_411_718), (16_116_210, 16_805_468), (32_223_632, 33_571_875)];
    let in_bands =
        bands.into_iter().flat_map(|(first, last)| (0..=20).map(move |part| first + (last - first) * part / 20));
    for capacity in (1..=64).chain(beside).chain(in_bands) {
        assert_is_taken(&capacity.to_string(), capacity);
        for bucket_size in [4, 8] {
            assert_is_taken(&format!("{capacity} BUCKETSIZE {bucket_size}"), capacity);
        }
    }
    for bucket_size in 1..=255 {
        for capacity in [1, 1000, 1 << 26] {
            assert_is_taken(&format!("{capacity} BUCKETSIZE {bucket_size}"), capacity);
        }
    }
}

#[test]
fn ten_thousand_random_capacities_are_taken() {
    let mut numbers = numbers();
    let mut next = || numbers.next().expect("they do not end");
    for _ in 0..10_000 {
        // As many small ones as large ones.
        let capacity = 1 + next() % (1 << (1 + next() % 28));
        let bucket_size = 1 + next() % 255;
        assert_is_taken(&capacity.to_string(), capacity);
        assert_is_taken(&format!("{capacity} BUCKETSIZE {bucket_size}"), capacity);
    }
}

#[test]
fn small_filters_keep_their_rate_up_to_the_usual_maximum() {
    // With a lower capacity, fingerprints would begin with more bits than they may have.
    for capacity in (64..65_536).step_by(97).chain([100, 1000, 5000, 10_000, 18_000, 36_000, 65_535]) {
        let measures = measures(&format!("{capacity}"));
        assert!(measures.max_capacity >= 1 << 25, "{measures:?}");
    }
}

#[test]
fn what_replicas_are_told_makes_the_same_measures() {
    let options = ["", " EXPANSION 0", " EXPANSION 4 BUCKETSIZE 8", " MAXCAPACITY 500000 ERROR 0.1", " HASH xxh3"];
    for option in options {
        let made = measures(&format!("1000{option}"));
        assert_eq!(measures(&made.arguments().join(" ")), made, "{option}");
    }
}

#[test]
fn secret_keys_differ_and_are_not_shown() {
    let (first, second) = (measures("1000"), measures("1000"));
    assert!(first.key.is_some() && first.key != second.key);
    assert_eq!(measures("1000 HASH xxh3").key, None);
    let digits = first.key.map(|key| String::from_utf8(key.hex().to_vec()).expect("digits")).expect("a key");
    assert!(!format!("{first:?}").contains(&digits));
}

/// Inserts so many items; the first refusal.
fn grow(line: &str, items: u64) -> Option<String> {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let (mut value, limits) = (None, Limits::Bytes(Settings::DEFAULT.memory_limit));
    let reserve = Command::parse(CommandName::Reserve, &words).expect("it is taken");
    execute(&reserve, &mut value, Settings::default, limits, || 0).expect("created");
    for start in (0..items).step_by(10_000) {
        let texts: Vec<String> = (start..start + 10_000).map(|item| format!("item-{item}")).collect();
        let words: Vec<&[u8]> =
            std::iter::once("ITEMS").chain(texts.iter().map(String::as_str)).map(str::as_bytes).collect();
        let insert = Command::parse(CommandName::Insert, &words).expect("items");
        match execute(&insert, &mut value, Settings::default, limits, || 0) {
            Ok(outcome) => {
                let Reply::Insertions(insertions) = outcome.reply else { panic!("insertions") };
                if insertions.contains(&guira_redis::Insertion::Refused) {
                    return Some("an item was refused".to_owned());
                }
            }
            Err(error) => return Some(error.to_string()),
        }
    }
    None
}

#[test]
fn expansion_goes_on_as_far_as_users_of_redisbloom_expect() {
    assert_eq!(grow("1000 EXPANSION 2", 20_000_000), None);
    assert_eq!(grow("100 EXPANSION 4", 2_500_000), None);
    assert_eq!(grow("100 ERROR 0.1", 2_500_000), None);
}
