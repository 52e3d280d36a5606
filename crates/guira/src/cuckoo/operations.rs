//! The operations of a scheme, each compiled for its addressing and its layout.

use super::blocks::{BLOCK, LocatedBlock};
use super::planned::{Change, Once, Planned};
use super::scheme::{Pair, PairOf, Scheme, with_table};
use super::{CuckooTable, NoRoom};
use crate::addressing::{Addressing, AnySize, DoublingAddressing, Located, RegionSize, RegionalAddressing, Size65536};
use crate::digest::Digest;
use crate::probe::{AnyRegions, Regions, Regions65536};
use crate::table::{AnyWidths, ConstantFingerprintBits, ConstantWidths, Layout, PackedTable, Table, TableMut, Widths};

/// The operations on one key or one block of keys, as functions compiled for one pair, which they must be given, or the scheme
/// with it. They are chosen once, when the scheme is made, so that a call reaches the code for its addressing and layout with a
/// single jump.
#[derive(Debug)]
pub(crate) struct Operations {
    pub(super) contains: Contains,
    /// Inserts a key if one of its candidate buckets has room. Returns `true` if it was inserted.
    pub(super) fill: Fill,
    /// Inserts a key where neither of its candidate buckets seems to have room: see [`CuckooTable::insert_by_relocation`].
    pub(super) relocate: fn(&Pair, &mut [u8], Digest) -> Result<(), NoRoom>,
    pub(super) remove: Remove,
    /// Prefetches the candidate buckets of some keys.
    pub(super) prefetch: fn(&Pair, &[u8], &[Digest]),
    /// Looks up a block of keys in a table that is in the cache.
    pub(super) look_up: fn(&Pair, &[u8], &[Digest; BLOCK], &mut [bool]),
    /// Looks up a block of keys whose buckets were prefetched, and prefetches those of the next block.
    pub(super) answer: fn(&Pair, &[u8], &LocatedBlock, &LocatedBlock, &mut [bool]),
    pub(super) fill_absent: FillAbsent,
}

pub(super) type Contains = fn(&Scheme, &[u8], Digest) -> bool;

type Fill = fn(&Scheme, &mut [u8], Digest) -> bool;

type Remove = fn(&Scheme, &mut [u8], Digest) -> bool;

/// Stores those of a block of keys that are not found: see [`CuckooTable::fill_absent`].
type FillAbsent = fn(&Pair, &mut [u8], usize, [&LocatedBlock; 2], &mut [bool]) -> usize;

/// Evaluates an expression with the bits of a slot as a constant, if buckets have four slots of as many bits as are listed, or another
/// expression.
macro_rules! with_constant_bits {
    ($slots_and_bits:expr, [$($listed:literal)*], $bits:ident => $body:expr, _ => $other:expr) => {
        match $slots_and_bits {
            $((4, $listed) => {
                const $bits: u32 = $listed;
                $body
            })*
            _ => $other,
        }
    };
}

pub(super) use with_constant_bits;

/// The table of a pair over bytes to read. Its layout is the pair's own, or one made of it whose widths are constants.
#[inline(always)]
fn table<'bytes, A: Addressing, L: Copy + Into<C>, C: Layout>(
    pair: &Pair,
    bytes: &'bytes [u8],
) -> CuckooTable<A, impl Table + use<'bytes, A, L, C>>
where
    Pair: PairOf<A, L>,
{
    let (addressing, layout) = pair.parts();
    CuckooTable { addressing: *addressing, slots: (*layout).into().over(bytes) }
}

/// As [`table`], over bytes to write.
#[inline(always)]
fn table_mut<'bytes, A: Addressing, L: Copy + Into<C>, C: Layout>(
    pair: &Pair,
    bytes: &'bytes mut [u8],
) -> CuckooTable<A, impl TableMut + use<'bytes, A, L, C>>
where
    Pair: PairOf<A, L>,
{
    let (addressing, layout) = pair.parts();
    CuckooTable { addressing: *addressing, slots: (*layout).into().over_mut(bytes) }
}

/// See [`CuckooTable::insert_by_relocation`].
fn relocate<A: Addressing, L: Copy + Into<C>, C: Layout>(
    pair: &Pair,
    bytes: &mut [u8],
    digest: Digest,
) -> Result<(), NoRoom>
where
    Pair: PairOf<A, L>,
{
    let mut table = table_mut::<A, L, C>(pair, bytes);
    let Located { fingerprint, primary, second } = table.addressing.locate(digest);
    table.insert_by_relocation(fingerprint, primary, second).map(|_place| ())
}

