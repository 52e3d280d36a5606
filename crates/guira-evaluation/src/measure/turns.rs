use super::clock::median;

/// Things with their indices, starting from another one in each turn, so that none is always the first.
pub(crate) fn rotated<T>(things: &[T], turn: u64) -> impl Iterator<Item = (usize, &T)> {
    let first = usize::try_from(turn % (things.len() as u64).max(1)).unwrap_or(0);
    let (before, after) = things.split_at(first);
    after.iter().zip(first..).chain(before.iter().zip(0..)).map(|(thing, place)| (place, thing))
}

/// The figures of one quantity in several turns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns(Vec<f64>);

impl Turns {
    pub(crate) fn note(&mut self, figure: f64) {
        self.0.push(figure);
    }

    /// Notes a figure unless it is of turn 0, which first touches caches and pages.
    pub(crate) fn note_after_first(&mut self, turn: u64, figure: f64) {
        if turn > 0 {
            self.note(figure);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The median; NaN if there are none.
    pub(crate) fn median(&self) -> f64 {
        median(self.0.clone())
    }

    /// The least and the greatest figure; NaN if there are none.
    pub(crate) fn ends(&self) -> [f64; 2] {
        let ends = [f64::min, f64::max].map(|choose: fn(f64, f64) -> f64| self.0.iter().copied().reduce(choose));
        ends.map(|end| end.unwrap_or(f64::NAN))
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
    fn the_ends_are_the_least_and_the_greatest() {
        let mut turns = Turns::default();
        assert!(turns.ends().iter().all(|end| end.is_nan()), "of no figure");
        for figure in [5.0, 4.0, 7.0] {
            turns.note(figure);
        }
        assert!((turns.median() - 5.0).abs() < f64::EPSILON);
        let [least, greatest] = turns.ends();
        assert!((least - 4.0).abs() < f64::EPSILON && (greatest - 7.0).abs() < f64::EPSILON, "{turns:?}");
    }
}
