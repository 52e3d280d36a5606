//! A change that is cut off leaves the old file or the new one, whole.
//!
//! By default a few kills; `GUIRA_KILLS=1000 cargo test -p guira-cli --test guira crash -- --nocapture` makes more, and a fifth as
//! many of each signal that can be caught. It says how often the old and the new file was found.

use std::os::unix::process::ExitStatusExt;
use std::time::Instant;

use rustix::process::Signal;

use crate::replacement::send;
use crate::workplace::{GUIRA, Workplace, outcome};

/// How often each command is ended by a signal.
fn times(signal: Signal) -> u32 {
    let kills = std::env::var("GUIRA_KILLS").map_or(60, |kills| kills.parse::<u32>().expect("a number of kills"));
    let kills = if signal == Signal::KILL { kills } else { kills / 5 };
    kills.div_ceil(CHANGES.len().try_into().expect("a few"))
}

fn lines(numbers: std::ops::Range<u32>) -> String {
    numbers.map(|number| format!("key {number}\n")).collect()
}

/// A directory with a filter that is to be changed, and what is needed to change it.
fn prepared() -> Workplace {
    let place = Workplace::new();
    place.write("old.txt", lines(0..60_000));
    place.write("new.txt", lines(60_000..100_000));
    for (file, input) in [("set.guira", "old.txt"), ("other.guira", "new.txt")] {
        let built = place.guira(["build", "--capacity", "60000", "-o", file, input]);
        assert_eq!(built.status, 0, "{}", built.stderr);
    }
    place
}

/// The commands that change `set.guira`.
const CHANGES: [&[&str]; 4] = [
    &["add", "--raise-rate", "set.guira", "new.txt"],
    &["remove", "set.guira", "old.txt"],
    &["merge", "--force", "--output", "set.guira", "set.guira", "other.guira"],
    &["build", "--force", "--capacity", "60000", "--output", "set.guira", "new.txt"],
];

fn has_temporary_file(place: &Workplace) -> bool {
    place.files().iter().any(|name| name.ends_with(".guira-tmp"))
}

/// The next command on the file removes what a killed one has left, if anything.
fn assert_next_command_tidies_up(place: &Workplace) {
    let next = place.guira(["add", "set.guira"]);
    assert_eq!(next.status, 0, "{}", next.stderr);
    assert!(!has_temporary_file(place), "{:?}", place.files());
}

#[test]
fn a_kill_at_any_moment_leaves_the_old_file_or_the_new_one() {
    end_at_any_moment(Signal::KILL);
}

#[test]
fn a_signal_at_any_moment_leaves_the_old_file_or_the_new_one_and_no_other() {
    end_at_any_moment(Signal::TERM);
    end_at_any_moment(Signal::INT);
}

fn end_at_any_moment(signal: Signal) {
    let place = prepared();
    let old = place.read("set.guira");
    for change in CHANGES {
        let begin = Instant::now();
        let whole = place.guira(change);
        let duration = begin.elapsed();
        assert_eq!(whole.status, 0, "{}", whole.stderr);
        let new = place.read("set.guira");
        assert_ne!(new, old, "{change:?} changes something");

        let times = times(signal);
        let (mut found_old, mut found_new, mut left_behind) = (0, 0, 0);
        for time in 0..times {
            place.write("set.guira", &old);
            let mut child = place.start(change);
            // From the very beginning to a little past the end; which moment exactly, chance decides too.
            std::thread::sleep(duration.mul_f64(1.1 * f64::from(time) / f64::from(times)));
            send(&child, signal);
            let status = child.wait().expect("it has ended");
            let case = format!("{change:?}, {signal:?} {time} of {times}");
            assert!(status.success() || status.signal() == Some(signal.as_raw()), "{case}: {status}");
            let left = place.read("set.guira");
            assert!(left == old || left == new, "{case}: neither the old file nor the new one");
            assert!(left == new || !status.success(), "{case}: done, but not on disk");
            *if left == old { &mut found_old } else { &mut found_new } += 1;
            left_behind += u32::from(has_temporary_file(&place));
            assert!(signal == Signal::KILL || left_behind == 0, "{case}: {:?}", place.files());
            assert_next_command_tidies_up(&place);
        }
        println!(
            "{change:?}: {times} times {signal:?}, the old file {found_old} times, the new one {found_new} times, \
             a temporary file left behind {left_behind} times"
        );
        place.write("set.guira", &old);
    }
}

/// A limit on the size of files is met as a full disk is: by a write that fails, whether or not the signal for it is ignored.
#[test]
fn a_full_disk_leaves_the_old_file() {
    let place = prepared();
    let old = place.read("set.guira");
    let blocks = old.len() / 512;
    for change in CHANGES {
        for limit in [0, 1, blocks / 2, blocks - 1] {
            for trap in ["trap '' XFSZ; ", ""] {
                let script = format!("{trap}ulimit -f {limit}; exec \"$0\" \"$@\"");
                let arguments = [&["-c", &script, GUIRA], change].concat();
                let full = outcome(place.command("sh", arguments).spawn().expect("sh starts"), b"");
                assert_eq!(full.status, 2, "{change:?} with {limit} blocks: {}", full.stderr);
                assert!(full.stderr.contains("set.guira: File too large"), "{}", full.stderr);
                assert!(!has_temporary_file(&place), "nothing is left behind");
                assert!(place.read("set.guira") == old, "{change:?} with {limit} blocks: the file has changed");
                assert_next_command_tidies_up(&place);
            }
        }
    }
}
