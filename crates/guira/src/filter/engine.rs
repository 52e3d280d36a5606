//! Algorithms 1 to 3 of the paper, over one addressing and one layout.

use core::ops::Deref;

use crate::addressing::{
    Addressing, BucketIndex, Candidate, DaryAddressing, DoublingAddressing, Fingerprint, PowerOfTwoAddressing,
    RegionalAddressing, WindowedAddressing,
};
use crate::cast::in_memory;
use crate::digest::Digest;
use crate::error::InsertError;
use crate::parameters::Parameters;
use crate::relocation::{Search, SingleMove};
use crate::table::{OwnedTable, PackedTable, Place, SemiSortedTable, Storage, StoredTable, Table, TableMut, Vacancy};

/// A table with the rule by which its fingerprints are placed.
#[derive(Clone, Debug)]
pub(crate) struct Nest<A, T> {
    pub(crate) addressing: A,
    pub(crate) table: T,
}

/// Why there was no room; in the terms of the public [`InsertError`](crate::InsertError), which has the numbers too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    Full,
    TooManyCopies { copies: u32 },
}

impl NoRoom {
    /// The error that users see, of a filter that holds `len` fingerprints.
    pub(crate) const fn as_error(self, len: usize, parameters: &Parameters) -> InsertError {
        match self {
            Self::Full => InsertError::Full {
                len,
                capacity: in_memory(parameters.capacity()),
                slot_count: in_memory(parameters.slot_count()),
            },
            Self::TooManyCopies { copies } => InsertError::TooManyCopies { copies: in_memory(copies as u64) },
        }
    }
}

impl<A: Addressing, T: Table> Nest<A, T> {
    /// Algorithm 2.
    #[inline]
    pub(crate) fn contains(&self, digest: Digest) -> bool {
        let (fingerprint, primary) = self.addressing.locate(digest);
        self.contains_located(fingerprint, primary)
    }

    /// The same for a fingerprint and any of its candidates.
    #[inline]
    pub(crate) fn contains_located(&self, fingerprint: Fingerprint, primary: Candidate) -> bool {
        let mut candidate = primary;
        let mut found = self.table.contains(primary.bucket(), fingerprint);
        for _ in 1..A::CANDIDATES {
            candidate = self.addressing.alternate(candidate, fingerprint);
            // Not `||`: both buckets are on their way from memory at once, and no branch has to be guessed.
            found |= self.table.contains(candidate.bucket(), fingerprint);
        }
        found
    }

    /// How many copies of a key's fingerprint its candidate buckets hold.
    #[inline]
    pub(crate) fn count(&self, digest: Digest) -> u32 {
        let (fingerprint, primary) = self.addressing.locate(digest);
        self.copies(fingerprint, primary)
    }

    /// How many copies of a fingerprint its candidate buckets hold, given any of them.
    #[inline]
    pub(crate) fn copies(&self, fingerprint: Fingerprint, candidate: Candidate) -> u32 {
        let candidates = self.addressing.distinct_candidates(candidate, fingerprint);
        candidates.map(|candidate| self.table.count(candidate.bucket(), fingerprint)).sum()
    }

    /// The empty slot that a fingerprint goes to, if a candidate has one.
    #[inline]
    pub(crate) fn vacant_place(&self, fingerprint: Fingerprint, primary: Candidate) -> Option<Place> {
        // The emptiest candidate, not the first one with room: buckets then fill evenly, and a full pair is met later.
        let mut best: Option<(Vacancy, BucketIndex)> = None;
        let mut candidate = primary;
        for number in 0..A::CANDIDATES {
            if let Some(vacancy) = self.table.vacancy(candidate.bucket())
                && best.as_ref().is_none_or(|(best, _)| vacancy.fullness < best.fullness)
            {
                best = Some((vacancy, candidate.bucket()));
            }
            if number + 1 < A::CANDIDATES {
                candidate = self.addressing.alternate(candidate, fingerprint);
            }
        }
        best.map(|(vacancy, bucket)| Place { bucket, slot: vacancy.slot })
    }

