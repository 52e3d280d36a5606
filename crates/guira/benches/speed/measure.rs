use std::fmt;
use std::hint::black_box;

use guira::CuckooFilter;

use crate::contender::Contender;
use crate::floor::Floor;
use crate::timing::{Scale, median, nanoseconds_per};
use crate::workload;

/// Nanoseconds per operation.
pub(crate) struct Figures {
    name: String,
    lookup: [Lookup; 2],
    insert: Vec<f64>,
    insert_each: f64,
    bulk: f64,
    remove: f64,
    remove_many_into: f64,
    /// Batch lookups of absent keys over the two-line floor, prefetched, of the same rounds; and single calls over the
    /// same without prefetch.
    over_floor: [f64; 2],
}

struct Lookup {
    absent: f64,
    present: f64,
    half: f64,
}

impl Figures {
    pub(crate) const HEADING: &str = "\
| table | layout | absent | present | half | absent, batch | present, batch | half, batch | insert, by load | insert, batch | bulk | remove | remove, batch | floor ratio, single | floor ratio, batch |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|";
}

impl fmt::Display for Figures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, lookup: [single, batch], insert, .. } = self;
        write!(formatter, "| {name} | {:.1} | {:.1} | {:.1}", single.absent, single.present, single.half)?;
        write!(formatter, " | {:.1} | {:.1} | {:.1} | ", batch.absent, batch.present, batch.half)?;
        for (step, figure) in insert.iter().enumerate() {
            write!(formatter, "{}{figure:.0}", if step == 0 { "" } else { " " })?;
        }
        write!(
            formatter,
            " | {:.1} | {:.1} | {:.1} | {:.1}",
            self.insert_each, self.bulk, self.remove, self.remove_many_into
        )?;
        write!(formatter, " | {:.2} | {:.2} |", self.over_floor[0], self.over_floor[1])
    }
}

/// Measures everything of one kind of filter at one size.
pub(crate) fn all_operations(
    contender: &Contender,
    floor: &Floor,
    size_name: &str,
    size: u64,
    scale: Scale,
) -> Figures {
    let builder = contender.builder(size);
    let mut filter = builder.build().expect("memory for the table");
    let keys: Vec<u64> = {
        let slots = filter.parameters().slot_count() as f64;
        (0..(slots * contender.load_factor) as u64).collect()
    };
    let key_count = keys.len() as u64;

    // Small tables are filled several times, so that there is something to time.
    let fills = if scale.rounds == 1 { 1 } else { (4_000_000 / keys.len()).clamp(1, 100) };
    let bulk = median((0..fills.min(5)).map(|_| {
        nanoseconds_per(keys.len(), || {
            black_box(builder.build_from_keys(&keys).expect("below the rated load"));
        })
    }));
    let insert_each = median((0..fills).map(|_| {
        filter.clear();
        nanoseconds_per(keys.len(), || filter.try_extend(&keys).expect("below the rated load"))
    }));
    // In ten steps to the last load.
    let steps: Vec<&[u64]> = keys.chunks(keys.len().div_ceil(10)).collect();
    let mut of_steps = vec![Vec::new(); steps.len()];
    for _ in 0..fills {
        filter.clear();
        for (step, figures) in steps.iter().zip(&mut of_steps) {
            figures.push(nanoseconds_per(step.len(), || {
                for key in *step {
                    filter.insert(black_box(key)).expect("below the rated load");
                }
            }));
        }
    }
    let insert = of_steps.into_iter().map(|figures| median(figures.into_iter())).collect();

    let mut lookups: [[Vec<f64>; 3]; 2] = Default::default();
    let mut ratios: [Vec<f64>; 2] = Default::default();
    let rate = filter.expected_false_positive_rate();
    let most_found = |absent: u64| (absent as f64 * rate + 6.0 * (absent as f64 * rate).sqrt() + 6.0) as usize;
    for round in 0..scale.rounds {
        let first = round * scale.queries;
        let workloads = [
            (workload::absent(scale.queries, first), 0, scale.queries),
            (workload::present(scale.queries, first, key_count), scale.queries, 0),
            (workload::half(scale.queries, first, key_count), scale.queries / 2, scale.queries / 2),
        ];
        let mut answers = vec![false; workloads[0].0.len()];
        for (kind, (queries, present, absent)) in workloads.iter().enumerate() {
            let mut found = 0;
            let single = nanoseconds_per(queries.len(), || {
                found = queries.iter().filter(|key| filter.contains(black_box(*key))).count();
            });
            let batch = nanoseconds_per(queries.len(), || filter.contains_many_into(queries, &mut answers));
            assert_eq!(answers.iter().filter(|&&answer| answer).count(), found, "batch and single calls differ");
            let present = usize::try_from(*present).expect("fits memory");
            assert!(found >= present, "{} of {present} keys lost", present - found.min(present));
            assert!(found - present <= most_found(*absent), "{found} found, {present} present");
            lookups[0][kind].push(single);
            lookups[1][kind].push(batch);
            if kind == 0 {
                ratios[0].push(single / floor.single::<2>(queries));
                ratios[1].push(batch / floor.prefetched::<2>(queries));
            }
        }
    }
    let [remove, remove_many_into] = removals(&mut filter, &keys, scale);
    Figures {
        name: format!("{size_name} | {}", contender.name),
        lookup: lookups.map(|[absent, present, half]| Lookup {
            absent: median(absent.into_iter()),
            present: median(present.into_iter()),
            half: median(half.into_iter()),
        }),
        insert,
        insert_each,
        bulk,
        remove,
        remove_many_into,
        over_floor: ratios.map(|figures| median(figures.into_iter())),
    }
}

/// Removes keys and puts them back, one call at a time and in batches.
fn removals(filter: &mut CuckooFilter, keys: &[u64], scale: Scale) -> [f64; 2] {
    let count = keys.len().min(usize::try_from(scale.queries).expect("fits memory"));
    let mut removed = vec![false; count];
    let mut figures: [Vec<f64>; 2] = Default::default();
    for round in 0..scale.rounds {
        let first = usize::try_from(round).expect("few rounds") * count % (keys.len() - count + 1);
        let chosen = &keys[first..first + count];
        figures[0].push(nanoseconds_per(count, || {
            assert!(chosen.iter().all(|key| filter.remove(black_box(key))), "a key was lost");
        }));
        filter.try_extend(chosen).expect("they fitted before");
        figures[1].push(nanoseconds_per(count, || filter.remove_many_into(chosen, &mut removed)));
        assert!(removed.iter().all(|&removed| removed), "a key was lost");
        filter.try_extend(chosen).expect("they fitted before");
    }
    figures.map(|figures| median(figures.into_iter()))
}
