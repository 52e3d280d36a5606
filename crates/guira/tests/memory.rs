//! Each allocation of each operation is refused, alone or with all that follow: there is an error, and everything is as before; or
//! the operation was done without it. Where memory is missing and an operation has no error to return, the process ends, and
//! its documentation says so: these are not here.
//!
//! A test that is aborted has found an allocation that can't fail; `-- --test-threads 1` shows which test it was.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use guira::raw::{Arriving, Merging, RawFilter as _, Shrinking, Step};
use guira::{
    AnyFilter, ConcurrentCuckooFilter, ConcurrentExpiringCuckooFilter, CountingCuckooFilter, CuckooFilter, CuckooMap,
    CuckooSet, ExpiringCuckooFilter, FileHeader, InsertError, OutOfMemory,
};

/// What the allocator does on this thread.
#[derive(Clone, Copy)]
struct Plan {
    /// How many allocations succeed before one is refused.
    left: usize,
    /// Whether all that follow are refused, too.
    is_lasting: bool,
    made: usize,
    refused: usize,
    /// The size of the memory that was given back last, if nothing was asked for since.
    freed: usize,
}

const UNLIMITED: Plan = Plan { left: usize::MAX, is_lasting: false, made: 0, refused: 0, freed: 0 };

thread_local! {
    static PLAN: Cell<Option<Plan>> = const { Cell::new(None) };
}

/// An allocator that refuses. Where memory was given back just before, as much is there again, and giving back a part of some is
/// never refused, as with real ones.
struct Refusing;

#[expect(unsafe_code, reason = "an allocator is")]
// SAFETY: memory is the system's.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_refused(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller promises what this asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() && is_refused(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller promises what this asks for.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        PLAN.set(PLAN.get().map(|plan| Plan { freed: layout.size(), ..plan }));
        // SAFETY: the caller promises what this asks for.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

fn is_refused(size: usize) -> bool {
    let Some(mut plan) = PLAN.get() else { return false };
    let is_there = size <= std::mem::take(&mut plan.freed);
    let is_refused = !is_there && plan.left == 0 && (plan.is_lasting || plan.refused == 0);
    if is_refused {
        plan.refused += 1;
    } else if !is_there {
        plan.left = plan.left.saturating_sub(1);
        plan.made += 1;
    }
    PLAN.set(Some(plan));
    is_refused
}

/// Does something by a plan. Returns what came of it, and of the plan.
fn by_plan<R>(plan: Plan, work: impl FnOnce() -> R) -> (R, Plan) {
    PLAN.set(Some(plan));
    let result = work();
    (result, PLAN.take().expect("set above"))
}

fn allocations(work: impl FnOnce()) -> usize {
    by_plan(UNLIMITED, work).1.made
}

/// Tries an operation on what `make` makes, with each of its allocations refused. What `look` returns must be what it was before
/// an error, and what it always is where the operation was done.
fn refuse_each<S, R, E: Debug, L: PartialEq + Debug>(
    make: impl Fn() -> S,
    operation: impl Fn(&mut S) -> Result<R, E>,
    look: impl Fn(&S) -> L,
) {
    refuse_each_with(make, operation, &look, &look);
}

/// The same, with a look for what is there after an error and one for what is there where the operation was done.
fn refuse_each_with<S, R, E: Debug, L: PartialEq + Debug, M: PartialEq + Debug>(
    make: impl Fn() -> S,
    operation: impl Fn(&mut S) -> Result<R, E>,
    look_undone: impl Fn(&S) -> L,
    look_done: impl Fn(&S) -> M,
) {
    // What is made once in a thread is made now.
    let mut state = make();
    operation(&mut state).expect("it is done where memory is not refused");
    let done = look_done(&state);
    let mut refusals = 0;
    for is_lasting in [false, true] {
        for left in 0.. {
            let mut state = make();
            let before = look_undone(&state);
            let (result, plan) = by_plan(Plan { left, is_lasting, ..UNLIMITED }, || operation(&mut state));
            let case = format!("allocation {left}, lasting: {is_lasting}");
            match result {
                Ok(_) => assert_eq!(look_done(&state), done, "{case}"),
                Err(error) => {
                    let said = format!("{error:?}");
                    assert!(said.contains("OutOfMemory"), "{case}: {said}");
                    assert_eq!(look_undone(&state), before, "{case}: {said}");
                }
            }
            if plan.refused == 0 {
                break;
            }
            refusals += 1;
        }
    }
    assert!(refusals > 0, "it makes no allocation");
}

