//! Figure 6: lookups, by load.

use super::Extent;
use super::curves::{Curves, Places, is_steady, slows_down};
use crate::cast::approximate;
use crate::contender::{Kind, Limit};
use crate::failure::Failure;
use crate::journal::Journal;
use crate::keys::Keys;
use crate::measure::{fill, million_per_second, rotated, timed_lookups};
use crate::report::{Axis, Claim, Judge, Reproduction, Whose};

const STEPS: u64 = 10;

pub(super) fn reproduce(extent: &Extent, journal: &Journal) -> Result<Reproduction, Failure> {
    let Extent { scale, fills: rounds, .. } = *extent;
    let memory = scale.memory();
    let count = scale.timed_queries();
    let [mut absent, mut present] = [Curves::default(), Curves::default()];
    for round in 0..rounds {
        for (_, &kind) in rotated(&Kind::ALL, round) {
            let name = format!("figure-6, {}, filling {round}", kind.name());
            let [of_absent, of_present] = journal.measure(&name, || fill_once(kind, round, extent))?;
            absent.note_all(kind.name(), of_absent);
            present.note_all(kind.name(), of_present);
        }
    }
    let tables = vec![
        absent.table("Lookups of absent keys", "load factor"),
        present.table("Lookups of present keys", "load factor"),
    ];
    let judge = |number: usize| Judge { table: &tables[number], number, scale };
    let claims = claims([judge(0), judge(1)]);
    let axis = || Axis::linear_within("keys per slot of 12 bits", [0.0, 1.0]);
    Ok(Reproduction {
        name: "figure-6".to_owned(),
        title: "Figure 6: lookups, by load".to_owned(),
        method: format!(
            "Filters of {} are filled in {STEPS} steps, as far as in figure 5. After each step, {count} absent and as many \
             present keys are looked up, one per call; every answer is checked. The load is the keys stored per 12 bits \
             of memory, which is α for filters with slots. Medians of {} fillings, in each of which filters come in another order.",
            memory.name(),
            rounds
        ),
        tables,
        charts: vec![
            absent.chart("figure-6-absent", &format!("Lookups of absent keys, filters of {}", memory.name()), axis()),
            present.chart(
                "figure-6-present",
                &format!("Lookups of present keys, filters of {}", memory.name()),
                axis(),
            ),
        ],
        claims,
    })
}

/// Fills a filter step by step, and asks it after each: the speeds for absent and for present keys, by load.
fn fill_once(kind: Kind, round: u64, extent: &Extent) -> Result<[Places; 2], Failure> {
    let scale = extent.scale;
    let memory = scale.memory();
    let keys = Keys::of_seed(6);
    let count = scale.timed_queries();
    let mut contender = kind.build(memory)?;
    let mut stored = 0;
    let [mut absent, mut present] = [Places::new(), Places::new()];
    for step in 1..=STEPS {
        let wanted = kind.design_capacity(memory) * step / STEPS - stored;
        stored += fill(contender.as_mut(), keys, stored, Limit::Keys(wanted)).stored;
        let load = approximate(stored) / approximate(memory.slots());
        let first = (step * extent.fills + round) * count;
        let time = timed_lookups(kind.name(), contender.as_ref(), &keys.absent(first, count), 0)?;
        absent.push((load, million_per_second(count, time)));
        let time = timed_lookups(kind.name(), contender.as_ref(), &keys.drawn(stored, first, count), count)?;
        present.push((load, million_per_second(count, time)));
    }
    Ok([absent, present])
}

fn claims(judges: [Judge<'_>; 2]) -> Vec<Claim> {
    const PLACE: &str = "section 7, figure 6";
    let mut claims = Vec::new();
    for (judge, keys) in judges.into_iter().zip(["absent", "present"]) {
        for kind in [Kind::Printed, Kind::Packed, Kind::PrintedSemiSorted, Kind::SemiSorted] {
            let whose = if kind.is_of_paper() { Whose::Paper } else { Whose::PaperOfLibrary };
            let statement = format!("{} lookups of {keys} keys are steady against the load", kind.name());
            claims.push(judge.claim_at_paper_scale(PLACE, statement, &is_steady(kind)).of(whose).main());
        }
        let statement = format!("QF lookups of {keys} keys slow down as it fills");
        claims.push(judge.claim_at_paper_scale(PLACE, statement, &slows_down(Kind::Quotient)).main());
    }
    claims
}
