//! Growth: no key is lost, removal stays exact, rates and sizes are those promised.

#![expect(clippy::cast_precision_loss, reason = "the counts are far below 2^53, and statistics are approximate")]

use std::collections::{BTreeMap, HashMap};

use guira::{
    Addressing, BeyondPromise, BuildError, CuckooFilter, Digest, GrowingCuckooFilter, InsertError, MergeError,
};

mod oracle {
    pub(crate) mod binomial;
    pub(crate) mod classes;
    pub(crate) mod random;
}

use oracle::binomial::assert_share;
use oracle::classes::{Class, Prober};
use oracle::random::SplitMix64;

const RATES: [f64; 3] = [0.05, 0.01, 0.001];

/// A filter for these rates that starts small and may become large.
fn growing(rate: f64) -> GrowingCuckooFilter {
    GrowingCuckooFilter::with_capacity(1000, rate).expect("there is such a filter")
}

fn filled(rate: f64, keys: u64) -> GrowingCuckooFilter {
    let mut filter = growing(rate);
    for key in 0..keys {
        filter.insert(&key).unwrap_or_else(|error| panic!("key {key} at rate {rate}: {error}"));
    }
    filter
}

fn assert_holds(filter: &GrowingCuckooFilter, keys: impl IntoIterator<Item = u64>, what: &str) {
    for key in keys {
        assert!(filter.contains(&key), "{what}: {key} is lost");
    }
    filter.check_invariants().unwrap_or_else(|broken| panic!("{what}: {broken}"));
}

/// A key that is never inserted.
fn absent(number: u64) -> u64 {
    (1 << 40) + number
}

// Seen in a chain of filters, each with hashes of its own: 2,048, 630 and 83 of the keys kept were lost at these rates.
#[test]
fn of_200_000_keys_any_half_can_be_removed_and_the_other_is_found() {
    const KEYS: u64 = 200_000;
    type Choice = fn(u64) -> bool;
    let is_removed: [(&str, Choice); 4] = [
        ("the oldest half", |key| key < KEYS / 2),
        ("the newest half", |key| key >= KEYS / 2),
        ("every other", |key| key % 2 == 0),
        ("a random half", |key| SplitMix64::new(key).next() & 1 == 1),
    ];
    for rate in RATES {
        let full = filled(rate, KEYS);
        assert!(full.parameters().doublings() >= 7, "it grew");
        assert_holds(&full, 0..KEYS, "all");
        for (name, is_removed) in is_removed {
            let what = format!("{name} removed at rate {rate}");
            let mut filter = full.clone();
            for key in (0..KEYS).filter(|&key| is_removed(key)) {
                assert!(filter.remove(&key), "{what}: {key} is not there to be removed");
            }
            let kept = || (0..KEYS).filter(|&key| !is_removed(key));
            assert_holds(&filter, kept(), &what);
            assert_eq!(filter.len(), kept().count(), "{what}");

            let size = filter.size_in_bytes();
            filter.shrink_to_fit();
            assert!(filter.size_in_bytes() < size, "{what}: half of the keys fit a smaller table");
            assert_holds(&filter, kept(), &format!("{what}, shrunk"));
            for key in kept() {
                assert!(filter.remove(&key), "{what}: {key} is not there to be removed after shrinking");
            }
            assert!(filter.is_empty(), "{what}");
            assert_eq!(filter.iter().count(), 0, "{what}");
        }
    }
}

/// A small filter that can be doubled until fingerprints have 8 bits, and the same after each doubling.
fn every_doubling_of(capacity: usize, slots_per_bucket: u32) -> Vec<GrowingCuckooFilter> {
    let mut filter = GrowingCuckooFilter::builder()
        .capacity(capacity)
        .largest_capacity(100 * capacity)
        .false_positive_rate(0.05)
        .slots_per_bucket(slots_per_bucket)
        .beyond_promise(BeyondPromise::RaiseRate)
        .seed(capacity as u64)
        .build()
        .expect("there is such a filter");
    let mut all = vec![filter.clone()];
    while filter.parameters().fingerprint_bits() > 8 {
        filter.reserve(filter.capacity() + 1).expect("it may grow so far");
        all.push(filter.clone());
    }
    assert!(all.len() >= 5, "{filter:?}");
    for (doublings, filter) in (0..).zip(&all) {
        assert_eq!(filter.parameters().doublings(), doublings, "{filter:?}");
    }
    all
}

