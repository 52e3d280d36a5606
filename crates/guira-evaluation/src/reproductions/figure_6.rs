//! Figure 6: lookups, by load.

use super::Extent;
use super::course::{FILLINGS, STEPS, courses};
use super::curves::{Curves, is_steady, slows_down};
use crate::contender::Kind;
use crate::failure::Failure;
use crate::journal::Journal;
use crate::report::{Axis, Claim, Judge, Reproduction, Whose};

pub(super) fn reproduce(extent: &Extent, journal: &Journal) -> Result<Reproduction, Failure> {
    let Extent { scale, fills: rounds, .. } = *extent;
    let memory = scale.memory();
    let count = scale.timed_queries();
    let courses = courses(extent, journal)?;
    let absent = Curves::of(&courses, |course| &course.absent);
    let present = Curves::of(&courses, |course| &course.present);
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
             of memory, which is α for filters with slots. Medians of {} {FILLINGS}",
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
