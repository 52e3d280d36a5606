//! What is shown on a terminal, and nowhere else: how far the work is.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::workplace::{GUIRA, Workplace};

/// A terminal: what is written to its own side is read from the other one.
struct Terminal {
    reader: File,
    writer: File,
}

impl Terminal {
    fn new() -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&controller).expect("ours");
        unlockpt(&controller).expect("ours");
        let name = ptsname(&controller, Vec::new()).expect("it has a name");
        let path = std::ffi::OsStr::from_bytes(name.as_bytes());
        let terminal = rustix::fs::open(path, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("ours");
        Self { reader: File::from(controller), writer: File::from(terminal) }
    }

    fn writer(&self) -> Stdio {
        Stdio::from(self.writer.try_clone().expect("an open file"))
    }

    /// All that is written to it, up to something that is waited for, or until nobody is left who could write.
    fn text_until(self, awaited: &str) -> String {
        let Self { mut reader, writer } = self;
        drop(writer);
        let (mut text, mut piece) = (String::new(), [0; 1 << 12]);
        // A terminal that nobody writes to any more gives an error, and no end of file.
        while let Ok(size @ 1..) = reader.read(&mut piece) {
            text += &String::from_utf8_lossy(&piece[..size]);
            if text.contains(awaited) {
                break;
            }
        }
        text
    }
}

/// Starts a count of the keys between NUL bytes, of which there are so many that no thread counts them within a second.
fn long_count(place: &Workplace, stderr: Stdio, stdout: Stdio) -> Child {
    place.build_with(&["-z"], b"ani\0");
    File::create(place.path("zeros")).and_then(|file| file.set_len(1 << 30)).expect("a file full of holes");
    let mut command = place.command(GUIRA, ["check", "--threads", "1", "-z", "-c", "set.guira", "zeros"]);
    command.env("TERM", "xterm").stdin(Stdio::null()).stdout(stdout).stderr(stderr).spawn().expect("the program starts")
}

#[test]
fn a_terminal_shows_how_far_long_work_is_how_fast_and_how_long_it_will_take() {
    let place = Workplace::new();
    let terminal = Terminal::new();
    let mut child = long_count(&place, terminal.writer(), Stdio::null());
    let text = terminal.text_until(" left");
    child.kill().expect("a child of this process");
    child.wait().expect("it has ended");
    for part in ["reading ", " of 1.00 GiB, ", "/s, ", " left"] {
        assert!(text.contains(part), "{part:?} in {text:?}");
    }
    // Nor is it said that a thread were so fast.
    assert!(!text.contains("GiB/s") && !text.contains("TiB/s"), "{text:?}");
}

/// Longer than what shows nothing anyway.
fn check_slowly(place: &Workplace, stderr: Stdio, stdout: Stdio) -> Child {
    let mut command = place.command(GUIRA, ["check", "set.guira"]);
    let mut child = command.env("TERM", "xterm").stdout(stdout).stderr(stderr).spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    for lines in ["ani\n", "koel\n", "ani\n"] {
        stdin.write_all(lines.as_bytes()).expect("the program reads");
        std::thread::sleep(Duration::from_millis(700));
    }
    child
}

#[test]
fn nothing_is_shown_where_standard_error_is_no_terminal() {
    let place = Workplace::new();
    place.build("ani\n");
    let output = check_slowly(&place, Stdio::piped(), Stdio::piped()).wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), output.stderr, output.stdout), (Some(0), vec![], b"ani\nani\n".to_vec()));
}

#[test]
fn nothing_is_shown_among_lines_on_the_same_terminal() {
    let place = Workplace::new();
    place.build("ani\n");
    let terminal = Terminal::new();
    let mut child = check_slowly(&place, terminal.writer(), terminal.writer());
    assert_eq!(terminal.text_until("no such line"), "ani\r\nani\r\n");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}
