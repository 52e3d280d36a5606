//! The validated parameters of a filter.

use core::fmt;

use crate::analysis;
use crate::cast::{low_32, to_f64};
use crate::error::BuildError;

/// The layout of a table: how fingerprints are kept in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// Buckets of 1, 2, 3, 4 or 8 slots of f bits, one after the other: the paper's CF.
    #[default]
    Packed,
    /// Buckets of 4 slots whose four low nibbles are sorted and coded in 12 bits, which saves a bit per slot: the paper's
    /// ss-CF (section 5.2). Fingerprints have at least 5 bits.
    SemiSorted,
}

impl Layout {
    /// Returns the numbers of slots that a bucket can have.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(guira::Layout::Packed.bucket_sizes(), [1, 2, 3, 4, 8]);
    /// ```
    #[must_use]
    pub const fn bucket_sizes(self) -> &'static [u32] {
        match self {
            Self::Packed => &[1, 2, 3, 4, 8],
            Self::SemiSorted => &[4],
        }
    }
}

/// Writes "packed" or "semi-sorted".
impl fmt::Display for Layout {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Packed => "packed",
            Self::SemiSorted => "semi-sorted",
        })
    }
}

/// The addressing of a table: how the candidate buckets of a key are related.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Addressing {
    /// Equal regions of any size, with the alternate bucket at (H(fingerprint) - offset) mod size in the same region: a
    /// table has just the size that its capacity needs.
    #[default]
    Regional,
    /// The paper's own: 2^p buckets and exclusive or. Just above a power of two it takes nearly twice the memory.
    PowerOfTwo,
    /// The d-ary cuckoo filter with d = 3: regions of 3^p buckets, three candidates, ternary digits added modulo 3.
    Ternary,
    /// The d-ary cuckoo filter with d = 4: regions of 4^p buckets, four candidates, quaternary digits added modulo 4.
    Quaternary,
    /// Regional, but a full table can be doubled without its keys, at the cost of a bit of every fingerprint. Chosen by
    /// itself it does not make a filter grow; `max_capacity` does, and chooses it.
    /// Buckets have 4 or 8 slots, fingerprints at least 8 bits, regions an even number of buckets. See
    /// [`FilterBuilder::max_capacity`](crate::FilterBuilder::max_capacity).
    Doubling,
}

impl Addressing {
    /// Returns d, the number of candidate buckets of a key.
    #[must_use]
    pub const fn candidates(self) -> u32 {
        match self {
            Self::Regional | Self::PowerOfTwo | Self::Doubling => 2,
            Self::Ternary => 3,
            Self::Quaternary => 4,
        }
    }
}

/// Writes "regional", "power of two", "ternary", "quaternary" or "doubling".
impl fmt::Display for Addressing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Regional => "regional",
            Self::PowerOfTwo => "power of two",
            Self::Ternary => "ternary",
            Self::Quaternary => "quaternary",
            Self::Doubling => "doubling",
        })
    }
}

/// What decides how full a table becomes: layout, addressing and bucket size, and whether a doubling has come half way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    layout: Layout,
    addressing: Addressing,
    slots_per_bucket: u32,
    /// Whether every second bucket has become two, and the others have not.
    half_doubled: bool,
}

impl Shape {
    /// Checks that layout, addressing and bucket size go together.
    pub(crate) fn new(layout: Layout, addressing: Addressing, slots_per_bucket: u32) -> Result<Self, BuildError> {
        if (layout, addressing) == (Layout::Packed, Addressing::Doubling) && !matches!(slots_per_bucket, 4 | 8) {
            return Err(BuildError::GrowingSlotsPerBucket { given: slots_per_bucket });
        }
        if !layout.bucket_sizes().contains(&slots_per_bucket) {
            return Err(BuildError::SlotsPerBucket { given: slots_per_bucket, layout });
        }
        let goes_with = match layout {
            Layout::Packed => true,
            Layout::SemiSorted => matches!(addressing, Addressing::Regional | Addressing::PowerOfTwo),
        };
        if !goes_with {
            return Err(BuildError::LayoutWithAddressing { layout, addressing });
        }
        Ok(Self { layout, addressing, slots_per_bucket, half_doubled: false })
    }

