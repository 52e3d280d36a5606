//! Figure 6: lookups, by load.

use super::Extent;
use super::curves::{Curves, STEADY};
use crate::cast::approximate;
use crate::contender::{Kind, Limit};
use crate::failure::Failure;
use crate::keys::Keys;
use crate::measure::{fill, million_per_second, rotated, timed_lookups};
use crate::report::{Axis, Claim, Reproduction, Verdict, four_digits};

const STEPS: u64 = 10;

pub(super) fn reproduce(extent: &Extent) -> Result<Reproduction, Failure> {
    let Extent { scale, rounds, .. } = *extent;
    let memory = scale.memory();
    let keys = Keys::of_seed(6);
    let mut contenders = Vec::new();
    for kind in Kind::ALL {
        contenders.push((kind, kind.build(memory)?, 0));
    }
    let count = scale.timed_queries();
    let [mut absent, mut present] = [Curves::default(), Curves::default()];
    for step in 1..=STEPS {
        for (kind, contender, stored) in &mut contenders {
            let wanted = kind.design_capacity(memory) * step / STEPS - *stored;
            *stored += fill(contender.as_mut(), keys, *stored, Limit::Keys(wanted)).stored;
        }
        for round in 0..rounds {
            let first = (step * rounds + round) * count;
            let queries = keys.absent(first, count);
            for (_, (kind, contender, stored)) in rotated(&contenders, round) {
                let load = approximate(*stored) / approximate(memory.slots());
                let time = timed_lookups(kind.name(), contender.as_ref(), &queries, 0)?;
                absent.note(kind.name(), load, million_per_second(count, time));
                let drawn = keys.drawn(*stored, first, count);
                let time = timed_lookups(kind.name(), contender.as_ref(), &drawn, count)?;
                present.note(kind.name(), load, million_per_second(count, time));
            }
        }
    }
    let axis = || Axis::linear_within("keys per slot of 12 bits", [0.0, 1.0]);
    Ok(Reproduction {
        name: "figure-6".to_owned(),
        title: "Figure 6: lookups, by load".to_owned(),
        method: format!(
            "Filters of {} are filled in {STEPS} steps, as far as in figure 5. After each step, {count} absent and as many \
             present keys are looked up, one per call; every answer is checked. The load is the keys stored per 12 bits \
             of memory, which is α for filters with slots. Medians of {} turns, each in another order.",
            memory.name(),
            rounds
        ),
        tables: vec![
            absent.table("Lookups of absent keys", "load factor"),
            present.table("Lookups of present keys", "load factor"),
        ],
        charts: vec![
            absent.chart("figure-6-absent", &format!("Lookups of absent keys, filters of {}", memory.name()), axis()),
            present.chart(
                "figure-6-present",
                &format!("Lookups of present keys, filters of {}", memory.name()),
                axis(),
            ),
        ],
        claims: claims(&absent, &present),
    })
}

fn claims(absent: &Curves, present: &Curves) -> Vec<Claim> {
    let steady = |kind: Kind| {
        let [absent, present] = [absent, present].map(|curves| curves.steadiness(kind.name()));
        Claim::timed(
            format!("{} lookups are steady against the load", kind.name()),
            Verdict::of(absent.min(present) >= STEADY),
            format!(
                "at the worst load {} of the speed at the best for absent keys, {} for present ones",
                four_digits(absent),
                four_digits(present)
            ),
        )
        .main()
    };
    let quotient = [absent, present].map(|curves| curves.decline(Kind::Quotient.name()));
    vec![
        steady(Kind::Printed),
        steady(Kind::Packed),
        steady(Kind::PrintedSemiSorted),
        steady(Kind::SemiSorted),
        Claim::timed(
            "QF lookups slow down as it fills",
            Verdict::of(quotient.iter().all(|&decline| decline < STEADY)),
            format!(
                "filled, {} of the speed at the lowest load for absent keys, {} for present ones",
                four_digits(quotient[0]),
                four_digits(quotient[1])
            ),
        )
        .main(),
    ]
}
