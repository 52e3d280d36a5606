//! Few changes of a large file are appended to it: whoever reads it finds them, and a crash loses none that was acknowledged.
//!
//! By default a few kills; `GUIRA_KILLS=1000 cargo test -p guira-cli --test guira journal -- --nocapture` makes more.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::thread;
use std::time::Instant;

use guira::raw::Journal;
use guira::{CuckooFilter, CuckooSet, FileHeader, LoadOptions};
use rustix::process::Signal;

use crate::replacement::send;
use crate::workplace::{GUIRA, Outcome, Workplace, outcome};

/// The bytes before the first record of a journal, and those of a record.
const START: usize = 24;
const RECORD: usize = 24;
/// With 32-bit fingerprints, the table has more than the 16 MiB from which on a file has a journal.
const CAPACITY: usize = 4_200_000;

fn lines(numbers: std::ops::Range<u32>) -> String {
    numbers.map(|number| format!("key {number}\n")).collect()
}

/// A directory with `set.guira`, a large file with `key 0` to `key 99`.
fn prepared() -> Workplace {
    let place = Workplace::new();
    place.build_with(&["--capacity", &CAPACITY.to_string(), "--note", "kept"], lines(0..100).as_bytes());
    place
}

fn done(place: &Workplace, arguments: &[&str], input: &str) -> Outcome {
    let outcome = place.guira_with(arguments, input.as_bytes());
    assert_eq!(outcome.status, 0, "{arguments:?}: {}", outcome.stderr);
    outcome
}

fn inode(place: &Workplace) -> u64 {
    fs::metadata(place.path("set.guira")).expect("it is there").ino()
}

/// The changes in the journal.
fn change_count(file: &[u8]) -> usize {
    let header = FileHeader::from_bytes(file).expect("whole");
    let end = usize::try_from(header.file_size()).expect("it was read");
    Journal::read(&header, &file[end..]).expect("whole").changes().len()
}

/// The file with its journal in the table.
fn folded(file: &[u8]) -> Vec<u8> {
    LoadOptions::new().from_bytes::<CuckooFilter>(file).expect("whole").to_bytes()
}

/// Sets have no journal: nothing is ever removed from them.
#[test]
fn nothing_is_appended_to_a_large_set() {
    let place = Workplace::new();
    let mut set = CuckooSet::builder().capacity(CAPACITY).false_positive_rate(1e-9).build().expect("memory for it");
    set.insert("ani").expect("it is empty");
    let file = set.to_bytes();
    assert!(file.len() > 16 << 20);
    place.write("set.guira", &file);
    for arguments in [&["add", "set.guira"][..], &["remove", "set.guira"], &["add", "--every", "1h", "set.guira"]] {
        let outcome = place.guira_with(arguments, b"koel\n");
        assert_eq!(outcome.status, 2, "{arguments:?}");
        assert!(outcome.stderr.contains("which this command is not for"), "{}", outcome.stderr);
        assert!(place.read("set.guira") == file, "{arguments:?}");
    }
}

