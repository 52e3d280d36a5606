//! Lines that are printed as soon as the input pauses.

use std::io::{BufRead, BufReader, Write};
use std::process::Child;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use crate::workplace::Workplace;

/// Reads lines on a thread of its own, so that one that never comes fails the test instead of blocking it.
fn lines_of(child: &mut Child) -> Receiver<String> {
    let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || stdout.lines().try_for_each(|line| sender.send(line.expect("UTF-8"))));
    lines
}

/// Writes each piece and waits for what it is to bring, with the input still open.
#[track_caller]
fn assert_prints_while_open(arguments: &[&str], exchanges: &[(&str, &[&str])]) {
    let place = Workplace::new();
    place.build("ani\nguira\n");
    let mut child = place.start([&["check", "set.guira"], arguments].concat());
    let mut stdin = child.stdin.take().expect("a pipe");
    let lines = lines_of(&mut child);
    for (written, expected) in exchanges {
        stdin.write_all(written.as_bytes()).expect("the program reads");
        for &line in *expected {
            let printed = lines.recv_timeout(Duration::from_secs(60));
            assert_eq!(printed.as_deref(), Ok(line), "{arguments:?}, after {written:?}");
        }
    }
    drop(stdin);
    assert_eq!(child.wait().expect("the program ends").code(), Some(0));
    assert_eq!(lines.recv_timeout(Duration::from_secs(60)), Err(mpsc::RecvTimeoutError::Disconnected));
}

#[test]
fn lines_are_printed_when_the_input_pauses() {
    let exchanges: [(&str, &[&str]); 4] =
        [("ani\n", &["ani"]), ("koel\nguira\nani\ngui", &["guira", "ani"]), ("ra\n", &["guira"]), ("koel\n", &[])];
    assert_prints_while_open(&[], &exchanges);
    assert_prints_while_open(&["--line-buffered"], &exchanges);
    assert_prints_while_open(&["--csv", "-f1"], &exchanges);
    assert_prints_while_open(&["-f1", "-d,"], &exchanges);
    assert_prints_while_open(&["-o"], &exchanges);
    assert_prints_while_open(&["-f1,2", "-dblanks"], &exchanges);
}

#[test]
fn lines_of_other_forms_are_printed_when_the_input_pauses() {
    assert_prints_while_open(&["-n"], &[("koel\nani\n", &["2:ani"]), ("koel\nko", &[]), ("el\nani\n", &["5:ani"])]);
    assert_prints_while_open(&["-v"], &[("koel\n", &["koel"]), ("ani\nemu\n", &["emu"])]);
    let json: [(&str, &[&str]); 2] = [("{\"k\":\"ani\"}\n{\"k\"", &["ani"]), (":\"guira\"}\n", &["guira"])];
    assert_prints_while_open(&["--json-field", "k", "-o"], &json);
    assert_prints_while_open(&["--header", "k", "-o"], &[("k\n", &[]), ("ani\n", &["ani"]), ("guira\n", &["guira"])]);
}

/// A quote opens a field only at its start, in the header as in the other rows.
#[test]
fn quotes_within_names_of_a_header_open_nothing() {
    let place = Workplace::new();
    for header in [
        "id,size 24\",name",
        "id,\"a, \"\"b\"\"\",name",
        "id,\"a\nb\",name",
        "\"id\",\"\",\"name\"",
        "id,\"a\"b\",name",
    ] {
        let rows = format!("{header}\n1,x,ani\n2,y\"z,\"guira\"\n");
        place.build_with(&["--csv", "--header", "name"], rows.as_bytes());
        assert_eq!(place.check("ani\nname\nguira\nx\n"), b"ani\nguira\n", "{header}");
    }
}

#[test]
fn line_numbers_are_those_of_lines_in_rows_that_have_several() {
    let place = Workplace::new();
    place.build("ani\nguira\n");
    let input = b"name,note\nani,\"a\nb\"\n\nguira,\nani,x";
    let printed = |arguments: &[&str]| {
        place.guira_with([&["check", "-n", "-o", "--csv", "set.guira"], arguments].concat(), input).stdout
    };
    assert_eq!(printed(&["--field", "1"]), b"2:ani\n5:guira\n6:ani\n");
    assert_eq!(printed(&["--header", "name"]), b"2:ani\n5:guira\n6:ani\n");
    assert_eq!(printed(&["--field", "1", "-m", "2"]), b"2:ani\n5:guira\n");
}
