//! Operations on the tables that are planned by default, and on those whose buckets are read in halves. Lookups and removals of the
//! former are inlined into their callers, and no others, since each way makes call sites larger. Which of them a table is, a few flags
//! say there: asking for its pair is a jump through a table of all pairs.

use core::hint::select_unpredictable;

#[cfg(feature = "concurrent")]
use crate::addressing::BucketIndex;
use crate::addressing::{AnySize, Fingerprint, RegionSize, RegionalAddressing};
use crate::digest::Digest;
use crate::parameters::{Addressing, Layout, Parameters};
use crate::probe::{AnyRegions, Below, Buckets, Bytes, Extent, Lanes, OneRegion, Regions, Regions65536, Ways};
#[cfg(feature = "concurrent")]
use crate::table::BitsOfSlot;

/// The fingerprint of a key, and the slot that a change is made in, with its bucket; `None` where there is no such slot.
#[cfg(feature = "concurrent")]
pub(crate) type Found = (Fingerprint, Option<(BucketIndex, BitsOfSlot)>);

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
pub(crate) struct Planned {
    addressing: RegionalAddressing,
    lanes: Lanes<u64>,
    /// The buckets of the table, whichever it is.
    extent: Extent,
}

impl Planned {
    pub(super) fn new(parameters: &Parameters, seed: u64) -> Self {
        let (regions, size) = (parameters.region_count(), parameters.buckets_per_region());
        let addressing = RegionalAddressing::new(parameters, AnySize::new(size), seed);
        let is_planned = parameters.layout() == Layout::Packed
            && parameters.addressing() == Addressing::Regional
            && parameters.value_bits() == 0;
        let words = Some(parameters.words_of_bucket()).filter(|&words| is_planned && words <= 2);
        // Those of a word, which is a bucket or a half of one.
        let lanes = words.map_or(Lanes::of_64(1, 1), |words| {
            Lanes::of_64(parameters.slots_per_bucket() / words, parameters.bits_per_slot())
        });
        Self { addressing, lanes, extent: Extent::new(regions, size, parameters.bucket_bits(), words) }
    }

    pub(super) const fn ways(&self) -> &Ways {
        self.extent.ways()
    }

    /// Whether there are operations of its own for this table because its regions have 2^16 buckets.
    pub(crate) const fn is_in_regions_of_65536(&self) -> bool {
        self.ways().words_of_65536 || self.ways().halves_of_65536
    }

