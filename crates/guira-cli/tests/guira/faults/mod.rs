//! Each system call of each command goes wrong once, in each way that it can; and the power fails after each.
//!
//! By default a part of the cases, which a seed chooses and a failure prints. `GUIRA_FAULTS=all cargo test -p guira-cli --test
//! guira faults -- --nocapture` tries all of them, and says how many there are; `GUIRA_FAULTS=N` tries every N-th.
//! `GUIRA_DISK_SEEDS=5000` sets the number of losses of power, and `GUIRA_DISK_SEED=N` tries one again.

mod disk;
mod tracer;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::Signal;

use crate::workplace::{Workplace, outcome};
use disk::{Disk, Effect, Random};
use tracer::{Call, End, Fault, Run, is_permitted, run};

/// A command on prepared files.
struct Case {
    arguments: &'static [&'static str],
    input: &'static [u8],
    /// The file that it replaces or creates.
    target: Option<&'static str>,
}

const fn reads(arguments: &'static [&'static str]) -> Case {
    Case { arguments, input: b"key 7\nkoel\n", target: None }
}

const fn changes(arguments: &'static [&'static str], target: &'static str) -> Case {
    Case { arguments, input: b"key 7\n", target: Some(target) }
}

/// Every command that needs no server.
const CASES: &[Case] = &[
    changes(&["build", "--threads", "1", "--output", "new.guira", "keys.txt"], "new.guira"),
    changes(&["build", "--threads", "1", "--force", "--output", "set.guira", "more.txt"], "set.guira"),
    changes(&["add", "set.guira", "more.txt"], "set.guira"),
    changes(&["remove", "set.guira"], "set.guira"),
    changes(&["merge", "--force", "--output", "set.guira", "set.guira", "other.guira"], "set.guira"),
    changes(&["merge", "--output", "new.guira", "set.guira", "other.guira"], "new.guira"),
    changes(&["convert", "--layout", "packed", "--output", "new.guira", "other.guira"], "new.guira"),
    changes(&["shrink", "wide.guira"], "wide.guira"),
    reads(&["check", "set.guira"]),
    reads(&["diff", "set.guira", "other.guira"]),
    reads(&["count", "set.guira", "key 7", "koel"]),
    reads(&["info", "set.guira"]),
    reads(&["verify", "set.guira", "other.guira"]),
    reads(&["plan", "--capacity", "1000", "--rate", "0.01"]),
    reads(&["completions", "bash"]),
    reads(&["man"]),
];

/// Files that the commands work with.
fn prepared() -> Workplace {
    let place = Workplace::new();
    let lines = |numbers: std::ops::Range<u32>| numbers.map(|number| format!("key {number}\n")).collect::<String>();
    place.write("keys.txt", lines(0..1500));
    place.write("more.txt", lines(1500..2500));
    let done = |arguments: &[&str]| {
        let done = place.guira(arguments);
        assert!(done.status == 0, "{arguments:?}: {}", done.stderr);
    };
    done(&["build", "-q", "--capacity", "3000", "--output", "set.guira", "keys.txt"]);
    done(&["build", "-q", "--capacity", "3000", "--output", "other.guira", "more.txt"]);
    done(&["build", "-q", "--capacity", "10", "--max-capacity", "100000", "--output", "wide.guira"]);
    done(&["add", "-q", "wide.guira", "keys.txt", "more.txt"]);
    done(&["remove", "-q", "wide.guira", "keys.txt"]);
    place
}

type Files = BTreeMap<String, Vec<u8>>;

fn files(place: &Workplace) -> Files {
    place.files().into_iter().map(|name| (name.clone(), place.read(&name))).collect()
}

/// Puts these files into the folder, and no others.
fn restore(place: &Workplace, files: &Files) {
    for name in place.files() {
        fs::remove_file(place.path(&name)).expect("writable");
    }
    for (name, bytes) in files {
        place.write(name, bytes);
    }
}