fn none<S>(_: &S) {}

/// A file, and not all of it where a test fails.
fn file(bytes: Vec<u8>) -> (usize, u64) {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    (bytes.len(), hasher.finish())
}

/// What a filter holds. For want of memory, a doubling may have ended that was under way.
fn of(filter: &CuckooFilter) -> (usize, usize, (usize, u64)) {
    filter.check_invariants().expect("a filter");
    let (_header, table, _times) = filter.file_parts();
    (filter.len(), filter.capacity(), file(table.into_owned()))
}

/// For operations that may be done in several ways, and for those of which a part may be done.
fn invariants_of(filter: &CuckooFilter) {
    filter.check_invariants().expect("a filter");
}

fn of_shared(filter: &ConcurrentCuckooFilter) -> (usize, usize, (usize, u64)) {
    filter.check_invariants().expect("a filter");
    (filter.len(), filter.capacity(), file(filter.to_bytes()))
}

fn numbers(count: u64) -> Vec<u64> {
    (0..count).collect()
}

/// The first key whose insertion takes memory: to grow, or without growing.
fn first_key_with<F>(
    empty: impl Fn() -> F,
    insert: impl Fn(&mut F, u64),
    size: impl Fn(&F) -> usize,
    growing: bool,
) -> u64 {
    let mut filter = empty();
    for key in 0.. {
        let before = size(&filter);
        let made = allocations(|| insert(&mut filter, key));
        if made > 0 && (size(&filter) != before) == growing {
            return key;
        }
    }
    unreachable!("there is one some time")
}

/// Refuses each allocation of the first insertion that takes memory.
fn refuse_each_of_insertion<F, E: Debug, L: PartialEq + Debug>(
    empty: impl Fn() -> F,
    insert: impl Fn(&mut F, u64) -> Result<(), E>,
    size: impl Fn(&F) -> usize,
    growing: bool,
    look: impl Fn(&F) -> L,
    holds: impl Fn(&F, u64) -> bool,
) {
    let stored = |filter: &mut F, key| insert(filter, key).expect("there is room");
    let key = first_key_with(&empty, stored, size, growing);
    let make = || {
        let mut filter = empty();
        (0..key).for_each(|key| stored(&mut filter, key));
        filter
    };
    // Where there is no memory to double in steps, a table may still be doubled at once.
    let holds_all = |filter: &F| assert!((0..=key).all(|key| holds(filter, key)));
    refuse_each_with(make, |filter| insert(filter, key), look, holds_all);
}

fn fixed() -> CuckooFilter {
    let builder = CuckooFilter::builder().bucket_count(200).slots_per_bucket(4).fingerprint_bits(12);
    builder.build().expect("memory")
}

fn growing(capacity: usize) -> CuckooFilter {
    let builder = CuckooFilter::builder().capacity(capacity).max_capacity(100 * capacity).false_positive_rate(0.001);
    builder.build().expect("memory")
}

fn holding(mut filter: CuckooFilter, keys: impl IntoIterator<Item = u64>) -> CuckooFilter {
    filter.try_extend(keys).expect("there is room");
    filter
}

