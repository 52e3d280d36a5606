//! Models of threads at one table: loom runs every order in which they may see each other's writes, of the same code that
//! users run, in tables of a few slots. Only with `RUSTFLAGS="--cfg loom"`.

#![cfg(loom)]

mod expiring;
mod growing;
mod one_size;
mod snapshots;

use core::slice;

use guira::{ConcurrentCuckooFilter, CuckooFilter, Digest, FilterBuilder, Key, KeyHasher};

/// Buckets of one slot. Every key has two of them, an even and an odd one.
fn table(buckets: u64, fingerprint_bits: u32) -> FilterBuilder {
    CuckooFilter::builder().bucket_count(buckets).slots_per_bucket(1).fingerprint_bits(fingerprint_bits)
}

/// A key, and where it may be.
#[derive(Clone, Copy, Debug)]
struct Located {
    digest: Digest,
    buckets: [u64; 2],
    fingerprint: u64,
}

/// The first key with this primary bucket and this other one that is accepted.
fn key(builder: &FilterBuilder, buckets: [u64; 2], accepts: impl Fn(&Located) -> bool) -> Located {
    let empty = builder.build().expect("a few slots");
    let locate = |digest| {
        let mut filter = empty.clone();
        filter.insert(&digest).expect("it is empty");
        let first = filter.fingerprints().next().expect("it was stored");
        // The second copy goes to the other bucket.
        filter.insert(&digest).expect("its other bucket is empty");
        let second = filter.fingerprints().find(|stored| stored.bucket != first.bucket).expect("it was stored");
        let buckets = [first, second].map(|stored| stored.bucket);
        Located { digest, buckets, fingerprint: first.fingerprint }
    };
    let keys = (0..100_000_u64).map(|key| locate(KeyHasher::xxh3(7).digest(&key)));
    keys.filter(|key| key.buckets == buckets).find(accepts).expect("there are such keys")
}

/// The ways in which a reader finds a key.
fn looks<K: Key>() -> [fn(&ConcurrentCuckooFilter, &K) -> bool; 3] {
    [
        |filter, key| filter.contains(key),
        |filter, key| filter.contains_many(slice::from_ref(key)) == [true],
        |filter, key| filter.count(key) > 0,
    ]
}

/// Runs a model in every order in which threads are interrupted at most so often; at most twice, unless `GUIRA_INTERRUPTIONS=all`.
/// A third time makes several times as many orders. Versions that are not incremented, paths that are not looked at again, locks out
/// of order and the like show with two.
fn check(interruptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let most = if std::env::var("GUIRA_INTERRUPTIONS").as_deref() == Ok("all") { usize::MAX } else { 2 };
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(interruptions.min(most));
    builder.max_branches = 100_000;
    builder.check(model);
}
