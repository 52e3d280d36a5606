//! Judging a comparison by its outcomes in single turns: a sequential sign test, with confidence sequences for medians.
//!
//! Both sides of a comparison are measured in the same turn, and give one ratio. Whatever slows a whole turn down cancels out
//! of it. A comparison is about the median of these ratios, and only their sides of the border count: nothing is assumed of
//! their distribution, and a turn that is far off counts as one turn.
//!
//! The test is a bet (Shafer and Vovk 2019; Ramdas and others, "Game-theoretic statistics and safe anytime-valid inference",
//! 2023). If the median is not above the border, a ratio is above it with a probability of at most 1/2, and a stake that is
//! multiplied by 2p where the ratio is above and by 2(1 - p) where it is not does not grow on average, for any p ≥ 1/2. By
//! Ville's inequality it ever reaches 1/α with a probability of at most α. So it may be looked at after every turn, and a run
//! may go on until it has decided: a test for a fixed number of turns would be wrong more often. What was decided once stays
//! decided, and intervals are intersected as turns come in (Howard and Ramdas, "Sequential estimation of quantiles with
//! applications to A/B testing and best-arm identification", 2022), so that none ever widens.
//!
//! Of many claims, some would be decided wrongly by chance. The level of each is that of Benjamini and Hochberg (1995), by which
//! the expected share of wrong ones among the verdicts is at most [`LEVEL`]; Holm's procedure would forbid a single wrong verdict
//! on a page of a hundred, which takes more turns than one has patience for.

/// The expected share of wrong verdicts among all that are given.
pub(crate) const LEVEL: f64 = 0.01;

/// The probabilities that are bet on, and the share of the stake on each: a lead that is certain, one that is clear, and one that
/// is slight.
const BETS: [(f64, f64); 3] = [(0.95, 0.5), (0.8, 0.3), (0.65, 0.2)];

/// The most turns that are thought of when it is said how many more would decide.
const MOST_TURNS: u32 = 10_000;

/// One comparison in one turn; nothing where a side is missing, or was disturbed.
pub(crate) type Outcome = Option<Ratio>;

/// The ratio of the left side and the right one, and whether the comparison holds for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) value: f64,
    pub(crate) holds: bool,
}

/// What a stake of 1 has become, in the best moment for who bet that the claim holds, and for who bet that it does not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Odds {
    pub(crate) holds: f64,
    pub(crate) fails: f64,
}

/// The stake after so many turns, of which `won` were won.
fn stake(won: u32, turns: u32) -> f64 {
    let [won, lost] = [won, turns - won].map(f64::from);
    // In logarithms, as 2^turns may be beyond all numbers.
    let bet = |(p, share): (f64, f64)| (share.ln() + won * (2.0 * p).ln() + lost * (2.0 - 2.0 * p).ln()).exp();
    BETS.into_iter().map(bet).sum()
}

impl Odds {
    /// The odds of a claim that holds if all of its comparisons do. Each has as many turns.
    ///
    /// It holds only if each of them is won. That it does not is bet on all of them, with an equal share of the stake.
    pub(crate) fn of(comparisons: &[Vec<Outcome>]) -> Option<Self> {
        let turns = comparisons.iter().map(Vec::len).max()?;
        let mut all: Vec<Counted> = vec![Counted { turns: 0, won: 0, best: 1.0 }; comparisons.len()];
        let mut fails: f64 = 1.0;
        for turn in 0..turns {
            for (counted, outcomes) in all.iter_mut().zip(comparisons) {
                if let Some(ratio) = outcomes.get(turn).copied().flatten() {
                    counted.note(ratio.holds);
                }
            }
            let stakes: f64 = all.iter().map(|counted| stake(counted.turns - counted.won, counted.turns)).sum();
            fails = fails.max(stakes / crate::cast::approximate(all.len() as u64));
        }
        let holds = all.iter().map(|counted| counted.best).reduce(f64::min)?;
        Some(Self { holds, fails })
    }

