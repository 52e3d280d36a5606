use serde::{Deserialize, Serialize};

use super::{Cell, Origin, is_number};

/// The suffixes of a column's name in the names of the columns with the ends of its intervals.
pub(crate) const LOWEST: &str = ": lowest";
pub(crate) const HIGHEST: &str = ": highest";
/// The suffix of the column with the single turns, by which claims are judged. Files have it, documents do not.
pub(crate) const TURNS: &str = ": turns";

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

    /// The median of several turns, columns for the least and the greatest of them, and one for all of them.
    pub(crate) fn interval(name: &str) -> [Self; 4] {
        let suffixes = ["", LOWEST, HIGHEST, TURNS];
        suffixes.map(|suffix| Self::timed(format!("{name}{suffix}")))
    }

    /// Returns `true` if it has the single turns of another column.
    pub(crate) fn is_of_turns(&self) -> bool {
        self.name.ends_with(TURNS)
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

    /// Returns `true` if the figures of a column are of several turns, which the table has.
    pub(super) fn has_turns(&self, column: &str) -> bool {
        self.column(&format!("{column}{TURNS}")).is_some()
    }

    /// Returns `true` if the figures of a column are of several turns, of which only the ends were kept.
    pub(super) fn has_lost_turns(&self, column: &str) -> bool {
        !self.has_turns(column) && self.column(&format!("{column}{LOWEST}")).is_some()
    }

    /// How many turns of the first figures of each name were disturbed, and how many there were.
    pub(super) fn disturbed_turns(&self) -> [usize; 2] {
        let Some(column) = self.columns.iter().position(Column::is_of_turns) else { return [0, 0] };
        let mut names = std::collections::BTreeSet::new();
        let firsts = self.rows.iter().filter(|row| row.first().is_some_and(|name| names.insert(name.exact())));
        let counts = firsts.filter_map(|row| row[column].turns());
        counts.fold([0, 0], |[some, all], turns| {
            let quiet = turns.iter().flatten().count();
            [some + turns.len() - quiet, all + turns.len()]
        })
    }

    /// The rows in which columns hold values, as the CSV file has them.
    pub(super) fn rows_where(&self, values: &[(String, String)]) -> impl Iterator<Item = &Vec<Cell>> {
        let wanted: Vec<(Option<usize>, &str)> =
            values.iter().map(|(column, value)| (self.column(column), value.as_str())).collect();
        self.rows.iter().filter(move |row| {
            wanted.iter().all(|(column, value)| column.is_some_and(|column| row[column].exact() == *value))
        })
    }

    /// The cells of a column in the rows where another one has a value, as the CSV file has them.
    pub(crate) fn texts_where(&self, column: &str, other: &str, value: &str) -> Vec<String> {
        let Some(number) = self.column(column) else { return Vec::new() };
        self.rows_where(&[(other.to_owned(), value.to_owned())]).map(|row| row[number].exact()).collect()
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
            [] => (0..self.columns.len()).filter(|&column| !self.columns[column].is_of_turns()).collect(),
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
        if self.columns.iter().any(Column::is_of_turns) {
            return self.select(&[], &[]).map_or_else(|reason| reason, |shown| shown.to_markdown());
        }
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
