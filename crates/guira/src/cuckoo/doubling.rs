//! Half of a doubling, all at once or in steps, and back.

use core::ops::Range;

use super::{BLOCK, Crowd, CuckooTable, LocatedBlock, NoRoom};
use crate::addressing::{Addressing, BucketIndex, DoublingAddressing, Half, Located, SplittingAddressing};
use crate::cast::Whole;
use crate::digest::Digest;
use crate::parameters::Parameters;
use crate::probe::Word;
use crate::table::{AnyWidths, Fits as _, Memory, MemoryMut, PackedTable, SplittingTable, Table};

/// A table that is being doubled by half: from its last bucket to its first, all are moved to a larger table, in which every second one
/// becomes two.
///
/// It says which buckets are still to be moved, and works on the memory of both tables. They are counted as they were before any of them
/// became two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Splitting {
    pub(crate) tables: SplittingTables,
    /// The buckets that wait: all below this number.
    waiting: u64,
}

/// The addressing of the old table, and the layouts of the new table and of the old one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SplittingTables {
    Narrow(DoublingAddressing, [AnyWidths<u64>; 2]),
    Wide(DoublingAddressing, [AnyWidths<u128>; 2]),
    Long(DoublingAddressing<true>, [AnyWidths<u128>; 2]),
}

/// Evaluates an expression with the table that the two of a [`Splitting`] are, over memory that is read or written, or with the addressing
/// of the old one and the layouts of both.
macro_rules! with_splitting {
    ($splitting:expr, ($old_bytes:expr, $new_bytes:expr), $table:ident => $body:expr) => {
        $crate::cuckoo::with_splitting!($splitting, (addressing, layouts) => {
            let addressing = $crate::addressing::SplittingAddressing::new(*addressing, $splitting.waiting());
            let slots = $crate::table::SplittingTable::new(addressing, layouts, [$new_bytes, $old_bytes]);
            #[allow(unused_mut, reason = "some expressions write")]
            let mut $table = $crate::cuckoo::CuckooTable { addressing, slots };
            $body
        })
    };
    ($splitting:expr, ($addressing:ident, $layouts:pat) => $body:expr) => {
        match &$splitting.tables {
            $crate::cuckoo::SplittingTables::Narrow($addressing, $layouts) => $body,
            $crate::cuckoo::SplittingTables::Wide($addressing, $layouts) => $body,
            $crate::cuckoo::SplittingTables::Long($addressing, $layouts) => $body,
        }
    };
}

pub(crate) use with_splitting;

impl Splitting {
    /// How many buckets are moved with each insertion and removal. They take some one microsecond.
    ///
    /// As long as buckets wait, an insertion takes four times as long to find room, and a lookup twice as long. With 64 at a time, growth
    /// one by one takes 0.99 times as long, and in batches that are sorted by region, which wait until all are moved, 0.95 times, but a
    /// command of a server with a thousand keys a millisecond more.
    pub(crate) const AT_A_TIME: u64 = if cfg!(loom) {
        1
    } else if cfg!(test) {
        // So that doubling a table of a few buckets has steps.
        4
    } else {
        32
    };

    /// How many do where no room is found among those that did.
    pub(crate) const FOR_ROOM: u64 = 4096;

    /// Whether a table of so many bytes is doubled in steps. A smaller one is doubled all at once, which takes less time than a page fault or
    /// two.
    pub(crate) const fn is_for(size: usize) -> bool {
        cfg!(loom) || size >= 64 << 10
    }

    /// A table of which nothing has been split yet, into one that is empty. Their parameters are those before and after a
    /// doubling.
    pub(crate) fn new(old: &Parameters, new: &Parameters, seed: u64) -> Self {
        let wide = || [new, old].map(|parameters| AnyWidths::fitting(parameters).expect("all buckets fit some words"));
        let narrow = || match [new, old].map(AnyWidths::fitting) {
            [Some(new), Some(old)] => Some([new, old]),
            _ => None,
        };
        let tables = match narrow() {
            _ if old.has_long_fingerprints() => SplittingTables::Long(DoublingAddressing::new(old, seed), wide()),
            Some(narrow) => SplittingTables::Narrow(DoublingAddressing::new(old, seed), narrow),
            None => SplittingTables::Wide(DoublingAddressing::new(old, seed), wide()),
        };
        let mut splitting = Self { tables, waiting: 0 };
        splitting.waiting = splitting.bucket_count();
        splitting
    }

