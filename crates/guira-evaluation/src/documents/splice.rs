//! Documents with blocks that are generated from data files:
//!
//! ```text
//! <!-- data {"file": "data/growth.json", "table": "keys before a doubling"} -->
//! what is between the two comments
//! <!-- end of data -->
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use super::block::Block;
use super::printed::cells_of;
use crate::failure::Failure;
use crate::report::is_number;

const START: &str = "<!-- data ";
const START_ENDS: &str = " -->";
const END: &str = "<!-- end of data -->";

/// What to do with documents that differ from the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writing {
    /// Rewrite them.
    Rewrite,
    /// Report an error.
    Check,
    /// Also report numbers in tables outside of blocks.
    CheckTables,
}

/// Updates the blocks of documents from their data files.
pub(crate) fn splice(documents: &[PathBuf], writing: Writing) -> Result<(), Failure> {
    for path in documents {
        let old = fs::read_to_string(path).map_err(|error| Failure::not_read(path, error))?;
        let new = spliced(path, &old)?;
        match writing {
            Writing::Check => check_same(path, &old, &new)?,
            Writing::CheckTables => {
                check_same(path, &old, &new)?;
                check_tables(path, &old)?;
            }
            Writing::Rewrite if old != new => {
                fs::write(path, new).map_err(|error| Failure::not_written(path, error))?;
            }
            Writing::Rewrite => {}
        }
    }
    Ok(())
}

/// A document with all blocks generated from the data.
fn spliced(path: &Path, document: &str) -> Result<String, Failure> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut new = String::new();
    let mut lines = document.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        new += line;
        new.push('\n');
        let Some(described) = line.strip_prefix(START) else { continue };
        let wrong = |reason: String| Failure::not_read(path, format!("line {number}: {reason}"));
        let described = described
            .strip_suffix(START_ENDS)
            .ok_or_else(|| wrong(format!("the comment must end with {START_ENDS:?}")))?;
        let block: Block = serde_json::from_str(described).map_err(|error| wrong(error.to_string()))?;
        // The present content is skipped.
        let next = lines.by_ref().map(|(line, _)| line).find(|line| *line == END || line.starts_with(START));
        if next != Some(END) {
            return Err(wrong(format!("no line {END:?} ends this block")));
        }
        new += &block.content(folder)?;
        new += END;
        new.push('\n');
    }
    Ok(new)
}

fn check_same(path: &Path, old: &str, new: &str) -> Result<(), Failure> {
    let differing = (1..).zip(old.lines().zip(new.lines())).find(|(_, (old, new))| old != new);
    match differing {
        Some((number, (old, new))) => Err(Failure::not_read(
            path,
            format!("line {number} is not what the data give, which the command \"splice\" puts there:\n{old}\n{new}"),
        )),
        None if old.lines().count() != new.lines().count() => {
            Err(Failure::not_read(path, "a block is longer or shorter than the data; the command \"splice\" renews it"))
        }
        None => Ok(()),
    }
}

/// Checks that no table outside of blocks contains numbers.
fn check_tables(path: &Path, document: &str) -> Result<(), Failure> {
    let mut is_within_block = false;
    for (line, number) in document.lines().zip(1..) {
        is_within_block = line.starts_with(START) || (is_within_block && line != END);
        let numbers = cells_of(line).is_some_and(|cells| cells.into_iter().any(is_number));
        if numbers && !is_within_block {
            let reason = format!("line {number} has numbers in a table that no data file gives:\n{line}");
            return Err(Failure::not_read(path, reason));
        }
    }
    Ok(())
}
