//! What `add` does with keys that do not fit: none is added, or those that fit are and the others come out.

use std::collections::HashSet;

use serde_json::Value;

use crate::workplace::{Outcome, Workplace};

fn lines(numbers: std::ops::Range<u32>) -> String {
    numbers.map(|number| format!("key {number}\n")).collect()
}

/// `set.guira`, made for a thousand keys and holding all of them.
fn full(options: &[&str]) -> Workplace {
    full_of(1000, options)
}

/// The same with so many keys.
fn full_of(keys: u32, options: &[&str]) -> Workplace {
    let place = Workplace::new();
    let capacity = keys.to_string();
    let arguments = [&["build", "-q", "--capacity", &capacity, "-o", "set.guira"], options].concat();
    let built = place.guira_with(arguments, lines(0..keys).as_bytes());
    assert_eq!((built.status, &*built.stderr), (0, ""));
    place
}

fn info(place: &Workplace) -> Value {
    serde_json::from_slice(&place.guira(["info", "--json", "set.guira"]).stdout).expect("JSON")
}

fn expected_rate(place: &Workplace) -> f64 {
    info(place)["expected_false_positive_rate"].as_f64().expect("a number")
}

/// Ways in which a filter can't take 100,000 more keys.
const FILTERS: [(&[&str], &[&str]); 5] = [
    (&[], &[]),
    (&[], &["--no-grow"]),
    (&["--layout", "semi-sorted"], &[]),
    (&["--max-capacity", "2000"], &[]),
    // Fingerprints have no bits left long before.
    (&[], &["--raise-rate"]),
];

#[test]
fn a_list_that_does_not_fit_leaves_the_file_as_it_was() {
    for (built, added) in FILTERS {
        let place = full(built);
        let before = place.read("set.guira");
        let options = [&["add"], added, &["set.guira"]].concat();
        let outcome = place.guira_with(&options, lines(1000..101_000).as_bytes());
        assert_eq!((outcome.status, &*outcome.stdout), (2, &b""[..]), "{options:?}: {}", outcome.stderr);
        assert!(outcome.stderr.starts_with("guira: set.guira: no key was added: "), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("--keep-fitting"), "{}", outcome.stderr);
        // Nothing was stored, so nothing was stored once more.
        assert!(!outcome.stderr.contains("once more"), "{}", outcome.stderr);
        assert!(place.read("set.guira") == before, "{options:?}: the file has changed");
        assert_eq!(place.files(), ["set.guira"]);
    }
}

#[test]
fn what_fits_is_added_at_the_promised_rate_and_the_others_come_out() {
    for (built, added) in &FILTERS[..4] {
        let place = full(built);
        let options = [&["add", "-q", "--keep-fitting"], *added, &["set.guira"]].concat();
        let Outcome { status, stdout, stderr } = place.guira_with(&options, lines(1000..101_000).as_bytes());
        let rejected: HashSet<String> = String::from_utf8(stdout).expect("lines").lines().map(str::to_owned).collect();
        let stored = 100_000 - rejected.len();
        assert_eq!(status, if stored > 0 { 3 } else { 2 }, "{options:?}: {stderr}");
        assert_eq!(info(&place)["key_count"], 1000 + stored, "{options:?}");
        assert!(expected_rate(&place) <= 0.001, "{options:?}: {}", info(&place));
        // For a few keys more than were promised, no table is doubled.
        let slots = info(&place)["slot_count"].as_u64().expect("a number");
        assert!(slots < 2 * (1000 + stored as u64), "{options:?}: {slots}");
        // Of 2000 keys that must fit, a thousand are new.
        assert!(!built.contains(&"--max-capacity") || stored >= 1000, "{options:?}: {stored}");
        let all = lines(0..101_000);
        let kept: String =
            all.lines().filter(|&line| !rejected.contains(line)).map(|line| format!("{line}\n")).collect();
        assert_eq!(place.guira_with(["check", "-c", "-v", "set.guira"], kept.as_bytes()).stdout, b"0\n", "{options:?}");
        // And no more of them fit.
        let again: String = rejected.iter().take(10).map(|line| format!("{line}\n")).collect();
        let outcome = place.guira_with(&options, again.as_bytes());
        if !added.contains(&"--no-grow") && !built.contains(&"--layout") {
            assert_eq!((outcome.status, outcome.stdout.is_empty()), (2, false), "{options:?}: {}", outcome.stderr);
        }
    }
}

