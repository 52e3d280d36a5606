//! The interface of the library: how large it is, and that it is documented by examples.

use std::path::Path;

use crate::tree::{assert_nothing, files, read, root};

/// The most public functions that the library's source may have. A macro's function for several kinds counts once, as a reader
/// learns it once.
const MAX_PUBLIC_FUNCTIONS: usize = 230;

/// The types of `raw` for programs that must not stop for long, which count by themselves: nobody else learns them.
const FOR_SERVERS: &[&str] = &["Arriving", "Merging", "Shrinking", "Summing"];

/// The most public functions that these have.
const MAX_FOR_SERVERS: usize = 25;

/// The types whose public functions all have an example. `macro_rules!` has functions that several of them share.
const HAVE_EXAMPLES: &[&str] = &[
    "CuckooFilter",
    "FilterBuilder",
    "CuckooSet",
    "CuckooMap",
    "CountingCuckooFilter",
    "ExpiringCuckooFilter",
    "CuckooFilterView",
    "ConcurrentCuckooFilter",
    "ConcurrentExpiringCuckooFilter",
    "FileHeader",
    "LoadOptions",
    "$type",
    "macro_rules!",
];

/// A public function as the source has it.
#[derive(Debug)]
struct Function<'text> {
    name: &'text str,
    /// The type that it belongs to.
    owner: &'text str,
    documentation: String,
}

impl Function<'_> {
    fn has_example(&self) -> bool {
        self.documentation.contains("```") || self.documentation.contains("#[doc(hidden)]")
    }

    fn says_what_it_repeats(&self) -> bool {
        self.documentation.trim_start().starts_with("The same")
    }
}

/// The type of the first line of an implementation.
fn owner(line: &str) -> Option<&str> {
    if line.starts_with("macro_rules!") {
        return Some("macro_rules!");
    }
    let mut rest = line.strip_prefix("impl")?;
    if let Some(generic) = rest.strip_prefix('<') {
        let mut depth = 1;
        let end = generic.find(|c| {
            depth += i32::from(c == '<') - i32::from(c == '>');
            depth == 0
        })?;
        rest = &generic[end + 1..];
    }
    let name = rest.trim_start();
    Some(name.split(['<', ' ']).next().unwrap_or(name))
}

fn public_functions(source: &str) -> Vec<Function<'_>> {
    let mut found = Vec::new();
    let (mut of, mut documentation) = ("", String::new());
    for line in source.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            documentation += text;
            documentation.push('\n');
            continue;
        }
        if line.starts_with("#[") || line.starts_with("$(#[") {
            documentation += line;
            continue;
        }
        of = owner(line).unwrap_or(of);
        let function = line.strip_prefix("pub ").and_then(|rest| {
            let rest = rest.strip_prefix("const ").unwrap_or(rest);
            rest.strip_prefix("unsafe ").unwrap_or(rest).strip_prefix("fn ")
        });
        if let Some(rest) = function {
            let name = rest.split(['(', '<']).next().unwrap_or(rest);
            found.push(Function { name, owner: of, documentation: documentation.clone() });
        }
        documentation.clear();
    }
    found
}

fn sources() -> Vec<String> {
    files(&root().join("crates/guira/src"), "rs").iter().map(|file| read(Path::new(file))).collect()
}

#[test]
fn the_interface_of_the_library_stays_small() {
    let sources = sources();
    let functions = sources.iter().flat_map(|source| public_functions(source));
    let (for_servers, others): (Vec<_>, Vec<_>) = functions.partition(|it| FOR_SERVERS.contains(&it.owner));
    assert!((100..=MAX_PUBLIC_FUNCTIONS).contains(&others.len()), "{} public functions", others.len());
    assert!((1..=MAX_FOR_SERVERS).contains(&for_servers.len()), "{} public functions for servers", for_servers.len());
}

#[test]
fn every_public_function_of_the_main_types_has_an_example() {
    let sources = sources();
    let functions = || sources.iter().flat_map(|source| public_functions(source));
    let lacks = |function: &Function<'_>| HAVE_EXAMPLES.contains(&function.owner) && !function.has_example();
    assert_nothing(&functions().filter(lacks).collect::<Vec<_>>());
    for owner in HAVE_EXAMPLES {
        assert!(functions().any(|function| function.owner == *owner), "{owner} has no functions: was it renamed?");
    }
}

#[test]
fn no_public_function_is_described_by_another() {
    let sources = sources();
    let functions = sources.iter().flat_map(|source| public_functions(source));
    assert_nothing(&functions.filter(Function::says_what_it_repeats).collect::<Vec<_>>());
}

#[test]
fn functions_are_found_with_their_types_and_examples() {
    let source = "impl<V: Value<u8>> Map<V> {\n    /// The same.\n    #[must_use]\n    pub const fn one(&self) {}\n\n    \
                  /// Returns 2.\n    ///\n    /// ```\n    /// ```\n    pub unsafe fn two<T>(&self) {}\n    fn three() {}\n}\n\
                  impl Set {\n    #[doc(hidden)]\n    pub fn four() {}\n    pub(crate) fn five() {}\n}\n";
    let found = public_functions(source);
    let names: Vec<_> = found.iter().map(|found| (found.owner, found.name, found.has_example())).collect();
    assert_eq!(names, [("Map", "one", false), ("Map", "two", true), ("Set", "four", true)]);
    assert_eq!(found.iter().map(Function::says_what_it_repeats).collect::<Vec<_>>(), [true, false, false]);
}
