//! Twice the table, or half of it, without the keys.

use alloc::vec::Vec;

use super::{CuckooFilter, Engine, Nest};
use crate::addressing::{Candidate, DoublingAddressing};
use crate::analysis::promised_by;
use crate::error::BuildError;
use crate::parameters::{Parameters, Regions};
use crate::relocation::Search;
use crate::table::{Slot, Table, TableMut};

/// Does the same with the nests of two filters with doubling addressing, of whichever tables they are.
macro_rules! with_doubling_nests {
    ($from:expr, $into:expr, ($a:ident, $b:ident) => $body:expr) => {
        match ($from, $into) {
            (Engine::DoublingNarrow($a), Engine::DoublingNarrow($b)) => $body,
            (Engine::DoublingNarrow($a), Engine::DoublingWide($b)) => $body,
            (Engine::DoublingWide($a), Engine::DoublingNarrow($b)) => $body,
            (Engine::DoublingWide($a), Engine::DoublingWide($b)) => $body,
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
        let (engine, _) = doubled.engine_and_search();
        with_doubling_nests!(self.engine(), engine, (from, into) => {
            from.view().split_into(&mut into.view_mut(), self.parameters());
        });
        doubled.add_to_len(self.len());
        Ok(doubled)
    }

    /// The same keys in half the buckets, with the bit that a doubling took; `None` where they don't fit, or where there
    /// was no doubling, or no memory.
    pub(crate) fn halved(&self) -> Option<Self> {
        let parameters = self.parameters().before_doubling()?;
        if self.len() as u64 > parameters.slot_count() {
            return None;
        }
        let mut halved = Self::with_parameters(parameters, *self.hasher()).ok()?;
        let (engine, search) = halved.engine_and_search();
        with_doubling_nests!(self.engine(), engine, (from, into) => {
            from.view().fold_into(&mut into.view_mut(), self.parameters(), search)?;
        });
        halved.add_to_len(self.len());
        Some(halved)
    }
}

impl Parameters {
    /// The measures of the doubled table, and the capacity that may be promised for it.
    pub(crate) fn after_doubling(&self) -> Result<Self, BuildError> {
        let doublings = self.doublings() + 1;
        let buckets = self.buckets_per_region().saturating_mul(2);
        self.with_doublings(doublings, buckets, self.fingerprint_bits() - 1)
    }

    /// The measures before the last doubling.
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

    /// All buckets, region by region.
    fn candidates(&self) -> impl Iterator<Item = Candidate> + use<> {
        let buckets = self.buckets_per_region();
        (0..self.region_count()).flat_map(move |region| {
            (0..buckets).map(move |offset| Candidate { region_start: region * buckets, offset })
        })
    }
}

impl<T: Table> Nest<DoublingAddressing, T> {
    /// Fills the empty table of twice the buckets: one pass over both, in which nothing has to be moved again, since a
    /// bucket has room for all that comes from the one that it is half of.
    fn split_into<U: TableMut>(&self, into: &mut Nest<DoublingAddressing, U>, parameters: &Parameters) {
        // The same in every bucket.
        let slots: Vec<Slot> = into.table.slots().collect();
        for bucket in parameters.candidates() {
            let mut filled = [0; 2];
            for (_, _, fingerprint) in self.table.filled_slots(bucket.bucket()) {
                let (half, rest) = self.addressing.split(bucket, fingerprint);
                let next = &mut filled[usize::from(half.get() % 2 == 1)];
                into.table.set(half, slots[*next], Some(rest));
                *next += 1;
            }
        }
    }

    /// Inserts everything into the empty table of half the buckets; `None` where it does not fit.
    fn fold_into<U: TableMut>(
        &self,
        into: &mut Nest<DoublingAddressing, U>,
        parameters: &Parameters,
        search: &mut Search,
    ) -> Option<()> {
        for bucket in parameters.candidates() {
            for (_, _, fingerprint) in self.table.filled_slots(bucket.bucket()) {
                let (folded, whole) = self.addressing.fold(&into.addressing, bucket, fingerprint);
                into.insert_located(whole, folded, search).ok()?;
            }
        }
        Some(())
    }
}
