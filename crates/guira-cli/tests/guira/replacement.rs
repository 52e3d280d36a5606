//! Temporary files: who may read them, and that none is left.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process};

use crate::workplace::{GUIRA, Outcome, Workplace, outcome};

pub(crate) fn send(child: &Child, signal: Signal) {
    // A process that has ended stays one until it is waited for.
    kill_process(Pid::from_child(child), signal).expect("it is a child of this process");
}

/// Whether a signal is ignored by this process, as HUP is under `nohup`, and so by those that it starts.
pub(crate) fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.is_some_and(|mask| {
        u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask >> (signal.as_raw() - 1) & 1 == 1)
    })
}

fn temporary_files(place: &Workplace) -> Vec<String> {
    place.files().into_iter().filter(|name| name.ends_with(".guira-tmp")).collect()
}

/// More than any pipe holds: when it is written, the program is reading, and its temporary file is there.
fn feed(child: &mut Child, line: &str) {
    let stdin = child.stdin.as_mut().expect("a pipe");
    stdin.write_all(line.repeat(1 << 18).as_bytes()).expect("the program reads");
}

#[test]
fn a_signal_ends_the_program_by_that_signal_and_leaves_no_temporary_file() {
    let place = Workplace::new();
    place.build("ani\nguira\nkoel\n");
    let old = place.read("set.guira");
    for signal in [Signal::HUP, Signal::INT, Signal::TERM].into_iter().filter(|&signal| !is_ignored(signal)) {
        for command in [&["add", "set.guira"][..], &["remove", "set.guira"], &["build", "--force", "-o", "set.guira"]] {
            let mut child = place.start(command);
            feed(&mut child, "guira\n");
            assert_eq!(temporary_files(&place).len(), 1, "{command:?}");
            // While this is open, the program reads.
            let stdin = child.stdin.take();
            send(&child, signal);
            let status = child.wait().expect("it ends");
            assert_eq!(status.signal(), Some(signal.as_raw()), "{command:?}");
            drop(stdin);
            assert_eq!(place.files(), ["set.guira"], "{command:?}");
            assert_eq!(place.read("set.guira"), old, "{command:?}");
        }
    }
}

#[test]
fn a_signal_that_was_ignored_from_the_start_stays_ignored() {
    let place = Workplace::new();
    place.build("ani\n");
    for (name, signal) in [("HUP", Signal::HUP), ("INT", Signal::INT), ("TERM", Signal::TERM)] {
        let script = format!("trap '' {name}; exec \"$0\" \"$@\"");
        let mut child = place.command("sh", ["-c", &script, GUIRA, "add", "set.guira"]).spawn().expect("sh starts");
        feed(&mut child, "guira\n");
        send(&child, signal);
        assert_eq!(outcome(child, b"").status, 0, "{name}");
    }
}

