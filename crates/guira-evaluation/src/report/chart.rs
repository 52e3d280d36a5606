use serde::{Deserialize, Serialize};

use super::{Cell, Column, Style, Table, four_digits};

/// Curves over one axis.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Chart {
    /// The name of the file.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
    /// The source of the light marks, if there are any.
    pub(crate) others: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Axis {
    /// The label, with the unit.
    pub(crate) label: String,
    pub(crate) scaling: Scaling,
    /// An interval that the axis shows in any case.
    pub(crate) shows: Option<[f64; 2]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scaling {
    Linear,
    /// By powers of ten.
    Logarithmic,
    /// Whole exponents of powers of two.
    Exponents,
}

impl Chart {
    /// The ends of the x axis.
    pub(super) fn x_ends(&self) -> [f64; 2] {
        self.x.ends(self.points().map(|point| point.0))
    }

    pub(super) fn y_ends(&self) -> [f64; 2] {
        self.y.ends(self.points().map(|point| point.1))
    }

    /// Everything that is drawn: points, their intervals, and the figures of others.
    fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        self.series.iter().flat_map(|series| {
            let heights = series.points.iter().flat_map(|point| [point.low, point.y, point.high].map(|y| (point.x, y)));
            heights.chain(series.others.iter().copied())
        })
    }

    /// A description for those who don't see the chart.
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

    /// The chart as a table: with a row for each x and a column for each curve if all curves have the same x, otherwise with a
    /// row for each point.
    pub(super) fn table(&self) -> Table {
        let places = |series: &Series| series.points.iter().map(|point| point.x).collect::<Vec<_>>();
        let shared = self.series.first().map(places).unwrap_or_default();
        if !self.has_intervals() && self.series.iter().all(|series| places(series) == shared) {
            let names = self.series.iter().map(|series| Column::counted(format!("{}: {}", series.name, self.y.label)));
            let columns = core::iter::once(Column::counted(&self.x.label)).chain(names);
            let mut table = Table::new(&self.title, columns.collect());
            for (row, &x) in shared.iter().enumerate() {
                let heights = self.series.iter().map(|series| Cell::Number(series.points[row].y));
                table.push(core::iter::once(Cell::Number(x)).chain(heights).collect());
            }
            return table;
        }
        let mut columns = ["curve", &self.x.label, &self.y.label].map(Column::counted).to_vec();
        if self.has_intervals() {
            columns.extend(["lowest", "highest"].map(Column::counted));
        }
        let mut table = Table::new(&self.title, columns);
        for series in &self.series {
            for point in &series.points {
                let ends = [point.low, point.high].map(Cell::Number).into_iter().take(table.columns.len() - 3);
                let start = [Cell::text(&series.name), Cell::Number(point.x), Cell::Number(point.y)];
                let row = start.into_iter().chain(ends).collect();
                table.push(row);
            }
        }
        table
    }

    fn has_intervals(&self) -> bool {
        self.series.iter().flat_map(|series| &series.points).any(|point| point.low < point.high)
    }
}

