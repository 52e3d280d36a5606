//! Every baseline against a plain model and against its theory.

#![expect(clippy::cast_precision_loss, reason = "the counts are far below 2^53, and statistics are approximate")]

mod bloom_family;
mod cuckoo;
mod d_left;
mod hash_table;
mod oracle {
    pub(crate) mod binomial;
    pub(crate) mod digests;
    pub(crate) mod occupancy;
    pub(crate) mod population;
}
mod quotient;
mod rank_indexed;
mod static_filters;

#[test]
fn loops_over_many_keys_do_what_single_operations_do() {
    use guira_baselines::{
        BlockedBloomFilter, BloomFilter, CuckooFilter, CuckooMeasures, DLeftCountingBloomFilter, Digest, Insert,
        QuotientFilter, Remove, SplitBlockBloomFilter,
    };

    fn assert_same_lookups(filter: &mut (impl Insert + Clone), digests: &[Digest]) {
        let mut single = filter.clone();
        let inserted = digests.iter().position(|&digest| single.insert(digest).is_err()).unwrap_or(digests.len());
        assert_eq!(filter.insert_each(digests.iter().copied()), inserted, "inserted");
        assert_eq!(filter.len(), single.len());
        let all =
            || digests.iter().copied().chain((0..4000).map(|number: u64| Digest::new((number << 50) | (number * 77))));
        let found = all().filter(|&digest| single.contains(digest)).count() as u64;
        assert_eq!(filter.count_contained(all()), found, "found");
        assert!(found >= inserted as u64 && found < digests.len() as u64 + 4000);
    }
    fn assert_same_removals(filter: &mut (impl Remove + Clone), digests: &[Digest]) {
        assert_same_lookups(filter, digests);
        let (half, mut single) = (filter.len() / 2, filter.clone());
        for &digest in &digests[..half] {
            assert!(single.remove(digest));
        }
        assert_eq!(filter.remove_many_into(digests[..half].iter().copied()), half as u64);
        let kept = || digests[half..].iter().copied();
        assert_eq!(filter.count_contained(kept()), kept().filter(|&digest| single.contains(digest)).count() as u64);
    }

    // More than any of them holds, of those that can be full.
    let digests = oracle::digests::SplitMix64::new(1).digests(5000);
    assert_same_lookups(&mut BloomFilter::new(40_000, 6).expect("valid"), &digests);
    assert_same_lookups(&mut BlockedBloomFilter::new(40_000).expect("valid"), &digests);
    assert_same_lookups(&mut SplitBlockBloomFilter::new(40_000).expect("valid"), &digests);
    assert_same_removals(&mut QuotientFilter::new(4096, 9).expect("valid"), &digests);
    for remainder_bits in [9, 10, 20] {
        assert_same_removals(&mut DLeftCountingBloomFilter::new(256, remainder_bits).expect("valid"), &digests);
        let uncounted = DLeftCountingBloomFilter::with_counters(256, remainder_bits + 1, 1);
        assert_same_removals(&mut uncounted.expect("valid"), &digests);
    }
    let measures =
        |fingerprint_bits| CuckooMeasures { bucket_count: 1024, slots_per_bucket: 4, fingerprint_bits, seed: 0 };
    for fingerprint_bits in [8, 11, 12, 13, 16, 30] {
        assert_same_removals(&mut CuckooFilter::new(measures(fingerprint_bits)).expect("valid"), &digests);
        assert_same_removals(&mut CuckooFilter::semi_sorted(measures(fingerprint_bits)).expect("valid"), &digests);
    }
}

#[test]
fn every_filter_can_be_copied_shown_and_shared_between_threads() {
    fn assert_is_such_a_filter<F: guira_baselines::Filter + Clone + std::fmt::Debug + Send + Sync>() {}
    assert_is_such_a_filter::<guira_baselines::BlockedBloomFilter>();
    assert_is_such_a_filter::<guira_baselines::BloomFilter>();
    assert_is_such_a_filter::<guira_baselines::BloomierFilter>();
    assert_is_such_a_filter::<guira_baselines::CountingBloomFilter>();
    assert_is_such_a_filter::<guira_baselines::CuckooFilter>();
    assert_is_such_a_filter::<guira_baselines::CuckooHashTable>();
    assert_is_such_a_filter::<guira_baselines::DLeftCountingBloomFilter>();
    assert_is_such_a_filter::<guira_baselines::GolombSequence>();
    assert_is_such_a_filter::<guira_baselines::QuotientFilter>();
    assert_is_such_a_filter::<guira_baselines::RankIndexedFilter>();
    assert_is_such_a_filter::<guira_baselines::SplitBlockBloomFilter>();
}
