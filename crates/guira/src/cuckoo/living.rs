//! The operations of tables with values in which only some fingerprints live, each compiled for its addressing and its widths.

use super::operations::other_pair;
use super::scheme::Pair;
use super::{CuckooTable, NoRoom};
use crate::addressing::Addressing;
use crate::cast::Whole;
use crate::digest::Digest;
use crate::table::{ConstantWidths, Living, LivingTable, Table, ValuedTable, Values, ValuesMut, Widths};

/// The operations on one key, as functions compiled for one pair, which they must be given. They are chosen once, when the
/// filter is made.
#[derive(Debug)]
pub(crate) struct LivingOperations {
    /// Algorithm 2, among the living.
    pub(crate) contains: fn(&Pair, &[u8], Digest, Living) -> bool,
    /// Inserts a key with a value if one of its candidate buckets has an empty slot or a dead fingerprint; or, if so asked, only
    /// if no living copy is there.
    pub(crate) fill: Fill,
    /// Inserts a key with a value, by making room in one of its buckets, which are full of living fingerprints.
    pub(crate) relocate: Relocate,
    /// Counts the buckets, from the first on, that have no dead fingerprints.
    pub(crate) swept: fn(&Pair, &[u8], core::ops::Range<u64>, Living) -> u64,
}

type Relocate = fn(&Pair, &mut [u8], Digest, u32, Living) -> Result<Filled, NoRoom>;

type Fill = fn(&Pair, &mut [u8], Digest, u32, Living, bool) -> Filled;

/// What came of an insertion among the living.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Filled {
    /// A living copy was there, and nothing was stored.
    AlreadyThere,
    /// Both buckets are full of living fingerprints.
    NoRoom,
    /// It was stored in an empty slot.
    Empty,
    /// It was stored in place of a dead fingerprint with this value.
    Dead(u32),
}

impl<A: Addressing, T: Values> CuckooTable<A, T> {
    /// The table without dead fingerprints.
    #[inline(always)]
    pub(crate) fn living(self, living: Living) -> CuckooTable<A, LivingTable<T>> {
        CuckooTable { addressing: self.addressing, slots: LivingTable::new(self.slots, living) }
    }
}

impl<A: Addressing, T: ValuesMut> CuckooTable<A, LivingTable<T>> {
    #[inline(always)]
    fn fill_with(&mut self, digest: Digest, value: u32, if_absent: bool) -> Filled {
        let (fingerprint, primary, second) = self.addressing.locate_pair::<Whole>(digest);
        if if_absent && self.slots.either_contains(primary.bucket(), second.bucket(), fingerprint) {
            return Filled::AlreadyThere;
        }
        let Some(place) = self.vacant_place(fingerprint, primary) else { return Filled::NoRoom };
        self.slots.fill_with_value(place, fingerprint, value);
        self.slots.overwritten().map_or(Filled::Empty, Filled::Dead)
    }
}

impl<A: Addressing, T: ValuesMut> CuckooTable<A, LivingTable<T>> {
    fn relocate_for(&mut self, digest: Digest, value: u32) -> Result<Filled, NoRoom> {
        let (fingerprint, primary) = self.addressing.locate(digest);
        let place = self.insert_by_relocation(fingerprint, primary)?;
        self.slots.set_value(place, value);
        Ok(self.slots.overwritten().map_or(Filled::Empty, Filled::Dead))
    }
}

/// The table of a pair, whose widths of slots are given, made of bytes that are read or written.
macro_rules! table {
    ($name:ident, $pair:ident, $bytes:ident, $slots:expr, $living:ident) => {{
        let Pair::$name(addressing, widths) = $pair else { other_pair() };
        let slots = ValuedTable::new(widths.with_slots($slots(widths.slots())), $bytes);
        CuckooTable { addressing: *addressing, slots }.living($living)
    }};
}

macro_rules! operations {
    ($name:ident, $slots:expr) => {
        const {
            &LivingOperations {
                contains: |pair, bytes, digest, living| table!($name, pair, bytes, $slots, living).contains(digest),
                fill: |pair, bytes, digest, value, living, if_absent| {
                    table!($name, pair, bytes, $slots, living).fill_with(digest, value, if_absent)
                },
                // It is compiled once for all widths: it waits for memory most of the time.
                relocate: |pair, bytes, digest, value, living| {
                    table!($name, pair, bytes, |slots| slots, living).relocate_for(digest, value)
                },
                swept: |pair, bytes, buckets, living| {
                    table!($name, pair, bytes, $slots, living).slots.without_dead(buckets)
                },
            }
        }
    };
}

impl LivingOperations {
    /// The operations of a pair with values, with the usual widths as constants.
    pub(crate) fn of(pair: &Pair) -> &'static Self {
        macro_rules! valued {
            ($name:ident, $word:ty, $widths:ident: $($bits:literal)*) => {
                match $widths.slots().slots_and_bits() {
                    $((4, $bits) => operations!($name, |_| ConstantWidths::<$word, 4, $bits>::new()),)*
                    _ => operations!($name, |slots| slots),
                }
            };
        }
        match pair {
            Pair::ValuedNarrow(_, widths) => valued!(ValuedNarrow, u64, widths: 11 12 13 14),
            Pair::ValuedWide(_, widths) => valued!(ValuedWide, u128, widths: 15 16 17 18 20 21 24),
            Pair::DoublingValuedNarrow(_, widths) => valued!(DoublingValuedNarrow, u64, widths: 12 13 14),
            Pair::DoublingValuedWide(_, widths) => {
                valued!(DoublingValuedWide, u128, widths: 15 16 17 18 19 20 21 22 23 24 25 26 27 28)
            }
            Pair::ValuedLong(..) => operations!(ValuedLong, |slots| slots),
            Pair::DoublingValuedLong(..) => operations!(DoublingValuedLong, |slots| slots),
            _ => unreachable!("a filter with values has no such table"),
        }
    }
}
