use serde::{Deserialize, Serialize};

use super::{Cell, Column, Table, four_digits};

/// Curves over one axis.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Chart {
    /// The name of its file.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Axis {
    /// With the unit.
    pub(crate) label: String,
    pub(crate) scaling: Scaling,
    /// What the axis shows at least.
    pub(crate) shows: Option<[f64; 2]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scaling {
    Linear,
    /// By powers of ten.
    Logarithmic,
}

impl Chart {
    /// Where its axes begin and end.
    pub(super) fn x_ends(&self) -> [f64; 2] {
        self.x.ends(self.points().map(|point| point.0))
    }

    pub(super) fn y_ends(&self) -> [f64; 2] {
        self.y.ends(self.points().map(|point| point.1))
    }

    fn points(&self) -> impl Iterator<Item = &(f64, f64)> {
        self.series.iter().flat_map(|series| &series.points)
    }

    /// What it shows, for those who don't see it.
    pub(super) fn description(&self) -> String {
        let range = |values: &mut dyn Iterator<Item = f64>| {
            let [low, high] =
                values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| [low.min(value), high.max(value)]);
            format!("{} to {}", short(low), short(high))
        };
        let names: Vec<&str> = self.series.iter().map(|series| series.name.as_str()).collect();
        format!(
            "Curves of {}: {} from {}, {} from {}. All of it is in a table, too.",
            names.join(", "),
            self.x.label,
            range(&mut self.points().map(|point| point.0)),
            self.y.label,
            range(&mut self.points().map(|point| point.1)),
        )
    }

    /// The same as numbers: a row for each place and a column for each curve if all have the same places, or else a row
    /// for each point.
    pub(super) fn table(&self) -> Table {
        let places = |series: &Series| series.points.iter().map(|point| point.0).collect::<Vec<_>>();
        let shared = self.series.first().map(places).unwrap_or_default();
        if self.series.iter().all(|series| places(series) == shared) {
            let names = self.series.iter().map(|series| Column::counted(format!("{}: {}", series.name, self.y.label)));
            let columns = core::iter::once(Column::counted(&self.x.label)).chain(names);
            let mut table = Table::new(&self.title, columns.collect());
            for (row, &x) in shared.iter().enumerate() {
                let heights = self.series.iter().map(|series| Cell::Number(series.points[row].1));
                table.push(core::iter::once(Cell::Number(x)).chain(heights).collect());
            }
            return table;
        }
        let mut table = Table::new(&self.title, ["curve", &self.x.label, &self.y.label].map(Column::counted).into());
        for series in &self.series {
            for &(x, y) in &series.points {
                table.push(vec![Cell::text(&series.name), Cell::Number(x), Cell::Number(y)]);
            }
        }
        table
    }
}

/// A number with four digits, without zeros at its end.
fn short(number: f64) -> String {
    let text = four_digits(number);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

impl Axis {
    /// From 0 on.
    pub(crate) fn linear(label: &str) -> Self {
        Self { label: label.to_owned(), scaling: Scaling::Linear, shows: Some([0.0, 0.0]) }
    }

    pub(crate) fn linear_within(label: &str, shows: [f64; 2]) -> Self {
        Self { label: label.to_owned(), scaling: Scaling::Linear, shows: Some(shows) }
    }

    /// From the lowest value to the highest.
    pub(crate) fn linear_from(label: &str) -> Self {
        Self { label: label.to_owned(), scaling: Scaling::Linear, shows: None }
    }

    /// Whole powers of ten.
    pub(crate) fn logarithmic(label: &str) -> Self {
        Self { label: label.to_owned(), scaling: Scaling::Logarithmic, shows: None }
    }

    /// Where a value stands on it.
    pub(crate) fn place(&self, value: f64) -> f64 {
        match self.scaling {
            Scaling::Linear => value,
            Scaling::Logarithmic => value.log10(),
        }
    }

    /// What stands beside a place of it.
    pub(crate) fn mark(&self, place: f64) -> String {
        let value = match self.scaling {
            Scaling::Linear => place,
            Scaling::Logarithmic => 10f64.powf(place),
        };
        // No more digits than it takes to tell marks apart.
        let text = format!("{value:.6}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    /// The places where it begins and ends, for curves between two values.
    pub(crate) fn ends(&self, values: impl Iterator<Item = f64>) -> [f64; 2] {
        let shown = self.shows.into_iter().flatten();
        let places = values.chain(shown).map(|value| self.place(value)).filter(|place| place.is_finite());
        let [low, high] =
            places.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], place| [low.min(place), high.max(place)]);
        match self.scaling {
            _ if low > high => [0.0, 1.0],
            // Some air above the highest curve, unless the axis says where it ends.
            Scaling::Linear if self.shows.is_some_and(|[from, to]| to > from) => [low, high],
            Scaling::Linear => [low, high * 1.05],
            Scaling::Logarithmic => [low.floor(), high.ceil()],
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// The number of its colour and mark.
    pub(crate) style: usize,
    pub(crate) points: Vec<(f64, f64)>,
}
