//! The files of an output folder: for `table-3`, `table-3.csv` (a second table is `table-3-2.csv`), `table-3.json`, and an
//! SVG file for each chart.

use std::fs;
use std::path::Path;

use serde::Serialize;

use super::svg::{self, Frame, Ground};
use super::{Cell, Claim, Column, Measured, Run, Table};
use crate::failure::Failure;
use crate::scale::Scale;

/// Writes what one reproduction found.
pub(crate) fn write_measured(folder: &Path, measured: &Measured) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::not_written(folder, error))?;
    let reproduction = &measured.reproduction;
    for (number, table) in reproduction.tables.iter().enumerate() {
        let path = folder.join(reproduction.file(number));
        write(&path, &csv_of(table).map_err(|error| Failure::not_written(&path, error))?)?;
    }
    for chart in &reproduction.charts {
        let path = folder.join(format!("{}.svg", chart.name));
        let text = svg::draw(chart, Frame::File).map_err(|error| Failure::not_written(&path, error))?;
        write(&path, text.as_bytes())?;
    }
    // Written last, so that its existence means that all files exist.
    let path = folder.join(format!("{}.json", reproduction.name));
    let json = serde_json::to_vec_pretty(measured).map_err(|error| Failure::not_written(&path, error))?;
    write(&path, &json)
}

/// Reads the earlier result of a reproduction, if there is one. It must be of this scale, if one is given: what is measured in its place may
/// be written to this folder, and the other scale takes seconds where this one took hours.
pub(crate) fn read_earlier(folder: &Path, name: &str, scale: Option<Scale>) -> Result<Option<Measured>, Failure> {
    let path = folder.join(format!("{name}.json"));
    if !path.exists() {
        return Ok(None);
    }
    let json = fs::read(&path).map_err(|error| Failure::not_read(&path, error))?;
    let measured: Measured = serde_json::from_slice(&json).map_err(|error| Failure::not_read(&path, error))?;
    if scale.is_some_and(|scale| measured.run.scale != scale) {
        let theirs = measured.run.scale.name();
        return Err(Failure::not_read(
            &path,
            format!("a result of {theirs} scale: say --scale {theirs}, take another folder, or mix them by --mixed"),
        ));
    }
    Ok(Some(measured))
}

/// What to do with pictures that differ from the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drawing {
    /// Write them.
    Write,
    /// Report an error.
    Check,
}

/// Draws a chart of a data file as two pictures: for a light background and for a dark one.
pub(crate) fn draw_pictures(data: &Path, name: &str, folder: &Path, drawing: Drawing) -> Result<(), Failure> {
    let json = fs::read(data).map_err(|error| Failure::not_read(data, error))?;
    let measured: Measured = serde_json::from_slice(&json).map_err(|error| Failure::not_read(data, error))?;
    let charts = &measured.reproduction.charts;
    let chart = charts.iter().find(|chart| chart.name == name).ok_or_else(|| {
        let names: Vec<_> = charts.iter().map(|chart| chart.name.as_str()).collect();
        Failure::not_read(data, format!("there is no chart {name:?}, only {}", names.join(", ")))
    })?;
    for frame in [Ground::Light, Ground::Dark].map(Frame::Picture) {
        let path = folder.join(format!("{name}-{}.svg", frame.name()));
        let picture = svg::draw(chart, frame).map_err(|error| Failure::not_written(&path, error))?;
        if drawing == Drawing::Write {
            write(&path, picture.as_bytes())?;
        } else if fs::read_to_string(&path).map_err(|error| Failure::not_read(&path, error))? != picture {
            return Err(Failure::not_read(
                &path,
                "it is not what the data give, which the command \"draw\" puts there",
            ));
        }
    }
    Ok(())
}

/// Writes all results into one page, `report.md`, and all claims into a data file, `claims.json`.
pub(crate) fn write_report(folder: &Path, run: &Run, all: &[Measured]) -> Result<(), Failure> {
    let mut page =
        format!("# The paper's tables and figures, at {} scale\n\n{}", run.scale.name(), run.machine.to_markdown());
    for measured in all {
        page += &format!("\n{}", measured.reproduction.to_markdown());
        if !measured.run.machine.is_same_as(&run.machine) {
            let Run { command, machine, .. } = &measured.run;
            page += &format!("\nAn earlier result, by `{command}`:\n\n{}", machine.to_markdown());
        }
    }
    page += "\n## All claims\n\n";
    for claim in all.iter().flat_map(|measured| &measured.reproduction.claims) {
        page += &format!("- {claim}\n");
    }
    write(&folder.join("report.md"), page.as_bytes())?;
    let path = folder.join("claims.json");
    let claims = Claims { run, tables: [table_of_claims(all)] };
    let json = serde_json::to_vec_pretty(&claims).map_err(|error| Failure::not_written(&path, error))?;
    write(&path, &json)
}

/// A data file with only a table.
#[derive(Serialize)]
struct Claims<'run> {
    run: &'run Run,
    tables: [Table; 1],
}

fn table_of_claims(all: &[Measured]) -> Table {
    let columns = ["measured by", "claim", "whose", "verdict", "by which numbers"];
    let mut table = Table::new("claims", columns.map(Column::timed).into());
    for Measured { reproduction, .. } in all {
        for claim @ Claim { statement, whose, verdict, evidence, .. } in &reproduction.claims {
            let tried = claim.tried();
            let evidence = if tried.is_empty() { evidence.clone() } else { format!("{evidence}; {tried}") };
            let cells = [&reproduction.name, statement, whose.name(), &verdict.to_string(), &evidence];
            table.push(cells.map(Cell::text).into());
        }
    }
    table
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|error| Failure::not_written(path, error))
}

pub(super) fn csv_of(table: &Table) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(table.columns.iter().map(|column| &column.name))?;
    for row in &table.rows {
        writer.write_record(row.iter().map(Cell::exact))?;
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}
