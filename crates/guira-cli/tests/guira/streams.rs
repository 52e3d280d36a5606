//! Lines of all kinds, from files and pipes.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use crate::workplace::{GUIRA, Workplace, outcome};

/// The size of the blocks in which the program reads, where something could go wrong.
const BLOCK: usize = 1 << 20;

#[test]
fn standard_input_is_read_where_no_input_is_named_and_for_a_dash() {
    let place = Workplace::new();
    place.write("first", "ani\n");
    place.write("last", "tero\n");
    let built = place.guira_with(["build", "-o", "set.guira", "first", "-", "last"], b"guira\n");
    assert_eq!((built.status, &*built.stderr), (0, "guira: set.guira: 3 keys, 0 repeated lines left out\n"));

    assert_eq!(place.check("guira\nani\ntero\n"), b"guira\nani\ntero\n");
    let checked = place.guira_with(["check", "--no-filename", "set.guira", "first", "-", "last"], b"guira\n");
    assert_eq!(checked.stdout, b"ani\nguira\ntero\n");
}

#[test]
fn a_long_line_is_one_key_wherever_the_blocks_end() {
    let place = Workplace::new();
    for length in [BLOCK - 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 17] {
        let long = "x".repeat(length);
        place.build(format!("before\n{long}\nafter\n"));
        let lines = format!("before\n{long}\n{long}x\n{}y\nafter\n", &long[1..]);
        assert_eq!(place.check(&lines), format!("before\n{long}\nafter\n").as_bytes(), "{length} bytes");
        // The last line, without an end.
        assert_eq!(place.check(&long), format!("{long}\n").as_bytes(), "{length} bytes");
    }
}

#[test]
fn a_last_line_without_an_end_is_a_line_and_is_printed_with_one() {
    let place = Workplace::new();
    place.build("ani\nguira");
    assert_eq!(place.check("guira\nani"), b"guira\nani\n");
    // Where it is not selected there is no end to add.
    assert_eq!(place.check("guira\nkoel"), b"guira\n");
}

#[test]
fn inputs_are_not_joined_where_an_end_is_missing() {
    let place = Workplace::new();
    place.build("ani\nguira\n");
    place.write("first", "ani");
    place.write("second", "guira");
    let checked = place.guira(["check", "--no-filename", "set.guira", "first", "second"]);
    assert_eq!(checked.stdout, b"ani\nguira\n");
}

#[test]
fn a_carriage_return_belongs_to_the_line_end_and_nowhere_else() {
    let place = Workplace::new();
    place.build("ani\r\nguira\nkoel\r\r\nte\rro\n");
    assert_eq!(place.check("ani\nguira\r\n"), b"ani\nguira\r\n");
    assert_eq!(place.check("koel\nkoel\r\nkoel\r\r\n"), b"koel\r\r\n");
    assert_eq!(place.check("te\rro\nte\n"), b"te\rro\n");
    // Without a line feed it is a byte as any other.
    assert_eq!(place.check("ani\r"), b"");
    assert_eq!(place.check("koel\r"), b"koel\r\n");
}

#[test]
fn any_bytes_make_a_key() {
    let place = Workplace::new();
    let keys: &[u8] = b"\0\n\0\0\na\0b\n\xff\xfe\ngr\xfcn\n\xf0\x9f\x90\xa6\n\x1b[31m\n";
    place.build(keys);
    assert_eq!(place.check(keys), keys);
    assert_eq!(place.check(b"a\n\0\0\0\n\xff\ngr\xc3\xbcn\na\0\nb\n"), b"");
}

#[test]
fn an_empty_line_is_the_empty_key() {
    let place = Workplace::new();
    place.build("\n");
    assert_eq!(place.check("\n"), b"\n");
    assert_eq!(place.check("\r\nani\n\n"), b"\r\n\n");
    place.build("ani\n");
    assert_eq!(place.check("\n\r\n"), b"");
}

#[test]
fn no_key_and_one_key_make_filters_that_work() {
    let place = Workplace::new();
    let built = place.guira_with(["build", "-o", "none.guira"], b"");
    assert_eq!(built.status, 0);
    assert!(built.stderr.contains("no keys in the input"), "{}", built.stderr);
    assert_eq!(place.guira_with(["check", "-c", "none.guira"], b"ani\n\n").stdout, b"0\n");
    let added = place.guira_with(["add", "none.guira"], b"ani\n");
    assert_eq!((added.status, &*added.stderr), (0, "guira: none.guira: 1 key added, 0 repeated lines left out\n"));
    assert_eq!(place.guira_with(["check", "none.guira"], b"ani\n").stdout, b"ani\n");

    place.build("ani");
    assert_eq!(place.check("ani\nkoel\n"), b"ani\n");
}