    /// An upper bound for the probability of going wrong with the verdict that the odds favour.
    pub(crate) fn probability(self) -> f64 {
        (1.0 / self.holds.max(self.fails)).min(1.0)
    }

    /// Whether the claim holds, if that is decided at a level.
    pub(crate) fn decision(self, level: f64) -> Option<bool> {
        (self.probability() <= level).then_some(self.holds > self.fails)
    }
}

/// The turns of one comparison so far.
#[derive(Clone, Copy, Debug)]
struct Counted {
    turns: u32,
    won: u32,
    /// The best moment of the stake.
    best: f64,
}

impl Counted {
    fn note(&mut self, holds: bool) {
        self.turns += 1;
        self.won += u32::from(holds);
        self.best = self.best.max(stake(self.won, self.turns));
    }
}

/// The level of each claim by Benjamini and Hochberg, from the probabilities of all of them: the greatest k/m · [`LEVEL`] at
/// which k of m are decided. With more turns, probabilities only fall, and so the level only rises.
pub(crate) fn level_of_each(probabilities: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = probabilities.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let each = LEVEL / crate::cast::approximate(sorted.len().max(1) as u64);
    let level = |count: usize| each * crate::cast::approximate(count as u64);
    let decided = (1..=sorted.len()).rev().find(|&count| sorted[count - 1] <= level(count));
    level(decided.unwrap_or(1))
}

/// The median of ratios, and the interval that holds the median of their distribution with a probability of at least
/// 1 - 2 · `level`, for all numbers of turns together. Its ends may be 0 and infinite.
pub(crate) fn interval(outcomes: &[Outcome], level: f64) -> [f64; 3] {
    let [mut low, mut high] = [0.0_f64, f64::INFINITY];
    let mut sorted: Vec<f64> = Vec::new();
    for ratio in outcomes.iter().flatten() {
        let place = sorted.partition_point(|value| *value < ratio.value);
        sorted.insert(place, ratio.value);
        let turns = u32::try_from(sorted.len()).unwrap_or(u32::MAX);
        // The fewest won turns that decide: with as many ratios above a value, the median is not below it.
        if let Some(won) = (0..=turns).find(|&won| stake(won, turns) * level >= 1.0) {
            let won = crate::cast::in_memory(won.into());
            low = low.max(sorted[sorted.len() - won]);
            high = high.min(sorted[won - 1]);
        }
    }
    [low, crate::measure::median(sorted), high]
}

/// About how many more turns would decide at a level, if they turn out as those before: nothing if the claim is at its border,
/// so that no number of turns would.
pub(crate) fn more_turns(comparisons: &[Vec<Outcome>], level: f64) -> Option<u32> {
    // The comparison that decides is the one that is hardest to hold, or the one that fails most clearly.
    let shares = comparisons.iter().map(|outcomes| {
        let all = outcomes.iter().flatten();
        let [won, turns] = [all.clone().filter(|ratio| ratio.holds).count(), all.count()];
        let [won, turns] = [won, turns].map(|count| crate::cast::approximate(count as u64));
        // As if a turn had been half won before: no share is 0 or 1.
        ((won + 0.5) / (turns + 1.0), turns)
    });
    let (share, turns) = shares.min_by(|(one, _), (other, _)| one.total_cmp(other))?;
    let lost = crate::cast::approximate(comparisons.len() as u64);
    let done = u32::try_from(crate::cast::saturating_floor(turns)).unwrap_or(MOST_TURNS);
    let (share, wanted) = if share >= 0.5 { (share, 1.0 / level) } else { (1.0 - share, lost / level) };
    let won = |turns: u32| {
        u32::try_from(crate::cast::saturating_floor(share * f64::from(turns) + 0.5)).unwrap_or(turns).min(turns)
    };
    (done + 1..MOST_TURNS).find(|&turns| stake(won(turns), turns) >= wanted).map(|turns| turns - done)
}

#[cfg(test)]
mod tests;