    /// The shape of tables in which every second bucket has become two, if `half_doubled` is true, and else of those where all
    /// buckets have as often.
    pub(crate) const fn half_doubled(self, half_doubled: bool) -> Self {
        Self { half_doubled, ..self }
    }

    /// Whether every second bucket has become two, and the others have not.
    pub(crate) const fn is_half_doubled(&self) -> bool {
        self.half_doubled
    }

    pub(crate) const fn layout(&self) -> Layout {
        self.layout
    }

    pub(crate) const fn addressing(&self) -> Addressing {
        self.addressing
    }

    /// b, the slots of a bucket.
    pub(crate) const fn slots_per_bucket(&self) -> u32 {
        self.slots_per_bucket
    }

    /// d · b, the slots that a lookup compares.
    pub(crate) const fn compared_slots(&self) -> u32 {
        self.addressing.candidates() * self.slots_per_bucket
    }

    /// The bits that a slot takes in the table, with fingerprints of f bits.
    pub(crate) const fn bits_per_slot(&self, fingerprint_bits: u32) -> u32 {
        match self.layout {
            Layout::Packed => fingerprint_bits,
            Layout::SemiSorted => fingerprint_bits - 1,
        }
    }

    /// How many different fingerprints of f bits there are: 2^f - 1, or (2^c - 1) · 2^(f - c) where only c of them are never 0
    /// together, 8 with doubling addressing and else 32.
    pub(crate) const fn fingerprint_values(&self, fingerprint_bits: u32) -> u64 {
        let all = 1 << fingerprint_bits;
        match self.addressing {
            Addressing::Doubling => all - (all >> Parameters::CORE_BITS),
            _ if fingerprint_bits > Parameters::SHORT_FINGERPRINT_BITS => {
                all - (all >> Parameters::SHORT_FINGERPRINT_BITS)
            }
            _ => all - 1,
        }
    }

    /// The most bits of a fingerprint.
    pub(crate) const fn most_fingerprint_bits(&self) -> u32 {
        match (self.layout, self.addressing) {
            (Layout::Packed, Addressing::Regional | Addressing::Doubling) => Parameters::MAX_FINGERPRINT_BITS,
            _ => Parameters::SHORT_FINGERPRINT_BITS,
        }
    }

    /// The fewest bits of a fingerprint.
    pub(crate) const fn least_fingerprint_bits(&self) -> u32 {
        match self.layout {
            // A bit that is not given away yet says to which of two buckets a fingerprint goes.
            Layout::Packed if self.half_doubled => Parameters::CORE_BITS + 1,
            Layout::Packed if matches!(self.addressing, Addressing::Doubling) => Parameters::CORE_BITS,
            Layout::Packed => Parameters::MIN_FINGERPRINT_BITS,
            Layout::SemiSorted => 5,
        }
    }

    /// The slots of a region with this many buckets.
    pub(crate) const fn slots_of_region(&self, buckets: u64) -> u64 {
        buckets * self.slots_per_bucket as u64
    }
}

/// The regions of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Regions {
    pub(crate) count: u64,
    /// The buckets of each.
    pub(crate) buckets: u64,
}

impl Regions {
    /// All buckets in one region.
    pub(crate) const fn single(buckets: u64) -> Self {
        Self { count: 1, buckets }
    }

    pub(crate) const fn bucket_count(self) -> u64 {
        self.count.saturating_mul(self.buckets)
    }

    /// Regions of two thirds of the buckets: those that a table had before every second bucket became two.
    pub(crate) const fn before_half_doubling(self) -> Self {
        Self { buckets: self.buckets / 3 * 2, ..self }
    }

    /// Regions of half as many buckets more: every second one becomes two.
    pub(crate) const fn half_doubled(self) -> Self {
        Self { buckets: self.buckets / 2 * 3, ..self }
    }
}

