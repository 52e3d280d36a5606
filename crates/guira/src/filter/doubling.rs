//! Twice the table, or half of it, without the keys.

use alloc::vec::Vec;

use super::CuckooFilter;
use crate::addressing::{Addressing, DoublingAddressing};
use crate::analysis::promised_by;
use crate::cuckoo::{CuckooTable, NoRoom, Pair};
use crate::error::BuildError;
use crate::parameters::{Parameters, Regions};
use crate::table::{Layout, Slot, Table, TableMut};

/// Evaluates an expression with the tables of two schemes with doubling addressing, the first to be read and the second to
/// be written.
macro_rules! with_doubling_tables {
    (($from:expr, $from_bytes:expr), ($into:expr, $into_bytes:expr), ($a:ident, $b:ident) => $body:expr) => {
        with_doubling_tables!(@each $from, $from_bytes, $into, $into_bytes, $a, $b, $body;
            DoublingNarrow DoublingNarrow, DoublingNarrow DoublingWide, DoublingWide DoublingNarrow, DoublingWide DoublingWide)
    };
    (@each $from:expr, $from_bytes:expr, $into:expr, $into_bytes:expr, $a:ident, $b:ident, $body:expr;
     $($from_name:ident $into_name:ident),*) => {
        match (&$from.pair, &$into.pair) {
            $((Pair::$from_name(from, from_layout), Pair::$into_name(into, into_layout)) => {
                let $a = CuckooTable { addressing: *from, slots: from_layout.over($from_bytes) };
                let mut $b = CuckooTable { addressing: *into, slots: into_layout.over_mut($into_bytes) };
                $body
            })*
            _ => unreachable!("only tables with doubling addressing are doubled"),
        }
    };
}

impl CuckooFilter {
    /// The same keys in twice the buckets, with a bit less of every fingerprint. It fails only for want of bits, of
    /// numbers for buckets, or of memory.
    pub(crate) fn doubled(&self) -> Result<Self, BuildError> {
        let parameters = self.parameters().after_doubling()?;
        let mut doubled = Self::with_parameters(parameters, *self.hasher())?;
        let (scheme, bytes) = doubled.scheme_and_bytes();
        with_doubling_tables!((self.scheme(), self.bytes()), (scheme, bytes), (from, into) => from.split_into(&mut into));
        doubled.add_to_len(self.len());
        Ok(doubled.with_growth(self.growth().copied()))
    }

    /// The same keys in half the buckets, with the bit that a doubling took; `None` where they don't fit, or where there
    /// was no doubling, or no memory.
    pub(crate) fn halved(&self) -> Option<Self> {
        let parameters = self.parameters().before_doubling()?;
        if self.len() as u64 > parameters.slot_count() {
            return None;
        }
        let mut halved = Self::with_parameters(parameters, *self.hasher()).ok()?;
        let (scheme, bytes) = halved.scheme_and_bytes();
        let folded = with_doubling_tables!((self.scheme(), self.bytes()), (scheme, bytes), (from, into) => {
            from.fold_into(&mut into)
        });
        folded.ok()?;
        halved.add_to_len(self.len());
        Some(halved.with_growth(self.growth().copied()))
    }
}

impl Parameters {
    /// The parameters of the doubled table, and the capacity that may be promised for it.
    pub(crate) fn after_doubling(&self) -> Result<Self, BuildError> {
        let doublings = self.doublings() + 1;
        let buckets = self.buckets_per_region().saturating_mul(2);
        self.with_doublings(doublings, buckets, self.fingerprint_bits() - 1)
    }

    /// The parameters before the last doubling.
    pub(crate) fn before_doubling(&self) -> Option<Self> {
        let doublings = self.doublings().checked_sub(1)?;
        self.with_doublings(doublings, self.buckets_per_region() / 2, self.fingerprint_bits() + 1).ok()
    }

    fn with_doublings(&self, doublings: u32, buckets: u64, fingerprint_bits: u32) -> Result<Self, BuildError> {
        let regions = Regions { count: self.region_count(), buckets };
        // First without a capacity, so that sizes out of range are refused before anything is computed from them.
        Self::new(self.shape(), fingerprint_bits, regions, 0)?.doubled(doublings)?;
        let capacity = promised_by(regions, self.shape());
        Self::new(self.shape(), fingerprint_bits, regions, capacity)?.doubled(doublings)
    }
}

impl<T: Table> CuckooTable<DoublingAddressing, T> {
    /// Fills the empty table of twice the buckets: one pass over both, in which nothing has to be moved again, since a
    /// bucket has room for all that comes from the one that it is half of.
    fn split_into<U: TableMut>(&self, into: &mut CuckooTable<DoublingAddressing, U>) {
        // The same in every bucket.
        let slots: Vec<Slot> = into.slots.slots().collect();
        for bucket in self.addressing.grid().buckets() {
            let mut filled = [0; 2];
            for (_, _, fingerprint) in self.slots.filled_slots(bucket.bucket()) {
                let (half, rest) = self.addressing.split(bucket, fingerprint);
                let next = &mut filled[usize::from(half.get() % 2 == 1)];
                into.slots.set(half, slots[*next], Some(rest));
                *next += 1;
            }
        }
    }

    /// Inserts everything into the empty table of half the buckets; fails where it does not fit.
    fn fold_into<U: TableMut>(&self, into: &mut CuckooTable<DoublingAddressing, U>) -> Result<(), NoRoom> {
        for bucket in self.addressing.grid().buckets() {
            for (_, _, fingerprint) in self.slots.filled_slots(bucket.bucket()) {
                let (folded, whole) = self.addressing.fold(&into.addressing, bucket, fingerprint);
                into.insert_fingerprint(whole, folded)?;
            }
        }
        Ok(())
    }
}
