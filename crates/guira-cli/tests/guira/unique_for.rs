//! Lines that are forgotten after a time, beside an exact map of times.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt;
use std::time::Instant;

use rustix::process::Signal;

use crate::replacement::{is_ignored, send};
use crate::workplace::{GUIRA, Workplace};

const HOUR: u64 = 3_600_000;
/// 2026-11-25 10:00 UTC.
const MORNING: u64 = 1_795_600_800_000;

/// A log: a time in milliseconds, a tab and a text. Time goes on by up to two steps from line to line; every 16th line is late.
/// About half of the texts came before, lately or long ago.
fn log(lines: u64, step: u64, seed: u64) -> Vec<(u64, String)> {
    let mut random = seed;
    let mut next = move || {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        random >> 33
    };
    let mut time = MORNING;
    (0..lines)
        .map(|number| {
            time += next() % (2 * step + 1);
            let late = if next().is_multiple_of(16) { next() % (20 * step + 1) } else { 0 };
            let text = match next() % 8 {
                0..4 => number,
                4..6 => number.saturating_sub(next() % 1000),
                _ => next() % (number + 1),
            };
            (time - late.min(time), format!("text {text}"))
        })
        .collect()
}

fn joined(log: &[(u64, String)]) -> String {
    log.iter().fold(String::new(), |mut all, (time, text)| {
        writeln!(all, "{time}\t{text}").expect("memory");
        all
    })
}

/// What an exact program remembers.
#[derive(Default)]
struct Exact {
    reached: u64,
    /// When each text was printed, or was seen last with `--renew`.
    times: HashMap<String, u64>,
    /// New lines, and those of them that were left out.
    new: usize,
    wrong: usize,
}

impl Exact {
    /// Checks whether a line may have been printed, or left out. Within a resolution after the lifetime it may be either.
    fn take(&mut self, (time, text): &(u64, String), is_printed: bool, [lifetime, resolution]: [u64; 2], renews: bool) {
        self.reached = self.reached.max(*time);
        let age = self.times.get(text).map(|seen| self.reached - seen);
        let is_forgotten = age.is_none_or(|age| age >= lifetime + resolution);
        self.new += usize::from(is_forgotten);
        if is_printed {
            assert!(age.is_none_or(|age| age >= lifetime), "{text} was printed again after {age:?}");
        } else {
            self.wrong += usize::from(is_forgotten);
        }
        // A new text that is taken for another one is found as long as that, and no more of a mistake when it comes again.
        if is_printed || is_forgotten || renews {
            self.times.insert(text.clone(), self.reached);
        }
    }
}

/// Which lines of a log were printed, in order.
fn are_printed(log: &[(u64, String)], printed: &[u8]) -> Vec<bool> {
    let mut printed = printed.split_inclusive(|&byte| byte == b'\n').peekable();
    let are: Vec<bool> =
        log.iter().map(|(time, text)| printed.next_if_eq(&format!("{time}\t{text}\n").as_bytes()).is_some()).collect();
    assert_eq!(printed.next(), None, "all that is printed are lines, in order");
    are
}

#[test]
fn what_is_printed_is_what_an_exact_program_prints_but_for_the_rate() {
    let place = Workplace::new();
    // Some 8 hours.
    let log = log(100_000, 280, 1);
    place.write("log", joined(&log));
    let times = [HOUR, HOUR / 12];
    for (rate, renews) in [(1e-7, false), (1e-7, true), (0.01, false)] {
        let rate_text = rate.to_string();
        let mut arguments = vec!["unique", "-q", "--for", "1h", "--time-field", "1", "--rate", &rate_text, "log"];
        // A table that is doubled some times.
        arguments.extend(["--capacity", "2000"]);
        arguments.extend(renews.then_some("--renew"));
        let printed = place.guira(&arguments);
        assert_eq!((printed.status, &*printed.stderr), (0, ""));
        let mut exact = Exact::default();
        for (line, is_printed) in log.iter().zip(are_printed(&log, &printed.stdout)) {
            exact.take(line, is_printed, times, renews);
        }
        #[expect(clippy::cast_precision_loss, reason = "for a bound")]
        let mean = exact.new as f64 * rate;
        #[expect(clippy::cast_precision_loss, reason = "for a bound")]
        let wrong = exact.wrong as f64;
        // The number is binomial, with at most this mean; five standard deviations more, and one for small ones.
        assert!(wrong <= mean + 5.0 * mean.sqrt() + 1.0, "{wrong} of {} at {rate}", exact.new);
        assert!(exact.new > 50_000 && (rate < 0.001 || wrong > 0.0), "{wrong} of {} at {rate}", exact.new);
    }
}

