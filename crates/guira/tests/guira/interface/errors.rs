use std::error::Error as _;
use std::io;

use guira::{BuildError, CuckooFilter, Error, LoadError};

/// No error repeats what it says in what it gives as its source.
fn assert_says_each_thing_once(error: &Error) {
    let text = error.to_string();
    assert!(!text.is_empty());
    let mut source = error.source();
    while let Some(cause) = source {
        assert!(!text.contains(&cause.to_string()), "{text}: {cause}");
        source = cause.source();
    }
}

#[test]
fn every_chain_of_errors_says_each_thing_once() {
    let missing = io::Error::from(io::ErrorKind::NotFound);
    let filter = || CuckooFilter::with_capacity(10, 0.001).expect("valid");
    let keys: Vec<u64> = (0..1000).collect();
    let builder = CuckooFilter::builder().capacity(10).false_positive_rate(0.001);
    let mut errors: Vec<Error> = vec![
        LoadError::Io(missing).into(),
        LoadError::Parameters(BuildError::SizeMissing).into(),
        filter().insert_many(&keys).expect_err("too many").into(),
        filter().try_extend(&keys).expect_err("too many").into(),
        filter().reserve(1000).expect_err("too many").into(),
        builder.build_from_keys(&keys).expect_err("too many").into(),
        CuckooFilter::builder().build().expect_err("no size").into(),
        filter().merge(&CuckooFilter::with_capacity(99, 0.1).expect("valid")).expect_err("made otherwise").into(),
    ];
    #[cfg(feature = "files")]
    {
        let nowhere = std::env::temp_dir().join("guira-no-such-directory").join("seen.guira");
        errors.push(CuckooFilter::open(&nowhere).expect_err("there is none").into());
        errors.push(filter().save(&nowhere).expect_err("there is no directory").into());
    }
    errors.iter().for_each(assert_says_each_thing_once);
}

/// What is behind a cause is still reached.
#[test]
fn the_source_of_a_cause_is_the_source_of_the_error() {
    let cause = io::Error::other(LoadError::NotGuira);
    let behind = cause.source().map(ToString::to_string);
    let error = Error::from(LoadError::Io(cause));
    assert_eq!(error.source().map(ToString::to_string), behind);
}

/// The largest capacity is promised for the last table, not for the one that a key finds full.
#[test]
fn a_full_filter_names_the_capacity_of_its_table() {
    let builder = CuckooFilter::builder().capacity(100).max_capacity(3000).false_positive_rate(0.01);
    for mut filter in [CuckooFilter::with_capacity(100, 0.01), builder.build()].map(|filter| filter.expect("valid")) {
        let error = filter.try_extend(0..10_000_u64).expect_err("too many");
        let promised = format!("its table is promised for {} keys", filter.capacity());
        assert!(error.to_string().contains(&promised), "{error}");
    }
}