// Seen where exclusive or met a size that is no power of two; here a bucket's number also holds bits of fingerprints.
#[test]
fn the_alternate_leads_back_after_any_number_of_doublings() {
    let mut random = SplitMix64::new(3);
    for (capacity, slots_per_bucket) in [(20, 2), (40, 4), (60, 8)] {
        for filter in every_doubling_of(capacity, slots_per_bucket) {
            let parameters = filter.parameters();
            let mut prober = Prober::for_filters_like(filter.as_filter());
            // By docs/format.md, these low halves have the core 100: all other bits are spare ones and given-away ones.
            let (first, last) = ((99_u64 << 32).div_ceil(255), (100_u64 << 32).div_ceil(255) - 1);
            let spare_values = 1 << (parameters.fingerprint_bits() - 8);
            let mut class_of_place: BTreeMap<(u32, u64), Class> = BTreeMap::new();
            for _ in 0..8 * spare_values * parameters.bucket_count() {
                let low = first + random.next() % (last - first + 1);
                let class = prober.class_of(Digest::new(random.next() << 32 | low));
                assert_eq!((class.fingerprint & 255, class.bucket_count()), (100, 2), "{filter:?}");
                for bucket in class.buckets() {
                    let same = *class_of_place.entry((class.fingerprint, bucket)).or_insert(class);
                    assert_eq!(same, class, "{filter:?}: two alternates of bucket {bucket}");
                }
            }
            let places = u64::try_from(class_of_place.len()).expect("a small table");
            assert_eq!(places, spare_values * parameters.bucket_count(), "{filter:?}: each is a candidate of each");
        }
    }
}

// A fingerprint that gives its bits away must not become 0, which is an empty slot.
#[test]
fn no_doubling_makes_a_fingerprint_0() {
    for slots_per_bucket in [2, 4, 8] {
        for empty in every_doubling_of(100, slots_per_bucket) {
            // All low halves whose bits are 0 but for a few, which leave the least fingerprints.
            let lows = (0..32).map(|bit| 1_u64 << bit).chain([0]);
            for digest in lows.flat_map(|low| [0, 1 << 63, 77 << 32].map(|high| Digest::new(high | low))) {
                let mut filter = empty.clone();
                filter.insert_digest(digest).expect("it is empty");
                loop {
                    assert_eq!((filter.iter().count(), filter.len()), (1, 1), "{filter:?}: {digest:?}");
                    let stored = filter.iter().next().expect("it is counted");
                    assert_ne!(stored.fingerprint.get() & 255, 0, "{filter:?}: {digest:?}");
                    assert!(filter.contains_digest(digest), "{filter:?}: {digest:?} is lost");
                    if filter.reserve(filter.capacity()).is_err() {
                        break;
                    }
                }
                assert!(filter.remove_digest(digest) && filter.is_empty(), "{filter:?}: {digest:?} is lost");
            }
        }
    }
}

#[test]
fn failed_inserts_lose_no_key_however_often_they_are_tried() {
    for slots_per_bucket in [2, 4, 8] {
        let builder = GrowingCuckooFilter::builder().capacity(100).largest_capacity(2000).false_positive_rate(0.01);
        let mut filter = builder.slots_per_bucket(slots_per_bucket).build().expect("there is such a filter");
        let mut present = Vec::new();
        let mut refused = 0;
        for key in 0..10_000_u64 {
            // Every tenth key comes as often as it is taken, in a filter that grows and in one that is full.
            for _ in 0..if key % 10 == 0 { 20 } else { 1 } {
                let before = filter.to_bytes();
                match filter.insert(&key) {
                    Ok(()) => present.push(key),
                    Err(error) => {
                        assert!(filter.to_bytes() == before, "b = {slots_per_bucket}: insert({key}): {error}");
                        refused += 1;
                    }
                }
            }
        }
        assert!(refused > 5000, "{refused} are refused");
        assert_eq!(filter.len(), present.len(), "b = {slots_per_bucket}");
        assert_holds(&filter, present.iter().copied(), &format!("b = {slots_per_bucket}"));
        for key in present {
            assert!(filter.remove(&key), "b = {slots_per_bucket}: {key} is lost");
        }
        assert!(filter.is_empty() && filter.iter().next().is_none(), "b = {slots_per_bucket}");
    }
}