/// One whose table is being doubled in steps.
fn half_doubled() -> CuckooFilter {
    let mut filter = growing(50_000);
    let size = filter.size_in_bytes();
    let mut key = 0_u64;
    while filter.size_in_bytes() == size {
        filter.insert(&key).expect("it grows");
        key += 1;
    }
    filter
}

#[test]
fn filters_of_all_kinds_are_built() {
    let builder = CuckooFilter::builder().capacity(1000).false_positive_rate(0.001);
    refuse_each(|| (), |()| builder.build(), none);
    let growing = builder.clone().max_capacity(100_000);
    refuse_each(|| (), |()| growing.build(), none);
    refuse_each(|| (), |()| builder.clone().for_kind::<CuckooSet>().build(), none);
    refuse_each(|| (), |()| builder.clone().for_kind::<CountingCuckooFilter>().build(), none);
    refuse_each(|| (), |()| builder.clone().for_kind::<CuckooMap<u8>>().build(), none);
    refuse_each(|| (), |()| builder.clone().for_kind::<ConcurrentCuckooFilter>().build(), none);
    refuse_each(|| (), |()| growing.clone().for_kind::<ConcurrentCuckooFilter>().build(), none);
}

#[test]
fn filters_are_built_of_keys() {
    let builder = CuckooFilter::builder().false_positive_rate(0.001);
    let keys = numbers(5000);
    refuse_each(|| (), |()| builder.build_from_keys(&keys), none);
    refuse_each(|| (), |()| builder.build_from_keys(keys.iter().filter(|key| **key % 3 == 0)), none);
    refuse_each(
        || (),
        |()| builder.clone().capacity(9000).build_from_keys(keys.iter().filter(|key| **key % 3 == 0)),
        none,
    );
}

#[test]
fn a_slot_is_freed_in_a_full_table() {
    for layout in [guira::Layout::Packed, guira::Layout::SemiSorted] {
        let builder = CuckooFilter::builder().bucket_count(200).slots_per_bucket(4).fingerprint_bits(12).layout(layout);
        let empty = || builder.build().expect("memory");
        let insert = |filter: &mut CuckooFilter, key: u64| filter.insert(&key);
        refuse_each_of_insertion(empty, insert, CuckooFilter::size_in_bytes, false, of, |filter, key| {
            filter.contains(&key)
        });
    }
}

/// A search of the whole table takes memory several times.
#[test]
fn no_slot_is_found_in_a_full_table() {
    let mut full = fixed();
    let refused = (0_u64..).find(|key| full.insert(key).is_err()).expect("it is full some time");
    let made = allocations(|| assert!(full.insert(&refused).is_err()));
    assert!(made > 3, "{made} allocations");
    for left in 0..made {
        for is_lasting in [false, true] {
            let mut filter = full.clone();
            let (result, _) = by_plan(Plan { left, is_lasting, ..UNLIMITED }, || filter.insert(&refused));
            let said = format!("{:?}", result.expect_err("there is no room"));
            assert!(said.contains("OutOfMemory") && of(&filter) == of(&full), "allocation {left}: {said}");
        }
    }
}

/// Where copies of a key fill its buckets, only the list of refused keys takes memory.
#[test]
fn an_error_names_the_bytes_of_a_list_of_refused_keys() {
    let mut filter = fixed();
    while filter.insert(&7_u64).is_ok() {}
    let (result, _) = by_plan(Plan { left: 0, is_lasting: true, ..UNLIMITED }, || filter.insert_many(&[7_u64]));
    let error = result.expect_err("there is no room");
    assert_eq!((error.rejected, error.reason), (vec![], InsertError::OutOfMemory { bytes: 32 }));
}

#[test]
fn tables_grow_at_once_and_in_steps() {
    for capacity in [100, 50_000] {
        let insert = |filter: &mut CuckooFilter, key: u64| filter.insert(&key);
        let size = CuckooFilter::size_in_bytes;
        refuse_each_of_insertion(|| growing(capacity), insert, size, true, of, |filter, key| filter.contains(&key));
    }
}