    /// Algorithm 2 for the pairs that are planned by default, and `None` for all others.
    ///
    /// In a loop over keys, conditions that are the same for all keys are asked for once, and each answer has a loop of its own; with
    /// more than about eight of them the compiler leaves them where they are.
    #[inline(always)]
    pub(crate) fn look<M: Bytes, L: Look>(&self, memory: M, digest: Digest, look: L) -> Option<L::Output> {
        let buckets = self.extent.over(memory);
        let ways = self.ways();
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
    pub(crate) fn look_in_halves<M: Bytes, L: Look>(&self, memory: M, digest: Digest, look: L) -> Option<L::Output> {
        // A function for each kind: one for all holds more values in registers, which it has to save first.
        let ways = self.ways();
        ways.halves.then(|| match (ways.halves_of_65536, ways.start_at_bytes) {
            (true, true) => self.look_in_both_halves::<Regions65536, true, M, L>(memory, digest, look),
            (true, false) => self.look_in_both_halves::<Regions65536, false, M, L>(memory, digest, look),
            (false, true) => self.look_in_both_halves::<AnyRegions, true, M, L>(memory, digest, look),
            (false, false) => self.look_in_both_halves::<AnyRegions, false, M, L>(memory, digest, look),
        })
    }

    /// Algorithm 2 in buckets that are read in halves.
    #[inline(always)]
    pub(super) fn look_in_both_halves<R: Regions, const WHOLE_BYTES: bool, M: Bytes, L: Look>(
        &self,
        memory: M,
        digest: Digest,
        look: L,
    ) -> L::Output {
        let buckets = self.extent.over(memory);
        let (fingerprint, [first, second]) = self.addressing.locate_in::<R>(&buckets, digest);
        let watch = look.begin(fingerprint);
        let (lanes, pattern) = (self.lanes, self.lanes.broadcast(fingerprint.get()));
        let ([a, b], [c, d]) = (buckets.halves::<WHOLE_BYTES>(first), buckets.halves::<WHOLE_BYTES>(second));
        L::end(watch, lanes.any_equal_of_two(a, b, pattern) | lanes.any_equal_of_two(c, d, pattern))
    }

    /// Where a change is made for a key, for the pairs that are planned by default, and `None` for all others.
    #[cfg(feature = "concurrent")]
    #[inline(always)]
    pub(crate) fn find<M: Bytes>(&self, memory: M, digest: Digest, change: Change) -> Option<Found> {
        let ways = self.ways();
        if !(ways.words_of_65536 | ways.words_of_one | ways.words_of_several) {
            return None;
        }
        let buckets = self.extent.over(memory);
        let (fingerprint, slot) = if ways.words_of_65536 {
            self.slot_in::<Regions65536, false, M>(&buckets, digest, change)
        } else {
            self.slot_in::<AnyRegions, false, M>(&buckets, digest, change)
        };
        Some((fingerprint, slot.map(|(bucket, bit)| self.found(&buckets, bucket, 0, bit))))
    }

    /// Where a change is made for a key in buckets that are read in halves, and `None` for other tables.
    #[cfg(feature = "concurrent")]
    #[inline(always)]
    pub(crate) fn find_in_halves<M: Bytes>(&self, memory: M, digest: Digest, change: Change) -> Option<Found> {
        self.ways().halves.then(|| {
            let buckets = self.extent.over(memory);
            let (fingerprint, slot) = if self.ways().halves_of_65536 {
                self.slot_in_halves::<Regions65536, false, M>(&buckets, digest, change)
            } else {
                self.slot_in_halves::<AnyRegions, false, M>(&buckets, digest, change)
            };
            let found = |(bucket, end)| {
                let (half, bit) = self.half_and_bit(end);
                self.found(&buckets, bucket, half, bit)
            };
            (fingerprint, slot.map(found))
        })
    }

    #[cfg(feature = "concurrent")]
    #[inline(always)]
    fn found<M>(&self, buckets: &Buckets<M>, bucket: Below, half: u64, bit: u32) -> (BucketIndex, BitsOfSlot) {
        let (number, first_bit) = buckets.number_and_bit(bucket, half);
        (BucketIndex::new(number), BitsOfSlot { first: first_bit + u64::from(bit), count: self.lanes.width() })
    }

    /// Algorithm 1 where there is room, and `false` where there is none.
    #[inline(always)]
    pub(super) fn fill<R: RegionSize, const WHOLE_BYTES: bool>(&self, bytes: &mut [u8], digest: Digest) -> bool {
        let mut buckets = self.extent.over(bytes);
        let ways = self.ways();
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
    pub(crate) fn remove(&self, bytes: &mut [u8], digest: Digest) -> Option<bool> {
        let ways = self.ways();
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
        if self.ways().start_at_bytes {
            self.change_in::<R, true>(&mut buckets, digest, Change::Remove)
        } else {
            self.change_in::<R, false>(&mut buckets, digest, Change::Remove)
        }
    }

    /// Algorithm 1 where there is room, or Algorithm 3, in buckets that are read in halves. Returns `false` if there is no room, or no
    /// copy.
    #[inline(always)]
    pub(super) fn change_in_halves<R: Regions, const WHOLE_BYTES: bool>(
        &self,
        bytes: &mut [u8],
        digest: Digest,
        change: Change,
    ) -> bool {
        let mut buckets = self.extent.over(bytes);
        let (fingerprint, slot) = self.slot_in_halves::<R, WHOLE_BYTES, _>(&buckets, digest, change);
        let Some((bucket, end)) = slot else { return false };
        let (half, bit) = self.half_and_bit(end);
        buckets.flip_half::<WHOLE_BYTES>(bucket, half, fingerprint.get() << bit);
        true
    }

    /// The half of a bucket that a slot is in, and the bit of that half at which it starts, given its last bit where halves have 64 bits.
    #[inline(always)]
    fn half_and_bit(&self, end: u32) -> (u64, u32) {
        (u64::from(end / u64::BITS), end % u64::BITS + 1 - self.lanes.width())
    }

    /// The fingerprint of a key, and where the slot is that a change is made in: its bucket, and its last bit where halves have 64 bits.
    #[inline(always)]
    fn slot_in_halves<R: Regions, const WHOLE_BYTES: bool, M: Bytes>(
        &self,
        buckets: &Buckets<M>,
        digest: Digest,
        change: Change,
    ) -> (Fingerprint, Option<(Below, u32)>) {
        let (fingerprint, [first, second]) = self.addressing.locate_in::<R>(buckets, digest);
        let pattern = match change {
            Change::Fill => 0,
            Change::Remove => self.lanes.broadcast(fingerprint.get()),
        };
        let end = |bucket| self.lanes.end_of_lowest_equal_in_halves(buckets.halves::<WHOLE_BYTES>(bucket), pattern);
        let (in_first, in_second) = (end(first), end(second));
        let is_first = match change {
            Change::Fill => in_first <= in_second,
            Change::Remove => in_first < 2 * u64::BITS,
        };
        let end = select_unpredictable(is_first, in_first, in_second);
        (fingerprint, (end != 2 * u64::BITS).then(|| (Below::select(is_first, first, second), end)))
    }

    #[inline(always)]
    fn change_in<R: Regions, const WHOLE_BYTES: bool>(
        &self,
        buckets: &mut Buckets<&mut [u8]>,
        digest: Digest,
        change: Change,
    ) -> bool {
        let (fingerprint, slot) = self.slot_in::<R, WHOLE_BYTES, _>(buckets, digest, change);
        let Some((bucket, bit)) = slot else { return false };
        // An empty slot is 0, so the difference of the two is the fingerprint.
        buckets.flip::<WHOLE_BYTES>(bucket, fingerprint.get() << bit);
        true
    }

    /// The fingerprint of a key, and where the slot is that a change is made in: its bucket, and the bit of that at which it starts.
    #[inline(always)]
    fn slot_in<R: Regions, const WHOLE_BYTES: bool, M: Bytes>(
        &self,
        buckets: &Buckets<M>,
        digest: Digest,
        change: Change,
    ) -> (Fingerprint, Option<(Below, u32)>) {
        let (fingerprint, [first, second]) = self.addressing.locate_in::<R>(buckets, digest);
        let (in_first, in_second) = (buckets.word::<WHOLE_BYTES>(first), buckets.word::<WHOLE_BYTES>(second));
        let slot = match change {
            Change::Fill => self.lanes.lowest_zero_of_two(in_first, in_second),
            Change::Remove => {
                self.lanes.lowest_equal_of_two(in_first, in_second, self.lanes.broadcast(fingerprint.get()))
            }
        };
        (fingerprint, slot.map(|(is_first, bit)| (Below::select(is_first, first, second), bit)))
    }
}

/// What is done with the fingerprint of a key: it goes into the first empty slot of the emptier bucket, or its first copy goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Fill,
    Remove,
}
