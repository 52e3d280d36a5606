//! Filter files: damaged ones are refused, good ones are replaced whole or not at all.

use std::fs::{self, File};
use std::io::Write;

use guira::{CuckooFilter, CuckooMap, CuckooSet, KeyHasher, LoadOptions};

use crate::workplace::{GUIRA, Outcome, Workplace, outcome};

#[track_caller]
fn assert_refused(outcome: &Outcome, message: &str) {
    assert_eq!((outcome.status, &*outcome.stderr, &*outcome.stdout), (2, &*format!("guira: {message}\n"), &b""[..]));
}

const TABLE_DAMAGED: &str = "damaged: the checksum of the table does not match";

/// A file, and what it is to be called in a message.
fn damaged_files(good: &[u8]) -> Vec<(Vec<u8>, String)> {
    let changed = |at: usize, byte: u8| {
        let mut bytes = good.to_vec();
        bytes[at] = byte;
        bytes
    };
    let table_end = good.len();
    // Offsets are those of docs/format.md: magic 0, version 8, capacity 32, table 128.
    vec![
        (
            changed(0, b'G'),
            "not a guira filter: the first bytes are something else; guira build makes one of a list of keys".into(),
        ),
        (
            changed(8, 2),
            "written in version 2 of the format, and this program reads up to version 1: use a later release".into(),
        ),
        (changed(32, good[32] ^ 1), "damaged: the checksum of the header does not match".into()),
        (changed(130, good[130] ^ 0x10), TABLE_DAMAGED.into()),
        (changed(table_end - 1, 1), TABLE_DAMAGED.into()),
        (good[..100].to_vec(), "cut off: 100 bytes where there should be at least 128".into()),
        (
            good[..table_end - 1].to_vec(),
            format!("cut off: {} bytes where there should be at least {table_end}", table_end - 1),
        ),
        ([good, b"\n"].concat(), format!("more bytes than the {table_end} of the filter: something was appended")),
    ]
}

#[test]
fn damaged_files_are_refused_by_every_command_and_left_as_they_are() {
    let place = Workplace::new();
    place.build("ani\nguira\nkoel\n");
    for (bytes, message) in damaged_files(&place.read("set.guira")) {
        place.write("bad.guira", &bytes);
        for command in ["check", "add", "remove", "info"] {
            let outcome = place.guira_with([command, "bad.guira"], b"ani\n");
            // That is what the table is not read for.
            if command == "info" && message == TABLE_DAMAGED {
                assert_eq!((outcome.status, &*outcome.stderr), (0, ""));
                continue;
            }
            assert_refused(&outcome, &format!("bad.guira: {message}"));
        }
        let verified = place.guira(["verify", "set.guira", "bad.guira", "set.guira"]);
        let expected = format!("set.guira: OK\nbad.guira: {message}\nset.guira: OK\n");
        assert_eq!((verified.status, &*verified.stderr, &*verified.stdout), (2, "", expected.as_bytes()));
        assert_eq!(place.read("bad.guira"), bytes);
    }
    assert_eq!(place.files(), ["bad.guira", "set.guira"]);
}

#[test]
fn damage_to_a_table_is_believed_only_where_that_is_asked_for() {
    let place = Workplace::new();
    place.build("ani\nguira\nkoel\n");
    let mut bytes = place.read("set.guira");
    // Its table, where nothing is left of it.
    bytes[128..].fill(0);
    place.write("bad.guira", &bytes);
    let blind = place.guira_with(["check", "--no-verify", "bad.guira"], b"ani\n");
    assert_eq!((blind.status, &*blind.stderr, &*blind.stdout), (1, "", &b""[..]));
    assert_eq!(place.guira(["count", "--no-verify", "bad.guira", "ani"]).stdout, b"0\tani\n");
    let damaged = "bad.guira: damaged: the checksum of the table does not match";
    assert_refused(&place.guira(["count", "bad.guira", "ani"]), damaged);
    assert_eq!(place.guira_with(["check", "--no-verify", "set.guira"], b"ani\nemu\n").stdout, b"ani\n");
    // The header is looked at all the same.
    bytes[40] ^= 1;
    place.write("bad.guira", &bytes);
    let refused = place.guira_with(["check", "--no-verify", "bad.guira"], b"ani\n");
    assert_refused(&refused, "bad.guira: damaged: the checksum of the header does not match");
}

