//! Lists that change while they are used: filters that are replaced, inputs that do not end, and locks that others hold.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::thread;

use rustix::fs::{CWD, FileType, FlockOperation, Mode, flock, mknodat};
use rustix::io::ioctl_fionread;
use rustix::process::Signal;

use crate::replacement::{is_ignored, send};
use crate::workplace::{Workplace, outcome};

fn lines(numbers: std::ops::RangeInclusive<u32>) -> String {
    numbers.map(|number| format!("key {number}\n")).collect()
}

/// How often the filter is replaced, and how many lines come between: `GUIRA_REPLACEMENTS=1000 GUIRA_LINES=10000` is ten million
/// lines.
fn number(name: &str, usual: u32) -> u32 {
    std::env::var(name).map_or(usual, |number| number.parse().expect("a number"))
}

/// Generation g of the filter has the keys up to g. Each time a line is written, the generation that has it is in place.
#[test]
fn each_line_is_checked_with_a_filter_that_was_in_place_when_it_came() {
    let place = Workplace::new();
    let build = |generation: u32| place.build(lines(0..=generation));
    build(0);
    let mut child = place.start(["check", "--follow", "set.guira"]);
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut printed = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let stderr = child.stderr.take().expect("a pipe");
    let told = thread::spawn(move || BufReader::new(stderr).lines().map_while(Result::ok).count());
    let (generations, lines_between) = (number("GUIRA_REPLACEMENTS", 20), number("GUIRA_LINES", 1000));
    for generation in 0..=generations {
        if generation > 0 {
            build(generation);
        }
        // One that only the next generation has, many lines before, and the newest.
        let mut text = format!("key {}\n", generation + 1);
        text += &"absent\n".repeat(lines_between as usize);
        text += &format!("key {generation}\n");
        stdin.write_all(text.as_bytes()).expect("the program reads");
        let line = printed.next().expect("a line").expect("text");
        assert_eq!(line, format!("key {generation}"));
    }
    drop(stdin);
    assert!(printed.next().is_none());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert_eq!(told.join().expect("no panic"), generations as usize);
}

#[test]
fn without_following_a_replaced_filter_is_told_of_once() {
    let place = Workplace::new();
    place.build("ani\n");
    let mut child = place.start(["check", "set.guira"]);
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut printed = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut next = || printed.next().expect("a line").expect("text");
    stdin.write_all(b"ani\n").expect("the program reads");
    assert_eq!(next(), "ani");
    place.build("koel\n");
    for _ in 0..3 {
        stdin.write_all(b"koel\nani\n").expect("the program reads");
        assert_eq!(next(), "ani");
    }
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let expected = "guira: warning: set.guira: was replaced, and lines are still checked with the filter that it was: \
                    --follow takes the new one\n";
    assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stderr)), (Some(0), expected));
}

#[test]
fn no_input_is_checked_with_a_filter_in_whose_place_keys_are_treated_otherwise() {
    let place = Workplace::new();
    place.build("ani\n");
    place.write("second.txt", "ani\n");
    let mut child = place.start(["check", "--no-filename", "--follow", "set.guira", "-", "second.txt"]);
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut printed = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    stdin.write_all(b"ani\n").expect("the program reads");
    assert_eq!(printed.next().expect("a line").expect("text"), "ani");
    place.build_with(&["--lowercase"], b"koel\n");
    stdin.write_all(b"ani\n").expect("the program reads");
    drop(stdin);
    assert!(printed.next().is_none());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("treated otherwise"), "{output:?}");
}

/// Returns when the program has read all that was written to it.
fn until_all_is_read(stdin: &impl std::os::fd::AsFd) {
    while ioctl_fionread(stdin).expect("a pipe") > 0 {
        thread::yield_now();
    }
}

fn until_it_is_stored(place: &Workplace, key: &str) {
    while place.guira(["check", "-q", "set.guira", "-e", key]).status != 0 {
        thread::yield_now();
    }
}

