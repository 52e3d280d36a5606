//! Figure 8: removals, by load.

use super::Extent;
use super::curves::{Curves, STEADY};
use crate::cast::approximate;
use crate::contender::{Kind, Limit};
use crate::failure::Failure;
use crate::keys::Keys;
use crate::measure::{check_present, fill, million_per_second, rotated, timed_removals};
use crate::report::{Axis, Claim, Reproduction, Verdict, four_digits};

const STEPS: u64 = 10;

pub(super) fn reproduce(extent: &Extent) -> Result<Reproduction, Failure> {
    let Extent { scale, fills: rounds, .. } = *extent;
    let memory = scale.memory();
    let keys = Keys::of_seed(8);
    let mut curves = Curves::default();
    for round in 0..rounds {
        for (_, &kind) in rotated(&Kind::ALL, round) {
            let name = kind.name();
            let mut contender = kind.build(memory)?;
            if contender.as_removing().is_none() {
                continue;
            }
            let stored = fill(contender.as_mut(), keys, 0, Limit::Keys(kind.design_capacity(memory))).stored;
            let mut removed = 0;
            for step in 1..=STEPS {
                let load = approximate(stored - removed) / approximate(memory.slots());
                let end = stored * step / STEPS;
                let chosen = keys.present(removed..end);
                let Some(removing) = contender.as_removing() else { break };
                let time = timed_removals(name, removing, &chosen)?;
                curves.note(name, load, million_per_second(end - removed, time));
                removed = end;
                if step == STEPS / 2 {
                    check_present(name, contender.as_ref(), keys, removed..stored)?;
                }
            }
            let left = contender.as_removing().map_or(0, |removing| removing.len());
            if left > 0 {
                return Err(Failure::KeysLeft { contender: name.to_owned(), left });
            }
        }
    }
    Ok(Reproduction {
        name: "figure-8".to_owned(),
        title: "Figure 8: removals, by load".to_owned(),
        method: format!(
            "Filters of {}, filled as in figure 5, are emptied in {STEPS} steps, one key per call, in the order in which keys \
             were inserted. A speed is that of the step that begins with this load. Half way, all keys that are left are \
             looked up; at the end there must be none. Medians of {} turns, each in another order.",
            memory.name(),
            rounds
        ),
        tables: vec![curves.table("Removals", "load factor")],
        charts: vec![curves.chart(
            "figure-8",
            &format!("Removals from filters of {}", memory.name()),
            Axis::linear_within("keys per slot of 12 bits", [0.0, 1.0]),
        )],
        claims: claims(&curves),
    })
}

fn claims(curves: &Curves) -> Vec<Claim> {
    let speeds = |kind: Kind| curves.points(kind.name()).into_iter().map(|(_, speed)| speed).collect::<Vec<_>>();
    let [cuckoo, semi_sorted, quotient, d_left] =
        [Kind::Printed, Kind::PrintedSemiSorted, Kind::Quotient, Kind::DLeft].map(speeds);
    let is_faster = |one: &[f64], other: &[f64]| one.iter().zip(other).all(|(one, other)| one > other);
    let range = |speeds: &[f64]| {
        let first = speeds.first().copied().unwrap_or(f64::NAN);
        let last = speeds.last().copied().unwrap_or(f64::NAN);
        format!("{} to {}", four_digits(first), four_digits(last))
    };
    let evidence = format!(
        "million/s, full to empty: CF {}, ss-CF {}, QF {}, dl-CBF {}",
        range(&cuckoo),
        range(&semi_sorted),
        range(&quotient),
        range(&d_left)
    );
    let others = [&semi_sorted, &quotient, &d_left];
    let steadiness = [Kind::Printed, Kind::PrintedSemiSorted].map(|kind| curves.steadiness(kind.name()));
    let full = |speeds: &[f64]| speeds.first().copied().unwrap_or(f64::NAN);
    let empty = |speeds: &[f64]| speeds.last().copied().unwrap_or(f64::NAN);
    vec![
        Claim::timed(
            "CF has the fastest removals at every load",
            Verdict::of(others.iter().all(|other| is_faster(&cuckoo, other))),
            evidence.clone(),
        ),
        Claim::timed(
            "CF and ss-CF removals are steady against the load",
            Verdict::of(steadiness.iter().all(|&steadiness| steadiness >= STEADY)),
            format!(
                "in the worst step {} and {} of the speed in the best",
                four_digits(steadiness[0]),
                four_digits(steadiness[1])
            ),
        ),
        Claim::timed(
            "QF removals are the slowest when it is full",
            Verdict::of([&cuckoo, &semi_sorted, &d_left].iter().all(|other| full(&quotient) < full(other))),
            evidence.clone(),
        ),
        Claim::timed(
            "QF removals are faster than those of ss-CF when it is nearly empty",
            Verdict::of(empty(&quotient) > empty(&semi_sorted)),
            evidence,
        ),
    ]
}