/// The parameters of a filter: what [`FilterBuilder::build`](crate::FilterBuilder::build) chose and checked.
///
/// # Examples
///
/// ```
/// let filter = guira::CuckooFilter::with_capacity(1_000_000, 0.001)?;
/// // packed, regional, 259896 buckets of 4 slots in 4 regions, 13-bit fingerprints
/// println!("{}", filter.parameters());
/// # Ok::<(), guira::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parameters {
    shape: Shape,
    fingerprint_bits: u32,
    value_bits: u32,
    regions: Regions,
    capacity: u64,
    doublings: u32,
}

impl Parameters {
    /// The fewest bits that a fingerprint can have; some layouts need more.
    pub const MIN_FINGERPRINT_BITS: u32 = 2;

    /// The most bits that a fingerprint can have, in packed tables with regional or doubling addressing; 32 in others.
    pub const MAX_FINGERPRINT_BITS: u32 = 56;

    /// The most bits of a fingerprint that come from a digest's low half alone, and that its candidate buckets depend on.
    pub(crate) const SHORT_FINGERPRINT_BITS: u32 = 32;

    /// With doubling addressing, the bits of a fingerprint that are never given away.
    pub(crate) const CORE_BITS: u32 = 8;

    /// The most bits that a fingerprint and the value beside it can have together.
    pub const MAX_BITS_WITH_VALUE: u32 = 56;

    /// The most bits of a value.
    pub const MAX_VALUE_BITS: u32 = 32;

    /// The most buckets that a table can have: a digest has 32 bits to choose one.
    pub const MAX_BUCKETS: u64 = 1 << 32;

    /// Checks the parameters of a table, wherever they come from.
    pub(crate) fn new(
        shape: Shape,
        fingerprint_bits: u32,
        regions: Regions,
        capacity: u64,
    ) -> Result<Self, BuildError> {
        if fingerprint_bits < shape.least_fingerprint_bits() || fingerprint_bits > shape.most_fingerprint_bits() {
            let (least, most) = (shape.least_fingerprint_bits(), shape.most_fingerprint_bits());
            return Err(BuildError::FingerprintBits { given: fingerprint_bits, least, most });
        }
        let bucket_count = regions.bucket_count();
        if bucket_count == 0 || bucket_count > Self::MAX_BUCKETS {
            return Err(BuildError::BucketCount { given: bucket_count });
        }
        let base = match shape.addressing {
            Addressing::Regional | Addressing::Doubling => None,
            Addressing::PowerOfTwo => Some(2),
            Addressing::Ternary => Some(3),
            Addressing::Quaternary => Some(4),
        };
        let single_region = shape.addressing != Addressing::PowerOfTwo || regions.count == 1;
        if let Some(base) = base
            && !(is_power_of(regions.buckets, base) && single_region)
        {
            return Err(BuildError::BucketCountNotPower { given: bucket_count, base });
        }
        if shape.addressing == Addressing::Doubling && !shape.half_doubled && !regions.buckets.is_multiple_of(2) {
            return Err(BuildError::BucketCountOdd { given: regions.buckets });
        }
        let parameters = Self { shape, fingerprint_bits, value_bits: 0, regions, capacity, doublings: 0 };
        if capacity > parameters.slot_count() {
            return Err(BuildError::Capacity { given: capacity, most: parameters.slot_count() });
        }
        Ok(parameters)
    }

