//! The rules that decide claims, in a small language. Rules are printed as they are evaluated, so that a reader can apply them
//! to the CSV file of the table.
//!
//! `[column | other column = value]` are the cells of a column in the rows where the other column has this value, in order.
//! `least`, `greatest`, `first` and `last` choose one of several, and `mean` is their geometric mean; `trend` is the ratio of the
//! end and the beginning of the line, by least squares, through their logarithms; `/` divides. Two lists are compared cell by
//! cell, or each cell of a list with a single value, and all comparisons must hold.
//!
//! If there is also a column with the column's name and ": turns", the rule is evaluated in each turn, and `pairs` judges what
//! comes out.

use core::fmt;

use super::pairs::{self, Odds, Outcome, Ratio};
use super::table::TURNS;
use super::{Origin, Table, Verdict, four_digits};

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
    Mean,
    Trend,
}

/// The values that a term has in each turn; if nothing is timed, only one.
type Course = Vec<Option<f64>>;

/// What a rule found in a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Finding {
    /// The table does not have what the rule is about.
    Nothing,
    /// A figure is of several turns, which were not kept.
    TurnsMissing,
    /// By what is counted.
    Counted(Verdict, String),
    /// By what was timed: all comparisons, in all turns.
    Timed(Vec<Compared>),
}

/// One comparison of what was timed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Compared {
    pub(super) outcomes: Vec<Outcome>,
    /// The number that ratios are multiplied with to be values of the left side: 1 if the right side is timed too.
    border: f64,
    /// Whether the ratio is that of the right side and the left one.
    inverted: bool,
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

    /// The geometric mean.
    pub(crate) fn mean(self) -> Self {
        Self::Reduced(Reduction::Mean, Box::new(self))
    }

    /// The ratio of end and beginning, by a line through all of them.
    pub(crate) fn trend(self) -> Self {
        Self::Reduced(Reduction::Trend, Box::new(self))
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

    /// The values in each turn.
    fn courses(&self, table: &Table) -> Vec<Course> {
        match self {
            Self::Number(number) => vec![vec![Some(*number)]],
            Self::Text(_) => Vec::new(),
            Self::Cells { column, rows } => {
                let Some(figures) = table.column(column) else { return Vec::new() };
                let turns = table.column(&format!("{column}{TURNS}"));
                let course = |row: &Vec<super::Cell>| {
                    let figure = row[figures].number()?;
                    Some(turns.and_then(|turns| row[turns].turns()).unwrap_or_else(|| vec![Some(figure)]))
                };
                table.rows_where(rows).filter_map(course).collect()
            }
            Self::Reduced(Reduction::First, term) => term.courses(table).into_iter().take(1).collect(),
            Self::Reduced(Reduction::Last, term) => term.courses(table).pop().into_iter().collect(),
            Self::Reduced(reduction, term) => {
                let courses = term.courses(table);
                if courses.is_empty() {
                    return Vec::new();
                }
                let of_turn = |turn: usize| {
                    let values: Option<Vec<f64>> = courses.iter().map(|course| at(course, turn)).collect();
                    reduction.of(&values?)
                };
                vec![(0..length(&courses)).map(of_turn).collect()]
            }
            Self::Quotient(one, other) => {
                let pairs = paired(one.courses(table), other.courses(table));
                let quotient = |(one, other): (Course, Course)| {
                    let turns = one.len().max(other.len());
                    (0..turns).map(|turn| Some(at(&one, turn)? / at(&other, turn)?)).collect()
                };
                pairs.into_iter().map(quotient).collect()
            }
        }
    }
}

/// The value of a turn; one that is not timed is the same in all.
fn at(course: &[Option<f64>], turn: usize) -> Option<f64> {
    if let [only] = course { *only } else { course.get(turn).copied().flatten() }
}

fn length(courses: &[Course]) -> usize {
    courses.iter().map(Vec::len).max().unwrap_or(0)
}

