//! The operations of a scheme, each compiled for its addressing and its layout.

use super::CuckooTable;
use super::blocks::{BLOCK, Located};
use super::scheme::{Pair, Scheme, operations_of_any_widths};
use crate::addressing::Addressing;
use crate::digest::Digest;
use crate::table::{ConstantFingerprintBits, ConstantWidths, Layout, Widths};

/// The operations on one key or one block of keys, as functions compiled for one pair, which they must be given, or the scheme
/// with it. They are chosen once, when the scheme is made, so that a call reaches the code for its addressing and layout with a
/// single jump.
#[derive(Debug)]
pub(crate) struct Operations {
    pub(super) contains: Contains,
    /// Inserts a key if one of its candidate buckets has room. Returns `true` if it was inserted.
    pub(super) fill: Fill,
    pub(super) remove: Remove,
    /// Prefetches the candidate buckets of some keys.
    pub(super) prefetch: fn(&Pair, &[u8], &[Digest]),
    /// Looks up a block of keys in a table that is in the cache.
    pub(super) look_up: fn(&Pair, &[u8], &[Digest; BLOCK], &mut [bool]),
    /// Looks up a block of keys whose buckets were prefetched, and prefetches those of the next block.
    pub(super) answer: fn(&Pair, &[u8], &Located, &Located, &mut [bool]),
    pub(super) fill_absent: FillAbsent,
}

pub(super) type Contains = fn(&Scheme, &[u8], Digest) -> bool;

type Fill = fn(&Scheme, &mut [u8], Digest) -> bool;

type Remove = fn(&Scheme, &mut [u8], Digest) -> bool;

/// Stores those of a block of keys that are not found: see [`CuckooTable::fill_absent`].
type FillAbsent = fn(&Pair, &mut [u8], usize, [&Located; 2], &mut [bool]) -> usize;

#[cold]
#[inline(never)]
pub(super) fn other_pair() -> ! {
    unreachable!("operations that were chosen for this pair")
}

/// The table of a pair, whose layout is given, made of bytes that are read or written.
macro_rules! table {
    ($name:ident, $layout:pat, $compiled:expr, $pair:ident.$over:ident($bytes:ident)) => {{
        let Pair::$name(addressing, $layout) = $pair else { other_pair() };
        CuckooTable { addressing: *addressing, slots: $compiled.$over($bytes) }
    }};
}

/// The operations of a pair with a given layout: the pair's own, or one whose widths are constants.
macro_rules! operations {
    ($name:ident, $layout:pat => $compiled:expr) => {
        const {
            &Operations {
                contains: |scheme, bytes, digest| {
                    let pair = &scheme.pair;
                    table!($name, $layout, $compiled, pair.over(bytes)).contains(digest)
                },
                fill: |scheme, bytes, digest| {
                    let pair = &scheme.pair;
                    let mut table = table!($name, $layout, $compiled, pair.over_mut(bytes));
                    let (fingerprint, primary) = table.addressing.locate(digest);
                    table.fill(fingerprint, primary).is_some()
                },
                remove: |scheme, bytes, digest| {
                    let pair = &scheme.pair;
                    table!($name, $layout, $compiled, pair.over_mut(bytes)).remove(digest)
                },
                prefetch: |pair, bytes, digests| {
                    table!($name, $layout, $compiled, pair.over(bytes)).prefetch_each(digests);
                },
                look_up: |pair, bytes, digests, answers| {
                    table!($name, $layout, $compiled, pair.over(bytes)).look_up(digests, answers);
                },
                answer: |pair, bytes, located, next, answers| {
                    table!($name, $layout, $compiled, pair.over(bytes)).contains_many_into(located, next, answers);
                },
                fill_absent: |pair, bytes, from, [located, next], stored| {
                    table!($name, $layout, $compiled, pair.over_mut(bytes)).fill_absent(from, located, next, stored)
                },
            }
        }
    };
}

impl Operations {
    /// These operations, with another way to fill a slot.
    const fn filling(&self, fill: Fill) -> Self {
        Self { fill, ..*self }
    }

    /// The operations of a pair: with the usual widths as constants where that saves much, which in buckets of 64 bits it does only
    /// in tables that double.
    pub(super) fn of(pair: &Pair) -> &'static Self {
        /// The operations of packed buckets for the slots and bits that are listed.
        macro_rules! packed {
            ($name:ident, $word:ty, $widths:ident, $slots:literal slots: $($bits:literal)*) => {
                match $widths.slots_and_bits() {
                    $(($slots, $bits) => {
                        operations!($name, _ => ConstantWidths::<$word, $slots, $bits>::new())
                    })*
                    _ => operations!($name, widths => *widths),
                }
            };
        }
        macro_rules! semi_sorted {
            ($name:ident, $widths:ident: $($bits:literal)*) => {
                match $widths.get() {
                    $($bits => operations!($name, _ => ConstantFingerprintBits::<$bits>),)*
                    _ => operations!($name, widths => *widths),
                }
            };
        }
        match pair {
            // These are planned by default, and have a faster way to fill a slot.
            Pair::AlignedBytes(..) => {
                const {
                    &operations!(AlignedBytes, widths => *widths)
                        .filling(|scheme, bytes, digest| scheme.planned.fill_aligned::<true>(bytes, digest))
                }
            }
            Pair::AlignedNarrow(..) => {
                const {
                    &operations!(AlignedNarrow, widths => *widths)
                        .filling(|scheme, bytes, digest| scheme.planned.fill_aligned::<false>(bytes, digest))
                }
            }
            Pair::RegionalBytes(..) => {
                const {
                    &operations!(RegionalBytes, widths => *widths)
                        .filling(|scheme, bytes, digest| scheme.planned.fill_regional::<true>(bytes, digest))
                }
            }
            Pair::RegionalNarrow(..) => {
                const {
                    &operations!(RegionalNarrow, widths => *widths)
                        .filling(|scheme, bytes, digest| scheme.planned.fill_regional::<false>(bytes, digest))
                }
            }
            Pair::DoublingNarrow(_, widths) => {
                packed!(DoublingNarrow, u64, widths, 4 slots: 8 9 10 11 12 13 14)
            }
            Pair::DoublingWide(_, widths) => {
                packed!(DoublingWide, u128, widths, 4 slots: 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32)
            }
            Pair::RegionalWide(_, widths) if widths.lanes_of_half().is_some() => {
                const {
                    &Operations {
                        fill: |scheme, bytes, digest| scheme.planned.fill_halved(bytes, digest),
                        remove: |scheme, bytes, digest| scheme.planned.remove_halved(bytes, digest),
                        ..*operations!(RegionalWide, widths => *widths)
                    }
                }
            }
            Pair::RegionalWide(_, widths) => {
                packed!(RegionalWide, u128, widths, 4 slots: 15 17 18 19 20 21 22 24)
            }
            Pair::AlignedSemiSorted(_, bits) => semi_sorted!(AlignedSemiSorted, bits: 5 6 7 8 9 10 11 12 13 14 15),
            Pair::RegionalSemiSortedNarrow(_, bits) => {
                semi_sorted!(RegionalSemiSortedNarrow, bits: 5 6 7 8 9 10 11 12 13 14 15)
            }
            other => operations_of_any_widths!(other),
        }
    }
}
