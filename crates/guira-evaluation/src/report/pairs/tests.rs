//! Made data, of which the truth is known.

use super::*;
use crate::cast::{approximate, in_memory};
use crate::measure::ordered;

/// `SplitMix64`, the same numbers on every machine.
struct Source(u64);

impl Source {
    /// Uniform between 0 and 1.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (approximate((mixed ^ (mixed >> 31)) >> 11) + 0.5) / approximate(1 << 53)
    }

    /// Of the standard normal distribution, by Box and Muller.
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (core::f64::consts::TAU * self.uniform()).cos()
    }
}

/// What happens to the times of a machine.
#[derive(Clone, Copy, Debug)]
enum Scenario {
    /// Each time is off by 5 %, as by a normal distribution of logarithms.
    SteadyNoise,
    /// The machine becomes slower all the time, twice as slow in 24 turns.
    Drift,
    /// One time in four takes longer by a Pareto distribution that has no mean.
    HeavyTails,
    /// A third of the turns take twice as long; it begins and ends within a turn.
    SlowForAWhile,
}

const SCENARIOS: [(Scenario, u64); 4] =
    [(Scenario::SteadyNoise, 11), (Scenario::Drift, 12), (Scenario::HeavyTails, 13), (Scenario::SlowForAWhile, 14)];
/// As many filters as are measured; the first two are compared.
const FILTERS: usize = 9;
/// How much faster the second filter is, truly: by a lot, by as much as noise, and by next to nothing.
const TRUTHS: [f64; 8] = [0.6, 0.9, 0.98, 0.998, 1.002, 1.02, 1.1, 1.6];
const RUNS: u64 = 500;

impl Scenario {
    /// The times of all filters in so many turns, where the second one takes 1/`truth` of the time of all others.
    fn times(self, truth: f64, turns: u64, source: &mut Source) -> Vec<[f64; FILTERS]> {
        let filters = approximate(FILTERS as u64);
        // In turns.
        let [from, until] = [2.0 + 4.0 * source.uniform(), 10.0 + 4.0 * source.uniform()];
        let of_turn = |turn: u64| {
            let mut times = [0.0; FILTERS];
            for (place, (filter, _)) in (0..).zip(ordered(&[(); FILTERS], turn)) {
                let now = approximate(turn) + approximate(place) / filters;
                let time = if filter == 1 { 1.0 / truth } else { 1.0 };
                let noise = (0.05 * source.normal()).exp();
                let slower = match self {
                    Self::SteadyNoise => 1.0,
                    Self::Drift => (now / 24.0).exp2(),
                    Self::HeavyTails if source.uniform() < 0.25 => 0.1 / source.uniform() + 1.0,
                    Self::SlowForAWhile if (from..until).contains(&now) => 2.0,
                    Self::HeavyTails | Self::SlowForAWhile => 1.0,
                };
                times[filter] = time * noise * slower;
            }
            times
        };
        (0..turns).map(of_turn).collect()
    }

    /// The ratios of speeds of the second filter and the first one.
    fn outcomes(self, truth: f64, turns: u64, source: &mut Source) -> Vec<Outcome> {
        let ratio = |times: [f64; FILTERS]| times[0] / times[1];
        let outcome = |value: f64| Some(Ratio { value, holds: value > 1.0 });
        self.times(truth, turns, source).into_iter().map(|times| outcome(ratio(times))).collect()
    }
}

#[test]
fn at_most_one_verdict_in_a_hundred_is_wrong_whatever_the_machine_does() {
    for (scenario, seed) in SCENARIOS {
        let mut source = Source(seed);
        let (mut wrong, mut decided, mut runs, mut missed) = (0, 0, 0, 0);
        for truth in TRUTHS {
            for _ in 0..RUNS {
                let outcomes = scenario.outcomes(truth, 24, &mut source);
                let odds = Odds::of(core::slice::from_ref(&outcomes)).expect("a comparison");
                let verdict = odds.decision(LEVEL);
                runs += 1;
                decided += u64::from(verdict.is_some());
                wrong += u64::from(verdict.is_some_and(|holds| holds != (truth > 1.0)));
                let [low, _, high] = interval(&outcomes, LEVEL);
                missed += u64::from(!(low..=high).contains(&truth));
                // The intervals say the same as the odds.
                assert_eq!(verdict, if low > 1.0 { Some(true) } else { (high <= 1.0).then_some(false) });
            }
        }
        assert!(wrong * 100 <= runs, "{scenario:?}: {wrong} of {runs} are decided wrongly");
        assert!(missed * 50 <= runs, "{scenario:?}: {missed} of {runs} intervals do not have the truth");
        // Those that differ by more than noise: half of them, but for the most disturbed.
        assert!(decided * 10 > runs * 3, "{scenario:?}: only {decided} of {runs} are decided");
    }
}