#[test]
fn few_changes_are_appended_and_all_commands_find_them() {
    let place = prepared();
    let (old, number) = (place.read("set.guira"), inode(&place));
    place.write("two.guira", &old);
    place.write("backup.guira", &old);
    let same = |arguments: &[&str], input: &str| {
        let [first, second] = ["set.guira", "two.guira"].map(|file| {
            let with_file: Vec<&str> = arguments.iter().map(|&word| if word == "FILE" { file } else { word }).collect();
            let found = place.guira_with(with_file, input.as_bytes());
            (found.status, String::from_utf8(found.stdout).expect("UTF-8"), found.stderr).clone()
        });
        let of_first = |text: &str| text.replace("two.guira", "set.guira");
        assert_eq!(first, (second.0, of_first(&second.1), of_first(&second.2)), "{arguments:?}");
        first
    };
    let mut changes = 0;
    for (arguments, input, count) in [
        (&["add", "FILE"][..], "koel\n", 1),
        (&["add", "FILE"], "koel\nemu\nemu\n", 2),
        (&["add", "--unique", "FILE"], "koel\nrhea\n", 1),
        (&["add", "--json", "--no-grow", "FILE"], "ani\n", 1),
        (&["remove", "FILE"], "key 7\nkoel\nabsent\n", 2),
        (&["remove", "FILE"], "absent\n", 0),
        (&["add", "FILE"], "", 0),
    ] {
        // The other name must keep what it names, so the file is replaced.
        fs::hard_link(place.path("two.guira"), place.path("link")).expect("the file system has links");
        let before = place.read("two.guira");
        same(arguments, input);
        assert!(place.read("link") == before);
        fs::remove_file(place.path("link")).expect("it is there");
        changes += count;
        let new = place.read("set.guira");
        assert_eq!(new.len(), old.len() + START + RECORD * changes, "{arguments:?}");
        assert!(new.starts_with(&old) && inode(&place) == number, "{arguments:?}: bytes have changed");
        assert_eq!(change_count(&new), changes);
        assert!(folded(&new) == place.read("two.guira"), "{arguments:?}");
        assert_eq!(change_count(&place.read("two.guira")), 0);
    }
    let asked = lines(0..100) + "koel\nemu\nrhea\nani\nabsent\n";
    let (_, found, _) = same(&["check", "FILE"], &asked);
    assert_eq!(found, asked.replace("key 7\n", "").replace("absent\n", ""));
    same(&["check", "-v", "-c", "FILE"], &asked);
    same(&["check", "-o", "--verify", "FILE"], &asked);
    assert_eq!(same(&["count", "FILE", "koel", "key 7", "emu"], "").1, "1\tkoel\n0\tkey 7\n1\temu\n");
    assert_eq!(same(&["verify", "FILE"], "").0, 0);
    let info = String::from_utf8(done(&place, &["info", "set.guira"], "").stdout).expect("UTF-8");
    assert!(info.contains("103\n") && info.contains("7 changes"), "{info}");
    // Through a stream, and compressed.
    let piped = place.guira_with(["check", "-", "-e", "koel", "-e", "key 7"], &place.read("set.guira"));
    assert_eq!((piped.status, &*piped.stdout), (0, &b"koel\n"[..]), "{}", piped.stderr);
    // Whatever is written anew has it in its table.
    for arguments in [
        &["convert", "--layout", "semi-sorted", "-o", "new.guira", "FILE"][..],
        &["merge", "-o", "new.guira", "FILE", "backup.guira"],
    ] {
        let mut made = Vec::new();
        for file in ["set.guira", "two.guira"] {
            let words: Vec<&str> = arguments.iter().map(|&word| if word == "FILE" { file } else { word }).collect();
            done(&place, &words, "");
            made.push(place.read("new.guira"));
            fs::remove_file(place.path("new.guira")).expect("it is there");
        }
        assert!(made[0] == made[1] && change_count(&made[0]) == 0, "{arguments:?}");
    }
    assert_eq!(same(&["diff", "FILE", "backup.guira"], "").0, 1);
}

#[test]
fn many_changes_are_put_into_the_table() {
    let place = prepared();
    let number = inode(&place);
    let max_changes = u32::try_from(CAPACITY / 1000).expect("small");
    done(&place, &["add", "set.guira"], &lines(100..1000));
    assert_eq!((change_count(&place.read("set.guira")), inode(&place)), (900, number));
    done(&place, &["remove", "set.guira"], &lines(50..100));
    done(&place, &["add", "set.guira"], &lines(1000..max_changes + 50));
    assert_eq!(change_count(&place.read("set.guira")), CAPACITY / 1000);
    let with_journal = place.read("set.guira");
    done(&place, &["add", "set.guira"], "koel\n");
    let file = place.read("set.guira");
    assert!(inode(&place) != number && change_count(&file) == 0);
    let mut expected = LoadOptions::new().from_bytes::<CuckooFilter>(&with_journal).expect("whole");
    expected.insert("koel").expect("room");
    assert!(file == expected.to_bytes());
    // So many at once never go into a journal, whether the first of them were taken for it or not.
    done(&place, &["add", "set.guira"], "emu\n");
    let with_journal = place.read("set.guira");
    let many = lines(10_000..10_000 + max_changes);
    done(&place, &["add", "set.guira"], &many);
    let file = place.read("set.guira");
    assert_eq!(change_count(&file), 0);
    let mut expected = LoadOptions::new().from_bytes::<CuckooFilter>(&with_journal).expect("whole");
    expected.try_extend(many.lines()).expect("room");
    assert!(file == expected.to_bytes());
    let removed = done(&place, &["remove", "--json", "set.guira"], &many);
    assert!(String::from_utf8_lossy(&removed.stdout).contains(&format!("\"removed_count\": {max_changes}")));
    assert_eq!(change_count(&place.read("set.guira")), CAPACITY / 1000);
}