#[test]
fn a_command_removes_what_killed_ones_have_left_of_its_file_and_nothing_else() {
    let place = Workplace::new();
    place.build("ani\n");
    let dead = [".set.guira.AAAAAAAAAAAA.guira-tmp", ".set.guira.b0b0b0b0b0b0.guira-tmp"];
    let locked = ".set.guira.CCCCCCCCCCCC.guira-tmp";
    let others = [
        ".link.guira.AAAAAAAAAAAA.guira-tmp",
        ".other.guira.AAAAAAAAAAAA.guira-tmp",
        ".set.guira.AAAAAAAAAAA-.guira-tmp",
        ".set.guira.AAAAAAAAAAAAA.guira-tmp",
        ".set.guira.guira-tmp",
        "set.guira.AAAAAAAAAAAA.guira-tmp",
    ];
    let (link, directory) = (".set.guira.DDDDDDDDDDDD.guira-tmp", ".set.guira.EEEEEEEEEEEE.guira-tmp");
    symlink("set.guira", place.path("link.guira")).expect("a link");
    for command in [
        &["add", "set.guira"][..],
        &["remove", "set.guira"],
        &["add", "link.guira"],
        &["build", "--force", "-o", "set.guira"],
        &["merge", "--force", "-o", "set.guira", "set.guira"],
    ] {
        dead.iter().chain(&others).chain([&locked]).for_each(|name| place.write(name, "something"));
        symlink("set.guira", place.path(link)).expect("a link");
        fs::create_dir(place.path(directory)).expect("a new directory");
        let lock = File::open(place.path(locked)).expect("it is there");
        flock(&lock, FlockOperation::LockExclusive).expect("nobody keeps it");
        let done = place.guira_with(command, b"ani\n");
        assert_eq!(done.status, 0, "{command:?}: {}", done.stderr);
        let mut expected = others.to_vec();
        expected.extend([locked, link, directory, "link.guira", "set.guira"]);
        expected.sort_unstable();
        assert_eq!(place.files(), expected, "{command:?}");
        fs::remove_dir(place.path(directory)).expect("it is there");
        fs::remove_file(place.path(link)).expect("it is there");
        place.build("ani\n");
    }
    // So does one that changes nothing and one that fails.
    for (command, status) in [(["add", "set.guira"], 0), (["shrink", "set.guira"], 2)] {
        place.write(dead[0], "something");
        assert_eq!(place.guira(command).status, status);
        assert!(!place.path(dead[0]).exists(), "{command:?}");
    }
}

#[test]
fn a_name_of_any_length_is_no_hindrance() {
    let place = Workplace::new();
    for name in ["x".repeat(255), "\u{fc}".repeat(127)] {
        let dead = format!(".{}.AAAAAAAAAAAA.guira-tmp", &name[..100]);
        assert_eq!(place.guira_with(["build", "-o", &name], b"ani\n").status, 0);
        place.write(&dead, "something");
        assert_eq!(place.guira_with(["add", &name], b"guira\n").status, 0);
        assert!(!place.path(&dead).exists());
    }
}

/// A private filter changes its place in the file system many times, and is never readable to others.
#[test]
fn a_temporary_file_is_private_even_where_the_umask_is_not() {
    let place = Workplace::new();
    place.build("ani\n");
    let mode = |name: &str| fs::metadata(place.path(name)).expect("a file").permissions().mode() & 0o777;
    for command in ["add set.guira", "remove set.guira", "build --force -o set.guira", "build -o new.guira"] {
        for permissions in [0o600, 0o644, 0o444] {
            place.build("ani\n");
            fs::set_permissions(place.path("set.guira"), fs::Permissions::from_mode(permissions)).expect("ours");
            let script = format!("umask 0; exec {GUIRA} {command}");
            let mut child = place.command("sh", ["-c", &script]).spawn().expect("sh starts");
            feed(&mut child, "ani\n");
            let temporary = temporary_files(&place);
            assert_eq!(temporary.len(), 1);
            assert_eq!(mode(&temporary[0]), 0o600, "{command} of a file of mode {permissions:o}");
            assert_eq!(outcome(child, b"").status, 0, "{command}");
            if command == "build -o new.guira" {
                // As the umask says.
                assert_eq!(mode("new.guira"), 0o666);
                fs::remove_file(place.path("new.guira")).expect("it is there");
            } else {
                assert_eq!(mode("set.guira"), permissions, "{command}");
            }
        }
    }
}

/// Only root can give files away.
#[test]
fn a_file_keeps_its_owner_and_its_group() {
    let place = Workplace::new();
    place.build("ani\n");
    if chown(place.path("set.guira"), Some(1234), Some(5678)).is_err() {
        println!("skipped: only root can give files away");
        return;
    }
    fs::set_permissions(place.path("set.guira"), fs::Permissions::from_mode(0o640)).expect("ours");
    assert_eq!(place.guira_with(["add", "set.guira"], b"guira\n").status, 0);
    let metadata = fs::metadata(place.path("set.guira")).expect("a file");
    assert_eq!((metadata.uid(), metadata.gid(), metadata.mode() & 0o777), (1234, 5678, 0o640));
}

