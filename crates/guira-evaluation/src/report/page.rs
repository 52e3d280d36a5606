//! One page with all results, which is self-contained: no network, and no script.

use std::path::Path;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::svg::{self, Frame};
use super::{Cell, Chart, Claim, Measured, Origin, Run, Table, Verdict, Whose, csv_of, palette};
use crate::failure::Failure;
use crate::scale::Scale;

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'run> {
    scale: Scale,
    machine: Vec<(&'static str, String)>,
    minutes: String,
    sections: Vec<Section<'run>>,
    /// The style sheet's rules for dark charts, which contain only colours.
    dark_drawings: String,
}

/// The results of one reproduction.
struct Section<'run> {
    measured: &'run Measured,
    figures: Vec<Figure>,
    tables: Vec<Grid>,
    /// If it was not measured by the same program on the same machine as the first one, what measured it.
    stranger: Option<String>,
}

/// A chart, also as a table.
struct Figure {
    title: String,
    /// The source of the light marks.
    others: Option<String>,
    /// SVG elements for wide and for narrow screens, in which all text is escaped.
    wide: String,
    narrow: String,
    table: Grid,
}

/// A table as the page shows it.
struct Grid {
    title: String,
    file: String,
    csv: String,
    columns: Vec<GridColumn>,
    rows: Vec<Vec<String>>,
}

struct GridColumn {
    name: String,
    is_text: bool,
}

/// Writes all results into one page.
pub(crate) fn write_page(path: &Path, measured: &[Measured]) -> Result<(), Failure> {
    let not_written = |reason: String| Failure::not_written(path, reason);
    let first = measured.first().ok_or_else(|| not_written("nothing was measured".to_owned()))?;
    let sections: Result<Vec<_>, String> = measured.iter().map(|one| Section::new(one, &first.run)).collect();
    let seconds: f64 = measured.iter().map(|one| one.run.seconds).sum();
    let page = Page {
        scale: first.run.scale,
        machine: first.run.machine.facts(),
        minutes: format!("{:.1}", seconds / 60.0),
        sections: sections.map_err(not_written)?,
        dark_drawings: palette::dark_rules(),
    };
    let html = page.render().map_err(|error| not_written(error.to_string()))?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| not_written(error.to_string()))?;
    }
    std::fs::write(path, html).map_err(|error| not_written(error.to_string()))
}

impl<'run> Section<'run> {
    fn new(measured: &'run Measured, first: &Run) -> Result<Self, String> {
        let reproduction = &measured.reproduction;
        let run = &measured.run;
        let is_stranger = !run.machine.is_same_as(&first.machine);
        let facts = run.machine.facts().into_iter().map(|(name, value)| format!("{name}: {value}"));
        let tables = reproduction.tables.iter().enumerate();
        Ok(Self {
            measured,
            figures: reproduction.charts.iter().map(Figure::new).collect::<Result<_, _>>()?,
            tables: tables
                .map(|(number, table)| Grid::new(table, &reproduction.file(number)))
                .collect::<Result<_, _>>()?,
            stranger: is_stranger
                .then(|| format!("{} scale; {}", run.scale.name(), facts.collect::<Vec<_>>().join("; "))),
        })
    }

    fn claims(&self) -> &[Claim] {
        &self.measured.reproduction.claims
    }

    /// The paragraphs of the method.
    fn paragraphs(&self) -> impl Iterator<Item = &str> {
        self.measured.reproduction.method.split("\n\n")
    }

    fn has_main_claims(&self) -> bool {
        self.claims().iter().any(Claim::is_main)
    }

    fn holding(&self) -> usize {
        self.claims().iter().filter(|claim| claim.verdict == Verdict::Holds).count()
    }

    /// The number of judged claims.
    fn judged(&self) -> usize {
        self.claims().iter().filter(|claim| claim.is_judged()).count()
    }

    /// The CSV file of a table, by which claims are decided.
    fn file(&self, table: &usize) -> String {
        self.measured.reproduction.file(*table)
    }

    /// Figures show their tables on demand, tables at once.
    fn shows_tables(&self) -> bool {
        self.figures.is_empty()
    }
}

impl Page<'_> {
    /// The number of claims for each verdict, by whose claims they are.
    fn tally(&self) -> Vec<(&'static str, [usize; 4])> {
        let claims = || self.sections.iter().flat_map(|section| section.claims());
        let count = |whose, verdict| claims().filter(|claim| (claim.whose, claim.verdict) == (whose, verdict)).count();
        Whose::ALL.map(|whose| (whose.name(), Verdict::ALL.map(|verdict| count(whose, verdict)))).into()
    }
}

impl Figure {
    fn new(chart: &Chart) -> Result<Self, String> {
        let draw = |frame| svg::draw(chart, frame).map_err(|error| error.to_string());
        Ok(Self {
            title: chart.title.clone(),
            others: chart.others.clone(),
            wide: draw(Frame::Page)?,
            narrow: draw(Frame::Phone)?,
            table: Grid::new(&chart.table(), &format!("{}.csv", chart.name))?,
        })
    }
}

impl Grid {
    fn new(table: &Table, file: &str) -> Result<Self, String> {
        let csv = csv_of(table).map_err(|error| error.to_string())?;
        let is_text = |column: usize| table.rows.iter().all(|row| matches!(row[column], Cell::Text(_) | Cell::None));
        let columns = table.columns.iter().enumerate();
        Ok(Self {
            title: table.title.clone(),
            file: file.to_owned(),
            csv: STANDARD.encode(csv),
            columns: columns
                .map(|(number, column)| GridColumn { name: column.name.clone(), is_text: is_text(number) })
                .collect(),
            rows: table.rows.iter().map(|row| row.iter().map(Cell::shown).collect()).collect(),
        })
    }

    /// Returns `true` if the first cell names the row.
    fn has_row_names(&self) -> bool {
        self.columns.first().is_some_and(|column| column.is_text)
    }
}
