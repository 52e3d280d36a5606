//! Makes documentation tests of the examples in documents.
//!
//! A reader of a document need not see what returns from `main`, which an example that uses `?` takes.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

const RETURN: &str = "# Ok::<(), Box<dyn std::error::Error>>(())\n";

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    for name in ["README.md", "docs/library.md"] {
        let path = root.join(name);
        println!("cargo::rerun-if-changed={}", path.display());
        let document = fs::read_to_string(path)?;
        let file = Path::new(name).file_name().unwrap_or_default();
        fs::write(folder.join(file), with_returns(&document))?;
    }
    Ok(())
}

/// The document, with a line at the end of each example that uses `?` and has no `main`.
fn with_returns(document: &str) -> String {
    let mut changed = String::new();
    let mut example: Option<String> = None;
    for line in document.lines() {
        match &mut example {
            Some(code) if line == "```" => {
                if code.contains('?') && !code.contains("fn main()") {
                    changed += RETURN;
                }
                example = None;
            }
            Some(code) => *code += line,
            None if line == "```rust" => example = Some(String::new()),
            None => {}
        }
        changed += line;
        changed.push('\n');
    }
    changed
}
