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
        FORMULA,
        "load factor",
        "references, present key",
        "references, absent key",
        "paper: load factor",
        "log2(1/rate)",
        "in information limits",
        "share of bits set",
    ];
    let mut table = Table::new("Table 2", columns.map(Column::counted).into());
    let bloom = Space::of(Kind::Bloom, memory, keys, scale)?;
    let limits = |space: &Space| {
        let limit = information_limit(space.rate);
        [limit, space.bits_per_key / limit].map(Cell::Number)
    };
    let ([present, absent], set) = bloom_references(bloom.stored, keys)?;
    let [limit, in_limits] = limits(&bloom);
    table.push(vec![
        Cell::text(Kind::Bloom.name()),
        Cell::Number(bloom.bits_per_key),
        Cell::Number(100.0 * bloom.rate),
        Cell::Number(bloom_bits_per_key(bloom.rate)),
        Cell::None,
        Cell::Number(present),
        Cell::Number(absent),
        Cell::None,
        limit,
        in_limits,
        Cell::Number(set),
    ]);
    for (kind, raised) in CUCKOO {
        let space = Space::of(kind, memory, keys, scale)?;
        let [limit, in_limits] = limits(&space);
        table.push(vec![
            Cell::text(kind.name()),
            Cell::Number(space.bits_per_key),
            Cell::Number(100.0 * space.rate),
            Cell::Number((information_limit(space.rate) + raised) / space.load_factor),
            Cell::Number(space.load_factor),
            Cell::Number(2.0),
            Cell::Number(2.0),
            Cell::from(kind.is_of_paper().then_some(0.955)),
            limit,
            in_limits,
            Cell::None,
        ]);
    }
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
        claims: Vec::new(),
    })
}

const FORMULA: &str = "bits per key by the formula";
/// How far a figure may be from a formula that takes a whole number of probes, or full slots.
const ROUNDED: f64 = 0.01;

pub(super) fn claims(tables: &[Table], scale: Scale) -> Vec<Claim> {
    let judge = Judge::new(tables, 0, scale);
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
        let cost = || cells("bits per key").of("filter", kind.name()).over(cells(FORMULA).of("filter", kind.name()));
        let raised = if kind == Kind::Printed || kind == Kind::Packed { 3 } else { 2 };
        let statement = format!("{} takes (log2(1/ε) + {raised}) / α bits per key", kind.name());
        let rule = cost().at_least_about(1.0, ROUNDED).and(cost().at_most_about(1.0, ROUNDED));
        claims.push(judge.claim(PLACE, statement, &rule).of(whose).judging([43]));
    }
    let of_bloom = |column| cells(column).of("filter", Kind::Bloom.name());
    let over_limit = || of_bloom("in information limits");
    let references = || of_bloom("references, present key").over(of_bloom("log2(1/rate)"));
    let set = || of_bloom("share of bits set");
    claims.extend([
        judge
            .claim(
                "sections 2.1 and 6",
                "an optimal BF takes 44 % more bits than the information limit",
                &over_limit().at_least_about(1.44, 0.005).and(over_limit().at_most_about(1.44, 0.005)),
            )
            .judging([40]),
        judge
            .claim(
                PLACE,
                "a present key takes BF log2(1/ε) references",
                &references().at_least_about(1.0, ROUNDED).and(references().at_most_about(1.0, ROUNDED)),
            )
            .judging([41]),
        judge
            .claim(
                "article on Bloom and cuckoo filters",
                "in an optimal BF half of the bits are set",
                &set().at_least_about(0.5, 0.005).and(set().at_most_about(0.5, 0.005)),
            )
            .of(Whose::Others)
            .judging([52]),
    ]);
    claims
}

/// The number of bits that a lookup reads in a Bloom filter of 13 bits per key: for a present key, and for an absent one on
/// average; and the share of its bits that are set.
fn bloom_references(stored: u64, keys: Keys) -> Result<([f64; 2], f64), Failure> {
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
    Ok(([probes, (1.0 - set.powf(probes)) / (1.0 - set)], set))
}
