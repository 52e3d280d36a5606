//! Filters that the paper names and does not measure: Golomb-coded sequences, rank-indexed hashing and Bloomier filters.

use guira_baselines::{BloomierFilter, Digest, Filter, GolombSequence, Insert, RankIndexedFilter, StaticFilter};

use super::{KEYS, digest};
use crate::cast::{approximate, in_memory};
use crate::failure::Failure;
use crate::keys::Hash;
use crate::measure::{Seconds, check_answers, million_per_second};
use crate::report::{Cell, Column, Table};
use crate::scale::Scale;

/// The bits of fingerprints, for a rate near 0.2 %.
const BITS: u32 = 9;

pub(super) fn named(scale: Scale) -> Result<Table, Failure> {
    let keys = scale.space_memory().slots() * 3 / 4;
    let hash = Hash::new();
    let digests: Vec<Digest> = KEYS.present(0..keys).into_iter().map(|key| digest(hash, key)).collect();
    let absent: Vec<Digest> = KEYS.absent(0, scale.rate_queries()).into_iter().map(|key| digest(hash, key)).collect();
    let columns = ["filter", "source", "removal", "bits per key", "rate, %"].map(Column::counted);
    let speeds = ["construction, million keys/s", "lookups of absent keys, million/s"].map(Column::timed);
    let mut table = Table::new("Filters that the paper names", columns.into_iter().chain(speeds).collect());
    macro_rules! of_all_keys {
        ($filter:ident) => {
            Seconds::of(|| {
                $filter::build(&digests, BITS).map_err(|error| Failure::not_built(stringify!($filter), error))
            })
        };
    }
    let golomb = of_all_keys!(GolombSequence);
    table.push(row(
        ("Golomb-coded sequence", "section 2.1: Putze and others 2007", "no, built once"),
        golomb,
        &digests,
        &absent,
    )?);
    let bloomier = of_all_keys!(BloomierFilter);
    table.push(row(
        ("Bloomier filter, without values", "section 6: Chazelle and others 2004", "no, built once"),
        bloomier,
        &digests,
        &absent,
    )?);
    // At a load of three quarters no bin is full; the fingerprints are a bit shorter for it.
    let ranked = Seconds::of(|| {
        let not_built = |error: &dyn core::fmt::Display| Failure::not_built("RankIndexedFilter", error);
        let mut filter =
            RankIndexedFilter::new(scale.space_memory().slots() / 512, BITS).map_err(|error| not_built(&error))?;
        for &digest in &digests {
            filter.insert(digest).map_err(|error| not_built(&error))?;
        }
        Ok(filter)
    });
    table.push(row(("rank-indexed hashing", "section 2.1: Hua and others 2008", "yes"), ranked, &digests, &absent)?);
    Ok(table)
}

fn row<F: Filter>(
    (name, source, removal): (&str, &str, &str),
    (construction, filter): (Seconds, Result<F, Failure>),
    digests: &[Digest],
    absent: &[Digest],
) -> Result<Vec<Cell>, Failure> {
    let filter = filter?;
    let [of, asked] = [digests.len(), absent.len()].map(|count| count as u64);
    // A sample, since some of them decode much for each lookup.
    let every = in_memory(of / 100_000 + 1);
    let lost = digests.iter().step_by(every).filter(|&&digest| !filter.contains(digest)).count() as u64;
    if lost > 0 {
        return Err(Failure::KeysLost { contender: name.to_owned(), lost, of });
    }
    let (time, found) = Seconds::of(|| filter.count_contained(absent.iter().copied()));
    check_answers(name, filter.expected_false_positive_rate(), found, asked)?;
    let bits = approximate(filter.memory_bits()) / approximate(of);
    let mut row = [name, source, removal].map(Cell::text).to_vec();
    let rate = 100.0 * approximate(found) / approximate(asked);
    row.extend([bits, rate, million_per_second(of, construction), million_per_second(asked, time)].map(Cell::Number));
    Ok(row)
}
