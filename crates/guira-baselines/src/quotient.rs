use crate::cast::{approximate, saturating_floor};
use crate::error::{exponent_of, in_range};
use crate::fields::{Fields, MOST_BITS};
use crate::{BuildError, Digest, Filter, Full, Insert, Remove};

const METADATA_BITS: u32 = 3;

/// How full it gets; the paper's evaluation stops there, since clusters grow without bound.
const MOST_LOAD: f64 = 0.9;

/// The quotient filter, the paper's QF: section 2.1; Bender et al., "Don't Thrash: How to Cache Your Hash on Flash" (2012).
///
/// 2^q slots, which hold fingerprints of q + r bits in order: the high q bits, the quotient, are the slot where a
/// fingerprint belongs, and the low r bits, the remainder, are what is stored. The fingerprints of a quotient are a run;
/// runs are pushed behind each other into clusters. Three bits per slot tell where runs start and to which quotients they
/// belong.
///
/// With n keys, the rate is 1 - (1 - 2^-(q + r))^n, or 1 - exp(-α / 2^r) at load α. It takes 2^q (r + 3) bits, and is full
/// at α = 0.9.
#[derive(Clone, Debug, PartialEq)]
pub struct QuotientFilter {
    slots: Fields,
    quotient_bits: u32,
    remainder_bits: u32,
    most: usize,
    len: usize,
}

/// A slot: the metadata, and above them the remainder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot(u64);

impl Slot {
    const EMPTY: Self = Self(0);
    /// There is a run of the quotient that is this slot's number, here or further right. It belongs to the slot and stays
    /// when its content is moved; the other two belong to the content.
    const OCCUPIED: u64 = 1;
    /// The content is not the first of its run.
    const CONTINUATION: u64 = 2;
    /// The content is not where its quotient says.
    const SHIFTED: u64 = 4;

    const fn has(self, bits: u64) -> bool {
        self.0 & bits != 0
    }

    const fn is_empty(self) -> bool {
        !self.has(Self::OCCUPIED | Self::CONTINUATION | Self::SHIFTED)
    }

    const fn remainder(self) -> u64 {
        self.0 >> METADATA_BITS
    }

    const fn with(self, bits: u64) -> Self {
        Self(self.0 | bits)
    }

    const fn without(self, bits: u64) -> Self {
        Self(self.0 & !bits)
    }

    /// This content, in a slot that keeps what it says of itself.
    const fn moved_to(self, slot: Self) -> Self {
        self.without(Self::OCCUPIED).with(slot.0 & Self::OCCUPIED)
    }
}

impl QuotientFilter {
    /// A filter of so many slots, each with a remainder of so many bits.
    ///
    /// # Errors
    ///
    /// For a number of slots that is no power of two, for fewer than two, for remainders of no bit or more than 54, for
    /// fingerprints of more than 64 bits, and where there is no memory.
    pub fn new(slot_count: u64, remainder_bits: u32) -> Result<Self, BuildError> {
        in_range("the number of slots", slot_count, 2, 1 << 40)?;
        let quotient_bits = exponent_of("the number of slots", slot_count)?;
        let longest = (MOST_BITS - METADATA_BITS).min(64 - quotient_bits);
        in_range("the length of remainders", remainder_bits.into(), 1, longest.into())?;
        let slots = Fields::zeroed(slot_count, remainder_bits + METADATA_BITS)?;
        let most = usize::try_from(saturating_floor(MOST_LOAD * approximate(slot_count))).unwrap_or(usize::MAX);
        Ok(Self { slots, quotient_bits, remainder_bits, most, len: 0 })
    }

    /// The slots.
    #[must_use]
    pub const fn slot_count(&self) -> u64 {
        self.slots.count()
    }

    /// The keys that fit: nine tenths of the slots.
    #[must_use]
    pub const fn capacity(&self) -> usize {
        self.most
    }