/// It can't be mapped to memory.
#[cfg(unix)]
#[test]
fn a_filter_that_comes_through_a_pipe_is_asked_and_inspected_too() {
    let place = Workplace::new();
    place.build("ani\nguira\nkoel\n");
    place.write("lines", "emu\nani\n");
    let good = place.read("set.guira");
    let asked = place.guira_with(["check", "/dev/stdin", "lines"], &good);
    assert_eq!((asked.status, &*asked.stderr, &*asked.stdout), (0, "", &b"ani\n"[..]));
    assert_eq!(place.guira_with(["verify", "/dev/stdin"], &good).stdout, b"/dev/stdin: OK\n");
    for (bytes, message) in damaged_files(&good) {
        for arguments in [&["check", "/dev/stdin", "lines"][..], &["info", "/dev/stdin"]] {
            if arguments[0] == "info" && message == TABLE_DAMAGED {
                continue;
            }
            assert_refused(&place.guira_with(arguments, &bytes), &format!("/dev/stdin: {message}"));
        }
    }
}

#[test]
fn a_set_is_asked_too_and_what_has_values_is_not() {
    let place = Workplace::new();
    let mut set = CuckooSet::with_capacity(10, 1e-6).expect("parameters in range");
    set.insert("ani").expect("room");
    place.write("set.guira", set.to_bytes());
    assert_eq!(place.check("emu\nani\n"), b"ani\n");
    let map = CuckooMap::<u8>::with_capacity(10, 1e-6).expect("parameters in range");
    place.write("map.guira", map.to_bytes());
    let refused = place.guira_with(["check", "map.guira"], b"ani\n");
    assert_refused(&refused, "map.guira: holds a map, which this command is not for: guira info says more about it");
}

#[test]
fn one_set_makes_one_file_whatever_the_order_and_the_repetitions() {
    let place = Workplace::new();
    let lines: Vec<String> = (0..3000).map(|number| format!("key {number}")).collect();
    place.build(lines.join("\n"));
    let first = place.read("set.guira");
    let reversed: Vec<&str> = lines.iter().chain(&lines[..100]).rev().map(String::as_str).collect();
    place.build(reversed.join("\r\n") + "\r\n");
    assert!(place.read("set.guira") == first);
}

/// So many keys that there are several regions, which are filled at the same time.
#[test]
fn one_thread_or_two_make_the_same_file() {
    let place = Workplace::new();
    let lines: String = (0..400_000).map(|number| format!("{number}\n")).collect();
    place.write("lines", &lines);
    for layout in ["packed", "semi-sorted"] {
        let files = ["1", "2"].map(|threads| {
            let arguments = ["build", "--force", "--layout", layout, "-o", "set.guira", "lines"];
            let mut command = place.command(GUIRA, arguments);
            let child = command.env("RAYON_NUM_THREADS", threads).spawn().expect("the program starts");
            assert_eq!(outcome(child, b"").status, 0);
            assert!(place.check(&lines) == lines.as_bytes(), "{layout}, {threads} threads");
            place.read("set.guira")
        });
        // Offsets are those of docs/format.md: regions 16.
        assert!(files[0][16] > 1);
        assert!(files[0] == files[1], "{layout}");
    }
}

#[test]
fn a_failed_build_leaves_the_old_file() {
    let place = Workplace::new();
    place.build("ani\n");
    let old = place.read("set.guira");
    let many: String = (0..2000).map(|number| format!("{number}\n")).collect();
    let failed = place.guira_with(["build", "--force", "--capacity", "1000", "-o", "set.guira"], many.as_bytes());
    assert_eq!(failed.status, 2);
    assert!(failed.stderr.contains("of 2,000 keys were added"), "{}", failed.stderr);
    assert_eq!(place.read("set.guira"), old);
    assert_eq!(place.files(), ["set.guira"]);
}

