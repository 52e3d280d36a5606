//! Filters whose keys expire: each command with such a file.

use crate::workplace::{Outcome, Workplace};

const MORNING: &str = "2026-11-25T10:00:00Z";
const AFTERNOON: &str = "2026-11-25T16:00:00Z";
const NEXT_DAY: &str = "2026-11-26T13:00:00Z";

/// `set.guira` with two keys that came in the morning and live for a day and at most two hours more.
fn prepared() -> Workplace {
    let place = Workplace::new();
    place.write("birds.txt", "ani\nkoel\n");
    let built = place.guira([
        "build",
        "--lifetime",
        "24h",
        "--rate",
        "1e-6",
        "--capacity",
        "1000",
        "--now",
        MORNING,
        "-o",
        "set.guira",
        "birds.txt",
    ]);
    assert_eq!((built.status, &*built.stderr), (0, "guira: set.guira: 2 keys, 0 repeated lines left out\n"));
    place
}

fn number(place: &Workplace, file: &str, now: &str, name: &str) -> u64 {
    let shown = place.guira(["info", "--json", "--now", now, file]);
    assert_eq!(shown.status, 0, "{}", shown.stderr);
    let report: serde_json::Value = serde_json::from_slice(&shown.stdout).expect("JSON");
    report[name].as_u64().unwrap_or_else(|| panic!("{name}: {report}"))
}

#[track_caller]
fn assert_refused(outcome: &Outcome, expected: &str) {
    assert_eq!((outcome.status, &*outcome.stdout), (2, &b""[..]), "{}", outcome.stderr);
    assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
}

#[test]
fn keys_are_found_for_their_lifetime_and_not_after_a_resolution_more() {
    let place = prepared();
    let check = |now: &str| place.guira(["check", "--now", now, "set.guira", "birds.txt"]);
    for now in [MORNING, AFTERNOON, "2026-11-26T09:59:59.999Z"] {
        assert_eq!((check(now).status, &*check(now).stdout), (0, &b"ani\nkoel\n"[..]), "{now}");
    }
    assert_eq!((check("2026-11-26T12:00:00Z").status, &*check(NEXT_DAY).stdout), (1, &b""[..]));
    // Several filters, and of each line which has it.
    place.build("koel\n");
    let both = |now: &str| {
        place.write("other.guira", place.read("set.guira"));
        let place = prepared();
        place.write("other.guira", "");
        place.guira(["check", "--now", now, "--which", "--filter", "set.guira", "birds.txt"]).stdout
    };
    assert_eq!(both(MORNING), b"set.guira:ani\nset.guira:koel\n");
    assert_eq!(both(NEXT_DAY), b"");
}

