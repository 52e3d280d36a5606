use super::clock::median;

/// Things with their places, from another one on in each turn, so that none is always the first.
pub(crate) fn rotated<T>(things: &[T], turn: u64) -> impl Iterator<Item = (usize, &T)> {
    let first = usize::try_from(turn % (things.len() as u64).max(1)).unwrap_or(0);
    let (before, after) = things.split_at(first);
    after.iter().zip(first..).chain(before.iter().zip(0..)).map(|(thing, place)| (place, thing))
}

/// Figures of several turns, of the same thing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns(Vec<f64>);

impl Turns {
    pub(crate) fn note(&mut self, figure: f64) {
        self.0.push(figure);
    }

    /// The same, but for turn 0, in which caches and pages are first touched.
    pub(crate) fn note_after_first(&mut self, turn: u64, figure: f64) {
        if turn > 0 {
            self.note(figure);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// NaN of none.
    pub(crate) fn median(&self) -> f64 {
        median(self.0.clone())
    }

    /// From the least to the greatest, in percent of the median; none of a single one.
    pub(crate) fn spread(&self) -> Option<f64> {
        if self.0.len() < 2 {
            return None;
        }
        let least = self.0.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = self.0.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(100.0 * (greatest - least) / self.median())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_turn_begins_with_another_one() {
        let order = |turn| rotated(&['a', 'b', 'c'], turn).map(|(place, name)| (place, *name)).collect::<Vec<_>>();
        assert_eq!(order(0), [(0, 'a'), (1, 'b'), (2, 'c')]);
        assert_eq!(order(4), [(1, 'b'), (2, 'c'), (0, 'a')]);
        assert_eq!(rotated::<char>(&[], 1).count(), 0);
    }

    #[test]
    fn the_spread_is_in_percent_of_the_median() {
        let mut turns = Turns::default();
        turns.note(7.0);
        assert_eq!(turns.spread(), None, "of one figure");
        turns = Turns::default();
        for figure in [5.0, 4.0, 6.0] {
            turns.note(figure);
        }
        assert!((turns.median() - 5.0).abs() < f64::EPSILON);
        assert!(turns.spread().is_some_and(|spread| (spread - 40.0).abs() < 1e-9), "{turns:?}");
    }
}