    /// The first slot that holds a copy of a fingerprint.
    #[inline]
    pub(crate) fn place_of(&self, fingerprint: Fingerprint, primary: Candidate) -> Option<Place> {
        let mut candidate = primary;
        for _ in 0..A::CANDIDATES {
            let bucket = candidate.bucket();
            if let Some(slot) = self.table.slot_of(bucket, fingerprint) {
                return Some(Place { bucket, slot });
            }
            candidate = self.addressing.alternate(candidate, fingerprint);
        }
        None
    }

    /// The fingerprints of a group of slots, with the bucket each is in. The groups are the buckets, or where these
    /// overlap the windows that follow one another without a gap.
    pub(crate) fn stored_in(
        &self,
        group: u64,
        parameters: &Parameters,
    ) -> impl Iterator<Item = (BucketIndex, Fingerprint)> {
        let bucket = self.group(group, parameters);
        self.table.filled_slots(bucket.bucket()).map(move |(number, _, fingerprint)| {
            (self.addressing.window_of(bucket, number, fingerprint).bucket(), fingerprint)
        })
    }

    /// How many slots are not empty.
    pub(crate) fn occupied_slots(&self, parameters: &Parameters) -> u64 {
        let empty_slots = |bucket| u64::from(self.table.empty_slots(bucket));
        parameters.slot_count() - self.groups(parameters).map(empty_slots).sum::<u64>()
    }

    /// Whether all bits are such that some fingerprints give, each where it can have got.
    pub(crate) fn is_well_formed(&self, parameters: &Parameters) -> bool {
        (0..Self::group_count(parameters)).all(|group| {
            let bucket = self.group(group, parameters);
            let mut filled = self.table.filled_slots(bucket.bucket());
            self.table.is_well_formed(bucket.bucket())
                && (!A::SELECTIVE
                    || filled.all(|(number, _, fingerprint)| self.addressing.may_hold(bucket, number, fingerprint)))
        })
    }

    /// The candidate that a bucket of the table is.
    pub(crate) fn candidate(&self, bucket: BucketIndex, parameters: &Parameters) -> Candidate {
        let groups_per_region = parameters.slots_per_region() / u64::from(parameters.slots_per_bucket());
        let span = groups_per_region * self.group_step(parameters);
        let offset = bucket.get() % span;
        Candidate { region_start: bucket.get() - offset, offset }
    }

    /// Whether every fingerprint is stored once.
    pub(crate) fn has_no_copies(&self, parameters: &Parameters) -> bool {
        (0..Self::group_count(parameters)).all(|group| self.place_of_copy(group, parameters).is_none())
    }

    /// A slot of a group whose fingerprint has further copies.
    fn place_of_copy(&self, group: u64, parameters: &Parameters) -> Option<Place> {
        let bucket = self.group(group, parameters);
        let mut filled = self.table.filled_slots(bucket.bucket());
        let copy = filled.find(|&(number, _, fingerprint)| {
            self.copies(fingerprint, self.addressing.window_of(bucket, number, fingerprint)) > 1
        });
        copy.map(|(_, slot, _)| Place { bucket: bucket.bucket(), slot })
    }

    /// All slots of the table.
    pub(crate) fn places(&self, parameters: &Parameters) -> impl Iterator<Item = Place> {
        self.groups(parameters).flat_map(|bucket| self.table.slots().map(move |slot| Place { bucket, slot }))
    }

    /// The bucket that a group of slots is, or the first window in it.
    fn group(&self, group: u64, parameters: &Parameters) -> Candidate {
        let groups_per_region = parameters.slots_per_region() / u64::from(parameters.slots_per_bucket());
        let step = self.group_step(parameters);
        let region_start = group / groups_per_region * groups_per_region * step;
        Candidate { region_start, offset: group % groups_per_region * step }
    }

    fn group_count(parameters: &Parameters) -> u64 {
        parameters.slot_count() / u64::from(parameters.slots_per_bucket())
    }

    fn groups(&self, parameters: &Parameters) -> impl Iterator<Item = BucketIndex> + use<A, T> {
        let step = self.group_step(parameters);
        (0..Self::group_count(parameters)).map(move |group| BucketIndex::new(group * step))
    }