// Seen in the chain of filters, and in a server's compaction.
#[test]
fn shrinking_loses_no_key_of_any_number_of_keys() {
    let full = filled(0.01, 20_000);
    for kept in [0, 1, 500, 999, 1000, 1001, 2000, 3000, 5000, 9000, 15_000, 19_999] {
        // Of the keys that stay, some come again: copies fill buckets, and may keep the filter from shrinking all the way.
        for copies in [1, 2, 5] {
            let what = format!("{kept} of 20,000 keys kept, {copies} of every tenth");
            let mut filter = full.clone();
            for key in kept..20_000 {
                assert!(filter.remove(&key), "{what}: {key} is lost");
            }
            // Where two such keys have the same buckets, there is no room for all copies of both.
            let mut copied: Vec<u64> = (0..kept).step_by(10).flat_map(|key| vec![key; copies - 1]).collect();
            copied.retain(|key| filter.insert(key).is_ok());
            let (len, bits) = (filter.len(), filter.parameters().fingerprint_bits());
            filter.shrink_to_fit();
            assert_eq!(filter.len(), len, "{what}");
            let shrunk = filter.parameters().fingerprint_bits() > bits;
            assert!(shrunk || kept > 8000 || copies > 1, "{what}: it did not shrink");
            assert_holds(&filter, 0..kept, &what);
            for key in (0..kept).chain(copied) {
                assert!(filter.remove(&key), "{what}: {key} is lost");
            }
            assert!(filter.is_empty() && filter.iter().next().is_none(), "{what}");
        }
    }
}

/// Random operations on a filter beside a multiset of keys; `operations` of them.
fn operate_at_random(seed: u64, operations: usize) {
    let mut random = SplitMix64::new(seed);
    let slots_per_bucket = [2, 4, 8][random.below(3)];
    let mut filter = GrowingCuckooFilter::builder()
        .capacity(1 + random.below(200))
        .largest_capacity(1 << 22)
        .false_positive_rate([0.05, 0.01, 0.001][random.below(3)])
        .slots_per_bucket(slots_per_bucket)
        .beyond_promise([BeyondPromise::Refuse, BeyondPromise::RaiseRate][random.below(2)])
        .seed(seed)
        .build()
        .expect("there is such a filter");
    let what = format!("seed {seed}, b = {slots_per_bucket}");

    // Present keys in an order that lets one be picked, and how many copies of each.
    let mut present: Vec<u64> = Vec::new();
    let mut copies: HashMap<u64, usize> = HashMap::new();
    // Times of growth and of decline take turns.
    let mut insert_share = 70;
    for operation in 0..operations {
        if operation % (1 + operations / 8) == 0 {
            insert_share = [70, 45, 90, 30][random.below(4)];
        }
        match random.below(1000) {
            0 => filter.shrink_to_fit(),
            // Only what is still allowed: what is not has a test of its own.
            1 => {
                let most = (1_usize << 20).saturating_sub(filter.len());
                filter.reserve(random.below(most + 1)).unwrap_or_else(|error| panic!("{what}: {error}"));
            }
            choice if choice < insert_share * 10 => {
                // Now and then a copy.
                let is_copy = !present.is_empty() && random.below(20) == 0;
                let key = if is_copy { present[random.below(present.len())] } else { random.next() };
                match filter.insert(&key) {
                    Ok(()) => {
                        present.push(key);
                        *copies.entry(key).or_insert(0) += 1;
                    }
                    Err(InsertError::TooManyCopies { copies }) => {
                        assert!(is_copy && copies == filter.count(&key), "{what}: {copies} copies of a new key");
                    }
                    Err(error) => panic!("{what}, operation {operation}: {error}"),
                }
            }
            _ if present.is_empty() => {}
            _ => {
                let key = present.swap_remove(random.below(present.len()));
                assert!(filter.remove(&key), "{what}, operation {operation}: {key} is lost");
                *copies.get_mut(&key).expect("it is present") -= 1;
            }
        }
        if !present.is_empty() {
            let key = present[random.below(present.len())];
            assert!(filter.count(&key) >= copies[&key], "{what}, operation {operation}: a copy of {key} is lost");
        }
        assert_eq!(filter.len(), present.len(), "{what}");
    }
    for (key, &copies) in &copies {
        assert!(filter.count(key) >= copies, "{what}: a copy of {key} is lost");
    }
    filter.check_invariants().unwrap_or_else(|broken| panic!("{what}: {broken}"));
    for key in present {
        assert!(filter.remove(&key), "{what}: {key} is lost");
    }
    assert!(filter.is_empty() && filter.iter().count() == 0, "{what}");
}

