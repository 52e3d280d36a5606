use std::sync::Arc;

use guira::{
    Addressing, AnyFilter, BuildError, ConcurrentCuckooFilter, ConcurrentExpiringCuckooFilter, CountingCuckooFilter,
    CuckooFilter, CuckooFilterView, CuckooMap, CuckooSet, Error, ExpiringCuckooFilter, FileKind, FilterBuilder,
    FilterFile, FilterKind, KeyHasher, Layout, LoadError, LoadOptions, MergeError, Preference,
};

/// `T::builder()` makes a `T`, with the table that it tells before.
#[test]
fn builders_of_each_kind_make_that_kind() {
    fn chosen<T: FilterKind>(builder: FilterBuilder<T>) -> FilterBuilder<T> {
        builder.capacity(1000).false_positive_rate(0.001).hasher(KeyHasher::xxh3(7))
    }
    macro_rules! assert_made {
        ($($type:ty),*) => {$({
            let builder = chosen(<$type>::builder());
            let made: $type = builder.build().expect("valid");
            assert_eq!(builder.parameters().as_ref().ok().copied(), Some(made.parameters().to_owned()));
            assert_eq!((made.capacity(), made.hasher()), (1000, &KeyHasher::xxh3(7)));
        })*};
    }
    assert_made!(CuckooFilter, CuckooSet, CountingCuckooFilter, CuckooMap<u8>, CuckooMap<bool>, ConcurrentCuckooFilter);
    let one = chosen(CuckooFilter::builder());
    assert_eq!(one.for_kind::<CuckooMap<u16>>().build().expect("valid").parameters().value_bits(), 16);
}

/// Choices, each with every two others: `parameters` tells what `build` makes, or returns the same error.
#[test]
fn builders_tell_what_they_make_or_why_they_make_nothing() {
    type Change = fn(FilterBuilder) -> FilterBuilder;
    const CHANGES: [Change; 15] = [
        |builder| builder,
        |builder| builder.bucket_count(64),
        |builder| builder.false_positive_rate(1e-14),
        |builder| builder.false_positive_rate(1e-19),
        |builder| builder.fingerprint_bits(12),
        |builder| builder.max_capacity(1000),
        |builder| builder.max_capacity(10),
        |builder| builder.preference(Preference::Space),
        |builder| builder.layout(Layout::Packed),
        |builder| builder.layout(Layout::SemiSorted),
        |builder| builder.slots_per_bucket(2),
        |builder| builder.slots_per_bucket(3),
        |builder| builder.addressing(Addressing::Ternary),
        |builder| builder.value_bits(5),
        |builder| builder.value_bits(33),
    ];
    let begun: [FilterBuilder; 2] =
        [CuckooFilter::builder().capacity(100), CuckooFilter::builder().capacity(100).false_positive_rate(0.01)];
    let (mut made, mut errors) = (0, Vec::new());
    for builder in &begun {
        for (index, first) in CHANGES.iter().enumerate() {
            for (other, second) in CHANGES[index..].iter().enumerate() {
                for third in &CHANGES[index + other..] {
                    let builder = third(second(first(builder.clone())));
                    macro_rules! assert_told {
                        ($($builder:expr),*) => {$({
                            let builder = $builder;
                            let built = builder.build().map(|built| built.parameters().to_owned());
                            assert_eq!(builder.parameters(), built, "{builder:?}");
                            match built {
                                Ok(_) => made += 1,
                                Err(error) => errors.push(core::mem::discriminant(&error)),
                            }
                        })*};
                    }
                    assert_told!(
                        builder.clone(),
                        builder.for_kind::<CuckooSet>(),
                        builder.for_kind::<CountingCuckooFilter>(),
                        builder.for_kind::<CuckooMap<u8>>(),
                        builder.for_kind::<ConcurrentCuckooFilter>(),
                        builder.for_kind::<ExpiringCuckooFilter>(),
                        builder.for_kind::<ExpiringCuckooFilter>().lifetime(60),
                        builder.for_kind::<ConcurrentExpiringCuckooFilter>().lifetime(60)
                    );
                }
            }
        }
    }
    for expected in [
        BuildError::ValueBitsUnused,
        BuildError::ConcurrentLayout { layout: Layout::SemiSorted },
        BuildError::LifetimeMissing,
        BuildError::GrowingPrecision,
    ] {
        assert!(errors.contains(&core::mem::discriminant(&expected)), "{expected}");
    }
    assert!(made > 500, "{made} can be made");
}