    /// Sets how often half of the buckets have become two, after a check that this is possible; it changes nothing else. An odd number
    /// goes with a shape that is half doubled, and with no other.
    pub(crate) fn half_doubled(self, half_doublings: u32) -> Result<Self, BuildError> {
        let doublings = half_doublings / 2;
        let has_addressing = half_doublings == 0 || self.shape.addressing == Addressing::Doubling;
        let has_shape = self.shape.half_doubled != half_doublings.is_multiple_of(2);
        let bits_at_first = self.fingerprint_bits.saturating_add(doublings);
        let has_bits = bits_at_first.saturating_add(self.value_bits) <= Self::MAX_BITS_WITH_VALUE;
        // The table began with at least one pair of buckets per region.
        let of_each_pair = if self.shape.half_doubled { 3 } else { 2 } << doublings.min(Self::MAX_BITS_WITH_VALUE);
        let began_even = half_doublings == 0 || self.regions.buckets.is_multiple_of(of_each_pair);
        if !(has_addressing && has_shape && has_bits && began_even) {
            return Err(BuildError::HalfDoublings { given: half_doublings });
        }
        Ok(Self { doublings, ..self })
    }

    /// Adds a value of so many bits beside every fingerprint.
    pub(crate) fn with_value_bits(self, value_bits: u32) -> Result<Self, BuildError> {
        check_values_in(self.shape.layout, self.shape.addressing)?;
        let fingerprint_bits = self.fingerprint_bits;
        let most = Self::MAX_BITS_WITH_VALUE.saturating_sub(fingerprint_bits).min(Self::MAX_VALUE_BITS);
        if value_bits == 0 || value_bits > most {
            return Err(BuildError::ValueBits { given: value_bits, fingerprint_bits });
        }
        Ok(Self { value_bits, ..self })
    }

    pub(crate) const fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns how fingerprints are kept.
    #[must_use]
    pub const fn layout(&self) -> Layout {
        self.shape.layout
    }

    /// Returns how the candidate buckets of a key are related.
    #[must_use]
    pub const fn addressing(&self) -> Addressing {
        self.shape.addressing
    }

    /// Returns b, the slots of a bucket.
    #[must_use]
    pub const fn slots_per_bucket(&self) -> u32 {
        self.shape.slots_per_bucket
    }

    /// Returns f, the bits of a fingerprint.
    #[must_use]
    pub const fn fingerprint_bits(&self) -> u32 {
        self.fingerprint_bits
    }

    /// Returns v, the bits of the value beside each fingerprint, or 0 where there are no values.
    #[must_use]
    pub const fn value_bits(&self) -> u32 {
        self.value_bits
    }

    /// How many regions the table has, and of what size.
    pub(crate) const fn regions(&self) -> Regions {
        self.regions
    }

    /// Returns the number of regions of the table; all candidate buckets of a key are in the same one.
    #[must_use]
    pub const fn region_count(&self) -> u64 {
        self.regions.count
    }

    /// The buckets of a region.
    pub(crate) const fn buckets_per_region(&self) -> u64 {
        self.regions.buckets
    }

    /// Returns m, the buckets of the table.
    #[must_use]
    pub const fn bucket_count(&self) -> u64 {
        self.regions.bucket_count()
    }

    pub(crate) const fn slots_per_region(&self) -> u64 {
        self.shape.slots_of_region(self.regions.buckets)
    }

    /// Returns the number of slots of the table: how many fingerprints it could hold if every slot were filled, which is more
    /// than will ever fit.
    #[must_use]
    pub const fn slot_count(&self) -> u64 {
        self.regions.count * self.slots_per_region()
    }

    /// Returns the number of distinct keys promised to fit.
    #[must_use]
    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// How often all buckets have become two.
    pub(crate) const fn doublings(&self) -> u32 {
        self.doublings
    }

    /// Returns how often the table of a filter that grows has been enlarged by making two buckets of half of them. A table has 3/2 of
    /// its first buckets after one such half of a doubling, twice as many after two, three times as many after three, and so on.
    #[must_use]
    pub const fn half_doublings(&self) -> u32 {
        2 * self.doublings + self.shape.half_doubled as u32
    }

    /// The regions of the table as it began.
    pub(crate) const fn regions_at_first(&self) -> Regions {
        let doubled = if self.shape.half_doubled { self.regions.before_half_doubling() } else { self.regions };
        Regions { buckets: doubled.buckets >> self.doublings, ..doubled }
    }

