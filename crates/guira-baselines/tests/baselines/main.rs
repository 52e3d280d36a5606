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
}
