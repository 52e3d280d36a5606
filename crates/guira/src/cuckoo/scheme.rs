//! The schemes: all supported pairs of an addressing and a layout.

use core::ops::Range;

use super::blocks::{BLOCK, LocatedBlock};
use super::operations::{Contains, Operations};
use super::planned::{Once, Planned};
use super::{CuckooTable, NoRoom};
use crate::addressing::{
    Addressing, AnySize, BucketIndex, DaryAddressing, DoublingAddressing, Fingerprint, LongAddressing,
    PowerOfTwoAddressing, RegionalAddressing, Size65536,
};
use crate::digest::Digest;
use crate::parameters::{self, Parameters};
use crate::table::{AnyFingerprintBits, AnyWidths, Fits, Layout, ValuedWidths};

/// An addressing and a layout with all their numbers. It has no memory of its own, and works on any that it is given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scheme {
    pub(crate) pair: Pair,
    operations: &'static Operations,
    /// Algorithm 2 for this scheme, beside the operations so that it is reached in one step.
    contains: Contains,
    pub(crate) planned: Planned,
    /// Whether the pair is [`Pair::DoublingNarrow`]. Asking for the pair itself is a jump through a table of all pairs that lookups
    /// are compiled for, which takes up to 13 instructions more.
    is_doubling_narrow: bool,
}

/// A pair whose addressing and layout are of these types. Each two of them are those of one pair.
pub(crate) trait PairOf<A, L> {
    fn parts(&self) -> (&A, &L);
}

/// Defines the pairs, each by its addressing and by its layout with the widths, in a group for each kind of table.
macro_rules! pairs {
    ($($group:ident { $($name:ident: $addressing:ty, $layout:ty;)* })*) => {
        /// An addressing and a layout.
        ///
        /// The discriminant has a byte of its own. The compiler would hide it in a field, where finding it takes seven
        /// instructions.
        #[derive(Clone, Copy, Debug)]
        #[repr(u8)]
        pub(crate) enum Pair {
            $($($name($addressing, $layout),)*)*
        }

        /// Evaluates an expression with the cuckoo table of a scheme: `over` memory to read, `over_mut` bytes to write, or, in schemes
        /// of the group `packed` or `valued` only, over memory of any kind. Or evaluates it with the addressing and the layout of
        /// a pair.
        macro_rules! with_table {
            $(($scheme:expr, $group($memory:expr), $table:ident => $body:expr) => {
                match &$scheme.pair {
                    $($crate::cuckoo::Pair::$name(addressing, widths) => {
                        let slots = $crate::table::PackedTable::new(*widths, $memory);
                        #[allow(unused_mut, reason = "some expressions write")]
                        let mut $table = $crate::cuckoo::CuckooTable { addressing: *addressing, slots };
                        $body
                    })*
                    _ => unreachable!("a filter of this kind has no such table"),
                }
            };)*
            ($scheme:expr, $over:ident($memory:expr), $table:ident => $body:expr) => {
                $crate::cuckoo::with_table!(&$scheme.pair, (addressing, layout) => {
                    let (addressing, slots) = (*addressing, $crate::table::Layout::$over(*layout, $memory));
                    #[allow(unused_mut, reason = "some expressions write")]
                    let mut $table = $crate::cuckoo::CuckooTable { addressing, slots };
                    $body
                })
            };
            ($pair:expr, ($a:ident, $l:ident) => $body:expr) => {
                match $pair {
                    $($($crate::cuckoo::Pair::$name($a, $l) => $body,)*)*
                }
            };
        }

        $($(impl PairOf<$addressing, $layout> for Pair {
            #[inline(always)]
            fn parts(&self) -> (&$addressing, &$layout) {
                match self {
                    Self::$name(addressing, layout) => (addressing, layout),
                    _ => unreachable!("functions that were chosen for this pair"),
                }
            }
        })*)*
    };
}

