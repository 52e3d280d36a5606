//! Table 2: bits per key, loads and memory references of Bloom and cuckoo filters.

use guira::analysis::{bloom_bits_per_key, information_limit};
use guira_baselines::{BloomFilter, Digest, Insert};

use super::space::Space;
use crate::contender::Kind;
use crate::failure::Failure;
use crate::keys::{Hash, Keys};
use crate::report::{Cell, Claim, Column, Judge, Reproduction, Table, Whose, cells};
use crate::scale::Scale;

/// The filters of the table, with the bits that are added to log2(1/ε) before it is divided by the load.
const CUCKOO: [(Kind, f64); 4] =
    [(Kind::Printed, 3.0), (Kind::PrintedSemiSorted, 2.0), (Kind::Packed, 3.0), (Kind::SemiSorted, 2.0)];

pub(super) fn reproduce(scale: Scale) -> Result<Reproduction, Failure> {
    let memory = scale.space_memory();
    let keys = Keys::of_seed(2);
    let columns = [
        "filter",
        "bits per key",
        "rate, %",
        "bits per key by the formula",
        "load factor",
        "references, present key",
        "references, absent key",
        "paper: load factor",
    ];
    let mut table = Table::new("Table 2", columns.map(Column::counted).into());
    let bloom = Space::of(Kind::Bloom, memory, keys, scale)?;
    let [present, absent] = bloom_references(bloom.stored, keys)?;
    table.push(vec![
        Cell::text(Kind::Bloom.name()),
        Cell::Number(bloom.bits_per_key),
        Cell::Number(100.0 * bloom.rate),
        Cell::Number(bloom_bits_per_key(bloom.rate)),
        Cell::None,
        Cell::Number(present),
        Cell::Number(absent),
        Cell::None,
    ]);
    for (kind, raised) in CUCKOO {
        let space = Space::of(kind, memory, keys, scale)?;
        table.push(vec![
            Cell::text(kind.name()),
            Cell::Number(space.bits_per_key),
            Cell::Number(100.0 * space.rate),
            Cell::Number((information_limit(space.rate) + raised) / space.load_factor),
            Cell::Number(space.load_factor),
            Cell::Number(2.0),
            Cell::Number(2.0),
            Cell::from(kind.is_of_paper().then_some(0.955)),
        ]);
    }
    let claims = claims(Judge { table: &table, number: 0, scale });
    Ok(Reproduction {
        name: "table-2".to_owned(),
        title: "Table 2: space and lookup cost".to_owned(),
        method: format!(
            "Filters of {} are filled as in table 3. The formulas are the paper's, log2(1/ε) / ln 2 for a Bloom filter and \
             (log2(1/ε) + 3) / α for a cuckoo filter, 2 in place of 3 with semi-sorted buckets, at the measured rate and \
             load. A Bloom filter reads one bit per reference, k for a present key; for an absent one, the first bit that is \
             0 ends the lookup, which follows from the measured share of bits that are set. Cuckoo filters read two \
             buckets by construction; 6 % of the buckets of 6 bytes lie on two cache lines.",
            memory.name()
        ),
        tables: vec![table],
        charts: Vec::new(),
        claims,
    })
}

fn claims(judge: Judge<'_>) -> Vec<Claim> {
    const PLACE: &str = "section 5.2, table 2";
    let references = || cells("references, absent key").of("filter", Kind::Bloom.name());
    let mut claims = vec![judge.claim(
        PLACE,
        "an absent key takes a space-optimised BF 2 references",
        // To one digit, as it is printed.
        &references().at_least_about(2.0, 0.5).and(references().at_most_about(2.0, 0.5)),
    )];
    for (kind, _) in CUCKOO {
        let whose = match kind {
            Kind::Printed | Kind::PrintedSemiSorted => Whose::Paper,
            _ => Whose::PaperOfLibrary,
        };
        // In tenths of a percent, as it is printed.
        let rule = cells("load factor").of("filter", kind.name()).at_least_about(0.955, 0.0005);
        claims.push(judge.claim(PLACE, format!("{} fills to 95.5 %", kind.name()), &rule).of(whose));
    }
    claims
}

/// The number of bits that a lookup reads in a Bloom filter of 13 bits per key: for a present key, and for an absent one on
/// average.
fn bloom_references(stored: u64, keys: Keys) -> Result<[f64; 2], Failure> {
    let not_built = |error| Failure::not_built(Kind::Bloom.name(), error);
    let mut bloom = BloomFilter::with_capacity(stored, 13.0).map_err(not_built)?;
    let hash = Hash::new();
    for key in keys.present(0..stored) {
        if let Err(full) = bloom.insert(Digest::new(hash.digest(key).get())) {
            return Err(Failure::not_built(Kind::Bloom.name(), full));
        }
    }
    let probes = f64::from(bloom.probe_count());
    let set = bloom.fill_ratio();
    // The i-th bit is read if the i - 1 before it are set.
    Ok([probes, (1.0 - set.powf(probes)) / (1.0 - set)])
}
