//! Operations on the tables that are planned by default, and on those whose buckets are read in halves. Lookups and removals of the
//! former are inlined into their callers, and no others, since each way makes call sites larger. Which of them a table is, a few flags
//! say there: asking for its pair is a jump through a table of all pairs.

use core::hint::select_unpredictable;

use super::Pair;
use super::operations::Contains;
#[cfg(feature = "concurrent")]
use crate::addressing::BucketIndex;
use crate::addressing::{AnySize, Fingerprint, RegionSize, RegionalAddressing};
use crate::digest::Digest;
use crate::parameters::Parameters;
use crate::probe::{AnyRegions, Below, Buckets, Bytes, Extent, Lanes, OneRegion, Reading, Regions, Regions65536};
#[cfg(feature = "concurrent")]
use crate::table::BitsOfSlot;
use crate::table::Widths as _;

/// An empty slot, and its bucket.
#[cfg(feature = "concurrent")]
pub(crate) type Vacant = (BucketIndex, BitsOfSlot);

/// What a lookup does before and after it reads the buckets of a fingerprint.
pub(crate) trait Look {
    type Watch;
    type Output;

    fn begin(self, fingerprint: Fingerprint) -> Self::Watch;

    fn end(watch: Self::Watch, found: bool) -> Self::Output;
}

/// Nothing, in a table that nobody writes meanwhile.
pub(crate) struct Once;

impl Look for Once {
    type Watch = ();
    type Output = bool;

    #[inline(always)]
    fn begin(self, _fingerprint: Fingerprint) {}

    #[inline(always)]
    fn end((): (), found: bool) -> bool {
        found
    }
}

/// The numbers of tables that are planned by default, without a choice of addressing and layout: packed buckets that fit 64 bits,
/// in regions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    addressing: RegionalAddressing,
    lanes: Lanes<u64>,
    /// The buckets of the table, whichever it is.
    extent: Extent,
}

impl Planned {
    pub(super) fn new(parameters: &Parameters, pair: &Pair, seed: u64) -> Self {
        use Pair::{AlignedBytes, AlignedNarrow, RegionalBytes, RegionalNarrow, RegionalWide};

        let addressing = RegionalAddressing::new(parameters, AnySize::new(parameters.buckets_per_region()), seed);
        let planned = match pair {
            AlignedBytes(_, widths) | RegionalBytes(_, widths) => Some((widths.lanes(), Reading::Bytes)),
            AlignedNarrow(_, widths) | RegionalNarrow(_, widths) => Some((widths.lanes(), Reading::Bits)),
            // The lanes are those of a half.
            RegionalWide(_, widths) => widths.lanes_of_half().map(|lanes| (lanes, Reading::Halves)),
            _ => None,
        };
        let (lanes, reading) = planned.unzip();
        let (regions, size) = (parameters.region_count(), parameters.buckets_per_region());
        let extent = Extent::new(regions, size, parameters.bucket_bits(), reading);
        Self { addressing, lanes: lanes.unwrap_or(Lanes::of_64(1, 1)), extent }
    }

    pub(super) const fn is_in_regions_of_65536(&self) -> bool {
        self.extent.ways().words_of_65536 || self.extent.ways().halves_of_65536
    }

    /// Algorithm 2 for the pairs that are planned by default, and `None` for all others.
    ///
    /// In a loop over keys, conditions that are the same for all keys are asked for once, and each answer has a loop of its own; with
    /// more than about eight of them the compiler leaves them where they are.
    #[inline(always)]
    pub(super) fn look<M: Bytes, L: Look>(&self, memory: M, digest: Digest, look: L) -> Option<L::Output> {
        let buckets = self.extent.over(memory);
        let ways = self.extent.ways();
        if ways.bytes_of_65536 {
            return Some(self.look_in::<Regions65536, true, M, L>(&buckets, digest, look));
        }
        if ways.bits_of_65536 {
            return Some(self.look_in::<Regions65536, false, M, L>(&buckets, digest, look));
        }
        if ways.bytes_of_one {
            return Some(self.look_in::<OneRegion, true, M, L>(&buckets, digest, look));
        }
        if ways.bits_of_one {
            return Some(self.look_in::<OneRegion, false, M, L>(&buckets, digest, look));
        }
        if ways.words_of_several {
            return Some(self.look_in::<AnyRegions, false, M, L>(&buckets, digest, look));
        }
        None
    }

