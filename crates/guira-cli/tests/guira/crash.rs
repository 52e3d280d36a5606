//! A change that is cut off leaves the old file or the new one, whole.
//!
//! By default a few kills; `GUIRA_KILLS=1000 cargo test -p guira-cli --test guira crash -- --nocapture` makes more, and says how
//! often the old and the new file was found.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::time::Instant;

use crate::workplace::{GUIRA, Workplace, outcome};

/// Kills of each command.
fn kills() -> u32 {
    std::env::var("GUIRA_KILLS").map_or(12, |kills| kills.parse::<u32>().expect("a number of kills") / 3)
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
const CHANGES: [&[&str]; 3] = [
    &["add", "set.guira", "new.txt"],
    &["remove", "set.guira", "old.txt"],
    &["merge", "--force", "--output", "set.guira", "set.guira", "other.guira"],
];

/// Temporary files of runs that were killed are hidden, and in nobody's way.
fn remove_temporary_files(place: &Workplace) {
    for name in place.files().iter().filter(|name| name.starts_with(".guira-")) {
        fs::remove_file(place.path(name)).expect("it is there");
    }
}

#[test]
fn a_kill_at_any_moment_leaves_the_old_file_or_the_new_one() {
    let place = prepared();
    let old = place.read("set.guira");
    for change in CHANGES {
        let begin = Instant::now();
        let whole = place.guira(change);
        let duration = begin.elapsed();
        assert_eq!(whole.status, 0, "{}", whole.stderr);
        let new = place.read("set.guira");
        assert_ne!(new, old, "{change:?} changes something");

        let (kills, mut found_old, mut found_new) = (kills(), 0, 0);
        for kill in 0..kills {
            place.write("set.guira", &old);
            let mut child = place.start(change);
            // From the very beginning to a little past the end; which moment exactly, chance decides too.
            std::thread::sleep(duration.mul_f64(1.1 * f64::from(kill) / f64::from(kills)));
            child.kill().expect("it is a child of this process");
            let status = child.wait().expect("it has ended");
            assert!(status.success() || status.signal() == Some(9), "{change:?}: {status}");
            let left = place.read("set.guira");
            assert!(
                left == old || left == new,
                "{change:?}, kill {kill} of {kills}: neither the old file nor the new one"
            );
            assert!(left == new || !status.success(), "{change:?}, kill {kill}: done, but not on disk");
            *if left == old { &mut found_old } else { &mut found_new } += 1;
            remove_temporary_files(&place);
        }
        println!("{change:?}: {kills} kills, the old file {found_old} times, the new one {found_new} times");
        place.write("set.guira", &old);
    }
}

/// A limit on the size of files is met as a full disk is: by a write that fails, or, where it isn't caught, by a signal.
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
                let mut command = place.command("sh", arguments);
                if trap.is_empty() {
                    let status = command.status().expect("sh starts");
                    assert!(!status.success(), "{change:?} with {limit} blocks: {status}");
                } else {
                    let full = outcome(command.spawn().expect("sh starts"), b"");
                    assert_eq!(full.status, 2, "{change:?} with {limit} blocks: {}", full.stderr);
                    assert!(full.stderr.contains("set.guira: File too large"), "{}", full.stderr);
                    assert!(!place.files().iter().any(|name| name.starts_with(".guira-")), "nothing is left behind");
                }
                assert!(place.read("set.guira") == old, "{change:?} with {limit} blocks: the file has changed");
                remove_temporary_files(&place);
            }
        }
    }
}
