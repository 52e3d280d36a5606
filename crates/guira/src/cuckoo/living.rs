//! The operations of tables with values in which only some fingerprints live, each compiled for its addressing and its widths.

use super::operations::with_constant_bits;
use super::scheme::{Pair, PairOf};
use super::{CuckooTable, NoRoom};
use crate::addressing::{Addressing, Located};
use crate::digest::Digest;
use crate::table::{
    AnyWidths, ConstantWidths, Living, LivingTable, MemoryMut, Overwritten, ValuedTable, ValuedWidths, Widths,
};

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

impl<A: Addressing, G: Widths, M> CuckooTable<A, ValuedTable<G, M>> {
    /// The table without dead fingerprints.
    #[inline(always)]
    pub(crate) fn living(self, living: Living) -> CuckooTable<A, LivingTable<G, M, Overwritten>> {
        let slots = LivingTable::new(self.slots, living, Overwritten::default());
        CuckooTable { addressing: self.addressing, slots }
    }
}

impl<A: Addressing, G: Widths, M: MemoryMut> CuckooTable<A, LivingTable<G, M, Overwritten>> {
    #[inline(always)]
    fn fill_with(&mut self, digest: Digest, value: u32, if_absent: bool) -> Filled {
        let located = self.addressing.locate(digest);
        if if_absent && self.contains_located(located) {
            return Filled::AlreadyThere;
        }
        let Some(place) = self.vacant_place(located) else { return Filled::NoRoom };
        self.slots.fill_with_value(place, located.fingerprint, value);
        self.slots.overwritten().map_or(Filled::Empty, Filled::Dead)
    }

    fn relocate_for(&mut self, digest: Digest, value: u32) -> Result<Filled, NoRoom> {
        let Located { fingerprint, primary, second } = self.addressing.locate(digest);
        let place = self.insert_by_relocation(fingerprint, primary, second)?;
        self.slots.set_value(place, value);
        Ok(self.slots.overwritten().map_or(Filled::Empty, Filled::Dead))
    }
}

impl LivingOperations {
    /// The operations of a pair that has these two, compiled for the widths `C`.
    const fn with<C: Widths, A: Addressing, G: Widths>(_addressing: &A, _widths: &ValuedWidths<G>) -> &'static Self
    where
        Pair: PairOf<A, ValuedWidths<G>>,
        ValuedWidths<C>: From<ValuedWidths<G>>,
    {
        const {
            &Self {
                contains: |pair, bytes, digest, living| {
                    CuckooTable::<A, ValuedTable<C, _>>::of_pair(pair, bytes).living(living).contains(digest)
                },
                fill: |pair, bytes, digest, value, living, if_absent| {
                    CuckooTable::<A, ValuedTable<C, _>>::of_pair(pair, bytes)
                        .living(living)
                        .fill_with(digest, value, if_absent)
                },
                // It is compiled once for all widths: it waits for memory most of the time.
                relocate: |pair, bytes, digest, value, living| {
                    CuckooTable::<A, ValuedTable<G, _>>::of_pair(pair, bytes).living(living).relocate_for(digest, value)
                },
                swept: |pair, bytes, buckets, living| {
                    CuckooTable::<A, ValuedTable<C, _>>::of_pair(pair, bytes).living(living).slots.without_dead(buckets)
                },
            }
        }
    }

    /// The operations of a pair that has these two, whose buckets fit 64 bits, with the usual widths as constants.
    fn narrow<A: Addressing>(addressing: &A, widths: &ValuedWidths<AnyWidths<u64>>) -> &'static Self
    where
        Pair: PairOf<A, ValuedWidths<AnyWidths<u64>>>,
    {
        with_constant_bits!(
            widths.numbers().slots_and_bits(),
            [11 12 13 14],
            BITS => Self::with::<ConstantWidths<u64, 4, BITS>, _, _>(addressing, widths),
            _ => Self::with::<AnyWidths<u64>, _, _>(addressing, widths)
        )
    }

    /// The operations of a pair that has these two, whose buckets fit 128 bits, with the usual widths as constants.
    fn wide<A: Addressing>(addressing: &A, widths: &ValuedWidths<AnyWidths<u128>>) -> &'static Self
    where
        Pair: PairOf<A, ValuedWidths<AnyWidths<u128>>>,
    {
        with_constant_bits!(
            widths.numbers().slots_and_bits(),
            [15 16 17 18 19 20 21 22 23 24 25 26 27 28],
            BITS => Self::with::<ConstantWidths<u128, 4, BITS>, _, _>(addressing, widths),
            _ => Self::with::<AnyWidths<u128>, _, _>(addressing, widths)
        )
    }

    /// The operations of a pair with values.
    pub(crate) fn of(pair: &Pair) -> &'static Self {
        match pair {
            Pair::ValuedNarrow(addressing, widths) => Self::narrow(addressing, widths),
            Pair::ValuedWide(addressing, widths) => Self::wide(addressing, widths),
            Pair::ValuedLong(addressing, widths) => Self::with::<AnyWidths<u128>, _, _>(addressing, widths),
            Pair::DoublingValuedNarrow(addressing, widths) => Self::narrow(addressing, widths),
            Pair::DoublingValuedWide(addressing, widths) => Self::wide(addressing, widths),
            Pair::DoublingValuedLong(addressing, widths) => Self::with::<AnyWidths<u128>, _, _>(addressing, widths),
            _ => unreachable!("a filter with values has no such table"),
        }
    }
}