/// Every second number is in the set, so that selected lines stand alone, side by side, and across blocks.
#[test]
fn what_check_selects_is_what_a_set_of_strings_selects() {
    let place = Workplace::new();
    let mut random = 1u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let keys: HashSet<String> = (0..100_000).map(|_| (2 * next(100_000)).to_string()).collect();
    let mut input = String::new();
    let (mut selected, mut others) = (String::new(), String::new());
    while input.len() < 3 * BLOCK {
        let key = next(200_000).to_string();
        let line = format!("{key}{}", if next(4) == 0 { "\r\n" } else { "\n" });
        input += &line;
        if keys.contains(&key) { &mut selected } else { &mut others }.push_str(&line);
    }
    place.build(keys.into_iter().collect::<Vec<_>>().join("\n"));
    place.write("input", &input);

    let printed = |arguments: &[&str]| place.guira([&["check", "set.guira", "input"], arguments].concat()).stdout;
    assert!(printed(&[]) == selected.as_bytes());
    assert!(printed(&["-v"]) == others.as_bytes());
    assert_eq!(printed(&["-c"]), format!("{}\n", selected.lines().count()).as_bytes());
    assert_eq!(printed(&["-cv"]), format!("{}\n", others.lines().count()).as_bytes());
}

#[test]
fn lines_that_come_in_pieces_are_put_together() {
    let place = Workplace::new();
    place.build("ani\nguira\n");
    let mut child = place.start(["check", "set.guira"]);
    let mut stdin = child.stdin.take().expect("a pipe");
    for piece in ["a", "n", "i\ngui", "", "ra\n\nko", "el", "\nani"] {
        stdin.write_all(piece.as_bytes()).expect("the program reads");
        stdin.flush().expect("the program reads");
        std::thread::yield_now();
    }
    drop(stdin);
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.stdout, b"ani\nguira\nani\n");
}

/// Threads that far outnumber the processors wait for each other: a thousand took two hundred times as long.
#[test]
#[cfg(target_os = "linux")]
fn no_more_threads_are_started_than_processors_have_work_for() {
    let place = Workplace::new();
    place.build("ani\n");
    let mut child = place.start(["check", "--threads", "4096", "set.guira"]);
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(b"ani\n").expect("the program reads");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("the program writes");
    // It has begun, so its threads are there.
    let threads = std::fs::read_dir(format!("/proc/{}/task", child.id())).expect("it runs").count();
    drop(stdin);
    assert_eq!((child.wait().expect("the program ends").code(), &*line), (Some(0), "ani\n"));
    let processors = std::thread::available_parallelism().expect("Linux tells").get();
    // And the first, which reads.
    assert!(threads <= 4 * processors + 1, "{threads} threads");
}

#[test]
fn quiet_does_not_wait_for_the_end_of_the_input() {
    let place = Workplace::new();
    place.build("ani\n");
    let mut child = place.start(["check", "--quiet", "set.guira"]);
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(b"koel\nani\n").expect("the program reads");
    // More than any pipe holds: writing it all would mean that it is read.
    let rest = "koel\n".repeat(8 * BLOCK);
    assert!(stdin.write_all(rest.as_bytes()).is_err());
    assert_eq!(child.wait().expect("the program ends").code(), Some(0));
}

#[test]
fn a_reader_that_has_enough_ends_the_work_quietly() {
    let place = Workplace::new();
    place.build("ani\n");
    place.write("input", "ani\n".repeat(BLOCK));
    let mut child = place.start(["check", "set.guira", "input"]);
    let mut first = String::new();
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    stdout.read_line(&mut first).expect("a line");
    assert_eq!(first, "ani\n");
    drop(stdout);
    let mut stderr = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut stderr).expect("UTF-8");
    assert_eq!((child.wait().expect("the program ends").code(), &*stderr), (Some(0), ""));
}