    /// The indices from one group to the next.
    fn group_step(&self, parameters: &Parameters) -> u64 {
        if A::OVERLAPPING { u64::from(parameters.slots_per_bucket()) } else { 1 }
    }
}

impl<A: Addressing, T: TableMut> Nest<A, T> {
    /// Algorithm 1, but that it moves nothing unless it succeeds. Where the fingerprint was put; in a semi-sorted bucket
    /// it may be in another slot by then.
    #[inline]
    pub(crate) fn insert(&mut self, digest: Digest, search: &mut Search) -> Result<Place, NoRoom> {
        let (fingerprint, primary) = self.addressing.locate(digest);
        self.insert_located(fingerprint, primary, search)
    }

    /// The same for a table that is only the key's region.
    #[inline]
    pub(crate) fn insert_into_region(&mut self, digest: Digest, search: &mut Search) -> Result<Place, NoRoom> {
        let (fingerprint, primary) = self.addressing.locate(digest);
        self.insert_located(fingerprint, Candidate { region_start: 0, ..primary }, search)
    }

    /// The same for a fingerprint and any of its candidates.
    #[inline]
    pub(crate) fn insert_located(
        &mut self,
        fingerprint: Fingerprint,
        primary: Candidate,
        search: &mut Search,
    ) -> Result<Place, NoRoom> {
        if let Some(place) = self.vacant_place(fingerprint, primary) {
            self.table.set(place.bucket, place.slot, Some(fingerprint));
            return Ok(place);
        }
        self.insert_by_relocation(fingerprint, primary, search)
    }

    #[cold]
    #[inline(never)]
    fn insert_by_relocation(
        &mut self,
        fingerprint: Fingerprint,
        primary: Candidate,
        search: &mut Search,
    ) -> Result<Place, NoRoom> {
        let candidates = || self.addressing.distinct_candidates(primary, fingerprint);
        // Nine times in ten one move is enough, and is found without a queue.
        if let Some(single) = SingleMove::find(&self.addressing, &self.table, candidates()) {
            return Ok(single.apply(&mut self.table, fingerprint));
        }
        if let Some(path) = search.find(&self.addressing, &self.table, candidates()) {
            return Ok(search.apply(path, &mut self.table, fingerprint));
        }
        let (mut copies, mut only_copies) = (0, true);
        for candidate in self.addressing.distinct_candidates(primary, fingerprint) {
            let here = self.table.count(candidate.bucket(), fingerprint);
            copies += here;
            only_copies &= here as usize == self.table.slots().count();
        }
        Err(if only_copies { NoRoom::TooManyCopies { copies } } else { NoRoom::Full })
    }

    /// Leaves one of all copies of each fingerprint; how many were removed.
    pub(crate) fn remove_copies(&mut self, parameters: &Parameters) -> usize {
        let mut removed = 0;
        for group in 0..Self::group_count(parameters) {
            while let Some(Place { bucket, slot }) = self.place_of_copy(group, parameters) {
                self.table.set(bucket, slot, None);
                removed += 1;
            }
        }
        removed
    }

    /// Algorithm 3.
    #[inline]
    pub(crate) fn remove(&mut self, digest: Digest) -> bool {
        let (fingerprint, primary) = self.addressing.locate(digest);
        let place = self.place_of(fingerprint, primary);
        if let Some(Place { bucket, slot }) = place {
            self.table.set(bucket, slot, None);
        }
        place.is_some()
    }
}

impl<A: Addressing, T: StoredTable> Nest<A, T> {
    /// The nest to read in: where its bytes are is looked up here, once.
    #[inline]
    pub(crate) fn view(&self) -> Nest<A, T::View<'_>> {
        Nest { addressing: self.addressing, table: self.table.view() }
    }

    /// Algorithm 2 as a function of its own, which saves only the registers that it needs.
    #[inline(never)]
    fn contains_elsewhere(&self, digest: Digest) -> bool {
        self.view().contains(digest)
    }

    pub(crate) fn storage(&self) -> &T::Storage {
        self.table.storage()
    }
}