/// The ways in which a call can go wrong.
fn faults(call: &Call) -> Vec<Fault> {
    let refused = |errors: &[Errno]| errors.iter().map(|&error| Fault::Refused(error)).collect::<Vec<_>>();
    let mut faults = match call.place.number {
        libc::SYS_read | libc::SYS_pread64 => [refused(&[Errno::EIO, Errno::EINTR]), vec![Fault::Short]].concat(),
        libc::SYS_write | libc::SYS_pwrite64 => {
            [refused(&[Errno::ENOSPC, Errno::EIO, Errno::EINTR, Errno::EDQUOT]), vec![Fault::Short]].concat()
        }
        libc::SYS_close => vec![Fault::Late(Errno::EIO), Fault::Late(Errno::EINTR)],
        libc::SYS_mmap | libc::SYS_brk | libc::SYS_mremap | libc::SYS_mprotect | libc::SYS_madvise => {
            refused(&[Errno::ENOMEM])
        }
        libc::SYS_munmap => Vec::new(),
        libc::SYS_clone | libc::SYS_clone3 => refused(&[Errno::EAGAIN, Errno::ENOMEM]),
        libc::SYS_openat | libc::SYS_open if call.creates => {
            refused(&[Errno::ENOSPC, Errno::EIO, Errno::EINTR, Errno::EDQUOT, Errno::EMFILE])
        }
        libc::SYS_openat | libc::SYS_open => refused(&[Errno::EIO, Errno::EINTR, Errno::EMFILE, Errno::ENOMEM]),
        libc::SYS_flock => refused(&[Errno::ENOLCK, Errno::EINTR]),
        libc::SYS_getrandom => refused(&[Errno::EINTR, Errno::ENOSYS]),
        libc::SYS_fsync
        | libc::SYS_fdatasync
        | libc::SYS_rename
        | libc::SYS_renameat
        | libc::SYS_renameat2
        | libc::SYS_unlink
        | libc::SYS_unlinkat
        | libc::SYS_fchmod
        | libc::SYS_fchown
        | libc::SYS_fsetxattr => refused(&[Errno::ENOSPC, Errno::EIO, Errno::EINTR, Errno::EDQUOT]),
        _ => refused(&[Errno::EIO, Errno::ENOMEM]),
    };
    faults.push(Fault::Killed);
    faults
}

fn is_about_memory(call: &Call) -> bool {
    [
        libc::SYS_mmap,
        libc::SYS_brk,
        libc::SYS_mremap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        libc::SYS_clone,
        libc::SYS_clone3,
    ]
    .contains(&call.place.number)
}

/// Every how many cases one is tried.
fn step() -> usize {
    match std::env::var("GUIRA_FAULTS").as_deref() {
        Ok("all") => 1,
        Ok(number) => number.parse().expect("all, or a number"),
        Err(_) => 29,
    }
}

/// What is wrong with a run in which a call went wrong, if anything.
fn complaint(
    place: &Workplace,
    case: &Case,
    call: &Call,
    fault: Fault,
    before: &Files,
    whole: &Run,
    after: &Files,
) -> Option<String> {
    restore(place, before);
    let Run { end, stdout, stderr, was_met, .. } = run(place, case.arguments, case.input, Some((call.place, fault)));
    if !was_met {
        // A thread that waits for signals may still have calls to make when the program ends, and how often memory is asked
        // for depends on where it is.
        let may_be_left_out = call.place.thread > 0 || is_about_memory(call);
        return (!may_be_left_out).then(|| "the call is not made".to_owned());
    }
    let left = files(place);
    let state = |files: &Files| case.target.map(|target| files.get(target).cloned());
    let (is_old, is_new) = (state(&left) == state(before), state(&left) == state(after));
    if !is_old && !is_new {
        return Some("neither the old file nor the new one".to_owned());
    }
    if let Some(name) = before.keys().find(|name| case.target != Some(name) && left.get(*name) != before.get(*name)) {
        return Some(format!("{name} has changed"));
    }
    match (end, whole.end) {
        (End::Exited(status), End::Exited(expected)) if status == expected && status != 2 => {
            if !is_new {
                return Some("done, and the file is the old one".to_owned());
            }
            // The size of a file is left out where it is not known.
            let may_leave_out = case.arguments[0] == "info" && call.place.number == libc::SYS_statx;
            if stdout != whole.stdout && !may_leave_out {
                return Some("done, and it prints something else".to_owned());
            }
        }
        (End::Exited(2), _) => {
            // What is wrong with a file is what `verify` prints.
            let stdout = String::from_utf8_lossy(&stdout).into_owned();
            let verdict = stdout.lines().find(|line| !line.ends_with(": OK") && case.arguments[0] == "verify");
            let verdict = verdict.map(|line| format!("guira: {line}"));
            let line = verdict.as_deref().or(stderr.lines().last()).unwrap_or_default();
            let is_error_lost = call.place.number == libc::SYS_write && call.subject.ends_with("stderr");
            if !line.starts_with("guira: ") && !is_error_lost {
                return Some(format!("no message: {stderr}"));
            }
            // The temporary file is named for its target.
            let named = before.keys().map(String::as_str).chain(case.target).find(|name| call.subject.contains(name));
            if named.is_some_and(|name| !line.contains(name)) {
                return Some(format!("the message names no file: {stderr}"));
            }
            if is_new && !is_old && !stderr.contains("power failure") && !call.subject.ends_with("stdout") {
                return Some("the file is the new one, and the message does not say so".to_owned());
            }
        }
        // Where memory is refused to what can't report it, the process aborts, with a message.
        (End::Signaled(Signal::SIGABRT), _) if is_about_memory(call) => {}
        (End::Signaled(Signal::SIGKILL), _) if fault == Fault::Killed => {}
        _ => return Some(format!("it ended with {end:?}: {stderr}")),
    }
    tidiness(place, case, before, after, &left)
}

