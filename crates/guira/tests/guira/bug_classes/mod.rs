//! Bugs that other filters have or had, each with tests of its own. A test that can't fail is one of those bugs too:
//! each of these was seen to fail when what it guards was taken out.
//!
//! | what goes wrong elsewhere | tests, here or in another file |
//! |---|---|
//! | a failed insert loses another key | `failed_inserts_lose_no_other_key` |
//! | | `a_failed_insert_leaves_every_bit_unchanged` |
//! | | `failed_inserts_into_maps_counting_filters_and_sets_lose_no_key` |
//! | | growing/losses.rs: `failed_inserts_lose_no_key_however_often_they_are_tried` |
//! | fingerprint 0 is taken for an empty slot | `no_digest_has_fingerprint_0` |
//! | | `the_ends_of_the_digest_are_the_ends_of_the_fingerprint` |
//! | | growing/doublings.rs: `no_doubling_makes_a_fingerprint_0` |
//! | the alternate bucket does not lead back | `the_alternate_of_the_alternate_is_the_primary_bucket_for_every_size` |
//! | | `keys_that_were_moved_are_found_where_lookups_look` |
//! | | growing/doublings.rs: `the_alternate_leads_back_after_any_number_of_doublings` |
//! | removal after growth takes others | growing/losses.rs: `of_200_000_keys_any_half_can_be_removed_and_the_other_is_found` |
//! | | growing/losses.rs: `random_operations_agree_with_a_multiset` |
//! | shrinking loses keys | growing/losses.rs: `shrinking_loses_no_key_of_any_number_of_keys` |
//! | | growing/doublings.rs: `growing_ahead_and_shrinking_back_gives_the_bits_back` |
//! | copies make a filter grow, or lock it | `more_copies_than_fit_are_refused_for_ever_and_nothing_grows` |
//! | | `too_many_copies_and_a_full_filter_are_different_errors` |
//! | | `copies_take_no_memory_in_maps_counting_filters_and_sets` |
//! | | growing/copies.rs: `the_same_key_10_000_times_changes_neither_size_nor_anything_else` |
//! | | growing/copies.rs: `copies_in_a_batch_do_not_make_it_grow` |
//! | | growing/copies.rs: `copies_in_a_merge_do_not_make_it_grow` |
//! | | growing/copies.rs: `many_copies_of_every_key_are_refused_before_the_table_becomes_a_desert` |
//! | a victim slot is not searched or saved | `the_last_key_before_a_refusal_is_stored_like_any_other` |
//! | one bucket is counted as two | `a_key_with_a_single_candidate_bucket_is_counted_once` |
//! | odd widths are broken | `every_width_keeps_neighbouring_slots_apart` |
//! | | model.rs: `small_tables_agree_with_the_model` |
//! | | kinds/map.rs: `small_maps_agree_with_a_multimap` |
//! | merging loses keys | `merged_filters_hold_the_keys_of_both` |
//! | | `a_merge_that_fails_changes_nothing` |
//! | | growing/merging.rs: `filters_of_different_sizes_are_merged` |
//! | batches lose keys | ../batch.rs: `a_batch_that_does_not_fit_is_stored_up_to_the_first_key_that_does_not` |
//! | | ../batch.rs: `more_keys_than_fit_are_stored_but_for_those_in_the_error` |
//! | | growing/batches.rs: `batches_that_make_it_grow_lose_no_key` |
//! | a promised capacity is not reached | capacity.rs: `capacities_around_powers_of_two_are_kept` |
//! | | capacity.rs: `capacities_of_any_size_are_kept` |
//! | | capacity.rs: `every_small_capacity_is_kept_in_every_shape` |
//! | | growing/promise.rs: `as_many_keys_fit_as_the_max_capacity_says_however_close_it_is` |
//! | memory is wasted | capacity.rs: `buckets_of_4_cost_at_most_six_percent_more_than_their_fingerprints` |
//! | | growing/promise.rs: `before_a_doubling_the_table_is_as_small_as_one_built_for_its_keys` |
//! | | growing/promise.rs: `the_last_table_is_as_small_as_one_built_for_the_max_capacity` |
//! | the hash changes | `xxh3_is_the_published_one_for_every_length_of_key` |
//! | | `sip_hash_is_the_reference_one` |
//! | | `strings_and_integers_are_hashed_as_documented_bytes` |
//! | | `keys_have_the_fingerprints_and_buckets_of_the_documented_format` |
//! | the format breaks | `a_file_is_the_golden_one_byte_for_byte` |
//! | | ../golden.rs: `stored_files_are_read_and_written_again_byte_for_byte` |
//! | loading trusts bytes | format/forging.rs: `headers_that_contradict_themselves_are_refused` |
//! | | format/forging.rs: `tables_too_large_for_the_file_are_refused_before_memory_is_taken` |
//! | | format/forging.rs: `no_table_makes_a_loaded_filter_panic` |
//! | | kinds/files.rs: `no_table_makes_loading_or_using_panic` |
//! | removal takes another key (inherent) | `removing_a_key_that_was_not_inserted_takes_the_one_it_is_taken_for` |
//! | | `removing_a_key_that_is_denied_changes_nothing` |
//! | copies that were not stored are removed | `insert_unique_stores_one_copy_for_keys_that_are_taken_for_each_other` |
//! | | kinds/set.rs: `a_store_that_is_asked_makes_removal_safe` |