impl<A: Addressing, T: OwnedTable> Nest<A, T> {
    /// The nest to read and write in.
    #[inline]
    pub(crate) fn view_mut(&mut self) -> Nest<A, T::ViewMut<'_>> {
        Nest { addressing: self.addressing, table: self.table.view_mut() }
    }

    pub(crate) fn storage_mut(&mut self) -> &mut Storage {
        self.table.storage_mut()
    }
}

/// Lists the combinations of addressing and layout that there are: the type of each, and what it is made for.
macro_rules! combinations {
    ($($name:ident: $addressing:ty, $table:ty;)*) => {
        /// A table with the rule by which its fingerprints are placed, of one of the combinations. Each is compiled on
        /// its own; which one it is, is asked once per operation. That stands in a byte of its own: hidden in a field of
        /// the table, where the compiler would put it, it takes seven instructions to find.
        ///
        /// `S` keeps the bytes: memory of its own, or for the engines that only answer, bytes that belong to someone else.
        #[derive(Clone, Debug)]
        #[repr(u8)]
        pub(crate) enum Engine<S = Storage> {
            $($name(Nest<$addressing, $table>),)*
        }

        impl<S: Deref<Target = [u8]>> Engine<S> {
            /// The combination for these parameters, over as many bytes as they say.
            pub(crate) fn new(parameters: &Parameters, seed: u64, storage: S) -> Self {
                match Combination::of(parameters) {
                    $(Combination::$name => Self::$name(Nest {
                        addressing: <$addressing>::new(parameters, seed),
                        table: <$table>::over(parameters, storage),
                    }),)*
                }
            }
        }

        enum Combination {
            $($name,)*
        }

        /// Does the same with whichever combination it is.
        macro_rules! with_nest {
            ($engine:expr, $nest:ident => $body:expr) => {
                match $engine {
                    $($crate::filter::Engine::$name($nest) => $body,)*
                }
            };
        }
    };
}

// "Narrow" buckets fit a 64-bit word wherever they start in their byte; "wide" ones need 128 bits, or several words.
combinations! {
    RegionalNarrow: RegionalAddressing, PackedTable<S, u64, true>;
    RegionalWide: RegionalAddressing, PackedTable<S, u128, false>;
    RegionalSemiSortedNarrow: RegionalAddressing, SemiSortedTable<S, u64, true>;
    RegionalSemiSortedWide: RegionalAddressing, SemiSortedTable<S, u128, false>;
    PowerOfTwoNarrow: PowerOfTwoAddressing, PackedTable<S, u64, true>;
    PowerOfTwoWide: PowerOfTwoAddressing, PackedTable<S, u128, false>;
    PowerOfTwoSemiSortedNarrow: PowerOfTwoAddressing, SemiSortedTable<S, u64, true>;
    PowerOfTwoSemiSortedWide: PowerOfTwoAddressing, SemiSortedTable<S, u128, false>;
    DoublingNarrow: DoublingAddressing, PackedTable<S, u64, true>;
    DoublingWide: DoublingAddressing, PackedTable<S, u128, false>;
    TernaryNarrow: DaryAddressing<3>, PackedTable<S, u64, true>;
    TernaryWide: DaryAddressing<3>, PackedTable<S, u128, false>;
    QuaternaryNarrow: DaryAddressing<4>, PackedTable<S, u64, true>;
    QuaternaryWide: DaryAddressing<4>, PackedTable<S, u128, false>;
    Windows2Narrow: WindowedAddressing<2>, PackedTable<S, u64, true>;
    Windows2Wide: WindowedAddressing<2>, PackedTable<S, u128, false>;
    Windows3Narrow: WindowedAddressing<3>, PackedTable<S, u64, true>;
    Windows3Wide: WindowedAddressing<3>, PackedTable<S, u128, false>;
    Windows4Narrow: WindowedAddressing<4>, PackedTable<S, u64, true>;
    Windows4Wide: WindowedAddressing<4>, PackedTable<S, u128, false>;
}

#[expect(clippy::single_component_path_imports, reason = "other files need it by path")]
pub(crate) use with_nest;