// "Narrow" buckets fit a 64-bit word wherever they start in their byte, and those of "bytes" start at one; "wide" ones need
// 128 bits, or several words. "Aligned" regions have 2^16 buckets. "Long" fingerprints take more than the low half of a digest.
pairs! {
    packed {
        AlignedBytes: RegionalAddressing<Size65536>, AnyWidths<u64, true>;
        AlignedNarrow: RegionalAddressing<Size65536>, AnyWidths<u64>;
        RegionalBytes: RegionalAddressing, AnyWidths<u64, true>;
        RegionalNarrow: RegionalAddressing, AnyWidths<u64>;
        RegionalWide: RegionalAddressing, AnyWidths<u128>;
        RegionalLong: LongAddressing, AnyWidths<u128>;
        DoublingNarrow: DoublingAddressing, AnyWidths<u64>;
        DoublingWide: DoublingAddressing, AnyWidths<u128>;
        DoublingLong: DoublingAddressing<true>, AnyWidths<u128>;
        PowerOfTwoNarrow: PowerOfTwoAddressing, AnyWidths<u64>;
        PowerOfTwoWide: PowerOfTwoAddressing, AnyWidths<u128>;
        TernaryNarrow: DaryAddressing<3>, AnyWidths<u64>;
        TernaryWide: DaryAddressing<3>, AnyWidths<u128>;
        QuaternaryNarrow: DaryAddressing<4>, AnyWidths<u64>;
        QuaternaryWide: DaryAddressing<4>, AnyWidths<u128>;
    }
    semi_sorted {
        AlignedSemiSorted: RegionalAddressing<Size65536>, AnyFingerprintBits<u64>;
        RegionalSemiSortedNarrow: RegionalAddressing, AnyFingerprintBits<u64>;
        RegionalSemiSortedWide: RegionalAddressing, AnyFingerprintBits<u128>;
        PowerOfTwoSemiSortedNarrow: PowerOfTwoAddressing, AnyFingerprintBits<u64>;
        PowerOfTwoSemiSortedWide: PowerOfTwoAddressing, AnyFingerprintBits<u128>;
    }
    valued {
        ValuedNarrow: RegionalAddressing, ValuedWidths<AnyWidths<u64>>;
        ValuedWide: RegionalAddressing, ValuedWidths<AnyWidths<u128>>;
        ValuedLong: LongAddressing, ValuedWidths<AnyWidths<u128>>;
        DoublingValuedNarrow: DoublingAddressing, ValuedWidths<AnyWidths<u64>>;
        DoublingValuedWide: DoublingAddressing, ValuedWidths<AnyWidths<u128>>;
        DoublingValuedLong: DoublingAddressing<true>, ValuedWidths<AnyWidths<u128>>;
    }
}

#[expect(clippy::single_component_path_imports, reason = "other files need it by path")]
pub(crate) use with_table;

impl Pair {
    /// The pair of filters with these parameters.
    fn new(parameters: &Parameters, seed: u64) -> Self {
        use parameters::Addressing::{Doubling, PowerOfTwo, Quaternary, Regional, Ternary};
        use parameters::Layout::{Packed, SemiSorted};

        let any_size = || AnySize::new(parameters.buckets_per_region());
        let regional = || RegionalAddressing::new(parameters, any_size(), seed);
        let aligned = || RegionalAddressing::new(parameters, Size65536, seed);
        // Such fingerprints are in packed tables with regional or doubling addressing alone, and read in words of 128 bits.
        let is_long = parameters.has_long_fingerprints();
        let long = || LongAddressing::new(parameters, regional());
        let is_aligned = parameters.buckets_per_region() == Size65536::BUCKETS;
        let doubling = || DoublingAddressing::<false>::new(parameters, seed);
        let power_of_two = || PowerOfTwoAddressing::new(parameters, seed);
        let wide = || AnyWidths::fitting(parameters).expect(FITS);
        if parameters.value_bits() > 0 {
            let wide = || ValuedWidths::fitting(parameters).expect(FITS);
            return match parameters.addressing() {
                Doubling if is_long => Self::DoublingValuedLong(DoublingAddressing::new(parameters, seed), wide()),
                _ if is_long => Self::ValuedLong(long(), wide()),
                Doubling => narrowest(parameters, doubling(), Self::DoublingValuedNarrow, Self::DoublingValuedWide),
                _ => narrowest(parameters, regional(), Self::ValuedNarrow, Self::ValuedWide),
            };
        }
        match (parameters.layout(), parameters.addressing()) {
            (_, Doubling) if is_long => Self::DoublingLong(DoublingAddressing::new(parameters, seed), wide()),
            _ if is_long => Self::RegionalLong(long(), wide()),
            (Packed, Regional) if is_aligned => {
                match (AnyWidths::fitting(parameters), AnyWidths::fitting(parameters)) {
                    (Some(widths), _) => Self::AlignedBytes(aligned(), widths),
                    (None, Some(widths)) => Self::AlignedNarrow(aligned(), widths),
                    (None, None) => Self::RegionalWide(regional(), wide()),
                }
            }
            (Packed, Regional) => match AnyWidths::fitting(parameters) {
                Some(widths) => Self::RegionalBytes(regional(), widths),
                None => narrowest(parameters, regional(), Self::RegionalNarrow, Self::RegionalWide),
            },
            (Packed, PowerOfTwo) => narrowest(parameters, power_of_two(), Self::PowerOfTwoNarrow, Self::PowerOfTwoWide),
            (Packed, Doubling) => narrowest(parameters, doubling(), Self::DoublingNarrow, Self::DoublingWide),
            (Packed, Ternary) => {
                narrowest(parameters, DaryAddressing::new(parameters, seed), Self::TernaryNarrow, Self::TernaryWide)
            }
            (Packed, Quaternary) => {
                let addressing = DaryAddressing::new(parameters, seed);
                narrowest(parameters, addressing, Self::QuaternaryNarrow, Self::QuaternaryWide)
            }
            (SemiSorted, PowerOfTwo) => {
                let (narrow, wide) = (Self::PowerOfTwoSemiSortedNarrow, Self::PowerOfTwoSemiSortedWide);
                narrowest(parameters, power_of_two(), narrow, wide)
            }
            (SemiSorted, _) => match AnyFingerprintBits::fitting(parameters).filter(|_| is_aligned) {
                Some(bits) => Self::AlignedSemiSorted(aligned(), bits),
                None => {
                    let (narrow, wide) = (Self::RegionalSemiSortedNarrow, Self::RegionalSemiSortedWide);
                    narrowest(parameters, regional(), narrow, wide)
                }
            },
        }
    }
}

