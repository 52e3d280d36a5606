use serde::{Deserialize, Serialize};

use super::{Cell, Origin, is_number};

/// The suffixes of a column's name in the names of the columns with the ends of its intervals.
pub(crate) const LOWEST: &str = ": lowest";
pub(crate) const HIGHEST: &str = ": highest";

/// Markdown cells are padded up to this width.
const WIDEST: usize = 60;

/// The heading of a column, with the unit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) origin: Origin,
}

impl Column {
    pub(crate) fn counted(name: impl Into<String>) -> Self {
        Self { name: name.into(), origin: Origin::Counted }
    }

    pub(crate) fn timed(name: impl Into<String>) -> Self {
        Self { name: name.into(), origin: Origin::Timed }
    }

    /// The median of several turns, and columns for the least and the greatest of them.
    pub(crate) fn interval(name: &str) -> [Self; 3] {
        [name.to_owned(), format!("{name}{LOWEST}"), format!("{name}{HIGHEST}")].map(Self::timed)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(title: impl Into<String>, columns: Vec<Column>) -> Self {
        Self { title: title.into(), columns, rows: Vec::new() }
    }

    /// Adds a row, which has a cell for each column.
    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len(), "a row of {}", self.title);
        self.rows.push(row);
    }

    /// The number of a column.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The rows in which columns hold values, as the CSV file has them.
    pub(super) fn rows_where(&self, values: &[(String, String)]) -> impl Iterator<Item = &Vec<Cell>> {
        let wanted: Vec<(Option<usize>, &str)> =
            values.iter().map(|(column, value)| (self.column(column), value.as_str())).collect();
        self.rows.iter().filter(move |row| {
            wanted.iter().all(|(column, value)| column.is_some_and(|column| row[column].exact() == *value))
        })
    }

    /// Some columns, or all if none is named, of the rows in which other columns have given values.
    ///
    /// # Errors
    /// Says which column or which row is missing.
    pub(crate) fn select(&self, names: &[String], values: &[(String, String)]) -> Result<Self, String> {
        let missing = |name: &String| format!("the table {:?} has no column {name:?}", self.title);
        let all = values.iter().map(|(name, _)| name).chain(names);
        if let Some(name) = all.into_iter().find(|name| self.column(name).is_none()) {
            return Err(missing(name));
        }
        let chosen: Vec<usize> = match names {
            [] => (0..self.columns.len()).collect(),
            _ => names.iter().filter_map(|name| self.column(name)).collect(),
        };
        let columns = chosen.iter().map(|&column| self.columns[column].clone()).collect();
        let rows = self.rows_where(values).map(|row| chosen.iter().map(|&column| row[column].clone()).collect());
        let rows: Vec<Vec<Cell>> = rows.collect();
        match rows.is_empty() {
            true => Err(format!("the table {:?} has no row with {values:?}", self.title)),
            false => Ok(Self { title: self.title.clone(), columns, rows }),
        }
    }

    /// As Markdown that is legible as plain text: all cells of a column are equally wide, except for sentences.
    pub(crate) fn to_markdown(&self) -> String {
        let heading = self.columns.iter().map(|column| column.name.clone()).collect();
        let rows = self.rows.iter().map(|row| row.iter().map(Cell::shown).collect());
        let lines: Vec<Vec<String>> = core::iter::once(heading).chain(rows).collect();
        let width =
            |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0).min(WIDEST);
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        // Numbers are right-aligned; numbers that programs printed are text here.
        let is_numeric = |cell: &Cell| !matches!(cell, Cell::Text(text) if !is_number(text));
        let is_text = |column: usize| !self.rows.iter().all(|row| is_numeric(&row[column]));
        let mut markdown = String::new();
        for (number, line) in lines.iter().enumerate() {
            let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                if is_text(column) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            markdown += &format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
            if number == 0 {
                let rules = widths.iter().enumerate().map(|(column, &width)| match is_text(column) {
                    true => "-".repeat(width),
                    false => format!("{}:", "-".repeat(width.saturating_sub(1))),
                });
                markdown += &format!("| {} |\n", rules.collect::<Vec<_>>().join(" | "));
            }
        }
        markdown
    }
}