#[test]
fn room_is_reserved() {
    refuse_each(|| holding(growing(100), 0..100), |filter| filter.reserve(10_000), of);
    refuse_each(half_doubled, |filter| filter.reserve(500_000), of);
}

#[test]
fn filters_are_merged() {
    let fixed = || CuckooFilter::with_capacity(1000, 0.001).expect("memory");
    let other = holding(fixed(), 500..900);
    refuse_each(|| holding(fixed(), 0..500), |filter| filter.merge(&other), of);
    let larger = holding(growing(100), 1000..3000);
    refuse_each(|| holding(growing(100), 0..50), |filter| filter.merge(&larger), of);
    let smaller = holding(growing(100), 3000..3100);
    refuse_each(|| holding(growing(100), 0..2000), |filter| filter.merge(&smaller), of);
    let halved = half_doubled();
    refuse_each(|| holding(growing(50_000), 0..1000), |filter| filter.merge(&halved), of);
}

/// Where memory is missing to sort keys, they are stored without. Only the list of refused ones is needed. This table has two
/// regions.
/// Does something in steps, and goes on after an error, with each of its allocations refused once.
fn refuse_each_step<T>(made: impl Fn() -> T, step: impl Fn(&mut T) -> Result<Step<Option<CuckooFilter>>, OutOfMemory>) {
    let to_the_end = |mut work: T| {
        let mut errors = 0;
        loop {
            match step(&mut work) {
                Ok(Step::Done(filter)) => return (filter.expect("it can be done"), errors),
                Ok(Step::More) => {}
                Err(_) => errors += 1,
            }
        }
    };
    let (expected, _) = to_the_end(made());
    let mut refusals = 0;
    for left in 0.. {
        let work = made();
        let ((done, errors), plan) = by_plan(Plan { left, ..UNLIMITED }, || to_the_end(work));
        assert!(done.to_bytes() == expected.to_bytes(), "allocation {left}");
        refusals += errors;
        if plan.refused == 0 {
            break;
        }
    }
    assert!(refusals > 0, "nothing was refused");
}

#[test]
fn steps_go_on_after_a_want_of_memory() {
    let (ours, others) = (holding(growing(2000), 0..1800), [9000..9010, 10_000..12_500, 20_000..23_000]);
    let others = others.map(|keys| holding(growing(2000), keys));
    let others: Vec<&CuckooFilter> = others.iter().collect();
    refuse_each_step(
        || Merging::of(&ours, &others).expect("memory").expect("they were made alike"),
        |merging| merging.step(&ours, &others),
    );
    let mut large = holding(growing(300), 0..20_000);
    (100..20_000_u64).for_each(|key| assert!(large.remove(&key)));
    refuse_each_step(Shrinking::default, |shrinking| shrinking.step(&large));
    let (doubling, empty) = (half_doubled(), growing(50_000));
    refuse_each_step(Shrinking::default, |shrinking| shrinking.step(&doubling));
    refuse_each_step(
        || Merging::of(&empty, &[&doubling]).expect("memory").expect("they were made alike"),
        |merging| merging.step(&empty, &[&doubling]),
    );
}

#[test]
fn many_keys_are_inserted() {
    let keys = numbers(200_000);
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().expect("a thread");
    let make = || CuckooFilter::with_capacity(300_000, 0.001).expect("memory");
    let insert = |filter: &mut CuckooFilter| filter.insert_many(&keys[..150_000]);
    one_thread.install(|| refuse_each_with(make, insert, invariants_of, of));
    let insert = |filter: &mut CuckooFilter| filter.insert_many(&keys[..2000]);
    refuse_each_with(|| growing(100), insert, invariants_of, CuckooFilter::len);
    let mut rejecting = fixed();
    let (result, plan) =
        by_plan(Plan { left: 3, is_lasting: true, ..UNLIMITED }, || rejecting.insert_many(&keys[..2000]));
    let error = result.expect_err("there is no room for all");
    assert!(plan.refused > 0 && format!("{error:?}").contains("OutOfMemory"), "{error:?}");
    rejecting.check_invariants().expect("a filter");
}