/// The pair of an addressing and the narrowest words that fit.
fn narrowest<A, N: Fits, W: Fits>(
    parameters: &Parameters,
    addressing: A,
    narrow: fn(A, N) -> Pair,
    wide: fn(A, W) -> Pair,
) -> Pair {
    match N::fitting(parameters) {
        Some(widths) => narrow(addressing, widths),
        None => wide(addressing, W::fitting(parameters).expect(FITS)),
    }
}

/// What can't fail with the widest words.
const FITS: &str = "all buckets fit some words";

impl Scheme {
    /// The scheme of filters with these parameters.
    pub(crate) fn new(parameters: &Parameters, seed: u64) -> Self {
        Self::of(Pair::new(parameters, seed), parameters, seed)
    }

    fn of(pair: Pair, parameters: &Parameters, seed: u64) -> Self {
        let planned = Planned::new(parameters, seed);
        let is_doubling_narrow = matches!(pair, Pair::DoublingNarrow(..));
        let operations = Operations::of(&pair, &planned);
        Self { pair, operations, contains: operations.contains, planned, is_doubling_narrow }
    }

    /// Algorithm 2.
    #[inline(always)]
    pub(crate) fn contains(&self, bytes: &[u8], digest: Digest) -> bool {
        match self.contains_planned(bytes, digest, false) {
            Some(found) => found,
            None => self.contains_elsewhere(bytes, digest),
        }
    }

    /// Algorithm 2 for the pairs that are planned by default, and `None` for all others. `is_doubling` says whether `bytes`
    /// are only one of two tables, which is not looked up here either.
    #[inline(always)]
    pub(crate) fn contains_planned(&self, bytes: &[u8], digest: Digest, is_doubling: bool) -> Option<bool> {
        if self.is_doubling_narrow
            && !is_doubling
            && let Pair::DoublingNarrow(addressing, layout) = &self.pair
        {
            return Some(contains(addressing, layout, bytes, digest));
        }
        self.planned.look(bytes, digest, Once)
    }

    /// Algorithm 2 for any pair.
    #[inline]
    pub(crate) fn contains_elsewhere(&self, bytes: &[u8], digest: Digest) -> bool {
        (self.contains)(self, bytes, digest)
    }

    /// How many copies of a key's fingerprint are stored.
    pub(crate) fn count(&self, bytes: &[u8], digest: Digest) -> u32 {
        with_table!(self, over(bytes), table => table.count(digest))
    }

    /// The fingerprint of a key and the lowest of its candidate buckets, which are equal for those keys whose copies can't be told apart.
    pub(crate) fn id_of_copies(&self, digest: Digest) -> (Fingerprint, BucketIndex) {
        with_table!(&self.pair, (addressing, _layout) => {
            let located = addressing.locate(digest);
            let buckets = addressing.distinct_buckets(located);
            (located.fingerprint, buckets.min().unwrap_or(located.primary.bucket()))
        })
    }

