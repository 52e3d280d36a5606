//! What must not stand in any source file of the repository.

use std::path::{Path, PathBuf};

use crate::text::{code_only, is_identifier};
use crate::tree::{assert_nothing, files, read, root};

/// Where `unsafe` may be: in one room of the library; in the file that maps files to memory, its test, and the program's file that
/// calls it; in the program's allocator, which ends the program if there is no memory, and in its test; in the prefetch of
/// benchmarks; in the tests' allocators that count or fail; in the room of the module that talks to a server; and in the files of the
/// Python package that read the memory of Python's objects, and that the interpreter calls.
const MAY_BE_UNSAFE: &[&str] = &[
    "crates/guira/src/probe",
    "crates/guira/src/format/mapped.rs",
    "crates/guira/tests/guira/format/mapped.rs",
    "crates/guira-cli/src/allocator.rs",
    "crates/guira-cli/src/filter_view.rs",
    "crates/guira-cli/tests/memory.rs",
    "crates/guira/tests/memory.rs",
    "crates/guira/benches/against",
    "crates/guira/benches/speed",
    "crates/guira/tests/guira/oracle/allocation.rs",
    "crates/guira-redis/src/server",
    "crates/guira-python/src/direct.rs",
    "crates/guira-python/src/memory.rs",
];

const NAMES_THAT_SAY_NOTHING: &[&str] = &["common", "helper", "helpers", "misc", "util", "utils"];

/// Whether a `matches!(…);` stands as a statement of its own, and so asserts nothing.
fn has_idle_pattern(code: &str) -> bool {
    code.match_indices("matches!").any(|(at, name)| {
        let starts_statement = code[..at].trim_end().ends_with([';', '{', '}']);
        let call = code[at + name.len()..].trim_start();
        let mut depth = 0;
        let after = call.char_indices().find_map(|(at, c)| {
            depth += match c {
                '(' | '[' | '{' => 1,
                ')' | ']' | '}' => -1,
                _ => 0,
            };
            (depth == 0).then(|| &call[at + c.len_utf8()..])
        });
        starts_statement && after.is_some_and(|rest| rest.trim_start().starts_with(';'))
    })
}

fn has_word(code: &str, word: &str) -> bool {
    code.split(|c| !is_identifier(c)).any(|found| found == word)
}

/// The first name on the way to a file that does not say what is there.
fn name_that_says_nothing(file: &Path) -> Option<&str> {
    let mut names = file.iter().filter_map(|name| Path::new(name).file_stem()?.to_str());
    names.find(|name| NAMES_THAT_SAY_NOTHING.contains(name))
}

#[test]
fn no_pattern_is_stated_without_being_asserted() {
    let mut wrong = files(&root(), "rs");
    wrong.retain(|file| has_idle_pattern(&code_only(&read(file))));
    assert_nothing(&wrong);
}

#[test]
fn a_pattern_without_an_assertion_is_noticed() {
    assert!(has_idle_pattern("fn f() { matches!(x, Some(_)); }"));
    assert!(has_idle_pattern("let y = 1;\n matches!(\n f(x),\n Err(E { .. })\n);"));
    assert!(!has_idle_pattern("assert!(matches!(x, Some(_)));"));
    assert!(!has_idle_pattern("fn f() -> bool { matches!(x, Some(_)) }"));
    assert!(!has_idle_pattern("let is_some = matches!(x, Some(_));"));
}

#[test]
fn unsafe_code_is_only_where_the_map_has_it() {
    let root = root();
    let may_be_unsafe = |file: &PathBuf| MAY_BE_UNSAFE.iter().any(|folder| file.starts_with(root.join(folder)));
    let mut wrong = files(&root, "rs");
    wrong.retain(|file| !may_be_unsafe(file) && has_word(&code_only(&read(file)), "unsafe"));
    assert_nothing(&wrong);
}

#[test]
fn unsafe_is_noticed_where_it_is_code() {
    assert!(has_word(&code_only("unsafe { f() }"), "unsafe"));
    assert!(has_word(&code_only("let c = '\"'; unsafe { f() }"), "unsafe"));
    assert!(!has_word(&code_only("#![forbid(unsafe_code)] // unsafe\n/* unsafe */ let s = \"unsafe\";"), "unsafe"));
    assert!(!has_word(&code_only("let s = r#\"a \" unsafe\"#; let c: &'a str = '\\'';"), "unsafe"));
}

#[test]
fn every_file_is_named_for_what_it_holds() {
    let root = root();
    let inside = |file: &PathBuf| file.strip_prefix(&root).expect("it is below").to_owned();
    let mut wrong: Vec<PathBuf> = files(&root, "").iter().map(inside).collect();
    wrong.retain(|file| name_that_says_nothing(file).is_some());
    assert_nothing(&wrong);
}

#[test]
fn a_name_that_says_nothing_is_noticed() {
    assert_eq!(name_that_says_nothing(Path::new("crates/guira/src/util.rs")), Some("util"));
    assert_eq!(name_that_says_nothing(Path::new("crates/guira/tests/common/mod.rs")), Some("common"));
    assert_eq!(name_that_says_nothing(Path::new("crates/guira/src/utilisation.rs")), None);
}
