//! Filters of other people beside the library's, each by its own interface, one key per call.

use std::collections::hash_map::DefaultHasher;

use super::Extent;
use crate::cast::{approximate, in_memory};
use crate::contender::{Contender, Cuckoo, Full, Limit};
use crate::failure::Failure;
use crate::keys::Keys;
use crate::measure::{Filled, check_present, fill, measure_rate, median, million_per_second, timed_lookups};
use crate::report::{Cell, Column, Reproduction, Table};

/// What is asked of those that let one choose.
const RATE: f64 = 0.001;

struct Peer {
    name: &'static str,
    remark: &'static str,
    build: fn(usize) -> Result<Box<dyn Contender>, String>,
}

const PEERS: [Peer; 6] = [
    Peer {
        name: "guira",
        remark: "",
        build: |capacity| {
            let filter = guira::CuckooFilter::with_capacity(capacity, RATE).map_err(|error| error.to_string())?;
            Ok(Box::new(Cuckoo::new(filter)))
        },
    },
    Peer {
        name: "fastbloom",
        remark: "no removal",
        build: |capacity| {
            Ok(Box::new(FastBloom(fastbloom::BloomFilter::with_false_pos(RATE).seed(&1).expected_items(capacity))))
        },
    },
    Peer {
        name: "qfilter",
        remark: "",
        build: |capacity| {
            let filter = qfilter::Filter::new(capacity as u64, RATE).map_err(|error| format!("{error:?}"))?;
            Ok(Box::new(Quotient(filter)))
        },
    },
    Peer {
        name: "cuckoofilter",
        remark: "fingerprints of 8 bits",
        build: |capacity| {
            // It takes what it is asked for as its number of slots, rounded up to a power of two.
            Ok(Box::new(EightBits(cuckoofilter::CuckooFilter::with_capacity(capacity + capacity / 16))))
        },
    },
    Peer {
        name: "scalable_cuckoo_filter",
        remark: "grows",
        build: |capacity| Ok(Box::new(Scalable(scalable_cuckoo_filter::ScalableCuckooFilter::new(capacity, RATE)))),
    },
    Peer {
        name: "atomic-cuckoo-filter",
        remark: "fingerprints of 16 bits, for several threads",
        build: |capacity| {
            let slots = capacity + capacity / 16;
            Ok(Box::new(Atomic(atomic_cuckoo_filter::CuckooFilter::with_capacity(slots))))
        },
    },
];

struct FastBloom(fastbloom::BloomFilter);
struct Quotient(qfilter::Filter);
struct EightBits(cuckoofilter::CuckooFilter<DefaultHasher>);
struct Scalable(scalable_cuckoo_filter::ScalableCuckooFilter<u64>);
struct Atomic(atomic_cuckoo_filter::CuckooFilter);

/// A peer hashes the key itself. What rate to expect of it is its own affair: the measured one stands in the table.
macro_rules! contend {
    ($peer:ident, insert: |$filter:ident, $key:ident| $insert:expr, bits: $bits:expr) => {
        impl Contender for $peer {
            #[inline]
            fn insert(&mut self, $key: u64) -> Result<(), Full> {
                let $filter = &mut self.0;
                $insert
            }

            #[inline]
            fn contains(&self, key: u64) -> bool {
                self.0.contains(&key)
            }

            fn bits(&self) -> u64 {
                let $filter = &self.0;
                $bits
            }

            fn expected_rate(&self) -> f64 {
                1.0
            }
        }
    };
}

contend!(FastBloom, insert: |filter, key| { filter.insert(&key); Ok(()) }, bits: filter.num_bits() as u64);
contend!(Quotient, insert: |filter, key| filter.insert_duplicated(key).map_err(|_| Full), bits: 8 * filter.memory_usage() as u64);
contend!(EightBits, insert: |filter, key| filter.add(&key).map_err(|_| Full), bits: 8 * filter.memory_usage() as u64);
contend!(Scalable, insert: |filter, key| { filter.insert(&key); Ok(()) }, bits: filter.bits());
contend!(Atomic, insert: |filter, key| filter.insert(&key).map_err(|_| Full), bits: 8 * filter.to_bytes().len() as u64);

struct Row {
    stored: u64,
    bits_per_key: f64,
    rate: f64,
    /// Million operations per second, of each round: insertions, lookups of absent and of present keys.
    speeds: [Vec<f64>; 3],
}

pub(super) fn reproduce(extent: &Extent) -> Result<Reproduction, Failure> {
    let Extent { scale, rounds, .. } = *extent;
    let wanted = scale.peer_keys();
    let keys = Keys::of_seed(10);
    let count = scale.timed_queries();
    let mut rows: Vec<Row> = Vec::new();
    for round in 0..rounds {
        for (number, peer) in PEERS.iter().enumerate() {
            let not_built = |reason| Failure::not_built(peer.name, reason);
            let mut contender = (peer.build)(in_memory(wanted)).map_err(not_built)?;
            let Filled { stored, time } = fill(contender.as_mut(), keys, 0, Limit::Keys(wanted));
            if round == 0 {
                check_present(peer.name, contender.as_ref(), keys, 0..stored)?;
                let rate = measure_rate(peer.name, contender.as_ref(), keys, scale.rate_queries())?;
                let bits_per_key = approximate(contender.bits()) / approximate(stored);
                rows.push(Row { stored, bits_per_key, rate, speeds: Default::default() });
            }
            let first = round * count;
            let absent = timed_lookups(peer.name, contender.as_ref(), &keys.absent(first, count), 0)?;
            let drawn = keys.drawn(stored, first, count);
            let present = timed_lookups(peer.name, contender.as_ref(), &drawn, count)?;
            for (speeds, (operations, time)) in
                rows[number].speeds.iter_mut().zip([(stored, time), (count, absent), (count, present)])
            {
                speeds.push(million_per_second(operations, time));
            }
        }
    }
    Ok(Reproduction {
        name: "peers".to_owned(),
        title: "Peers: other filters of today".to_owned(),
        method: format!(
            "Filters for {wanted} keys and a rate of {} %, where that can be chosen, are filled with so many, one key per call, \
             and asked for {count} keys at a time. Each hashes its keys as it does by itself. Keys that did not fit are missing \
             from the count of stored ones; some filters are random, so that counts vary. Medians of {} turns.",
            100.0 * RATE,
            rounds
        ),
        tables: vec![table(&rows)],
        charts: Vec::new(),
        claims: Vec::new(),
    })
}

/// Peers may draw random numbers, so that nothing of them counts as the same in every run.
fn table(rows: &[Row]) -> Table {
    let figures = ["stored keys", "bits per key", "rate, %", "insertions, million/s"];
    let figures = figures.into_iter().chain(["absent keys, million/s", "present keys, million/s"]);
    let columns = core::iter::once(Column::counted("filter")).chain(figures.map(Column::timed));
    let mut table = Table::new("Peers", columns.chain([Column::counted("remark")]).collect());
    for (peer, row) in PEERS.iter().zip(rows) {
        let [insert, absent, present] = row.speeds.clone().map(median).map(Cell::Number);
        table.push(vec![
            Cell::text(peer.name),
            Cell::Count(row.stored),
            Cell::Number(row.bits_per_key),
            Cell::Number(100.0 * row.rate),
            insert,
            absent,
            present,
            Cell::text(peer.remark),
        ]);
    }
    table
}