mod candidates;
mod copies;
mod files;
mod hashing;
mod losses;
mod merging;
mod removal;

use crate::oracle::case::Case;
use crate::oracle::shapes::{Shape, all_shapes};
use guira::CuckooFilter;

fn case_of(shape: Shape, fingerprint_bits: u32, bucket_count: u64) -> Case {
    Case {
        layout: shape.layout,
        addressing: shape.addressing,
        slots_per_bucket: shape.slots_per_bucket,
        fingerprint_bits,
        bucket_count,
        seed: u64::from(fingerprint_bits),
    }
}

/// Every shape of a table with all its fingerprint lengths. The number of buckets, a power of two, is what is asked
/// for; with powers of three and four, and with doubling, it may become a little more.
fn every_kind(bucket_count: u64) -> impl Iterator<Item = Case> {
    all_shapes().into_iter().flat_map(move |shape| {
        shape.fingerprint_lengths().map(move |fingerprint_bits| case_of(shape, fingerprint_bits, bucket_count))
    })
}

/// Inserts keys until a number of them was refused; the accepted ones, and the refused ones.
fn overfill(filter: &mut CuckooFilter, refusals: usize) -> (Vec<u64>, Vec<u64>) {
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    for key in 0.. {
        if refused.len() == refusals {
            break;
        }
        let result = filter.insert(&key);
        if result.is_ok() { accepted.push(key) } else { refused.push(key) }
    }
    (accepted, refused)
}

/// A key that was not inserted, and that the filter takes for one that was.
fn false_positive(filter: &CuckooFilter) -> u64 {
    (1 << 40..).find(|key| filter.contains(key)).expect("there are 2^64 keys")
}

/// The source of a file of tests, by its name in the table above.
fn source_of(file: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guira").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_test_in_the_table_exists() {
    let files = ["candidates", "copies", "files", "hashing", "losses", "merging", "removal"];
    let here = files.map(|file| source_of(&format!("bug_classes/{file}.rs"))).concat();
    let this = source_of("bug_classes/mod.rs");
    let rows = this.lines().filter_map(|line| line.strip_prefix("//! | ")?.strip_suffix("` |"));
    let mut tests = 0;
    for row in rows {
        let (before, name) = row.rsplit_once('`').expect("a test stands between two backticks");
        let file = before.rsplit_once("| ").and_then(|(_, file)| file.strip_suffix(": "));
        let source = file.map_or_else(|| here.clone(), source_of);
        let is_defined = source.contains(&format!("fn {name}(")) || source.contains(&format!("mod {name} {{"));
        assert!(is_defined, "{name} in {file:?}");
        tests += 1;
    }
    assert!(tests > 40, "{tests} tests are in the table");
}