#[test]
fn a_file_that_follows_the_clock_is_looked_at_by_the_clock() {
    let place = Workplace::new();
    place.write("birds.txt", "ani\n");
    // The clock is after that time.
    let old = ["build", "-q", "--lifetime", "1h", "--now", "2020-01-01T00:00:00Z", "-o", "set.guira", "birds.txt"];
    assert_eq!(place.guira(old).status, 0);
    assert_eq!(place.guira(["check", "set.guira", "birds.txt"]).status, 1);
    assert_eq!(place.guira(["count", "set.guira", "ani"]).stdout, b"0\tani\n");
    let shown = String::from_utf8(place.guira(["info", "set.guira"]).stdout).expect("text");
    for line in [
        "keys live for                    1h\n",
        "2020-01-01T00:00:00.000Z, of the clock\n",
        "keys alive                       0\n",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
    assert!(shown.contains("dead fingerprints                1\n"), "{shown}");
    // It is used again.
    assert_eq!(place.guira(["add", "-q", "set.guira", "birds.txt"]).status, 0);
    assert_eq!(place.guira(["check", "set.guira", "birds.txt"]).stdout, b"ani\n");
}

#[test]
fn what_is_added_lives_from_then_on() {
    let place = prepared();
    let added = place.guira_with(["add", "--now", AFTERNOON, "set.guira"], b"guira\n");
    assert_eq!(added.status, 0, "{}", added.stderr);
    assert_eq!(number(&place, "set.guira", AFTERNOON, "living_count"), 3);
    assert_eq!(number(&place, "set.guira", "2026-11-26T12:00:00Z", "living_count"), 1);
    assert_eq!(number(&place, "set.guira", "2026-11-26T12:00:00Z", "dead_count"), 2);
    let all = |now: &str| place.guira_with(["check", "--now", now, "set.guira"], b"ani\nguira\nkoel\n").stdout;
    assert_eq!((all(AFTERNOON), all("2026-11-26T15:59:59Z")), (b"ani\nguira\nkoel\n".to_vec(), b"guira\n".to_vec()));
    // A time before that of the file changes nothing.
    assert_eq!(all(MORNING), b"ani\nguira\nkoel\n");
    let unique = place.guira_with(["add", "--json", "--unique", "--now", AFTERNOON, "set.guira"], b"ani\ntero\n");
    let unique = String::from_utf8(unique.stdout).expect("JSON");
    assert!(unique.contains("\"added_count\": 1,") && unique.contains("\"already_present_count\": 1,"), "{unique}");
}

#[test]
fn more_than_the_rate_is_kept_for_is_refused_and_dead_keys_make_room() {
    let place = Workplace::new();
    let lines = |name: &str, count: u32| (0..count).map(|number| format!("{name} {number}\n")).collect::<String>();
    let built = place.guira([
        "build",
        "-q",
        "--lifetime",
        "24h",
        "--rate",
        "1e-3",
        "--capacity",
        "1000",
        "--now",
        MORNING,
        "-o",
        "set.guira",
    ]);
    assert_eq!(built.status, 0, "{}", built.stderr);
    let add = |now: &str, lines: String| place.guira_with(["add", "-q", "--now", now, "set.guira"], lines.as_bytes());
    assert_eq!(add(MORNING, lines("first", 1000)).status, 0);
    let before = place.read("set.guira");
    assert_refused(&add(MORNING, lines("second", 1000)), "no key was added");
    assert!(place.read("set.guira") == before);
    let added = add(NEXT_DAY, lines("second", 1000));
    assert_eq!(added.status, 0, "{}", added.stderr);
    assert_eq!(number(&place, "set.guira", NEXT_DAY, "living_count"), 1000);
    let fitting =
        place.guira_with(["add", "--keep-fitting", "--now", NEXT_DAY, "set.guira"], lines("third", 1000).as_bytes());
    assert!([2, 3].contains(&fitting.status), "{}", fitting.stderr);
    let raised =
        place.guira_with(["add", "--raise-rate", "--now", NEXT_DAY, "set.guira"], lines("third", 3000).as_bytes());
    assert_eq!(raised.status, 0, "{}", raised.stderr);
    assert!(raised.stderr.contains("holds more than"), "{}", raised.stderr);
    // What has expired leaves the table too large.
    let shrunk = place.guira(["shrink", "--now", "2027-01-01T00:00:00Z", "set.guira"]);
    assert!(shrunk.status == 0 && shrunk.stderr.contains("undone"), "{}", shrunk.stderr);
    assert_eq!(place.guira(["verify", "set.guira"]).status, 0);
}

#[test]
fn copies_are_counted_and_removed_one_by_one() {
    let place = prepared();
    assert_eq!(place.guira(["add", "-q", "--now", AFTERNOON, "set.guira", "birds.txt"]).status, 0);
    let count = |now: &str| place.guira(["count", "--now", now, "set.guira", "ani", "tero"]).stdout;
    assert_eq!(count(AFTERNOON), b"2\tani\n0\ttero\n");
    assert_eq!(count("2026-11-26T12:00:00Z"), b"1\tani\n0\ttero\n");
    // The older copy goes.
    let removed = place.guira_with(["remove", "--now", AFTERNOON, "set.guira"], b"ani\ntero\n");
    assert_eq!(removed.status, 1);
    assert!(
        removed.stderr.contains("1 key removed") && removed.stderr.contains("not in the filter"),
        "{}",
        removed.stderr
    );
    assert_eq!(count("2026-11-26T12:00:00Z"), b"1\tani\n0\ttero\n");
    let removed = place.guira(["remove", "--now", NEXT_DAY, "set.guira", "-e", "ani"]);
    assert_eq!((removed.status, count(NEXT_DAY)), (0, b"0\tani\n0\ttero\n".to_vec()));
    let removed = place.guira(["remove", "--now", NEXT_DAY, "set.guira", "-e", "ani"]);
    assert_eq!(removed.status, 1, "{}", removed.stderr);
}

#[test]
fn filters_that_were_built_alike_are_merged_at_the_later_time() {
    let place = prepared();
    let like =
        place.guira_with(["build", "-q", "--like", "set.guira", "--now", AFTERNOON, "-o", "other.guira"], b"guira\n");
    assert_eq!(like.status, 0, "{}", like.stderr);
    let merge =
        |now: &str, file: &str| place.guira(["merge", "--force", "--now", now, "-o", "both.guira", "set.guira", file]);
    let merged = merge(AFTERNOON, "other.guira");
    assert_eq!((merged.status, &*merged.stderr), (0, "guira: both.guira: 3 keys of 2 files\n"));
    let check = |now: &str| place.guira_with(["check", "--now", now, "both.guira"], b"ani\nguira\nkoel\n").stdout;
    assert_eq!(
        (check(AFTERNOON), check("2026-11-26T12:00:00Z")),
        (b"ani\nguira\nkoel\n".to_vec(), b"guira\n".to_vec())
    );
    let merged = merge(NEXT_DAY, "other.guira");
    assert_eq!(
        (merged.status, &*merged.stderr),
        (0, "guira: both.guira: 1 key of 2 files; replaced a filter of 3 keys\n")
    );
    // Others can't be.
    place.write("lasting.txt", "ani\n");
    assert_eq!(place.guira(["build", "-q", "-o", "lasting.guira", "lasting.txt"]).status, 0);
    assert_eq!(
        place
            .guira([
                "build",
                "-q",
                "--lifetime",
                "1h",
                "--rate",
                "1e-6",
                "--capacity",
                "1000",
                "-o",
                "hour.guira",
                "lasting.txt"
            ])
            .status,
        0
    );
    let refused = place.guira(["merge", "-o", "all.guira", "set.guira", "lasting.guira"]);
    assert_refused(&refused, "in one of them keys expire, and in the other they do not. Build one");
    assert_refused(&place.guira(["merge", "-o", "all.guira", "set.guira", "hour.guira"]), "3600000. Build one");
    assert_refused(&merge(MORNING, "lasting.guira"), "lasting.guira: its keys do not expire: leave out --now");
    assert_refused(
        &place.guira(["diff", "set.guira", "other.guira"]),
        "a fingerprint whose key expires stands for a time too",
    );
    assert_refused(
        &place.guira(["diff", "lasting.guira", "set.guira"]),
        "a fingerprint whose key expires stands for a time too",
    );
}

#[test]
fn a_file_is_compressed_and_otherwise_stays_as_it_was_made() {
    let place = prepared();
    let converted = place.guira(["convert", "-q", "-o", "small.guira.zst", "set.guira"]);
    assert_eq!(converted.status, 0, "{}", converted.stderr);
    assert_eq!(place.guira(["check", "--now", MORNING, "small.guira.zst", "birds.txt"]).stdout, b"ani\nkoel\n");
    assert_eq!(number(&place, "small.guira.zst", AFTERNOON, "living_count"), 2);
    assert_eq!(place.guira(["verify", "small.guira.zst", "set.guira"]).stdout, b"small.guira.zst: OK\nset.guira: OK\n");
    let converted = place.guira(["convert", "-q", "-o", "copy.guira", "small.guira.zst"]);
    assert!(converted.status == 0 && place.read("copy.guira") == place.read("set.guira"), "{}", converted.stderr);
    for option in [["--fingerprint-bits", "9"], ["--layout", "semi-sorted"], ["--slots-per-bucket", "8"]] {
        let refused = place.guira([&["convert", "-o", "other.guira", "set.guira"][..], &option].concat());
        assert_refused(&refused, "guira build --lifetime 1d --rate 1e-6 -o other.guira LIST");
    }
}

#[test]
fn lines_of_a_stream_are_added_at_the_time_that_they_come() {
    let place = prepared();
    let added = place.guira_with(["add", "-q", "--every", "10ms", "--now", AFTERNOON, "set.guira"], b"guira\n");
    assert_eq!(added.status, 0, "{}", added.stderr);
    assert_eq!(number(&place, "set.guira", "2026-11-26T12:00:00Z", "living_count"), 1);
}

#[test]
fn a_secret_key_and_the_treatment_of_keys_go_with_the_file() {
    let place = Workplace::new();
    place.write("secret", "00112233445566778899aabbccddeeff\n");
    let made = ["--hash", "siphash", "--key-file", "secret", "-i", "--trim", "--note", "for a day", "--now", MORNING];
    let built =
        place.guira_with([&["build", "-q", "--lifetime", "24h", "-o", "set.guira"][..], &made].concat(), b" Ani \n");
    assert_eq!(built.status, 0, "{}", built.stderr);
    let check =
        |now: &str| place.guira_with(["check", "--key-file", "secret", "--now", now, "set.guira"], b"aNI\n").stdout;
    assert_eq!((check(AFTERNOON), check(NEXT_DAY)), (b"aNI\n".to_vec(), Vec::new()));
    assert_refused(&place.guira_with(["check", "set.guira"], b"ani\n"), "--key-file");
    // Without the key, all is known but how many are alive.
    let shown = String::from_utf8(place.guira(["info", "set.guira"]).stdout).expect("text");
    assert!(shown.contains("keys live for                    1d") && shown.contains("for a day"), "{shown}");
    assert!(shown.contains("2026-11-25T10:00:00.000Z") && !shown.contains("keys alive"), "{shown}");
    assert_eq!(place.guira(["verify", "set.guira"]).status, 0);
    let added = place.guira_with(["add", "-q", "--key-file", "secret", "--now", AFTERNOON, "set.guira"], b"KOEL\n");
    assert_eq!(added.status, 0, "{}", added.stderr);
    let shown = place.guira(["info", "--json", "--key-file", "secret", "--now", AFTERNOON, "set.guira"]).stdout;
    let shown = String::from_utf8(shown).expect("JSON");
    for member in
        ["\"living_count\": 2", "\"lowercase\": true", "\"note\": \"for a day\"", "\"time_source\": \"clock\""]
    {
        assert!(shown.contains(member), "{shown}");
    }
}

#[test]
fn files_of_the_library_keep_their_own_time() {
    let place = Workplace::new();
    let mut filter = guira::ExpiringCuckooFilter::with_capacity(100, 1e-6, 60).expect("a filter");
    filter.insert("ani").expect("room");
    place.write("set.guira", filter.to_bytes());
    let check = |arguments: &[&str]| place.guira_with([&["check", "set.guira"], arguments].concat(), b"ani\nkoel\n");
    // The clock has another unit, perhaps.
    assert_eq!(check(&[]).stdout, b"ani\n");
    assert_eq!((check(&["--now", "59"]).stdout, check(&["--now", "65"]).stdout), (b"ani\n".to_vec(), Vec::new()));
    assert_refused(&check(&["--now", MORNING]), "give --now as a number");
    let shown = String::from_utf8(place.guira(["info", "set.guira"]).stdout).expect("text");
    assert!(
        shown.contains("keys live for                    60\n")
            && shown.contains("time in the file                 0\n"),
        "{shown}"
    );
    assert_eq!(place.guira_with(["add", "-q", "--now", "50", "set.guira"], b"koel\n").status, 0);
    assert_eq!(check(&["--now", "70"]).stdout, b"koel\n");
    assert_refused(&place.guira(["unique", "--state", "set.guira"]), "was not made by this program");
}

#[test]
fn what_has_no_meaning_is_refused_with_what_to_do() {
    let place = prepared();
    let build = |options: &[&str]| place.guira([&["build", "-o", "new.guira", "birds.txt"], options].concat());
    assert_refused(&build(&["--now", MORNING]), "its keys do not expire: leave out --now");
    assert_refused(&build(&["--lifetime", "24"]), "a time is a number and its unit");
    assert_refused(
        &build(&["--lifetime", "1h", "--resolution", "2h"]),
        "a --resolution of 2h is too long for 1h: give one from 14s 174ms, a 254th of that, to 1h",
    );
    assert_refused(&build(&["--lifetime", "1h", "--resolution", "1s"]), "a 254th");
    assert_refused(&build(&["--lifetime", "1h", "--capacity", "1"]), "2 keys do not fit the capacity of 1");
    assert_refused(&build(&["--lifetime", "1h", "--layout", "packed"]), "--layout");
    assert_refused(&build(&["--lifetime", "1h", "--rate", "1e-16"]), "new.guira: ");
    assert_refused(&build(&["--resolution", "1h"]), "--lifetime");
    assert_refused(&place.guira(["add", "--no-grow", "set.guira", "birds.txt"]), "leave out --no-grow");
    assert_refused(&place.guira(["check", "--now", "noon", "set.guira", "birds.txt"]), "a time is one such as");
    assert_refused(
        &place.guira(["check", "--now", "99999999999999999", "set.guira", "birds.txt"]),
        "neither seconds nor milliseconds",
    );
    assert_eq!(place.files(), ["birds.txt", "set.guira"]);
}

/// Whatever byte is wrong, it is said in words.
#[test]
fn damage_is_noticed_by_all_commands() {
    let place = prepared();
    let whole = place.read("set.guira");
    let table_end = 128 + number(&place, "set.guira", MORNING, "table_size_in_bytes");
    let table_end = usize::try_from(table_end).expect("small");
    for at in [20, 100, 200, table_end + 3, table_end + 30, whole.len() - 10] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        place.write("set.guira", damaged);
        for command in [
            &["check", "set.guira", "birds.txt"][..],
            &["info", "set.guira"],
            &["add", "set.guira", "birds.txt"],
            &["remove", "set.guira", "birds.txt"],
            &["count", "set.guira", "ani"],
            &["shrink", "set.guira"],
            &["merge", "-o", "new.guira", "set.guira"],
            &["convert", "-o", "new.guira", "set.guira"],
            &["build", "--like", "set.guira", "-o", "new.guira", "birds.txt"],
            &["unique", "--state", "set.guira", "birds.txt"],
        ] {
            assert_refused(&place.guira(command), "set.guira: ");
        }
        assert_eq!(place.guira(["verify", "-q", "set.guira"]).status, 2);
        for cut in [at, whole.len() - 1] {
            place.write("set.guira", &whole[..cut]);
            assert_refused(&place.guira(["info", "set.guira"]), "set.guira: ");
        }
    }
}

