//! Numbers in documents, and the data that give them.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::{Failure, evaluate};

/// Documents that show data, from the folder of the repository; those in which every table of numbers does.
const DOCUMENTS: [&str; 7] = [
    "README.md",
    "docs/comparison.md",
    "docs/engines.md",
    "docs/evaluation.md",
    "docs/expiring.md",
    "docs/redis.md",
    "crates/guira-python/README.md",
];
const OF_NOTHING_BUT_DATA: [&str; 3] = ["README.md", "docs/comparison.md", "docs/evaluation.md"];

const PICTURE: &str = "peers-lookups-in-memory";

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn documents_show_what_the_data_give() -> Result<(), Failure> {
    let root = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))?;
    for name in DOCUMENTS {
        let path = root.join(name);
        assert!(fs::read_to_string(&path)?.contains("<!-- data {"), "{name} shows no data");
        let more = OF_NOTHING_BUT_DATA.contains(&name).then_some("--all-tables");
        let path = path.to_string_lossy();
        let arguments: Vec<&str> = ["splice", "--check", &path].into_iter().chain(more).collect();
        let output = evaluate(&arguments)?;
        assert!(output.status.success(), "{}", said(&output));
    }
    Ok(())
}

#[test]
fn the_picture_of_the_readme_shows_what_the_data_give() -> Result<(), Failure> {
    let root = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))?;
    let path = |name: &str| root.join(name).to_string_lossy().into_owned();
    let draw = |chart: &str, folder: &str, more: &[&str]| {
        evaluate(&[&["draw", &path("docs/report/peers.json"), chart, folder], more].concat())
    };
    let drawn = draw(PICTURE, &path("docs/figures"), &["--check"])?;
    assert!(drawn.status.success(), "{}", said(&drawn));
    // One that differs in a single digit is found, and written anew.
    let folder = tempfile::tempdir()?;
    let there = folder.path().to_string_lossy();
    for ground in ["light", "dark"] {
        let name = format!("{PICTURE}-{ground}.svg");
        let picture = fs::read_to_string(path(&format!("docs/figures/{name}")))?;
        assert!(fs::read_to_string(root.join("README.md"))?.contains(&format!("docs/figures/{name}")), "{name}");
        fs::write(folder.path().join(&name), picture.replacen('7', "8", 1))?;
        let checked = draw(PICTURE, &there, &["--check"])?;
        assert!(checked.status.code() == Some(1) && said(&checked).contains("-light.svg"), "{}", said(&checked));
        let drawn = draw(PICTURE, &there, &[])?;
        assert!(drawn.status.success(), "{}", said(&drawn));
        assert_eq!(fs::read_to_string(folder.path().join(&name))?, picture);
        fs::remove_file(folder.path().join(format!("{PICTURE}-light.svg")))?;
    }
    let unknown = draw("peers-nowhere", &there, &[])?;
    assert!(said(&unknown).contains("only peers-lookups-in-cache"), "{}", said(&unknown));
    Ok(())
}

/// A folder with a document, and the data that a program printed.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Result<Self, Failure> {
        let folder = Self(tempfile::tempdir()?);
        let printed = r"printf '%s\n' 'begun' '' '| size | ns |' '|---|---|' '| 4MB | 7.70 |' '| 1GB | 20.5 |'";
        let recorded = evaluate(&["record", &folder.path("data.json"), "--commit", "abc", "--", "sh", "-c", printed])?;
        assert!(recorded.status.success(), "{}", said(&recorded));
        assert!(String::from_utf8(recorded.stdout)?.contains("| 4MB | 7.70 |"), "it does not show what is printed");
        Ok(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_string_lossy().into_owned()
    }

    /// What a document becomes, and what is said of it before.
    fn splice(&self, document: &str) -> Result<(String, Output), Failure> {
        let path = self.path("document.md");
        fs::write(&path, document)?;
        let checked = evaluate(&["splice", "--check", "--all-tables", &path])?;
        assert_eq!(fs::read_to_string(&path)?, document, "a check writes");
        let output = evaluate(&["splice", &path])?;
        let spliced = fs::read_to_string(&path)?;
        if output.status.success() && document.contains("<!-- data ") {
            let again = evaluate(&["splice", "--check", &path])?;
            assert!(again.status.success(), "what was spliced is refused: {}", said(&again));
        }
        Ok((spliced, checked))
    }
}

fn block(described: &str, content: &str) -> String {
    format!("before\n\n<!-- data {described} -->\n{content}<!-- end of data -->\n\nafter\n")
}