    /// The buckets before the last doubling, of which half or all have become two; 0 if there was none.
    pub(crate) const fn buckets_that_became_two(&self) -> u64 {
        match (self.shape.half_doubled, self.doublings) {
            (true, _) => self.regions.before_half_doubling().bucket_count(),
            (false, 0) => 0,
            (false, _) => self.bucket_count() / 2,
        }
    }

    /// The first of the two buckets that one has become in that half of a doubling which was done last, given its number before the
    /// doubling; `None` if it became two in the other half, or does so next.
    pub(crate) const fn first_of_two(&self, number: u64) -> Option<u64> {
        // Where the last doubling is whole, it was one less before it.
        let doublings = if self.shape.half_doubled { self.doublings } else { self.doublings.saturating_sub(1) };
        let of_each = 1 << doublings;
        let (pair, place) = (number >> (doublings + 1), number & (2 * of_each - 1));
        match (self.shape.half_doubled, place < of_each) {
            (true, false) => Some(3 * pair * of_each + 2 * place - of_each),
            (false, true) => Some(2 * number),
            _ => None,
        }
    }

    /// Returns the bits that a slot takes, its value included.
    #[must_use]
    pub const fn bits_per_slot(&self) -> u32 {
        self.shape.bits_per_slot(self.fingerprint_bits) + self.value_bits
    }

    /// The bits of the table, without padding.
    pub(crate) const fn table_bits(&self) -> u64 {
        self.slot_count() * self.bits_per_slot() as u64
    }

    /// Returns the bytes of the table, padding included.
    #[must_use]
    pub const fn table_size(&self) -> u64 {
        bytes_for(self.table_bits())
    }

    /// Returns the bits of the table per key when it holds as many keys as its capacity: C of equation (4) of the paper.
    ///
    /// # Examples
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(1_000_000, 0.001)?;
    /// assert!((13.0..14.0).contains(&filter.parameters().bits_per_key()));
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    #[must_use]
    pub fn bits_per_key(&self) -> f64 {
        f64::from(self.bits_per_slot()) * to_f64(self.slot_count()) / to_f64(self.capacity)
    }

    /// Returns the rate of false positives among absent keys that is expected with `len` stored fingerprints.
    #[must_use]
    pub fn expected_false_positive_rate(&self, len: u64) -> f64 {
        analysis::rate_of_table(self.fingerprint_bits, self.regions, self.shape, len)
    }

    /// The bits of a bucket.
    pub(crate) const fn bucket_bits(&self) -> u32 {
        self.shape.slots_per_bucket * self.bits_per_slot()
    }

    /// How many words of 64 bits a bucket of the packed layout is read in, from any byte on; 3 where it takes wider ones.
    pub(crate) const fn words_of_bucket(&self) -> u32 {
        const fn fits(bits: u32) -> bool {
            bits + most_bits_before(bits) <= u64::BITS
        }
        let bits = self.bucket_bits();
        if self.has_long_fingerprints() {
            3
        } else if fits(bits) {
            1
        } else if self.slots_per_bucket().is_multiple_of(2) && fits(bits / 2) {
            2
        } else {
            3
        }
    }

    /// Whether fingerprints, with the bits of them that were given away, have more bits than come from a digest's low half.
    pub(crate) const fn has_long_fingerprints(&self) -> bool {
        self.fingerprint_bits + self.doublings > Self::SHORT_FINGERPRINT_BITS
    }

    /// 2^f - 1, the greatest fingerprint.
    pub(crate) const fn fingerprint_mask(&self) -> u64 {
        u64::MAX >> (64 - self.fingerprint_bits)
    }

    /// 2^s - 1, with s the lesser of f and 32: what the candidate buckets of a key depend on of its fingerprint.
    pub(crate) const fn short_fingerprint_mask(&self) -> u32 {
        low_32(self.fingerprint_mask())
    }
}