    /// Algorithm 1: see [`CuckooTable::insert`].
    #[inline]
    pub(crate) fn insert(&self, bytes: &mut [u8], digest: Digest) -> Result<(), NoRoom> {
        let is_stored = (self.operations.fill)(self, bytes, digest);
        if is_stored { Ok(()) } else { self.insert_by_relocation(bytes, digest) }
    }

    #[cold]
    #[inline(never)]
    fn insert_by_relocation(&self, bytes: &mut [u8], digest: Digest) -> Result<(), NoRoom> {
        (self.operations.relocate)(&self.pair, bytes, digest)
    }

    /// Algorithm 3: see [`CuckooTable::remove`].
    #[inline(always)]
    pub(crate) fn remove(&self, bytes: &mut [u8], digest: Digest) -> bool {
        match self.planned.remove(bytes, digest) {
            Some(is_removed) => is_removed,
            None => self.remove_elsewhere(bytes, digest),
        }
    }

    /// Algorithm 3 for any pair.
    #[inline]
    pub(crate) fn remove_elsewhere(&self, bytes: &mut [u8], digest: Digest) -> bool {
        (self.operations.remove)(self, bytes, digest)
    }

    /// See [`CuckooTable::prefetch_each`].
    #[inline]
    pub(crate) fn prefetch_each(&self, bytes: &[u8], digests: &[Digest]) {
        (self.operations.prefetch)(&self.pair, bytes, digests);
    }

    /// See [`CuckooTable::look_up`].
    #[inline]
    pub(crate) fn look_up(&self, bytes: &[u8], digests: &[Digest; BLOCK], answers: &mut [bool]) {
        (self.operations.look_up)(&self.pair, bytes, digests, answers);
    }

    /// See [`CuckooTable::contains_many_into`].
    #[inline]
    pub(crate) fn answer(&self, bytes: &[u8], located: &LocatedBlock, next: &LocatedBlock, answers: &mut [bool]) {
        (self.operations.answer)(&self.pair, bytes, located, next, answers);
    }

    /// Stores the keys of a block, from a number on, that are not found, and says which were stored; the block behind it is
    /// prefetched. It ends before the first key that is refused. Returns the number of that key, or that of all keys.
    pub(crate) fn insert_absent(
        &self,
        bytes: &mut [u8],
        digests: &[Digest; BLOCK],
        located: [&LocatedBlock; 2],
        stored: &mut [bool],
    ) -> usize {
        let mut done = 0;
        loop {
            done = (self.operations.fill_absent)(&self.pair, bytes, done, located, stored);
            if done == stored.len() || self.insert_by_relocation(bytes, digests[done]).is_err() {
                return done;
            }
            done += 1;
        }
    }

    /// See [`CuckooTable::occupied_if_well_formed`].
    pub(crate) fn occupied_if_well_formed(&self, bytes: &[u8], buckets: Range<u64>, knows_seed: bool) -> Option<u64> {
        with_table!(self, over(bytes), table => table.occupied_if_well_formed(buckets, knows_seed))
    }

    /// Whether a slot is filled in any of these buckets and in the one behind it, in a packed table.
    pub(crate) fn share_slots(&self, bytes: &[u8], mut firsts: impl Iterator<Item = u64>) -> bool {
        with_table!(self, packed(bytes), table => firsts.any(|first| {
            let first = BucketIndex::new(first);
            let contents = |bucket| table.slots.contents(bucket).map(|(_, content)| content);
            contents(first).zip(contents(first.following())).any(|(one, other)| (one != 0) & (other != 0))
        }))
    }

    /// See [`CuckooTable::has_no_copies`].
    pub(crate) fn has_no_copies(&self, bytes: &[u8]) -> bool {
        with_table!(self, over(bytes), table => table.has_no_copies())
    }

    /// See [`CuckooTable::remove_copies`].
    pub(crate) fn remove_copies(&self, bytes: &mut [u8]) -> usize {
        with_table!(self, over_mut(bytes), table => table.remove_copies())
    }
}

