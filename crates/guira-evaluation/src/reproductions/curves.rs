//! Speeds of a line-up over one axis, each the median of several turns: figures 5 to 8.

use super::course::{Course, FLOOR, Turn};
use crate::contender::Kind;
use crate::measure::{Quiet, Turns};
use crate::report::{self, Axis, Cell, Chart, Column, Rule, Series, Style, Table, Term, cells};

/// Points of a curve: a place on the axis, and million operations per second.
pub(super) type Places = Vec<(f64, f64)>;

#[derive(Default)]
pub(super) struct Curves {
    curves: Vec<Curve>,
}

struct Curve {
    name: String,
    points: Vec<Point>,
}

struct Point {
    x: f64,
    /// Million operations per second.
    speeds: Turns,
}

impl Curves {
    /// The curves of one quantity of the courses, one for each filter, and that of the floor.
    pub(super) fn of(turns: &[Turn], shown: impl Fn(&Course) -> &Places) -> Self {
        let mut curves = Self::default();
        for (turn, number) in turns.iter().zip(0..) {
            for (name, course) in turn.courses() {
                for &(x, speed) in shown(course) {
                    curves.note(name, x, number, speed, turn.disturbance.quiet());
                }
            }
        }
        curves
    }

    /// Notes a speed at a place of a curve. Every turn has the same places in the same order.
    fn note(&mut self, name: &str, x: f64, turn: u64, speed: f64, quiet: Quiet) {
        let at = self.curves.iter().position(|curve| curve.name == name).unwrap_or_else(|| {
            self.curves.push(Curve { name: name.to_owned(), points: Vec::new() });
            self.curves.len() - 1
        });
        let points = &mut self.curves[at].points;
        match points.iter_mut().find(|point| point.x.total_cmp(&x).is_eq()) {
            Some(point) => point.speeds.note(turn, speed, quiet),
            None => {
                let mut speeds = Turns::default();
                speeds.note(turn, speed, quiet);
                points.push(Point { x, speeds });
            }
        }
    }

    /// The places of a curve with their speeds.
    #[cfg(test)]
    fn points(&self, name: &str) -> Vec<(f64, f64)> {
        let curve = self.curves.iter().find(|curve| curve.name == name);
        curve.into_iter().flat_map(|curve| &curve.points).map(|point| (point.x, point.speeds.median())).collect()
    }

    pub(super) fn table(&self, title: &str, x: &str) -> Table {
        let columns = [Column::counted("filter"), Column::counted(x)].into_iter().chain(Column::interval(SPEED));
        let mut table = Table::new(title, columns.collect());
        for curve in &self.curves {
            for Point { x, speeds } in &curve.points {
                let start = [Cell::text(&curve.name), Cell::Number(*x)];
                table.push(start.into_iter().chain(Cell::interval(speeds)).collect());
            }
        }
        table
    }

    pub(super) fn chart(&self, name: &str, title: &str, x: Axis) -> Chart {
        // Insertions and removals are so far below the floor that little would be seen of them.
        let series = self.curves.iter().filter(|curve| curve.name != FLOOR).map(|curve| Series {
            name: curve.name.clone(),
            style: style_of(&curve.name),
            points: curve.points.iter().map(Point::drawn).collect(),
            others: Vec::new(),
        });
        Chart {
            name: name.to_owned(),
            title: title.to_owned(),
            x,
            y: Axis::linear(SPEED),
            series: series.collect(),
            others: None,
        }
    }
}

impl Point {
    fn drawn(&self) -> report::Point {
        let [low, high] = self.speeds.ends();
        report::Point { x: self.x, y: self.speeds.median(), low, high }
    }
}

/// The style of a filter's curves, which is equal in all figures, including those without all filters.
fn style_of(name: &str) -> Style {
    Kind::ALL.iter().find(|kind| kind.name() == name).map_or(Style::solid(Kind::ALL.len()), |kind| kind.style())
}

/// The column of speeds.
pub(super) const SPEED: &str = "million operations/s";

/// A curve is steady if none of its speeds is further from their mean in the same turn than by a factor of the root of this,
/// so that the slowest is at least this share of the fastest. A figure would show less.
pub(super) const STEADY: f64 = 0.8;
/// A speed dips if it is below those at both ends by more than this share.
const DIP: f64 = 0.02;

/// The speeds of a filter, from one end of the axis to the other.
pub(super) fn speeds_of(kind: Kind) -> Term {
    cells(SPEED).of("filter", kind.name())
}

/// The speeds of the floor, of which one was measured beside each of a filter.
pub(super) fn floors() -> Term {
    cells(SPEED).of("filter", FLOOR)
}

/// The speeds of a filter as shares of the floor's: how they change along the axis, without what became of the machine meanwhile.
pub(super) fn shares_of(kind: Kind) -> Term {
    speeds_of(kind).over(floors())
}

/// The rule that no speed of a curve is far from their mean.
pub(super) fn is_steady(kind: Kind) -> Rule {
    let from_mean = || shares_of(kind).over(shares_of(kind).mean());
    let near = |border: f64| (1e4 * border).round() / 1e4;
    from_mean().at_least(near(STEADY.sqrt())).and(from_mean().at_most(near(1.0 / STEADY.sqrt())))
}

/// The rule that a line through the speeds ends far below its beginning.
pub(super) fn slows_down(kind: Kind) -> Rule {
    shares_of(kind).trend().below(STEADY)
}

/// The rule that the speed at a place is below those at both ends.
pub(super) fn dips(kind: Kind, x: &str, place: u64) -> Rule {
    let at_place = || speeds_of(kind).of(x, place).over(floors().of(x, place));
    let below = |end: Term| at_place().over(end).below(1.0 - DIP);
    below(shares_of(kind).first()).and(below(shares_of(kind).last()))
}

/// Straight lines between points.
pub(super) struct Interpolated {
    /// From left to right.
    points: Vec<(f64, f64)>,
}

impl Interpolated {
    pub(super) fn new(mut points: Vec<(f64, f64)>) -> Self {
        points.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        Self { points }
    }

    /// The value at a place; NaN left and right of all points.
    pub(super) fn at(&self, x: f64) -> f64 {
        let line = self.points.windows(2).find(|ends| (ends[0].0..=ends[1].0).contains(&x));
        line.map_or(f64::NAN, |ends| {
            let [(left, low), (right, high)] = [ends[0], ends[1]];
            low + (high - low) * (x - left) / (right - left)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_points_there_is_a_straight_line() {
        let curve = Interpolated::new(vec![(2.0, 30.0), (0.0, 10.0), (1.0, 10.0)]);
        assert!((curve.at(0.5) - 10.0).abs() < 1e-12);
        assert!((curve.at(1.5) - 20.0).abs() < 1e-12);
        assert!(curve.at(-0.1).is_nan() && curve.at(2.1).is_nan());
    }

    #[test]
    fn speeds_of_several_turns_become_their_median() {
        let mut curves = Curves::default();
        for (turn, speed) in (0..).zip([5.0, 1.0, 3.0]) {
            curves.note("a", 0.0, turn, speed, Quiet::Yes);
            curves.note("a", 1.0, turn, speed / 2.0, Quiet::Yes);
        }
        assert_eq!(curves.points("a"), [(0.0, 3.0), (1.0, 1.5)]);
    }
}