/// A list that was not made is empty, and one without the field that is asked for has no keys.
#[test]
fn a_filter_that_holds_keys_is_not_replaced_by_an_empty_one() {
    let place = Workplace::new();
    place.build("ani\nkoel\n");
    let old = place.read("set.guira");
    let message = "set.guira: no keys in the input, and this filter holds 2 keys: remove it first to make an empty one";
    let misspelt = "set.guira: no keys, only 1 line without field 2: give a field that is there; no file was written";
    for (options, input, message) in [
        (&[][..], &b""[..], message),
        (&["--like", "set.guira"], b"", message),
        (&["--csv", "--field", "2"], b"guira\n", misspelt),
    ] {
        let arguments = [&["build", "--force", "-o", "set.guira"], options].concat();
        assert_refused(&place.guira_with(arguments, input), message);
        assert_eq!(place.read("set.guira"), old);
    }
    assert_eq!(place.files(), ["set.guira"]);
    let misspelt = place.guira_with(["build", "--json-field", "nmae", "-o", "empty.guira"], b"{\"name\":\"ani\"}\n");
    assert!(misspelt.status == 2 && misspelt.stderr.contains("without field nmae"), "{}", misspelt.stderr);
    assert_eq!(place.guira_with(["build", "-q", "-o", "empty.guira"], b"").status, 0);
    assert_eq!(place.guira_with(["build", "-q", "--force", "-o", "empty.guira"], b"").status, 0);
}

#[test]
fn a_list_of_keys_is_not_replaced_by_its_filter() {
    let place = Workplace::new();
    place.write("keys.txt", "ani\n");
    place.write("other.txt", "koel\n");
    std::os::unix::fs::symlink("keys.txt", place.path("link.txt")).expect("a link");
    fs::hard_link(place.path("keys.txt"), place.path("hard.txt")).expect("a link");
    for arguments in [
        ["-o", "keys.txt", "keys.txt"],
        ["-o", "link.txt", "keys.txt"],
        ["-o", "hard.txt", "keys.txt"],
        ["-o", "keys.txt", "./keys.txt"],
    ] {
        let refused = place.guira([&["build", "--force"][..], &arguments].concat());
        let message = format!("{}: a list of keys that would be replaced: give another file", arguments[2]);
        assert_refused(&refused, &message);
    }
    let never = ["build", "--force", "--never", "keys.txt", "-o", "keys.txt", "other.txt"];
    assert_refused(&place.guira(never), "keys.txt: a list of keys that would be replaced: give another file");
    // The shell's redirection is a list too.
    let replaced = "standard input: a list of keys that would be replaced: give another file";
    for arguments in [
        &["build", "--force", "-o", "keys.txt"][..],
        &["unique", "--state", "hard.txt"],
        &["add", "--keep-fitting", "--rejected", "keys.txt", "set.guira"],
    ] {
        let mut command = place.command(GUIRA, arguments);
        command.stdin(File::open(place.path("keys.txt")).expect("readable"));
        let output = command.output().expect("the program starts");
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(String::from_utf8_lossy(&output.stderr), format!("guira: {replaced}\n"));
    }
    assert_eq!(place.read("keys.txt"), b"ani\n");
}

#[test]
fn a_secret_key_is_not_replaced() {
    let place = Workplace::new();
    place.write("key", "0123456789abcdef");
    place.write("keys.txt", "ani\n");
    std::os::unix::fs::symlink("key", place.path("link")).expect("a link");
    let build = ["build", "-q", "--hash", "siphash", "--key-file", "key", "--capacity", "1", "keys.txt", "-o"];
    assert_eq!(place.guira([&build[..], &["set.guira"]].concat()).status, 0);
    for output in ["key", "link"] {
        for command in [
            &[&build[..], &[output, "--force"]].concat()[..],
            &["convert", "--force", "-o", output, "--key-file", "key", "set.guira"],
            &["merge", "--force", "-o", output, "--key-file", "key", "set.guira", "set.guira"],
            &["add", "--keep-fitting", "--rejected", output, "--key-file", "key", "set.guira", "-e", "koel"],
        ] {
            let message = format!("{output}: the secret key, which would be replaced: give another file");
            assert_refused(&place.guira(command), &message);
        }
    }
    assert_eq!(place.read("key"), b"0123456789abcdef");
}

