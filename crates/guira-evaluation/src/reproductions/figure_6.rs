//! Figure 6: lookups, by load.

use super::Extent;
use super::course::{FLOOR, STEPS, of_turns, turns};
use super::curves::{Curves, floors, is_steady, shares_of, slows_down, speeds_of};
use crate::contender::Kind;
use crate::failure::Failure;
use crate::journal::Journal;
use crate::report::{Axis, Claim, Judge, Reproduction, Rule, Table, Whose};
use crate::scale::Scale;

pub(super) fn reproduce(extent: &Extent, journal: &Journal) -> Result<Reproduction, Failure> {
    let scale = extent.scale;
    let memory = scale.memory();
    let count = scale.timed_queries();
    let turns = turns(extent, journal)?;
    let absent = Curves::of(&turns, |course| &course.absent);
    let present = Curves::of(&turns, |course| &course.present);
    let tables = vec![absent.table("Lookups of absent keys", LOAD), present.table("Lookups of present keys", LOAD)];
    let axis = || Axis::linear_within("keys per slot of 12 bits", [0.0, 1.0]);
    Ok(Reproduction {
        name: "figure-6".to_owned(),
        title: "Figure 6: lookups, by load".to_owned(),
        method: format!(
            "Filters of {} are filled in {STEPS} steps, as far as in figure 5. After each step, {count} absent and as many \
             present keys are looked up, one per call; every answer is checked. The load is the keys stored per 12 bits \
             of memory, which is α for filters with slots. {}",
            memory.name(),
            of_turns(extent)
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
        claims: Vec::new(),
    })
}

pub(super) fn claims(tables: &[Table], scale: Scale) -> Vec<Claim> {
    use Kind::{BlockedBloom, Bloom, DLeft, Packed, Printed, PrintedSemiSorted, Quotient, SemiSorted};
    const PLACE: &str = "section 7.2, figure 6";
    let [absent, present] = [0, 1].map(|number| Judge::new(tables, number, scale));
    let mut claims = Vec::new();
    for (judge, keys) in [(absent, "absent"), (present, "present")] {
        for kind in [Printed, Packed, PrintedSemiSorted, SemiSorted] {
            let whose = if kind.is_of_paper() { Whose::Paper } else { Whose::PaperOfLibrary };
            let statement = format!("{} lookups of {keys} keys are steady against the load", kind.name());
            claims.push(judge.claim(PLACE, statement, &is_steady(kind)).of(whose).main());
        }
        let statement = format!("QF lookups of {keys} keys slow down as it fills");
        claims.push(judge.claim(PLACE, statement, &slows_down(Quotient)).main());
        let statement = format!("CF looks up {keys} keys faster than BF at every load");
        let rule = speeds_of(Printed).above(speeds_of(Bloom));
        claims.push(judge.claim("abstract, sections 1 and 8", statement, &rule).judging([12]).main());
        // The share that the slowest lookups are of the fastest ones.
        let evenness = |kind| shares_of(kind).least().over(shares_of(kind).greatest());
        let as_steady = |kind: Kind| {
            let than = |other: Kind| evenness(kind).over(evenness(other)).at_least(0.9);
            than(Bloom).and(than(BlockedBloom)).and(than(Quotient)).and(than(DLeft))
        };
        let statement = format!(
            "CF and ss-CF look up {keys} keys as steadily by load as any other filter, or more so (within 10 %)"
        );
        let rule = as_steady(Printed).and(as_steady(PrintedSemiSorted));
        claims.push(judge.claim(PLACE, statement, &rule).judging([14]));
    }
    let both = |rule: fn(Kind) -> Rule| rule(Bloom).and(rule(BlockedBloom));
    let after = |table: usize, kind: Kind, step: usize| {
        let load = |name: &str| load_at(&tables[table], name, step);
        speeds_of(kind).of(LOAD, load(kind.name())).over(floors().of(LOAD, load(FLOOR)))
    };
    claims.extend([
        present.claim(PLACE, "BF and blk-BF look up present keys at a constant speed", &both(is_steady)).judging([15]),
        absent.claim(PLACE, "BF and blk-BF look up absent keys faster at low loads", &both(slows_down)).judging([16]),
        absent.claim(PLACE, "dl-CBF looks up absent keys at a constant speed", &is_steady(DLeft)).judging([17]),
        present
            .claim(
                PLACE,
                "dl-CBF looks up present keys faster at loads below 20 % (by more than 10 % than when half full)",
                &after(1, DLeft, 0).over(after(1, DLeft, 5)).above(1.1),
            )
            .judging([18])
            .since("all four buckets are read for every key, whatever the load"),
        absent
            .claim(
                "section 2.1",
                "QF slows markedly above a load of 75 % (by more than a fifth up to 90 %)",
                &after(0, Quotient, 9).over(after(0, Quotient, 7)).below(0.8),
            )
            .judging([19])
            .since("it slows all the way, with no knee"),
        absent
            .claim(
                "section 7, summary",
                "ss-CF looks up absent keys faster than BF at every load",
                &speeds_of(PrintedSemiSorted).above(speeds_of(Bloom)),
            )
            .judging([22]),
    ]);
    claims
}

/// The load of a step, as the table has it.
fn load_at(table: &Table, name: &str, step: usize) -> String {
    table.texts_where(LOAD, "filter", name).into_iter().nth(step).unwrap_or_default()
}

const LOAD: &str = "load factor";