#[test]
fn random_operations_agree_with_a_multiset() {
    for seed in 0..20 {
        operate_at_random(seed, 100_000 / 20);
    }
    operate_at_random(1000, 100_000);
}

#[test]
#[ignore = "takes minutes; run by hand with --ignored"]
fn ten_million_random_operations_agree_with_a_multiset() {
    operate_at_random(2000, 10_000_000);
}

// Seen in two crates: 135 copies took 209.7 MB; in a server 125 copies closed the filter to all other keys.
#[test]
fn the_same_key_10_000_times_changes_neither_size_nor_anything_else() {
    for rate in RATES {
        // Among others, just as many as leave room for eight before the table is doubled.
        let almost_full = keys_before_doublings(growing(rate), 40_000).into_iter().map(|keys| keys - 8);
        for others in [0, 900, 5000].into_iter().chain(almost_full) {
            let mut filter = filled(rate, others);
            let mut stored = 0;
            for _ in 0..10_000 {
                match filter.insert("again and again") {
                    Ok(()) => stored += 1,
                    Err(error) => assert!(matches!(error, InsertError::TooManyCopies { .. }), "{error}"),
                }
            }
            assert!((1..=8).contains(&stored), "{stored} copies beside {others} keys at rate {rate}");
            // Eight copies are eight fingerprints: where these take the last places, one doubling is due.
            let without_copies = filled(rate, others + 8);
            assert!(filter.size_in_bytes() <= without_copies.size_in_bytes(), "{others} keys at rate {rate}");
            assert_holds(&filter, 0..others, "beside 10,000 copies");
            filter.insert("another key").expect("there is room for others");
        }
    }
}