impl Operations {
    /// The operations of an addressing and a layout, compiled for the layout `C`.
    const fn compiled<A: Addressing, L: Layout + Into<C>, C: Layout>() -> Self
    where
        Pair: PairOf<A, L>,
    {
        Self {
            contains: |scheme, bytes, digest| table::<A, L, C>(&scheme.pair, bytes).contains(digest),
            fill: |scheme, bytes, digest| {
                let mut table = table_mut::<A, L, C>(&scheme.pair, bytes);
                table.fill(table.addressing.locate(digest)).is_some()
            },
            // With the pair's own layout: only in tables that double is it worth a function for each width.
            relocate: relocate::<A, L, L>,
            remove: |scheme, bytes, digest| table_mut::<A, L, C>(&scheme.pair, bytes).remove(digest),
            prefetch: |pair, bytes, digests| table::<A, L, C>(pair, bytes).prefetch_each(digests),
            look_up: |pair, bytes, digests, answers| table::<A, L, C>(pair, bytes).look_up(digests, answers),
            answer: |pair, bytes, located, next, answers| {
                table::<A, L, C>(pair, bytes).contains_many_into(located, next, answers);
            },
            fill_absent: |pair, bytes, from, [located, next], stored| {
                table_mut::<A, L, C>(pair, bytes).fill_absent(from, located, next, stored)
            },
        }
    }

    /// The operations of a pair that has these two, compiled for the layout `C`.
    const fn with<C: Layout, A: Addressing, L: Layout + Into<C>>(_addressing: &A, _layout: &L) -> &'static Self
    where
        Pair: PairOf<A, L>,
    {
        const { &Self::compiled::<A, L, C>() }
    }

    /// The operations of a pair that has these two, compiled for any widths.
    const fn with_any_widths<A: Addressing, L: Layout>(addressing: &A, layout: &L) -> &'static Self
    where
        Pair: PairOf<A, L>,
    {
        Self::with::<L, A, L>(addressing, layout)
    }

    /// The operations of tables that are planned by default, which have a faster way to fill a slot.
    const fn planned<R: RegionSize, const WHOLE_BYTES: bool>() -> &'static Self
    where
        Pair: PairOf<RegionalAddressing<R>, AnyWidths<u64, WHOLE_BYTES>>,
    {
        const {
            &Self {
                fill: |scheme, bytes, digest| scheme.planned.fill::<R, WHOLE_BYTES>(bytes, digest),
                ..Self::compiled::<_, AnyWidths<u64, WHOLE_BYTES>, AnyWidths<u64, WHOLE_BYTES>>()
            }
        }
    }