impl Reduction {
    fn of(self, all: &[f64]) -> Option<f64> {
        let by = |choose: fn(f64, f64) -> f64| all.iter().copied().reduce(choose);
        match self {
            Self::Least => by(f64::min),
            Self::Greatest => by(f64::max),
            Self::First => all.first().copied(),
            Self::Last => all.last().copied(),
            Self::Mean => Some((all.iter().map(|value| value.ln()).sum::<f64>() / count(all)).exp()),
            Self::Trend => {
                let middle = (count(all) - 1.0) / 2.0;
                let places = || (0..).map(|place: u32| f64::from(place) - middle);
                let [products, squares] = [
                    places().zip(all).map(|(place, value)| place * value.ln()).sum::<f64>(),
                    places().zip(all).map(|(place, _)| place * place).sum::<f64>(),
                ];
                (all.len() > 1).then(|| (products / squares * 2.0 * middle).exp())
            }
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Least => "least",
            Self::Greatest => "greatest",
            Self::First => "first",
            Self::Last => "last",
            Self::Mean => "mean",
            Self::Trend => "trend",
        }
    }
}

fn count(all: &[f64]) -> f64 {
    crate::cast::approximate(all.len() as u64)
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
    /// Whether it holds for two values.
    fn holds(&self, left: f64, right: f64) -> bool {
        let slack = self.tolerance;
        match self.relation {
            Relation::AtLeast => left >= right - slack,
            Relation::AtMost => left <= right + slack,
            Relation::Above => left > right - slack,
            Relation::Below => left < right + slack,
            // Texts are compared elsewhere.
            Relation::Equal => false,
        }
    }

    const fn is_inverted(&self) -> bool {
        matches!(self.relation, Relation::AtMost | Relation::Below)
    }

    /// The ratio of the sides, inverted for `AtMost` and `Below`: the smaller, the nearer to failing.
    fn ratio(&self, left: f64, right: f64) -> f64 {
        if self.is_inverted() { right / left } else { left / right }
    }

    fn find(&self, table: &Table) -> Finding {
        if self.relation == Relation::Equal {
            return self.find_text(table);
        }
        let sides = [&self.left, &self.right];
        if sides.iter().flat_map(|side| side.columns()).any(|column| table.has_lost_turns(column)) {
            return Finding::TurnsMissing;
        }
        let pairs = paired(self.left.courses(table), self.right.courses(table));
        if pairs.is_empty() {
            return Finding::Nothing;
        }
        let is_timed = sides.iter().flat_map(|side| side.columns()).any(|column| table.has_turns(column));
        if is_timed {
            return Finding::Timed(pairs.iter().map(|(left, right)| self.compare(left, right)).collect());
        }
        let pairs: Vec<(f64, f64)> =
            pairs.iter().filter_map(|(left, right)| Some((at(left, 0)?, at(right, 0)?))).collect();
        let holds = pairs.iter().all(|&(left, right)| self.holds(left, right));
        let nearest = pairs.iter().copied().min_by(|one, other| {
            let [one, other] = [one, other].map(|&(left, right)| self.ratio(left, right));
            one.total_cmp(&other)
        });
        let shown = nearest.map_or_else(String::new, |(left, right)| {
            let place = if pairs.len() > 1 { "at the nearest " } else { "" };
            format!("{place}{} against {}", four_digits(left), four_digits(right))
        });
        Finding::Counted(if holds { Verdict::Holds } else { Verdict::DoesNotHold }, shown)
    }

    fn find_text(&self, table: &Table) -> Finding {
        let pairs = paired(self.left.texts(table), self.right.texts(table));
        let differing = pairs.iter().find(|(left, right)| left != right);
        let Some((shown, _)) = differing.or(pairs.first()) else { return Finding::Nothing };
        let verdict = if differing.is_some() { Verdict::DoesNotHold } else { Verdict::Holds };
        Finding::Counted(verdict, shown.clone())
    }

    /// The ratios of two sides, turn by turn.
    fn compare(&self, left: &Course, right: &Course) -> Compared {
        let outcome = |turn: usize| {
            let (left, right) = (at(left, turn)?, at(right, turn)?);
            Some(Ratio { value: self.ratio(left, right), holds: self.holds(left, right) })
        };
        let border = if let [Some(border)] = right[..] { border } else { 1.0 };
        let outcomes = (0..left.len().max(right.len())).map(outcome).collect();
        Compared { outcomes, border, inverted: self.is_inverted() }
    }
}