/// A build that fits fills one region after the other. In one that does not, the first full region must not be taken for
/// a full filter.
#[test]
fn a_build_that_does_not_fit_says_how_many_keys_do() {
    let place = Workplace::new();
    let many: String = (0..400_000).map(|number| format!("{number}\n")).collect();
    let failed = place.guira_with(["build", "--capacity", "300000", "-o", "set.guira"], many.as_bytes());
    assert_eq!(failed.status, 2);
    let message = failed.stderr.strip_prefix("guira: set.guira: ").expect("the name of the file");
    let added: u64 = message.split(' ').next().expect("a number").replace(',', "").parse().expect("a number");
    assert!((300_000..400_000).contains(&added), "{message}");
}

/// The first keys that are tried must not be those of the same few fingerprints.
#[test]
fn a_build_of_far_too_many_keys_fills_the_filter_all_the_same() {
    let place = Workplace::new();
    let many: String = (0..400_000).map(|number| format!("{number}\n")).collect();
    for layout in ["packed", "semi-sorted"] {
        let arguments = format!("build --fingerprint-bits 8 --capacity 1000 --layout {layout} -o set.guira");
        let failed = place.guira_with(arguments.split(' '), many.as_bytes());
        assert_eq!(failed.status, 2);
        let message = failed.stderr.strip_prefix("guira: set.guira: ").expect("the name of the file");
        assert!(message.contains(" of 400,000 keys were added, then the filter is full: "), "{message}");
        assert!(message.starts_with("1,"), "{message}");
    }
}

/// More than a batch, and more than are tried in vain: those left out are found in no later batch either.
#[test]
fn keys_that_fit_and_keys_that_do_not_are_told_apart_across_batches() {
    let place = Workplace::new();
    assert_eq!(
        place.guira_with(["build", "--fingerprint-bits", "32", "--capacity", "3000", "-o", "set.guira"], b"").status,
        0
    );
    let lines: String = (0..20_000).map(|number| format!("{number}\n")).collect();
    let add = ["add", "--keep-fitting", "--rejected", "left.txt", "set.guira"];
    let added = place.guira_with(add, format!("{lines}{lines}").as_bytes());
    assert_eq!(added.status, 3);
    let found = place.check(&lines).split_inclusive(|&byte| byte == b'\n').count();
    assert!((3000..20_000).contains(&found), "{found}");
    let (thousands, rest) = (found / 1000, found % 1000);
    let first = format!("guira: set.guira: {thousands},{rest:03} keys added, 20,000 repeated lines left out\n");
    assert!(added.stderr.starts_with(&first), "{}", added.stderr);
    let left = String::from_utf8(place.read("left.txt")).expect("lines");
    assert_eq!(left.lines().count(), 20_000 - found);
    assert_eq!(place.check(&left), b"");
    let (thousands, rest) = ((20_000 - found) / 1000, (20_000 - found) % 1000);
    assert!(added.stderr.contains(&format!("{thousands},{rest:03} keys not added: ")), "{}", added.stderr);

    let removed = place.guira_with(["remove", "set.guira"], lines.as_bytes());
    assert_eq!(removed.status, 1);
    assert!(removed.stderr.contains(&format!("{thousands},{rest:03} keys not in the filter: ")), "{}", removed.stderr);
    assert_eq!(place.check(&lines), b"");
}

#[test]
fn what_did_not_fit_is_counted_and_nothing_else_is_lost() {
    let place = Workplace::new();
    let old: String = (0..900).map(|number| format!("old {number}\n")).collect();
    let new: String = (0..500).map(|number| format!("new {number}\n")).collect();
    let arguments = ["build", "--fingerprint-bits", "32", "--capacity", "1000", "-o", "set.guira"];
    assert_eq!(place.guira_with(arguments, old.as_bytes()).status, 0);
    let added = place.guira_with(["add", "--keep-fitting", "set.guira"], new.as_bytes());
    assert_eq!(added.status, 3);

    let found = place.check(&new).split_inclusive(|&byte| byte == b'\n').count();
    let lines: Vec<&str> = added.stderr.lines().collect();
    assert_eq!(lines[0], format!("guira: set.guira: {found} keys added, 0 repeated lines left out"));
    assert!(lines[1].starts_with("guira: warning: set.guira: holds "), "{}", lines[1]);
    assert!(lines[2].starts_with(&format!("guira: set.guira: {} keys not added: ", 500 - found)), "{}", lines[2]);
    assert_eq!(lines.len(), 3);
    assert_eq!(added.stdout.split_inclusive(|&byte| byte == b'\n').count(), 500 - found);
    // 1,000 are promised to fit.
    assert!(found >= 100);
    assert_eq!(place.check(&old), old.as_bytes());
}