/// Algorithm 2 for one addressing and one layout.
#[inline(always)]
fn contains<A: Addressing, L: Layout>(addressing: &A, layout: &L, bytes: &[u8], digest: Digest) -> bool {
    CuckooTable { addressing: *addressing, slots: layout.over(bytes) }.contains(digest)
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::parameters::{Addressing::Regional, Regions, Shape};

    /// Each kind of regions with buckets that start at a byte, with others, and with ones that are read in halves: to the full table, so
    /// that most keys find one of their buckets full, and some both; and then some of them are removed.
    #[test]
    fn tables_that_are_planned_by_default_are_filled_and_emptied_as_any_others() {
        let aligned = Regions { count: 2, buckets: Size65536::BUCKETS };
        let (single, several) = (Regions { count: 1, buckets: 301 }, Regions { count: 3, buckets: 98 });
        let widths = [(3, 16), (3, 19), (4, 12), (4, 13), (4, 15), (4, 17), (4, 28), (8, 8), (8, 13), (8, 14)];
        for (regions, (slots, fingerprint_bits)) in
            [aligned, single, several].into_iter().flat_map(|regions| widths.map(|widths| (regions, widths)))
        {
            let shape = Shape::new(parameters::Layout::Packed, Regional, slots).expect("there is such a table");
            let parameters = Parameters::new(shape, fingerprint_bits, regions, 0).expect("valid");
            let scheme = Scheme::new(&parameters, 7);
            let table = || vec![0; usize::try_from(parameters.table_size()).expect("small")];
            let (mut planned, mut general) = (table(), table());
            let case = format!("{regions:?}, {slots} slots of {fingerprint_bits} bits");
            let digests =
                || (1..=parameters.slot_count()).map(|number| Digest::new(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            let mut refused = 0;
            for digest in digests() {
                let is_stored = (scheme.operations.fill)(&scheme, &mut planned, digest);
                with_table!(scheme, over_mut(&mut general[..]), table => {
                    assert_eq!(table.fill(table.addressing.locate(digest)).is_some(), is_stored, "{case}");
                });
                refused += u32::from(!is_stored);
            }
            assert!(refused > 0 && planned == general, "{case}: {refused} refused");
            for digest in digests().step_by(3) {
                let is_removed = scheme.remove(&mut planned, digest);
                with_table!(scheme, over_mut(&mut general[..]), table => {
                    assert_eq!(table.remove(digest), is_removed, "{case}");
                });
            }
            assert!(planned == general, "{case}");
        }
    }

    /// What the planner takes for the words of a bucket is how it is read.
    #[test]
    fn buckets_that_their_parameters_say_fit_one_word_are_read_in_one() {
        for slots in parameters::Layout::Packed.bucket_sizes() {
            let shape = Shape::new(parameters::Layout::Packed, Regional, *slots).expect("there is such a table");
            for bits in Parameters::MIN_FINGERPRINT_BITS..=Parameters::MAX_FINGERPRINT_BITS {
                let parameters = Parameters::new(shape, bits, Regions::single(10), 0).expect("valid");
                let pair = Pair::new(&parameters, 7);
                let in_one = matches!(pair, Pair::RegionalBytes(..) | Pair::RegionalNarrow(..));
                assert_eq!(parameters.words_of_bucket() == 1, in_one, "{slots} slots of {bits} bits");
            }
        }
    }

    #[test]
    fn what_is_inserted_in_aligned_regions_is_removed_in_regions_of_any_size() {
        let regions = Regions { count: 2, buckets: Size65536::BUCKETS };
        for (layout, bits) in [(parameters::Layout::Packed, 12), (parameters::Layout::SemiSorted, 13)] {
            let shape = Shape::new(layout, Regional, 4).expect("there is such a table");
            let parameters = Parameters::new(shape, bits, regions, 0).expect("valid");
            let aligned = Scheme::new(&parameters, 7);
            let any_size = RegionalAddressing::new(&parameters, AnySize::new(Size65536::BUCKETS), 7);
            let pair = match aligned.pair {
                Pair::AlignedBytes(_, widths) => Pair::RegionalBytes(any_size, widths),
                Pair::AlignedSemiSorted(_, bits) => Pair::RegionalSemiSortedNarrow(any_size, bits),
                other => panic!("not aligned: {other:?}"),
            };
            let regional = Scheme::of(pair, &parameters, 7);
            let mut bytes = vec![0; usize::try_from(parameters.table_size()).expect("small")];
            let digests = (1..2000u64).map(|number| Digest::new(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            for digest in digests.clone() {
                assert_eq!(aligned.insert(&mut bytes, digest), Ok(()));
                assert!(aligned.contains(&bytes, digest) && regional.contains(&bytes, digest), "{layout:?}");
                assert_eq!(aligned.count(&bytes, digest), regional.count(&bytes, digest));
            }
            for digest in digests {
                assert!(regional.remove(&mut bytes, digest), "{layout:?}: a key was lost");
            }
            assert!(bytes.iter().all(|&byte| byte == 0), "{layout:?}");
        }
    }
}
