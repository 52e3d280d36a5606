//! A block of a document, which shows a part of a data file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::data::Data;
use crate::failure::Failure;
use crate::report::Table;

/// The comment before a block, as JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Block {
    /// The data file, relative to the document. Without other fields, the block is a sentence on how the data was measured.
    file: PathBuf,
    /// The title of a table in the data file.
    table: Option<String>,
    /// Some of the table's columns; otherwise all.
    #[serde(default)]
    columns: Vec<String>,
    /// Only the rows in which these columns have these values.
    #[serde(default)]
    rows: BTreeMap<String, String>,
    /// In place of the table, text with the values of its only row, each named by its column: `{absent, million/s}`.
    words: Option<String>,
    /// Shows the lines that are in no table.
    #[serde(default)]
    text: bool,
}

impl Block {
    /// The text of the block.
    pub(super) fn content(&self, folder: &Path) -> Result<String, Failure> {
        let path = folder.join(&self.file);
        let data = Data::read(&path)?;
        let Some(title) = &self.table else {
            return Ok(if self.text { fenced(&data.text) } else { data.run.to_markdown() });
        };
        let table = data.tables.iter().find(|table| table.title == *title).ok_or_else(|| {
            let titles: Vec<_> = data.tables.iter().map(|table| format!("{:?}", table.title)).collect();
            Failure::not_read(&path, format!("there is no table {title:?}, only {}", titles.join(", ")))
        })?;
        let rows: Vec<_> = self.rows.clone().into_iter().collect();
        let chosen = table.select(&self.columns, &rows).map_err(|reason| Failure::not_read(&path, reason))?;
        match &self.words {
            Some(words) => filled(words, &chosen).map_err(|reason| Failure::not_read(&path, reason)),
            None => Ok(chosen.to_markdown()),
        }
    }
}

/// Words with the values of a table of one row.
fn filled(words: &str, table: &Table) -> Result<String, String> {
    let [row] = &table.rows[..] else { return Err(format!("{} rows for the words {words:?}", table.rows.len())) };
    let mut filled = format!("{words}\n");
    for (column, cell) in table.columns.iter().zip(row) {
        filled = filled.replace(&format!("{{{}}}", column.name), &cell.shown());
    }
    match filled.split_once('{') {
        Some((_, rest)) => Err(format!("no column for {{{}", rest.trim_end())),
        None => Ok(filled),
    }
}

fn fenced(lines: &[String]) -> String {
    format!("```text\n{}\n```\n", lines.join("\n"))
}