/// Checks that tables with this layout and this addressing can have values.
pub(crate) fn check_values_in(layout: Layout, addressing: Addressing) -> Result<(), BuildError> {
    match (layout, addressing) {
        (Layout::Packed, Addressing::Regional | Addressing::Doubling) => Ok(()),
        _ => Err(BuildError::ValuesInLayout { layout, addressing }),
    }
}

/// How many bytes slots of `bits` bits take: there are at least 15 behind the last one, so that a 128-bit word can be read
/// at the last slot's byte, and their number is a multiple of 8.
pub(crate) const fn bytes_for(bits: u64) -> u64 {
    const PADDING: u64 = 15;
    (bits.div_ceil(8) + PADDING).next_multiple_of(8)
}

/// The most bits that come before the first of `bits` bits in its byte, where such groups stand one after the other.
pub(crate) const fn most_bits_before(bits: u32) -> u32 {
    if bits.is_multiple_of(8) { 0 } else { 8 - (1 << bits.trailing_zeros()) }
}

/// Whether `number` is `base` to a whole power.
fn is_power_of(number: u64, base: u64) -> bool {
    let mut rest = number;
    while rest > 1 && rest.is_multiple_of(base) {
        rest /= base;
    }
    rest == 1
}

/// Layout, addressing, buckets, and bits of a slot; doublings and values where there are any.
impl fmt::Display for Parameters {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let (buckets, slots, regions) = (self.bucket_count(), self.slots_per_bucket(), self.region_count());
        write!(
            formatter,
            "{}, {}, {buckets} bucket{} of {slots} slot{} in {regions} region{}, {}-bit fingerprints",
            self.layout(),
            self.addressing(),
            plural(buckets),
            plural(slots.into()),
            plural(regions),
            self.fingerprint_bits,
        )?;
        if self.value_bits > 0 {
            write!(formatter, " with {}-bit values", self.value_bits)?;
        }
        if self.half_doublings() > 0 {
            let time = if self.half_doublings() == 2 { "time" } else { "times" };
            write!(formatter, ", doubled {} {time}", f64::from(self.half_doublings()) / 2.0)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn parameters_are_displayed_with_what_is_not_usual() {
        let shape = |addressing, slots| Shape::new(Layout::Packed, addressing, slots).expect("there is such a shape");
        let one = Parameters::new(shape(Addressing::Regional, 1), 8, Regions::single(1), 0).expect("valid");
        assert_eq!(one.to_string(), "packed, regional, 1 bucket of 1 slot in 1 region, 8-bit fingerprints");
        let values = one.with_value_bits(3).expect("they fit");
        assert_eq!(values.to_string(), format!("{one} with 3-bit values"));
        let regions = Regions { count: 3, buckets: 8 };
        let shape = shape(Addressing::Doubling, 4);
        for (shape, half_doublings, shown) in
            [(shape.half_doubled(true), 1, "0.5 times"), (shape, 2, "1 time"), (shape, 4, "2 times")]
        {
            let regions = if half_doublings == 1 { regions.half_doubled() } else { regions };
            let doubled = Parameters::new(shape, 9, regions, 0).and_then(|it| it.half_doubled(half_doublings));
            let buckets = regions.bucket_count();
            let shown = format!(
                "packed, doubling, {buckets} buckets of 4 slots in 3 regions, 9-bit fingerprints, doubled {shown}"
            );
            assert_eq!(doubled.expect("valid").to_string(), shown);
        }
    }

    #[test]
    fn a_word_can_be_read_at_the_last_bit() {
        for bits in 1..=200 {
            assert!((bits - 1) / 8 + 16 <= bytes_for(bits), "{bits} bits");
        }
    }

    #[test]
    fn powers_are_told_from_other_numbers() {
        for (base, powers) in [(2, [1, 2, 4, 1 << 32]), (3, [1, 3, 9, 59_049]), (4, [1, 4, 16, 1 << 30])] {
            assert!(powers.iter().all(|&power| is_power_of(power, base)));
        }
        assert!(![0, 5, 6, 12, 8].iter().any(|&number| is_power_of(number, 3)));
        assert!(!is_power_of(8, 4));
    }
}
