//! The Bloom filters: rates against their formulas, and counters that stick.

use guira_baselines::{
    BlockedBloomFilter, BloomFilter, BuildError, CountingBloomFilter, Digest, Filter, Insert, Remove,
    SplitBlockBloomFilter,
};

use crate::oracle::binomial::SIGMAS;
use crate::oracle::digests::SplitMix64;
use crate::oracle::occupancy::scatter;
use crate::oracle::population::{assert_rate_within, fill, live_beside_a_multiset};

#[test]
fn a_bloom_filter_has_the_fill_and_the_rate_of_its_formula() {
    let keys = 100_000;
    for bits_per_key in [4.0, 8.0, 13.0, 20.0] {
        let mut filter = BloomFilter::with_capacity(keys as u64, bits_per_key).expect("valid");
        fill(&mut filter, keys, 1);
        let (bits, probes) = (filter.memory_bits() as f64, f64::from(filter.probe_count()));
        let per_bit = keys as f64 * probes / bits;
        let fill_ratio = 1.0 - (-per_bit).exp();
        let scatter = scatter(bits, per_bit);
        assert!((filter.fill_ratio() - fill_ratio).abs() < scatter, "{} for {fill_ratio}", filter.fill_ratio());

        let expected = filter.expected_false_positive_rate();
        assert!((expected / fill_ratio.powf(probes) - 1.0).abs() < 1e-4, "{expected}");
        let (least, most) = ((fill_ratio - scatter).powf(probes), (fill_ratio + scatter).powf(probes));
        assert_rate_within(&filter, 1 << 20, least, most, "Bloom filter");
    }
}

#[test]
fn the_number_of_probes_is_the_best_integer() {
    // Section 7.1: nine probes for 13 bits per key; section 6: two for a rate of 25 % (2.9 bits), seven for 1 % (9.6 bits).
    for (bits_per_key, probes) in [(13.0, 9), (9.59, 7), (2.89, 2), (0.5, 1)] {
        let filter = BloomFilter::with_capacity(1000, bits_per_key).expect("valid");
        assert_eq!(filter.probe_count(), probes, "{bits_per_key}");
    }
}

#[test]
fn at_13_bits_per_key_the_rates_are_those_of_table_3() {
    // 0.19 % for BF, 0.43 % for blk-BF. Split into words, a block of 39.4 keys on average has a little less.
    let keys = 1_000_000;
    let mut bloom = BloomFilter::with_capacity(keys, 13.0).expect("valid");
    let mut blocked = BlockedBloomFilter::with_capacity(keys, 13.0).expect("valid");
    let mut split = SplitBlockBloomFilter::with_capacity(keys, 13.0).expect("valid");
    fill(&mut bloom, 1_000_000, 2);
    fill(&mut blocked, 1_000_000, 2);
    fill(&mut split, 1_000_000, 2);
    let rate = |filter: &dyn Filter| 100.0 * filter.expected_false_positive_rate();
    assert!((rate(&bloom) - 0.19).abs() < 0.01, "{}", rate(&bloom));
    assert!((rate(&blocked) - 0.43).abs() < 0.005, "{}", rate(&blocked));
    assert!((0.21..0.43).contains(&rate(&split)), "{}", rate(&split));
}

/// The rates of the blocks scatter around their mean, by no more than a share of 0 or 1 would.
fn assert_rate_of_blocks(filter: &impl Filter, what: &str) {
    let expected = filter.expected_false_positive_rate();
    let blocks = filter.memory_bits() as f64 / 512.0;
    let scatter = SIGMAS * (expected * (1.0 - expected) / blocks).sqrt();
    assert_rate_within(filter, 1 << 21, expected - scatter, expected + scatter, what);
}

#[test]
fn blocked_bloom_filters_have_the_rate_of_their_binomial_mixture() {
    let keys = 200_000;
    for bits_per_key in [4, 8, 13, 20] {
        let mut blocked = BlockedBloomFilter::new(keys as u64 * bits_per_key).expect("valid");
        let mut split = SplitBlockBloomFilter::new(keys as u64 * bits_per_key).expect("valid");
        fill(&mut blocked, keys, 3);
        fill(&mut split, keys, 3);
        assert_rate_of_blocks(&blocked, "blocked Bloom filter");
        assert_rate_of_blocks(&split, "split block Bloom filter");
    }
}

#[test]
fn a_blocked_bloom_filter_is_worse_than_a_bloom_filter_of_as_many_probes() {
    let mut blocked = BlockedBloomFilter::new(1 << 20).expect("valid");
    let mut split = SplitBlockBloomFilter::new(1 << 20).expect("valid");
    let [mut of_nine, mut of_eight] = [9, 8].map(|probes| BloomFilter::new(1 << 20, probes).expect("valid"));
    let rates = |worse: &mut dyn Insert, better: &mut dyn Insert| {
        for digest in SplitMix64::new(4).digests(1 << 16) {
            assert_eq!((worse.insert(digest), better.insert(digest)), (Ok(()), Ok(())));
        }
        [better.expected_false_positive_rate(), worse.expected_false_positive_rate()]
    };
    for rates in [rates(&mut blocked, &mut of_nine), rates(&mut split, &mut of_eight)] {
        assert!(rates.is_sorted(), "{rates:?}");
    }
}