#[test]
fn of_the_verdicts_of_a_page_at_most_one_in_a_hundred_is_wrong() {
    for (scenario, seed) in SCENARIOS {
        let mut source = Source(100 + seed);
        let (mut wrong, mut decided) = (0, 0);
        for _ in 0..60 {
            // Pages on which half of the claims are next to undecidable.
            let claims: Vec<(f64, Odds)> = [0.6, 0.9, 1.1, 1.6, 0.999, 1.001, 0.9995, 1.0005]
                .repeat(10)
                .into_iter()
                .filter_map(|truth| Some((truth, Odds::of(&[scenario.outcomes(truth, 15, &mut source)])?)))
                .collect();
            let level = level_of_each(claims.iter().map(|(_, odds)| odds.probability()));
            for (truth, odds) in claims {
                let verdict = odds.decision(level);
                decided += u64::from(verdict.is_some());
                wrong += u64::from(verdict.is_some_and(|holds| holds != (truth > 1.0)));
            }
        }
        assert!(wrong * 100 <= decided && decided > 1000, "{scenario:?}: {wrong} of {decided} are wrong");
    }
}

#[test]
fn a_claim_of_several_comparisons_is_wrong_no_more_often() {
    // Of five comparisons all hold, or one does not, by little or by much.
    for (scenario, seed) in SCENARIOS {
        let mut source = Source(200 + seed);
        for truth in [0.8, 0.97, 0.999, 1.001, 1.03, 1.2] {
            let mut wrong = 0;
            for _ in 0..RUNS {
                let others = (0..4).map(|_| scenario.outcomes(1.1, 24, &mut source));
                let mut comparisons: Vec<Vec<Outcome>> = others.collect();
                comparisons.push(scenario.outcomes(truth, 24, &mut source));
                let verdict = Odds::of(&comparisons).and_then(|odds| odds.decision(LEVEL));
                wrong += u64::from(verdict.is_some_and(|holds| holds != (truth > 1.0)));
            }
            assert!(wrong * 100 <= RUNS, "{scenario:?}, {truth}: {wrong} of {RUNS} are decided wrongly");
        }
    }
}

#[test]
fn more_turns_never_widen_an_interval_nor_open_a_claim_again() {
    for (scenario, seed) in SCENARIOS {
        let mut source = Source(300 + seed);
        // A page of claims that are looked at after every turn.
        let truths = TRUTHS.repeat(3);
        let claims: Vec<Vec<Outcome>> =
            truths.into_iter().map(|truth| scenario.outcomes(truth, 30, &mut source)).collect();
        let mut before: Vec<([f64; 3], Option<bool>)> = vec![([0.0, f64::NAN, f64::INFINITY], None); claims.len()];
        for turns in 1..=30 {
            let odds: Vec<Odds> =
                claims.iter().filter_map(|outcomes| Odds::of(&[outcomes[..turns].to_vec()])).collect();
            let level = level_of_each(odds.iter().map(|odds| odds.probability()));
            for ((outcomes, odds), before) in claims.iter().zip(odds).zip(&mut before) {
                let (interval, verdict) = (interval(&outcomes[..turns], level), odds.decision(level));
                assert!(interval[0] >= before.0[0] && interval[2] <= before.0[2], "{before:?} became {interval:?}");
                assert!(
                    before.1.is_none() || before.1 == verdict,
                    "{scenario:?}: decided after {turns} turns, and open again"
                );
                *before = (interval, verdict);
            }
        }
        let decided = before.iter().filter(|(_, verdict)| verdict.is_some()).count();
        assert!(decided * 10 > before.len() * 3, "{scenario:?}: only {decided} are decided");
    }
}

