//! Inputs of all forms: keys between NUL bytes, in fields, in CSV, compressed.

use std::io::Write;

use crate::workplace::{Outcome, Workplace};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

fn succeeded(outcome: &Outcome) -> &[u8] {
    assert_eq!((outcome.status, &*outcome.stderr), (0, ""));
    &outcome.stdout
}

fn lines(numbers: std::ops::Range<u32>) -> String {
    numbers.map(|number| format!("key {number}\n")).collect()
}

#[test]
fn keys_between_nul_bytes_are_printed_between_nul_bytes() {
    let place = Workplace::new();
    place.build_with(&["-z"], b"a line\nand another\0ani\0");
    let check =
        |arguments: &[&str], input: &[u8]| place.guira_with([&["check", "set.guira"], arguments].concat(), input);
    // The last one without an end gets one.
    let selected = check(&["-z"], b"ani\0koel\0a line\nand another");
    assert_eq!(succeeded(&selected), b"ani\0a line\nand another\0");
    assert_eq!(succeeded(&check(&["-z", "-v"], b"ani\0koel\0ani\r\0\0")), b"koel\0ani\r\0\0");
    // Without -z they are one line.
    assert_eq!(check(&[], b"ani\0koel\0").status, 1);
    assert_eq!(succeeded(&check(&[], b"ani\n")), b"ani\n");
}

