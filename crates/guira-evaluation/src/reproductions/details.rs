//! Claims that no table or figure of the paper shows, each by a small measurement.

mod named;
mod partial_key;

use guira::CuckooMap;
use guira::analysis::bloom_bits_per_key;
use guira_baselines::BloomFilter;

use self::named::named;
use self::partial_key::{Addressing, load};
use crate::cast::approximate;
use crate::contender::{Kind, Limit};
use crate::failure::Failure;
use crate::keys::{Hash, Keys};
use crate::measure::{check_present, count_found, fill, measure_rate};
use crate::report::{Cell, Claim, Column, Judge, Reproduction, Rule, Table, Term, Whose, cells};
use crate::scale::Scale;

const KEYS: Keys = Keys::of_seed(20);
/// Of each length of fingerprints the lowest load of so many tables.
const TABLES: u64 = 5;
const LENGTHS: [u32; 3] = [6, 8, 12];
/// What the others bear in mind, for rows and for rules.
const COPIES: &str = "copies of one key that have slots in CF, b = 4";
const AFTER_REMOVALS: &str = "rate of CF after half of its keys were removed, in rates of CF with the other half";
const LOST: &str = "keys that CF lost when keys that it never had were removed";
const KEPT: &str = "keys that CF lost when as many of its own were removed";
const OVERFILLED: &str = "rate of BF with twice its keys, in rates with its keys";
const BF_REFUSED: &str = "keys that BF refused up to twice its capacity";
const CF_REFUSES: &str = "load at which CF refuses a key";
const ABSENT_VALUES: &str = "values that a map gives for an absent key";
const PRESENT_VALUES: &str = "values that a map gives for a present key";
const MAP_RATE: &str = "rate of the map";
const PLUS_ONE: &str = "one more than the rate of the map";
const CODES: &str = "ways to choose four of sixteen half bytes, in any order";
const EVEN: &str = "rate with nine independent bits in blocks of equal load, %";
const UNEVEN: &str = "rate with nine independent bits in blocks of unequal load, %";
const BITS_AT_ONE_PERCENT: &str = "bits per key of an optimal BF, rate 1 %";
const PROBES_AT_ONE_PERCENT: &str = "probes of an optimal BF, rate 1 %";
const PROBES_AT_A_QUARTER: &str = "probes of an optimal BF, rate 25 %";

pub(super) fn reproduce(scale: Scale) -> Result<Reproduction, Failure> {
    let mut loads = Table::new(
        "Loads with and without hashed fingerprints",
        ["fingerprint bits", "load, hashed", "load, not hashed"].map(Column::counted).into(),
    );
    for bits in LENGTHS {
        let lowest = |addressing| {
            (0..TABLES).map(|seed| load(addressing, scale.space_exponent(), bits, seed)).fold(f64::INFINITY, f64::min)
        };
        let [hashed, unhashed] = [Addressing::Hashed, Addressing::Unhashed].map(lowest);
        loads.push(vec![Cell::Count(bits.into()), Cell::Number(hashed), Cell::Number(unhashed)]);
    }
    let mut values = Table::new("Small measurements", ["what", "value"].map(Column::counted).into());
    for (what, value) in measured(scale)?.into_iter().chain(computed()?) {
        values.push(vec![Cell::text(what), Cell::Number(value)]);
    }
    Ok(Reproduction {
        name: "details".to_owned(),
        title: "Details: claims without a table or figure".to_owned(),
        method: format!(
            "Partial-key cuckoo hashing without the hash: tables of 2^{} buckets of four slots, with a key's second bucket at \
             the first XOR its fingerprint, or XOR the hash of that; each load is the lowest of {TABLES} tables at the first key \
             that 500 relocations do not place. The other filters are those of tables 1 and 2, of {}. Lines of code are those of \
             the baselines that are neither empty nor comments, without tests. The filters of the last table are named by the \
             paper, but not measured there: they get as many keys and a rate near 0.2 %, and one time each.",
            scale.space_exponent(),
            scale.space_memory().name(),
        ),
        tables: vec![values, loads, lines_of_code(), named(scale)?],
        charts: Vec::new(),
        claims: Vec::new(),
    })
}

