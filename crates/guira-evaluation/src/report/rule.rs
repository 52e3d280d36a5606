//! The rules that decide claims, in a small language. Rules are printed as they are evaluated, so that a reader can apply them
//! to the CSV file of the table.
//!
//! `[column | other column = value]` are the cells of a column in the rows where the other column has this value, in order.
//! `least`, `greatest`, `first` and `last` choose one of several; `/` divides. Two lists are compared cell by cell, or each
//! cell of a list with a single value, and all comparisons must hold. If there are also columns with the column's name and ":
//! lowest" and ": highest", a cell is the interval between them.

use core::fmt;

use super::table::{HIGHEST, LOWEST};
use super::{Cell, Origin, Table, Verdict, four_digits};

/// Comparisons that must all hold.
#[derive(Clone, Debug)]
pub(crate) struct Rule(Vec<Comparison>);

#[derive(Clone, Debug)]
struct Comparison {
    left: Term,
    relation: Relation,
    right: Term,
    /// How far the left side may miss the right one: the rounding error of the printed claim.
    tolerance: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    AtLeast,
    AtMost,
    Above,
    Below,
    Equal,
}

/// A value, or several.
#[derive(Clone, Debug)]
pub(crate) enum Term {
    Number(f64),
    Text(String),
    Cells { column: String, rows: Vec<(String, String)> },
    Reduced(Reduction, Box<Self>),
    Quotient(Box<Self>, Box<Self>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    Least,
    Greatest,
    First,
    Last,
}

/// The least and the greatest value of a figure, and its median.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Interval {
    low: f64,
    middle: f64,
    high: f64,
}

/// The cells of a column.
pub(crate) fn cells(column: &str) -> Term {
    Term::Cells { column: column.to_owned(), rows: Vec::new() }
}

pub(crate) fn text(text: &str) -> Term {
    Term::Text(text.to_owned())
}

impl From<f64> for Term {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl Term {
    /// Only the cells of rows where another column has a value.
    #[must_use]
    pub(crate) fn of(mut self, other: &str, value: impl fmt::Display) -> Self {
        if let Self::Cells { rows, .. } = &mut self {
            rows.push((other.to_owned(), value.to_string()));
        }
        self
    }

    pub(crate) fn least(self) -> Self {
        Self::Reduced(Reduction::Least, Box::new(self))
    }

    pub(crate) fn greatest(self) -> Self {
        Self::Reduced(Reduction::Greatest, Box::new(self))
    }

    pub(crate) fn first(self) -> Self {
        Self::Reduced(Reduction::First, Box::new(self))
    }

    pub(crate) fn last(self) -> Self {
        Self::Reduced(Reduction::Last, Box::new(self))
    }

    pub(crate) fn over(self, other: Self) -> Self {
        Self::Quotient(Box::new(self), Box::new(other))
    }

    fn compared(self, relation: Relation, right: impl Into<Self>, tolerance: f64) -> Rule {
        Rule(vec![Comparison { left: self, relation, right: right.into(), tolerance }])
    }

    pub(crate) fn at_least(self, other: impl Into<Self>) -> Rule {
        self.compared(Relation::AtLeast, other, 0.0)
    }

    pub(crate) fn at_most(self, other: impl Into<Self>) -> Rule {
        self.compared(Relation::AtMost, other, 0.0)
    }

    /// At least `other`, except for the rounding error of the printed claim.
    pub(crate) fn at_least_about(self, other: f64, tolerance: f64) -> Rule {
        self.compared(Relation::AtLeast, other, tolerance)
    }

    pub(crate) fn at_most_about(self, other: f64, tolerance: f64) -> Rule {
        self.compared(Relation::AtMost, other, tolerance)
    }

    pub(crate) fn above(self, other: impl Into<Self>) -> Rule {
        self.compared(Relation::Above, other, 0.0)
    }

    pub(crate) fn below(self, other: impl Into<Self>) -> Rule {
        self.compared(Relation::Below, other, 0.0)
    }

    pub(crate) fn is(self, other: &str) -> Rule {
        self.compared(Relation::Equal, text(other), 0.0)
    }

    fn columns(&self) -> Vec<&str> {
        match self {
            Self::Number(_) | Self::Text(_) => Vec::new(),
            Self::Cells { column, .. } => vec![column],
            Self::Reduced(_, term) => term.columns(),
            Self::Quotient(one, other) => [one.columns(), other.columns()].concat(),
        }
    }

    fn texts(&self, table: &Table) -> Vec<String> {
        match self {
            Self::Text(text) => vec![text.clone()],
            Self::Cells { column, rows } => {
                let Some(number) = table.column(column) else { return Vec::new() };
                table.rows_where(rows).map(|row| row[number].exact()).collect()
            }
            _ => Vec::new(),
        }
    }

