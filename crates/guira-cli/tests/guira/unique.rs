//! Lines that come for the first time, beside an exact set of them.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;

use rustix::process::Signal;

use crate::replacement::{is_ignored, send};
use crate::workplace::{GUIRA, Workplace, outcome};

/// Lines of which about half are repeated, near and far apart, and some are empty.
fn lines(count: u64, seed: u64) -> Vec<String> {
    let mut random = seed;
    let mut next = || {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        random >> 33
    };
    (0..count)
        .map(|number| match next() % 8 {
            0..4 => format!("line {}", number),
            4..7 => format!("line {}", next() % (number + 1)),
            _ => "line\t of\r its own".repeat(usize::try_from(next() % 3).expect("few")),
        })
        .collect()
}

fn joined<'line>(lines: impl IntoIterator<Item = &'line String>) -> String {
    lines.into_iter().flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn what_is_printed_are_the_lines_that_a_set_has_not_but_for_the_rate() {
    let place = Workplace::new();
    let lines = lines(300_000, 1);
    let mut seen = HashSet::new();
    let (new, repeated): (Vec<&String>, Vec<&String>) = lines.iter().partition(|line| seen.insert(*line));
    let input = joined(&lines);
    // A filter that never errs on so few lines, but once in a hundred runs.
    let rate = ["--rate", "1e-8"];
    let printed = place.guira_with(["unique", "-q"].into_iter().chain(rate), input.as_bytes());
    assert!(printed.status == 0 && printed.stdout == joined(new.iter().copied()).as_bytes(), "{}", printed.stderr);
    let printed = place.guira_with(["unique", "-q", "--repeated"].into_iter().chain(rate), input.as_bytes());
    assert!(printed.stdout == joined(repeated.iter().copied()).as_bytes());
    // With errors: all that is printed is new, in order, and of the new ones hardly more are left out than the rate says.
    let printed = place.guira_with(["unique", "-q", "--rate", "0.01", "--capacity", "1000"], input.as_bytes());
    let text = String::from_utf8(printed.stdout).expect("text");
    let mut expected = new.iter();
    assert!(text.split_terminator('\n').all(|line| expected.any(|new| *new == line)), "it is no part of the new lines");
    let left_out = new.len() - text.split_terminator('\n').count();
    // Up to 256,000 lines the rate is below a hundredth: the number is binomial, and this is five standard deviations more.
    let most = new.len() / 100;
    assert!(left_out < most + 5 * most.isqrt() && left_out > 0, "{left_out} of {}", new.len());
}

#[test]
fn a_line_is_printed_while_the_next_one_has_not_come() {
    let place = Workplace::new();
    let mut child = place.start(["unique"]);
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut printed = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    for line in ["ani", "koel", "guira"] {
        stdin.write_all(format!("ani\n{line}\n").as_bytes()).expect("the program reads");
        assert_eq!(printed.next().expect("a line").expect("text"), line);
    }
    drop(stdin);
    assert!(printed.next().is_none());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_line_with_several_keys_is_printed_if_any_of_them_is_new() {
    let place = Workplace::new();
    // Words that come again in the same line, in the next ones, and far behind.
    let lines: Vec<String> = (0..60_000_u64)
        .map(|number| match number % 4 {
            0 => format!("{number} {number} {}", number / 2),
            1 => format!("{} {}", number - 1, number / 3),
            2 => " \t".to_owned(),
            _ => format!("{} {} {number}", number / 5, number / 7),
        })
        .collect();
    let mut seen = HashSet::new();
    let is_new = |line: &&String| {
        let mut words = line.split_whitespace().peekable();
        // All words are remembered.
        words.peek().is_none() | (words.filter(|word| seen.insert((*word).to_owned())).count() > 0)
    };
    let expected = joined(lines.iter().filter(is_new));
    let words = ["unique", "-q", "--field", "1,2,3", "--delimiter", "blanks", "--rate", "1e-8"];
    let printed = place.guira_with(words, joined(&lines).as_bytes());
    assert!(printed.status == 0 && printed.stdout == expected.as_bytes(), "{}", printed.stderr);
}

#[test]
fn all_lines_that_have_come_are_printed_in_order_while_the_input_pauses() {
    let place = Workplace::new();
    let mut child = place.start(["unique", "-q"]);
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut printed = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    // More than a block, less than one, and a line.
    let mut begun = String::new();
    for numbers in [0..150_000, 150_000..153_000, 153_000..153_001] {
        let lines: String = numbers.clone().map(|number| format!("number {number}\nnumber {}\n", number / 2)).collect();
        // The last line of a part has no end yet.
        let written = format!("{begun}{lines}to be ");
        begun = format!("continued by {}\n", numbers.end);
        std::thread::scope(|scope| {
            scope.spawn(|| stdin.write_all(written.as_bytes()).expect("the program reads"));
            for number in numbers.clone() {
                if number > 0 && number == numbers.start {
                    let continued = format!("to be continued by {number}");
                    assert_eq!(printed.next().expect("a line").expect("text"), continued);
                }
                assert_eq!(printed.next().expect("a line").expect("text"), format!("number {number}"));
            }
        });
    }
    drop(stdin);
    assert_eq!(printed.next().expect("a line").expect("text"), "to be ");
    assert!(printed.next().is_none());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

/// While a table is made larger, the system gets back what has gone into the larger one: the two are never in memory as a whole.
#[test]
#[cfg(target_os = "linux")]
fn a_table_that_is_made_larger_is_given_back_meanwhile() {
    let place = Workplace::new();
    let mut child = place.start(["unique", "-q"]);
    let mut stdin = child.stdin.take().expect("a pipe");
    let printed = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    // The last time that the table is made larger, it is for 1,400,000 lines.
    let last = 1_400_000;
    std::thread::scope(|scope| {
        let stdin = &mut stdin;
        scope.spawn(move || {
            let numbers: String = (0..=last).map(|number| format!("{number}\n")).collect();
            stdin.write_all(numbers.as_bytes()).expect("the program reads");
        });
        assert!(printed.map(|line| line.expect("text")).any(|line| line == last.to_string()));
    });
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it waits for its input");
    let kilobytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("Linux tells it");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number")
    };
    let (peak, now) = (kilobytes("VmHWM:"), kilobytes("VmRSS:"));
    // The table that it was made from takes 5,200 KiB.
    assert!(peak < now + 3000, "{peak} KiB at most, {now} KiB at the end");
    drop(stdin);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn runs_with_a_state_print_what_one_run_does() {
    let place = Workplace::new();
    let lines = lines(20_000, 2);
    let together = place.guira_with(["unique", "-q"], joined(&lines).as_bytes()).stdout;
    let mut apart = Vec::new();
    for part in lines.chunks(1234) {
        let printed = place.guira_with(["unique", "-q", "--state", "seen.guira"], joined(part).as_bytes());
        assert_eq!((printed.status, &*printed.stderr), (0, ""));
        apart.extend(printed.stdout);
    }
    assert!(apart == together);
    assert_eq!(place.files(), ["seen.guira"]);
}

/// Of a table for 350,000 lines, which it has room for, the last sixteenth is not filled, unless that number was asked for.
#[test]
fn a_table_is_made_larger_before_it_is_full() {
    let place = Workplace::new();
    let numbers = |count: u32| (0..count).map(|number| format!("{number}\n")).collect::<String>();
    let size_after = |count, options: &[&str]| {
        let words = ["unique", "-q", "--count", "--state", "seen.guira"].iter().chain(options);
        let printed = place.guira_with(words, numbers(count).as_bytes());
        assert_eq!((printed.status, &*printed.stderr), (0, ""));
        let size = place.read("seen.guira").len();
        std::fs::remove_file(place.path("seen.guira")).expect("it is there");
        size
    };
    let first = size_after(300_000, &[]);
    assert!(size_after(345_000, &[]) > first + first / 16);
    assert_eq!(size_after(345_000, &["--capacity", "350000"]), first);
}

#[test]
fn the_rate_is_kept_for_as_many_lines_as_the_help_says() {
    let place = Workplace::new();
    for (given, capacity) in [(&[][..], 350_000), (&["--capacity", "1000"], 1000), (&["--capacity", "123456"], 123_456)]
    {
        for (forgetting, times) in [(&[][..], 256), (&["--for", "1h"], 64)] {
            let words = ["unique", "-q", "--state", "seen.guira"].iter().chain(given).chain(forgetting);
            let printed = place.guira_with(words, b"ani\n");
            assert_eq!((printed.status, &*printed.stderr), (0, ""));
            let info = place.guira(["info", "--json", "seen.guira"]).stdout;
            let info: serde_json::Value = serde_json::from_slice(&info).expect("JSON");
            let most = info["max_capacity"].as_u64().expect("it grows");
            assert!(most >= times * capacity, "{most} for {given:?} {forgetting:?}");
            std::fs::remove_file(place.path("seen.guira")).expect("it is there");
        }
    }
}

#[test]
fn what_was_printed_before_a_signal_is_remembered() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP].into_iter().filter(|&signal| !is_ignored(signal)) {
        let place = Workplace::new();
        let mut child = place.start(["unique", "--state", "seen.guira"]);
        let mut stdin = child.stdin.take().expect("a pipe");
        let mut printed = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        stdin.write_all(b"ani\nkoel\ngui").expect("the program reads");
        assert_eq!(printed.next().expect("a line").expect("text"), "ani");
        assert_eq!(printed.next().expect("a line").expect("text"), "koel");
        send(&child, signal);
        assert_eq!(child.wait().expect("it ends").signal(), Some(signal.as_raw()));
        drop(stdin);
        let next = place.guira_with(["unique", "-q", "--state", "seen.guira"], b"koel\nguira\nani\n");
        assert_eq!((next.status, &*next.stdout), (0, &b"guira\n"[..]), "{}", next.stderr);
        assert_eq!(place.files(), ["seen.guira"]);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told_of_before_what_was_not_saved_for_it() {
    let place = Workplace::new();
    let full = std::fs::File::create("/dev/full").expect("a device that is always full");
    let mut command = place.command(GUIRA, ["unique", "--state", "seen.guira"]);
    let outcome = outcome(command.stdout(full).spawn().expect("the program starts"), b"ani\n");
    let expected = "guira: standard output: No space left on device\n\
                    guira: seen.guira: not saved, since not all lines could be written to standard output\n";
    assert_eq!((outcome.status, &*outcome.stderr), (2, expected));
    assert!(place.files().is_empty());
}

/// What was printed is remembered, and nothing else.
#[test]
fn an_input_that_cannot_be_read_ends_a_run_whose_state_has_what_was_printed() {
    let place = Workplace::new();
    place.write("first.txt", "ani\nkoel\n");
    place.write("last.txt", "guira\n");
    let ended = place.guira(["unique", "-q", "--state", "seen.guira", "first.txt", "missing.txt", "last.txt"]);
    assert_eq!((ended.status, &*ended.stdout), (2, &b"ani\nkoel\n"[..]));
    assert_eq!(ended.stderr, "guira: missing.txt: No such file or directory\n");
    let next = place.guira(["unique", "-q", "--state", "seen.guira", "first.txt", "last.txt"]);
    assert_eq!((next.status, &*next.stdout), (0, &b"guira\n"[..]), "{}", next.stderr);
}

/// At a high rate, fingerprints have so few bits that the table can't be made larger for all of these lines.
#[test]
fn a_run_that_can_remember_no_more_has_printed_all_that_it_remembers() {
    let place = Workplace::new();
    let numbers = 0..60_000;
    let lines: Vec<String> = numbers.clone().map(|number| number.to_string()).collect();
    let pairs: Vec<String> = numbers.map(|number| format!("{number} and{number}")).collect();
    for (lines, fields) in [(lines, &[][..]), (pairs, &["--field", "1,2", "--delimiter", "blanks"])] {
        for option in [None, Some("--repeated")] {
            let words = ["unique", "-q", "--state", "set.guira", "--rate", "0.03", "--capacity", "100"];
            let ended = place.guira_with(words.iter().chain(fields).chain(&option), joined(&lines).as_bytes());
            assert_eq!(ended.status, 2);
            assert!(ended.stderr.starts_with("guira: no more lines can be remembered: "), "{}", ended.stderr);
            let printed = String::from_utf8(ended.stdout).expect("text");
            let first_words: String = printed.lines().flat_map(|line| line.split(' ').take(1).chain(["\n"])).collect();
            assert!(place.check(&first_words) == first_words.as_bytes(), "{option:?}: some are not remembered");
            let info = place.guira(["info", "--json", "set.guira"]).stdout;
            let info: serde_json::Value = serde_json::from_slice(&info).expect("JSON");
            let (keys, count) = (info["key_count"].as_u64(), printed.lines().count() as u64);
            match (option, fields) {
                (None, []) => assert_eq!(keys, Some(count), "each key has a line"),
                // Lines that are taken for others.
                (Some(_), _) => assert!(count > 0),
                (None, _) => assert!(keys > Some(count) && keys <= Some(2 * count), "{keys:?} of {count} lines"),
            }
            std::fs::remove_file(place.path("set.guira")).expect("it is there");
        }
    }
}

#[test]
fn a_state_with_a_secret_key_can_be_asked_with_it_alone() {
    let place = Workplace::new();
    place.write("key", "0123456789abcdef");
    for options in [&[][..], &["--for", "1h"]] {
        let unique = [&["unique", "-q", "--key-file", "key", "--state", "seen.guira"], options].concat();
        assert_eq!(place.guira_with(&unique, b"ani\nkoel\nani\n").stdout, b"ani\nkoel\n");
        assert_eq!(place.guira_with(&unique, b"ani\nguira\n").stdout, b"guira\n");
        let refused = place.guira(["check", "seen.guira", "-e", "ani"]);
        assert!(refused.status == 2 && refused.stderr.contains("--key-file"), "{}", refused.stderr);
        assert_eq!(place.guira(["check", "--key-file", "key", "seen.guira", "-e", "ani"]).status, 0);
        fs::remove_file(place.path("seen.guira")).expect("it is there");
    }
}

#[test]
fn a_state_that_another_run_has_changed_is_not_overwritten() {
    let place = Workplace::new();
    let child = place.start(["unique", "-q", "--state", "seen.guira"]);
    // Whichever is first: the file of the run that ends first stays.
    let other = place.guira_with(["unique", "-q", "--state", "seen.guira"], b"ani\n");
    assert_eq!(other.status, 0, "{}", other.stderr);
    let stored = place.read("seen.guira");
    let late = outcome(child, b"koel\n");
    // It may have begun after the other had ended.
    if late.status == 2 {
        assert!(late.stderr.contains("was changed by another process"), "{}", late.stderr);
        assert!(place.read("seen.guira") == stored);
    } else {
        assert_eq!(place.check("ani\nkoel\n"), b"");
    }
}

#[test]
fn a_signal_while_a_state_is_read_leaves_no_temporary_file() {
    let place = Workplace::new();
    let built = place.guira(["build", "--capacity", "10000000", "-o", "seen.guira", "-e", "ani"]);
    assert_eq!(built.status, 0, "{}", built.stderr);
    for signal in [Signal::TERM, Signal::INT, Signal::HUP].into_iter().filter(|&signal| !is_ignored(signal)) {
        let mut child = place.start(["unique", "--state", "seen.guira"]);
        drop(child.stdin.take());
        while place.files() == ["seen.guira"] && child.try_wait().expect("a child").is_none() {}
        send(&child, signal);
        let status = child.wait().expect("it has ended");
        // It may have been done before.
        assert!(status.success() || status.signal() == Some(signal.as_raw()), "{status}");
        assert_eq!(place.files(), ["seen.guira"]);
    }
}

#[test]
fn a_state_is_never_standard_input() {
    let place = Workplace::new();
    let refused = place.guira_with(["unique", "--state", "-"], b"ani\n");
    assert_eq!((refused.status, &*refused.stdout), (2, &b""[..]), "{}", refused.stderr);
    assert_eq!(place.files(), [""; 0]);
}

#[test]
fn lines_that_were_not_printed_are_not_remembered() {
    let place = Workplace::new();
    let mut child = place.start(["unique", "--state", "seen.guira"]);
    drop(child.stdout.take());
    let ended = outcome(child, joined(&lines(100_000, 3)).as_bytes());
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("written to standard output"), "{}", ended.stderr);
    assert_eq!(place.files(), [""; 0]);
    // Without a state there is nothing to lose.
    let mut child = place.start(["unique"]);
    drop(child.stdout.take());
    assert_eq!(outcome(child, joined(&lines(100_000, 3)).as_bytes()).status, 0);
}
