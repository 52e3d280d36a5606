//! What the documents name must be there.

use std::path::Path;

use crate::text::{backticked, code_only, is_identifier, prose_only};
use crate::tree::{assert_nothing, files, read, root};

/// What the name of a file or folder may be relative to, beside the folder of the document that names it.
const PLACES: &[&str] =
    &["", "crates/guira/src", "crates/guira-cli/src", "crates/guira-redis/src", "crates/guira-python/src"];

/// The extensions by which something in backticks is taken for a file of the repository.
const EXTENSIONS: &[&str] = &["lock", "md", "rs", "sh", "toml", "yml"];

/// A link `[text](target)`.
struct Link<'document> {
    text: &'document str,
    target: &'document str,
}

fn links(document: &str) -> Vec<Link<'_>> {
    let link = |(at, _): (usize, &str)| {
        let text = &document[document[..at].rfind('[')? + 1..at];
        let target = &document[at + 2..];
        Some(Link { text, target: &target[..target.find(')')?] })
    };
    document.match_indices("](").filter_map(link).collect()
}

/// Whether something in backticks looks like a file or, ending with a slash, like a folder of the repository.
fn names_a_file(text: &str) -> bool {
    let is_path = text.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c)) && !text.starts_with('-');
    let extension = Path::new(text).extension().and_then(|extension| extension.to_str());
    let has_extension = extension.is_some_and(|extension| EXTENSIONS.contains(&extension));
    is_path && (has_extension || (text.len() > 1 && text.ends_with('/')))
}

/// The anchor that code hosts make of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|&c| c.is_alphanumeric() || " -_".contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// Whether a source file defines the last name of a path such as `Search::find`.
fn defines(source: &str, path: &str) -> bool {
    let name = path.trim_end_matches("()").trim_end_matches('!').rsplit("::").next().unwrap_or(path);
    let code = code_only(source);
    let words: Vec<&str> = code.split(|c| !is_identifier(c)).filter(|word| !word.is_empty()).collect();
    let keywords = ["const", "enum", "fn", "macro_rules", "mod", "static", "struct", "trait", "type"];
    let is_item = words.windows(2).any(|pair| keywords.contains(&pair[0]) && pair[1] == name);
    let mut rests = code.lines().filter_map(|line| line.trim_start().strip_prefix(name));
    let is_variant = name.starts_with(char::is_uppercase)
        && rests.any(|rest| rest.is_empty() || rest.trim_start().starts_with([',', '{', '(']));
    is_item || is_variant
}

/// What is wrong with a link of the document `file`.
fn dead_link(file: &Path, Link { text, target }: &Link<'_>) -> Option<String> {
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let pointed_to = if path.is_empty() { file.to_owned() } else { file.with_file_name("").join(path) };
    // Rustdoc looks after links to items.
    if target.contains("://") || !target.contains(['/', '.', '#']) {
        return None;
    }
    if !pointed_to.exists() {
        return Some(format!("nothing at {target}"));
    }
    if !heading.is_empty() {
        let document = read(&pointed_to);
        let mut headings = document.lines().filter(|line| line.starts_with('#'));
        let has_heading = headings.any(|line| anchor(line.trim_start_matches('#').trim()) == heading);
        return (!has_heading).then(|| format!("no heading {target}"));
    }
    if pointed_to.extension().is_some_and(|extension| extension == "rs") {
        let source = read(&pointed_to);
        let undefined = backticked(text).into_iter().find(|name| !names_a_file(name) && !defines(&source, name));
        return undefined.map(|name| format!("no {name} in {target}"));
    }
    None
}

/// What the document `file` names that is not there.
fn dead_references(file: &Path, document: &str) -> Vec<String> {
    let root = root();
    let prose = prose_only(document);
    let exists = |name: &str| {
        let mut places = PLACES.iter().map(|place| root.join(place)).chain([file.with_file_name("")]);
        places.any(|place| place.join(name).exists())
    };
    let names = backticked(&prose).into_iter().filter(|name| names_a_file(name) && !exists(name));
    let names = names.map(|name| format!("no file {name}"));
    let wrong = links(&prose).iter().filter_map(|link| dead_link(file, link)).chain(names).collect::<Vec<_>>();
    wrong.into_iter().map(|what| format!("{}: {what}", file.display())).collect()
}

#[test]
fn everything_that_the_documents_name_is_there() {
    let documents = files(&root(), "md");
    assert!(documents.iter().any(|file| file.ends_with("docs/algorithm.md")), "the documents are not found");
    let wrong: Vec<String> = documents.iter().flat_map(|file| dead_references(file, &read(file))).collect();
    assert_nothing(&wrong);
}

#[test]
fn dead_references_are_noticed() {
    let count = |document| dead_references(&root().join("docs/example.md"), document).len();
    assert_eq!(
        count("[the map](../ARCHITECTURE.md), `Cargo.toml`, `analysis/capacity.rs`, `and/or`, `crates/guira/src/`"),
        0
    );
    assert_eq!(count("[`Search::find`](../crates/guira/src/relocation.rs) [x](https://example.org/no.md)"), 0);
    assert_eq!(count("[`Search::lose`](../crates/guira/src/relocation.rs)"), 1);
    assert_eq!(count("[gone](gone.md)"), 1);
    assert_eq!(count("[gone](../README.md#no-such-heading)"), 1);
    assert_eq!(count("`analysis/gone.rs` and `attic/`"), 2);
    assert_eq!(count("```\n[gone](gone.md) `attic/`\n```"), 0);
}

#[test]
fn continuous_integration_runs_the_test_command_of_the_readme() {
    let readme = read(&root().join("README.md"));
    let mut lines = readme.lines().skip_while(|line| *line != "## Tests").skip_while(|line| *line != "```sh");
    let command = lines.nth(1).expect("the section Tests of README.md has a command");
    assert!(command.starts_with("cargo test"), "{command}");
    let script = read(&root().join(".ci/run"));
    assert!(script.lines().any(|line| line == format!("run {command}")), ".ci/run does not call {command}");
}