#[test]
fn runs_with_a_state_print_what_one_run_does() {
    let place = Workplace::new();
    let log = log(20_000, 1000, 2);
    let arguments = ["unique", "-q", "--for", "1h", "--time-field", "1"];
    let together = place.guira_with(arguments, joined(&log).as_bytes()).stdout;
    let mut apart = Vec::new();
    for (number, part) in log.chunks(1234).enumerate() {
        // Those that go on need not say for how long.
        let arguments = if number == 1 { &["unique", "-q", "--time-field", "1"][..] } else { &arguments[..] };
        let arguments = [arguments, &["--state", "seen.guira"]].concat();
        let printed = place.guira_with(arguments, joined(part).as_bytes());
        assert_eq!((printed.status, &*printed.stderr), (0, ""));
        apart.extend(printed.stdout);
    }
    assert!(apart == together && together.len() < joined(&log).len());
    assert_eq!(place.files(), ["seen.guira"]);
}

/// Renewals and the time are no new lines, and are stored all the same.
#[test]
fn a_state_has_what_was_only_renewed() {
    let place = Workplace::new();
    let unique = |now: &str| {
        let now = format!("2026-11-25T{now}:00Z");
        let arguments = ["unique", "-q", "--for", "1h", "--renew", "--state", "seen.guira", "--now", &now];
        String::from_utf8(place.guira_with(arguments, b"ani\n").stdout).expect("text")
    };
    assert_eq!(["10:00", "10:50", "11:40", "12:30"].map(unique), ["ani\n", "", "", ""]);
    assert_eq!(unique("13:40"), "ani\n");
}

#[test]
fn without_renewal_a_line_is_printed_once_in_each_lifetime() {
    let place = Workplace::new();
    let unique = |now: &str| {
        let now = format!("2026-11-25T{now}:00Z");
        let arguments = ["unique", "-q", "--for", "1h", "--state", "seen.guira", "--now", &now];
        String::from_utf8(place.guira_with(arguments, b"ani\n").stdout).expect("text")
    };
    assert_eq!(["10:00", "10:59", "11:05", "12:00", "12:10"].map(unique), ["ani\n", "", "ani\n", "", "ani\n"]);
}

/// By the clock. The second time is later than the first by less than a day, and that is all that it is taken for.
#[test]
fn a_line_is_printed_while_the_next_one_has_not_come_and_remembered_after_a_signal() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP].into_iter().filter(|&signal| !is_ignored(signal)) {
        let place = Workplace::new();
        let mut child = place.start(["unique", "--for", "24h", "--state", "seen.guira"]);
        let mut stdin = child.stdin.take().expect("a pipe");
        let mut printed = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        for line in ["ani", "koel"] {
            stdin.write_all(format!("ani\n{line}\n").as_bytes()).expect("the program reads");
            assert_eq!(printed.next().expect("a line").expect("text"), line);
        }
        send(&child, signal);
        assert_eq!(child.wait().expect("it ends").signal(), Some(signal.as_raw()));
        drop(stdin);
        let next = place.guira_with(["unique", "-q", "--state", "seen.guira"], b"koel\nguira\nani\n");
        assert_eq!((next.status, &*next.stdout), (0, &b"guira\n"[..]), "{}", next.stderr);
        assert_eq!(place.files(), ["seen.guira"]);
    }
}

/// Killed from the very beginning to a little past the end. `GUIRA_KILLS=200` makes more kills than a few.
#[test]
fn a_kill_at_any_moment_leaves_a_whole_state_and_no_line_is_lost() {
    let place = Workplace::new();
    let log = log(60_000, 200, 3);
    let (first, second) = log.split_at(30_000);
    place.write("first", joined(first));
    place.write("second", joined(second));
    let run = |input| ["unique", "-q", "--for", "1h", "--time-field", "1", "--state", "seen.guira", input];
    assert_eq!(place.guira(run("first")).status, 0);
    let old = place.read("seen.guira");
    let begin = Instant::now();
    let expected = place.guira(run("second")).stdout;
    let duration = begin.elapsed();
    let new = place.read("seen.guira");
    assert!(old != new && !expected.is_empty());
    let kills = std::env::var("GUIRA_KILLS").map_or(20, |kills| kills.parse::<u32>().expect("a number of kills"));
    let mut found_new = 0;
    for kill in 0..kills {
        place.write("seen.guira", &old);
        let mut command = place.command(GUIRA, run("second"));
        command.stdout(File::create(place.path("printed")).expect("writable"));
        let mut child = command.spawn().expect("the program starts");
        // Which moment exactly, chance decides too.
        std::thread::sleep(duration.mul_f64(1.2 * f64::from(kill) / f64::from(kills)));
        send(&child, Signal::KILL);
        child.wait().expect("it has ended");
        let (left, printed) = (place.read("seen.guira"), place.read("printed"));
        assert!(left == old || left == new, "kill {kill}: neither the old state nor the new one");
        assert!(expected.starts_with(&printed), "kill {kill}");
        if left == new {
            found_new += 1;
            assert!(printed == expected, "kill {kill}: lines are remembered that were not printed");
        } else {
            // Whoever goes on from the old state gets all of them.
            let again = place.guira(run("second"));
            assert!(again.stdout == expected && place.read("seen.guira") == new, "kill {kill}: {}", again.stderr);
        }
    }
    println!("{kills} kills, the old state {} times, the new one {found_new} times", kills - found_new);
}

