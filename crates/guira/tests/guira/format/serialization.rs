//! Filters in the data formats of serde: one with bytes, one without.

use std::collections::BTreeMap;
use std::fmt::Debug;

use guira::{CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet, KeyHasher, Layout, LoadError};
use serde_core::Serialize;
use serde_core::de::DeserializeOwned;

const SECRET: [u8; 16] = *b"0123456789abcdef";

fn small_filter() -> CuckooFilter {
    let mut filter = CuckooFilter::with_capacity(20, 0.01).expect("parameters in range");
    for key in ["ani", "guira", "ani"] {
        filter.insert(key).expect("room");
    }
    filter
}

/// That both formats hold the bytes of the file and nothing else, and give back what was there.
fn assert_is_its_file<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, file: &[u8]) {
    let text = serde_json::to_string(value).expect("bytes can be written as numbers");
    let numbers: Vec<u8> = serde_json::from_str(&text).expect("they are numbers");
    assert_eq!(numbers, file, "{value:?}");
    assert_eq!(&serde_json::from_str::<T>(&text).expect("the file's bytes"), value);
    // The same from a tree of values, in which the numbers are a sequence too.
    let tree = serde_json::to_value(value).expect("a list");
    assert_eq!(&serde_json::from_value::<T>(tree).expect("the file's bytes"), value);

    let packed = postcard::to_allocvec(value).expect("bytes can be written");
    assert!(packed.ends_with(file) && packed.len() <= file.len() + 5, "{value:?}: a length and the file");
    assert_eq!(&postcard::from_bytes::<T>(&packed).expect("the file's bytes"), value);
}

#[test]
fn every_kind_is_the_bytes_of_its_file_and_comes_back() {
    let filter = small_filter();
    assert_is_its_file(&filter, &filter.to_bytes());

    let builder = CuckooFilter::builder().bucket_count(50).layout(Layout::SemiSorted).fingerprint_bits(9);
    let mut semi_sorted = builder.build().expect("parameters in range");
    semi_sorted.insert("ani").expect("room");
    assert_is_its_file(&semi_sorted, &semi_sorted.to_bytes());

    let set = CuckooSet::from(small_filter());
    assert_is_its_file(&set, &set.to_bytes());

    let mut growing = CuckooFilter::builder()
        .capacity(10)
        .max_capacity(1024 * 10)
        .false_positive_rate(0.01)
        .build()
        .expect("parameters in range");
    (0..100_u32).for_each(|key| growing.insert(&key).expect("it grows"));
    assert_is_its_file(&growing, &growing.to_bytes());

    let mut counting = CountingCuckooFilter::with_capacity(20, 0.01).expect("parameters in range");
    (0..5).for_each(|_| counting.insert("ani").expect("room"));
    assert_is_its_file(&counting, &counting.to_bytes());

    let mut map = CuckooMap::<u8>::with_capacity(20, 0.01).expect("parameters in range");
    map.insert("ani", 7).expect("room");
    assert_is_its_file(&map, &map.to_bytes());
}

#[test]
fn a_filter_may_be_a_part_of_something_larger() {
    let filters = BTreeMap::from([("monday".to_owned(), small_filter()), ("tuesday".to_owned(), small_filter())]);
    let text = serde_json::to_string(&filters).expect("a map of lists");
    assert_eq!(serde_json::from_str::<BTreeMap<String, CuckooFilter>>(&text).expect("as it was"), filters);
    let packed = postcard::to_allocvec(&filters).expect("bytes");
    assert_eq!(postcard::from_bytes::<BTreeMap<String, CuckooFilter>>(&packed).expect("as it was"), filters);
}

#[test]
fn what_is_no_such_file_is_refused_with_the_error_of_loading() {
    let file = small_filter().to_bytes();
    let mut damaged = file.clone();
    *damaged.last_mut().expect("not empty") ^= 1;
    let longer = [&file[..], &[0]].concat();
    let set = CuckooSet::from(small_filter()).to_bytes();
    for bytes in [&[][..], &file[..40], &file[..file.len() - 1], &damaged, &longer, &set] {
        let expected = CuckooFilter::from_bytes(bytes).expect_err("no such file").to_string();
        let text = serde_json::to_string(bytes).expect("a list");
        let error = serde_json::from_str::<CuckooFilter>(&text).expect_err("no such file");
        assert!(error.to_string().starts_with(&expected), "{error}, and not {expected}");
        let length = u8::try_from(bytes.len() & 0x7f).expect("7 bits");
        let prefix = if bytes.len() < 128 { vec![length] } else { vec![length | 0x80, 1] };
        assert!(bytes.len() < 256, "the prefix has room for {} bytes", bytes.len());
        assert!(postcard::from_bytes::<CuckooFilter>(&[prefix, bytes.to_vec()].concat()).is_err());
    }
    for other in ["null", "7", "{}", "\"ani\"", "[256]", "[-1]", "[\"ani\"]"] {
        assert!(serde_json::from_str::<CuckooFilter>(other).is_err(), "{other}");
    }
    let error = serde_json::from_str::<CuckooFilter>("7").expect_err("no bytes").to_string();
    assert!(error.contains("the bytes of a guira file that holds a filter"), "{error}");
}

#[test]
fn a_filter_with_a_secret_key_is_written_without_it_and_read_as_bytes() {
    let builder = CuckooFilter::builder().capacity(10).fingerprint_bits(16);
    let mut filter = builder.hasher(KeyHasher::sip_hash_13(SECRET)).build().expect("parameters in range");
    filter.insert("ani").expect("room");
    let text = serde_json::to_string(&filter).expect("a list");
    let error = serde_json::from_str::<CuckooFilter>(&text).expect_err("there is no key").to_string();
    assert!(error.starts_with(&LoadError::SecretKeyMissing.to_string()), "{error}");
    let file: Vec<u8> = serde_json::from_str(&text).expect("a list of numbers");
    assert!(!file.windows(16).any(|bytes| bytes == SECRET), "the secret is in it");
    assert_eq!(
        guira::LoadOptions::new().secret_key(SECRET).from_bytes::<CuckooFilter>(&file).expect("the right key"),
        filter
    );
}
