//! Figure 5: lookups of filled filters, by the share of present keys.

use super::Extent;
use super::course::{FILLINGS, SHARES, courses};
use super::curves::{Curves, is_steady, slows_down, speeds_of};
use crate::contender::Kind;
use crate::failure::Failure;
use crate::journal::Journal;
use crate::report::{Axis, Claim, Judge, Reproduction, Rule, Whose};

/// The figures in the source of the authors' program: million lookups a second, with 0 to 100 % present keys.
const AUTHORS: [(Kind, [f64; 5]); 2] = [
    (Kind::Printed, [26.10, 25.92, 26.00, 25.95, 25.89]),
    (Kind::PrintedSemiSorted, [10.07, 10.65, 10.65, 10.79, 10.64]),
];
const SHARE: &str = "present keys, %";

pub(super) fn reproduce(extent: &Extent, journal: &Journal) -> Result<Reproduction, Failure> {
    let Extent { scale, fills: rounds, .. } = *extent;
    let memory = scale.memory();
    let count = scale.timed_queries();
    let curves = Curves::of(&courses(extent, journal)?, |course| &course.shares);
    let table = curves.table("Lookups of filled filters", SHARE);
    let claims = claims(Judge { table: &table, number: 0, scale });
    let mut chart = curves.chart(
        "figure-5",
        &format!("Lookups of filled filters of {}", memory.name()),
        Axis::linear_within("keys that are present, %", [0.0, 100.0]),
    );
    if !scale.is_quick() {
        for (kind, speeds) in AUTHORS {
            if let Some(series) = chart.series.iter_mut().find(|series| series.name == kind.name()) {
                series.others = [0.0, 25.0, 50.0, 75.0, 100.0].into_iter().zip(speeds).collect();
            }
        }
        chart.others = Some(
            "the authors' program in tables of 192 MB on an Intel Core i7-4790, as its source says \
             (github.com/efficient/cuckoofilter, benchmarks/conext-figure5.cc); the paper's figure is not read off"
                .to_owned(),
        );
    }
    Ok(Reproduction {
        name: "figure-5".to_owned(),
        title: "Figure 5: lookups of filled filters".to_owned(),
        method: format!(
            "Filters of {} are filled: cuckoo filters to 95 % of their slots, QF to 90 %, dl-CBF to 75 %, the Bloom filters \
             with a key for 13 bits. {count} keys are looked up at a time, one per call, present and absent ones in \
             random order; every answer is checked. Medians of {} {FILLINGS}",
            memory.name(),
            rounds
        ),
        tables: vec![table],
        charts: vec![chart],
        claims,
    })
}

fn claims(judge: Judge<'_>) -> Vec<Claim> {
    const PLACE: &str = "section 7, figure 5";
    let steady = |kind: Kind| {
        let statement = format!("{} lookups are steady against the share of present keys", kind.name());
        judge.claim_at_paper_scale(PLACE, statement, &is_steady(kind)).main()
    };
    let others = Kind::ALL.into_iter().filter(|other| other.is_of_paper() && *other != Kind::Quotient);
    let slower = others.map(|other| speeds_of(Kind::Quotient).below(speeds_of(other)));
    let crossing = (3..=SHARES).map(|share| {
        let at_share = |kind| speeds_of(kind).of(SHARE, 10 * share);
        at_share(Kind::PrintedSemiSorted).above(at_share(Kind::Bloom))
    });
    let mut claims = vec![
        steady(Kind::Printed),
        steady(Kind::Packed).of(Whose::PaperOfLibrary),
        judge.claim_at_paper_scale(PLACE, "BF lookups slow down as more keys are present", &slows_down(Kind::Bloom)),
    ];
    if let Some(rule) = slower.reduce(Rule::and) {
        claims.push(judge.claim_at_paper_scale(
            PLACE,
            "QF has the slowest lookups at every share of present keys",
            &rule,
        ));
    }
    if let Some(rule) = crossing.reduce(Rule::and) {
        let statement = "ss-CF is faster than BF where more than 25 % of the keys are present";
        claims.push(judge.claim_at_paper_scale(PLACE, statement, &rule));
    }
    claims
}