#[test]
fn keys_of_an_input_that_does_not_end_are_stored_at_intervals() {
    let place = Workplace::new();
    place.build_with(&["--capacity", "1000"], b"ani\n");
    let mut child = place.start(["add", "--every", "20ms", "set.guira"]);
    let stdin = child.stdin.as_mut().expect("a pipe");
    for number in 0..3 {
        stdin.write_all(format!("koel {number}\nkoel 0\nbeg").as_bytes()).expect("the program reads");
        until_it_is_stored(&place, &format!("koel {number}"));
        // Between two times the file is locked by nobody for long.
        let other = place.guira(["add", "-q", "set.guira", "-e", &format!("other {number}")]);
        assert!(other.status == 0 && other.stderr.is_empty(), "{number}: {}", other.stderr);
        stdin.write_all(b"un\n").expect("the program reads");
    }
    let ended = outcome(child, b"last");
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let all = "ani\nkoel 0\nkoel 1\nkoel 2\nother 0\nother 1\nother 2\nbegun\nlast\n";
    assert_eq!(place.check(format!("{all}beg\nun\n")), all.as_bytes());
    // Each of them once.
    let count = place.guira(["info", "--json", "set.guira"]).stdout;
    assert!(String::from_utf8_lossy(&count).contains("\"key_count\": 9,"), "{}", String::from_utf8_lossy(&count));
}

#[test]
fn what_has_come_before_a_signal_is_stored_and_no_part_of_a_line() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP].into_iter().filter(|&signal| !is_ignored(signal)) {
        let place = Workplace::new();
        place.build_with(&["--capacity", "10000"], b"ani\n");
        let mut child = place.start(["add", "--every", "1h", "set.guira"]);
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(b"first\n").expect("the program reads");
        until_all_is_read(&stdin);
        stdin.write_all(format!("{}ki", lines(1..=2000)).as_bytes()).expect("it fits in the pipe");
        send(&child, signal);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.signal(), Some(signal.as_raw()), "{output:?}");
        drop(stdin);
        let expected = format!("ani\nfirst\n{}", lines(1..=2000));
        assert_eq!(place.check(format!("{expected}ki\nkiwi\n")), expected.as_bytes());
        assert_eq!(place.files(), ["set.guira"]);
    }
}

#[test]
fn a_signal_ends_a_program_whose_named_pipe_nobody_writes_to_yet() {
    for arguments in [&["add", "--every", "1h", "set.guira"][..], &["unique", "--state", "seen.guira"]] {
        let place = Workplace::new();
        place.build_with(&["--capacity", "100"], b"ani\n");
        mknodat(CWD, place.path("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
            .expect("the file system has pipes");
        place.write("before", "koel\n");
        let child = place.start([arguments, &["before", "pipe"]].concat());
        // The program waits for a writer, and reads what one writes.
        let writer = File::options().write(true).open(place.path("pipe")).expect("it is opened to be read");
        (&writer).write_all(b"guira\nga").expect("the program reads");
        until_all_is_read(&writer);
        send(&child, Signal::TERM);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.signal(), Some(Signal::TERM.as_raw()), "{output:?}");
        match arguments[0] {
            "add" => assert_eq!(place.check("ani\nkoel\nguira\nga\n"), b"ani\nkoel\nguira\n"),
            _ => assert_eq!(output.stdout, b"koel\nguira\n"),
        }
        // And without a writer.
        drop(writer);
        let child = place.start([arguments, &["before", "pipe"]].concat());
        until_it_is_open(child.id(), "pipe");
        send(&child, Signal::TERM);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.signal(), Some(Signal::TERM.as_raw()), "{output:?}");
    }
}

/// Returns when a process has opened a file.
fn until_it_is_open(process: u32, name: &str) {
    let is_open = || {
        let files = fs::read_dir(format!("/proc/{process}/fd")).expect("it runs");
        files.flatten().any(|file| fs::read_link(file.path()).is_ok_and(|path| path.ends_with(name)))
    };
    while !is_open() {
        thread::yield_now();
    }
}

#[test]
fn a_quiet_command_does_not_say_that_it_waits_for_a_lock() {
    let place = Workplace::new();
    place.build("ani\n");
    let holder = File::open(place.path("set.guira")).expect("it is there");
    flock(&holder, FlockOperation::LockExclusive).expect("nobody else has it");
    for (option, lines) in [("-q", 1), ("--json", 2)] {
        for command in [&["add", "-e", "koel"][..], &["remove", "-e", "koel"], &["shrink"]] {
            let outcome = place.guira([command, &["--wait", "50ms", option, "set.guira"]].concat());
            assert_eq!((outcome.status, outcome.stderr.lines().count()), (2, lines), "{}", outcome.stderr);
        }
    }
}