impl Compared {
    /// The median and its interval, as values of the left side or as quotients of the left one and the right one.
    fn shown(&self, level: f64) -> String {
        let [low, middle, high] = pairs::interval(&self.outcomes, level);
        if middle.is_nan() {
            return "no turn".to_owned();
        }
        let value = |ratio: f64| self.border * if self.inverted { 1.0 / ratio } else { ratio };
        let [mut low, middle, mut high] = [low, middle, high].map(value);
        if self.inverted {
            (low, high) = (high, low);
        }
        let end = |end: f64| if end.is_finite() { four_digits(end) } else { "∞".to_owned() };
        let what = if (self.border - 1.0).abs() > 0.0 { "" } else { "× " };
        format!(
            "{what}{} ({} to {}) against {what}{}",
            four_digits(middle),
            end(low),
            end(high),
            four_digits(self.border)
        )
    }
}

/// The values of all comparisons of what is counted; of many, a few of those that fail.
fn shown_of(counted: Vec<(Verdict, String)>) -> String {
    const MOST: usize = 3;
    let all = counted.len();
    let failing = counted.iter().filter(|(verdict, _)| *verdict == Verdict::DoesNotHold).count();
    let shows = |verdict: Verdict| failing == 0 || all <= 2 * MOST || verdict == Verdict::DoesNotHold;
    let mut shown: Vec<String> =
        counted.into_iter().filter(|(verdict, _)| shows(*verdict)).map(|(_, shown)| shown).collect();
    // Of an upper and a lower limit the value is the same.
    shown.dedup();
    if all <= 2 * MOST {
        return shown.join("; ");
    }
    shown.truncate(MOST);
    let fail = if failing == 0 { "none fails".to_owned() } else { format!("{failing} fail") };
    format!("of {all} comparisons {fail}: {}", shown.join("; "))
}

/// The comparison that speaks most against a claim, in words.
pub(super) fn evidence(all: &[Compared], level: f64) -> String {
    let odds = |compared: &&Compared| {
        Odds::of(core::slice::from_ref(&compared.outcomes)).map_or(1.0, |odds| odds.holds / odds.fails)
    };
    let nearest = all.iter().min_by(|one, other| odds(one).total_cmp(&odds(other)));
    let place = if all.len() > 1 { "at the nearest " } else { "" };
    nearest.map_or_else(String::new, |compared| format!("{place}{}", compared.shown(level)))
}

impl Rule {
    /// Both rules.
    #[must_use]
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// What there is for and against it in a table. What is counted decides at once if it fails; otherwise all that is timed does.
    pub(super) fn find(&self, table: &Table) -> Finding {
        let (mut timed, mut counted) = (Vec::new(), Vec::new());
        for comparison in &self.0 {
            match comparison.find(table) {
                Finding::Timed(compared) => timed.extend(compared),
                Finding::Counted(verdict, shown) => counted.push((verdict, shown)),
                nothing => return nothing,
            }
        }
        let worst = counted.iter().map(|(verdict, _)| *verdict).max();
        if timed.is_empty() || worst == Some(Verdict::DoesNotHold) {
            return worst.map_or(Finding::Nothing, |worst| Finding::Counted(worst, shown_of(counted)));
        }
        Finding::Timed(timed)
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
            Self::Reduced(reduction, term) => write!(formatter, "{} {}", reduction.name(), Grouped(term)),
            Self::Quotient(one, other) => write!(formatter, "{} / {}", Grouped(one), Grouped(other)),
        }
    }
}

/// A term as a part of another: quotients are in parentheses.
struct Grouped<'term>(&'term Term);