#[test]
fn keys_of_an_iterator_are_inserted() {
    let make = || growing(100);
    refuse_each_with(make, |filter| filter.try_extend(0..2000_u64), invariants_of, of);
}

/// Removal and lookups, which have no error to return, take no memory, nor do their batches that fill a slice.
#[test]
fn lookups_and_removals_take_no_memory() {
    let keys = numbers(1000);
    let mut answers = [false; 1000];
    let shared = ConcurrentCuckooFilter::try_from(half_doubled()).expect("memory");
    let fixed = ConcurrentCuckooFilter::with_capacity(1000, 0.001).expect("memory");
    fixed.insert_many(&keys).expect("there is room");
    let mut filters = [holding(growing(1000), 0..1000), half_doubled()];
    // What is made once in a thread is made now.
    assert!(shared.contains(&1_u64) && fixed.contains(&1_u64));
    let made = allocations(|| {
        for filter in &mut filters {
            filter.contains_many_into(&keys, &mut answers);
            assert!(answers == [true; 1000] && filter.count(&7_u64) > 0);
            filter.remove_many_into(&keys, &mut answers);
            assert_eq!(answers, [true; 1000]);
            filter.clear();
        }
        for filter in [&shared, &fixed] {
            filter.contains_many_into(&keys, &mut answers);
            assert!(answers == [true; 1000] && filter.count(&7_u64) > 0);
            filter.remove_many_into(&keys[..500], &mut answers[..500]);
            assert!(keys[500..].iter().all(|key| filter.remove(key)) && answers == [true; 1000]);
            let _ = filter.remove(&(1_u64 << 40));
            filter.clear();
        }
    });
    assert_eq!(made, 0);
}

#[test]
fn filters_of_all_kinds_are_copied() {
    let builder = CuckooFilter::builder().capacity(1000).false_positive_rate(0.001);
    refuse_each(half_doubled, |filter| filter.try_clone().map(drop), of);
    refuse_each(|| holding(growing(100), 0..2000), |filter| filter.empty_like().map(drop), of);
    let set = builder.clone().for_kind::<CuckooSet>().build().expect("memory");
    refuse_each(|| set.clone(), |set| set.try_clone().map(drop), |set| file(set.to_bytes()));
    let map = builder.clone().for_kind::<CuckooMap<u8>>().build().expect("memory");
    refuse_each(|| map.clone(), |map| map.try_clone().map(drop), |map| file(map.to_bytes()));
    let counting = builder.for_kind::<CountingCuckooFilter>().build().expect("memory");
    refuse_each(|| counting.clone(), |counting| counting.try_clone().map(drop), |counting| file(counting.to_bytes()));
}

#[test]
fn filters_are_converted_and_shrunk() {
    let make = || {
        let mut filter = holding(growing(100), 0..5000);
        (0..4900_u64).for_each(|key| assert!(filter.remove(&key)));
        filter
    };
    // Without memory it stays as large as it is.
    for left in 0..20 {
        let mut filter = make();
        by_plan(Plan { left, is_lasting: true, ..UNLIMITED }, || filter.shrink_to_fit());
        filter.check_invariants().expect("a filter");
        assert!((4900..5000_u64).all(|key| filter.contains(&key)));
    }
}

