//! The numbers of `info` and `plan`, against the formulas and each other.

use std::ops::Range;

use guira::{CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet};
use serde_json::Value;

use crate::workplace::{Outcome, Workplace};

fn json(outcome: &Outcome) -> Value {
    assert_eq!((outcome.status, &*outcome.stderr), (0, ""));
    assert_eq!(outcome.stdout.last(), Some(&b'\n'));
    serde_json::from_slice(&outcome.stdout).expect("JSON")
}

fn whole(report: &Value, name: &str) -> u64 {
    report[name].as_u64().unwrap_or_else(|| panic!("{name} is a whole number in {report}"))
}

fn number(report: &Value, name: &str) -> f64 {
    report[name].as_f64().unwrap_or_else(|| panic!("{name} is a number in {report}"))
}

fn names(report: &Value) -> Vec<&str> {
    report.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[track_caller]
fn assert_close(left: f64, right: f64) {
    assert!((left - right).abs() <= 1e-9 * right.abs(), "{left} is not {right}");
}

/// 1 - (1 - 2 / (m (2^f - 1)))^n
fn expected_rate(report: &Value, keys: f64) -> f64 {
    let classes = (number(report, "fingerprint_bits").exp2() - 1.0) * number(report, "bucket_count") / 2.0;
    -(keys * (-1.0 / classes).ln_1p()).exp_m1()
}

#[test]
fn info_tells_what_was_asked_for_and_what_follows_from_it() {
    let place = Workplace::new();
    let lines: String = (0..1234).map(|number| format!("{number}\n")).collect();
    let arguments = "build --fingerprint-bits 11 --slots-per-bucket 4 --capacity 5000 --seed 18446744073709551615 \
                     --output set.guira";
    assert_eq!(place.guira_with(arguments.split(' '), lines.as_bytes()).status, 0);
    let report = json(&place.guira(["info", "--json", "set.guira"]));

    for (name, text) in [("kind", "cuckoo filter"), ("layout", "packed"), ("addressing", "regional")] {
        assert_eq!(report[name], text);
    }
    assert_eq!(report["hash"], "XXH3-64");
    for (name, given) in [
        ("seed", u64::MAX),
        ("fingerprint_bits", 11),
        ("slots_per_bucket", 4),
        ("capacity", 5000),
        ("key_count", 1234),
        // A table of this size fits in one region.
        ("region_count", 1),
        ("file_size_in_bytes", place.read("set.guira").len() as u64),
    ] {
        assert_eq!(whole(&report, name), given, "{name}");
    }
    let slots = whole(&report, "slot_count");
    assert_eq!(slots, 4 * whole(&report, "bucket_count"));
    assert!((5000..6000).contains(&slots), "{slots}");
    assert!(whole(&report, "table_size_in_bytes") >= (slots * 11).div_ceil(8));
    assert!(whole(&report, "table_size_in_bytes") < whole(&report, "file_size_in_bytes"));

    let slots = number(&report, "slot_count");
    assert_close(number(&report, "load_factor"), 1234.0 / slots);
    assert_close(number(&report, "bits_per_key"), 11.0 * slots / 1234.0);
    assert_close(number(&report, "bits_per_key_at_capacity"), 11.0 * slots / 5000.0);
    assert_close(number(&report, "expected_false_positive_rate"), expected_rate(&report, 1234.0));
    assert_close(number(&report, "expected_false_positive_rate_at_capacity"), expected_rate(&report, 5000.0));
    assert_eq!(names(&report).len(), 28);
}

#[test]
fn info_and_verify_know_every_kind_of_file() {
    let place = Workplace::new();
    let set = CuckooSet::with_capacity(100, 0.01).expect("parameters in range");
    let builder = |value_bits| CuckooFilter::builder().capacity(100).false_positive_rate(0.01).value_bits(value_bits);
    let counting = builder(5).for_kind::<CountingCuckooFilter>().build().expect("parameters in range");
    let map: CuckooMap<u8> = builder(3).for_kind::<CuckooMap<_>>().build().expect("parameters in range");
    for (file, kind, value_bits) in [
        (set.to_bytes(), "cuckoo set", None),
        (counting.to_bytes(), "counting cuckoo filter", Some(5)),
        (map.to_bytes(), "cuckoo map", Some(3)),
    ] {
        place.write("other.guira", file);
        let report = json(&place.guira(["info", "--json", "other.guira"]));
        assert_eq!((&report["kind"], report["value_bits"].as_u64()), (&Value::from(kind), value_bits));
        assert_eq!(place.guira(["verify", "other.guira"]).stdout, b"other.guira: OK\n");
    }
}

#[test]
fn info_of_an_empty_filter_has_no_infinite_numbers() {
    let place = Workplace::new();
    place.guira_with(["build", "-o", "set.guira"], b"");
    let report = json(&place.guira(["info", "--json", "set.guira"]));
    assert_eq!(whole(&report, "key_count"), 0);
    assert_eq!(report["bits_per_key"], Value::Null);
    assert_close(number(&report, "expected_false_positive_rate"), 0.0);
    let text = String::from_utf8(place.guira(["info", "set.guira"]).stdout).expect("UTF-8");
    assert!(!text.contains("inf") && !text.contains("NaN") && !text.contains("bits per key now"), "{text}");
}

/// A table takes 93 % of its slots, becomes half as large again, takes 89 %, and becomes a third larger.
#[test]
fn halves_of_doublings_are_shown_and_undone() {
    let place = Workplace::new();
    let lines = |keys: Range<u32>| keys.map(|key| format!("{key}\n")).collect::<String>();
    let build = ["build", "-q", "--capacity", "1000", "--max-capacity", "5000", "-o", "set.guira"];
    assert_eq!(place.guira_with(build, b"").status, 0);
    let slots = whole(&json(&place.guira(["info", "--json", "set.guira"])), "slot_count");
    let mut stored = 0;
    for (keys, doublings, grown) in [(1000, "0", slots), (1400, "0.5", slots / 2 * 3), (1800, "1", slots * 2)] {
        assert_eq!(place.guira_with(["add", "-q", "set.guira"], lines(stored..keys).as_bytes()).status, 0);
        stored = keys;
        let report = json(&place.guira(["info", "--json", "set.guira"]));
        assert_eq!((report["doublings"].to_string(), whole(&report, "slot_count")), (doublings.to_owned(), grown));
        let rows = String::from_utf8(place.guira(["info", "set.guira"]).stdout).expect("UTF-8");
        let row = rows.lines().find_map(|row| row.strip_prefix("doublings ")).expect("it grows");
        assert_eq!(row.trim_start(), doublings);
    }
    for kept in [1150, 0] {
        assert_eq!(place.guira_with(["remove", "-q", "set.guira"], lines(kept..stored).as_bytes()).status, 0);
        stored = kept;
        let before = place.read("set.guira");
        let outcome = place.guira(["shrink", "set.guira"]);
        assert!(outcome.status == 0 && outcome.stderr.contains("half a doubling undone"), "{}", outcome.stderr);
        place.write("set.guira", before);
        let report = json(&place.guira(["shrink", "--json", "set.guira"]));
        assert_eq!(report["doublings_undone"].to_string(), "0.5");
    }
    assert_eq!(whole(&json(&place.guira(["info", "--json", "set.guira"])), "slot_count"), slots);
    let nothing = place.guira(["shrink", "set.guira"]);
    assert!(nothing.stderr.contains("as small as it can be"), "{}", nothing.stderr);
}

#[test]
fn the_rate_of_a_build_is_the_default_or_the_one_given() {
    let place = Workplace::new();
    let lines: String = (0..1000).map(|number| format!("{number}\n")).collect();
    for (arguments, rate) in [(&[][..], 0.001), (&["--rate", "0.05"], 0.05), (&["--rate", "1e-6"], 1e-6)] {
        let arguments = [&["build", "--force", "-o", "set.guira"], arguments].concat();
        assert_eq!(place.guira_with(arguments, lines.as_bytes()).status, 0);
        let report = json(&place.guira(["info", "--json", "set.guira"]));
        let expected = number(&report, "expected_false_positive_rate_at_capacity");
        // It holds for as many keys again, which takes a bit, and one bit less would not do.
        assert!(2.0 * expected <= 1.01 * rate && 4.2 * expected > rate, "{expected} for {rate}");
        // The table that comes of its doubling may have room for a few keys more.
        assert!((1000..1020).contains(&whole(&report, "capacity")), "{report}");
    }
}

#[test]
fn a_plan_is_what_a_build_comes_to() {
    let place = Workplace::new();
    for options in [
        "--capacity 1000 --rate 0.001",
        "--capacity 1000000 --rate 0.001",
        "--capacity 250000 --rate 0.03",
        "--capacity 250000 --rate 0.03 --prefer space",
        "--capacity 1 --rate 0.5 --prefer space",
        "--capacity 250000 --rate 1e-9",
        "--capacity 1000 --rate 0.5 --max-capacity 10000",
        "--capacity 1000000 --rate 0.001 --max-capacity 100M",
    ] {
        let options = || options.split(' ');
        let plan = json(&place.guira(["plan", "--json"].into_iter().chain(options())));
        let arguments = ["build", "--force", "-o", "set.guira"].into_iter().chain(options());
        assert_eq!(place.guira_with(arguments, b"ani\n").status, 0);
        let info = json(&place.guira(["info", "--json", "set.guira"]));
        for name in
            ["capacity", "fingerprint_bits", "slots_per_bucket", "bucket_count", "slot_count", "table_size_in_bytes"]
        {
            assert_eq!(whole(&plan, name), whole(&info, name), "{name}");
        }
        assert_eq!(plan["layout"], info["layout"]);
        assert_close(number(&plan, "bits_per_key"), number(&info, "bits_per_key_at_capacity"));
        let built = number(&info, "expected_false_positive_rate_at_capacity");
        assert_close(number(&plan, "expected_false_positive_rate"), built);
        assert_eq!(plan["max_capacity"].is_null(), info["addressing"] != "doubling", "{plan}");
    }
}

#[test]
fn a_plan_has_the_numbers_of_the_formulas() {
    let place = Workplace::new();
    let plan = json(&place.guira(["plan", "--json", "--capacity", "1000000", "--rate", "0.1"]));
    let slots = number(&plan, "slot_count");
    assert_close(number(&plan, "false_positive_rate"), 0.1);
    assert_close(number(&plan, "load_factor"), 1e6 / slots);
    assert_close(number(&plan, "bits_per_key"), number(&plan, "fingerprint_bits") * slots / 1e6);
    assert_close(number(&plan, "expected_false_positive_rate"), expected_rate(&plan, 1e6));
    // log2(10) = 3.322 bits, and 1 / ln 2 = 1.4427 times as many.
    assert_close(number(&plan, "information_limit_bits_per_key"), 10f64.log2());
    assert_close(number(&plan, "bloom_bits_per_key"), 10f64.log2() / std::f64::consts::LN_2);
    assert_eq!((&plan["fingerprint_bits_raised_from"], &plan["max_capacity"]), (&Value::Null, &Value::Null));
    assert_eq!(names(&plan).len(), 18);
}

#[test]
fn info_counts_the_bits_that_a_layout_stores() {
    let place = Workplace::new();
    let lines: String = (0..1234).map(|number| format!("{number}\n")).collect();
    for (layout, bits_per_slot, slots_per_bucket) in [("packed", 11, 4), ("semi-sorted", 10, 4)] {
        let arguments = ["build", "--force", "--fingerprint-bits", "11", "--layout", layout, "-o", "set.guira"];
        assert_eq!(place.guira_with(arguments, lines.as_bytes()).status, 0);
        assert_eq!(place.check(&lines), lines.as_bytes());
        let report = json(&place.guira(["info", "--json", "set.guira"]));
        assert_eq!((&report["layout"], &report["addressing"]), (&layout.into(), &"regional".into()));
        for (name, expected) in
            [("fingerprint_bits", 11), ("bits_per_slot", bits_per_slot), ("slots_per_bucket", slots_per_bucket)]
        {
            assert_eq!(whole(&report, name), expected, "{name} of {layout}");
        }
        let bits = number(&report, "bits_per_slot") * number(&report, "slot_count");
        assert_close(number(&report, "bits_per_key"), bits / 1234.0);
        assert_close(number(&report, "bits_per_key_at_capacity"), bits / 1234.0);
    }
}

#[test]
fn alternatives_are_in_order_keep_to_the_rate_and_one_of_them_is_the_plan() {
    let place = Workplace::new();
    for (capacity, rate, prefer) in [
        ("1000000", "0.001", "speed"),
        ("1000000", "0.1", "speed"),
        ("1000000", "0.001", "space"),
        ("50", "0.1", "space"),
        ("300000", "1e-9", "speed"),
    ] {
        let plan = json(&place.guira(["plan", "--json", "--capacity", capacity, "--rate", rate, "--prefer", prefer]));
        let alternatives = plan["alternatives"].as_array().expect("an array");
        assert!(alternatives.len() > 1);
        let bits: Vec<f64> = alternatives.iter().map(|alternative| number(alternative, "bits_per_key")).collect();
        assert!(bits.is_sorted(), "{bits:?}");
        for alternative in alternatives {
            assert!(number(alternative, "expected_false_positive_rate") <= number(&plan, "false_positive_rate"));
            assert!(number(alternative, "cache_lines_per_lookup") >= number(alternative, "candidates"));
        }
        let chosen: Vec<&Value> = alternatives.iter().filter(|alternative| alternative["is_chosen"] == true).collect();
        assert_eq!(chosen.len(), 1);
        for name in ["layout", "slots_per_bucket", "fingerprint_bits", "bits_per_key", "expected_false_positive_rate"] {
            assert_eq!(chosen[0][name], plan[name], "{name}");
        }
        // What the reason says, where it is not that the table grows.
        if !plan["max_capacity"].is_null() {
            continue;
        }
        let rivals = alternatives
            .iter()
            .filter(|rival| rival["candidates"] == 2 && (prefer == "space" || rival["layout"] == "packed"));
        assert!(std::ptr::eq(rivals.collect::<Vec<_>>()[0], chosen[0]), "{plan}");
    }
}

/// Of a billion keys with the few different fingerprints that a rate of 0.9 allows, too many would share both buckets.
#[test]
fn a_plan_says_that_the_capacity_needs_longer_fingerprints() {
    let place = Workplace::new();
    let plan = json(&place.guira(["plan", "--json", "--capacity", "1000000000", "--rate", "0.9"]));
    let (raised_from, bits) = (whole(&plan, "fingerprint_bits_raised_from"), whole(&plan, "fingerprint_bits"));
    assert!(raised_from < bits, "{plan}");
    let text = String::from_utf8(place.guira(["plan", "--capacity", "1000000000", "--rate", "0.9"]).stdout);
    let note = format!("{bits} bits (the rate alone asks for {raised_from}, with which not all keys would fit)");
    assert!(text.as_ref().is_ok_and(|text| text.contains(&note)), "{text:?}");
}