/// A number with four digits, without zeros at its end.
fn short(number: f64) -> String {
    let text = four_digits(number);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

impl Axis {
    /// An axis from 0.
    pub(crate) fn linear(label: &str) -> Self {
        Self { label: label.to_owned(), scaling: Scaling::Linear, shows: Some([0.0, 0.0]) }
    }

    pub(crate) fn linear_within(label: &str, shows: [f64; 2]) -> Self {
        Self { label: label.to_owned(), scaling: Scaling::Linear, shows: Some(shows) }
    }

    /// An axis of whole powers of ten.
    pub(crate) fn logarithmic(label: &str) -> Self {
        Self { label: label.to_owned(), scaling: Scaling::Logarithmic, shows: None }
    }

    /// Whole exponents of powers of two.
    pub(crate) fn exponents(label: &str) -> Self {
        Self { label: label.to_owned(), scaling: Scaling::Exponents, shows: None }
    }

    /// The values to mark between two ends: a few round numbers.
    pub(super) fn marks(&self, [from, to]: [f64; 2], most: usize) -> Vec<f64> {
        let most = crate::cast::approximate(most as u64);
        let least_step = (to - from) / most;
        let step = match self.scaling {
            // Neither has marks between whole numbers.
            Scaling::Logarithmic | Scaling::Exponents => least_step.ceil().max(1.0),
            Scaling::Linear => {
                let power = 10f64.powf(least_step.log10().floor());
                [1.0, 2.0, 5.0, 10.0]
                    .map(|digit| digit * power)
                    .into_iter()
                    .find(|step| *step >= least_step)
                    .unwrap_or(least_step)
            }
        };
        let first = (from / step - 1e-9).ceil();
        let mark = |number: u32| (first + f64::from(number)) * step;
        (0..).map(mark).take_while(|place| *place <= to + 1e-9 * step).collect()
    }

    /// The position of a value on the axis.
    pub(crate) fn place(&self, value: f64) -> f64 {
        match self.scaling {
            Scaling::Linear | Scaling::Exponents => value,
            Scaling::Logarithmic => value.log10(),
        }
    }

    /// The label of a mark.
    pub(crate) fn mark(&self, place: f64) -> String {
        let value = match self.scaling {
            Scaling::Linear => place,
            Scaling::Exponents => return format!("2{}", superscript(place)),
            Scaling::Logarithmic => 10f64.powf(place),
        };
        // Only as many digits as distinguish the marks.
        let text = format!("{value:.6}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    /// The ends of the axis, for curves between two values.
    pub(crate) fn ends(&self, values: impl Iterator<Item = f64>) -> [f64; 2] {
        let shown = self.shows.into_iter().flatten();
        let places = values.chain(shown).map(|value| self.place(value)).filter(|place| place.is_finite());
        let [low, high] =
            places.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], place| [low.min(place), high.max(place)]);
        match self.scaling {
            _ if low > high => [0.0, 1.0],
            // Some space above the highest curve, unless the axis has a fixed end.
            Scaling::Linear if self.shows.is_some_and(|[from, to]| to > from) => [low, high],
            Scaling::Linear => [low, high * 1.05],
            Scaling::Exponents => [low - 0.5, high + 0.5],
            Scaling::Logarithmic => [low.floor(), high.ceil()],
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) style: Style,
    pub(crate) points: Vec<Point>,
    /// The figures of the paper or its authors: light marks.
    pub(crate) others: Vec<(f64, f64)>,
}

/// A point of a curve, with the interval of its value.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl From<(f64, f64)> for Point {
    fn from((x, y): (f64, f64)) -> Self {
        Self { x, y, low: y, high: y }
    }
}

impl Series {
    /// A curve of figures without intervals.
    pub(crate) fn new(name: impl Into<String>, style: Style, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { name: name.into(), style, points: points.into_iter().map(Point::from).collect(), others: Vec::new() }
    }
}

/// A whole number in superscript.
fn superscript(number: f64) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digits = format!("{number:.0}");
    digits.chars().filter_map(|digit| DIGITS.get(usize::try_from(digit.to_digit(10)?).ok()?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_numbers() {
        let linear = Axis::linear("speed");
        let close = |found: &[f64], expected: &[f64]| {
            found.len() == expected.len() && found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-9)
        };
        assert!(close(&linear.marks([0.0, 1.0], 6), &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]));
        assert!(close(&linear.marks([0.0, 43.0], 6), &[0.0, 10.0, 20.0, 30.0, 40.0]));
        assert!(close(&linear.marks([1.0, 20.0], 11), &[2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0]));
        let exponents = Axis::exponents("buckets");
        assert!(close(&exponents.marks([9.5, 14.5], 11), &[10.0, 11.0, 12.0, 13.0, 14.0]));
        assert_eq!(exponents.mark(14.0), "2¹⁴");
        assert!(close(&Axis::logarithmic("rate").marks([-3.0, 1.0], 11), &[-3.0, -2.0, -1.0, 0.0, 1.0]));
    }
}