#[test]
fn filters_are_written_and_read() {
    for make in [half_doubled, || holding(fixed(), 0..500)] {
        let mut file = Vec::new();
        let filter = make();
        file.reserve(2 * filter.size_in_bytes());
        let (written, plan) = by_plan(Plan { left: 0, is_lasting: true, ..UNLIMITED }, || filter.write_to(&mut file));
        assert!(written.is_ok() && plan.refused == 0, "a table that is being doubled is written piece by piece");
        refuse_each(|| (), |()| CuckooFilter::from_bytes(&file), none);
        refuse_each(|| (), |()| CuckooFilter::read_from(&file[..]), none);
        refuse_each(|| (), |()| AnyFilter::from_bytes(&file), none);
        refuse_each(|| (), |()| ConcurrentCuckooFilter::from_bytes(&file), none);
    }
}

#[test]
fn what_has_come_of_a_file_is_kept() {
    let file = half_doubled().to_bytes();
    let header = FileHeader::from_bytes(&file).expect("a header");
    let arriving = || {
        let mut arriving = Arriving::new(&header, None).expect("its hash");
        arriving.take(&file[FileHeader::MIN_SIZE..]).expect("memory");
        arriving
    };
    refuse_each(arriving, Arriving::finish, |arriving| self::file(arriving.parts().concat()));
}

#[test]
fn files_of_all_kinds_are_read_with_what_they_keep() {
    let builder = CuckooFilter::builder().capacity(1000).false_positive_rate(0.001);
    let set = builder.clone().for_kind::<CuckooSet>().build().expect("memory").to_bytes();
    refuse_each(|| (), |()| CuckooSet::from_bytes(&set), none);
    let map = builder.clone().for_kind::<CuckooMap<u8>>().build().expect("memory").to_bytes();
    refuse_each(|| (), |()| CuckooMap::<u8>::read_from(&map[..]), none);
    let counting = builder.for_kind::<CountingCuckooFilter>().build().expect("memory").to_bytes();
    refuse_each(|| (), |()| CountingCuckooFilter::from_bytes(&counting), none);
}

/// Of a file on disk, the path is given to the system in memory that is taken for it.
#[cfg(feature = "files")]
#[test]
fn files_are_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("seen.guira");
    holding(fixed(), 0..500).save(&path).expect("it is saved");
    refuse_each(|| (), |()| CuckooFilter::open(&path), none);
}

#[test]
fn sets_grow_and_are_merged() {
    let builder = CuckooSet::builder().capacity(100).max_capacity(10_000).false_positive_rate(0.001);
    let empty = || builder.build().expect("memory");
    let insert = |set: &mut CuckooSet, key: u64| set.insert(&key).map(|_is_new| ());
    let look = |set: &CuckooSet| file(set.to_bytes());
    refuse_each_of_insertion(empty, insert, CuckooSet::size_in_bytes, true, look, |set, key| set.contains(&key));
    let mut other = empty();
    (0..400).for_each(|key| insert(&mut other, key).expect("it grows"));
    refuse_each(empty, |set| set.merge(&other), look);
}

#[test]
fn maps_grow_and_are_merged() {
    let builder = CuckooMap::<u8>::builder().capacity(100).max_capacity(10_000).false_positive_rate(0.001);
    let empty = || builder.build().expect("memory");
    let insert = |map: &mut CuckooMap<u8>, key: u64| map.insert(&key, 7);
    let look = |map: &CuckooMap<u8>| file(map.to_bytes());
    refuse_each_of_insertion(empty, insert, CuckooMap::size_in_bytes, true, look, |map, key| map.contains_key(&key));
    let mut other = empty();
    (0..400).for_each(|key| insert(&mut other, key).expect("it grows"));
    refuse_each(empty, |map| map.merge(&other), look);
}

#[test]
fn counting_filters_grow_and_are_merged() {
    let builder = CountingCuckooFilter::builder().capacity(100).max_capacity(10_000).false_positive_rate(0.001);
    let empty = || builder.build().expect("memory");
    let insert = |filter: &mut CountingCuckooFilter, key: u64| filter.insert(&key);
    let size = CountingCuckooFilter::size_in_bytes;
    let look = |filter: &CountingCuckooFilter| file(filter.to_bytes());
    refuse_each_of_insertion(empty, insert, size, true, look, |filter, key| filter.contains(&key));
    let mut other = empty();
    (0..400).for_each(|key| insert(&mut other, key).expect("it grows"));
    refuse_each(empty, |filter| filter.merge(&other), look);
}