#[test]
fn removal_takes_one_copy_of_a_key() {
    let place = Workplace::new();
    assert_eq!(place.guira_with(["build", "--capacity", "100", "-o", "set.guira"], b"ani\nkoel\n").status, 0);
    assert_eq!(place.guira_with(["add", "set.guira"], b"ani\nani\n").status, 0);
    for expected in [(0, &b"ani\n"[..]), (0, b""), (1, b"")] {
        let removed = place.guira_with(["remove", "set.guira"], b"ani\nani\n");
        assert_eq!((removed.status, &*place.check("ani\n")), expected);
    }
    assert_eq!(place.check("koel\n"), b"koel\n");
}

#[test]
fn an_output_that_exists_is_refused_unless_it_is_to_be_replaced() {
    let place = Workplace::new();
    place.build("ani\n");
    place.write("text", "text");
    for name in ["set.guira", "text"] {
        let old = place.read(name);
        let refused = place.guira_with(["build", "-o", name], b"koel\n");
        assert_refused(&refused, &format!("{name}: there is such a file already: give --force to replace it"));
        assert_eq!(place.read(name), old);
    }
    let replaced = place.guira_with(["build", "--force", "-o", "text"], b"koel\n");
    let expected = "guira: text: 1 key, 0 repeated lines left out; replaced a file that was no filter\n";
    assert_eq!((replaced.status, &*replaced.stderr), (0, expected));
    assert_eq!(place.guira_with(["check", "text"], b"koel\n").stdout, b"koel\n");
    assert_eq!(place.files(), ["set.guira", "text"]);
}

/// Who builds for hours must not overwrite what another one has put there meanwhile.
#[test]
fn an_output_that_comes_while_a_filter_is_built_is_not_replaced() {
    let place = Workplace::new();
    let mut child = place.start(["build", "-o", "set.guira"]);
    let mut stdin = child.stdin.take().expect("a pipe");
    // More than any pipe holds: when it is written, the program has begun.
    stdin.write_all("ani\n".repeat(1 << 20).as_bytes()).expect("the program reads");
    place.write("set.guira", "of another");
    drop(stdin);
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(output.stderr, b"guira: set.guira: there is such a file already: give --force to replace it\n");
    assert_eq!(place.read("set.guira"), b"of another");
    assert_eq!(place.files(), ["set.guira"]);
}

#[test]
#[cfg(unix)]
fn a_file_keeps_its_permissions_and_a_new_one_has_the_usual_ones() {
    use std::os::unix::fs::PermissionsExt;
    let place = Workplace::new();
    let mode = |name: &str| fs::metadata(place.path(name)).expect("a file").permissions().mode() & 0o7777;
    place.write("usual", "");
    place.build("ani\n");
    assert_eq!(mode("set.guira"), mode("usual"));

    for permissions in [0o640, 0o600, 0o664, 0o444] {
        fs::set_permissions(place.path("set.guira"), fs::Permissions::from_mode(permissions)).expect("ours");
        assert_eq!(place.guira_with(["add", "set.guira"], b"guira\n").status, 0);
        assert_eq!(mode("set.guira"), permissions);
        assert_eq!(place.guira_with(["remove", "set.guira"], b"guira\n").status, 0);
        assert_eq!(mode("set.guira"), permissions);
        place.build("ani\n");
        assert_eq!(mode("set.guira"), permissions);
    }
}