fn all(holds: bool, turns: usize) -> Vec<Outcome> {
    vec![Some(Ratio { value: if holds { 2.0 } else { 0.5 }, holds }); turns]
}

#[test]
fn a_stake_is_a_bet_that_pays_nothing_on_average() {
    // Over all outcomes of so many fair turns, each as often as it comes.
    for turns in 1..=12_u32 {
        let mean: f64 = (0..1_u32 << turns).map(|outcome| stake(outcome.count_ones(), turns)).sum::<f64>()
            / f64::from(1_u32 << turns);
        assert!((mean - 1.0).abs() < 1e-9, "{turns} turns: {mean}");
    }
}

#[test]
fn turns_that_agree_decide_and_missing_ones_count_for_nothing() {
    let decision = |outcomes: Vec<Outcome>| Odds::of(&[outcomes]).and_then(|odds| odds.decision(LEVEL));
    assert_eq!(decision(all(true, 9)), Some(true));
    assert_eq!(decision(all(false, 9)), Some(false));
    assert_eq!(decision(all(true, 3)), None, "three turns say nothing");
    let mut with_gaps = all(true, 9);
    for place in [0, 4, 7] {
        with_gaps.insert(place, None);
    }
    assert_eq!(Odds::of(&[with_gaps.clone()]), Odds::of(&[all(true, 9)]));
    assert_eq!(interval(&with_gaps, LEVEL), interval(&all(true, 9), LEVEL));
    assert_eq!(Odds::of(&[]), None);
    assert!(interval(&[], LEVEL)[1].is_nan());
}

#[test]
fn one_comparison_that_fails_is_enough_and_one_that_is_open_is_too_much() {
    let alternating: Vec<Outcome> =
        all(true, 20).into_iter().zip(all(false, 20)).flat_map(|(one, other)| [one, other]).collect();
    let odds = |comparisons: &[Vec<Outcome>]| Odds::of(comparisons).expect("some");
    assert_eq!(odds(&[all(true, 40), all(false, 40)]).decision(LEVEL), Some(false));
    assert_eq!(odds(&[all(true, 40), alternating.clone()]).decision(LEVEL), None);
    assert_eq!(odds(&[all(true, 40), all(true, 40)]).decision(LEVEL), Some(true));
    assert_eq!(more_turns(&[all(true, 40), alternating], LEVEL), None, "at its border");
}

#[test]
fn as_many_turns_more_as_are_told_decide() {
    for (won, lost) in [(5, 0), (8, 1), (12, 4), (1, 8)] {
        let before = [all(true, won), all(false, lost)].concat();
        let more = more_turns(core::slice::from_ref(&before), LEVEL).expect("it is not at its border");
        let more = in_memory(more.into());
        // Further turns of the same kind, evenly.
        let share = (approximate(won as u64) + 0.5) / approximate((won + lost + 1) as u64);
        let all = won + lost + 2 * more;
        let wins = in_memory(crate::cast::saturating_floor(share * approximate(all as u64) + 0.5));
        let holds = won > lost;
        let decided = if holds {
            stake(u32::try_from(wins).unwrap_or(0), u32::try_from(all).unwrap_or(0))
        } else {
            stake(u32::try_from(all - wins).unwrap_or(0), u32::try_from(all).unwrap_or(0))
        };
        assert!(decided >= 1.0 / LEVEL, "{won} of {}: {more} more, {decided}", won + lost);
    }
}

#[test]
fn the_level_is_that_of_benjamini_and_hochberg() {
    // 0.001, 0.004 and 0.006 are at most 1/4, 2/4 and 3/4 of 1 %.
    assert!((level_of_each([0.004, 0.9, 0.001, 0.006]) - 0.75 * LEVEL).abs() < 1e-12);
    assert!((level_of_each([0.004, 0.9, 0.9, 0.9]) - 0.25 * LEVEL).abs() < 1e-12, "none is decided");
    assert!((level_of_each([0.01; 7]) - LEVEL).abs() < 1e-12, "all are");
    assert!((level_of_each([]) - LEVEL).abs() < f64::EPSILON);
}