#[test]
fn a_filter_at_its_capacity_takes_no_key_into_its_journal() {
    let place = Workplace::new();
    let keys = u32::try_from(CAPACITY).expect("32 bits");
    place.build_with(&["--capacity", &CAPACITY.to_string()], lines(0..keys - 2).as_bytes());
    done(&place, &["add", "set.guira"], "koel\nemu\n");
    assert_eq!(change_count(&place.read("set.guira")), 2);
    // Beyond the capacity a key may fit or not: the table says so.
    let more = done(&place, &["add", "set.guira"], "rhea\n");
    assert!(more.stderr.contains("its capacity is 4,200,000"), "{}", more.stderr);
    assert_eq!(change_count(&place.read("set.guira")), 0);
    assert_eq!(place.check("koel\nemu\nrhea\nkey 0\nabsent\n"), b"koel\nemu\nrhea\nkey 0\n");
    // With one removed, there is room for one again.
    done(&place, &["remove", "set.guira"], "rhea\nemu\n");
    done(&place, &["add", "set.guira"], "ani\n");
    assert_eq!(change_count(&place.read("set.guira")), 3);
}

#[test]
fn copies_that_may_not_fit_are_not_put_into_the_journal() {
    let place = prepared();
    for copies in 1..=8 {
        done(&place, &["add", "-q", "set.guira"], "koel\n");
        assert_eq!(change_count(&place.read("set.guira")), if copies <= 4 { copies } else { 0 }, "{copies}");
    }
    let refused = place.guira_with(["add", "set.guira"], b"koel\nemu\n");
    assert!(refused.status == 2 && refused.stderr.contains("can't be stored once more"), "{}", refused.stderr);
    assert_eq!(place.check("koel\nemu\n"), b"koel\n");
    // Nothing was appended either.
    assert_eq!(change_count(&place.read("set.guira")), 0);
}

#[test]
fn what_was_not_written_to_its_end_is_ignored_and_left_out_by_the_next_change() {
    let place = prepared();
    let old = place.read("set.guira");
    done(&place, &["add", "set.guira"], "koel\n");
    let with_koel = place.read("set.guira");
    done(&place, &["add", "set.guira"], "emu\nrhea\n");
    let with_all = place.read("set.guira");
    for len in [old.len() + 1, old.len() + START, with_koel.len() + 1, with_all.len() - RECORD, with_all.len() - 1] {
        let has_koel = len >= with_koel.len();
        place.write("set.guira", &with_all[..len]);
        let expected = if has_koel { &b"koel\n"[..] } else { b"" };
        assert_eq!(place.check("koel\nemu\nrhea\n"), expected, "{len} bytes");
        // An empty journal is whole.
        let is_appended = len == old.len() + START;
        let verdict =
            if is_appended { "OK\n" } else { "OK; the last changes were not written to their end, and do not count\n" };
        let verified = place.guira(["verify", "set.guira"]);
        let text = format!("set.guira: {verdict}");
        assert_eq!((verified.status, String::from_utf8_lossy(&verified.stdout)), (0, text.into()), "{len} bytes");
        let info = String::from_utf8(place.guira(["info", "set.guira"]).stdout).expect("text");
        assert_eq!(info.contains("and some that were not written to their end"), !is_appended, "{len} bytes: {info}");
        done(&place, &["add", "set.guira"], "ani\n");
        assert_eq!(change_count(&place.read("set.guira")), usize::from(is_appended), "{len} bytes");
        assert_eq!(place.check("koel\nemu\nrhea\nani\n"), [expected, b"ani\n"].concat(), "{len} bytes");
    }
}

