use super::clock::median;

/// Things with their indices, in another order in each turn, so that none is always the first: from another one on, and
/// backwards in every second turn, so that no one always comes before another.
pub(crate) fn ordered<T>(things: &[T], turn: u64) -> impl Iterator<Item = (usize, &T)> {
    let first = usize::try_from(turn / 2 % (things.len() as u64).max(1)).unwrap_or(0);
    let (before, after) = things.split_at(first);
    let mut order: Vec<(usize, &T)> =
        after.iter().zip(first..).chain(before.iter().zip(0..)).map(|(thing, place)| (place, thing)).collect();
    if turn % 2 == 1 {
        order.reverse();
    }
    order.into_iter()
}

/// A figure of one turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Single {
    pub(crate) figure: f64,
    /// Whether the machine was disturbed meanwhile: such a turn is shown, and left out of medians and judgements.
    pub(crate) quiet: Quiet,
}

/// Whether a measurement had the processor for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quiet {
    Yes,
    Disturbed,
}

/// The figures of one quantity, by turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns(Vec<Option<Single>>);

impl Turns {
    /// Notes the figure of a turn. Turns without one count as missing.
    pub(crate) fn note(&mut self, turn: u64, figure: f64, quiet: Quiet) {
        let place = crate::cast::in_memory(turn);
        if self.0.len() <= place {
            self.0.resize(place + 1, None);
        }
        self.0[place] = Some(Single { figure, quiet });
    }

    /// All turns in their order, of which some may be missing.
    pub(crate) fn all(&self) -> &[Option<Single>] {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().flatten().next().is_none()
    }

    /// The median; NaN if there are none.
    pub(crate) fn median(&self) -> f64 {
        median(self.counted())
    }

    /// The least and the greatest figure; NaN if there are none.
    pub(crate) fn ends(&self) -> [f64; 2] {
        let counted = self.counted();
        let ends = [f64::min, f64::max].map(|choose: fn(f64, f64) -> f64| counted.iter().copied().reduce(choose));
        ends.map(|end| end.unwrap_or(f64::NAN))
    }

    /// The figures of the turns that were not disturbed; if all were, there is nothing better than these.
    fn counted(&self) -> Vec<f64> {
        let quiet = self.0.iter().flatten().filter(|single| single.quiet == Quiet::Yes);
        let quiet: Vec<f64> = quiet.map(|single| single.figure).collect();
        if quiet.is_empty() { self.0.iter().flatten().map(|single| single.figure).collect() } else { quiet }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_turn_has_another_order_and_no_one_always_comes_before_another() {
        let order = |turn| ordered(&['a', 'b', 'c'], turn).map(|(place, name)| (place, *name)).collect::<Vec<_>>();
        assert_eq!(order(0), [(0, 'a'), (1, 'b'), (2, 'c')]);
        assert_eq!(order(1), [(2, 'c'), (1, 'b'), (0, 'a')]);
        assert_eq!(order(2), [(1, 'b'), (2, 'c'), (0, 'a')]);
        assert_eq!(ordered::<char>(&[], 1).count(), 0);
        for [one, other] in [[0, 1], [1, 2], [0, 2]] {
            let place = |turn, thing| order(turn).iter().position(|(place, _)| *place == thing);
            let before = (0..10).filter(|&turn| place(turn, one) < place(turn, other)).count();
            assert_eq!(before, 5, "{one} and {other}");
        }
    }

    #[test]
    fn disturbed_turns_do_not_count_while_there_are_others() {
        let mut turns = Turns::default();
        assert!(turns.is_empty() && turns.ends().iter().all(|end| end.is_nan()), "of no figure");
        turns.note(4, 100.0, Quiet::Disturbed);
        assert!((turns.median() - 100.0).abs() < f64::EPSILON);
        for (turn, figure) in [(0, 5.0), (1, 4.0), (3, 7.0)] {
            turns.note(turn, figure, Quiet::Yes);
        }
        assert!((turns.median() - 5.0).abs() < f64::EPSILON);
        let [least, greatest] = turns.ends();
        assert!((least - 4.0).abs() < f64::EPSILON && (greatest - 7.0).abs() < f64::EPSILON, "{turns:?}");
        assert_eq!(turns.all()[2], None, "a turn that is missing");
    }
}