#[test]
fn expiring_filters_make_room_and_grow() {
    let builder = ExpiringCuckooFilter::builder().capacity(1000).false_positive_rate(0.001).lifetime(60);
    let insert = |filter: &mut ExpiringCuckooFilter, key: u64| filter.insert(&key);
    let size = ExpiringCuckooFilter::size_in_bytes;
    let look = |filter: &ExpiringCuckooFilter| file(filter.to_bytes());
    let holds = |filter: &ExpiringCuckooFilter, key: u64| filter.contains(&key);
    refuse_each_of_insertion(|| builder.build().expect("memory"), insert, size, false, look, holds);
    let growing = builder.max_capacity(100_000);
    refuse_each_of_insertion(|| growing.build().expect("memory"), insert, size, true, look, holds);
}

#[test]
fn shared_filters_make_room_and_grow() {
    let shared = |filter: CuckooFilter| ConcurrentCuckooFilter::try_from(filter).expect("memory");
    let insert = |filter: &mut ConcurrentCuckooFilter, key: u64| filter.insert(&key);
    let size = ConcurrentCuckooFilter::size_in_bytes;
    let holds = |filter: &ConcurrentCuckooFilter, key: u64| filter.contains(&key);
    refuse_each_of_insertion(|| shared(fixed()), insert, size, false, of_shared, holds);
    refuse_each_of_insertion(|| shared(growing(100)), insert, size, true, of_shared, holds);
    // A table that is doubled in steps may be so afterwards; then it is a larger one, and nothing is stored or lost.
    let begun = |filter: &ConcurrentCuckooFilter| {
        let keys = (0..100_000_u64).filter(|key| filter.contains(key)).count();
        (of_shared(filter).0, keys >= filter.len())
    };
    refuse_each_of_insertion(|| shared(growing(50_000)), insert, size, true, begun, holds);
    refuse_each(|| shared(holding(growing(100), 0..100)), |filter| filter.reserve(10_000), of_shared);
}

#[test]
fn shared_filters_are_made_and_copied() {
    for make in [half_doubled, || holding(growing(100), 0..100), || holding(fixed(), 0..500)] {
        let filter = make();
        refuse_each(
            || Some(filter.clone()),
            |filter| ConcurrentCuckooFilter::try_from(filter.take().expect("one")),
            none,
        );
        let shared = ConcurrentCuckooFilter::try_from(filter).expect("memory");
        refuse_each(|| (), |()| shared.snapshot(), |()| of_shared(&shared));
    }
    // In the midst of a doubling.
    let shared = ConcurrentCuckooFilter::try_from(growing(50_000)).expect("memory");
    let size = shared.size_in_bytes();
    let key = (0_u64..).find(|key| shared.insert(key).is_ok() && shared.size_in_bytes() > size);
    assert!(key.is_some());
    refuse_each(|| (), |()| shared.snapshot(), |()| of_shared(&shared));
}

#[test]
fn shared_filters_whose_keys_expire_are_made_and_copied() {
    let builder = ExpiringCuckooFilter::builder().capacity(1000).false_positive_rate(0.001).lifetime(60);
    let mut filter = builder.build().expect("memory");
    filter.try_extend(0..500_u64).expect("there is room");
    refuse_each(
        || Some(filter.clone()),
        |filter| ConcurrentExpiringCuckooFilter::try_from(filter.take().expect("one")),
        none,
    );
    let shared = ConcurrentExpiringCuckooFilter::try_from(filter).expect("memory");
    refuse_each(|| (), |()| shared.snapshot(), |()| (shared.len(), file(shared.to_bytes())));
}