#[test]
fn a_reader_that_never_listens_changes_no_exit_status() {
    let place = Workplace::new();
    place.build("ani\n");
    let status = |arguments: &[&str], input: &[u8]| {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let child = place.command(GUIRA, arguments).stdout(writer).spawn().expect("the program starts");
        let outcome = outcome(child, input);
        assert_eq!(outcome.stderr, "", "{arguments:?}");
        outcome.status
    };
    assert_eq!(status(&["check", "set.guira"], b"ani\n"), 0);
    assert_eq!(status(&["check", "set.guira"], b"koel\n"), 1);
    assert_eq!(status(&["check", "-c", "set.guira"], b"koel\n"), 1);
    assert_eq!(status(&["info", "set.guira"], b""), 0);
    assert_eq!(status(&["info", "--json", "set.guira"], b""), 0);
    assert_eq!(status(&["plan", "--capacity", "10", "--rate", "0.1"], b""), 0);
    assert_eq!(status(&["--help"], b""), 0);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let place = Workplace::new();
    place.build("ani\n");
    for arguments in [&["check", "set.guira"][..], &["check", "-c", "set.guira"], &["info", "set.guira"], &["--help"]] {
        let full = std::fs::File::create("/dev/full").expect("a device that is always full");
        let child = place.command(GUIRA, arguments).stdout(full).spawn().expect("the program starts");
        let outcome = outcome(child, b"ani\n");
        let expected = (2, "guira: standard output: No space left on device\n");
        assert_eq!((outcome.status, &*outcome.stderr), expected, "{arguments:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told_once() {
    let place = Workplace::new();
    place.build("ani\n");
    place.write("input", "ani\nkoel\n".repeat(BLOCK));
    let full = std::fs::File::create("/dev/full").expect("a device that is always full");
    let mut command = place.command(GUIRA, ["check", "set.guira", "input", "input"]);
    let outcome = outcome(command.stdout(full).spawn().expect("the program starts"), b"");
    assert_eq!((outcome.status, &*outcome.stderr), (2, "guira: standard output: No space left on device\n"));
}

/// What was done is done, and whoever does it again, since it seems to have failed, has each key twice.
#[test]
#[cfg(target_os = "linux")]
fn a_report_that_can_not_be_written_says_what_is_done() {
    let place = Workplace::new();
    place.build("ani\n");
    let run = |arguments: &[&str], keys: &[u8]| {
        let full = std::fs::File::create("/dev/full").expect("a device that is always full");
        let outcome = outcome(place.command(GUIRA, arguments).stdout(full).spawn().expect("the program starts"), keys);
        (outcome.status, outcome.stderr)
    };
    let full = "guira: standard output: No space left on device";
    let done = (2, format!("{full}; all was done before, and needs no second try\n"));
    let count = |key: &str| place.guira(["count", "set.guira", key]).stdout;
    for (command, kept) in [("add", &b"1\tkoel\n"[..]), ("remove", b"0\tkoel\n")] {
        assert_eq!(run(&[command, "--json", "set.guira"], b"koel\n"), done, "{command}");
        assert_eq!(count("koel"), kept, "{command}");
    }
    // Nothing is done where not all keys fit.
    let many: String = (0..9000).map(|key| format!("{key}\n")).collect();
    let (status, stderr) = run(&["add", "--json", "set.guira"], many.as_bytes());
    assert_eq!((status, &*stderr), (2, &*format!("{full}\n")));
    assert_eq!(count("0"), b"0\t0\n");
}

#[test]
#[cfg(unix)]
fn a_list_is_not_read_where_its_lines_are_appended_to_it() {
    let place = Workplace::new();
    place.build("ani\nkoel\n");
    place.write("list", "ani\nkoel\n");
    let full = "add --keep-fitting set.guira list >> list";
    for script in ["check set.guira list >> list", "check -v set.guira < list >> list", "unique list >> list", full] {
        let script = format!("ulimit -f 100; exec {GUIRA} {script}");
        let outcome = outcome(place.command("sh", ["-c", &script]).spawn().expect("sh starts"), b"");
        assert_eq!(outcome.status, 2, "{script}");
        assert!(
            outcome.stderr.ends_with("standard output is this list of keys: let it go to another file\n"),
            "{script}"
        );
        assert_eq!(place.read("list"), b"ani\nkoel\n", "{script}");
    }
    for script in
        ["check -q set.guira list >> list", "check set.guira list > /dev/null", "check set.guira list >> other"]
    {
        let script = format!("{GUIRA} {script}");
        let outcome = outcome(place.command("sh", ["-c", &script]).spawn().expect("sh starts"), b"");
        assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{script}");
    }
}

#[test]
#[cfg(unix)]
fn a_list_that_is_cut_off_while_it_is_read_is_an_error() {
    let place = Workplace::new();
    // More than the pipe and the program hold.
    let lines: String = (0..1_000_000).map(|number| format!("{number}\n")).collect();
    for (arguments, name) in [
        (&["unique", "-q", "list"][..], "list"),
        (&["unique", "-q", "--state", "set.guira", "list"], "list"),
        (&["unique", "-q"], "standard input"),
    ] {
        place.write("list", &lines);
        let list = std::fs::File::open(place.path("list")).expect("readable");
        let mut child = place.command(GUIRA, arguments).stdin(list).spawn().expect("the program starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut printed = String::new();
        stdout.read_line(&mut printed).expect("the program writes");
        place.write("list", "new\n");
        stdout.read_to_string(&mut printed).expect("the program writes");
        let output = child.wait_with_output().expect("the program ends");
        let stderr = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(
            (output.status.code(), &*stderr),
            (Some(2), &*format!("guira: {name}: was cut off while it was read\n"))
        );
        assert!(lines.starts_with(printed.trim_end()), "no other lines");
    }
    // Files of the system have no size, or a larger one than what they hold.
    assert_eq!(place.guira(["unique", "-q", "/dev/null"]).stderr, "");
}

#[test]
fn nobody_has_to_read_standard_error() {
    let place = Workplace::new();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = place.command(GUIRA, ["build", "-o", "set.guira"]);
    let child = command.stderr(writer).stdout(Stdio::piped()).spawn().expect("the program starts");
    assert_eq!(outcome(child, b"ani\n").status, 0);
    assert_eq!(place.check("ani\n"), b"ani\n");
}

/// Runs the program with 200 MB of memory, and writes up to 1000 blocks to it between a start and an end. A limit on memory
/// is met as the end of memory is.
#[cfg(target_os = "linux")]
#[track_caller]
fn assert_too_long(place: &Workplace, command: &str, [start, block, end]: [&[u8]; 3], blocks: usize) {
    // In kilobytes.
    let script = format!("ulimit -v 200000; exec {GUIRA} {command}");
    let mut child = place.command("sh", ["-c", &script]).spawn().expect("sh starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let pieces = std::iter::once(start).chain(std::iter::repeat_n(block, blocks)).chain([end]);
    let taken = pieces.take_while(|piece| stdin.write_all(piece).is_ok()).count();
    drop(stdin);
    let output = child.wait_with_output().expect("the program ends");
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2), "{command}: {text}");
    let message = "guira: standard input: not enough memory for a line of about ";
    assert!(text.starts_with(message), "{command}: {text}");
    assert!(taken < 1000, "{command} has read it all");
    assert_eq!(place.files(), ["set.guira"]);
}

/// Lines that fit, and of which the keys do not fit beside them.
#[test]
#[cfg(target_os = "linux")]
fn keys_that_do_not_fit_in_memory_beside_their_line_are_an_error() {
    let place = Workplace::new();
    place.build("ani\n");
    let letters = vec![b'x'; BLOCK];
    let line: [&[u8]; 3] = [b"{\"k\":\"", &letters, b"\"}\n"];
    for command in ["build --threads 1 --lowercase -o new.guira", "build --threads 1 --json-field k -o new.guira"] {
        assert_too_long(&place, command, line, 40);
    }
    // A string with an escape is copied by the parser.
    assert_too_long(&place, "check --threads 1 --json-field x set.guira", [b"{\"k\":\"\\n", line[1], line[2]], 40);
    // Many short keys take more memory than their line.
    let (ones, commas) = (b",1".repeat(BLOCK / 2), vec![b','; BLOCK]);
    assert_too_long(&place, "build --threads 1 --json-field k -o new.guira", [b"{\"k\":[1", &ones, b"]}\n"], 16);
    assert_too_long(&place, "build --threads 1 --csv --any-field -o new.guira", [b"", &commas, b"\n"], 8);
}

#[test]
#[cfg(target_os = "linux")]
fn a_line_that_does_not_fit_in_memory_is_an_error() {
    let place = Workplace::new();
    place.build("ani\n");
    let letters = vec![b'x'; BLOCK];
    for command in [
        "build --threads 1 -o new.guira",
        "build --threads 1 --csv --field 1 -o new.guira",
        "build --threads 1 --field 1 -o new.guira",
        "build --threads 1 --csv --header name -o new.guira",
        "add set.guira",
        "remove set.guira",
        "check --threads 1 set.guira",
        "check --threads 1 --csv --field 2 set.guira",
    ] {
        assert_too_long(&place, command, [b"", &letters, b""], 1000);
    }
}