#[test]
fn sets_that_grow_are_reserved_shrunk_and_merged() {
    let builder = CuckooSet::builder().capacity(100).max_capacity(100_000).false_positive_rate(0.001);
    let mut ours = builder.build().expect("valid");
    let small = ours.size_in_bytes();
    ours.reserve(20_000).expect("it may grow so far");
    assert!(ours.capacity() >= 20_000 && ours.reserve(10_000_000).is_err());
    ours.shrink_to_fit();
    assert_eq!((ours.size_in_bytes(), ours.is_empty()), (small, true));
    assert!(ours.max_capacity() >= 100_000 && ours.growth_policy().is_some());

    ours.try_extend(0..3000_u64).expect("it grows");
    let mut theirs = ours.empty_like().expect("memory");
    assert!(theirs.is_empty() && theirs.size_in_bytes() == small);
    theirs.try_extend(2000..5000_u64).expect("it grows");
    ours.merge(&theirs).expect("made alike");
    assert!((0..5000_u64).all(|key| ours.contains(&key)));
    assert_eq!(ours.check_invariants(), Ok(()), "each fingerprint once");
    let mut at_once = builder.build().expect("valid");
    at_once.try_extend(0..5000_u64).expect("it grows");
    assert_eq!(ours.len(), at_once.len());
    assert_eq!(ours.expected_false_positive_rate(), at_once.expected_false_positive_rate());

    let (len, size) = (ours.len(), ours.size_in_bytes());
    ours.merge(&at_once).expect("made alike");
    assert_eq!((ours.len(), ours.size_in_bytes()), (len, size), "nothing was missing");

    let other = CuckooSet::with_capacity(100, 0.1).expect("valid");
    let before = ours.to_bytes();
    assert!(matches!(ours.merge(&other), Err(MergeError::Differs { .. })));
    assert!(ours.to_bytes() == before);
}

#[test]
fn what_is_made_alike_can_be_merged_and_is_empty() {
    let hasher = KeyHasher::sip_hash_13([7; 16]);
    let builder = CuckooFilter::builder().capacity(1000).false_positive_rate(0.01).hasher(hasher);
    let mut filter = builder.build().expect("valid");
    filter.try_extend(0..1000_u64).expect("room");
    let mut like = filter.empty_like().expect("memory");
    assert!(like.is_empty() && like.parameters() == filter.parameters());
    like.merge(&filter).expect("made alike");
    assert!(like.len() == 1000 && (0..1000_u64).all(|key| like.contains(&key)));
    let counting = builder.for_kind::<CountingCuckooFilter>().build().expect("valid");
    assert!(counting.empty_like().expect("memory") == counting);
    let map = builder.for_kind::<CuckooMap<u8>>().build().expect("valid");
    assert!(map.empty_like().expect("memory") == map);
}

#[test]
fn a_view_keeps_what_it_looks_at() {
    struct Table {
        _data: Arc<Vec<u8>>,
        filter: CuckooFilterView<'static>,
    }
    /// A filter within a larger file.
    struct Part(Arc<Vec<u8>>, std::ops::Range<usize>);
    impl AsRef<[u8]> for Part {
        fn as_ref(&self) -> &[u8] {
            &self.0[self.1.clone()]
        }
    }
    let mut filter = CuckooFilter::with_capacity(1000, 0.001).expect("valid");
    filter.try_extend(0..1000_u64).expect("room");
    let mut data = b"a sorted table".to_vec();
    let start = data.len();
    data.extend(filter.to_bytes());
    let part = start..data.len();
    let data = Arc::new(data);
    let table = Table { filter: CuckooFilterView::from_owner(Part(data.clone(), part)).expect("a file"), _data: data };
    let clone = table.filter.clone();
    drop(table);
    clone.verify().expect("it is whole");
    let found =
        std::thread::spawn(move || (0..2000_u64).filter(|key| clone.contains(key)).count()).join().expect("no panic");
    assert_eq!(found, (0..2000_u64).filter(|key| filter.contains(key)).count());

    assert!(matches!(CuckooFilterView::from_owner(vec![0; 500]), Err(LoadError::NotGuira)));
    let file = filter.to_bytes();
    assert!(matches!(CuckooFilterView::from_owner(file[..file.len() - 1].to_vec()), Err(LoadError::Truncated { .. })));
}

