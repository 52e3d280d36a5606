//! Parses what programs print: Markdown tables, and the lines between them.

use crate::report::{Cell, Column, Table};

/// Splits printed text into its tables and all other lines.
///
/// The title of a table is the heading above it, if there is one, and its first column: "192MB, one thread".
pub(super) fn take_apart(printed: &str) -> (Vec<Table>, Vec<String>) {
    let mut tables: Vec<Table> = Vec::new();
    let mut text = Vec::new();
    let mut heading = None;
    let mut is_within_table = false;
    for line in printed.lines() {
        let Some(cells) = cells_of(line) else {
            is_within_table = false;
            match line.strip_prefix('#') {
                Some(rest) => heading = Some(rest.trim_start_matches('#').trim()),
                None => text.push(line.to_owned()),
            }
            continue;
        };
        match tables.last_mut() {
            Some(_) if is_within_table && is_rule(&cells) => {}
            Some(table) if is_within_table => {
                let width = table.columns.len();
                let cells = cells.into_iter().map(|cell| if cell.is_empty() { Cell::None } else { Cell::text(cell) });
                // Rows may be shorter than the heading, but not longer.
                table.push(cells.chain(core::iter::repeat(Cell::None)).take(width).collect());
            }
            _ => {
                is_within_table = true;
                let title = heading.into_iter().chain(cells.first().copied()).filter(|part| !part.is_empty());
                let title = title.collect::<Vec<_>>().join(", ");
                let title = if title.is_empty() { format!("table {}", tables.len() + 1) } else { title };
                tables.push(Table::new(title, cells.into_iter().map(Column::timed).collect()));
            }
        }
    }
    let is_blank = |line: &String| line.trim().is_empty();
    let first = text.iter().position(|line| !is_blank(line)).unwrap_or(text.len());
    let end = text.iter().rposition(|line| !is_blank(line)).map_or(first, |last| last + 1);
    (tables, text[first..end].to_vec())
}

/// The cells of a line of a table.
pub(super) fn cells_of(line: &str) -> Option<Vec<&str>> {
    let line = line.trim().strip_prefix('|')?;
    let line = line.strip_suffix('|').unwrap_or(line);
    Some(line.split('|').map(str::trim).collect())
}

/// Returns `true` for the line between the heading of a table and its rows.
fn is_rule(cells: &[&str]) -> bool {
    cells.iter().all(|cell| !cell.is_empty() && cell.chars().all(|letter| matches!(letter, '-' | ':')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_told_from_text() {
        let printed = "begun\n\n## 4MB\n\n| one | two |\n|---|---:|\n| a | 1.50 |\n| b |\nthe end\n| | x |\n|-|-|\n\n";
        let (tables, text) = take_apart(printed);
        assert_eq!(text, ["begun", "", "", "the end"]);
        let [first, second] = &tables[..] else { panic!("{tables:?}") };
        assert_eq!(first.title, "4MB, one");
        assert_eq!(first.rows, [vec![Cell::text("a"), Cell::text("1.50")], vec![Cell::text("b"), Cell::None]]);
        assert_eq!((second.title.as_str(), second.rows.len()), ("4MB", 0));
    }
}
