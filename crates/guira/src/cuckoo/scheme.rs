//! The schemes: the pairs of an addressing and a layout that there are.

use super::{CuckooTable, NoRoom};
use crate::addressing::{
    Addressing, AnySize, DaryAddressing, DoublingAddressing, PowerOfTwoAddressing, RegionalAddressing, Size65536,
    WindowedAddressing,
};
use crate::digest::Digest;
use crate::parameters::{self, Parameters};
use crate::table::{AnyFingerprintBits, AnyWidths, Layout, ValuedWidths};

/// Lists the schemes: of each the addressing, and the layout with its widths.
macro_rules! schemes {
    ($($name:ident: $addressing:ty, $layout:ty;)*) => {
        /// How the fingerprints of a filter are placed and kept: an addressing and a layout, with all their numbers. It
        /// says nothing of the memory that holds them, and works on any.
        ///
        /// Which scheme it is stands in a byte of its own: hidden in a field, where the compiler would put it, it takes
        /// seven instructions to find.
        #[derive(Clone, Copy, Debug)]
        #[repr(u8)]
        pub(crate) enum Scheme {
            $($name($addressing, $layout),)*
        }

        /// Evaluates an expression with the addressing and the layout of whichever scheme it is.
        macro_rules! with_scheme {
            ($scheme:expr, ($a:ident, $l:ident) => $body:expr) => {
                match $scheme {
                    $($crate::cuckoo::Scheme::$name($a, $l) => $body,)*
                }
            };
        }
    };
}

// "Narrow" buckets fit a 64-bit word wherever they start in their byte, and those of "bytes" start at one; "wide" ones need
// 128 bits, or several words. "Aligned" regions have 2^16 buckets.
schemes! {
    AlignedBytes: RegionalAddressing<Size65536>, AnyWidths<u64, true>;
    AlignedNarrow: RegionalAddressing<Size65536>, AnyWidths<u64>;
    RegionalBytes: RegionalAddressing, AnyWidths<u64, true>;
    RegionalNarrow: RegionalAddressing, AnyWidths<u64>;
    RegionalWide: RegionalAddressing, AnyWidths<u128>;
    DoublingNarrow: DoublingAddressing, AnyWidths<u64>;
    DoublingWide: DoublingAddressing, AnyWidths<u128>;
    PowerOfTwoNarrow: PowerOfTwoAddressing, AnyWidths<u64>;
    PowerOfTwoWide: PowerOfTwoAddressing, AnyWidths<u128>;
    TernaryNarrow: DaryAddressing<3>, AnyWidths<u64>;
    TernaryWide: DaryAddressing<3>, AnyWidths<u128>;
    QuaternaryNarrow: DaryAddressing<4>, AnyWidths<u64>;
    QuaternaryWide: DaryAddressing<4>, AnyWidths<u128>;
    RegionalSemiSortedNarrow: RegionalAddressing, AnyFingerprintBits<u64>;
    RegionalSemiSortedWide: RegionalAddressing, AnyFingerprintBits<u128>;
    PowerOfTwoSemiSortedNarrow: PowerOfTwoAddressing, AnyFingerprintBits<u64>;
    PowerOfTwoSemiSortedWide: PowerOfTwoAddressing, AnyFingerprintBits<u128>;
    Windows2Narrow: WindowedAddressing<2>, AnyWidths<u64>;
    Windows2Wide: WindowedAddressing<2>, AnyWidths<u128>;
    Windows3Narrow: WindowedAddressing<3>, AnyWidths<u64>;
    Windows3Wide: WindowedAddressing<3>, AnyWidths<u128>;
    Windows4Narrow: WindowedAddressing<4>, AnyWidths<u64>;
    Windows4Wide: WindowedAddressing<4>, AnyWidths<u128>;
    ValuedNarrow: RegionalAddressing, ValuedWidths<u64>;
    ValuedWide: RegionalAddressing, ValuedWidths<u128>;
}

/// Evaluates an expression with the cuckoo table of whichever scheme it is, over memory that is read (`over`) or bytes that
/// are written (`over_mut`).
macro_rules! with_table {
    ($scheme:expr, over($memory:expr), $table:ident => $body:expr) => {
        $crate::cuckoo::with_scheme!($scheme, (addressing, layout) => {
            let (addressing, slots) = (*addressing, $crate::table::Layout::over(*layout, $memory));
            let $table = $crate::cuckoo::CuckooTable { addressing, slots };
            $body
        })
    };
    ($scheme:expr, over_mut($memory:expr), $table:ident => $body:expr) => {
        $crate::cuckoo::with_scheme!($scheme, (addressing, layout) => {
            let (addressing, slots) = (*addressing, $crate::table::Layout::over_mut(*layout, $memory));
            let mut $table = $crate::cuckoo::CuckooTable { addressing, slots };
            $body
        })
    };
}