#[test]
fn keys_that_do_not_fit_can_go_to_a_file_which_says_every_time_which_they_are() {
    let place = full_of(500, &[]);
    place.write("left.txt", "of yesterday\n");
    let add = ["add", "-q", "--keep-fitting", "--rejected", "left.txt", "set.guira"];
    let outcome = place.guira_with(add, b"key 1\n");
    // As far as its rate is kept, a small table may hold a few more than was promised.
    assert_eq!(
        (outcome.status, &*outcome.stdout, &*place.read("left.txt")),
        (0, &b""[..], &b""[..]),
        "{}",
        outcome.stderr
    );
    let outcome = place.guira_with(add, lines(5000..9000).as_bytes());
    assert_eq!((outcome.status, &*outcome.stdout), (3, &b""[..]), "{}", outcome.stderr);
    let left = String::from_utf8(place.read("left.txt")).expect("lines");
    // In the order of the input, up to its last line.
    assert!(left.ends_with("key 8998\nkey 8999\n") && lines(5000..9000).ends_with(&left), "{left}");
    let null = place.guira_with(["add", "-qz", "--keep-fitting", "set.guira"], b"new\0newer\0");
    assert_eq!((null.status, &*null.stdout), (2, &b"new\0newer\0"[..]), "{}", null.stderr);
    #[cfg(unix)]
    {
        let none = place.guira_with(["add", "-q", "--every", "1h", "--keep-fitting", "set.guira"], b"new\nnewer\n");
        assert_eq!((none.status, &*none.stdout), (2, &b"new\nnewer\n"[..]), "{}", none.stderr);
    }
}

#[test]
fn without_a_place_for_the_keys_that_do_not_fit_none_is_added() {
    let place = full(&[]);
    let before = place.read("set.guira");
    let more = lines(5000..9000);
    place.write("other.guira", &before);
    assert_eq!(place.guira(["convert", "-q", "-o", "other.guira.gz", "set.guira"]).status, 0);
    for (path, message) in [
        ("set.guira", "the filter itself"),
        ("other.guira", "a filter, which would be replaced: give another file for --rejected"),
        ("other.guira.gz", "a filter, which would be replaced"),
        ("no/left.txt", "there is no directory no"),
        (".", "Is a directory"),
    ] {
        let outcome = place.guira_with(["add", "--keep-fitting", "--rejected", path, "set.guira"], more.as_bytes());
        assert!(outcome.status == 2 && outcome.stderr.contains(message), "{}", outcome.stderr);
        assert!(place.read("set.guira") == before);
    }
    assert!(place.read("other.guira") == before);
    place.write("more.txt", &more);
    let outcome = place.guira(["add", "--keep-fitting", "--rejected", "more.txt", "set.guira", "more.txt"]);
    assert!(outcome.status == 2 && outcome.stderr.contains("more.txt: a list of keys"), "{}", outcome.stderr);
    assert_eq!(place.read("more.txt"), more.as_bytes());
    assert!(place.read("set.guira") == before);
}

#[test]
fn where_nothing_is_added_the_list_of_keys_that_did_not_fit_before_stays() {
    let place = full_of(500, &[]);
    place.write("left.txt", "of yesterday\n");
    let before = place.read("set.guira");
    let add = ["add", "--keep-fitting", "--rejected", "left.txt", "set.guira"];
    let assert_unchanged = |outcome: &Outcome, message: &str| {
        assert_eq!((outcome.status, &*outcome.stderr), (2, message));
        assert!(place.read("set.guira") == before);
        assert_eq!(place.read("left.txt"), b"of yesterday\n");
        assert_eq!(place.files(), ["left.txt", "set.guira"]);
    };
    let missing = place.guira([&add[..], &["missing"]].concat());
    assert_unchanged(&missing, "guira: missing: No such file or directory\n");
    #[cfg(unix)]
    {
        let script = "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\"";
        let command = [&["-c", script, crate::workplace::GUIRA], &add[..]].concat();
        let child = place.command("sh", command).spawn().expect("sh starts");
        let full = crate::workplace::outcome(child, lines(5000..9000).as_bytes());
        assert_unchanged(&full, "guira: left.txt: File too large\n");
    }
}

