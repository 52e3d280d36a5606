//! Addressing for fingerprints of more than 32 bits.

use super::{Addressing, Candidate, Fingerprint, Grid, Located, RegionalAddressing, extension};
use crate::cast::{Product, Whole};
use crate::digest::Digest;
use crate::parameters::Parameters;

/// Regional addressing by the low 32 bits of fingerprints that have more.
///
/// The low 32 bits are the fingerprint that a digest has in a table of 32 bits, and lead to the same buckets as there. The
/// bits above them are an [`extension`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct LongAddressing {
    short: RegionalAddressing,
    /// 2^(f - 32): the values of the bits above.
    extension_values: u64,
}

/// The bits of a fingerprint that its candidate buckets depend on.
const SHORT_BITS: u32 = Parameters::SHORT_FINGERPRINT_BITS;

/// The greatest number of so many bits.
const SHORT: u64 = u64::MAX >> (64 - SHORT_BITS);

impl LongAddressing {
    pub(crate) fn new(parameters: &Parameters, short: RegionalAddressing) -> Self {
        Self { short, extension_values: 1 << (parameters.fingerprint_bits() - SHORT_BITS) }
    }

    #[inline(always)]
    fn extended(&self, short: Fingerprint, digest: Digest) -> Fingerprint {
        let extension = Whole::high(extension(digest), self.extension_values);
        short.with_bits(extension << SHORT_BITS)
    }
}

impl Addressing for LongAddressing {
    const CANDIDATES: usize = 2;
    const TELLING_BITS: u64 = SHORT;

    fn grid(&self) -> Grid {
        self.short.grid()
    }

    #[inline(always)]
    fn locate_by<P: Product>(&self, digest: Digest) -> Located {
        let short = self.short.locate_by::<P>(digest);
        Located { fingerprint: self.extended(short.fingerprint, digest), ..short }
    }

    #[inline]
    fn alternate(&self, candidate: Candidate, fingerprint: Fingerprint) -> Candidate {
        self.short.alternate_of::<Whole>(candidate, fingerprint.get() & SHORT)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::AnySize;
    use super::*;
    use crate::parameters::{self, Layout, Regions, Shape};

    fn addressing(regions: Regions, fingerprint_bits: u32) -> LongAddressing {
        let shape = Shape::new(Layout::Packed, parameters::Addressing::Regional, 4).expect("there is such a table");
        let parameters = Parameters::new(shape, fingerprint_bits, regions, 0).expect("valid");
        LongAddressing::new(&parameters, RegionalAddressing::new(&parameters, AnySize::new(regions.buckets), 3))
    }

    #[test]
    fn candidates_are_a_pair_whatever_the_bits_above_are() {
        let regions = Regions { count: 2, buckets: 10 };
        let addressing = addressing(regions, 40);
        for bucket in addressing.grid().buckets() {
            for value in [1, 2, SHORT, SHORT + 2, 0xab_1234_5678] {
                let fingerprint = Fingerprint::new(value).expect("not 0");
                let alternate = addressing.alternate(bucket, fingerprint);
                assert_eq!(addressing.alternate(alternate, fingerprint), bucket);
                let short = Fingerprint::new(value & SHORT).expect("not 0");
                assert_eq!(addressing.alternate(bucket, short), alternate, "{value}");
            }
        }
    }

    #[test]
    fn longer_fingerprints_have_the_bits_of_shorter_ones_and_more() {
        let regions = Regions { count: 1, buckets: 1 << 16 };
        for digest in (1..1000u64).map(|number| Digest::new(number.wrapping_mul(0xff51_afd7_ed55_8ccd))) {
            let Located { fingerprint: longest, primary, .. } = addressing(regions, 56).locate(digest);
            for bits in 33..56 {
                let Located { fingerprint, primary: same_primary, .. } = addressing(regions, bits).locate(digest);
                let extension = longest.get() >> SHORT_BITS;
                assert_eq!(fingerprint.get(), (longest.get() & SHORT) | extension >> (56 - bits) << SHORT_BITS);
                assert_eq!(primary, same_primary);
            }
        }
    }

    /// Digests that agree in their low halves and in the bits that choose a bucket are told apart, as long as there are enough
    /// bits of the fingerprint for it.
    #[test]
    fn what_is_left_of_a_digest_tells_keys_apart() {
        // 2^16 buckets, so the 16 bits below the highest 16 are left.
        let addressing = addressing(Regions { count: 1, buckets: 1 << 16 }, 56);
        let digests = (0..1_u64 << 16).map(|middle| Digest::new(0x1234 << 48 | middle << 32 | 0x5678_9abc));
        let mut fingerprints: Vec<Fingerprint> = digests.map(|digest| addressing.locate(digest).fingerprint).collect();
        fingerprints.sort_unstable();
        fingerprints.dedup();
        assert_eq!(fingerprints.len(), 1 << 16);
    }
}