/// What was printed is remembered, also where the rest of a block is refused.
#[test]
fn a_line_that_is_refused_ends_a_run_whose_state_has_what_was_printed() {
    let place = Workplace::new();
    let text = "2026-11-25T10:00:00Z\tani\n2026-11-25T10:10:00Z\tkoel\n2062-11-25T10:20:00Z\tguira\n2026-11-25T10:30:00Z\ttero\n";
    place.write("log", text);
    let run = |options: &[&str]| {
        place.guira(
            [&["unique", "-q", "--for", "1h", "--time-field", "1", "--state", "seen.guira", "log"], options].concat(),
        )
    };
    let refused = run(&[]);
    assert_eq!((refused.status, refused.stdout.split(|&byte| byte == b'\n').count()), (2, 3));
    let expected = "guira: log: line 3: its time, 2062-11-25T10:20:00.000Z, is more than 1d after the latest before it, \
                    2026-11-25T10:10:00.000Z, and lines would be forgotten: if it is right, give a longer --max-gap\n";
    assert_eq!(refused.stderr, expected);
    let refused = run(&[]);
    assert_eq!((refused.status, refused.stdout), (2, b"".to_vec()));
    let taken = run(&["--max-gap", "50y"]);
    assert_eq!((taken.status, &*taken.stdout), (0, &text.as_bytes()[text.find("2062").expect("it is there")..]));
    // Those behind it now come late.
    let late = "guira: warning: 1 line far behind the latest time, and taken as of that time: was it wrong?\n";
    place.write("log", "2062-11-25T10:20:00Z\tani\n2026-11-25T10:20:00Z\tani\n");
    let taken = place.guira(["unique", "-q", "--for", "1h", "--time-field", "1", "log"]);
    assert_eq!((&*taken.stderr, taken.status), (late, 0));
}

#[test]
fn lines_without_a_time_are_refused_or_kept_or_left_out() {
    let place = Workplace::new();
    place.write("log", "10,ani\nno time\n20,ani\n20,koel\n,tero\n");
    let run = |options: &[&str]| {
        let arguments = ["unique", "--for", "1h", "--time-field", "1", "-d", ",", "log"];
        let outcome = place.guira([&arguments, options].concat());
        (outcome.status, String::from_utf8(outcome.stdout).expect("text"), outcome.stderr)
    };
    let (status, printed, said) = run(&[]);
    assert_eq!((status, &*printed), (2, "10,ani\n"));
    assert_eq!(
        said,
        "guira: log: line 2: \"no time\" is not a time that is known: --untimed keep takes such lines with the time of the one before, \
         --untimed skip leaves them out\n"
    );
    assert_eq!(run(&["-q", "--untimed", "keep"]), (0, "10,ani\nno time\n20,koel\n,tero\n".to_owned(), String::new()));
    let (status, printed, said) = run(&["-q", "--untimed", "skip"]);
    assert_eq!(
        (status, &*printed, &*said),
        (0, "10,ani\n20,koel\n", "guira: warning: 2 lines without a time, left out\n")
    );
    // Before the first time there is none that lines without one could be far from.
    place.write("log", ",ani\nno time\n1795600800,koel\n1795600801,ani\n");
    let all = ",ani\nno time\n1795600800,koel\n1795600801,ani\n".to_owned();
    assert_eq!(run(&["-q", "--untimed", "keep"]), (0, all, String::new()));
    let (status, printed, said) = run(&[]);
    assert_eq!((status, &*printed, said.starts_with("guira: log: line 1: has no time")), (2, "", true));
    place.write("log", "10,ani\nno time\n20,ani\n20,koel\n,tero\n");
    let (_, counted, _) = run(&["--untimed", "skip", "--count", "--json"]);
    let expected = "{\n  \"record_count\": 3,\n  \"new_count\": 2,\n  \"repeated_count\": 1,\n  \"without_key_count\": 0,\n  \
                    \"without_time_count\": 2\n}\n";
    assert_eq!(counted, expected);
}