/// An owner that returns other bytes each time is asked once: what was checked is what is looked at.
#[test]
fn an_owner_is_asked_once() {
    struct Fickle(Vec<u8>, std::sync::atomic::AtomicBool);
    impl AsRef<[u8]> for Fickle {
        fn as_ref(&self) -> &[u8] {
            if self.1.swap(true, std::sync::atomic::Ordering::Relaxed) { &[] } else { &self.0 }
        }
    }
    let mut filter = CuckooFilter::with_capacity(100, 0.001).expect("valid");
    filter.insert("ani").expect("room");
    let view = CuckooFilterView::from_owner(Fickle(filter.to_bytes(), false.into())).expect("a file");
    assert!(view.contains("ani") && view.clone().contains("ani"));
}

#[test]
fn any_filter_answers_for_every_kind() {
    fn assert_agrees(file: &[u8], kind: FileKind, len: usize) {
        let any = AnyFilter::from_bytes(file).expect("a file");
        assert_eq!((any.kind(), any.len(), any.is_empty()), (kind, len, false));
        assert!((0..300_u64).all(|key| any.contains(&key)) && !(300..900_u64).all(|key| any.contains(&key)), "{kind}");
        assert_eq!(any.hasher(), &KeyHasher::default());
        assert_eq!(
            any.parameters().capacity(),
            guira::FileHeader::from_bytes(file).expect("a file").parameters().capacity()
        );
    }
    let builder = CuckooFilter::builder().capacity(1000).false_positive_rate(1e-6);
    let mut filter = builder.build().expect("valid");
    filter.try_extend(0..300_u64).expect("room");
    assert_agrees(&filter.to_bytes(), FileKind::Filter, 300);
    let mut growing = builder.clone().max_capacity(2000).build().expect("valid");
    growing.try_extend(0..300_u64).expect("room");
    assert_agrees(&growing.to_bytes(), FileKind::Growing, 300);
    let mut set = builder.for_kind::<CuckooSet>().build().expect("valid");
    set.try_extend(0..300_u64).expect("room");
    assert_agrees(&set.to_bytes(), FileKind::Set, 300);
    let mut counting = builder.for_kind::<CountingCuckooFilter>().build().expect("valid");
    counting.try_extend((0..300_u64).chain(0..300)).expect("room");
    assert_agrees(&counting.to_bytes(), FileKind::Counting, 300);
    let mut map = builder.for_kind::<CuckooMap<u8>>().build().expect("valid");
    map.try_extend((0..300_u64).map(|key| (key, 1))).expect("room");
    assert_agrees(&map.to_bytes(), FileKind::Map, 300);
    let mut expiring = ExpiringCuckooFilter::with_capacity(1000, 1e-6, 60).expect("valid");
    expiring.try_extend(0..300_u64).expect("room");
    assert_agrees(&expiring.to_bytes(), FileKind::Expiring, 300);
}

#[test]
fn a_filter_that_threads_share_is_saved_and_loaded() {
    for max_capacity in [None, Some(1_000_000)] {
        let builder = ConcurrentCuckooFilter::builder().capacity(1000).false_positive_rate(0.001);
        let builder = max_capacity.map_or(builder.clone(), |most| builder.max_capacity(most));
        let shared = builder.build().expect("valid");
        shared.try_extend(0..900_u64).expect("room");
        let file = shared.to_bytes();
        assert!(file == shared.snapshot().expect("memory").to_bytes());
        let mut written = Vec::new();
        shared.write_to(&mut written).expect("a vector");
        assert!(written == file);
        let loaded = ConcurrentCuckooFilter::from_bytes(&file).expect("what was saved");
        assert!((0..900_u64).all(|key| loaded.contains(&key)) && loaded.to_bytes() == file);
        loaded.insert("another").expect("room");
        assert!(ConcurrentCuckooFilter::read_from(&file[..]).expect("what was saved").to_bytes() == file);
    }
    let builder = ConcurrentExpiringCuckooFilter::builder().capacity(1000).false_positive_rate(0.001).lifetime(60);
    let shared = builder.build().expect("valid");
    assert_eq!(builder.parameters().as_ref(), Ok(shared.parameters()));
    (0..900_u64).try_for_each(|key| shared.insert(&key)).expect("room");
    let file = shared.to_bytes();
    assert!(file == shared.snapshot().expect("memory").to_bytes());
    let mut written = Vec::new();
    shared.write_to(&mut written).expect("a vector");
    assert!(written == file);
    let loaded = ConcurrentExpiringCuckooFilter::from_bytes(&file).expect("what was saved");
    assert!((0..900_u64).all(|key| loaded.contains(&key)) && loaded.to_bytes() == file);
    assert!(matches!(
        ConcurrentExpiringCuckooFilter::from_bytes(&CuckooSet::with_capacity(9, 0.1).expect("valid").to_bytes()),
        Err(LoadError::OtherKind { .. })
    ));

    let sorted = CuckooFilter::builder().capacity(1000).false_positive_rate(0.001).layout(guira::Layout::SemiSorted);
    let file = sorted.build().expect("valid").to_bytes();
    assert!(matches!(ConcurrentCuckooFilter::from_bytes(&file), Err(LoadError::Parameters(_))));
}