/// Runs the program under `strace`, where that is installed and allowed.
fn under_strace(place: &Workplace, options: &str, arguments: &[&str], input: &[u8]) -> Option<Outcome> {
    let has_strace =
        Command::new("strace").args(["-o", "/dev/null", "true"]).status().is_ok_and(|status| status.success());
    if !has_strace {
        println!("skipped: strace is not installed or not allowed to trace");
        return None;
    }
    let script = format!("umask 0; exec strace -f -o trace {options} {GUIRA} \"$@\"");
    let arguments = [&["-c", &script, "sh"], arguments].concat();
    Some(outcome(place.command("sh", arguments).spawn().expect("sh starts"), input))
}

/// The system calls of a change.
fn traced(place: &Workplace, arguments: &[&str], input: &[u8]) -> Option<String> {
    let calls = "trace=openat,open,creat,write,pwrite64,writev,fchmod,chmod,fchmodat,fchown,chown,rename,renameat,renameat2,link,linkat";
    let traced = under_strace(place, &format!("-y -s 0 -e {calls}"), arguments, input)?;
    assert_eq!(traced.status, 0, "{}", traced.stderr);
    Some(String::from_utf8_lossy(&place.read("trace")).into_owned())
}

#[test]
#[cfg(target_os = "linux")]
fn a_trace_shows_no_moment_at_which_a_private_filter_is_in_a_more_open_file() {
    for command in [
        &["add", "set.guira"][..],
        &["remove", "set.guira"],
        &["build", "--force", "-o", "set.guira"],
        &["merge", "--force", "-o", "set.guira", "set.guira", "set.guira"],
    ] {
        let place = Workplace::new();
        place.build("ani\nguira\n");
        fs::set_permissions(place.path("set.guira"), fs::Permissions::from_mode(0o600)).expect("ours");
        let Some(trace) = traced(&place, command, b"ani\n") else {
            return;
        };
        let lines: Vec<&str> = trace.lines().filter(|line| line.contains(".set.guira.")).collect();
        let created: Vec<&&str> = lines.iter().filter(|line| line.contains("O_CREAT")).collect();
        assert_eq!(created.len(), 1, "{trace}");
        assert!(created[0].contains("O_EXCL") && created[0].contains(", 0600"), "{}", created[0]);
        assert!(lines.iter().any(|line| line.contains("write(")), "{trace}");
        // It has the right mode from the start, so nothing changes it.
        let changes: Vec<&&str> =
            lines.iter().filter(|line| line.contains("chmod") || line.contains("chown")).collect();
        assert!(changes.is_empty(), "{changes:?}");
        assert!(lines.iter().any(|line| line.contains("rename")), "{trace}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_that_can_not_be_locked_is_changed_all_the_same_and_it_is_said() {
    for command in [&["add", "set.guira"][..], &["build", "--force", "-o", "set.guira"]] {
        let place = Workplace::new();
        place.build("koel\n");
        let Some(done) = under_strace(&place, "-e inject=flock:error=ENOLCK", command, b"ani\n") else { return };
        let warning = "guira: warning: set.guira: can't be locked (No locks available): ";
        assert!(done.status == 0 && done.stderr.starts_with(warning), "{done:?}");
        assert_eq!(place.check("ani\n"), b"ani\n");
        assert_eq!(place.files(), ["set.guira", "trace"]);
    }
}

/// As NFS refuses to lock a file exclusively that was opened for reading only. The first lock is that of the old file.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_can_be_locked_only_for_writing_is_opened_for_writing() {
    let place = Workplace::new();
    place.build_with(&["--capacity", "100"], b"koel\n");
    let command = ["add", "set.guira"];
    let Some(done) = under_strace(&place, "-y -e inject=flock:error=EBADF:when=1", &command, b"ani\n") else { return };
    assert_eq!((done.status, &*done.stderr), (0, "guira: set.guira: 1 key added, 0 repeated lines left out\n"));
    let trace = String::from_utf8_lossy(&place.read("trace")).into_owned();
    let locks = trace.lines().filter(|line| line.contains("flock(") && line.contains("/set.guira>"));
    assert_eq!(locks.count(), 2, "{trace}");
}