    fn intervals(&self, table: &Table) -> Vec<Interval> {
        match self {
            Self::Number(number) => vec![Interval::at(*number)],
            Self::Text(_) => Vec::new(),
            Self::Cells { column, rows } => {
                let Some(middle) = table.column(column) else { return Vec::new() };
                let end = |suffix| table.column(&format!("{column}{suffix}")).unwrap_or(middle);
                let [low, high] = [end(LOWEST), end(HIGHEST)];
                let interval = |row: &Vec<Cell>| {
                    Some(Interval { low: row[low].number()?, middle: row[middle].number()?, high: row[high].number()? })
                };
                table.rows_where(rows).filter_map(interval).collect()
            }
            Self::Reduced(reduction, term) => reduction.of(&term.intervals(table)).into_iter().collect(),
            Self::Quotient(one, other) => {
                let pairs = paired(one.intervals(table), other.intervals(table));
                pairs.into_iter().map(|(one, other)| one.over(other)).collect()
            }
        }
    }
}

impl Reduction {
    fn of(self, all: &[Interval]) -> Option<Interval> {
        let by = |choose: fn(f64, f64) -> f64| {
            all.iter().copied().reduce(|one, other| Interval {
                low: choose(one.low, other.low),
                middle: choose(one.middle, other.middle),
                high: choose(one.high, other.high),
            })
        };
        match self {
            Self::Least => by(f64::min),
            Self::Greatest => by(f64::max),
            Self::First => all.first().copied(),
            Self::Last => all.last().copied(),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Least => "least",
            Self::Greatest => "greatest",
            Self::First => "first",
            Self::Last => "last",
        }
    }
}

impl Interval {
    const fn at(number: f64) -> Self {
        Self { low: number, middle: number, high: number }
    }

    fn over(self, other: Self) -> Self {
        Self { low: self.low / other.high, middle: self.middle / other.middle, high: self.high / other.low }
    }

    fn shown(self) -> String {
        let middle = four_digits(self.middle);
        if self.low < self.high {
            return format!("{middle} ({} to {})", four_digits(self.low), four_digits(self.high));
        }
        middle
    }
}

/// Pairs of cells, or of a single cell with each; none if the numbers differ.
fn paired<T: Clone>(one: Vec<T>, other: Vec<T>) -> Vec<(T, T)> {
    match (one.len(), other.len()) {
        (0, _) | (_, 0) => Vec::new(),
        (_, 1) => one.into_iter().map(|value| (value, other[0].clone())).collect(),
        (1, _) => other.into_iter().map(|value| (one[0].clone(), value)).collect(),
        (ones, others) if ones == others => one.into_iter().zip(other).collect(),
        _ => Vec::new(),
    }
}

impl Comparison {
    /// A comparison holds, or fails, only if it does for all values of both intervals.
    fn verdict(&self, left: Interval, right: Interval) -> Verdict {
        let slack = self.tolerance;
        let (holds, fails) = match self.relation {
            Relation::AtLeast => (left.low >= right.high - slack, left.high < right.low - slack),
            Relation::AtMost => (left.high <= right.low + slack, left.low > right.high + slack),
            Relation::Above => (left.low > right.high - slack, left.high <= right.low - slack),
            Relation::Below => (left.high < right.low + slack, left.low >= right.high + slack),
            Relation::Equal => (left == right, left != right),
        };
        match (holds, fails) {
            (true, _) => Verdict::Holds,
            (_, true) => Verdict::DoesNotHold,
            _ => Verdict::WithinNoise,
        }
    }

    /// The ratio of the sides, negated for `AtMost` and `Below`: the smaller, the nearer to failing.
    fn margin(&self, left: Interval, right: Interval) -> f64 {
        let margin = left.middle / right.middle;
        match self.relation {
            Relation::AtMost | Relation::Below => -margin,
            _ => margin,
        }
    }

    fn judge(&self, table: &Table) -> (Verdict, String) {
        if self.relation == Relation::Equal {
            let pairs = paired(self.left.texts(table), self.right.texts(table));
            let differing = pairs.iter().find(|(left, right)| left != right);
            let Some((shown, _)) = differing.or(pairs.first()) else { return (Verdict::NotJudged, String::new()) };
            return (if differing.is_some() { Verdict::DoesNotHold } else { Verdict::Holds }, shown.clone());
        }
        let pairs = paired(self.left.intervals(table), self.right.intervals(table));
        let verdict = pairs.iter().map(|&(left, right)| self.verdict(left, right)).max();
        let nearest = pairs.iter().copied().min_by(|one, other| {
            let [one, other] = [one, other].map(|&(left, right)| self.margin(left, right));
            one.total_cmp(&other)
        });
        let shown = nearest.map_or_else(String::new, |(left, right)| {
            let place = if pairs.len() > 1 { "at the nearest " } else { "" };
            format!("{place}{} against {}", left.shown(), right.shown())
        });
        (verdict.unwrap_or(Verdict::NotJudged), shown)
    }
}

impl Rule {
    /// Both rules.
    #[must_use]
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The verdict for a table, with the cells that decided.
    pub(super) fn judge(&self, table: &Table) -> (Verdict, String) {
        let judged: Vec<(Verdict, String)> = self.0.iter().map(|comparison| comparison.judge(table)).collect();
        let verdict = judged.iter().map(|(verdict, _)| *verdict).max().unwrap_or(Verdict::NotJudged);
        (verdict, judged.into_iter().map(|(_, shown)| shown).collect::<Vec<_>>().join("; "))
    }