#[test]
fn blocks_are_put_between_their_comments() -> Result<(), Failure> {
    let folder = Folder::new()?;
    let table = r#"{"file": "data.json", "table": "size"}"#;
    let one = r#"{"file": "data.json", "table": "size", "columns": ["ns"], "rows": {"size": "1GB"}}"#;
    let text = r#"{"file": "data.json", "text": true}"#;
    let words =
        r#"{"file": "data.json", "table": "size", "rows": {"size": "1GB"}, "words": "- **{ns} ns** in {size}"}"#;
    for (described, expected) in [
        (words, "- **20.5 ns** in 1GB\n"),
        (table, "| size |   ns |\n| ---- | ---: |\n| 4MB  | 7.70 |\n| 1GB  | 20.5 |\n"),
        (one, "|   ns |\n| ---: |\n| 20.5 |\n"),
        (text, "```text\nbegun\n```\n"),
    ] {
        for old in ["", "| old |\n|---|\n| 1 |\n"] {
            let (spliced, checked) = folder.splice(&block(described, old))?;
            assert_eq!(spliced, block(described, expected));
            assert_eq!(checked.status.code(), Some(1), "{described}");
        }
    }
    let (spliced, _) = folder.splice(&block(r#"{"file": "data.json"}"#, ""))?;
    assert!(spliced.contains("-->\nBy `sh -c printf ") && spliced.contains("; commit abc; "), "{spliced}");
    Ok(())
}

#[test]
fn a_number_that_differs_is_named() -> Result<(), Failure> {
    let folder = Folder::new()?;
    let document = |number| {
        block(
            r#"{"file": "data.json", "table": "size", "columns": ["ns"]}"#,
            &format!("|   ns |\n| ---: |\n| {number} |\n| 20.5 |\n"),
        )
    };
    let (_, checked) = folder.splice(&document("7.71"))?;
    assert_eq!(checked.status.code(), Some(1));
    assert!(said(&checked).contains("line 6") && said(&checked).contains("| 7.70 |"), "{}", said(&checked));
    let (_, checked) = folder.splice(&document("7.70"))?;
    assert!(checked.status.success(), "{}", said(&checked));
    Ok(())
}

#[test]
fn blocks_that_data_do_not_have_are_refused() -> Result<(), Failure> {
    let folder = Folder::new()?;
    for (described, expected) in [
        (r#"{"file": "data.json", "table": "other"}"#, r#"only "size""#),
        (r#"{"file": "data.json", "table": "size", "columns": ["ms"]}"#, r#"no column "ms""#),
        (r#"{"file": "data.json", "table": "size", "rows": {"size": "2GB"}}"#, "no row"),
        (r#"{"file": "data.json", "table": "size", "words": "{ns}"}"#, "2 rows"),
        (r#"{"file": "data.json", "table": "size", "rows": {"size": "1GB"}, "words": "{ms}"}"#, "no column for {ms}"),
        (r#"{"file": "none.json"}"#, "none.json"),
        (r#"{"file": "data.json", "tabel": "size"}"#, "tabel"),
    ] {
        let document = block(described, "");
        let (spliced, checked) = folder.splice(&document)?;
        assert_eq!(spliced, document);
        assert!(said(&checked).contains(expected), "{described}: {}", said(&checked));
    }
    // Also where the end of the next block would be taken for this one's, with all that is between the two.
    let start = "<!-- data {\"file\": \"data.json\"} -->\n";
    for document in [start.to_owned(), format!("{start}Some prose.\n{}", block(r#"{"file": "data.json"}"#, ""))] {
        let (spliced, checked) = folder.splice(&document)?;
        assert_eq!(spliced, document);
        assert!(said(&checked).contains("ends this block"), "{}", said(&checked));
    }
    Ok(())
}

#[test]
fn a_table_of_numbers_without_data_is_refused() -> Result<(), Failure> {
    let folder = Folder::new()?;
    let (_, checked) = folder.splice("| size | ns |\n|---|---|\n| 4MB | 1,000.5 |\n")?;
    assert!(said(&checked).contains("line 3"), "{}", said(&checked));
    let (_, checked) = folder.splice("| type | does |\n|---|---|\n| one | two |\n")?;
    assert!(checked.status.success(), "{}", said(&checked));
    Ok(())
}

#[test]
fn a_program_that_fails_leaves_no_data() -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("data.json");
    let output = evaluate(&["record", &path.to_string_lossy(), "--", "sh", "-c", "echo '| 1 |'; exit 3"])?;
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains('3') && !path.exists(), "{}", said(&output));
    Ok(())
}