    /// The buckets that there are.
    pub(crate) fn bucket_count(&self) -> u64 {
        with_splitting!(self, (addressing, _) => addressing.buckets_before_halves())
    }

    /// The buckets that are still in the old table.
    pub(crate) const fn waiting(&self) -> u64 {
        self.waiting
    }

    /// How many buckets of the old table belong to so many, the first ones, and how many of the new table.
    pub(crate) fn places_of(&self, count: u64) -> [u64; 2] {
        let end = Half::new(2 * count);
        with_splitting!(self, (addressing, _) => {
            [addressing.bucket_of_half(end).get(), addressing.next_bucket_of_half(end).get()]
        })
    }

    /// The tables when so many of their buckets wait.
    #[cfg(feature = "concurrent")]
    #[must_use]
    pub(crate) const fn when(self, waiting: u64) -> Self {
        Self { waiting, ..self }
    }

    /// Moves the next `count` buckets, or all that are left.
    #[inline(never)]
    pub(crate) fn split(&mut self, old_bytes: &[u8], new_bytes: &mut [u8], count: u64) {
        let end = self.waiting;
        self.waiting = end.saturating_sub(count);
        self.split_buckets(self.waiting..end, old_bytes, new_bytes);
    }

    /// Moves some buckets to where nobody has looked yet, from the last to the first.
    ///
    /// Nothing has to be moved again: a bucket has room for all that comes from the one that it is half of.
    #[inline]
    pub(crate) fn split_buckets(&self, numbers: Range<u64>, old_memory: impl Memory, new_memory: impl MemoryMut) {
        with_splitting!(self, (addressing, [new, old]) => {
            let (from, mut into) = (PackedTable::new(*old, old_memory), PackedTable::new(*new, new_memory));
            for half in numbers.rev().map(|number| Half::new(2 * number)) {
                let (bucket, next) = (addressing.bucket_of_half(half), addressing.next_bucket_of_half(half));
                if addressing.is_of_odd(half) == addressing.is_half_doubled() {
                    into.copy_bucket(next, &from, bucket);
                    if addressing.is_half_doubled() {
                        into.copy_bucket(next.following(), &from, bucket.following());
                    }
                    continue;
                }
                // A loop for each, since only one of them needs hashes.
                let (contents, rest) = (from.contents(bucket), addressing.rest_bits());
                if addressing.is_half_doubled() {
                    into.fill_pair(next, contents.map(|(_, it)| (it & rest, addressing.is_second_of_even(it))));
                } else {
                    into.fill_pair(next, contents.map(|(_, it)| (it & rest, addressing.is_second_of_odd(it))));
                }
            }
        });
    }

    /// The other way round: empties what the first `count` buckets have become, which are in an empty table again then, and wait. Each
    /// fingerprint goes to the slot that it came from, which is that of no other.
    pub(crate) fn unsplit(&mut self, count: u64, old_bytes: &mut [u8], new_bytes: &mut [u8]) {
        self.waiting = count;
        with_splitting!(self, (addressing, [new, old]) => {
            let (mut from, mut into) = (PackedTable::new(*new, new_bytes), PackedTable::new(*old, old_bytes));
            for half in (0..2 * count).map(Half::new) {
                let (bucket, next) = (addressing.bucket_of_half(half), addressing.next_bucket_of_half(half));
                into.take(bucket, &mut from, next, |rest| addressing.restored(half, rest));
            }
        });
    }

    /// What keeps a key out of the doubled table, once all buckets are moved; its parameters are `parameters`.
    pub(crate) fn crowd(
        &self,
        digest: Digest,
        parameters: &Parameters,
        seed: u64,
        old_memory: impl Memory + Copy,
        new_memory: impl Memory + Copy,
    ) -> Option<Crowd> {
        Crowd::around(digest, parameters, seed, |next| {
            with_splitting!(self, (addressing, [new, old]) => {
                let (from, into) = (PackedTable::new(*old, old_memory), PackedTable::new(*new, new_memory));
                let half = addressing.half_of_next_bucket(next);
                if half.get() / 2 < self.waiting {
                    let fingerprints = from.filled_slots(addressing.bucket_of_half(half)).map(|(_, it)| it);
                    let of_next =
                        fingerprints.filter(|&it| addressing.next_bucket_of_half(addressing.half(half, it)) == next);
                    of_next.map(|fingerprint| (next, addressing.rest(fingerprint))).collect()
                } else {
                    into.filled_slots(next).map(|(_, rest)| (next, rest)).collect()
                }
            })
        })
    }