/// Evaluates an expression with the cuckoo table of a packed scheme, over words that threads share.
#[cfg(feature = "std")]
macro_rules! with_shared_table {
    ($scheme:expr, $words:expr, $table:ident => $body:expr) => {
        $crate::cuckoo::with_shared_table!(@each $scheme, $words, $table => $body;
            AlignedBytes AlignedNarrow RegionalBytes RegionalNarrow RegionalWide DoublingNarrow DoublingWide PowerOfTwoNarrow
            PowerOfTwoWide TernaryNarrow TernaryWide QuaternaryNarrow QuaternaryWide)
    };
    (@each $scheme:expr, $words:expr, $table:ident => $body:expr; $($name:ident)*) => {
        match $scheme {
            $($crate::cuckoo::Scheme::$name(addressing, widths) => {
                let slots = $crate::table::PackedTable::new(*widths, $words);
                let $table = $crate::cuckoo::CuckooTable { addressing: *addressing, slots };
                $body
            })*
            _ => unreachable!("only packed tables are shared"),
        }
    };
}

/// Evaluates an expression with the cuckoo table of a scheme with values, over memory that is read or written.
macro_rules! with_valued_table {
    ($scheme:expr, $memory:expr, $table:ident => $body:expr) => {
        $crate::cuckoo::with_valued_table!(@each $scheme, $memory, $table => $body; ValuedNarrow ValuedWide)
    };
    (@each $scheme:expr, $memory:expr, $table:ident => $body:expr; $($name:ident)*) => {
        match $scheme {
            $($crate::cuckoo::Scheme::$name(addressing, widths) => {
                let slots = $crate::table::ValuedTable::new(*widths, $memory);
                #[allow(unused_mut, reason = "some expressions write")]
                let mut $table = $crate::cuckoo::CuckooTable { addressing: *addressing, slots };
                $body
            })*
            _ => unreachable!("a table with values"),
        }
    };
}

#[cfg(feature = "std")]
pub(crate) use with_shared_table;
/// Evaluates an expression with addressing and layout, for the usual widths with these as constants.
macro_rules! with_constants {
    ($scheme:expr, ($a:ident, $l:ident) => $body:expr) => {
        match $scheme {
            $crate::cuckoo::Scheme::AlignedBytes($a, widths) => $crate::cuckoo::with_constants!(4 widths, 4: 2 4 6 8 10 12 14 16, $l => $body),
            $crate::cuckoo::Scheme::AlignedNarrow($a, widths) => $crate::cuckoo::with_constants!(4 widths, 4: 3 5 7 9 11 13, $l => $body),
            $crate::cuckoo::Scheme::RegionalBytes($a, widths) => $crate::cuckoo::with_constants!(4 widths, 4: 2 4 6 8 10 12 14 16, $l => $body),
            $crate::cuckoo::Scheme::RegionalNarrow($a, widths) => $crate::cuckoo::with_constants!(4 widths, 4: 3 5 7 9 11 13, $l => $body),
            $crate::cuckoo::Scheme::DoublingNarrow($a, widths) => $crate::cuckoo::with_constants!(4 widths, 4: 8 9 10 11 12 13 14, $l => $body),
            $crate::cuckoo::Scheme::Windows2Narrow($a, widths) => $crate::cuckoo::with_constants!(2 widths, 1: 6 7 8 9 10 11 12 13 14 15 16, $l => $body),
            $crate::cuckoo::Scheme::Windows3Narrow($a, widths) => $crate::cuckoo::with_constants!(3 widths, 1: 6 7 8 9 10 11 12 13 14 15 16, $l => $body),
            $crate::cuckoo::Scheme::Windows4Narrow($a, widths) => $crate::cuckoo::with_constants!(4 widths, 1: 6 7 8 9 10 11 12 13 14, $l => $body),
            $crate::cuckoo::Scheme::RegionalSemiSortedNarrow($a, widths) => match widths.get() {
                5 => { let $l = &$crate::table::ConstantFingerprintBits::<5>; $body }
                6 => { let $l = &$crate::table::ConstantFingerprintBits::<6>; $body }
                7 => { let $l = &$crate::table::ConstantFingerprintBits::<7>; $body }
                8 => { let $l = &$crate::table::ConstantFingerprintBits::<8>; $body }
                9 => { let $l = &$crate::table::ConstantFingerprintBits::<9>; $body }
                10 => { let $l = &$crate::table::ConstantFingerprintBits::<10>; $body }
                11 => { let $l = &$crate::table::ConstantFingerprintBits::<11>; $body }
                12 => { let $l = &$crate::table::ConstantFingerprintBits::<12>; $body }
                13 => { let $l = &$crate::table::ConstantFingerprintBits::<13>; $body }
                14 => { let $l = &$crate::table::ConstantFingerprintBits::<14>; $body }
                _ => { let $l = &$crate::table::ConstantFingerprintBits::<15>; $body }
            },
            other => $crate::cuckoo::with_scheme!(other, ($a, $l) => $body),
        }
    };
    ($slots:literal $widths:ident, $slots_per_step:literal: $($bits:literal)*, $l:ident => $body:expr) => {
        match $crate::table::Widths::slots_and_bits(*$widths) {
            $(($slots, $bits) => {
                let $l = &$crate::table::ConstantWidths::<$slots, $bits, { $slots_per_step * $bits }>;
                $body
            })*
            _ => {
                let $l = $widths;
                $body
            }
        }
    };
}