type Values = Vec<(&'static str, f64)>;

fn measured(scale: Scale) -> Result<Values, Failure> {
    let memory = scale.space_memory();
    let name = Kind::Printed.name();
    // The last that is taken has no slot: it is the victim, as in the authors' program.
    let copies = Kind::Printed.build(memory)?.insert_all(&KEYS.present(0..1).repeat(100)) - 1;

    // Half of the keys are removed, beside a filter that never had them.
    let capacity = Kind::Printed.design_capacity(memory);
    let half = capacity / 2;
    let [mut removed, mut fresh] = [Kind::Printed.build(memory)?, Kind::Printed.build(memory)?];
    fill(removed.as_mut(), KEYS, 0, Limit::Keys(capacity));
    fill(fresh.as_mut(), KEYS, half, Limit::Keys(capacity - half));
    if let Some(removing) = removed.as_removing() {
        removing.remove_all(&KEYS.present(0..half));
    }
    let kept = capacity - half - count_found(removed.as_ref(), KEYS, half..capacity);
    let queries = scale.rate_queries();
    let rates = [removed.as_ref(), fresh.as_ref()].map(|filter| measure_rate(name, filter, KEYS, queries));
    let [after_removals, before] = rates;
    let after_removals = after_removals? / before?;
    if let Some(removing) = fresh.as_removing() {
        removing.remove_all(&KEYS.absent(queries, half));
    }
    let lost = capacity - half - count_found(fresh.as_ref(), KEYS, half..capacity);

    let Limit::Keys(bloom_capacity) = Kind::Bloom.limit(memory) else { unreachable!("Bloom filters are never full") };
    let mut bloom = Kind::Bloom.build(memory)?;
    fill(bloom.as_mut(), KEYS, 0, Limit::Keys(bloom_capacity));
    let at_capacity = measure_rate(Kind::Bloom.name(), bloom.as_ref(), KEYS, queries)?;
    let stored = fill(bloom.as_mut(), KEYS, bloom_capacity, Limit::Keys(bloom_capacity)).stored;
    check_present(Kind::Bloom.name(), bloom.as_ref(), KEYS, 0..2 * bloom_capacity)?;
    let overfilled = measure_rate(Kind::Bloom.name(), bloom.as_ref(), KEYS, queries)? / at_capacity;
    let refused_at = fill(Kind::Printed.build(memory)?.as_mut(), KEYS, 0, Limit::FirstRefusal).stored;

    let mut values = vec![
        (COPIES, approximate(copies as u64)),
        (AFTER_REMOVALS, after_removals),
        (KEPT, approximate(kept)),
        (LOST, approximate(lost)),
        (OVERFILLED, overfilled),
        (BF_REFUSED, approximate(bloom_capacity - stored)),
        (CF_REFUSES, approximate(refused_at) / approximate(memory.slots())),
    ];
    values.extend(of_map()?);
    Ok(values)
}

/// The values that a map gives, with a rate so high that there are many false ones.
fn of_map() -> Result<Values, Failure> {
    const ENTRIES: u64 = 50_000;
    let not_built = |error: &dyn core::fmt::Display| Failure::not_built("a map", error);
    let builder = CuckooMap::<u8>::builder().capacity(crate::cast::in_memory(ENTRIES)).false_positive_rate(0.02);
    let mut map = builder.build().map_err(|error| not_built(&error))?;
    for key in KEYS.present(0..ENTRIES) {
        map.insert(&key, 7_u8).map_err(|error| not_built(&error))?;
    }
    let mean = |keys: Vec<u64>| {
        let count = keys.len() as u64;
        let values: usize = keys.iter().map(|key| map.get_all(key).count()).sum();
        approximate(values as u64) / approximate(count)
    };
    let rate = map.expected_false_positive_rate();
    Ok(vec![
        (ABSENT_VALUES, mean(KEYS.absent(0, 500_000))),
        (PRESENT_VALUES, mean(KEYS.present(0..ENTRIES))),
        (MAP_RATE, rate),
        (PLUS_ONE, 1.0 + rate),
    ])
}

fn computed() -> Result<Values, Failure> {
    let half_bytes = || 0..16_u32;
    let codes = half_bytes()
        .flat_map(|one| (one..16).flat_map(move |two| (two..16).flat_map(move |three| (three..16).map(move |_| 1.0))));
    let probes = |rate: f64| {
        let bloom = BloomFilter::with_capacity(1000, bloom_bits_per_key(rate));
        let bloom = bloom.map_err(|error| Failure::not_built(Kind::Bloom.name(), error))?;
        Ok::<f64, Failure>(f64::from(bloom.probe_count()))
    };
    let [even, uneven] = independent_bits();
    Ok(vec![
        (CODES, codes.sum()),
        (EVEN, 100.0 * even),
        (UNEVEN, 100.0 * uneven),
        (BITS_AT_ONE_PERCENT, bloom_bits_per_key(0.01)),
        (PROBES_AT_ONE_PERCENT, probes(0.01)?),
        (PROBES_AT_A_QUARTER, probes(0.25)?),
    ])
}

/// The rates of blocks of 512 bits with nine independent bits for each key, 13 bits per key: with as many keys in each, and with
/// a Poisson distribution of keys, which a table of many blocks has.
fn independent_bits() -> [f64; 2] {
    const MEAN: f64 = 512.0 / 13.0;
    let rate = |keys: f64| (1.0 - (9.0 * keys * (-1.0_f64 / 512.0).ln_1p()).exp()).powi(9);
    let (mut share, mut mean) = ((-MEAN).exp(), 0.0);
    for keys in (0..200).map(f64::from) {
        mean += share * rate(keys);
        share *= MEAN / (keys + 1.0);
    }
    [rate(MEAN), mean]
}

fn lines_of_code() -> Table {
    const SOURCES: [(&str, &[&str]); 4] = [
        (
            "CF",
            &[
                include_str!("../../../guira-baselines/src/cuckoo.rs"),
                include_str!("../../../guira-baselines/src/buckets.rs"),
                include_str!("../../../guira-baselines/src/buckets/plain.rs"),
            ],
        ),
        ("semi-sorting", &[include_str!("../../../guira-baselines/src/buckets/semi_sorted.rs")]),
        ("QF", &[include_str!("../../../guira-baselines/src/quotient.rs")]),
        ("dl-CBF", &[include_str!("../../../guira-baselines/src/d_left.rs")]),
    ];
    let mut table = Table::new("Lines of code", ["filter", "lines"].map(Column::counted).into());
    for (name, sources) in SOURCES {
        let count = |source: &&str| {
            let lines = source.lines().map(str::trim).take_while(|line| *line != "#[cfg(test)]");
            lines.filter(|line| !line.is_empty() && !line.starts_with("//")).count() as u64
        };
        table.push(vec![Cell::text(name), Cell::Count(sources.iter().map(count).sum())]);
    }
    table
}

fn value(what: &str) -> Term {
    cells("value").of("what", what)
}

fn about(what: &str, value_of: f64, by: f64) -> Rule {
    value(what).at_least_about(value_of, by).and(value(what).at_most_about(value_of, by))
}

pub(super) fn claims(tables: &[Table], scale: Scale) -> Vec<Claim> {
    let judge = |number| Judge::new(tables, number, scale);
    let small = judge(0);
    let alike = |one: &str, other: &str| {
        let ratio = || value(one).over(value(other));
        ratio().at_least(0.9).and(ratio().at_most(1.1))
    };
    // The share of the difference between blk-BF and blocks of equal load that unequal load explains, from 0.43 %.
    let lines = |name: &str| cells("lines").of("filter", name);
    let loads = cells("load, not hashed").below(cells("load, hashed"));
    vec![
        judge(1)
            .claim("section 3.1", "without hashing the fingerprint, tables fill less (6, 8 and 12 bits)", &loads)
            .judging([53]),
        small
            .claim("sections 3.1 and 6", "a key can be inserted 2b times, and no more", &about(COPIES, 8.0, 0.0))
            .judging([58]),
        small
            .claim(
                "section 3.3",
                "removing keys loses no other, and leaves the rate of the keys that stay (to 10 %)",
                &value(KEPT).at_most(0.0).and(about(AFTER_REMOVALS, 1.0, 0.1)),
            )
            .judging([59]),
        small
            .claim("section 3.3; article on the cuckoo filter", "removing keys that were never inserted loses others", &value(LOST).above(0.0))
            .judging([60]),
        small
            .claim(
                "section 6",
                "an absent key has ε values, and a present one 1 + ε",
                &alike(ABSENT_VALUES, MAP_RATE).and({
                    let ratio = || value(PRESENT_VALUES).over(value(PLUS_ONE));
                    ratio().at_least(0.998).and(ratio().at_most(1.002))
                }),
            )
            .judging([61]),
        small
            .claim(
                "section 6; article on the cuckoo filter",
                "beyond its capacity BF takes keys and its rate rises, while CF refuses them",
                &value(BF_REFUSED).at_most(0.0).and(value(OVERFILLED).above(2.0)).and(value(CF_REFUSES).below(1.0)),
            )
            .judging([62]),
        small
            .claim(
                "section 5.2; article on the cuckoo filter",
                "four sorted half bytes have 3876 values, which fit 12 bits",
                &about(CODES, 3876.0, 0.0).and(value(CODES).at_most(4096.0)),
            )
            .judging([35]),
        small
            .claim(
                "section 7.1",
                "unequal load of blocks is why blk-BF's rate exceeds that of BF (explains most of 0.43 %)",
                &value(UNEVEN).at_least(0.43 - 0.12),
            )
            .judging([29])
            .since(
                "nine independent bits in blocks of unequal load give 0.28 %: the rest is that h1 + i · h2 gives few different sets \
                 of nine bits within 512",
            ),
        small
            .claim(
                "section 6",
                "an optimal BF has 2 probes at 25 % and 7 at 1 %, where it takes about 10 bits per key",
                &about(PROBES_AT_A_QUARTER, 2.0, 0.0)
                    .and(about(PROBES_AT_ONE_PERCENT, 7.0, 0.0))
                    .and(about(BITS_AT_ONE_PERCENT, 10.0, 0.5)),
            )
            .judging([42]),
        judge(2)
            .claim(
                "sections 1 and 7",
                "CF is simpler than QF, and takes about 500 lines of code, semi-sorting included another 500",
                &lines("CF").below(lines("QF"))
                    .and(lines("CF").at_least_about(500.0, 100.0))
                    .and(lines("CF").at_most_about(500.0, 100.0)),
            )
            .judging([63])
            .since("another language, and shapes of buckets that are constants"),
    ]
    .into_iter()
    .map(|claim| if claim.place.starts_with("article") { claim.of(Whose::Others) } else { claim })
    .collect()
}

/// A key as baselines get it.
fn digest(hash: Hash, key: u64) -> guira_baselines::Digest {
    guira_baselines::Digest::new(hash.digest(key).get())
}
