//! One page with all results, which is self-contained: no network, and no script.

use std::path::Path;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::statements::{Told, told};
use super::svg::{self, Frame};
use super::{Cell, Chart, Claim, Measured, Origin, Run, Table, Verdict, Whose, csv_of, pairs, palette};
use crate::failure::Failure;
use crate::measure::MOST_DISTURBED;
use crate::scale::Scale;

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'run> {
    /// The names of all scales that something was measured at, the smallest first.
    scales: String,
    is_quick: bool,
    machine: Vec<(&'static str, String)>,
    minutes: String,
    sections: Vec<Section<'run>>,
    /// The figure that stands first.
    picture: Option<Figure>,
    statements: Vec<Told>,
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
    let scales = [Scale::Quick, Scale::Medium, Scale::Paper];
    let of_some = |scale: &&Scale| measured.iter().any(|one| one.run.scale == **scale);
    let scales: Vec<&str> = scales.iter().filter(of_some).map(|scale| scale.name()).collect();
    let page = Page {
        scales: scales.join(" and "),
        is_quick: measured.iter().any(|one| one.run.scale.is_quick()),
        machine: first.run.machine.facts(),
        minutes: format!("{:.1}", seconds / 60.0),
        sections: sections.map_err(not_written)?,
        picture: picture(measured).map_err(not_written)?,
        statements: told(measured).map_err(|error| not_written(error.to_string()))?,
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

    fn count(&self, verdict: &Verdict) -> usize {
        self.claims().iter().filter(|claim| claim.verdict == *verdict).count()
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

/// The lists of claims: whose, with a heading.
const LISTS: [(&str, &str, &[Whose]); 3] = [
    ("of-the-paper", "Claims of the paper", &[Whose::Paper]),
    ("of-others", "Claims of other documents", &[Whose::Others]),
    ("of-guira", "The paper's claims about guira's algorithm, and guira's own", &[Whose::PaperOfLibrary, Whose::Own]),
];

/// A claim, and the section that has its table.
type Found<'page> = (&'page Section<'page>, &'page Claim);

impl Page<'_> {
    fn claims(&self) -> impl Iterator<Item = (&Section<'_>, &Claim)> {
        self.sections.iter().flat_map(|section| section.claims().iter().map(move |claim| (section, claim)))
    }

    /// The number of claims for each verdict, by whose claims they are.
    fn tally(&self) -> Vec<(&'static str, [usize; 4])> {
        let count = |whose, verdict| {
            self.claims().filter(|(_, claim)| (claim.whose, claim.verdict) == (whose, verdict)).count()
        };
        Whose::ALL.map(|whose| (whose.name(), Verdict::ALL.map(|verdict| count(whose, verdict)))).into()
    }

    /// The lists of claims, in each of which those that fail come first.
    fn lists(&self) -> Vec<(&'static str, &'static str, Vec<Found<'_>>)> {
        let rank = |verdict| match verdict {
            Verdict::DoesNotHold => 0,
            Verdict::Undecided => 1,
            Verdict::Holds => 2,
            Verdict::NotJudged => 3,
        };
        let list = |(id, title, whose): (&'static str, &'static str, &[Whose])| {
            let mut claims: Vec<_> = self.claims().filter(|(_, claim)| whose.contains(&claim.whose)).collect();
            claims.sort_by_key(|(_, claim)| (rank(claim.verdict), !claim.is_main()));
            (id, title, claims)
        };
        LISTS.map(list).into()
    }

    /// The claims of the paper that fail.
    fn failing(&self) -> Vec<Found<'_>> {
        let fails = |claim: &Claim| claim.verdict == Verdict::DoesNotHold && claim.whose == Whose::Paper;
        self.claims().filter(|(_, claim)| fails(claim)).collect()
    }

    /// What was found, in three sentences.
    fn summary(&self) -> [String; 3] {
        let of_paper = |verdict| {
            self.claims().filter(|(_, claim)| claim.whose == Whose::Paper && claim.verdict == verdict).count()
        };
        let [holds, fails, open] = [Verdict::Holds, Verdict::DoesNotHold, Verdict::Undecided].map(of_paper);
        let headline: Vec<&Claim> = self
            .claims()
            .map(|(_, claim)| claim)
            .filter(|claim| claim.whose == Whose::Paper && claim.numbers.contains(&12))
            .collect();
        let verdicts = |wanted| headline.iter().filter(|claim| claim.verdict == wanted).count();
        let headline = match (verdicts(Verdict::Holds), headline.len()) {
            (_, judged) if judged == verdicts(Verdict::NotJudged) => "needs larger tables to be judged".to_owned(),
            (held, all) if held == all => "holds here, at every share of present keys and at every load".to_owned(),
            (held, all) => {
                format!("holds here in {held} of {all} respects, and fails in {}", verdicts(Verdict::DoesNotHold))
            }
        };
        let failing: Vec<String> = self
            .failing()
            .into_iter()
            .filter(|(_, claim)| claim.is_main())
            .map(|(_, claim)| claim.statement.clone())
            .collect();
        let failing = match failing.len() {
            0 => "No main claim of the paper fails.".to_owned(),
            _ => format!("Of its main claims these do not hold: {}.", failing.join("; ")),
        };
        [
            format!(
                "The paper's first claim, that a cuckoo filter filled to 95 % looks up faster than a Bloom filter, {headline}."
            ),
            format!(
                "Of the {} claims of the paper that were judged, {holds} hold and {fails} do not; {open} {} undecided.",
                holds + fails + open,
                if open == 1 { "is" } else { "are" }
            ),
            failing,
        ]
    }

    /// The expected share of wrong verdicts, in percent.
    fn level(&self) -> f64 {
        100.0 * pairs::LEVEL
    }

    fn most_disturbed(&self) -> f64 {
        100.0 * MOST_DISTURBED
    }

    /// How many fillings were disturbed, in a sentence.
    fn disturbed(&self) -> String {
        let tables = self.sections.iter().filter(|section| section.measured.reproduction.name == "figure-5");
        let tables = tables.flat_map(|section| &section.measured.reproduction.tables);
        let [some, all] =
            tables.map(Table::disturbed_turns).fold([0, 0], |[some, all], [more, and]| [some + more, all + and]);
        match (some, all) {
            (_, 0) => "Of these fillings the single turns were not kept.".to_owned(),
            _ if 2 * some > all => format!(
                "Here that were {some} of {all} fillings of table 3 and figures 5 to 8: this machine was too busy to decide much."
            ),
            _ => format!("Here that were {some} of {all} fillings of table 3 and figures 5 to 8."),
        }
    }
}

/// Figure 5, the figure of the paper's first claim.
fn picture(measured: &[Measured]) -> Result<Option<Figure>, String> {
    let figure_5 = measured.iter().find(|measured| measured.reproduction.name == "figure-5");
    let Some(chart) = figure_5.and_then(|measured| measured.reproduction.charts.first()) else { return Ok(None) };
    let mut chart = chart.clone();
    chart.name += "-first";
    Figure::new(&chart).map(Some)
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
        // The page shows medians and ends; the file has the single turns, too.
        let shown: Vec<usize> =
            (0..table.columns.len()).filter(|&column| !table.columns[column].is_of_turns()).collect();
        let columns = shown.iter().map(|&number| (number, &table.columns[number]));
        Ok(Self {
            title: table.title.clone(),
            file: file.to_owned(),
            csv: STANDARD.encode(csv),
            columns: columns
                .map(|(number, column)| GridColumn { name: column.name.clone(), is_text: is_text(number) })
                .collect(),
            rows: table.rows.iter().map(|row| shown.iter().map(|&column| row[column].shown()).collect()).collect(),
        })
    }

    /// Returns `true` if the first cell names the row.
    fn has_row_names(&self) -> bool {
        self.columns.first().is_some_and(|column| column.is_text)
    }
}
