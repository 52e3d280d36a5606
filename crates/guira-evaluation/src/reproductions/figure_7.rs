//! Figure 7: insertions, by load.

use super::Extent;
use super::course::{STEPS, of_turns, turns};
use super::curves::{Curves, is_steady, slows_down, speeds_of};
use crate::contender::Kind;
use crate::failure::Failure;
use crate::journal::Journal;
use crate::report::{Axis, Claim, Judge, Reproduction, Table};
use crate::scale::Scale;

pub(super) fn reproduce(extent: &Extent, journal: &Journal) -> Result<Reproduction, Failure> {
    let memory = extent.scale.memory();
    let curves = Curves::of(&turns(extent, journal)?, |course| &course.insertions);
    let table = curves.table("Insertions", "load factor");
    Ok(Reproduction {
        name: "figure-7".to_owned(),
        title: "Figure 7: insertions, by load".to_owned(),
        method: format!(
            "Filters of {} are filled in {STEPS} steps, as far as in figure 5, one key per call. A speed is that of the \
             step that ends with this load; the lookups of figure 6 come between steps. Afterwards every key must be found \
             when it is looked up or, as in figure 8, removed. {}",
            memory.name(),
            of_turns(extent)
        ),
        tables: vec![table],
        charts: vec![curves.chart(
            "figure-7",
            &format!("Insertions into filters of {}", memory.name()),
            Axis::linear_within("keys per slot of 12 bits", [0.0, 1.0]),
        )],
        claims: Vec::new(),
    })
}

pub(super) fn claims(tables: &[Table], scale: Scale) -> Vec<Claim> {
    const PLACE: &str = "section 7.3, figure 7";
    let judge = Judge::new(tables, 0, scale);
    let slows = |kind: Kind| {
        let statement = format!("{} insertions slow down as it fills", kind.name());
        judge.claim(PLACE, statement, &slows_down(kind))
    };
    let steady = |kind: Kind| {
        let statement = format!("{} insertions are steady against the load", kind.name());
        judge.claim(PLACE, statement, &is_steady(kind))
    };
    vec![
        slows(Kind::Printed),
        slows(Kind::PrintedSemiSorted),
        slows(Kind::Quotient),
        steady(Kind::Bloom),
        steady(Kind::BlockedBloom),
        steady(Kind::DLeft),
        judge
            .claim(
                PLACE,
                "CF inserts faster than BF at every load",
                &speeds_of(Kind::Printed).above(speeds_of(Kind::Bloom)),
            )
            .judging([23])
            .since("in the last steps, below 95 %, relocations outweigh the nine bits of BF"),
    ]
}