#[test]
fn a_key_that_would_be_read_as_others_is_not_printed() {
    let place = Workplace::new();
    let json = b"{\"a\":\"an\\ni\",\"b\":\"gui\\tra\"}\n{\"a\":\"koel\\r\",\"b\":\"tero\"}\n";
    place.build_with(&["--json-field", "a,b"], json);
    let check =
        |arguments: &[&str], input: &[u8]| place.guira_with([&["check", "set.guira"], arguments].concat(), input);
    assert_eq!(succeeded(&check(&["--json-field", "a"], json)), json);
    // One field alone needs no delimiter.
    assert_eq!(succeeded(&check(&["--print", "fields", "--json-field", "b"], json)), b"gui\tra\ntero\n");
    assert_eq!(succeeded(&check(&["-o", "--json-field", "b"], json)), b"gui\tra\ntero\n");
    for (arguments, shown) in [
        (["-o", "--json-field", "a"], r"an\ni"),
        (["-ov", "--json-field", "a"], r"no\r"),
        (["--print=fields", "--json-field", "a,b"], r"an\ni"),
        (["--print=fields", "--json-field", "b,a"], r"gui\tra"),
    ] {
        let first = if arguments[0] == "-ov" { r#"{"a":"tero"}"# } else { r#"{"a":"no"}"# };
        let input = [first.as_bytes(), b"\n", json, br#"{"a":"no\r"}"#].concat();
        let refused = check(&arguments, &input);
        let line = if arguments[0] == "-ov" { 4 } else { 2 };
        let message = format!(
            "guira: (standard input): line {line}: the key \"{shown}\" can't be printed as a line, which would be read as others: \
             --print line prints the line as it is\n"
        );
        assert_eq!((refused.status, &*refused.stdout, refused.stderr), (2, &b""[..], message), "{arguments:?}");
    }

    let csv = b"\"an\ni\",1\n\"koel\r\",2\n";
    assert_eq!(succeeded(&check(&["--print", "fields", "--csv", "--field", "1"], csv)), b"\"an\ni\"\n\"koel\r\"\n");
    let refused = check(&["-o", "--csv", "--field", "1"], csv);
    assert!(refused.status == 2 && refused.stderr.ends_with("as others: --print fields puts it in quotes\n"));
    // With NUL bytes for ends, line ends are bytes like others.
    let null: Vec<u8> = json.iter().map(|&byte| if byte == b'\n' { 0 } else { byte }).collect();
    assert_eq!(succeeded(&check(&["-zo", "--json-field", "a"], &null)), b"an\ni\0koel\r\0");
}

#[test]
fn a_field_is_the_key_and_the_whole_line_is_printed() {
    let place = Workplace::new();
    // The empty key is in the set; no key is not the empty key.
    place.build_with(&["--field", "2"], b"1\tani\tx\n2\tguira\n3\t\n");
    let rows = b"9\tani\ty\r\n8\tkoel\n7\tguira\r\nani\n\n6\tani";
    let found = place.guira_with(["check", "-f2", "set.guira"], rows);
    assert_eq!(found.stdout, b"9\tani\ty\r\n7\tguira\r\n6\tani\n");
    assert_eq!(
        (found.status, &*found.stderr),
        (0, "guira: warning: 2 lines without field 2, taken for keys that are not in the filter\n")
    );
    // Every line is printed by one of the two.
    let others = place.guira_with(["check", "-v", "-f2", "set.guira"], rows);
    assert_eq!(others.stdout, b"8\tkoel\nani\n\n");

    let found = place.guira_with(["check", "-f", "3", "-d", ":", "set.guira"], b"a:b:ani\nani:b:c\n::guira:\n");
    assert_eq!(succeeded(&found), b"a:b:ani\n::guira:\n");
    assert_eq!(
        succeeded(&place.guira_with(["check", "-z", "-f", "2", "-d,", "set.guira"], b"1\n,ani\0")),
        b"1\n,ani\0"
    );
}

#[test]
fn csv_keys_are_what_is_between_the_quotes_and_the_whole_row_is_printed() {
    let place = Workplace::new();
    place.build("a,b\nsay \"hi\"\nani\n\n");
    let rows = b"1,\"a,b\"\r\n2,\"say \"\"hi\"\"\",\"and\r\nmore\"\r\n3,a\n4,\"ani\"";
    let found = place.guira_with(["check", "--csv", "--field", "2", "set.guira"], rows);
    assert_eq!(succeeded(&found), b"1,\"a,b\"\r\n2,\"say \"\"hi\"\"\",\"and\r\nmore\"\r\n4,\"ani\"\n");
    let others = place.guira_with(["check", "--csv", "-vf2", "set.guira"], rows);
    assert_eq!(succeeded(&others), b"3,a\n");
    let semicolons = place.guira_with(["check", "--csv", "-f2", "-d;", "set.guira"], b"1;\"ani\"\n2;ani;\n3,ani\n");
    assert_eq!(semicolons.stdout, b"1;\"ani\"\n2;ani;\n");
}

/// Rows of many sizes, so that they cross blocks in all ways, and one that is longer than three blocks.
#[test]
fn rows_of_csv_are_found_across_blocks() {
    const BLOCK: usize = 1 << 20;
    let place = Workplace::new();
    let (mut rows, mut keys, mut selected) = (String::new(), String::new(), String::new());
    for number in 0..40_000u32 {
        let filling = "line\n,\"\"".repeat((number % 17) as usize);
        let key = format!("key, {number}\r\n");
        let row = format!("{number},\"{filling}\",\"{key}\"\r\n");
        rows += &row;
        if number % 3 == 0 {
            keys += &key;
            keys.push('\0');
            selected += &row;
        }
    }
    assert!(rows.len() > 3 * BLOCK);
    let long = format!("long,\"{}\",\"key, 3\r\n\"\n", "\n,".repeat(2 * BLOCK));
    place.build_with(&["-z"], keys.as_bytes());
    place.write("rows", [&*rows, &long, &rows].concat());
    for threads in ["1", "2"] {
        let found = place.guira(["check", "--threads", threads, "--csv", "-f3", "set.guira", "rows"]);
        assert!(succeeded(&found) == [&*selected, &long, &selected].concat().as_bytes());
    }
    // The same as keys of another filter: the same file.
    let from_keys = place.read("set.guira");
    let selected = place.guira(["check", "--csv", "-f3", "set.guira", "rows"]).stdout;
    place.build_with(&["--csv", "-f3"], &selected);
    assert!(place.read("set.guira") == from_keys);
}

#[test]
fn add_and_remove_take_the_same_forms() {
    let place = Workplace::new();
    place.build_with(&["--capacity", "1000"], b"");
    place.write("keys.csv.gz", gzip(b"1,\"ani, the smooth-billed\"\n2,koel\n3\n"));
    for (command, done) in [("add", "added"), ("remove", "removed")] {
        let outcome = place.guira([command, "--csv", "-f2", "set.guira", "keys.csv.gz"]);
        let expected = format!(
            "guira: set.guira: 2 keys {done}, 0 repeated lines left out\nguira: warning: 1 line without field 2, left out\n"
        );
        assert_eq!((outcome.status, outcome.stderr), (0, expected));
        let found = place.check("ani, the smooth-billed\nkoel\n3\n");
        assert_eq!(found, if command == "add" { &b"ani, the smooth-billed\nkoel\n"[..] } else { b"" });
    }
}

#[test]
fn compressed_inputs_are_read_as_what_was_compressed() {
    let place = Workplace::new();
    let all = lines(0..200_000);
    let (first, second) = all.split_at(all.len() / 3);
    place.write("keys.gz", [gzip(first.as_bytes()), gzip(second.as_bytes())].concat());
    place.write("keys.zst", [zstandard(first.as_bytes()), zstandard(second.as_bytes())].concat());
    place.build(&all);
    let expected = place.read("set.guira");
    for name in ["keys.gz", "keys.zst"] {
        let compressed = place.read(name);
        place.build_with(&[name], b"");
        assert!(place.read("set.guira") == expected, "{name}");
        assert!(succeeded(&place.guira(["check", "set.guira", name])) == all.as_bytes(), "{name}");
        // From a pipe there is no name.
        assert!(succeeded(&place.guira_with(["check", "set.guira"], &compressed)) == all.as_bytes(), "{name}");
        assert_eq!(place.guira_with(["check", "-c", "--compression", "none", "set.guira"], &compressed).stdout, b"0\n");
    }
}

#[test]
fn a_compressed_input_that_is_cut_off_is_an_error_and_changes_nothing() {
    let place = Workplace::new();
    let all = lines(0..100_000);
    place.build_with(&["--capacity", "200000"], b"ani\n");
    let old = place.read("set.guira");
    for (name, format, compressed) in
        [("cut.gz", "gzip", gzip(all.as_bytes())), ("cut.zst", "zstd", zstandard(all.as_bytes()))]
    {
        let message = format!("guira: {name}: cut off: the {format} data ends too early\n");
        for size in [0, 3, compressed.len() / 2, compressed.len() - 1] {
            place.write(name, &compressed[..size]);
            for arguments in
                [&["add", "set.guira", name], &["remove", "set.guira", name], &["build", "-onew.guira", name]]
            {
                let outcome = place.guira(arguments);
                assert_eq!((outcome.status, &*outcome.stderr), (2, &*message), "{arguments:?}, {size} bytes");
            }
            let checked = place.guira(["check", "-v", "set.guira", name]);
            assert_eq!((checked.status, &*checked.stderr), (2, &*message), "{size} bytes");
            // Whole lines only, from the first one on.
            assert!(all.as_bytes().starts_with(&checked.stdout) && matches!(checked.stdout.last(), None | Some(b'\n')));
        }
        std::fs::remove_file(place.path(name)).expect("ours");
    }
    assert!(place.read("set.guira") == old);
    assert_eq!(place.files(), ["set.guira"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_read_that_fails_is_an_error_and_changes_nothing() {
    let place = Workplace::new();
    place.build_with(&["--capacity", "100"], b"ani\n");
    let old = place.read("set.guira");
    // Nothing is mapped at address 0.
    let message = "guira: /proc/self/mem: Input/output error\n";
    for arguments in
        [&["check", "set.guira"][..], &["add", "set.guira"], &["remove", "set.guira"], &["build", "-onew.guira"]]
    {
        for form in [&[][..], &["--csv", "-f1"], &["-z"], &["--compression", "gzip"], &["--compression", "zstd"]] {
            let outcome = place.guira([arguments, form, &["/proc/self/mem"]].concat());
            assert_eq!((outcome.status, &*outcome.stderr), (2, message), "{arguments:?} {form:?}");
        }
    }
    assert_eq!(place.read("set.guira"), old);
    assert_eq!(place.files(), ["set.guira"]);
}

#[test]
fn a_format_that_is_asked_for_is_the_only_one_taken() {
    let place = Workplace::new();
    place.build("ani\n");
    let refused = place.guira_with(["check", "--compression", "gzip", "set.guira"], b"ani\nguira\nkoel\n");
    assert_eq!(
        (refused.status, &*refused.stderr),
        (2, "guira: standard input: not gzip data: leave out --compression gzip\n")
    );
    let refused = place.guira_with(["check", "--compression", "zstd", "set.guira"], &gzip(b"ani\n"));
    assert!(refused.status == 2 && refused.stderr.starts_with("guira: standard input: not zstd data: "));
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let place = Workplace::new();
    let all = lines(0..150_000);
    place.write("keys", &all);
    place.write("others", lines(100_000..300_000));
    let mut files = Vec::new();
    let mut selected = Vec::new();
    for threads in ["0", "1", "2", "7"] {
        place.build_with(&["--threads", threads, "keys", "keys"], b"");
        files.push(place.read("set.guira"));
        selected.push(place.guira(["check", "-I", "--threads", threads, "set.guira", "others", "keys"]).stdout);
    }
    assert!(files.iter().all(|file| *file == files[0]));
    assert!(selected[0] == [lines(100_000..150_000), all].concat().as_bytes());
    assert!(selected.iter().all(|lines| *lines == selected[0]));
}

#[test]
fn a_line_of_100_mb_is_a_key() {
    let place = Workplace::new();
    let long = "x".repeat(100_000_000);
    place.write("long", format!("ani\n{long}\nkoel\n"));
    place.write("long.gz", gzip(long.as_bytes()));
    place.build_with(&["long"], b"");
    assert_eq!(place.guira(["check", "-c", "set.guira", "long", "long.gz"]).stdout, b"long:3\nlong.gz:1\n");
    assert_eq!(place.guira(["check", "-c", "--csv", "-f1", "set.guira", "long"]).stdout, b"3\n");
    assert_eq!(place.check(&long[1..]), b"");
}
