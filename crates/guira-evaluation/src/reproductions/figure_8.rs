//! Figure 8: removals, by load.

use super::Extent;
use super::curves::{Curves, Places, is_steady, speeds_of};
use crate::cast::approximate;
use crate::contender::{Kind, Limit};
use crate::failure::Failure;
use crate::journal::Journal;
use crate::keys::Keys;
use crate::measure::{check_present, fill, million_per_second, rotated, timed_removals};
use crate::report::{Axis, Claim, Judge, Reproduction};
use crate::scale::Scale;

const STEPS: u64 = 10;

pub(super) fn reproduce(extent: &Extent, journal: &Journal) -> Result<Reproduction, Failure> {
    let Extent { scale, fills: rounds, .. } = *extent;
    let memory = scale.memory();
    let mut curves = Curves::default();
    for round in 0..rounds {
        for (_, &kind) in rotated(&Kind::ALL, round) {
            let name = format!("figure-8, {}, filling {round}", kind.name());
            curves.note_all(kind.name(), journal.measure(&name, || empty_once(kind, scale))?);
        }
    }
    let table = curves.table("Removals", "load factor");
    let claims = claims(Judge { table: &table, number: 0, scale });
    Ok(Reproduction {
        name: "figure-8".to_owned(),
        title: "Figure 8: removals, by load".to_owned(),
        method: format!(
            "Filters of {}, filled as in figure 5, are emptied in {STEPS} steps, one key per call, in the order in which keys \
             were inserted. A speed is that of the step that begins with this load. Half way, all keys that are left are \
             looked up; at the end there must be none. Medians of {} fillings, in each of which filters come in another order.",
            memory.name(),
            rounds
        ),
        tables: vec![table],
        charts: vec![curves.chart(
            "figure-8",
            &format!("Removals from filters of {}", memory.name()),
            Axis::linear_within("keys per slot of 12 bits", [0.0, 1.0]),
        )],
        claims,
    })
}

/// Fills a filter and empties it step by step: the speed of each step, by the load at its beginning. None of a filter from
/// which keys can't be removed.
fn empty_once(kind: Kind, scale: Scale) -> Result<Places, Failure> {
    let memory = scale.memory();
    let keys = Keys::of_seed(8);
    let name = kind.name();
    let mut contender = kind.build(memory)?;
    let mut places = Places::new();
    if contender.as_removing().is_none() {
        return Ok(places);
    }
    let stored = fill(contender.as_mut(), keys, 0, Limit::Keys(kind.design_capacity(memory))).stored;
    let mut removed = 0;
    for step in 1..=STEPS {
        let load = approximate(stored - removed) / approximate(memory.slots());
        let end = stored * step / STEPS;
        let chosen = keys.present(removed..end);
        let Some(removing) = contender.as_removing() else { break };
        let time = timed_removals(name, removing, &chosen)?;
        places.push((load, million_per_second(end - removed, time)));
        removed = end;
        if step == STEPS / 2 {
            check_present(name, contender.as_ref(), keys, removed..stored)?;
        }
    }
    match contender.as_removing().map_or(0, |removing| removing.len()) {
        0 => Ok(places),
        left => Err(Failure::KeysLeft { contender: name.to_owned(), left }),
    }
}

fn claims(judge: Judge<'_>) -> Vec<Claim> {
    const PLACE: &str = "section 7, figure 8";
    let faster = |kind| speeds_of(Kind::Printed).above(speeds_of(kind));
    let full = |kind| speeds_of(kind).first();
    let slowest = |kind| full(Kind::Quotient).below(full(kind));
    let empty = |kind| speeds_of(kind).last();
    let claims = [
        (
            "CF has the fastest removals at every load",
            faster(Kind::PrintedSemiSorted).and(faster(Kind::Quotient)).and(faster(Kind::DLeft)),
        ),
        (
            "CF and ss-CF removals are steady against the load",
            is_steady(Kind::Printed).and(is_steady(Kind::PrintedSemiSorted)),
        ),
        (
            "QF removals are the slowest when it is full",
            slowest(Kind::Printed).and(slowest(Kind::PrintedSemiSorted)).and(slowest(Kind::DLeft)),
        ),
        (
            "QF removals are faster than those of ss-CF when it is nearly empty",
            empty(Kind::Quotient).above(empty(Kind::PrintedSemiSorted)),
        ),
    ];
    claims.map(|(statement, rule)| judge.claim_at_paper_scale(PLACE, statement, &rule)).into()
}
