//! Buckets that are read without comparing each with the end of the table: their numbers are known to be below that of all
//! buckets from how they are computed here, and the table to be as long once for all of them.

use core::hint::select_unpredictable;

/// The number of a bucket that is less than the number of all buckets. Only [`Buckets`] make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Below {
    number: u64,
    count: u64,
}

/// So many buckets of equally many bits, one after the other, in equal regions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    regions: u64,
    /// The buckets of a region.
    size: u64,
    count: u64,
    bits: u64,
    /// Where the 64 bits end that start in the first byte of the last bucket; behind all memory if there is no such bucket.
    end: u64,
}

impl Extent {
    /// `regions` regions of `size` buckets of `bits` bits.
    pub(crate) const fn new(regions: u64, size: u64, bits: u32) -> Self {
        let (count, bits) = (regions.saturating_mul(size), bits as u64);
        let end = match count.saturating_sub(1).checked_mul(bits) {
            Some(last) if count > 0 && count < u64::MAX => last / 8 + 8,
            _ => u64::MAX,
        };
        Self { regions, size, count, bits, end }
    }

    /// The buckets in these bytes, which must not end before the last one.
    #[inline(always)]
    pub(crate) const fn over(self, bytes: &[u8]) -> Buckets<'_> {
        if (bytes.len() as u64) < self.end {
            too_few_bytes();
        }
        Buckets { bytes, extent: self }
    }
}

#[cold]
#[inline(never)]
const fn too_few_bytes() -> ! {
    panic!("a table that ends before its last bucket")
}

/// Kinds of equal regions.
pub(crate) trait Regions: Copy {
    /// Whether all regions are of this kind.
    fn are_of(extent: &Extent) -> bool;

    /// The bucket o' in the region of bucket o, to which a digest led, such that o + o', counted from the start of the region, is what
    /// a hash picks of the sums modulo the size: of the odd ones where that is even, of all where it is odd.
    fn opposite(extent: &Extent, bucket: u64, digest: u64, hash: u64) -> u64;
}

/// A single region of any size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneRegion;

/// Regions of 2^16 buckets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Regions65536;

/// Several regions of any size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeveralRegions;

impl Regions for OneRegion {
    #[inline(always)]
    fn are_of(extent: &Extent) -> bool {
        extent.regions == 1
    }

    #[inline(always)]
    fn opposite(extent: &Extent, bucket: u64, _digest: u64, hash: u64) -> u64 {
        opposite_in(0, extent.count, bucket, hash)
    }
}

impl Regions for Regions65536 {
    #[inline(always)]
    fn are_of(extent: &Extent) -> bool {
        extent.size == 1 << 16
    }

    #[inline(always)]
    fn opposite(_extent: &Extent, bucket: u64, _digest: u64, hash: u64) -> u64 {
        // Other low bits of a number, whose region is one of those that end before the count.
        (bucket & !0xffff) | (((hash >> 48) | 1).wrapping_sub(bucket) & 0xffff)
    }
}

impl Regions for SeveralRegions {
    #[inline(always)]
    fn are_of(extent: &Extent) -> bool {
        extent.regions > 1
    }

    #[inline(always)]
    fn opposite(extent: &Extent, bucket: u64, digest: u64, hash: u64) -> u64 {
        // Rounded down to a region in one step, or in two by way of a bucket, it is the same region.
        opposite_in(high(digest, extent.regions) * extent.size, extent.size, bucket, hash)
    }
}

/// [`Regions::opposite`] in a region that starts with bucket `start`.
#[inline(always)]
fn opposite_in(start: u64, size: u64, bucket: u64, hash: u64) -> u64 {
    // Less than the size: an even number below an even one is at least 2 less.
    let sum = high(hash, size) | (!size & 1);
    // The difference of two numbers below the size is between its negative and itself.
    let (difference, borrowed) = (start + sum).overflowing_sub(bucket);
    // True for every second key, at random: a branch would be mispredicted half of the time.
    difference.wrapping_add(select_unpredictable(borrowed, start + size, start))
}

/// Bytes that hold buckets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buckets<'bytes> {
    bytes: &'bytes [u8],
    extent: Extent,
}

impl Buckets<'_> {
    /// Whether all regions are of this kind.
    #[inline(always)]
    pub(crate) fn are_in<R: Regions>(&self) -> bool {
        R::are_of(&self.extent)
    }

    /// The bucket that a digest leads to, read as a fraction of 1, and the opposite one in its region that a hash picks. The regions
    /// [are](Self::are_in) of this kind.
    #[inline(always)]
    pub(crate) fn candidates<R: Regions>(&self, digest: u64, hash: u64) -> [Below; 2] {
        if !self.are_in::<R>() {
            other_buckets();
        }
        let count = self.extent.count;
        // The fraction is less than 1, so the product is less than the count.
        let number = high(digest, count);
        [number, R::opposite(&self.extent, number, digest, hash)].map(|number| Below { number, count })
    }

    /// The word whose lowest bit is the first of a bucket. Unless buckets start at a byte, only its low 57 bits are defined.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a position in a slice")]
    #[expect(
        unsafe_code,
        reason = "a comparison for each word takes two instructions, and keeps loops from being vectorised"
    )]
    pub(crate) fn word<const WHOLE_BYTES: bool>(&self, bucket: Below) -> u64 {
        if bucket.count != self.extent.count {
            other_buckets();
        }
        let (byte, before) = if WHOLE_BYTES {
            (bucket.number * (self.extent.bits / 8), 0)
        } else {
            let bit = bucket.number * self.extent.bits;
            (bit / 8, bit % 8)
        };
        let start = self.bytes.as_ptr().wrapping_add(byte as usize).cast::<u64>();
        // SAFETY: the number is below the count, so the word starts no later than that of the last bucket, and `over` found that one to
        // end inside the slice. The read needs no alignment.
        u64::from_le(unsafe { start.read_unaligned() }) >> before
    }
}

