//! What is said to people: how to begin, what to type instead, and one style of messages.

use crate::workplace::Workplace;

#[test]
fn the_name_alone_shows_how_to_begin() {
    let outcome = Workplace::new().guira::<&str>([]);
    assert_eq!((outcome.status, &*outcome.stdout), (2, &b""[..]));
    for command in ["guira build -o words.guira words.txt", "guira check words.guira text.txt", "tail -f access.log"] {
        assert!(outcome.stderr.contains(command), "{}", outcome.stderr);
    }
}

#[test]
fn commands_that_other_programs_have_lead_to_those_that_are_here() {
    let place = Workplace::new();
    for (typed, tip) in [
        ("uniq", "guira unique LIST"),
        ("dedupe", "guira unique LIST"),
        ("stat", "guira info FILE"),
        ("list", "a filter keeps no keys that could be listed"),
        ("create", "guira build -o FILE LIST"),
        ("grep", "guira check FILE LIST"),
        ("union", "guira merge -o FILE"),
    ] {
        let outcome = place.guira([typed]);
        assert_eq!((outcome.status, &*outcome.stdout), (2, &b""[..]));
        let begin = format!("guira: unrecognized subcommand '{typed}'\n");
        assert!(outcome.stderr.starts_with(&begin) && outcome.stderr.contains(tip), "{}", outcome.stderr);
    }
}

#[test]
fn all_errors_begin_with_the_name_of_the_program() {
    let place = Workplace::new();
    let wrong: [&[&str]; 8] = [
        &["frobnicate"],
        &["build"],
        &["build", "--no-such-option"],
        &["build", "--rate", "2", "-o", "a"],
        &["build", "--layout", "heap", "-o", "a"],
        &["check", "-q", "-c", "a"],
        &["check", "missing.guira"],
        &["plan", "--capacity", "99999999999999999999", "--rate", "0.1"],
    ];
    for arguments in wrong {
        let outcome = place.guira(arguments);
        assert_eq!((outcome.status, &*outcome.stdout), (2, &b""[..]), "{arguments:?}");
        assert!(outcome.stderr.starts_with("guira: "), "{arguments:?}: {}", outcome.stderr);
        assert!(!outcome.stderr.contains("error: "), "{arguments:?}: {}", outcome.stderr);
    }
}

#[test]
fn case_is_ignored_where_the_filter_does_and_nowhere_else() {
    let place = Workplace::new();
    place.build_with(&["-i"], b"Ani\n");
    for (option, found) in [("-i", &b"ANI\n"[..]), ("--ignore-case", b"ANI\n")] {
        assert_eq!(place.guira_with(["check", option, "set.guira"], b"ANI\nkoel\n").stdout, found);
    }
    assert_eq!(place.guira_with(["add", "-i", "set.guira"], b"KOEL\n").status, 0);
    assert_eq!(place.guira_with(["remove", "-i", "set.guira"], b"koel\n").status, 0);
    place.build("Ani\n");
    for command in ["check", "add", "remove"] {
        let outcome = place.guira_with([command, "-i", "set.guira"], b"ANI\n");
        assert_eq!(outcome.status, 2, "{command}");
        assert!(outcome.stderr.contains("set.guira: does not ignore case"), "{}", outcome.stderr);
    }
}

#[test]
fn a_filter_can_come_from_standard_input() {
    let place = Workplace::new();
    place.build("ani\n");
    let filter = place.read("set.guira");
    place.write("lines", "koel\nani\n");
    assert_eq!(place.guira_with(["check", "-", "lines"], &filter).stdout, b"ani\n");
    assert_eq!(place.guira_with(["check", "-", "-e", "ani"], &filter).stdout, b"ani\n");
    assert_eq!(place.guira_with(["count", "-", "ani"], &filter).stdout, b"1\tani\n");
    assert_eq!(place.guira_with(["diff", "set.guira", "-"], &filter).status, 0);
    assert_eq!(place.guira_with(["merge", "-q", "-o", "both.guira", "set.guira", "-"], &filter).status, 0);
    assert_eq!(place.guira_with(["convert", "-q", "-o", "copy.guira", "-"], &filter).status, 0);
    assert!(place.guira_with(["info", "-"], &filter).stdout.starts_with(b"kind "));
    assert_eq!(place.guira_with(["verify", "-"], &filter).status, 0);
    for arguments in [&["check", "-"][..], &["check", "-", "-"], &["check", "--filter", "-", "--filter", "-", "lines"]]
    {
        let outcome = place.guira_with(arguments, &filter);
        assert!(outcome.status == 2 && outcome.stderr.contains("standard input"), "{arguments:?}: {}", outcome.stderr);
    }
    let outcome = place.guira_with(["check", "-", "lines"], b"something else");
    assert!(outcome.stderr.starts_with("guira: standard input: not a guira filter"), "{}", outcome.stderr);
}

/// Fingerprints have at least 8 bits in the last table of a filter that grows, and one more for each doubling before.
#[test]
fn a_table_that_takes_far_more_than_its_rate_is_warned_of() {
    let place = Workplace::new();
    let build = |options: &[&str]| {
        let arguments = [&["build", "-q", "--force", "-o", "set.guira", "--capacity", "100k"], options].concat();
        let outcome = place.guira_with(arguments, b"ani\n");
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        outcome.stderr
    };
    assert_eq!(build(&["--rate", "0.001"]), "");
    assert_eq!(build(&["--rate", "0.001", "--max-capacity", "1600k"]), "");
    let warned = build(&["--rate", "0.5", "--max-capacity", "10M"]);
    assert!(warned.contains("warning: set.guira: takes ") && warned.contains("--max-capacity"), "{warned}");
}
