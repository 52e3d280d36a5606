//! Each system call of each command goes wrong once, in each way that it can; and the power fails after each. So do those by
//! which the library and the Python package save and load.
//!
//! By default a part of the cases, which a seed chooses and a failure prints. `GUIRA_FAULTS=all cargo test -p guira-cli --test
//! guira faults -- --nocapture` tries all of them, and says how many there are; `GUIRA_FAULTS=N` tries every N-th.
//! `GUIRA_DISK_SEEDS=5000` sets the number of losses of power, and `GUIRA_DISK_SEED=N` tries one again. The Python package is
//! tried in place of the tool and the library where `GUIRA_FAULTS_PYTHON` names an interpreter that has it.

mod cases;
mod disk;
mod library;
mod server;
mod tracer;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::Signal;

use crate::workplace::{Workplace, outcome};
use cases::{Case, Program, State, Target, World, cases, is_same};
use disk::{Disk, Effect, Random};
use tracer::{Call, End, Fault, Run, is_permitted, run};

type Files = BTreeMap<String, Vec<u8>>;

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
        libc::SYS_connect => refused(&[Errno::ECONNREFUSED, Errno::ETIMEDOUT, Errno::ENETUNREACH]),
        libc::SYS_sendto | libc::SYS_sendmsg => {
            [refused(&[Errno::ECONNRESET, Errno::EPIPE, Errno::EINTR, Errno::ENOBUFS]), vec![Fault::Short]].concat()
        }
        libc::SYS_recvfrom | libc::SYS_recvmsg => {
            [refused(&[Errno::ECONNRESET, Errno::ETIMEDOUT, Errno::EINTR]), vec![Fault::Short]].concat()
        }
        libc::SYS_poll | libc::SYS_ppoll => refused(&[Errno::EINTR, Errno::ENOMEM]),
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
        Err(_) => 37,
    }
}

/// Whether a call is about the server: such a message names its address.
fn is_about_server(call: &Call) -> bool {
    call.place.number == libc::SYS_socket || call.subject.starts_with("socket:")
}