#[test]
fn many_copies_of_every_key_are_refused_before_the_table_becomes_a_desert() {
    let mut filter = growing(0.001);
    let mut errors = 0;
    for key in 0..20_000_u64 {
        for _ in 0..8 {
            match filter.insert(&key) {
                Ok(()) => {}
                Err(InsertError::Crowded { len, slot_count }) => {
                    assert!(len < slot_count / 4);
                    errors += 1;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
    assert!(errors > 0, "some key's buckets are full of another's copies");
    assert!(filter.as_filter().slot_count() <= 8 * filter.len(), "{filter:?}");
}

/// How many keys there are just before each doubling, up to a number of keys, which is the last of them.
fn keys_before_doublings(mut filter: GrowingCuckooFilter, most: u64) -> Vec<u64> {
    let mut points = Vec::new();
    for key in 0..most {
        let doublings = filter.parameters().doublings();
        filter.insert(&key).unwrap_or_else(|error| panic!("key {key}: {error}"));
        if filter.parameters().doublings() != doublings {
            points.push(key);
        }
    }
    points.push(most);
    points
}

#[test]
fn the_rate_is_kept_at_every_doubling() {
    const QUERIES: u64 = 200_000;
    for rate in RATES {
        let empty = GrowingCuckooFilter::builder().capacity(1000).largest_capacity(300_000).false_positive_rate(rate);
        let empty = empty.build().expect("there is such a filter");
        let points = keys_before_doublings(empty.clone(), empty.largest_capacity() as u64);
        assert!(points.len() > 8, "{points:?}");
        for &keys in &points {
            let mut filter = empty.clone();
            for key in 0..keys {
                filter.insert(&key).expect("it went in before");
            }
            let found = (0..QUERIES).filter(|&number| filter.contains(&absent(number))).count() as u64;
            let expected = filter.expected_false_positive_rate();
            let what = format!("{keys} keys at rate {rate}");
            assert!(expected <= rate, "{what}: {expected}");
            // The expected rate takes each slot for a chance of its own, which is above the truth by less than 1 %.
            assert_share(found, QUERIES, 0.99 * expected, expected, &what);
        }
    }
}

#[test]
fn before_a_doubling_the_table_is_as_small_as_one_built_for_its_keys() {
    let empty = growing(0.001);
    for keys in keys_before_doublings(empty, 300_000).into_iter().rev().skip(1) {
        let filter = filled(0.001, keys);
        let parameters = filter.parameters();
        let built = CuckooFilter::builder()
            .capacity(filter.len())
            .fingerprint_bits(parameters.fingerprint_bits())
            .slots_per_bucket(parameters.slots_per_bucket())
            .build()
            .expect("there is such a filter");
        let ratio = filter.size_in_bytes() as f64 / built.size_in_bytes() as f64;
        assert!(ratio <= 1.1, "{keys} keys: {} bytes, built {} bytes", filter.size_in_bytes(), built.size_in_bytes());
    }
}

#[test]
fn a_filter_for_1000_keys_takes_16_kilobytes_at_the_most() {
    let ranges =
        [(0.05, 1_000_000_000), (0.01, 1_000_000_000), (0.001, 1_000_000_000), (1e-4, 30_000_000), (1e-6, 1_000_000)];
    for (rate, most) in ranges {
        for largest in [1000, 1_000_000, most] {
            let builder = GrowingCuckooFilter::builder().capacity(1000).largest_capacity(largest);
            let filter = builder.false_positive_rate(rate).build().expect("there is such a filter");
            assert!(filter.largest_capacity() >= largest);
            assert!(filter.size_in_bytes() <= 16 << 10, "rate {rate}, up to {largest}: {filter:?}");
        }
    }
}

/// Filters for capacities, and largest capacities that are not the capacity times a power of two.
fn of_any_growth(capacity: usize) -> impl Iterator<Item = (usize, GrowingCuckooFilter)> {
    [1000, 1002, 1300, 1900, 2000, 2500, 3900, 5000, 11_300, 100_000, 1_000_000].into_iter().map(move |thousandths| {
        let largest = capacity * thousandths / 1000;
        let builder = GrowingCuckooFilter::builder().capacity(capacity).largest_capacity(largest);
        (largest, builder.false_positive_rate(0.001).build().expect("there is such a filter"))
    })
}

#[test]
fn the_last_table_is_as_small_as_one_built_for_the_largest_capacity() {
    for capacity in [100, 1000, 3000, 10_000] {
        for (largest, mut filter) in of_any_growth(capacity) {
            let begun_with = filter.parameters().slot_count();
            let of_capacity = CuckooFilter::with_capacity(capacity, 0.001).expect("there is such a filter");
            let most = 2 * of_capacity.parameters().slot_count() + 16;
            assert!(begun_with <= most, "{capacity} to {largest}: {filter:?}");
            filter.reserve(largest).expect("so many were promised");
            let built = CuckooFilter::builder()
                .capacity(largest)
                .fingerprint_bits(filter.parameters().fingerprint_bits())
                .slots_per_bucket(4)
                .build()
                .expect("there is such a filter");
            let ratio = filter.size_in_bytes() as f64 / built.size_in_bytes() as f64;
            assert!(ratio <= 1.15, "{capacity} to {largest}: {ratio} times the size of one that was built for it");
        }
    }
}

#[test]
fn as_many_keys_fit_as_the_largest_capacity_says_however_close_it_is() {
    for capacity in [1, 2, 9, 100, 1000] {
        for (largest, mut filter) in of_any_growth(capacity).take_while(|&(largest, _)| largest < 20_000) {
            for key in 0..largest as u64 {
                filter.insert(&key).unwrap_or_else(|error| panic!("{capacity} to {largest}, key {key}: {error}"));
            }
            assert!(filter.expected_false_positive_rate() <= 0.001, "{capacity} to {largest}: {filter:?}");
            assert_holds(&filter, 0..largest as u64, "all that were promised");
        }
    }
}

#[test]
fn beyond_the_largest_capacity_keys_are_refused_or_the_rate_doubles() {
    let builder = GrowingCuckooFilter::builder().capacity(1000).largest_capacity(8000).false_positive_rate(0.001);
    let fill = |mut filter: GrowingCuckooFilter| {
        let mut keys = 0_u64;
        loop {
            match filter.insert(&keys) {
                Ok(()) => keys += 1,
                Err(error) => {
                    assert!(matches!(error, InsertError::Full { .. }), "{error}");
                    assert_holds(&filter, 0..keys, "full");
                    return filter;
                }
            }
        }
    };
    let refusing = fill(builder.build().expect("there is such a filter"));
    assert_eq!(refusing.len(), refusing.largest_capacity());
    assert!(refusing.len() >= 8000);
    assert!(refusing.expected_false_positive_rate() <= 0.001);

    let rising = fill(builder.beyond_promise(BeyondPromise::RaiseRate).build().expect("there is such a filter"));
    // 13 bits keep to the rate at the last promised doubling, and 8 are kept: five more doublings.
    assert_eq!(rising.parameters().fingerprint_bits(), 8);
    assert_eq!(rising.parameters().doublings(), refusing.parameters().doublings() + 5);
    assert!(rising.len() > 31 * refusing.len());
    let ratio = rising.expected_false_positive_rate() / refusing.expected_false_positive_rate();
    assert!((28.0..=33.0).contains(&ratio), "five doublings of the rate are 32 times: {ratio}");
}

#[test]
fn without_growing_a_key_too_many_is_refused_and_the_table_stays() {
    let mut filter = growing(0.01);
    let size = filter.size_in_bytes();
    let stored = (0..10_000_u64).filter(|key| filter.insert_without_growing(key).is_ok()).collect::<Vec<_>>();
    assert!((1000..1100).contains(&stored.len()), "{} keys", stored.len());
    assert_eq!(filter.size_in_bytes(), size);
    assert_holds(&filter, stored, "without growing");
    assert!(matches!(filter.insert_without_growing(&10_000_u64), Err(InsertError::Full { .. })));
    filter.insert(&10_000_u64).expect("it may grow");
    assert!(filter.size_in_bytes() > size);
}

#[test]
fn shrinking_changes_nothing_where_not_everything_fits() {
    let mut filter = filled(0.01, 5000);
    let before = filter.clone();
    filter.shrink_to_fit();
    assert_eq!(filter, before);
}

#[test]
fn growing_ahead_and_shrinking_back_gives_the_bits_back() {
    let mut filter = filled(0.01, 900);
    let before = filter.clone();
    filter.reserve(100_000).expect("it may grow so far");
    assert!(filter.capacity() >= 100_900);
    assert_holds(&filter, 0..900, "grown ahead");
    filter.shrink_to_fit();
    // Going back, the capacity is all that can be promised, which may be more than what was asked for.
    assert!(filter.capacity() >= before.capacity());
    assert_eq!(filter.parameters().fingerprint_bits(), before.parameters().fingerprint_bits());
    assert_eq!(filter.parameters().bucket_count(), before.parameters().bucket_count());
    // The same fingerprints in the same pairs of buckets, though perhaps in the other one of a pair.
    let fingerprints = |filter: &GrowingCuckooFilter| {
        let mut all: Vec<u32> = filter.iter().map(|stored| stored.fingerprint.get()).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(fingerprints(&filter), fingerprints(&before));
    assert_holds(&filter, 0..900, "shrunk back");
}

#[test]
fn a_reserve_beyond_the_largest_capacity_is_refused() {
    let mut filter = GrowingCuckooFilter::builder()
        .capacity(1000)
        .largest_capacity(4000)
        .false_positive_rate(0.01)
        .build()
        .expect("there is such a filter");
    assert!(matches!(filter.reserve(1_000_000), Err(InsertError::Full { .. })));
    assert_eq!(filter.capacity(), filter.largest_capacity());
}

#[test]
fn batches_do_what_single_calls_do() {
    let keys: Vec<u64> = (0..60_000).collect();
    let singly = filled(0.01, 60_000);
    let mut in_order = growing(0.01);
    in_order.insert_each(&keys).expect("it may grow so far");
    assert!(in_order == singly, "one after the other and in a batch");

    let mut in_bulk = growing(0.01);
    in_bulk.insert_bulk(&keys).expect("it may grow so far");
    assert!(in_bulk == singly, "one after the other and in bulk");

    let mut answers = vec![false; keys.len()];
    in_bulk.contains_each(&keys, &mut answers);
    assert!(answers.iter().all(|&answer| answer));
    in_bulk.remove_each(&keys, &mut answers);
    assert!(answers.iter().all(|&removed| removed) && in_bulk.is_empty());

    let mut small = GrowingCuckooFilter::builder()
        .capacity(1000)
        .largest_capacity(2000)
        .false_positive_rate(0.01)
        .build()
        .expect("there is such a filter");
    let largest = small.largest_capacity();
    let error = small.clone().insert_each(&keys).expect_err("too many");
    assert_eq!(error.inserted, largest);
    let error = small.insert_bulk(&keys).expect_err("too many");
    assert_eq!((small.len(), error.rejected.len()), (largest, keys.len() - largest));
    assert_holds(&small, 0..largest as u64, "the first ones");
}

#[test]
fn copies_in_a_batch_do_not_make_it_grow() {
    let copies = vec![absent(0); 10_000];
    let room_for_eight = keys_before_doublings(growing(0.01), 40_000).into_iter().map(|keys| keys - 8);
    for others in room_for_eight.chain([0]) {
        let before = filled(0.01, others);
        let mut filter = before.clone();
        let error = filter.insert_each(&copies).expect_err("too many copies");
        assert_eq!(error.reason, InsertError::TooManyCopies { copies: filter.count(&absent(0)) }, "{others} others");
        assert_eq!(filter.len(), before.len() + error.inserted, "{others} others");
        assert_eq!(filter.size_in_bytes(), before.size_in_bytes(), "{others} others");
        let mut filter = before.clone();
        let error = filter.insert_bulk(&copies).expect_err("too many copies");
        assert_eq!(filter.len() + error.rejected.len(), before.len() + copies.len(), "{others} others");
        assert_eq!(filter.size_in_bytes(), before.size_in_bytes(), "{others} others");
    }
}

#[test]
fn batches_that_make_it_grow_lose_no_key() {
    // Among the keys, copies of a few, more than fit: a bulk leaves those out, and a batch ends where they are refused.
    let keys: Vec<u64> = (0..30_000).map(|number| if number % 100 < 2 { 1 << 30 } else { number }).collect();
    for slots_per_bucket in [2, 4, 8] {
        let builder = GrowingCuckooFilter::builder().capacity(500).largest_capacity(60_000).false_positive_rate(0.01);
        let empty = builder.slots_per_bucket(slots_per_bucket).build().expect("there is such a filter");
        let most = 2 * slots_per_bucket as usize;

        let mut in_bulk = empty.clone();
        let error = in_bulk.insert_bulk(&keys).expect_err("there are too many copies");
        assert_eq!(error.rejected.len(), 600 - most, "b = {slots_per_bucket}: {}", error.reason);
        assert!(error.rejected.iter().all(|&digest| digest == in_bulk.hasher().digest(&(1_u64 << 30))));
        assert_eq!(in_bulk.len() + error.rejected.len(), keys.len(), "b = {slots_per_bucket}");
        assert_holds(&in_bulk, keys.iter().copied(), &format!("in bulk, b = {slots_per_bucket}"));

        let mut in_batches = empty;
        let mut rest = &keys[..];
        let mut refused = 0;
        while let Err(error) = in_batches.insert_each(rest) {
            assert_eq!(error.reason, InsertError::TooManyCopies { copies: most });
            assert_eq!(rest[error.inserted], 1 << 30, "b = {slots_per_bucket}");
            rest = &rest[error.inserted + 1..];
            refused += 1;
        }
        assert_eq!(refused, 600 - most, "b = {slots_per_bucket}");
        assert_eq!(in_batches.len() + refused, keys.len(), "b = {slots_per_bucket}");
        assert_holds(&in_batches, keys.iter().copied(), &format!("in batches, b = {slots_per_bucket}"));
    }
}

#[test]
fn copies_in_a_merge_do_not_make_it_grow() {
    let with_copies = |copies: usize| {
        let mut filter = filled(0.01, 500);
        (0..copies).for_each(|_| filter.insert("again").expect("eight fit"));
        filter
    };
    for (ours, theirs) in [(8, 1), (1, 8), (8, 8), (5, 4)] {
        let (mut filter, other) = (with_copies(ours), with_copies(theirs));
        let before = filter.clone();
        assert_eq!(filter.merge(&other), Err(MergeError::TooManyCopies { copies: 8 }), "{ours} and {theirs}");
        assert!(filter == before && filter.size_in_bytes() == before.size_in_bytes(), "{ours} and {theirs}");
    }
}

#[test]
fn filters_of_different_sizes_are_merged() {
    for (ours, theirs) in [(500, 100), (100, 40_000), (40_000, 100), (30_000, 30_000), (0, 5000), (5000, 0)] {
        let what = format!("{ours} keys and {theirs}");
        let mut merged = filled(0.01, ours);
        let mut other = growing(0.01);
        (0..theirs).for_each(|number| other.insert(&absent(number)).expect("it may grow"));
        let other_before = other.clone();
        merged.merge(&other).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(merged.len() as u64, ours + theirs, "{what}");
        assert_holds(&merged, (0..ours).chain((0..theirs).map(absent)), &what);
        assert!(other == other_before, "{what}");
        for key in (0..ours).chain((0..theirs).map(absent)) {
            assert!(merged.remove(&key), "{what}: {key} is lost");
        }
        assert!(merged.is_empty(), "{what}");
    }
}

#[test]
fn a_merge_that_fails_changes_nothing() {
    let build = |seed, capacity, largest| {
        GrowingCuckooFilter::builder()
            .capacity(capacity)
            .largest_capacity(largest)
            .false_positive_rate(0.01)
            .seed(seed)
            .build()
            .expect("there is such a filter")
    };
    let fill = |filter: &mut GrowingCuckooFilter, keys: std::ops::Range<u64>| {
        keys.for_each(|key| filter.insert(&key).expect("there is room"));
    };
    let mut ours = build(1, 1000, 4000);
    let most = ours.largest_capacity() as u64;
    fill(&mut ours, 0..most - 10);
    let before = ours.clone();

    let mut full = build(1, 1000, 4000);
    fill(&mut full, 1_000_000..1_001_000);
    assert!(matches!(ours.merge(&full), Err(MergeError::Full { .. })));
    assert!(ours == before);

    let other_seed = build(2, 1000, 4000);
    assert!(matches!(ours.merge(&other_seed), Err(MergeError::Differs { what: "seed", .. })));
    let other_size = build(1, 3000, 12_000);
    let error = ours.merge(&other_size).expect_err("the sizes differ");
    assert!(error.to_string().contains("buckets per region at the beginning"), "{error}");
    assert!(ours == before);

    let (mut one, mut two) = (build(1, 1000, 4000), build(1, 1000, 4000));
    (0..5).for_each(|_| one.insert("copied").expect("there is room"));
    (0..5).for_each(|_| two.insert("copied").expect("there is room"));
    assert_eq!(one.merge(&two), Err(MergeError::TooManyCopies { copies: 8 }));
    assert_eq!((one.len(), two.len()), (5, 5));
}

#[test]
fn measures_that_make_no_sense_are_refused() {
    let builder = GrowingCuckooFilter::builder;
    assert_eq!(builder().capacity(10).build().err(), Some(BuildError::PrecisionMissing));
    assert_eq!(builder().false_positive_rate(0.1).build().err(), Some(BuildError::SizeMissing));
    let below = builder().capacity(10).largest_capacity(9).false_positive_rate(0.1).build();
    assert_eq!(below.err(), Some(BuildError::LargestCapacity { given: 9, capacity: 10 }));
    for rate in [0.0, 1.0, -0.1, f64::NAN] {
        assert!(matches!(
            builder().capacity(10).false_positive_rate(rate).build(),
            Err(BuildError::FalsePositiveRate { .. })
        ));
    }
    assert!(builder().capacity(0).false_positive_rate(0.1).build().is_err());
    assert!(builder().capacity(1).largest_capacity(usize::MAX).false_positive_rate(0.1).build().is_err());
    for slots in [0, 1, 3, 16] {
        let error = builder().capacity(10).false_positive_rate(0.1).slots_per_bucket(slots).build().err();
        assert_eq!(error, Some(BuildError::GrowingSlotsPerBucket { given: slots }));
    }
}

#[test]
fn a_plain_filter_with_doubling_addressing_is_a_growing_one_that_does_not_grow() {
    let grown = filled(0.01, 5000);
    let plain = grown.clone().into_filter();
    assert_eq!(plain.parameters().addressing(), Addressing::Doubling);
    for key in 0..10_000_u64 {
        assert_eq!(plain.contains(&key), grown.contains(&key));
    }
}

#[test]
fn a_table_that_was_moved_is_the_same_table_elsewhere() {
    let mut filter = filled(0.01, 5000);
    let (before, old_place) = (filter.clone(), filter.table_bytes().as_ptr());
    // What came is kept until the end, so that its place is not taken again.
    let mut given = Vec::new();
    filter.move_table(|table| {
        given = table;
        given.clone()
    });
    assert!(given.as_ptr() == old_place && filter.table_bytes().as_ptr() != old_place);
    assert_eq!(filter, before);
    assert_eq!(filter.check_invariants(), Ok(()));
    filter.insert(&5001_u64).expect("it grows");
    assert!((0..5000_u64).all(|key| filter.contains(&key)) && given == before.table_bytes());
}

#[test]
#[should_panic(expected = "a table has as many bytes elsewhere")]
fn a_table_of_another_size_is_not_taken_back() {
    filled(0.01, 100).move_table(|table| table[1..].to_vec());
}