#[test]
fn a_key_that_would_be_read_as_others_is_not_printed_as_a_line() {
    let place = full_of(500, &[]);
    place.write("left.txt", "of yesterday\n");
    let before = place.read("set.guira");
    for (key, shown) in [("new\nkey", r"new\nkey"), ("new\r", r"new\r")] {
        let rows = format!("{}\"{key}\"\n", lines(5000..6000));
        for (option, subject) in [("--rejected=left.txt", "left.txt"), ("--rejected=-", "standard output")] {
            let add = ["add", "--keep-fitting", option, "--csv", "--field", "1", "set.guira"];
            let outcome = place.guira_with(add, rows.as_bytes());
            let message = format!(
                "guira: {subject}: the key \"{shown}\" can't be printed as a line, which would be read as others: no key was \
                 added; leave out --keep-fitting, or such keys\n"
            );
            assert_eq!((outcome.status, outcome.stderr), (2, message));
            assert!(place.read("set.guira") == before);
            assert_eq!(place.read("left.txt"), b"of yesterday\n");
        }
    }
    // With NUL bytes for ends, such keys are what they are.
    let keys = format!("{}new\nkey\0new\r\0", lines(5000..6000).replace('\n', "\0"));
    let outcome = place.guira_with(["add", "-qz", "--keep-fitting", "set.guira"], keys.as_bytes());
    assert!(outcome.stdout.ends_with(b"key 5999\0new\nkey\0new\r\0"), "{}", outcome.stderr);
    let add = ["add", "-qz", "--keep-fitting", "--json-field", "key", "set.guira"];
    let outcome = place.guira_with(add, b"{\"key\":\"new\\u0000\"}\0");
    let message = "standard output: the key \"new\\0\" can't be printed as one that ends with a NUL byte";
    assert!(outcome.status == 2 && outcome.stderr.contains(message), "{}", outcome.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_for_the_keys_that_do_not_fit_leaves_the_file() {
    let place = full(&[]);
    let before = place.read("set.guira");
    let outcome = place
        .guira_with(["add", "--keep-fitting", "--rejected", "/dev/full", "set.guira"], lines(5000..9000).as_bytes());
    assert_eq!(outcome.status, 2);
    assert!(outcome.stderr.ends_with("/dev/full: No space left on device\n"), "{}", outcome.stderr);
    assert!(place.read("set.guira") == before);
    let script = "guira=$0; seq 9000 | \"$guira\" add --keep-fitting set.guira >/dev/full";
    let command = place.command("sh", ["-c", script, crate::workplace::GUIRA]);
    let outcome = crate::workplace::outcome({ command }.spawn().expect("sh starts"), b"");
    assert_eq!(outcome.status, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("standard output: No space left on device"), "{}", outcome.stderr);
    assert!(place.read("set.guira") == before);
}

#[test]
fn copies_that_do_not_fit_keep_nothing_of_the_list_either() {
    let place = Workplace::new();
    place.guira_with(["build", "-q", "--capacity", "1000", "--slots-per-bucket", "2", "-o", "set.guira"], b"twin\n");
    for _ in 0..3 {
        assert_eq!(place.guira_with(["add", "-q", "set.guira"], b"twin\n").status, 0);
    }
    let before = place.read("set.guira");
    let outcome = place.guira_with(["add", "set.guira"], b"ani\ntwin\nkoel\n");
    assert_eq!(outcome.status, 2);
    assert!(outcome.stderr.starts_with("guira: set.guira: no key was added: 1 key can't be stored once more"));
    assert!(place.read("set.guira") == before);
    let outcome = place.guira_with(["add", "-q", "--keep-fitting", "set.guira"], b"ani\ntwin\nkoel\n");
    assert_eq!((outcome.status, &*outcome.stdout), (3, &b"twin\n"[..]), "{}", outcome.stderr);
    assert_eq!(place.check("ani\ntwin\nkoel\n"), b"ani\ntwin\nkoel\n");
}

#[test]
fn a_filter_that_may_grow_is_built_of_more_keys_than_it_begins_with() {
    let place = Workplace::new();
    let build = |keys: u32, options: &[&str]| {
        let arguments = [&["build", "--force", "-o", "set.guira", "--capacity", "100"], options].concat();
        place.guira_with(arguments, lines(0..keys).as_bytes())
    };
    for options in [&["--max-capacity", "5000"][..], &["--max-capacity", "5000", "--lifetime", "1h"]] {
        let built = build(5000, options);
        assert!(built.status == 0 && built.stderr.starts_with("guira: set.guira: 5,000 keys"), "{}", built.stderr);
        let checked = place.guira_with(["check", "-c", "set.guira"], lines(0..5000).as_bytes());
        assert_eq!(checked.stdout, b"5000\n");
        assert!(expected_rate(&place) <= 0.001, "{options:?}");
        let refused = build(5001, options);
        assert_eq!(refused.status, 2);
        assert!(refused.stderr.contains("no file was written"), "{}", refused.stderr);
        assert_eq!(info(&place)["key_count"], 5000);
    }
}