#[expect(clippy::single_component_path_imports, reason = "other files need them by path")]
pub(crate) use {with_constants, with_scheme, with_table, with_valued_table};

impl Scheme {
    /// The scheme of filters with these parameters.
    pub(crate) fn new(parameters: &Parameters, seed: u64) -> Self {
        use parameters::Addressing::{Doubling, PowerOfTwo, Quaternary, Regional, Ternary};
        use parameters::Layout::{Packed, SemiSorted, Windowed};

        let any_size = || AnySize::new(parameters.buckets_per_region());
        let regional = || RegionalAddressing::new(parameters, any_size(), seed);
        let aligned = || RegionalAddressing::new(parameters, Size65536, seed);
        let is_aligned = parameters.buckets_per_region() == Size65536::BUCKETS;
        let fits = "all buckets fit some words";
        /// The narrowest words that fit.
        macro_rules! packed {
            ($addressing:expr, $narrow:ident, $wide:ident) => {
                match AnyWidths::new(parameters) {
                    Some(widths) => Self::$narrow($addressing, widths),
                    None => Self::$wide($addressing, AnyWidths::new(parameters).expect(fits)),
                }
            };
        }
        macro_rules! semi_sorted {
            ($addressing:expr, $narrow:ident, $wide:ident) => {
                match AnyFingerprintBits::new(parameters.fingerprint_bits()) {
                    Some(bits) => Self::$narrow($addressing, bits),
                    None => {
                        Self::$wide($addressing, AnyFingerprintBits::new(parameters.fingerprint_bits()).expect(fits))
                    }
                }
            };
        }
        if parameters.value_bits() > 0 {
            return match ValuedWidths::new(parameters) {
                Some(widths) => Self::ValuedNarrow(regional(), widths),
                None => Self::ValuedWide(regional(), ValuedWidths::new(parameters).expect(fits)),
            };
        }
        match (parameters.layout(), parameters.addressing(), parameters.slots_per_bucket()) {
            (Packed, Regional, _) if is_aligned => match (AnyWidths::new(parameters), AnyWidths::new(parameters)) {
                (Some(widths), _) => Self::AlignedBytes(aligned(), widths),
                (None, Some(widths)) => Self::AlignedNarrow(aligned(), widths),
                (None, None) => Self::RegionalWide(regional(), AnyWidths::new(parameters).expect(fits)),
            },
            (Packed, Regional, _) => match AnyWidths::new(parameters) {
                Some(widths) => Self::RegionalBytes(regional(), widths),
                None => packed!(regional(), RegionalNarrow, RegionalWide),
            },
            (Packed, PowerOfTwo, _) => {
                packed!(PowerOfTwoAddressing::new(parameters, seed), PowerOfTwoNarrow, PowerOfTwoWide)
            }
            (Packed, Doubling, _) => packed!(DoublingAddressing::new(parameters, seed), DoublingNarrow, DoublingWide),
            (Packed, Ternary, _) => packed!(DaryAddressing::new(parameters, seed), TernaryNarrow, TernaryWide),
            (Packed, Quaternary, _) => packed!(DaryAddressing::new(parameters, seed), QuaternaryNarrow, QuaternaryWide),
            (SemiSorted, PowerOfTwo, _) => semi_sorted!(
                PowerOfTwoAddressing::new(parameters, seed),
                PowerOfTwoSemiSortedNarrow,
                PowerOfTwoSemiSortedWide
            ),
            (SemiSorted, _, _) => semi_sorted!(regional(), RegionalSemiSortedNarrow, RegionalSemiSortedWide),
            (Windowed, _, 2) => packed!(WindowedAddressing::new(parameters, seed), Windows2Narrow, Windows2Wide),
            (Windowed, _, 3) => packed!(WindowedAddressing::new(parameters, seed), Windows3Narrow, Windows3Wide),
            (Windowed, _, _) => packed!(WindowedAddressing::new(parameters, seed), Windows4Narrow, Windows4Wide),
        }
    }