#[test]
#[cfg(unix)]
fn a_link_stays_a_link() {
    let place = Workplace::new();
    place.build("ani\n");
    std::os::unix::fs::symlink("set.guira", place.path("link.guira")).expect("a link");
    assert_eq!(place.guira_with(["add", "link.guira"], b"guira\n").status, 0);
    assert!(fs::symlink_metadata(place.path("link.guira")).expect("a link").is_symlink());
    assert_eq!(place.check("guira\n"), b"guira\n");
    assert_eq!(place.guira_with(["build", "--force", "-o", "link.guira"], b"koel\n").status, 0);
    assert!(fs::symlink_metadata(place.path("link.guira")).expect("a link").is_symlink());
    assert_eq!(place.check("koel\n"), b"koel\n");
    std::os::unix::fs::symlink("nothing", place.path("broken.guira")).expect("a link");
    for force in [&["--force"][..], &[]] {
        let refused = place.guira_with([&["build", "-o", "broken.guira"], force].concat(), b"koel\n");
        assert_refused(&refused, "broken.guira: a link to a file that is not there: give another output");
    }
}

#[test]
#[cfg(unix)]
fn a_file_is_replaced_and_never_written_into() {
    use std::os::unix::fs::MetadataExt;
    let place = Workplace::new();
    let number = || fs::metadata(place.path("set.guira")).expect("a file").ino();
    place.build("ani\n");
    // Kept under another name, so that the number is not given away again.
    fs::hard_link(place.path("set.guira"), place.path("old.guira")).expect("a link");
    let (old, old_bytes) = (number(), place.read("set.guira"));

    // Nothing to change, nothing to replace.
    assert_eq!(place.guira_with(["add", "set.guira"], b"").status, 0);
    assert_eq!(place.guira_with(["remove", "set.guira"], b"koel\n").status, 1);
    assert_eq!(number(), old);

    assert_eq!(place.guira_with(["remove", "set.guira"], b"ani\n").status, 0);
    assert_ne!(number(), old);
    assert_eq!(place.read("old.guira"), old_bytes);
    assert_eq!(place.files(), ["old.guira", "set.guira"]);
}

/// Files may grow to 16 blocks of 512 bytes only, and writing more is an error instead of a signal.
#[test]
#[cfg(unix)]
fn a_write_that_fails_leaves_the_old_file() {
    let place = Workplace::new();
    let lines: String = (0..10_000).map(|number| format!("{number}\n")).collect();
    assert_eq!(place.guira_with(["build", "--capacity", "20000", "-o", "set.guira"], lines.as_bytes()).status, 0);
    let old = place.read("set.guira");
    assert!(old.len() > 8192);
    for command in ["add set.guira", "remove set.guira", "build --force --output set.guira", "build --output new.guira"]
    {
        let script = format!("trap '' XFSZ; ulimit -f 16; exec {GUIRA} {command}");
        let child = place.command("sh", ["-c", &script]).spawn().expect("a shell");
        let outcome = outcome(child, lines.as_bytes());
        let name = command.split(' ').next_back().expect("a name");
        assert_refused(&outcome, &format!("{name}: File too large"));
        assert!(place.read("set.guira") == old, "{command}");
        assert_eq!(place.files(), ["set.guira"], "{command}");
    }
}

#[test]
#[cfg(unix)]
fn additions_at_the_same_time_wait_for_each_other() {
    let place = Workplace::new();
    assert_eq!(place.guira_with(["build", "--capacity", "1000", "-o", "set.guira"], b"").status, 0);
    let lines: Vec<String> = (0..8).map(|writer| format!("key of {writer}\nother key of {writer}\n")).collect();
    let start = |(number, lines): (usize, &String)| {
        let input = format!("input {number}");
        place.write(&input, lines);
        place.start(["add", "set.guira", &input])
    };
    let writers: Vec<_> = lines.iter().enumerate().map(start).collect();
    for writer in writers {
        let outcome = outcome(writer, b"");
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    }
    assert_eq!(place.check(lines.concat()), lines.concat().as_bytes());
}

#[test]
#[cfg(target_os = "linux")]
fn a_device_is_not_replaced() {
    let place = Workplace::new();
    for device in ["/dev/full", "/dev/zero"] {
        let message = format!("{device}: not a regular file: give another output, or \"-\" for standard output");
        assert_refused(&place.guira_with(["build", "-o", device], b"ani\n"), &message);
    }
    place.build("ani\n");
    for command in [&["build", "set.txt"][..], &["merge", "set.guira", "set.guira"], &["convert", "set.guira"]] {
        place.write("set.txt", "ani\n");
        let made = place.guira([command, &["-o", "/dev/null"]].concat());
        assert!(made.status == 0 && made.stderr.starts_with("guira: /dev/null: "), "{}", made.stderr);
    }
    assert!(!std::fs::metadata("/dev/null").expect("a device").is_file());
    assert_refused(&place.guira(["add", "/dev/null", "set.txt"]), "/dev/null: not a regular file: give another");
}

