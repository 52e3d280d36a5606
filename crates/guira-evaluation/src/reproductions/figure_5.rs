//! Figure 5: lookups of filled filters, by the share of present keys.

use super::Extent;
use super::curves::{Curves, STEADY};
use crate::cast::approximate;
use crate::contender::{Kind, Limit};
use crate::failure::Failure;
use crate::keys::Keys;
use crate::measure::{check_present, fill, million_per_second, rotated, timed_lookups};
use crate::report::{Axis, Claim, Reproduction, Verdict, four_digits};

const SHARES: u64 = 10;

pub(super) fn reproduce(extent: &Extent) -> Result<Reproduction, Failure> {
    let Extent { scale, rounds, .. } = *extent;
    let memory = scale.memory();
    let keys = Keys::of_seed(5);
    let mut filled = Vec::new();
    for kind in Kind::ALL {
        let mut contender = kind.build(memory)?;
        let stored = fill(contender.as_mut(), keys, 0, Limit::Keys(kind.design_capacity(memory))).stored;
        check_present(kind.name(), contender.as_ref(), keys, 0..stored)?;
        filled.push((kind, contender, stored));
    }
    let count = scale.timed_queries();
    let mut curves = Curves::default();
    for round in 0..rounds {
        for share in 0..=SHARES {
            let present = count * share / SHARES;
            let x = 100.0 * approximate(share) / approximate(SHARES);
            for (_, (kind, contender, stored)) in rotated(&filled, round) {
                let queries = keys.mixture(*stored, round * count, count, present);
                let time = timed_lookups(kind.name(), contender.as_ref(), &queries, present)?;
                curves.note(kind.name(), x, million_per_second(count, time));
            }
        }
    }
    Ok(Reproduction {
        name: "figure-5".to_owned(),
        title: "Figure 5: lookups of filled filters".to_owned(),
        method: format!(
            "Filters of {} are filled: cuckoo filters to 95 % of their slots, QF to 90 %, dl-CBF to 75 %, the Bloom filters \
             with a key for 13 bits. {count} keys are looked up at a time, one per call, present and absent ones in \
             random order; every answer is checked. Medians of {} turns, each in another order.",
            memory.name(),
            rounds
        ),
        tables: vec![curves.table("Lookups of filled filters", "present keys, %")],
        charts: vec![curves.chart(
            "figure-5",
            &format!("Lookups of filled filters of {}", memory.name()),
            Axis::linear_within("keys that are present, %", [0.0, 100.0]),
        )],
        claims: claims(&curves),
    })
}

fn claims(curves: &Curves) -> Vec<Claim> {
    let steady = |kind: Kind| {
        let steadiness = curves.steadiness(kind.name());
        Claim::timed(
            format!("{} lookups are steady against the share of present keys", kind.name()),
            Verdict::of(steadiness >= STEADY),
            format!("at the worst share {} of the speed at the best", four_digits(steadiness)),
        )
        .main()
    };
    let bloom = curves.decline(Kind::Bloom.name());
    let slowest = |kind: Kind| {
        Kind::ALL.iter().filter(|other| other.is_of_paper()).all(|other| {
            let pairs = curves.points(kind.name()).into_iter().zip(curves.points(other.name()));
            pairs.into_iter().all(|((_, speed), (_, others))| speed <= others)
        })
    };
    let semi_sorted = curves.points(Kind::PrintedSemiSorted.name());
    let crossing = semi_sorted
        .iter()
        .zip(curves.points(Kind::Bloom.name()))
        .find(|((_, semi_sorted), (_, bloom))| semi_sorted > bloom)
        .map(|((share, _), _)| *share);
    vec![
        steady(Kind::Printed),
        steady(Kind::Packed),
        Claim::timed(
            "BF lookups slow down as more keys are present",
            Verdict::of(bloom < STEADY),
            format!("with all keys present {} of the speed with none", four_digits(bloom)),
        ),
        Claim::timed(
            "QF has the slowest lookups at every share of present keys",
            Verdict::of(slowest(Kind::Quotient)),
            speeds_of_all(curves),
        ),
        Claim::timed(
            "ss-CF is faster than BF where more than 25 % of the keys are present",
            Verdict::of(crossing.is_some_and(|share| share <= 30.0)),
            crossing.map_or_else(|| "at no share".to_owned(), |share| format!("from {share} % on")),
        ),
    ]
}

fn speeds_of_all(curves: &Curves) -> String {
    let kinds = Kind::ALL.into_iter().filter(|kind| kind.is_of_paper());
    let ends = kinds.filter_map(|kind| {
        let points = curves.points(kind.name());
        let (first, last) = (points.first()?.1, points.last()?.1);
        Some(format!("{} {} to {}", kind.name(), four_digits(first), four_digits(last)))
    });
    format!("million/s, none to all present: {}", ends.collect::<Vec<_>>().join(", "))
}