    /// Algorithm 2.
    ///
    /// The schemes that are planned by default become part of the caller: in a loop over keys, all their numbers then stay in
    /// registers. With more of them there, the compiler keeps what any of them needs at hand, and call sites grow.
    #[inline(always)]
    pub(crate) fn contains(&self, bytes: &[u8], digest: Digest) -> bool {
        match self {
            Self::AlignedBytes(addressing, layout) => contains(addressing, layout, bytes, digest),
            Self::AlignedNarrow(addressing, layout) => contains(addressing, layout, bytes, digest),
            Self::RegionalBytes(addressing, layout) => contains(addressing, layout, bytes, digest),
            Self::RegionalNarrow(addressing, layout) => contains(addressing, layout, bytes, digest),
            _ => self.contains_elsewhere(bytes, digest),
        }
    }

    /// Algorithm 2, where the table is most likely one that can be doubled.
    #[inline]
    pub(crate) fn contains_in_doubling(&self, bytes: &[u8], digest: Digest) -> bool {
        match self {
            Self::DoublingNarrow(addressing, layout) => contains(addressing, layout, bytes, digest),
            _ => self.contains_elsewhere(bytes, digest),
        }
    }

    #[inline(never)]
    fn contains_elsewhere(&self, bytes: &[u8], digest: Digest) -> bool {
        #[inline(never)]
        fn contains_elsewhere<A: Addressing, L: Layout>(
            addressing: &A,
            layout: &L,
            bytes: &[u8],
            digest: Digest,
        ) -> bool {
            contains(addressing, layout, bytes, digest)
        }
        with_constants!(self, (addressing, layout) => contains_elsewhere(addressing, layout, bytes, digest))
    }

    /// How many copies of a key's fingerprint are stored.
    #[inline]
    pub(crate) fn count(&self, bytes: &[u8], digest: Digest) -> u32 {
        #[inline(never)]
        fn count<A: Addressing, L: Layout>(addressing: &A, layout: &L, bytes: &[u8], digest: Digest) -> u32 {
            CuckooTable { addressing: *addressing, slots: layout.over(bytes) }.count(digest)
        }
        with_constants!(self, (addressing, layout) => count(addressing, layout, bytes, digest))
    }

    /// Algorithm 1: see [`CuckooTable::insert`].
    #[inline]
    pub(crate) fn insert(&self, bytes: &mut [u8], digest: Digest) -> Result<(), NoRoom> {
        if self.fill(bytes, digest) { Ok(()) } else { self.insert_by_relocation(bytes, digest) }
    }

    /// Inserts a key if one of its candidate buckets has room. Returns `true` if it was inserted.
    #[inline(never)]
    fn fill(&self, bytes: &mut [u8], digest: Digest) -> bool {
        #[inline(never)]
        fn fill<A: Addressing, L: Layout>(addressing: &A, layout: &L, bytes: &mut [u8], digest: Digest) -> bool {
            let (fingerprint, primary) = addressing.locate(digest);
            CuckooTable { addressing: *addressing, slots: layout.over_mut(bytes) }.fill(fingerprint, primary).is_some()
        }
        with_constants!(self, (addressing, layout) => fill(addressing, layout, bytes, digest))
    }

    #[cold]
    #[inline(never)]
    fn insert_by_relocation(&self, bytes: &mut [u8], digest: Digest) -> Result<(), NoRoom> {
        with_table!(self, over_mut(bytes), table => {
            let (fingerprint, primary) = table.addressing.locate(digest);
            table.insert_by_relocation(fingerprint, primary).map(|_place| ())
        })
    }

    /// Algorithm 3: see [`CuckooTable::remove`].
    #[inline]
    pub(crate) fn remove(&self, bytes: &mut [u8], digest: Digest) -> bool {
        #[inline(never)]
        fn remove<A: Addressing, L: Layout>(addressing: &A, layout: &L, bytes: &mut [u8], digest: Digest) -> bool {
            CuckooTable { addressing: *addressing, slots: layout.over_mut(bytes) }.remove(digest)
        }
        with_constants!(self, (addressing, layout) => remove(addressing, layout, bytes, digest))
    }

    /// See [`CuckooTable::is_well_formed`].
    pub(crate) fn is_well_formed(&self, bytes: &[u8]) -> bool {
        with_table!(self, over(bytes), table => table.is_well_formed())
    }

    /// See [`CuckooTable::occupied_slots`].
    pub(crate) fn occupied_slots(&self, bytes: &[u8]) -> u64 {
        with_table!(self, over(bytes), table => table.occupied_slots())
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