    /// Keys per slot.
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        approximate(self.len as u64) / approximate(self.slot_count())
    }

    /// Quotient and remainder: the highest q + r bits of the digest.
    #[inline]
    const fn locate(&self, digest: Digest) -> (u64, u64) {
        let quotient = digest.get() >> (64 - self.quotient_bits);
        let remainder = (digest.get() << self.quotient_bits) >> (64 - self.remainder_bits);
        (quotient, remainder)
    }

    #[inline]
    fn slot(&self, at: u64) -> Slot {
        Slot(self.slots.get(at))
    }

    #[inline]
    fn set(&mut self, at: u64, slot: Slot) {
        self.slots.set(at, slot.0);
    }

    /// The slot to the right, around the end.
    #[inline]
    const fn after(&self, at: u64) -> u64 {
        (at + 1) & (self.slots.count() - 1)
    }

    #[inline]
    const fn before(&self, at: u64) -> u64 {
        at.wrapping_sub(1) & (self.slots.count() - 1)
    }

    /// Where the run of a quotient starts, or would. The quotient's slot is marked as occupied, and not empty.
    #[inline]
    fn run_start(&self, quotient: u64) -> u64 {
        // Back to the start of the cluster, counting the quotients that have runs; then forth over as many runs, but one.
        let mut at = quotient;
        let mut slot = self.slot(at);
        let mut runs = 0;
        while slot.has(Slot::SHIFTED) {
            runs += u64::from(slot.has(Slot::OCCUPIED));
            at = self.before(at);
            slot = self.slot(at);
        }
        while runs > 0 {
            at = self.after(at);
            runs -= u64::from(!self.slot(at).has(Slot::CONTINUATION));
        }
        at
    }

    /// The next quotient that has a run.
    #[inline]
    fn next_occupied(&self, quotient: u64) -> u64 {
        let mut next = self.after(quotient);
        while !self.slot(next).has(Slot::OCCUPIED) {
            next = self.after(next);
        }
        next
    }

    /// Where the run of a quotient holds a remainder.
    #[inline]
    fn find(&self, quotient: u64, remainder: u64) -> Option<u64> {
        if !self.slot(quotient).has(Slot::OCCUPIED) {
            return None;
        }
        let mut at = self.run_start(quotient);
        loop {
            let found = self.slot(at).remainder();
            if found >= remainder {
                return (found == remainder).then_some(at);
            }
            at = self.after(at);
            if !self.slot(at).has(Slot::CONTINUATION) {
                return None;
            }
        }
    }

    /// Puts a content into a slot, and pushes what is there and behind it to the right, up to the first empty slot.
    #[inline]
    fn push(&mut self, mut at: u64, content: Slot) {
        let mut moving = content;
        loop {
            let here = self.slot(at);
            self.set(at, moving.moved_to(here));
            if here.is_empty() {
                return;
            }
            moving = here.with(Slot::SHIFTED);
            at = self.after(at);
        }
    }
}

impl Filter for QuotientFilter {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        let (quotient, remainder) = self.locate(digest);
        self.find(quotient, remainder).is_some()
    }

    fn len(&self) -> usize {
        self.len
    }

    fn memory_bits(&self) -> u64 {
        self.slots.bits()
    }

    fn expected_false_positive_rate(&self) -> f64 {
        let fingerprints = f64::from(self.quotient_bits + self.remainder_bits).exp2();
        -(approximate(self.len as u64) * (-1.0 / fingerprints).ln_1p()).exp_m1()
    }
}

impl Insert for QuotientFilter {
    #[inline]
    fn insert(&mut self, digest: Digest) -> Result<(), Full> {
        if self.len >= self.most {
            return Err(Full { len: self.len, slots: self.slot_count() });
        }
        self.len += 1;
        let (quotient, remainder) = self.locate(digest);
        let content = Slot(remainder << METADATA_BITS);
        let belonging = self.slot(quotient);
        if belonging.is_empty() {
            self.set(quotient, content.with(Slot::OCCUPIED));
            return Ok(());
        }
        let has_run = belonging.has(Slot::OCCUPIED);
        self.set(quotient, belonging.with(Slot::OCCUPIED));
        let start = self.run_start(quotient);
        let mut at = start;
        let mut content = content;
        if has_run {
            while self.slot(at).remainder() < remainder {
                at = self.after(at);
                if !self.slot(at).has(Slot::CONTINUATION) {
                    break;
                }
            }
            if at == start {
                let first = self.slot(start);
                self.set(start, first.with(Slot::CONTINUATION));
            } else {
                content = content.with(Slot::CONTINUATION);
            }
        }
        if at != quotient {
            content = content.with(Slot::SHIFTED);
        }
        self.push(at, content);
        Ok(())
    }
}

impl Remove for QuotientFilter {
    #[inline]
    fn remove(&mut self, digest: Digest) -> bool {
        let (quotient, remainder) = self.locate(digest);
        let Some(mut hole) = self.find(quotient, remainder) else { return false };
        let removed = self.slot(hole);
        let mut next = self.after(hole);
        let mut following = self.slot(next);

        // The run may lose its first, or all it has.
        if !removed.has(Slot::CONTINUATION) {
            if following.has(Slot::CONTINUATION) {
                following = following.without(Slot::CONTINUATION);
            } else {
                let belonging = self.slot(quotient);
                self.set(quotient, belonging.without(Slot::OCCUPIED));
            }
        }

        // What was pushed right comes back by one slot, until something is where it belongs.
        let mut quotient = quotient;
        let mut starts_run = self.slot(next).has(Slot::SHIFTED) && !self.slot(next).has(Slot::CONTINUATION);
        while following.has(Slot::SHIFTED) {
            if starts_run {
                quotient = self.next_occupied(quotient);
            }
            let back = if hole == quotient { following.without(Slot::SHIFTED) } else { following };
            let here = self.slot(hole);
            self.set(hole, back.moved_to(here));
            hole = next;
            next = self.after(next);
            following = self.slot(next);
            starts_run = !following.has(Slot::CONTINUATION);
        }
        // No quotient belongs to the last slot of a cluster that has been pushed right, so that nothing of it is left.
        let here = self.slot(hole);
        debug_assert!(!here.has(Slot::OCCUPIED));
        self.set(hole, Slot::EMPTY);
        self.len -= 1;
        true
    }
}