#[test]
fn times_stand_in_fields_of_all_forms_of_lines() {
    let place = Workplace::new();
    let unique = |input: &str, options: &[&str]| {
        place.write("input", input);
        let outcome = place.guira([&["unique", "-q", "--for", "1h", "input"], options].concat());
        assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{options:?}");
        String::from_utf8(outcome.stdout).expect("text")
    };
    let access = "10.0.0.1 - - [25/Nov/2026:10:00:00 +0000] \"GET /\" 200\n10.0.0.1 - - [25/Nov/2026:11:30:00 +0100] \"GET /x\" 200\n\
                  10.0.0.1 - - [25/Nov/2026:11:06:00 +0000] \"GET /\" 200\n";
    let lines: Vec<&str> = access.split_inclusive('\n').collect();
    let by_address = unique(access, &["--time-field", "4", "-d", "blanks", "-f", "1"]);
    assert_eq!(by_address, [lines[0], lines[2]].concat());
    // Whole lines are compared without their time.
    assert_eq!(unique(&access.replace("/x", "/"), &["--time-field", "4", "-d", "blanks"]).lines().count(), 2);
    assert_eq!(unique("Ani\t5\tx\nani\t6\tX\n", &["--time-field", "2", "-i"]), "Ani\t5\tx\n");
    let csv =
        "id,when\n\"a\n1\",\"2026-11-25 10:00:00Z\"\n\"a\n1\",2026-11-25T10:30:00Z\n\"a\n1\",2026-11-25T11:30:00Z\n";
    for options in [
        &["--header", "id", "--time-field", "when", "--csv"][..],
        &["-i", "--header", "id", "--time-field", "when", "--csv"],
    ] {
        assert_eq!(unique(csv, options), "\"a\n1\",\"2026-11-25 10:00:00Z\"\n\"a\n1\",2026-11-25T11:30:00Z\n");
    }
    let rows = csv.strip_prefix("id,when\n").expect("a header");
    assert_eq!(unique(rows, &["--csv", "-f", "1", "--time-field", "2"]).lines().count(), 4);
    let json = "{\"id\":1,\"t\":{\"at\":1795600800}}\n{\"id\":1,\"t\":{\"at\":1795600800.5}}\n{\"id\":1,\"t\":{\"at\":1795605800000}}\n";
    let printed = unique(json, &["--json-field", "id", "--time-field", "t.at"]);
    assert_eq!(printed.lines().count(), 2);
    assert_eq!(unique("5\tani\x006\tani\0", &["-z", "--time-field", "1"]), "5\tani\0");
}

#[test]
fn what_keeps_a_text_from_being_a_time_is_said() {
    let place = Workplace::new();
    for (text, reason) in [
        ("2026-11-25 10:00:00", "is not a time that is known: it has no zone, such as Z or +01:00; see --time-field"),
        ("2026-11-25", "is not a time that is known: it is a date, and has no time of day; see --time-field"),
    ] {
        place.write("log", format!("{text}\ta\n"));
        let refused = place.guira(["unique", "--for", "1h", "--time-field", "1", "log"]);
        assert_eq!((refused.status, refused.stderr), (2, format!("guira: log: line 1: \"{text}\" {reason}\n")));
    }
    place.write("log", "2026-11-25 10:00:00Z\ta\n2026-11-25T11:00:00+0100\ta\n\ta\n");
    let outcome = place.guira(["unique", "--for", "1h", "--time-field", "1", "log"]);
    assert_eq!((outcome.status, &*outcome.stdout), (2, &b"2026-11-25 10:00:00Z\ta\n"[..]));
    assert!(outcome.stderr.starts_with("guira: log: line 3: has no time in that field"), "{}", outcome.stderr);
}