    /// The other way round: inserts what comes from some buckets of the old table, which was empty, into it again; fails where it
    /// does not fit. All buckets must be taken once, from the first to the last.
    pub(crate) fn fold(&self, old_bytes: &mut [u8], new_bytes: &[u8], numbers: Range<u64>) -> Result<(), NoRoom> {
        with_splitting!(self, (addressing, [new, old]) => {
            let from = PackedTable::new(*new, new_bytes);
            let mut into = CuckooTable { addressing: *addressing, slots: PackedTable::new(*old, old_bytes) };
            let [_, first] = self.places_of(numbers.start);
            let [_, end] = self.places_of(numbers.end);
            for next in (first..end).map(BucketIndex::new) {
                let half = addressing.half_of_next_bucket(next);
                let bucket = addressing.grid().candidate(addressing.bucket_of_half(half));
                for (_, rest) in from.filled_slots(next) {
                    into.insert_located(addressing.located(addressing.restored(half, rest), bucket))?;
                }
            }
            Ok(())
        })
    }

    /// Algorithm 2.
    #[inline]
    pub(crate) fn contains(&self, old_bytes: &[u8], new_bytes: &[u8], digest: Digest) -> bool {
        with_splitting!(self, (addressing, layouts) => {
            contains(addressing, layouts, self.waiting, [new_bytes, old_bytes], digest)
        })
    }

    /// How many copies of a key's fingerprint are stored.
    #[inline(never)]
    pub(crate) fn count(&self, old_bytes: &[u8], new_bytes: &[u8], digest: Digest) -> u32 {
        with_splitting!(self, (old_bytes, new_bytes), table => table.count(digest))
    }

    /// Algorithm 1: see [`CuckooTable::insert`].
    #[inline(never)]
    pub(crate) fn insert(&self, old_bytes: &mut [u8], new_bytes: &mut [u8], digest: Digest) -> Result<(), NoRoom> {
        with_splitting!(self, (old_bytes, new_bytes), table => table.insert(digest).map(|_place| ()))
    }

    /// Algorithm 3: see [`CuckooTable::remove`].
    #[inline(never)]
    pub(crate) fn remove(&self, old_bytes: &mut [u8], new_bytes: &mut [u8], digest: Digest) -> bool {
        with_splitting!(self, (old_bytes, new_bytes), table => table.remove(digest))
    }

    /// See [`CuckooTable::locate_block`].
    #[inline(never)]
    pub(crate) fn locate_block(
        &self,
        old_bytes: &[u8],
        new_bytes: &[u8],
        digests: &[Digest; BLOCK],
        located: &mut LocatedBlock,
    ) {
        with_splitting!(self, (old_bytes, new_bytes), table => table.locate_block(digests, located));
    }

    /// See [`CuckooTable::contains_many_into`].
    #[inline(never)]
    pub(crate) fn answer(
        &self,
        old_bytes: &[u8],
        new_bytes: &[u8],
        located: &LocatedBlock,
        next: &LocatedBlock,
        answers: &mut [bool],
    ) {
        with_splitting!(self, (old_bytes, new_bytes), table => table.contains_many_into(located, next, answers));
    }
}

/// Algorithm 2 in the tables with this addressing and these layouts. As a function of its own for each kind, it saves and loads no more
/// than that kind needs.
#[inline(never)]
fn contains<W: Word, const LONG: bool>(
    addressing: &DoublingAddressing<LONG>,
    layouts: &[AnyWidths<W>; 2],
    waiting: u64,
    memory: [&[u8]; 2],
    digest: Digest,
) -> bool {
    let Located { fingerprint, primary, second } = addressing.locate_halves::<Whole>(digest);
    let slots = SplittingTable::new(SplittingAddressing::new(*addressing, waiting), layouts, memory);
    // A half leads to the bucket that it is still a part of as well.
    slots.either_contains(primary.bucket(), second.bucket(), fingerprint)
}