impl Combination {
    fn of(parameters: &Parameters) -> Self {
        use crate::parameters::Addressing::{Doubling, PowerOfTwo, Quaternary, Regional, Ternary};
        use crate::parameters::Layout::{Packed, SemiSorted, Windowed};

        let narrow = PackedTable::<Storage, u64, true>::holds_bucket(parameters);
        match (parameters.layout(), parameters.addressing(), parameters.slots_per_bucket(), narrow) {
            (Packed, Regional, _, true) => Self::RegionalNarrow,
            (Packed, Regional, _, false) => Self::RegionalWide,
            (Packed, PowerOfTwo, _, true) => Self::PowerOfTwoNarrow,
            (Packed, PowerOfTwo, _, false) => Self::PowerOfTwoWide,
            (Packed, Doubling, _, true) => Self::DoublingNarrow,
            (Packed, Doubling, _, false) => Self::DoublingWide,
            (Packed, Ternary, _, true) => Self::TernaryNarrow,
            (Packed, Ternary, _, false) => Self::TernaryWide,
            (Packed, Quaternary, _, true) => Self::QuaternaryNarrow,
            (Packed, Quaternary, _, false) => Self::QuaternaryWide,
            (SemiSorted, PowerOfTwo, _, true) => Self::PowerOfTwoSemiSortedNarrow,
            (SemiSorted, PowerOfTwo, _, false) => Self::PowerOfTwoSemiSortedWide,
            (SemiSorted, _, _, true) => Self::RegionalSemiSortedNarrow,
            (SemiSorted, _, _, false) => Self::RegionalSemiSortedWide,
            (Windowed, _, 2, true) => Self::Windows2Narrow,
            (Windowed, _, 2, false) => Self::Windows2Wide,
            (Windowed, _, 3, true) => Self::Windows3Narrow,
            (Windowed, _, 3, false) => Self::Windows3Wide,
            (Windowed, _, _, true) => Self::Windows4Narrow,
            (Windowed, _, _, false) => Self::Windows4Wide,
        }
    }
}

impl<S: Deref<Target = [u8]>> Engine<S> {
    /// Algorithm 2.
    ///
    /// Only the combination that is planned by default becomes part of the caller. With all of them there, the compiler
    /// keeps what any of them needs at hand, and a lookup takes 14 instructions more, a call site 14 KB.
    #[inline]
    pub(crate) fn contains(&self, digest: Digest) -> bool {
        match self {
            Self::RegionalNarrow(nest) => nest.view().contains(digest),
            _ => self.contains_elsewhere(digest),
        }
    }

    /// The same, where the table is most likely one that can be doubled.
    #[inline]
    pub(crate) fn contains_in_doubling(&self, digest: Digest) -> bool {
        match self {
            Self::DoublingNarrow(nest) => nest.view().contains(digest),
            _ => self.contains_elsewhere(digest),
        }
    }

    #[inline(never)]
    fn contains_elsewhere(&self, digest: Digest) -> bool {
        with_nest!(self, nest => nest.contains_elsewhere(digest))
    }

    /// How many copies of a key's fingerprint are stored.
    #[inline]
    pub(crate) fn count(&self, digest: Digest) -> u32 {
        with_nest!(self, nest => nest.view().count(digest))
    }

    pub(crate) fn is_well_formed(&self, parameters: &Parameters) -> bool {
        with_nest!(self, nest => nest.view().is_well_formed(parameters))
    }

    pub(crate) fn occupied_slots(&self, parameters: &Parameters) -> u64 {
        with_nest!(self, nest => nest.view().occupied_slots(parameters))
    }

    /// Whether every fingerprint is stored once.
    pub(crate) fn has_no_copies(&self, parameters: &Parameters) -> bool {
        with_nest!(self, nest => nest.view().has_no_copies(parameters))
    }

    pub(crate) fn storage(&self) -> &S {
        with_nest!(self, nest => nest.storage())
    }

    #[cfg(feature = "std")]
    pub(crate) fn into_storage(self) -> S {
        with_nest!(self, nest => nest.table.into_storage())
    }
}

impl Engine {
    pub(crate) fn storage_mut(&mut self) -> &mut Storage {
        with_nest!(self, nest => nest.storage_mut())
    }
}