/// The file itself may be written.
#[test]
#[cfg(target_os = "linux")]
fn a_directory_that_takes_no_new_file_is_what_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;

    let place = Workplace::new();
    place.build("ani\n");
    let permit = |name, mode| fs::set_permissions(place.path(name), fs::Permissions::from_mode(mode)).expect("ours");
    permit("set.guira", 0o666);
    permit("", 0o555);
    for arguments in [&["add", "set.guira", "-e", "koel"][..], &["build", "-o", "set.new", "-e", "koel"]] {
        let mut command = place.command(GUIRA, arguments);
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY);
        }
        let Ok(child) = command.spawn() else {
            eprintln!("skipped: others may not run the program");
            break;
        };
        let file = if arguments[0] == "add" { "set.guira" } else { "set.new" };
        let message = format!("{file}: no new file can be written into its directory: Permission denied");
        assert_refused(&outcome(child, b""), &message);
    }
    permit("", 0o755);
}

#[test]
#[cfg(target_os = "linux")]
fn a_filter_can_come_from_a_pipe() {
    let place = Workplace::new();
    place.build("ani\n");
    place.write("input", "ani\nkoel\n");
    let checked = place.guira_with(["check", "/dev/stdin", "input"], &place.read("set.guira"));
    assert_eq!((checked.status, &*checked.stdout, &*checked.stderr), (0, &b"ani\n"[..], ""));
}

#[test]
fn damaged_notes_are_refused_by_every_command() {
    let place = Workplace::new();
    place.build_with(&["--note", "of birds", "--lowercase"], b"ani\n");
    let mut bytes = place.read("set.guira");
    // In the middle of the last chunk, with which the file ends.
    let at = bytes.len() - 10;
    bytes[at] ^= 1;
    place.write("bad.guira", &bytes);
    let message = "bad.guira: damaged: the checksum of the chunk \"NOTE\" does not match";
    for command in ["check", "add", "remove", "info"] {
        assert_refused(&place.guira_with([command, "bad.guira"], b"ani\n"), message);
    }
    assert_refused(&place.guira(["count", "bad.guira", "ani"]), message);
    assert_eq!(place.guira(["verify", "bad.guira"]).status, 2);
    assert_eq!(place.read("bad.guira"), bytes);
}

/// What the notes say decides how keys are hashed, so no bit of them may be lost.
#[test]
fn every_damaged_bit_behind_a_table_is_found() {
    let place = Workplace::new();
    place.build_with(&["--lowercase", "--note", "x"], b"Ani\n");
    let file = place.read("set.guira");
    let chunks = file.windows(4).position(|bytes| bytes == b"NORM").expect("chunks");
    for bit in 8 * chunks..8 * file.len() {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        place.write("bad.guira", &damaged);
        assert_eq!(place.guira(["verify", "bad.guira"]).status, 2, "bit {bit}");
    }
}

/// A chunk as docs/format.md describes it.
fn chunk(tag: &[u8; 4], flags: u32, data: &[u8]) -> Vec<u8> {
    let start = [&tag[..], &flags.to_le_bytes(), &(data.len() as u64).to_le_bytes()].concat();
    let checksum = KeyHasher::xxh3(0).digest(&[&start[..], data].concat()).get();
    [&start[..], &checksum.to_le_bytes(), data].concat()
}