impl fmt::Display for Grouped<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            quotient @ Term::Quotient(..) => write!(formatter, "({quotient})"),
            term => write!(formatter, "{term}"),
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
    use crate::measure::{Quiet, Turns};
    use crate::report::{Cell, Column};

    /// Speeds of two filters at two loads in ten turns, each near a speed.
    fn table() -> Table {
        let columns = [Column::counted("filter"), Column::counted("load")].into_iter().chain(Column::interval("speed"));
        let mut table = Table::new("speeds", columns.collect());
        for (filter, load, speed) in [("CF", 1, 10.0), ("CF", 2, 8.0), ("QF", 1, 9.9), ("QF", 2, 2.0)] {
            let mut turns = Turns::default();
            for turn in 0..10_u32 {
                // All of a turn are slower or faster together, but for every fourth turn of QF.
                let together = 1.0 + f64::from(turn % 3);
                let alone = if filter == "QF" && turn % 4 == 0 { 1.2 } else { 1.0 };
                turns.note(turn.into(), speed * together * alone, Quiet::Yes);
            }
            let start = [Cell::text(filter), Cell::Count(load)];
            table.push(start.into_iter().chain(Cell::interval(&turns)).collect());
        }
        table
    }

    fn speeds(filter: &str) -> Term {
        cells("speed").of("filter", filter)
    }

    fn verdict(rule: &Rule) -> Option<Verdict> {
        match rule.find(&table()) {
            Finding::Counted(verdict, _) => Some(verdict),
            Finding::Timed(all) => {
                let outcomes: Vec<_> = all.into_iter().map(|compared| compared.outcomes).collect();
                let holds = Odds::of(&outcomes)?.decision(pairs::LEVEL);
                Some(
                    holds.map_or(Verdict::Undecided, |holds| if holds { Verdict::Holds } else { Verdict::DoesNotHold }),
                )
            }
            Finding::Nothing | Finding::TurnsMissing => None,
        }
    }

    #[test]
    fn what_differs_in_every_turn_is_decided_and_what_does_not_is_open() {
        for (rule, expected) in [
            (speeds("CF").of("load", 2).above(speeds("QF").of("load", 2)), Some(Verdict::Holds)),
            (speeds("CF").of("load", 1).above(speeds("QF").of("load", 1)), Some(Verdict::Undecided)),
            (speeds("QF").of("load", 2).at_least(50.0), Some(Verdict::DoesNotHold)),
            // All must hold, and one is undecided.
            (speeds("CF").above(speeds("QF")), Some(Verdict::Undecided)),
            // 0.8 in every turn, though speeds are up to three times as high in others.
            (speeds("CF").least().over(speeds("CF").greatest()).at_least(0.79), Some(Verdict::Holds)),
            (speeds("CF").least().over(speeds("CF").greatest()).at_least(0.81), Some(Verdict::DoesNotHold)),
            (speeds("CF").trend().at_most(0.81), Some(Verdict::Holds)),
            (speeds("CF").trend().at_most(0.79), Some(Verdict::DoesNotHold)),
            (speeds("CF").first().over(speeds("CF").mean()).at_most(1.12), Some(Verdict::Holds)),
            (speeds("CF").first().over(speeds("CF").mean()).at_most(1.11), Some(Verdict::DoesNotHold)),
            (speeds("QF").last().below(speeds("QF").first()), Some(Verdict::Holds)),
            (cells("filter").of("load", 1).is("CF"), Some(Verdict::DoesNotHold)),
            (cells("load").of("filter", "CF").at_most(2.0), Some(Verdict::Holds)),
            (cells("load").of("filter", "CF").at_least_about(2.0, 0.5), Some(Verdict::DoesNotHold)),
            (cells("load").of("filter", "CF").at_least_about(2.0, 1.0), Some(Verdict::Holds)),
            (speeds("BF").at_least(1.0), None),
        ] {
            assert_eq!(verdict(&rule), expected, "{rule}");
        }
    }

    #[test]
    fn medians_without_their_turns_judge_nothing() {
        let mut table =
            Table::new("old", ["filter", "speed", "speed: lowest", "speed: highest"].map(Column::timed).into());
        table.push(vec![Cell::text("CF"), Cell::Number(2.0), Cell::Number(1.0), Cell::Number(3.0)]);
        assert_eq!(speeds("CF").above(0.5).find(&table), Finding::TurnsMissing);
    }

    #[test]
    fn a_rule_says_what_it_compares() {
        let rule =
            speeds("CF").least().over(speeds("CF").greatest()).at_least_about(0.8, 0.05).and(speeds("QF").below(9.0));
        assert_eq!(
            rule.to_string(),
            "least [speed | filter = CF] / greatest [speed | filter = CF] ≥ 0.8 − 0.05 and [speed | filter = QF] < 9"
        );
        let shares = || speeds("CF").over(speeds("QF"));
        let rule_of_shares = shares().over(shares().mean()).at_most(2.0);
        let shares = "([speed | filter = CF] / [speed | filter = QF])";
        assert_eq!(rule_of_shares.to_string(), format!("{shares} / mean {shares} ≤ 2"));
        let Finding::Timed(all) = rule.find(&table()) else { panic!("it is timed") };
        assert_eq!(evidence(&all[..1], pairs::LEVEL), "0.8000 (0.8000 to 0.8000) against 0.8000");
        assert_eq!(rule.origin(&table()), Origin::Timed);
        assert_eq!(cells("load").at_least(1.0).origin(&table()), Origin::Counted);
    }
}