/// The high half of a product.
#[inline(always)]
const fn high(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 64) as u64
}

/// Callers take buckets from where they look them up, so that the compiler leaves this out.
#[cold]
#[inline(never)]
const fn other_buckets() -> ! {
    panic!("the number of one of other buckets")
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    /// The least fraction of 2^64 that is scaled to `number` below `count`.
    fn fraction(number: u64, count: u64) -> u64 {
        u64::try_from((u128::from(number) << 64).div_ceil(u128::from(count))).expect("a number below the count")
    }

    fn assert_opposites_are_in_their_region<R: Regions>(regions: u64, size: u64, bytes: &[u8]) {
        let buckets = Extent::new(regions, size, 8).over(bytes);
        let count = regions * size;
        let step = if size > 1000 { 4099 } else { 1 };
        for number in (0..count).step_by(step).chain([count - 1]) {
            let last = if number + 1 == count { u64::MAX } else { fraction(number + 1, count) - 1 };
            for digest in [fraction(number, count), last] {
                for sum in (0..size).step_by(step).chain([size - 1]) {
                    let [first, second] = buckets.candidates::<R>(digest, fraction(sum, size));
                    assert_eq!(first.number, number);
                    let used_sum = if size.is_multiple_of(2) { sum | 1 } else { sum };
                    let offset = (size + used_sum - number % size) % size;
                    assert_eq!(second.number, number / size * size + offset, "{regions} times {size}");
                }
            }
        }
    }

    #[test]
    fn candidates_are_in_one_region() {
        let bytes = [0; 64];
        (1..=40).for_each(|size| assert_opposites_are_in_their_region::<OneRegion>(1, size, &bytes));
        for (regions, size) in [(2, 3), (2, 8), (3, 10), (7, 7), (40, 1)] {
            assert_opposites_are_in_their_region::<SeveralRegions>(regions, size, &bytes);
        }
        let bytes = vec![0; 3 << 16 | 7];
        for regions in 1..=3 {
            assert_opposites_are_in_their_region::<Regions65536>(regions, 1 << 16, &bytes);
        }
    }

    #[test]
    fn regions_are_of_their_kind_only() {
        let kinds = |regions, size| {
            let bytes = vec![0; 4 << 16];
            let buckets = Extent::new(regions, size, 8).over(&bytes);
            [buckets.are_in::<OneRegion>(), buckets.are_in::<Regions65536>(), buckets.are_in::<SeveralRegions>()]
        };
        assert_eq!(kinds(1, 100), [true, false, false]);
        assert_eq!(kinds(1, 1 << 16), [true, true, false]);
        assert_eq!(kinds(2, 1 << 16), [false, true, true]);
        assert_eq!(kinds(2, 1 << 15), [false, false, true]);
    }

    #[test]
    #[should_panic(expected = "other buckets")]
    fn there_are_no_candidates_in_regions_of_another_kind() {
        let _ = Extent::new(2, 3, 8).over(&[0; 64]).candidates::<OneRegion>(0, 0);
    }

    #[test]
    fn buckets_are_read_up_to_the_last() {
        let bytes: Vec<u8> = (1..=100).collect();
        for (count, bits, end) in [(1, 48, 8), (2, 48, 14), (9, 12, 20), (9, 13, 21), (3, 57, 22)] {
            let extent = Extent::new(1, count, bits);
            assert_eq!(extent.end, end, "{count} of {bits} bits");
            let buckets = extent.over(&bytes);
            for number in 0..count {
                let (byte, bit) = (number * u64::from(bits) / 8, number * u64::from(bits) % 8);
                let word = (0..8).fold(0, |word, at| word | (byte + at + 1) << (8 * at));
                let [bucket, _] = buckets.candidates::<OneRegion>(fraction(number, count), 0);
                assert_eq!(buckets.word::<false>(bucket), word >> bit);
                if u64::from(bits).is_multiple_of(8) {
                    assert_eq!(buckets.word::<true>(bucket), word);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "ends before its last bucket")]
    fn a_table_that_is_a_byte_too_short_is_not_read() {
        let _ = Extent::new(1, 2, 48).over(&[0; 13]);
    }

    #[test]
    fn there_are_no_bytes_for_no_buckets_or_for_more_than_there_can_be() {
        for (regions, size) in [(0, 8), (0, 1 << 16), (1, 0), (2, 0), (u64::MAX, 2), (1 << 33, 1 << 31)] {
            assert_eq!(Extent::new(regions, size, 48).end, u64::MAX, "{regions} times {size}");
        }
    }

    #[test]
    #[should_panic(expected = "other buckets")]
    fn the_number_of_another_bucket_is_not_read() {
        let [more, _] = Extent::new(1, 3, 48).over(&[0; 64]).candidates::<OneRegion>(u64::MAX, 0);
        Extent::new(1, 2, 48).over(&[0; 64]).word::<true>(more);
    }
}