#[cfg(feature = "redis")]
#[test]
fn it_is_not_pushed_to_a_server_and_that_is_said_before_one_is_asked() {
    let place = prepared();
    let refused = place.guira(["push", "set.guira", "redis://127.0.0.1:1/set"]);
    assert_refused(&refused, "not pushed: holds a filter with keys that expire, and servers have growing filters");
}

/// A clock that was wrong when a file was changed is wrong in the file, and keys that come then live too long.
#[test]
fn a_file_whose_time_is_ahead_of_the_clock_is_warned_of() {
    let place = Workplace::new();
    let later = "9999-01-01T00:00:00Z";
    let built = place.guira_with(["build", "-q", "--lifetime", "1h", "--now", later, "-o", "set.guira"], b"ani\n");
    assert_eq!((built.status, &*built.stderr), (0, ""));
    for arguments in [
        &["add", "set.guira", "-e", "koel"][..],
        &["check", "-q", "set.guira", "-e", "koel"],
        &["count", "set.guira", "koel"],
        &["info", "set.guira"],
        &["shrink", "set.guira"],
        &["remove", "set.guira", "-e", "koel"],
    ] {
        let outcome = place.guira(arguments);
        assert_eq!((outcome.status, outcome.stderr.matches("ahead of the clock").count()), (0, 1), "{arguments:?}");
        let outcome = place.guira([arguments, &["--now", later]].concat());
        assert!(!outcome.stderr.contains("ahead of the clock"), "{arguments:?}: {}", outcome.stderr);
    }
}