    #[inline(always)]
    fn look_in<R: Regions, const WHOLE_BYTES: bool, M: Bytes, L: Look>(
        &self,
        buckets: &Buckets<M>,
        digest: Digest,
        look: L,
    ) -> L::Output {
        let (fingerprint, [first, second]) = self.addressing.locate_in::<R>(buckets, digest);
        let watch = look.begin(fingerprint);
        // Not by `map`, which is a call where this is inlined several times.
        let (first, second) = (buckets.word::<WHOLE_BYTES>(first), buckets.word::<WHOLE_BYTES>(second));
        L::end(watch, self.lanes.any_equal_of_two(first, second, self.lanes.broadcast(fingerprint.get())))
    }

    /// Algorithm 2 where buckets are read in halves, and `None` for other tables.
    #[cfg(feature = "concurrent")]
    #[inline(always)]
    pub(super) fn look_in_halves<M: Bytes, L: Look>(&self, memory: M, digest: Digest, look: L) -> Option<L::Output> {
        // A function for each kind of regions: one for both holds more values in registers, which it has to save first.
        self.extent.ways().halves.then(|| {
            if self.extent.ways().halves_of_65536 {
                self.look_in_both_halves::<Regions65536, M, L>(memory, digest, look)
            } else {
                self.look_in_both_halves::<AnyRegions, M, L>(memory, digest, look)
            }
        })
    }

    /// Algorithm 2 where buckets are read in halves, as a function; `None` for other tables.
    pub(super) fn contains_in_halves(&self) -> Option<Contains> {
        self.extent.ways().halves.then_some(if self.extent.ways().halves_of_65536 {
            |scheme, bytes, digest| scheme.planned.look_in_both_halves::<Regions65536, _, _>(bytes, digest, Once)
        } else {
            |scheme, bytes, digest| scheme.planned.look_in_both_halves::<AnyRegions, _, _>(bytes, digest, Once)
        })
    }

    #[inline(always)]
    fn look_in_both_halves<R: Regions, M: Bytes, L: Look>(&self, memory: M, digest: Digest, look: L) -> L::Output {
        let buckets = self.extent.over(memory);
        let (fingerprint, [first, second]) = self.addressing.locate_in::<R>(&buckets, digest);
        let watch = look.begin(fingerprint);
        let (lanes, pattern) = (self.lanes, self.lanes.broadcast(fingerprint.get()));
        let ([a, b], [c, d]) = (buckets.halves(first), buckets.halves(second));
        L::end(watch, lanes.any_equal_of_two(a, b, pattern) | lanes.any_equal_of_two(c, d, pattern))
    }

    /// The fingerprint of a key, and the first empty slot of the emptier of its buckets, with the number of that bucket, or `None` where
    /// both are full; all this for the pairs that are planned by default, and `None` for all others.
    #[cfg(feature = "concurrent")]
    #[inline(always)]
    pub(super) fn vacant<M: Bytes>(&self, memory: M, digest: Digest) -> Option<(Fingerprint, Option<Vacant>)> {
        let ways = self.extent.ways();
        if !(ways.words_of_65536 | ways.words_of_one | ways.words_of_several) {
            return None;
        }
        let buckets = self.extent.over(memory);
        Some(if ways.words_of_65536 {
            self.vacant_in::<Regions65536, M>(&buckets, digest)
        } else {
            self.vacant_in::<AnyRegions, M>(&buckets, digest)
        })
    }

    #[cfg(feature = "concurrent")]
    #[inline(always)]
    fn vacant_in<R: Regions, M: Bytes>(&self, buckets: &Buckets<M>, digest: Digest) -> (Fingerprint, Option<Vacant>) {
        let (fingerprint, [first, second]) = self.addressing.locate_in::<R>(buckets, digest);
        let (in_first, in_second) = (buckets.word::<false>(first), buckets.word::<false>(second));
        let slot = self.lanes.lowest_zero_of_two(in_first, in_second).map(|(is_first, bit)| {
            let (number, first_bit) = buckets.number_and_bit(Below::select(is_first, first, second));
            let bits = BitsOfSlot { first: first_bit + u64::from(bit), count: self.lanes.width() };
            (BucketIndex::new(number), bits)
        });
        (fingerprint, slot)
    }

    /// Algorithm 1 where there is room, and `false` where there is none.
    #[inline(always)]
    pub(super) fn fill<R: RegionSize, const WHOLE_BYTES: bool>(&self, bytes: &mut [u8], digest: Digest) -> bool {
        let mut buckets = self.extent.over(bytes);
        let ways = self.extent.ways();
        if R::IS_65536 {
            // As the pair says; `change_in` has to see it here.
            ways.words_of_65536 && self.change_in::<Regions65536, WHOLE_BYTES>(&mut buckets, digest, Change::Fill)
        } else if ways.words_of_one {
            self.change_in::<OneRegion, WHOLE_BYTES>(&mut buckets, digest, Change::Fill)
        } else {
            self.change_in::<AnyRegions, WHOLE_BYTES>(&mut buckets, digest, Change::Fill)
        }
    }

