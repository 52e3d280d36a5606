//! Figure 5: lookups of filled filters, by the share of present keys.

use super::Extent;
use super::course::{SHARES, of_turns, turns};
use super::curves::{Curves, dips, is_steady, shares_of, slows_down, speeds_of};
use crate::contender::Kind;
use crate::failure::Failure;
use crate::journal::Journal;
use crate::report::{Axis, Claim, Judge, Reproduction, Rule, Table, Whose};
use crate::scale::Scale;

/// The figures in the source of the authors' program: million lookups a second, with 0 to 100 % present keys.
const AUTHORS: [(Kind, [f64; 5]); 2] = [
    (Kind::Printed, [26.10, 25.92, 26.00, 25.95, 25.89]),
    (Kind::PrintedSemiSorted, [10.07, 10.65, 10.65, 10.79, 10.64]),
];
const SHARE: &str = "present keys, %";

pub(super) fn reproduce(extent: &Extent, journal: &Journal) -> Result<Reproduction, Failure> {
    let scale = extent.scale;
    let memory = scale.memory();
    let count = scale.timed_queries();
    let curves = Curves::of(&turns(extent, journal)?, |course| &course.shares);
    let table = curves.table("Lookups of filled filters", SHARE);
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
             random order; every answer is checked. {}",
            memory.name(),
            of_turns(extent)
        ),
        tables: vec![table],
        charts: vec![chart],
        claims: Vec::new(),
    })
}

pub(super) fn claims(tables: &[Table], scale: Scale) -> Vec<Claim> {
    use Kind::{BlockedBloom, Bloom, DLeft, Packed, Printed, PrintedSemiSorted, Quotient};
    const PLACE: &str = "section 7.2, figure 5";
    let judge = Judge::new(tables, 0, scale);
    let steady = |kind: Kind| {
        let statement = format!("{} lookups are steady against the share of present keys", kind.name());
        judge.claim(PLACE, statement, &is_steady(kind)).main()
    };
    let above = |one: Kind, other: Kind| speeds_of(one).above(speeds_of(other));
    let others = Kind::ALL.into_iter().filter(|other| other.is_of_paper() && *other != Quotient);
    let slowest = others.map(|other| speeds_of(Quotient).below(speeds_of(other))).reduce(Rule::and);
    let crossing = (3..=SHARES).map(|share| {
        let at_share = |kind| speeds_of(kind).of(SHARE, 10 * share);
        at_share(PrintedSemiSorted).above(at_share(Bloom))
    });
    let alike = |kind: Kind, most: f64| {
        let ratio = || shares_of(kind).last().over(shares_of(kind).first());
        ratio().at_least(1.0 - most).and(ratio().at_most(1.0 / (1.0 - most)))
    };
    let share_of_bloom = || speeds_of(DLeft).over(speeds_of(Bloom));
    let mut claims = vec![
        judge
            .claim(
                "abstract, sections 1 and 8",
                "CF looks up faster than BF, filled to 95 %, at every share of present keys",
                &above(Printed, Bloom),
            )
            .judging([12])
            .main(),
        judge
            .claim(
                "abstract, sections 1 and 8",
                "guira's CF looks up faster than BF, filled to 95 %, at every share of present keys",
                &above(Packed, Bloom),
            )
            .of(Whose::PaperOfLibrary)
            .judging([12])
            .main(),
        steady(Printed),
        steady(Packed).of(Whose::PaperOfLibrary),
        judge.claim(PLACE, "BF lookups slow down as more keys are present", &slows_down(Bloom)),
        judge
            .claim(
                PLACE,
                "CF looks up faster than QF and dl-CBF at every share of present keys",
                &above(Printed, Quotient).and(above(Printed, DLeft)),
            )
            .judging([13]),
        judge
            .claim(
                PLACE,
                "ss-CF looks up more slowly than CF at every share of present keys",
                &above(Printed, PrintedSemiSorted),
            )
            .judging([11, 21]),
        judge
            .claim(
                PLACE,
                "dl-CBF looks up faster than ss-CF at every share of present keys",
                &above(DLeft, PrintedSemiSorted),
            )
            .judging([4])
            .since("dl-CBF reads four buckets in four cache lines for every key, ss-CF two"),
        judge
            .claim(
                PLACE,
                "dl-CBF looks up 30 % more slowly than BF",
                &share_of_bloom().at_least(0.65).and(share_of_bloom().at_most(0.75)),
            )
            .judging([5])
            .since("BF slows as more keys are present, dl-CBF does not: the quotient is not one number"),
        judge
            .claim(PLACE, "dl-CBF is as fast with all keys present as with none (within 10 %)", &alike(DLeft, 0.1))
            .judging([6]),
        judge.claim(PLACE, "blk-BF slows down as more keys are present", &slows_down(BlockedBloom)).judging([7]),
        judge
            .claim(
                PLACE,
                "BF looks up more slowly than blk-BF at every share of present keys",
                &above(BlockedBloom, Bloom),
            )
            .judging([8])
            .printed("by about 4 million/s, which depends on the machine"),
        judge
            .claim(
                PLACE,
                "CF dips where half of the keys are present (by more than 2 % below both ends)",
                &dips(Printed, SHARE, 50),
            )
            .judging([9])
            .since("the answer of a lookup is computed without a branch, so nothing is predicted wrongly"),
        judge
            .claim(PLACE, "CF is as fast with all keys present as with none (within 5 %)", &alike(Printed, 0.05))
            .judging([10]),
    ];
    if let Some(rule) = slowest {
        claims.push(judge.claim(PLACE, "QF has the slowest lookups at every share of present keys", &rule));
    }
    if let Some(rule) = crossing.reduce(Rule::and) {
        let statement = "ss-CF is faster than BF where more than 25 % of the keys are present";
        claims.push(judge.claim(PLACE, statement, &rule).judging([22]));
    }
    claims
}