/// The file with a further chunk, and with flags at byte 70 that a reader need not know.
fn with_chunk(file: &[u8], chunk: &[u8]) -> Vec<u8> {
    let mut bytes = [file, chunk].concat();
    let size = u64::from_le_bytes(*bytes[80..].first_chunk().expect("a header")) + chunk.len() as u64;
    bytes[80..88].copy_from_slice(&size.to_le_bytes());
    bytes[70] = 5;
    let checksum = KeyHasher::xxh3(0).digest(&bytes[..120]).get();
    bytes[120..128].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

#[test]
fn a_filter_that_another_program_saves_still_says_what_was_done_to_its_keys() {
    let place = Workplace::new();
    place.build_with(&["--lowercase", "--capacity", "10"], b"ani\n");
    let file = place.read("set.guira");
    let refused = CuckooFilter::from_bytes(&file).expect_err("it doesn't know that keys are made lower case");
    assert!(refused.to_string().contains("lower case"), "{refused}");
    let mut filter: CuckooFilter = LoadOptions::new().normalized_keys().from_bytes(&file).expect("whole");
    filter.insert("koel").expect("it has room");
    place.write("set.guira", filter.to_bytes());
    assert_eq!(place.check("ANI\nKoel\n"), b"ANI\nKoel\n");
    assert_eq!(place.guira_with(["add", "set.guira"], b"GUIRA\n").status, 0);
    assert_eq!(place.check("guira\n"), b"guira\n");
}

#[test]
fn what_other_programs_add_to_a_file_is_kept_or_needs_a_later_release() {
    let place = Workplace::new();
    place.build_with(&["--note", "of birds", "--capacity", "10"], b"ani\n");
    let file = place.read("set.guira");
    let unknown = chunk(b"XTRA", 0, b"of another program");
    place.write("set.guira", with_chunk(&file, &unknown));
    for command in ["add", "remove"] {
        assert_eq!(place.guira_with([command, "set.guira"], b"koel\n").status, 0, "{command}");
        let saved = place.read("set.guira");
        assert!(saved.ends_with(&unknown) && saved[70] == 5, "{command}");
    }
    let late = chunk(b"LATE", 1, b"");
    place.write("late.guira", with_chunk(&file, &late));
    let message = "late.guira: unknown chunk \"LATE\", which must be known: needs a later release";
    for command in ["check", "add", "remove", "info"] {
        assert_refused(&place.guira_with([command, "late.guira"], b"ani\n"), message);
    }
    assert_eq!(place.guira(["verify", "late.guira"]).status, 2);
    assert_eq!(place.read("late.guira"), with_chunk(&file, &late));
}

#[test]
#[cfg(unix)]
fn no_message_has_a_control_character_of_a_file_name() {
    let place = Workplace::new();
    let (name, shown) = ("se\x1b[31mt\n.guira", r"se\u{1b}[31mt\n.guira");
    let said = |arguments: &[&str], expected: &str| {
        let outcome = place.guira_with(arguments, b"ani\n");
        let text = String::from_utf8([outcome.stdout, outcome.stderr.into_bytes()].concat()).expect("UTF-8");
        assert!(text.contains(expected) && text.contains(shown), "{arguments:?}: {text}");
        assert!(!text.trim_end().contains(|character: char| character.is_control() && character != '\n'), "{text:?}");
    };
    said(&["add", name], "No such file or directory");
    said(&["build", "-o", name], "1 key, 0 repeated lines left out");
    said(&["build", "-o", name], "there is such a file already");
    said(&["add", name], "1 key added");
    said(&["remove", name], "1 key removed");
    said(&["shrink", name], "as small as it can be");
    said(&["merge", "--force", "-o", name, name], "1 key of 1 file");
    said(&["verify", name], ": OK");
    said(&["check", name, name], "a filter, where a list of keys is expected");
    said(&["check", "--key-file", name, name], "not a secret key");
    // Of what is not taken for a name, nothing but the line ends is left.
    let refused = place.guira(["info", name, "a\x07b\x1b[2J"]);
    assert!(refused.stderr.contains("unexpected argument 'ab"), "{}", refused.stderr);
    assert!(!refused.stderr.contains(['\x07', '\x1b']), "{:?}", refused.stderr);
    // A program gets the name as it is.
    let json = place.guira_with(["add", "--json", name], b"ani\n").stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(json["file"], name);
}

#[test]
fn no_message_has_a_number_of_hundreds_of_digits() {
    let place = Workplace::new();
    for arguments in ["plan --capacity 10 --rate 1e-300", "build --rate 1e-300 -o set.guira"] {
        let refused = place.guira(arguments.split(' '));
        assert_eq!(refused.status, 2);
        assert!(refused.stderr.contains("a false positive rate of 1e-300 is too low "), "{}", refused.stderr);
        assert!(refused.stderr.len() < 200, "{}", refused.stderr);
    }
}