    /// Algorithm 3 for the pairs that are planned by default, and `None` for all others.
    #[inline(always)]
    pub(super) fn remove(&self, bytes: &mut [u8], digest: Digest) -> Option<bool> {
        let ways = self.extent.ways();
        if ways.words_of_65536 {
            return Some(self.remove_in::<Regions65536>(bytes, digest));
        }
        if ways.words_of_one {
            return Some(self.remove_in::<OneRegion>(bytes, digest));
        }
        if ways.words_of_several {
            return Some(self.remove_in::<AnyRegions>(bytes, digest));
        }
        None
    }

    #[inline(always)]
    fn remove_in<R: Regions>(&self, bytes: &mut [u8], digest: Digest) -> bool {
        let mut buckets = self.extent.over(bytes);
        if self.extent.ways().words_start_at_bytes {
            self.change_in::<R, true>(&mut buckets, digest, Change::Remove)
        } else {
            self.change_in::<R, false>(&mut buckets, digest, Change::Remove)
        }
    }

    /// Algorithm 1 where there is room, in buckets that are read in halves, and `false` where there is none.
    pub(super) fn fill_halved(&self, bytes: &mut [u8], digest: Digest) -> bool {
        self.change_halved(bytes, digest, Change::Fill)
    }

    /// Algorithm 3 in buckets that are read in halves.
    pub(super) fn remove_halved(&self, bytes: &mut [u8], digest: Digest) -> bool {
        self.change_halved(bytes, digest, Change::Remove)
    }

    #[inline(always)]
    fn change_halved(&self, bytes: &mut [u8], digest: Digest, change: Change) -> bool {
        let mut buckets = self.extent.over(bytes);
        if self.extent.ways().halves_of_65536 {
            self.change_in_halves::<Regions65536>(&mut buckets, digest, change)
        } else {
            self.change_in_halves::<AnyRegions>(&mut buckets, digest, change)
        }
    }

    #[inline(always)]
    fn change_in_halves<R: Regions>(&self, buckets: &mut Buckets<&mut [u8]>, digest: Digest, change: Change) -> bool {
        let (fingerprint, [first, second]) = self.addressing.locate_in::<R>(buckets, digest);
        let pattern = match change {
            Change::Fill => 0,
            Change::Remove => self.lanes.broadcast(fingerprint.get()),
        };
        let end = |bucket| self.lanes.end_of_lowest_equal_in_halves(buckets.halves(bucket), pattern);
        let (in_first, in_second) = (end(first), end(second));
        let is_first = match change {
            Change::Fill => in_first <= in_second,
            Change::Remove => in_first < 2 * u64::BITS,
        };
        let end = select_unpredictable(is_first, in_first, in_second);
        if end == 2 * u64::BITS {
            return false;
        }
        let bit = end % u64::BITS + 1 - self.lanes.width();
        let half = u64::from(end / u64::BITS);
        buckets.flip_half(Below::select(is_first, first, second), half, fingerprint.get() << bit);
        true
    }

    #[inline(always)]
    fn change_in<R: Regions, const WHOLE_BYTES: bool>(
        &self,
        buckets: &mut Buckets<&mut [u8]>,
        digest: Digest,
        change: Change,
    ) -> bool {
        let (fingerprint, [first, second]) = self.addressing.locate_in::<R>(buckets, digest);
        let (in_first, in_second) = (buckets.word::<WHOLE_BYTES>(first), buckets.word::<WHOLE_BYTES>(second));
        let slot = match change {
            Change::Fill => self.lanes.lowest_zero_of_two(in_first, in_second),
            Change::Remove => {
                self.lanes.lowest_equal_of_two(in_first, in_second, self.lanes.broadcast(fingerprint.get()))
            }
        };
        let Some((is_first, bit)) = slot else { return false };
        let bucket = Below::select(is_first, first, second);
        // An empty slot is 0, so the difference of the two is the fingerprint.
        buckets.flip::<WHOLE_BYTES>(bucket, fingerprint.get() << bit);
        true
    }
}

/// What is done with the fingerprint of a key: it goes into the first empty slot of the emptier bucket, or its first copy goes.
#[derive(Clone, Copy, Debug)]
enum Change {
    Fill,
    Remove,
}