/// One signal is only noted, as long as the program waits for something else than its input.
#[test]
fn a_second_signal_ends_a_program_that_waits_for_a_lock() {
    for signal in [Signal::TERM, Signal::INT].into_iter().filter(|&signal| !is_ignored(signal)) {
        let place = Workplace::new();
        place.build("ani\n");
        let holder = File::open(place.path("set.guira")).expect("it is there");
        flock(&holder, FlockOperation::LockExclusive).expect("nobody else has it");
        let mut child = place.start(["add", "--every", "1ms", "set.guira"]);
        child.stdin.as_mut().expect("a pipe").write_all(b"koel\n").expect("the program reads");
        let mut told = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        assert!(told.next().expect("a line").expect("text").ends_with("waiting for another process that changes it"));
        // Two that come at the same time may count as one.
        while child.try_wait().expect("it can be asked").is_none() {
            send(&child, signal);
            thread::yield_now();
        }
        assert_eq!(child.wait().expect("it has ended").signal(), Some(signal.as_raw()));
        drop(holder);
        assert_eq!(place.guira(["add", "-q", "set.guira", "-e", "koel"]).status, 0);
        assert_eq!(place.files(), ["set.guira"]);
    }
}

#[test]
fn a_second_signal_while_keys_are_stored_leaves_no_temporary_file() {
    for signal in [Signal::TERM, Signal::INT].into_iter().filter(|&signal| !is_ignored(signal)) {
        let place = Workplace::new();
        // Compressed, so that it is replaced, which takes long enough to be seen.
        let built = place.guira(["build", "-q", "--capacity", "5000000", "-o", "set.guira.gz", "-e", "ani"]);
        assert_eq!(built.status, 0, "{}", built.stderr);
        let before = place.read("set.guira.gz");
        let mut child = place.start(["add", "-q", "--every", "1ms", "set.guira.gz"]);
        child.stdin.as_mut().expect("a pipe").write_all(b"koel\n").expect("the program reads");
        // Until it is being stored, or has been.
        while place.files().len() == 1 && place.read("set.guira.gz") == before {}
        while child.try_wait().expect("it can be asked").is_none() {
            send(&child, signal);
            thread::yield_now();
        }
        assert_eq!(child.wait().expect("it has ended").signal(), Some(signal.as_raw()));
        assert_eq!(place.files(), ["set.guira.gz"]);
    }
}

#[test]
fn an_interval_whose_keys_do_not_fit_ends_it_and_keeps_what_was_stored() {
    let place = Workplace::new();
    assert_eq!(place.guira_with(["build", "-q", "--capacity", "10", "-o", "set.guira"], b"").status, 0);
    let mut child = place.start(["add", "--every", "10ms", "set.guira"]);
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(b"ani\n").expect("the program reads");
    until_it_is_stored(&place, "ani");
    let stored = place.read("set.guira");
    stdin.write_all(lines(1..=1000).as_bytes()).expect("the program reads");
    let output = child.wait_with_output().expect("it ends");
    drop(stdin);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("no key was added: "), "{output:?}");
    assert!(place.read("set.guira") == stored);
}

#[test]
fn a_lock_that_another_process_holds_is_waited_for_no_longer_than_was_asked_for() {
    let place = Workplace::new();
    place.build("ani\n");
    let before = place.read("set.guira");
    let holder = File::open(place.path("set.guira")).expect("it is there");
    flock(&holder, FlockOperation::LockExclusive).expect("nobody else has it");
    let commands: [&[&str]; 5] = [
        &["add", "--wait", "0", "set.guira", "-e", "koel"],
        &["remove", "--wait", "20ms", "set.guira", "-e", "ani"],
        &["merge", "--wait", "0", "--force", "-o", "set.guira", "set.guira"],
        &["build", "--wait", "0", "--force", "-o", "set.guira", "-e", "koel"],
        &["add", "--every", "1h", "--wait", "0", "set.guira", "-e", "koel"],
    ];
    for command in commands {
        let outcome = place.guira(command);
        assert_eq!(outcome.status, 2, "{command:?}: {}", outcome.stderr);
        let waited = if command.contains(&"20ms") { ", and was not done within 20ms" } else { "" };
        let expected = format!("set.guira: another process changes it{waited}: nothing was written");
        assert!(outcome.stderr.contains(&expected), "{outcome:?}");
    }
    assert!(place.read("set.guira") == before);
    drop(holder);
    assert_eq!(place.guira(["add", "--wait", "0", "set.guira", "-e", "koel"]).status, 0);
    assert_eq!(fs::read_dir(place.path(".")).expect("readable").count(), 1);
}