/// The next command leaves no temporary file, and the same command works again.
fn tidiness(place: &Workplace, case: &Case, before: &Files, after: &Files, left: &Files) -> Option<String> {
    let Some(target) = case.target else {
        return (left != before).then(|| "a command that reads has changed files".to_owned());
    };
    if left.get(target) == before.get(target) {
        let again = outcome(place.start(case.arguments), case.input);
        if again.status != 0 || files(place) != *after {
            return Some(format!("the same command then ends with {}: {}", again.status, again.stderr));
        }
    } else {
        let next = place.guira(["add", "-q", target]);
        if next.status != 0 || files(place) != *after {
            return Some(format!("the next command ends with {}: {}, {:?}", next.status, next.stderr, place.files()));
        }
    }
    None
}

#[test]
fn a_call_that_goes_wrong_leaves_the_old_file_or_the_new_one_and_a_message() {
    let place = prepared();
    if !is_permitted(&place) {
        return;
    }
    let before = files(&place);
    let step = step();
    let mut random = Random(std::env::var("GUIRA_FAULTS_SEED").map_or(1, |seed| seed.parse().expect("a number")));
    let (mut tried, mut wrong) = (0, Vec::new());
    for case in CASES {
        restore(&place, &before);
        let whole = run(&place, case.arguments, case.input, None);
        let after = files(&place);
        assert!(matches!(whole.end, End::Exited(0 | 1)), "{:?}: {}", case.arguments, whole.stderr);
        assert_eq!(case.target.is_some(), after != before, "{:?}", case.arguments);
        let mut count = 0;
        for call in &whole.calls {
            for fault in faults(call) {
                count += 1;
                if random.below(step) != 0 {
                    continue;
                }
                tried += 1;
                if let Some(complaint) = complaint(&place, case, call, fault, &before, &whole, &after) {
                    wrong.push(format!("{:?}, {call:?}, {fault:?}: {complaint}", case.arguments));
                }
            }
        }
        println!("{:?}: {} calls, {count} faults", case.arguments, whole.calls.len());
    }
    println!("{tried} cases were tried");
    assert!(wrong.is_empty(), "{} wrong of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

/// A run of a command as the disk sees it.
struct Record {
    case: &'static Case,
    effects: Vec<Effect>,
    initial: Disk,
    before: Files,
    after: Files,
}

fn disk(place: &Workplace) -> Disk {
    let mut disk = Disk::default();
    for name in place.files() {
        let inode = fs::metadata(place.path(&name)).expect("it is there").ino();
        disk.contents.insert(inode, place.read(&name));
        disk.names.insert(name, inode);
    }
    disk
}

/// Each command that changes files, run once, in which some calls may only pretend.
fn records(place: &Workplace, before: &Files, pretends: impl Fn(&Call) -> bool) -> Vec<Record> {
    let mut records = Vec::new();
    for case in CASES.iter().filter(|case| case.target.is_some()) {
        restore(place, before);
        let initial = disk(place);
        let whole = run(place, case.arguments, case.input, None);
        let after = files(place);
        let mut effects = whole.effects;
        if let Some(call) = whole.calls.iter().find(|call| pretends(call)) {
            restore(place, before);
            let initial = disk(place);
            let changed = run(place, case.arguments, case.input, Some((call.place, Fault::Pretended)));
            assert!(changed.was_met && changed.end == End::Exited(0), "{call:?}: {changed:?}");
            records.push(Record { case, effects: changed.effects, initial, before: before.clone(), after });
            continue;
        }
        effects.shrink_to_fit();
        records.push(Record { case, effects, initial, before: before.clone(), after });
    }
    records
}

/// What is wrong with the files after a loss of power.
fn complaint_after_loss(record: &Record, seed: u64) -> (Files, Option<String>) {
    let mut random = Random(seed);
    let Record { case, effects, initial, before, after } = record;
    let is_done = random.below(4) == 0;
    let kept = if is_done { effects.len() } else { random.below(effects.len() + 1) };
    let found = initial.clone().after_loss_of_power(&effects[..kept], &mut random);
    let target = case.target.expect("a command that changes a file");
    let state = found.get(target);
    let complaint = if is_done && state != after.get(target) {
        Some("done, and not on disk")
    } else if state != before.get(target) && state != after.get(target) {
        Some("neither the old file nor the new one")
    } else {
        None
    };
    (
        found,
        complaint.map(|what| format!("seed {seed}: {:?}, {kept} of {} effects: {what}", case.arguments, effects.len())),
    )
}

fn seeds() -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().map(|number: String| number.parse().expect("a number"));
    match number("GUIRA_DISK_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("GUIRA_DISK_SEEDS").unwrap_or(200),
    }
}

#[test]
fn a_loss_of_power_leaves_the_old_file_or_the_new_one_and_nothing_for_long() {
    let place = prepared();
    if !is_permitted(&place) {
        return;
    }
    let before = files(&place);
    let records = records(&place, &before, |_| false);
    for seed in seeds() {
        let record = &records[Random(!seed).below(records.len())];
        let (found, complaint) = complaint_after_loss(record, seed);
        assert_eq!(complaint, None);
        restore(&place, &found);
        let wrong = tidiness(&place, record.case, &before, &record.after, &found);
        assert_eq!(wrong, None, "seed {seed}: {:?}", record.case.arguments);
    }
}

/// How many seeds it takes until a loss of power shows what these programs do wrong.
fn seeds_until_noticed(records: &[Record]) -> Option<u64> {
    (0..200).find(|&seed| {
        let record = &records[Random(!seed).below(records.len())];
        complaint_after_loss(record, seed).1.is_some()
    })
}

#[test]
fn a_program_that_does_not_flush_is_noticed_within_200_seeds() {
    let place = prepared();
    if !is_permitted(&place) {
        return;
    }
    let before = files(&place);
    let flushes = |call: &Call| [libc::SYS_fsync, libc::SYS_fdatasync].contains(&call.place.number);
    let of_file = records(&place, &before, |call| flushes(call) && !Path::new(&call.subject).is_dir());
    let of_names = records(&place, &before, |call| flushes(call) && Path::new(&call.subject).is_dir());
    let mut too_early = records(&place, &before, |_| false);
    for record in &mut too_early {
        let place = |is: fn(&Effect) -> bool| record.effects.iter().position(is).expect("it is made");
        let flush = place(|effect| matches!(effect, Effect::Flush { .. }));
        let rename = place(|effect| matches!(effect, Effect::Rename { .. }));
        assert!(flush < rename);
        let effect = record.effects.remove(rename);
        record.effects.insert(flush, effect);
    }
    for (what, records) in [("file", of_file), ("directory", of_names), ("rename before flush", too_early)] {
        let noticed = seeds_until_noticed(&records);
        println!("{what}: noticed after {noticed:?} seeds");
        assert!(noticed.is_some(), "{what}: not noticed");
    }
}