#[test]
fn a_wrong_line_of_rows_with_several_lines_is_named_by_its_number() {
    let place = Workplace::new();
    place.write("first", "id,when\na,1\n");
    place.write("rows", "id,when\n\"a\nb\",2\n\"c\nd\",soon\n");
    let run = ["unique", "-q", "--for", "1h", "--csv", "--header", "id", "--time-field", "when", "first", "rows"];
    let refused = place.guira(run);
    assert!(
        refused.stderr.starts_with("guira: rows: line 4: \"soon\" is not a time that is known"),
        "{}",
        refused.stderr
    );
    // Between NUL bytes a record is a line, whatever is done to its key.
    place.write("records", "1\tx\ny\nz\0soon\tv\0");
    for options in [&[][..], &["-i"]] {
        let run = ["unique", "-q", "--for", "1h", "-z", "--time-field", "1", "records"];
        let refused = place.guira([&run[..], options].concat());
        assert!(
            refused.stderr.starts_with("guira: records: line 2: \"soon\" is not a time that is known"),
            "{}",
            refused.stderr
        );
    }
    place.write("rows", "id,then\na,1\n");
    let refused = place.guira(run);
    assert!(refused.status == 2 && refused.stderr.contains("no field has the name \"when\""), "{}", refused.stderr);
}

#[test]
fn what_has_no_meaning_is_refused_with_what_to_do() {
    let place = Workplace::new();
    let unique = |arguments: &[&str], expected: &str| {
        let outcome = place.guira_with([&["unique"], arguments].concat(), b"ani\n");
        assert_eq!((outcome.status, &*outcome.stdout), (2, &b""[..]), "{arguments:?}");
        assert!(outcome.stderr.contains(expected), "{arguments:?}: {}", outcome.stderr);
    };
    for option in [&["--renew"][..], &["--resolution", "5m"], &["--time-field", "1"], &["--now", "5"]] {
        unique(option, &format!("{} is for lines that are forgotten: give --for as well", option[0]));
    }
    unique(&["--for", "24"], "a time is a number and its unit");
    unique(&["--for", "1h", "--resolution", "2h"], "a --resolution of 2h is too long for 1h");
    unique(&["--for", "1h", "--capacity", "100", "--rate", "1e-16"], "so low a rate is not for keys that expire");
    unique(&["--for", "1h", "--time-field", "when"], "a field is a number, counted from 1");
    unique(&["--for", "1h", "--time-field", "1", "--now", "5"], "--now");
    unique(&["--for", "1h", "--untimed", "keep"], "--time-field");
    unique(&["--for", "1h", "--max-gap", "1d"], "--time-field");
    unique(&["-d", ","], "--time-field");
    unique(&["--for", "1h", "--now", "1795600800123456"], "neither seconds nor milliseconds");
    // States that remember otherwise.
    let make = |arguments: &[&str]| {
        let made = place.guira_with([&["unique", "-q", "--state"], arguments].concat(), b"5\tani\n");
        assert_eq!(made.status, 0, "{}", made.stderr);
    };
    make(&["good.guira"]);
    make(&["clock.guira", "--for", "1h"]);
    make(&["lines.guira", "--for", "1h", "--time-field", "1"]);
    unique(&["--state", "good.guira", "--for", "1h"], "remembers lines for good");
    unique(&["--state", "good.guira", "--renew"], "give --for as well");
    unique(&["--state", "clock.guira", "--for", "2h"], "remembers lines for 1h, with a resolution of 5m");
    unique(&["--state", "clock.guira", "--resolution", "1m"], "remembers lines for 1h");
    unique(&["--state", "clock.guira", "--time-field", "1"], "its time is that of the clock");
    unique(&["--state", "lines.guira"], "its time is that of lines");
    make(&["clock.guira", "--for", "60m", "--renew"]);
    make(&["ahead.guira", "--for", "1h", "--now", "9999-01-01T00:00:00Z"]);
    let ahead = place.guira_with(["unique", "-q", "--state", "ahead.guira"], b"5\tani\n");
    assert_eq!((ahead.status, &*ahead.stdout), (0, &b""[..]));
    assert!(ahead.stderr.contains("ahead of the clock"), "{}", ahead.stderr);
}

#[test]
fn a_low_rate_takes_a_small_table_all_the_same() {
    let place = Workplace::new();
    for rate in ["0.1", "1e-6", "5e-8"] {
        let made = place.guira_with(["unique", "-q", "--for", "1h", "--rate", rate, "--state", "seen.guira"], b"ani\n");
        assert_eq!(made.status, 0, "{rate}: {}", made.stderr);
        // 350,000 lines of 4 bytes, twice that for a whole number of doublings, and some room.
        assert!(place.read("seen.guira").len() < 3_500_000, "{rate}: {}", place.read("seen.guira").len());
        std::fs::remove_file(place.path("seen.guira")).expect("it is there");
    }
}