#[test]
fn a_damaged_journal_is_told_of_by_every_command() {
    let place = prepared();
    let old = place.read("set.guira");
    for key in ["koel\n", "emu\n"] {
        done(&place, &["add", "set.guira"], key);
    }
    let mut damaged = place.read("set.guira");
    damaged[old.len() + START + 3] ^= 1;
    place.write("set.guira", &damaged);
    for arguments in [
        &["check", "set.guira"][..],
        &["count", "set.guira", "koel"],
        &["info", "set.guira"],
        &["add", "set.guira"],
        &["remove", "set.guira"],
        &["merge", "--force", "-o", "set.guira", "set.guira"],
    ] {
        let refused = place.guira_with(arguments, b"rhea\n");
        assert!(refused.status == 2 && refused.stderr.contains("JRNL"), "{arguments:?}: {}", refused.stderr);
    }
    let verified = place.guira(["verify", "set.guira"]);
    assert!(verified.status == 2 && String::from_utf8_lossy(&verified.stdout).contains("JRNL"));
    assert!(place.read("set.guira") == damaged);
    // Something else at the end is no journal.
    place.write("set.guira", [&old[..], b"\n"].concat());
    let refused = place.guira_with(["add", "set.guira"], b"rhea\n");
    assert!(refused.stderr.contains("something was appended"), "{}", refused.stderr);
}

#[test]
fn keys_that_are_appended_are_followed_or_told_of_once() {
    let place = prepared();
    for follow in [true, false] {
        let mut child = place.start(&["check", "set.guira", "--follow"][..2 + usize::from(follow)]);
        let mut stdin = child.stdin.take().expect("a pipe");
        let mut printed = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut next = || printed.next().expect("a line").expect("text");
        stdin.write_all(b"key 1\n").expect("the program reads");
        assert_eq!(next(), "key 1");
        for number in 0..3 {
            let key = format!("new {number}, {follow}\n");
            done(&place, &["add", "set.guira"], &key);
            stdin.write_all(format!("{key}key 1\n").as_bytes()).expect("the program reads");
            if follow {
                assert_eq!(next(), key.trim_end());
            }
            assert_eq!(next(), "key 1");
        }
        drop(stdin);
        let told = child.wait_with_output().expect("it ends").stderr;
        let told = String::from_utf8(told).expect("UTF-8");
        assert_eq!(told.lines().count(), if follow { 3 } else { 1 }, "{told}");
        assert!(told.lines().all(|line| line.contains("set.guira: was added to")), "{told}");
    }
}

#[test]
fn keys_that_come_in_intervals_are_appended() {
    let place = prepared();
    let number = inode(&place);
    done(&place, &["add", "--every", "1h", "set.guira"], &lines(100..600));
    assert_eq!((change_count(&place.read("set.guira")), inode(&place)), (500, number));
    assert_eq!(place.check(lines(0..601)), lines(0..600).into_bytes());
}

#[test]
fn processes_that_append_at_once_lose_nothing() {
    let place = prepared();
    thread::scope(|scope| {
        for worker in 0..4 {
            let place = &place;
            scope.spawn(move || {
                for number in 0..10 {
                    done(place, &["add", "-q", "set.guira"], &format!("new {worker} {number}\n"));
                }
            });
        }
    });
    assert_eq!(change_count(&place.read("set.guira")), 40);
    let keys: String = (0..40).map(|number| format!("new {} {}\n", number / 10, number % 10)).collect();
    assert_eq!(place.check(&keys), keys.into_bytes());
}