    /// Whether the rule is decided by times.
    pub(super) fn origin(&self, table: &Table) -> Origin {
        let columns =
            self.0.iter().flat_map(|comparison| [comparison.left.columns(), comparison.right.columns()].concat());
        let origins = columns.filter_map(|column| Some(table.columns[table.column(column)?].origin));
        if origins.into_iter().any(|origin| origin == Origin::Timed) { Origin::Timed } else { Origin::Counted }
    }
}

impl fmt::Display for Term {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Text(text) => write!(formatter, "\"{text}\""),
            Self::Cells { column, rows } => {
                write!(formatter, "[{column}")?;
                rows.iter().try_for_each(|(other, value)| write!(formatter, " | {other} = {value}"))?;
                formatter.write_str("]")
            }
            Self::Reduced(reduction, term) => write!(formatter, "{} {term}", reduction.name()),
            Self::Quotient(one, other) => write!(formatter, "{one} / {other}"),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, Comparison { left, relation, right, tolerance }) in self.0.iter().enumerate() {
            let and = if number > 0 { " and " } else { "" };
            let relation = match relation {
                Relation::AtLeast => "≥",
                Relation::AtMost => "≤",
                Relation::Above => ">",
                Relation::Below => "<",
                Relation::Equal => "=",
            };
            write!(formatter, "{and}{left} {relation} {right}")?;
            match relation {
                _ if *tolerance <= 0.0 => {}
                "≤" | "<" => write!(formatter, " + {tolerance}")?,
                _ => write!(formatter, " − {tolerance}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Column;

    /// Speeds of two filters at two loads, with the least and the greatest of several turns.
    fn table() -> Table {
        let columns = [Column::counted("filter"), Column::counted("load")].into_iter().chain(Column::interval("speed"));
        let mut table = Table::new("speeds", columns.collect());
        for (filter, load, speeds) in [
            ("CF", 1, [10.0, 9.0, 12.0]),
            ("CF", 2, [8.0, 7.5, 8.5]),
            ("QF", 1, [9.5, 9.5, 9.5]),
            ("QF", 2, [2.0, 1.0, 3.0]),
        ] {
            let start = [Cell::text(filter), Cell::Count(load)];
            table.push(start.into_iter().chain(speeds.map(Cell::Number)).collect());
        }
        table
    }

    fn speeds(filter: &str) -> Term {
        cells("speed").of("filter", filter)
    }

    #[test]
    fn intervals_that_overlap_decide_nothing() {
        let table = table();
        for (rule, verdict) in [
            (speeds("CF").of("load", 2).above(speeds("QF").of("load", 2)), Verdict::Holds),
            (speeds("CF").of("load", 1).above(speeds("QF").of("load", 1)), Verdict::WithinNoise),
            (speeds("QF").of("load", 2).at_least(3.5), Verdict::DoesNotHold),
            // All must hold, and one is undecided.
            (speeds("CF").above(speeds("QF")), Verdict::WithinNoise),
            // From 7.5 / 12 to 8.5 / 9.
            (speeds("CF").least().over(speeds("CF").greatest()).at_least(0.6), Verdict::Holds),
            (speeds("CF").least().over(speeds("CF").greatest()).at_least(0.7), Verdict::WithinNoise),
            (speeds("CF").least().over(speeds("CF").greatest()).at_least(0.95), Verdict::DoesNotHold),
            (speeds("CF").least().over(speeds("CF").greatest()).at_least_about(0.95, 0.35), Verdict::Holds),
            (speeds("QF").last().below(speeds("QF").first()), Verdict::Holds),
            (speeds("QF").of("load", 2).at_most(3.0).and(speeds("QF").at_least(9.0)), Verdict::DoesNotHold),
            (cells("filter").of("load", 1).is("CF"), Verdict::DoesNotHold),
            (cells("filter").of("speed", 8).is("CF"), Verdict::Holds),
            (speeds("BF").at_least(1.0), Verdict::NotJudged),
        ] {
            assert_eq!(rule.judge(&table).0, verdict, "{rule}");
        }
    }

    #[test]
    fn a_rule_says_what_it_compares() {
        let rule =
            speeds("CF").least().over(speeds("CF").greatest()).at_least_about(0.8, 0.05).and(speeds("QF").below(9.0));
        assert_eq!(
            rule.to_string(),
            "least [speed | filter = CF] / greatest [speed | filter = CF] ≥ 0.8 − 0.05 and [speed | filter = QF] < 9"
        );
        let evidence = rule.judge(&table()).1;
        assert_eq!(evidence, "0.8000 (0.6250 to 0.9444) against 0.8000; at the nearest 9.500 against 9.000");
        assert_eq!(rule.origin(&table()), Origin::Timed);
        assert_eq!(cells("load").at_least(1.0).origin(&table()), Origin::Counted);
    }
}