/// What is wrong with a run in which a call went wrong, if anything.
fn complaint(
    world: &World,
    case: &Case,
    call: &Call,
    fault: Fault,
    before: &State,
    whole: &Run,
    after: &State,
) -> Option<String> {
    world.restore(before);
    let Run { end, stdout, stderr, was_met, .. } = run(&world.place, case, Some((call.place, fault)));
    if !was_met {
        // A thread that waits for signals may still have calls to make when the program ends, how often memory is asked for
        // depends on where it is, and a reply comes in as many parts as chance will have it.
        let may_be_left_out = call.place.thread > 0 || is_about_memory(call) || call.place.number == libc::SYS_recvfrom;
        return (!may_be_left_out).then(|| "the call is not made".to_owned());
    }
    let left = world.state();
    let is_old = left.agrees_on(&case.target, before);
    // A command that changes something leaves another file.
    let is_new = (!is_old || case.target == Target::Nothing) && left.agrees_on(&case.target, after);
    if !is_old && !is_new {
        return Some("neither the old one nor the new one".to_owned());
    }
    let changed = |name: &&String| case.file() != Some(name) && left.files.get(*name) != before.files.get(*name);
    if let Some(name) = before.files.keys().find(changed) {
        return Some(format!("{name} has changed"));
    }
    let is_target = |name: &[u8]| matches!(case.target, Target::Key(target) if target.as_bytes() == name);
    for (name, value) in left.keys.iter().filter(|(name, value)| !value.expires && !is_target(name)) {
        if before.keys.get(name) != Some(value) {
            return Some(format!("the key {} stays in the server", String::from_utf8_lossy(name)));
        }
    }
    match (end, whole.end) {
        (End::Exited(status), End::Exited(expected)) if status == expected && status != 2 => {
            if !is_new {
                return Some("done, and the old one is there".to_owned());
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
            let names = before.files.keys().map(String::as_str).chain(case.file());
            let named = names.into_iter().find(|name| call.subject.contains(name));
            if named.is_some_and(|name| !line.contains(name)) {
                return Some(format!("the message names no file: {stderr}"));
            }
            if is_about_server(call) && !line.contains("redis://127.0.0.1:") {
                return Some(format!("the message names no address: {stderr}"));
            }
            let says_so = ["power failure", "may be there"].iter().any(|words| stderr.contains(words));
            if is_new && !is_old && !says_so && !call.subject.ends_with("stdout") {
                return Some(format!("the new one is there, and the message does not say so: {stderr}"));
            }
        }
        // Where memory is refused to what can't report it, the process aborts, with a message.
        (End::Signaled(Signal::SIGABRT), _) if is_about_memory(call) => {}
        (End::Signaled(Signal::SIGKILL), _) if fault == Fault::Killed => {}
        _ => return Some(format!("it ended with {end:?}: {stderr}")),
    }
    tidiness(world, case, before, after, &left)
}

/// The next command leaves no temporary file, and the same command works again.
fn tidiness(world: &World, case: &Case, before: &State, after: &State, left: &State) -> Option<String> {
    let again = || {
        let again = outcome(world.command(&case.words()).spawn().expect("it starts"), case.input);
        (again.status != 0).then(|| format!("the same command then ends with {}: {}", again.status, again.stderr))
    };
    match case.target {
        Target::Nothing => (left != before).then(|| "a command that reads has changed something".to_owned()),
        Target::Key(_) => {
            let is_done = left.agrees_on(&case.target, after);
            let wrong = if is_done { None } else { again() };
            let is_there = || world.state().agrees_on(&case.target, after);
            wrong.or_else(|| (!is_there()).then(|| "the same command does not push then".to_owned()))
        }
        Target::File(target) => {
            if left.agrees_on(&case.target, before) {
                return again().or_else(|| {
                    let is_as_after = world.state().has_files_of(after);
                    (!is_as_after).then(|| format!("the same command then leaves {:?}", world.place.files()))
                });
            }
            let next = outcome(world.command(&case.next(target)).spawn().expect("it starts"), b"");
            let is_as_after = next.status == 0 && world.state().has_files_of(after);
            let files = world.place.files();
            (!is_as_after).then(|| format!("the next command ends with {}: {}, {files:?}", next.status, next.stderr))
        }
    }
}

/// Runs a command with nothing wrong, and returns what it came to.
fn whole(world: &World, case: &Case, before: &State) -> (Run, State) {
    world.restore(before);
    let whole = run(&world.place, case, None);
    let after = world.state();
    // That no key is found is not wrong.
    let is_done = whole.end == End::Exited(0) || (case.program == Program::Tool && whole.end == End::Exited(1));
    assert!(is_done, "{case:?}: {}", whole.stderr);
    assert_eq!(case.target != Target::Nothing, after != *before, "{case:?}");
    if let (Program::Tool, Target::File(target)) = (case.program, &case.target) {
        let verified = world.place.guira(["verify", target]);
        assert_eq!(verified.status, 0, "{case:?}: {}", verified.stderr);
    }
    (whole, after)
}

#[test]
fn a_call_that_goes_wrong_leaves_the_old_file_or_the_new_one_and_a_message() {
    let world = World::new();
    if !is_permitted(&world.place) {
        return;
    }
    let prepared = world.state();
    let step = step();
    let mut random = Random(std::env::var("GUIRA_FAULTS_SEED").map_or(1, |seed| seed.parse().expect("a number")));
    let (mut calls, mut all, mut tried, mut wrong) = (0, 0, 0, Vec::new());
    for case in cases(&world.server) {
        let before = prepared.before(&case);
        let (whole, after) = whole(&world, &case, &before);
        let mut count = 0;
        for call in &whole.calls {
            for fault in faults(call) {
                count += 1;
                if random.below(step) != 0 {
                    continue;
                }
                tried += 1;
                if let Some(complaint) = complaint(&world, &case, call, fault, &before, &whole, &after) {
                    wrong.push(format!("{:?} {:?}, {call:?}, {fault:?}: {complaint}", case.program, case.arguments));
                }
            }
        }
        calls += whole.calls.len();
        all += count;
        println!("{:?} {:?}: {} calls, {count} faults", case.program, case.arguments, whole.calls.len());
    }
    println!("{calls} calls, {all} faults, of which {tried} were tried");
    assert!(wrong.is_empty(), "{} wrong of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

/// A run of a command as the disk sees it.
struct Record {
    case: Case,
    effects: Vec<Effect>,
    initial: Disk,
    before: State,
    after: State,
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
fn records(world: &World, prepared: &State, pretends: impl Fn(&Call) -> bool) -> Vec<Record> {
    let mut records = Vec::new();
    for case in cases(&world.server).into_iter().filter(|case| case.file().is_some()) {
        let before = prepared.before(&case);
        let (whole, after) = whole(world, &case, &before);
        let pretended = whole.calls.iter().find(|call| pretends(call)).map(|call| (call.place, Fault::Pretended));
        // Files have other inodes in each run.
        world.restore(&before);
        let initial = disk(&world.place);
        let run = run(&world.place, &case, pretended);
        assert!(run.was_met == pretended.is_some() && run.end == End::Exited(0), "{case:?}: {run:?}");
        records.push(Record { case, effects: run.effects, initial, before, after });
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
    let is_as = |state: &State| is_same(case.file().expect("a command that changes a file"), &found, &state.files);
    let complaint = if is_done && !is_as(after) {
        Some("done, and not on disk")
    } else if !is_as(before) && !is_as(after) {
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
    let world = World::new();
    if !is_permitted(&world.place) {
        return;
    }
    let records = records(&world, &world.state(), |_| false);
    for seed in seeds() {
        let record = &records[Random(!seed).below(records.len())];
        let (found, complaint) = complaint_after_loss(record, seed);
        assert_eq!(complaint, None);
        world.restore_files(&found);
        let left = State { files: found, keys: record.before.keys.clone() };
        let wrong = tidiness(&world, &record.case, &record.before, &record.after, &left);
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
    let world = World::new();
    if !is_permitted(&world.place) {
        return;
    }
    let prepared = world.state();
    let flushes = |call: &Call| [libc::SYS_fsync, libc::SYS_fdatasync].contains(&call.place.number);
    let of_file = records(&world, &prepared, |call| flushes(call) && !Path::new(&call.subject).is_dir());
    let of_names = records(&world, &prepared, |call| flushes(call) && Path::new(&call.subject).is_dir());
    let mut too_early = records(&world, &prepared, |_| false);
    let is_rename = |effect: &Effect| matches!(effect, Effect::Rename { .. });
    too_early.retain(|record| record.effects.iter().any(is_rename));
    for record in &mut too_early {
        let place = |is: fn(&Effect) -> bool| record.effects.iter().position(is).expect("it is made");
        let flush = place(|effect| matches!(effect, Effect::Flush { .. }));
        let rename = place(is_rename);
        assert!(flush < rename);
        let effect = record.effects.remove(rename);
        record.effects.insert(flush, effect);
    }
    let is_appended = |record: &Record| record.case.file() == Some("journal.guira");
    let (of_journal, of_file): (Vec<_>, Vec<_>) = of_file.into_iter().partition(is_appended);
    // The package of Python replaces files, and appends to none.
    let appends = std::env::var_os("GUIRA_FAULTS_PYTHON").is_none();
    assert_eq!(of_journal.len(), usize::from(appends));
    let journal = appends.then_some(("journal", of_journal));
    let replaced = [("file", of_file), ("directory", of_names), ("rename before flush", too_early)];
    for (what, records) in replaced.into_iter().chain(journal) {
        let noticed = seeds_until_noticed(&records);
        println!("{what}: noticed after {noticed:?} seeds");
        assert!(noticed.is_some(), "{what}: not noticed");
    }
}