#[test]
fn few_keys_of_one_block_give_the_rate_of_counting() {
    // With one key, an absent one is found if its nine probes are those of the key: of 2^9 · 2^8 pairs of h1 and h2, two give
    // the same set, one from each end of it.
    let mut filter = BlockedBloomFilter::new(512).expect("valid");
    fill(&mut filter, 1, 5);
    let expected = 2.0 / f64::from(1 << 17);
    assert!((filter.expected_false_positive_rate() / expected - 1.0).abs() < 1e-6);
    // So many that every bit is set.
    fill_on(&mut filter, 5000);
    assert!((filter.expected_false_positive_rate() - 1.0).abs() < 1e-9);
    assert!(BlockedBloomFilter::new(512).expect("valid").expected_false_positive_rate() < 1e-9, "empty");
}

fn fill_on(filter: &mut impl Insert, count: usize) {
    for digest in SplitMix64::new(55).digests(count) {
        assert_eq!(filter.insert(digest), Ok(()));
    }
}

#[test]
fn a_key_sets_nine_bits_of_one_block() {
    let mut source = SplitMix64::new(6);
    for _ in 0..200 {
        let digest = source.digest();
        let mut filter = BlockedBloomFilter::new(64 * 512).expect("valid");
        assert_eq!(filter.insert(digest), Ok(()));
        assert_eq!(filter.bits_set_by_block(), [9], "{digest:?}");
    }
}

#[test]
fn a_split_block_bloom_filter_of_one_block_has_the_rate_of_its_words() {
    // Eight words of 64 bits, of which each key sets one: (1 - (63/64)^n)^8.
    for keys in [0, 1, 20, 100] {
        let mut filter = SplitBlockBloomFilter::new(1).expect("valid");
        fill(&mut filter, keys, 5);
        let expected = (1.0 - (63.0_f64 / 64.0).powf(keys as f64)).powi(8);
        assert!((filter.expected_false_positive_rate() - expected).abs() < 1e-12, "{keys} keys");
    }
}

#[test]
fn a_key_sets_one_bit_in_each_word_of_one_split_block() {
    let mut source = SplitMix64::new(6);
    for _ in 0..200 {
        let digest = source.digest();
        let mut filter = SplitBlockBloomFilter::new(64 * 512).expect("valid");
        assert_eq!(filter.insert(digest), Ok(()));
        assert_eq!(filter.bits_set_by_word(), [1; 8], "{digest:?}");
    }
}

#[test]
fn a_counting_bloom_filter_has_the_rate_of_a_bloom_filter_in_four_times_the_space() {
    let keys = 100_000;
    let mut counting = CountingBloomFilter::with_capacity(keys as u64, 10.0).expect("valid");
    let mut bloom = BloomFilter::with_capacity(keys as u64, 10.0).expect("valid");
    let digests = fill(&mut counting, keys, 6);
    fill(&mut bloom, keys, 6);
    assert_eq!(counting.memory_bits(), 4 * bloom.memory_bits());
    let mut source = SplitMix64::new(7);
    for _ in 0..1 << 18 {
        let digest = source.digest();
        assert_eq!(counting.contains(digest), bloom.contains(digest), "{digest:?}");
    }
    for &digest in &digests {
        assert!(counting.remove(digest));
    }
    assert_eq!((counting.len(), counting.saturated_ratio()), (0, 0.0));
    assert_rate_within(&counting, 1 << 18, 0.0, 0.0, "empty");
}

#[test]
fn a_counting_bloom_filter_agrees_with_a_multiset() {
    for seed in 0..20 {
        // So many counters for so few keys that none saturates.
        let mut filter = CountingBloomFilter::new(4096, 5).expect("valid");
        live_beside_a_multiset(&mut filter, 100, 2000, seed);
    }
}

#[test]
fn a_saturated_counter_sticks_and_loses_no_key() {
    let mut filter = CountingBloomFilter::new(64, 3).expect("valid");
    let others = fill(&mut filter, 5, 8);
    let digest = Digest::new(0x0123_4567_89ab_cdef);
    for _ in 0..40 {
        assert_eq!(filter.insert(digest), Ok(()));
    }
    for _ in 0..40 {
        assert!(filter.remove(digest));
    }
    assert!(filter.saturated_ratio() >= 3.0 / 64.0);
    assert!(filter.contains(digest), "its counters are 15 for ever");
    for &other in &others {
        assert!(filter.contains(other), "{other:?} is lost");
    }
    assert_eq!(filter.len(), others.len());
}

#[test]
fn absent_keys_are_not_removed() {
    let mut filter = CountingBloomFilter::new(1 << 16, 8).expect("valid");
    let digests = fill(&mut filter, 1000, 9);
    let mut source = SplitMix64::new(10);
    for _ in 0..1000 {
        let absent = source.digest();
        assert_eq!(filter.contains(absent), filter.remove(absent));
    }
    assert!(digests.iter().all(|&digest| filter.contains(digest)));
}

#[test]
fn measures_that_make_no_filter_are_refused() {
    assert!(matches!(BloomFilter::new(0, 3), Err(BuildError::OutOfRange { given: 0, .. })));
    assert!(matches!(BloomFilter::new(8, 33), Err(BuildError::OutOfRange { given: 33, most: 32, .. })));
    assert!(matches!(BloomFilter::with_capacity(10, f64::NAN), Err(BuildError::OutOfRange { .. })));
    assert!(matches!(BloomFilter::new(u64::MAX, 3), Err(BuildError::OutOfMemory { .. })));
    assert!(matches!(BlockedBloomFilter::new(0), Err(BuildError::OutOfRange { given: 0, .. })));
    assert!(matches!(CountingBloomFilter::new(512, 0), Err(BuildError::OutOfRange { .. })));
}