    /// The operations of tables whose buckets are read in halves, of which those on blocks are compiled for the widths `C`.
    const fn in_halves<C: Widths + From<AnyWidths<u128>>>(planned: &Planned) -> &'static Self {
        const fn of<R: Regions, const WHOLE_BYTES: bool, C: Widths + From<AnyWidths<u128>>>() -> &'static Operations {
            const {
                &Operations {
                    contains: |scheme, bytes, digest| {
                        scheme.planned.look_in_both_halves::<R, WHOLE_BYTES, _, _>(bytes, digest, Once)
                    },
                    fill: |scheme, bytes, digest| {
                        scheme.planned.change_in_halves::<R, WHOLE_BYTES>(bytes, digest, Change::Fill)
                    },
                    remove: |scheme, bytes, digest| {
                        scheme.planned.change_in_halves::<R, WHOLE_BYTES>(bytes, digest, Change::Remove)
                    },
                    ..Operations::compiled::<RegionalAddressing, AnyWidths<u128>, C>()
                }
            }
        }
        match (planned.ways().halves_of_65536, planned.ways().start_at_bytes) {
            (true, true) => of::<Regions65536, true, C>(),
            (true, false) => of::<Regions65536, false, C>(),
            (false, true) => of::<AnyRegions, true, C>(),
            (false, false) => of::<AnyRegions, false, C>(),
        }
    }

    /// The operations of a pair: with the usual widths as constants where that saves much, which in buckets of 64 bits it does only
    /// in tables that double.
    pub(super) fn of(pair: &Pair, planned: &Planned) -> &'static Self {
        if let Some(operations) = for_doubling(pair, Compiled) {
            return operations;
        }
        match pair {
            Pair::AlignedBytes(..) => Self::planned::<Size65536, true>(),
            Pair::AlignedNarrow(..) => Self::planned::<Size65536, false>(),
            Pair::RegionalBytes(..) => Self::planned::<AnySize, true>(),
            Pair::RegionalNarrow(..) => Self::planned::<AnySize, false>(),
            Pair::RegionalWide(_, widths) if planned.ways().halves => with_constant_bits!(
                widths.numbers().slots_and_bits(),
                [17 18 19 20 21 22 24],
                BITS => Self::in_halves::<ConstantWidths<u128, 4, BITS>>(planned),
                _ => Self::in_halves::<AnyWidths<u128>>(planned)
            ),
            Pair::AlignedSemiSorted(addressing, bits) => with_constant_bits!(
                (4, bits.get()),
                [5 6 7 8 9 10 11 12 13 14 15],
                BITS => Self::with::<ConstantFingerprintBits<BITS>, _, _>(addressing, bits),
                _ => Self::with_any_widths(addressing, bits)
            ),
            Pair::RegionalSemiSortedNarrow(addressing, bits) => with_constant_bits!(
                (4, bits.get()),
                [5 6 7 8 9 10 11 12 13 14 15],
                BITS => Self::with::<ConstantFingerprintBits<BITS>, _, _>(addressing, bits),
                _ => Self::with_any_widths(addressing, bits)
            ),
            other => with_table!(other, (addressing, layout) => Self::with_any_widths(addressing, layout)),
        }
    }
}

/// Something that is compiled for the addressing and the widths of a table that doubles.
pub(crate) trait ForDoubling {
    type Output;

    /// It for a pair that has this addressing and widths of this kind; `C` are the widths, as constants where those are usual.
    fn compiled<A: Addressing, G: Widths, C: Widths + From<G>>(self) -> Self::Output
    where
        Pair: PairOf<A, G>;
}

/// What is compiled for a pair of a table that doubles, and `None` for the others.
pub(crate) fn for_doubling<F: ForDoubling>(pair: &Pair, what: F) -> Option<F::Output> {
    Some(match pair {
        Pair::DoublingNarrow(_, widths) => with_constant_bits!(
            widths.numbers().slots_and_bits(),
            [8 9 10 11 12 13 14 15 16],
            BITS => what.compiled::<DoublingAddressing, AnyWidths<u64>, ConstantWidths<u64, 4, BITS>>(),
            _ => what.compiled::<DoublingAddressing, AnyWidths<u64>, AnyWidths<u64>>()
        ),
        Pair::DoublingWide(_, widths) => with_constant_bits!(
            widths.numbers().slots_and_bits(),
            [17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32],
            BITS => what.compiled::<DoublingAddressing, AnyWidths<u128>, ConstantWidths<u128, 4, BITS>>(),
            _ => what.compiled::<DoublingAddressing, AnyWidths<u128>, AnyWidths<u128>>()
        ),
        Pair::DoublingLong(..) => what.compiled::<DoublingAddressing<true>, AnyWidths<u128>, AnyWidths<u128>>(),
        _ => return None,
    })
}

impl<A: Addressing, C: Widths, M> CuckooTable<A, PackedTable<C, M>> {
    /// The table of a pair, over memory of any kind. Its widths are the pair's own, or made of them with constants.
    #[inline(always)]
    pub(crate) fn of_pair<G: Widths>(pair: &Pair, memory: M) -> Self
    where
        Pair: PairOf<A, G>,
        C: From<G>,
    {
        let (&addressing, &widths) = pair.parts();
        Self { addressing, slots: PackedTable::new(C::from(widths), memory) }
    }
}

/// The operations of a scheme.
struct Compiled;

impl ForDoubling for Compiled {
    type Output = &'static Operations;

    fn compiled<A: Addressing, G: Widths, C: Widths + From<G>>(self) -> &'static Operations
    where
        Pair: PairOf<A, G>,
    {
        const { &Operations { relocate: relocate::<A, G, C>, ..Operations::compiled::<A, G, C>() } }
    }
}
