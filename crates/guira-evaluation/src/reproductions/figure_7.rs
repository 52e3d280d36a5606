//! Figure 7: insertions, by load.

use super::Extent;
use super::curves::{Curves, Places, is_steady, slows_down};
use crate::cast::approximate;
use crate::contender::{Kind, Limit};
use crate::failure::Failure;
use crate::journal::Journal;
use crate::keys::Keys;
use crate::measure::{Filled, check_present, fill, million_per_second, rotated};
use crate::report::{Axis, Claim, Judge, Reproduction};
use crate::scale::Scale;

const STEPS: u64 = 10;

pub(super) fn reproduce(extent: &Extent, journal: &Journal) -> Result<Reproduction, Failure> {
    let Extent { scale, fills: rounds, .. } = *extent;
    let memory = scale.memory();
    let mut curves = Curves::default();
    for round in 0..rounds {
        for (_, &kind) in rotated(&Kind::ALL, round) {
            let name = format!("figure-7, {}, filling {round}", kind.name());
            curves.note_all(kind.name(), journal.measure(&name, || fill_once(kind, scale))?);
        }
    }
    let table = curves.table("Insertions", "load factor");
    let claims = claims(Judge { table: &table, number: 0, scale });
    Ok(Reproduction {
        name: "figure-7".to_owned(),
        title: "Figure 7: insertions, by load".to_owned(),
        method: format!(
            "Filters of {} are filled in {STEPS} steps, as far as in figure 5, one key per call. A speed is that of the \
             step that ends with this load. Afterwards all keys are looked up. Medians of {} fillings, in each of which filters come in another order.",
            memory.name(),
            rounds
        ),
        tables: vec![table],
        charts: vec![curves.chart(
            "figure-7",
            &format!("Insertions into filters of {}", memory.name()),
            Axis::linear_within("keys per slot of 12 bits", [0.0, 1.0]),
        )],
        claims,
    })
}

/// Fills a filter step by step: the speed of each step, by the load at its end.
fn fill_once(kind: Kind, scale: Scale) -> Result<Places, Failure> {
    let memory = scale.memory();
    let keys = Keys::of_seed(7);
    let mut contender = kind.build(memory)?;
    let mut all = 0;
    let mut places = Places::new();
    for step in 1..=STEPS {
        let wanted = kind.design_capacity(memory) * step / STEPS - all;
        let Filled { stored, time } = fill(contender.as_mut(), keys, all, Limit::Keys(wanted));
        all += stored;
        if stored == wanted {
            places.push((approximate(all) / approximate(memory.slots()), million_per_second(stored, time)));
        }
    }
    check_present(kind.name(), contender.as_ref(), keys, 0..all)?;
    Ok(places)
}

fn claims(judge: Judge<'_>) -> Vec<Claim> {
    const PLACE: &str = "section 7, figure 7";
    let slows = |kind: Kind| {
        let statement = format!("{} insertions slow down as it fills", kind.name());
        judge.claim_at_paper_scale(PLACE, statement, &slows_down(kind))
    };
    let steady = |kind: Kind| {
        let statement = format!("{} insertions are steady against the load", kind.name());
        judge.claim_at_paper_scale(PLACE, statement, &is_steady(kind))
    };
    vec![
        slows(Kind::Printed),
        slows(Kind::PrintedSemiSorted),
        slows(Kind::Quotient),
        steady(Kind::Bloom),
        steady(Kind::BlockedBloom),
        steady(Kind::DLeft),
    ]
}
