//! A block of a document, which shows a part of a data file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::data::Data;
use crate::failure::Failure;

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
        Ok(chosen.to_markdown())
    }
}

fn fenced(lines: &[String]) -> String {
    format!("```text\n{}\n```\n", lines.join("\n"))
}