#[cfg(feature = "files")]
#[test]
fn a_file_is_opened_or_made_and_refused_if_it_was_made_otherwise() {
    fn refusal<T: FilterKind + FilterFile>(builder: &FilterBuilder<T>, path: &std::path::Path) -> String {
        match builder.open_or_create(path) {
            Err(Error::Load(error)) => error.to_string(),
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("it was made otherwise"),
        }
    }
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("seen.guira");
    let secret = *b"16 random bytes!";
    let builder = CuckooSet::builder().capacity(1000).max_capacity(10_000).false_positive_rate(0.001);
    let builder = builder.hasher(KeyHasher::sip_hash_13(secret));
    let mut seen = builder.open_or_create(&path).expect("none yet");
    assert!(seen.is_empty() && !path.exists(), "it is not saved before it is asked to be");
    seen.insert("ani").expect("room");
    seen.save(&path).expect("a file");
    assert!(builder.open_or_create(&path).expect("it is there") == seen);
    assert!(LoadOptions::new().secret_key(secret).open::<CuckooSet>(&path).expect("it is there") == seen);

    let plain = CuckooSet::builder().capacity(1000).max_capacity(10_000).false_positive_rate(0.001);
    assert!(refusal(&plain, &path).contains("secret"));
    assert!(refusal(&builder.clone().hasher(KeyHasher::sip_hash_13([0; 16])), &path).contains("another secret"));
    let fixed = CuckooSet::builder().capacity(1000).false_positive_rate(0.001).hasher(KeyHasher::sip_hash_13(secret));
    assert!(refusal(&fixed, &path).contains("growth"));
    assert!(refusal(&builder.for_kind::<CuckooFilter>(), &path).contains("set without removal"));

    plain.build().expect("valid").save(&path).expect("a file");
    assert!(refusal(&plain.clone().hasher(KeyHasher::xxh3(7)), &path).contains("seed"));

    let counting = CountingCuckooFilter::builder().capacity(1000).false_positive_rate(0.001).value_bits(5);
    counting.build().expect("valid").save(&path).expect("a file");
    assert!(counting.open_or_create(&path).is_ok());
    assert!(refusal(&counting.clone().value_bits(6), &path).contains("another number of value bits"));
    let set = counting.for_kind::<CuckooSet>();
    assert!(refusal(&set, &path).contains("counting"), "the kind comes first");

    // 100 seconds are 7 resolutions of 15.
    let expiring = ExpiringCuckooFilter::builder().capacity(1000).false_positive_rate(0.001).lifetime(100);
    let made = expiring.clone().resolution(15);
    made.build().expect("valid").save(&path).expect("a file");
    for same in [&made, &expiring, &made.clone().lifetime(105)] {
        assert_eq!(same.open_or_create(&path).expect("it is there").lifetime(), 105);
    }
    assert!(refusal(&made.clone().resolution(5), &path).contains("another resolution"));
    assert!(refusal(&made.clone().lifetime(106), &path).contains("another lifetime"));
    assert!(refusal(&expiring.lifetime(90), &path).contains("another lifetime"));
    let shared = ConcurrentExpiringCuckooFilter::builder().capacity(1000).false_positive_rate(0.001);
    assert!(shared.clone().lifetime(100).open_or_create(&path).is_ok());
    assert!(refusal(&shared.lifetime(200), &path).contains("another lifetime"));

    std::fs::write(&path, b"something else").expect("a file");
    assert!(refusal(&plain, &path).contains("not a guira"));
}
