//! The files of an output folder: for `table-3`, `table-3.csv` (a second table is `table-3-2.csv`), `table-3.json`, and an
//! SVG file for each chart.

use std::fs;
use std::path::Path;

use super::{Machine, Reproduction, Table, svg};
use crate::failure::Failure;
use crate::scale::Scale;

/// Writes what one reproduction found.
pub(crate) fn write_reproduction(folder: &Path, reproduction: &Reproduction) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::not_written(folder, error))?;
    let name = reproduction.name;
    for (number, table) in reproduction.tables.iter().enumerate() {
        let suffix = if number == 0 { String::new() } else { format!("-{}", number + 1) };
        let path = folder.join(format!("{name}{suffix}.csv"));
        write(&path, &csv_of(table).map_err(|error| Failure::not_written(&path, error))?)?;
    }
    let path = folder.join(format!("{name}.json"));
    let json = serde_json::to_vec_pretty(reproduction).map_err(|error| Failure::not_written(&path, error))?;
    write(&path, &json)?;
    for chart in &reproduction.charts {
        let path = folder.join(format!("{}.svg", chart.name));
        let text = svg::draw(chart).map_err(|error| Failure::not_written(&path, error))?;
        write(&path, text.as_bytes())?;
    }
    Ok(())
}

/// Writes everything into one page, `report.md`.
pub(crate) fn write_report(
    folder: &Path,
    machine: &Machine,
    scale: Scale,
    reproductions: &[Reproduction],
) -> Result<(), Failure> {
    let mut page = format!("# The paper's tables and figures, at {} scale\n\n{}", scale.name(), machine.to_markdown());
    for reproduction in reproductions {
        page += &format!("\n{}", reproduction.to_markdown());
    }
    page += "\n## All claims\n\n";
    for claim in reproductions.iter().flat_map(|reproduction| &reproduction.claims) {
        page += &format!("- {claim}\n");
    }
    write(&folder.join("report.md"), page.as_bytes())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|error| Failure::not_written(path, error))
}

fn csv_of(table: &Table) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(table.columns.iter().map(|column| &column.name))?;
    for row in &table.rows {
        writer.write_record(row.iter().map(super::Cell::exact))?;
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}