#[test]
fn a_state_that_keys_were_appended_to_is_not_overwritten() {
    let place = prepared();
    let mut child = place.start(["unique", "--state", "set.guira"]);
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut printed = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    stdin.write_all(b"ani\n").expect("the program reads");
    assert_eq!(printed.next().expect("a line").expect("text"), "ani");
    done(&place, &["add", "set.guira"], "koel\n");
    drop(stdin);
    let ended = child.wait_with_output().expect("it ends");
    let told = String::from_utf8(ended.stderr).expect("UTF-8");
    assert!(ended.status.code() == Some(2) && told.contains("was changed by another process"), "{told}");
    assert_eq!(place.check("koel\n"), b"koel\n");
}

/// A limit on the size of files is met as a full disk is.
#[test]
fn a_full_disk_leaves_a_file_that_opens() {
    let place = prepared();
    done(&place, &["add", "set.guira"], "koel\n");
    let old = place.read("set.guira");
    let keys = lines(1000..1200);
    // In blocks of 512 bytes: the last one that is there, and a few more.
    for blocks in [old.len() / 512, old.len() / 512 + 3] {
        place.write("set.guira", &old);
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let child = place.command("sh", ["-c", &script, GUIRA, "add", "set.guira"]).spawn().expect("sh starts");
        let full = outcome(child, keys.as_bytes());
        assert!(full.status == 2 && full.stderr.contains("set.guira: File too large"), "{}", full.stderr);
        assert_eq!(place.check(format!("koel\n{keys}")), b"koel\n", "none of them, or all");
        done(&place, &["add", "set.guira"], &keys);
        assert_eq!(place.check(format!("koel\n{keys}")), format!("koel\n{keys}").into_bytes());
        assert!(
            folded(&place.read("set.guira")) == {
                let mut expected = LoadOptions::new().from_bytes::<CuckooFilter>(&old).expect("whole");
                expected.try_extend(keys.lines()).expect("room");
                expected.to_bytes()
            }
        );
    }
}

#[test]
fn kills_at_any_moment_lose_no_key_that_was_acknowledged() {
    let place = prepared();
    let begin = Instant::now();
    done(&place, &["add", "-q", "set.guira"], "koel\n");
    let duration = begin.elapsed();
    let kills = std::env::var("GUIRA_KILLS").map_or(60, |kills| kills.parse::<u32>().expect("a number of kills"));
    let (mut acknowledged, mut killed, mut unacknowledged) = (vec!["koel".to_owned()], 0, 0);
    for kill in 0..kills {
        let key = format!("new {kill}");
        let mut child = place.start(["add", "-q", "set.guira"]);
        writeln!(child.stdin.take().expect("a pipe"), "{key}").ok();
        // From the very beginning to a little past the end; which moment exactly, chance decides too.
        thread::sleep(duration.mul_f64(1.1 * f64::from(kill % 100) / 100.0));
        send(&child, Signal::KILL);
        let status = child.wait().expect("it has ended");
        assert!(status.success() || status.signal() == Some(Signal::KILL.as_raw()), "{kill}: {status}");
        let is_there = place.check(format!("{key}\n")) == format!("{key}\n").as_bytes();
        assert!(is_there || !status.success(), "{kill}: done, and not in the file");
        killed += u32::from(!status.success());
        unacknowledged += u32::from(is_there && !status.success());
        if status.success() {
            acknowledged.push(key);
        }
    }
    let text: String = acknowledged.iter().map(|key| format!("{key}\n")).collect();
    assert!(place.check(&text) == text.as_bytes());
    assert_eq!(place.guira(["verify", "set.guira"]).status, 0);
    done(&place, &["add", "-q", "set.guira"], "emu\n");
    assert_eq!(place.files().into_iter().collect::<BTreeSet<_>>(), BTreeSet::from(["set.guira".to_owned()]));
    println!(
        "{kills} adds of a key, {killed} killed, {} acknowledged, {unacknowledged} stored and not acknowledged, {} changes in the \
         journal",
        acknowledged.len() - 1,
        change_count(&place.read("set.guira"))
    );
}
