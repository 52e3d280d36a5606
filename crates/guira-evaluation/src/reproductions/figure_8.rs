//! Figure 8: removals, by load.

use super::Extent;
use super::course::{STEPS, of_turns, turns};
use super::curves::{Curves, is_steady, speeds_of};
use crate::contender::Kind;
use crate::failure::Failure;
use crate::journal::Journal;
use crate::report::{Axis, Claim, Judge, Reproduction, Table};
use crate::scale::Scale;

pub(super) fn reproduce(extent: &Extent, journal: &Journal) -> Result<Reproduction, Failure> {
    let memory = extent.scale.memory();
    let curves = Curves::of(&turns(extent, journal)?, |course| &course.removals);
    let table = curves.table("Removals", "load factor");
    Ok(Reproduction {
        name: "figure-8".to_owned(),
        title: "Figure 8: removals, by load".to_owned(),
        method: format!(
            "Filters of {} are filled as far as in table 3. The last keys are then removed, without being timed, down to \
             the load of figure 5, and the others in {STEPS} steps, one key per call, in the order in which they were \
             inserted. A speed is that of the step that begins with this load. Half way, all keys that are left are looked up; at \
             the end there must be none. {}",
            memory.name(),
            of_turns(extent)
        ),
        tables: vec![table],
        charts: vec![curves.chart(
            "figure-8",
            &format!("Removals from filters of {}", memory.name()),
            Axis::linear_within("keys per slot of 12 bits", [0.0, 1.0]),
        )],
        claims: Vec::new(),
    })
}

pub(super) fn claims(tables: &[Table], scale: Scale) -> Vec<Claim> {
    let judge = Judge::new(tables, 0, scale);
    const PLACE: &str = "section 7.4, figure 8";
    let above = |one: Kind, other: Kind| speeds_of(one).above(speeds_of(other));
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
    let mut claims: Vec<Claim> = claims.map(|(statement, rule)| judge.claim(PLACE, statement, &rule)).into();
    claims.extend([
        judge
            .claim(
                PLACE,
                "dl-CBF removes the second fastest, after CF, at every load",
                &above(Kind::Printed, Kind::DLeft)
                    .and(above(Kind::DLeft, Kind::PrintedSemiSorted))
                    .and(above(Kind::DLeft, Kind::Quotient)),
            )
            .judging([20])
            .since("QF, nearly empty, and ss-CF, where it is full, are about as fast"),
        judge
            .claim(
                "section 7, summary",
                "ss-CF removes more slowly than CF at every load",
                &above(Kind::Printed, Kind::PrintedSemiSorted),
            )
            .judging([21]),
    ]);
    claims
}
