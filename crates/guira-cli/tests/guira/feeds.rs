//! A feed that comes every day and overlaps what is stored.

use serde_json::Value;

use crate::workplace::Workplace;

const DAYS: u32 = 10;
const KEYS_A_DAY: u32 = 10_000;
/// Of each day's keys, those that the day before did not have.
const NEW_KEYS_A_DAY: u32 = KEYS_A_DAY / 10;

fn lines(range: std::ops::Range<u32>) -> String {
    range.map(|number| format!("key {number}\n")).collect()
}

fn feed(day: u32) -> String {
    lines(day * NEW_KEYS_A_DAY..day * NEW_KEYS_A_DAY + KEYS_A_DAY)
}

fn info(place: &Workplace, file: &str) -> Value {
    serde_json::from_slice(&place.guira(["info", "--json", file]).stdout).expect("JSON")
}

fn number(info: &Value, name: &str) -> f64 {
    info[name].as_f64().unwrap_or_else(|| panic!("{name} in {info}"))
}

#[test]
fn ten_days_of_unique_additions_are_a_filter_of_the_union() {
    let place = Workplace::new();
    let all = lines(0..(DAYS - 1) * NEW_KEYS_A_DAY + KEYS_A_DAY);
    let union = (DAYS - 1) * NEW_KEYS_A_DAY + KEYS_A_DAY;
    let options = ["build", "--capacity", "20k", "-o"];
    assert_eq!(place.guira_with([&options[..], &["daily.guira"]].concat(), feed(0).as_bytes()).status, 0);
    assert_eq!(place.guira_with([&options[..], &["union.guira"]].concat(), all.as_bytes()).status, 0);
    for day in 1..DAYS {
        let added = place.guira_with(["add", "--unique", "daily.guira"], feed(day).as_bytes());
        assert_eq!(added.status, 0, "{}", added.stderr);
        assert!(!added.stderr.contains("warning"), "{}", added.stderr);
    }
    let (daily, of_union) = (info(&place, "daily.guira"), info(&place, "union.guira"));
    assert_eq!(daily["table_size_in_bytes"], of_union["table_size_in_bytes"]);
    let rate = "expected_false_positive_rate";
    assert!(number(&daily, rate) <= number(&of_union, rate), "{daily} {of_union}");
    // New keys are left out that are false positives: a binomial count with this mean at most, of which 6 standard
    // deviations are exceeded about once in 10^8 runs of other keys.
    let mean = 0.001 * f64::from(DAYS * NEW_KEYS_A_DAY);
    let left_out = f64::from(union) - number(&daily, "key_count");
    assert!((0.0..=mean + 6.0 * mean.sqrt()).contains(&left_out), "{left_out} of {union}");
    assert_eq!(
        place.guira_with(["check", "-c", "daily.guira"], all.as_bytes()).stdout,
        format!("{union}\n").as_bytes()
    );
}

#[test]
fn ten_days_of_unique_additions_to_a_filter_built_without_options_keep_its_rate() {
    let place = Workplace::new();
    assert_eq!(place.guira_with(["build", "-o", "daily.guira"], feed(0).as_bytes()).status, 0);
    for day in 1..DAYS {
        let added = place.guira_with(["add", "--unique", "daily.guira"], feed(day).as_bytes());
        assert_eq!(added.status, 0, "{}", added.stderr);
        assert!(!added.stderr.contains("warning"), "day {day}: {}", added.stderr);
    }
    let daily = info(&place, "daily.guira");
    assert!(number(&daily, "expected_false_positive_rate") <= 0.001, "{daily}");
    // The rate is kept with a bit more per slot, and no more than that.
    place.guira_with(["build", "--max-capacity", "1", "-o", "exact.guira"], feed(0).as_bytes());
    place.guira_with(["build", "-o", "first.guira"], feed(0).as_bytes());
    let (exact, first) = (info(&place, "exact.guira"), info(&place, "first.guira"));
    assert_eq!(number(&first, "bits_per_slot"), number(&exact, "bits_per_slot") + 1.0);
    assert_eq!(first["slot_count"], exact["slot_count"]);
}

#[test]
fn plain_additions_of_an_overlapping_feed_are_warned_of_on_the_first_day() {
    let place = Workplace::new();
    place.guira_with(["build", "--capacity", "40k", "-o", "daily.guira"], feed(0).as_bytes());
    let added = place.guira_with(["add", "daily.guira"], feed(1).as_bytes());
    assert_eq!(added.status, 0);
    // 9000 keys, and a few of the 1000 new ones.
    assert!(added.stderr.contains("warning: daily.guira: 9,0"), "{}", added.stderr);
    assert!(added.stderr.contains("add --unique"), "{}", added.stderr);
    // Of what is new, only false positives seem to be there.
    let other = place.guira_with(["add", "daily.guira"], lines(1_000_000..1_010_000).as_bytes());
    assert!(!other.stderr.contains("warning"), "{}", other.stderr);
}

#[test]
fn what_is_refused_for_its_copies_comes_with_the_way_out() {
    let place = Workplace::new();
    place.guira_with(["build", "--capacity", "1000", "-o", "set.guira"], b"ani\n");
    let mut refused = place.guira_with(["add", "set.guira"], b"ani\n");
    for _ in 0..16 {
        refused = place.guira_with(["add", "set.guira"], b"ani\n");
    }
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("--unique leaves out keys that are there already"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("--capacity"), "{}", refused.stderr);
    let unique = place.guira_with(["add", "--unique", "set.guira"], b"ani\nkoel\n");
    let expected = "guira: set.guira: 1 key added, 1 probably there already, 0 repeated lines left out\n";
    assert_eq!((unique.status, &*unique.stderr), (0, expected));
}
