//! The bulk build: keys are sorted by region, and each region is filled while it is in the processor's cache.

use core::convert::Infallible;

use alloc::vec::Vec;

use super::blocks::change_each;
use super::partition::Partition;
use super::tally::Tally;
use crate::addressing::{Addressing, Candidate};
use crate::cast::to_usize;
use crate::cuckoo::{NoRoom, Scheme, with_table};
use crate::digest::{Digest, Key};
use crate::error::{BuildError, BuildFromKeysError, InsertError, InsertManyError, Rejected};
use crate::filter::{CuckooFilter, FilterBuilder};
use crate::parameters::Parameters;
use crate::table::{OutOfMemory, Storage};

impl FilterBuilder {
    /// Builds a filter of these keys, each stored once for every time that it comes: by value or by reference, from a slice or
    /// any iterator. Unless given, the capacity is their number; an iterator that does not tell it is collected first.
    ///
    /// The bytes are those of inserting one key after the other, but large tables are built several times faster. In a filter that
    /// grows they may be others: see [`insert_many`](CuckooFilter::insert_many). The
    /// `rayon` feature uses all threads of the pool; the bytes do not depend on their number. Besides the table,
    /// large ones take about a byte and a half of memory per key, and small ones up to 2 MB.
    ///
    /// # Errors
    ///
    /// [`BuildFromKeysError::Build`] with an error of [`build`](Self::build), or [`BuildFromKeysError::Insert`] if not
    /// all keys fit.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::CuckooFilter;
    ///
    /// let words = ["ani", "guira", "koel"];
    /// let filter = CuckooFilter::builder().false_positive_rate(0.001).build_from_keys(&words)?;
    /// assert!(words.iter().all(|word| filter.contains(word)));
    ///
    /// let numbers = CuckooFilter::builder().false_positive_rate(0.001).build_from_keys(0..1000_u64)?;
    /// assert!(numbers.contains(&999));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn build_from_keys<I>(&self, keys: I) -> Result<CuckooFilter, BuildFromKeysError>
    where
        I: IntoIterator,
        I::Item: Key + Sync,
    {
        let mut keys = keys.into_iter();
        let (least, most) = keys.size_hint();
        if !self.chosen.has_size() && most != Some(least) {
            let mut all = Vec::new();
            take_up_to(usize::MAX, keys, &mut all)?;
            let mut filter = self.build_for(all.len())?;
            filter.insert_many(&all)?;
            return Ok(filter);
        }
        let mut filter = self.build_for(least)?;
        let mut rejected = Rejected::default();
        // Memory to sort keys is taken once for all chunks, and not from the system each time.
        let (mut chunk, mut partitions) = (Vec::new(), Vec::new());
        loop {
            chunk.clear();
            take_up_to(chunk_len(filter.parameters()), keys.by_ref(), &mut chunk)?;
            if chunk.is_empty() {
                rejected.into_result()?;
                return Ok(filter);
            }
            if let Err(error) = filter.insert_many_with(&chunk, &mut partitions) {
                if matches!(error.reason, InsertError::OutOfMemory { .. }) {
                    return Err(error.into());
                }
                error.rejected.iter().try_for_each(|&digest| rejected.note(digest, error.reason.clone()))?;
            }
        }
    }

    fn build_for(&self, keys: usize) -> Result<CuckooFilter, BuildError> {
        if self.chosen.has_size() { self.build() } else { self.clone().capacity(keys.max(1)).build() }
    }
}

/// Takes the next keys of an iterator, at most so many.
fn take_up_to<K>(most: usize, keys: impl Iterator<Item = K>, chunk: &mut Vec<K>) -> Result<(), BuildError> {
    let no_memory = |count: usize| BuildError::OutOfMemory { bytes: count.saturating_mul(size_of::<K>()) as u64 };
    let least = keys.size_hint().0.min(most);
    chunk.try_reserve(least).map_err(|_| no_memory(least))?;
    for key in keys.take(most) {
        if chunk.len() == chunk.capacity() {
            chunk.try_reserve(1).map_err(|_| no_memory(chunk.len() + 1))?;
        }
        chunk.push(key);
    }
    Ok(())
}

impl CuckooFilter {
    /// Stores a copy of each of many keys. If they are so many that it is worth it, they are sorted by region first, which is
    /// the fastest way to fill a table that is larger than the processor's cache. As long as all fit, the bytes are those of
    /// inserting one after the other.
    ///
    /// To insert from a stream, collect some millions of keys at a time; it takes up to some 60 % of the table's memory, as much
    /// as the table where doublings have made it many times larger, and in small tables up to 1.3 MB. Where the filter grows
    /// and the keys are known to be distinct, [`reserve`](Self::reserve) first, so that it grows only once.
    ///
    /// # Errors
    ///
    /// All keys that fit are stored; the error has the digests of the others, unless it is for want of memory: see
    /// [`InsertManyError`]. Memory to sort keys may be missing, and they are stored one after the other then. To stop at the first that does not fit, use
    /// [`try_extend`](Self::try_extend).
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::CuckooFilter::with_capacity(100_000, 0.001)?;
    /// let keys: Vec<u64> = (0..100_000).collect();
    /// filter.insert_many(&keys)?;
    /// assert!(keys.iter().all(|key| filter.contains(key)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn insert_many<K: Key + Sync>(&mut self, keys: &[K]) -> Result<(), InsertManyError> {
        self.insert_many_with(keys, &mut Vec::new())
    }

    /// As [`insert_many`](Self::insert_many), with memory for sorting keys, which callers with several chunks reuse.
    fn insert_many_with<K: Key + Sync>(
        &mut self,
        keys: &[K],
        partitions: &mut Vec<Partition>,
    ) -> Result<(), InsertManyError> {
        let hasher = *self.hasher();
        let mut rejected = Rejected::default();
        let mut rest = keys;
        while !rest.is_empty() {
            if !is_worth_sorting(rest.len().min(chunk_len(self.parameters())), self.parameters()) {
                rest = self.insert_up_to_refusal(rest, &mut rejected)?;
                continue;
            }
            // Sorting by region needs a single table, so keys are stored one by one until there is one again.
            let (stored, _refused) = self.store_run_while_doubling(rest.len(), |number| hasher.digest(&rest[number]));
            rest = &rest[stored..];
            if self.is_doubling() {
                rest = try_first(self, rest, &mut rejected)?;
                continue;
            }
            let (run, behind) = rest.split_at(self.room().min(rest.len()));
            rest = behind;
            let outcome = self.store_bulk(run, |key| hasher.digest(key), partitions);
            if let Some(reason) = outcome.reason {
                if self.growth().is_none() || reason == NoRoom::OutOfMemory {
                    let reason = self.insert_error(reason);
                    return Err(InsertManyError { rejected: outcome.rejected, reason });
                }
                // Keys that found no room in a run are tried one by one, which may make the table grow.
                try_each(self, &outcome.rejected, &mut rejected)?;
            }
            rest = try_first(self, rest, &mut rejected)?;
        }
        rejected.into_result()
    }

    /// Stores keys in order up to the first that is refused, and notes that. Returns those behind it.
    fn insert_up_to_refusal<'keys, K: Key>(
        &mut self,
        keys: &'keys [K],
        rejected: &mut Rejected,
    ) -> Result<&'keys [K], InsertManyError> {
        let Err(error) = self.insert_in_order(keys) else { return Ok(&[]) };
        let (refused, behind) = (&keys[error.inserted], &keys[error.inserted + 1..]);
        rejected.note(self.hasher().digest(refused), error.reason)?;
        Ok(behind)
    }

    fn store_bulk<K: Sync>(
        &mut self,
        keys: &[K],
        digest: impl Fn(&K) -> Digest + Sync,
        partitions: &mut Vec<Partition>,
    ) -> Outcome {
        let parameters = *self.parameters();
        let mut outcome = Outcome::default();
        for chunk in keys.chunks(chunk_len(&parameters)) {
            let (scheme, bytes, len) = self.scheme_bytes_and_len();
            let sorted = is_worth_sorting(chunk.len(), &parameters)
                && sort_by_region(chunk, &digest, &parameters, partitions).is_ok();
            outcome.append(if sorted {
                let of_chunk = insert_by_region(scheme, bytes, &parameters, partitions);
                *len += of_chunk.inserted;
                of_chunk
            } else {
                insert_in_order(scheme, bytes, chunk, &digest, Tally::of(len))
            });
        }
        outcome
    }
}

/// Tries the first of some keys, and notes it if it is refused. Returns those behind it.
fn try_first<'keys, K: Key>(
    filter: &mut CuckooFilter,
    keys: &'keys [K],
    rejected: &mut Rejected,
) -> Result<&'keys [K], InsertManyError> {
    let [first, behind @ ..] = keys else { return Ok(keys) };
    try_each(filter, &[filter.hasher().digest(first)], rejected)?;
    Ok(behind)
}

/// Tries keys one by one, and notes those that are refused.
fn try_each(filter: &mut CuckooFilter, digests: &[Digest], rejected: &mut Rejected) -> Result<(), InsertManyError> {
    for &digest in digests {
        if let Err(reason) = filter.insert_digest(digest) {
            rejected.note(digest, reason)?;
        }
    }
    Ok(())
}

/// How many keys are sorted at a time: two copies of their digests take at most half the size of the table, and a byte
/// per slot.
fn chunk_len(parameters: &Parameters) -> usize {
    const LEAST: u64 = 1 << 16;
    let bytes_per_key = 2 * size_of::<Digest>() as u64;
    let most_bytes = (parameters.table_size() / 2).min(parameters.slot_count());
    to_usize((most_bytes / bytes_per_key).max(LEAST))
}

/// Whether so many keys are worth sorting: each region is copied to the cache and back, which takes as long as waiting
/// for the memory of some thousand keys. Every second region must have bytes of its own, so it takes a byte or more.
const fn is_worth_sorting(keys: usize, parameters: &Parameters) -> bool {
    let regions = parameters.region_count();
    regions > 1 && bits_per_region(parameters) >= 8 && keys as u64 / regions >= 2048
}

const fn bits_per_region(parameters: &Parameters) -> u64 {
    parameters.slots_per_region() * parameters.bits_per_slot() as u64
}

/// The outcome of inserting some keys.
#[derive(Default)]
struct Outcome {
    inserted: usize,
    rejected: Vec<Digest>,
    /// Why the first of them was rejected. `OutOfMemory` if that was the reason for any, and then `rejected` may be incomplete.
    reason: Option<NoRoom>,
}

impl Outcome {
    fn note(&mut self, digest: Digest, result: Result<(), NoRoom>) {
        match result {
            Ok(()) => self.inserted += 1,
            Err(reason) if self.rejected.try_reserve(1).is_ok() => {
                self.rejected.push(digest);
                self.refuse(reason);
            }
            Err(_) => self.refuse(NoRoom::OutOfMemory),
        }
    }

    fn refuse(&mut self, reason: NoRoom) {
        if self.reason.is_none() || reason == NoRoom::OutOfMemory {
            self.reason = Some(reason);
        }
    }

    fn append(&mut self, mut other: Self) {
        self.inserted += other.inserted;
        other.reason.into_iter().for_each(|reason| self.refuse(reason));
        if self.rejected.try_reserve(other.rejected.len()).is_ok() {
            self.rejected.append(&mut other.rejected);
        } else {
            self.refuse(NoRoom::OutOfMemory);
        }
    }
}

fn insert_in_order<K>(
    scheme: &Scheme,
    bytes: &mut [u8],
    keys: &[K],
    digest: &impl Fn(&K) -> Digest,
    mut tally: Tally<'_>,
) -> Outcome {
    let mut outcome = Outcome::default();
    let prefetch = scheme.prefetch_block(bytes.len());
    let all: Result<(), Infallible> = change_each(
        bytes,
        keys.len(),
        |number| digest(&keys[number]),
        prefetch,
        |bytes, _, digest| {
            let inserted = scheme.insert(bytes, digest);
            tally.added += isize::from(inserted.is_ok());
            outcome.note(digest, inserted);
            Ok(())
        },
    );
    match all {
        Ok(()) => outcome,
    }
}

/// Sorts the digests of keys by region, unless there is no memory for them.
fn sort_by_region<K: Sync>(
    keys: &[K],
    digest: &(impl Fn(&K) -> Digest + Sync),
    parameters: &Parameters,
    partitions: &mut Vec<Partition>,
) -> Result<(), OutOfMemory> {
    // Each thread sorts one part. A region then takes its keys from one part after the other, so in the order in which
    // they came, however many parts there are.
    let part_len = keys.len().div_ceil(parallel::threads()).max(1);
    let parts = keys.len().div_ceil(part_len);
    partitions.try_reserve(parts.saturating_sub(partitions.len())).map_err(|_| OutOfMemory)?;
    partitions.resize_with(parts, Partition::default);
    parallel::for_each(partitions, |number, partition| {
        let part = keys.chunks(part_len).nth(number).unwrap_or(&[]);
        partition.refill(part.iter().map(digest), parameters.region_count());
    });
    if partitions.iter().all(Partition::is_filled) { Ok(()) } else { Err(OutOfMemory) }
}

fn insert_by_region(scheme: &Scheme, bytes: &mut [u8], parameters: &Parameters, partitions: &[Partition]) -> Outcome {
    let (region_bits, region_count) = (bits_per_region(parameters), parameters.region_count());
    let fill = |_, region: &mut Region<'_>| region.outcome = fill_region(scheme, region, region_bits, partitions);
    let mut outcome = Outcome::default();
    let mut without_memory = Vec::new();
    let regions_per_turn = to_usize(region_count.div_ceil(2));
    // Neighbouring regions may share a byte, so they are filled one after the other: first the even ones.
    for parity in [0, 1] {
        without_memory.clear();
        let regions = match without_memory.try_reserve_exact(regions_per_turn) {
            Ok(()) => regions_of_parity(bytes, region_bits, region_count, parity),
            Err(_) => Err(OutOfMemory),
        };
        let Ok(mut regions) = regions else {
            (parity..region_count).step_by(2).for_each(|region| {
                fill_in_place(scheme, bytes, to_usize(region), partitions, &mut outcome);
            });
            continue;
        };
        parallel::for_each(&mut regions, fill);
        for region in regions {
            match region.outcome {
                Some(of_region) => outcome.append(of_region),
                None => without_memory.push(region.number),
            }
        }
        for &region in &without_memory {
            fill_in_place(scheme, bytes, region, partitions, &mut outcome);
        }
    }
    outcome
}

/// The digests that belong to a region, in order.
fn digests_of(partitions: &[Partition], region: usize) -> impl Iterator<Item = Digest> {
    partitions.iter().flat_map(move |partition| partition.region(region)).copied()
}

/// Fills a region where it is.
fn fill_in_place(scheme: &Scheme, bytes: &mut [u8], region: usize, partitions: &[Partition], outcome: &mut Outcome) {
    digests_of(partitions, region).for_each(|digest| outcome.note(digest, scheme.insert(bytes, digest)));
}

/// A region, and the bytes that hold it.
struct Region<'table> {
    number: usize,
    bytes: &'table mut [u8],
    /// The bit of the first byte at which it starts.
    first_bit: u32,
    /// What came of filling it; `None` before, or where there was no memory for a copy.
    outcome: Option<Outcome>,
}

/// Every second region.
fn regions_of_parity(
    table: &mut [u8],
    region_bits: u64,
    region_count: u64,
    parity: u64,
) -> Result<Vec<Region<'_>>, OutOfMemory> {
    let mut regions = Vec::new();
    regions.try_reserve_exact(to_usize(region_count.div_ceil(2))).map_err(|_| OutOfMemory)?;
    let (mut rest, mut rest_start) = (table, 0);
    for region in (parity..region_count).step_by(2) {
        let (start, end) = (region * region_bits, (region + 1) * region_bits);
        let (start_byte, end_byte) = (to_usize(start / 8), to_usize(end.div_ceil(8)));
        let (before, behind) = core::mem::take(&mut rest).split_at_mut(end_byte - rest_start);
        let (_, bytes) = before.split_at_mut(start_byte - rest_start);
        let first_bit = u32::from(start.to_le_bytes()[0] & 7);
        regions.push(Region { number: to_usize(region), bytes, first_bit, outcome: None });
        (rest, rest_start) = (behind, end_byte);
    }
    Ok(regions)
}

/// Fills one region in a copy of its own, which starts at a byte and stays in the cache, and puts it back.
///
/// `None` where there is no memory for a copy.
fn fill_region(
    scheme: &Scheme,
    region: &mut Region<'_>,
    region_bits: u64,
    partitions: &[Partition],
) -> Option<Outcome> {
    let mut outcome = Outcome::default();
    if digests_of(partitions, region.number).next().is_none() {
        return Some(outcome);
    }
    let mut copy = Storage::zeroed(region_bits).ok()?;
    bits::copy(region.bytes, region.first_bit, &mut copy, 0, region_bits);
    with_table!(scheme, over_mut(&mut copy), table => {
        for digest in digests_of(partitions, region.number) {
            let (fingerprint, primary) = table.addressing.locate(digest);
            outcome.note(digest, table.insert_fingerprint(fingerprint, Candidate::at(0, primary.offset())).map(|_place| ()));
        }
    });
    bits::copy(&copy, 0, region.bytes, region.first_bit, region_bits);
    Some(outcome)
}

/// Copies of runs of bits.
mod bits {
    use crate::cast::to_usize;

    /// Copies `count` bits from bit `from_bit` of the first byte of `from` to bit `to_bit` of the first byte of `to`, one
    /// of the two being 0 and both below 8, and leaves all other bits of `to` alone.
    pub(super) fn copy(from: &[u8], from_bit: u32, to: &mut [u8], to_bit: u32, count: u64) {
        debug_assert!(from_bit < 8 && to_bit < 8 && (from_bit == 0 || to_bit == 0));
        let whole = to_usize(count / 8);
        if from_bit == 0 && to_bit == 0 {
            to[..whole].copy_from_slice(&from[..whole]);
            let (from, to, rest) = (&from[whole..], &mut to[whole..], count % 8);
            copy_bytewise(from, 0, to, 0, rest);
        } else {
            copy_bytewise(from, from_bit, to, to_bit, count);
        }
    }

    fn copy_bytewise(from: &[u8], from_bit: u32, to: &mut [u8], to_bit: u32, count: u64) {
        let end = u64::from(to_bit) + count;
        let byte_at = |index: usize| u32::from(from.get(index).copied().unwrap_or(0));
        let whole = to_usize(end / 8);
        for (index, byte) in to.iter_mut().enumerate().take(to_usize(end.div_ceil(8))) {
            let here = byte_at(index);
            // Bit 0 of this byte comes from bit from_bit - to_bit of the same byte, or of the one before.
            let moved = if to_bit == 0 {
                (here | (byte_at(index + 1) << 8)) >> from_bit
            } else {
                let before = if index == 0 { 0 } else { byte_at(index - 1) };
                ((here << 8) | before) >> (8 - to_bit)
            };
            let mut mask = 0xffu8;
            if index == 0 {
                mask &= 0xff << to_bit;
            }
            if index == whole {
                mask &= !(0xff << (end % 8));
            }
            *byte = (*byte & !mask) | (moved.to_le_bytes()[0] & mask);
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn bits_arrive_and_their_neighbours_stay() {
            let pattern: [u8; 12] = core::array::from_fn(|index| u8::try_from(index * 37 % 251).expect("below 251"));
            let bit = |bytes: &[u8], at: usize| bytes[at / 8] >> (at % 8) & 1;
            for shift in 0..8u32 {
                for count in 1..=80u64 {
                    for (from_bit, to_bit) in [(shift, 0), (0, shift)] {
                        for background in [0u8, 0xff] {
                            let mut to = [background; 12];
                            copy(&pattern, from_bit, &mut to, to_bit, count);
                            let (from_bit, to_bit) = (to_usize(from_bit.into()), to_usize(to_bit.into()));
                            for at in 0..96 {
                                let inside = at >= to_bit && at < to_bit + to_usize(count);
                                let expected =
                                    if inside { bit(&pattern, at - to_bit + from_bit) } else { background & 1 };
                                assert_eq!(bit(&to, at), expected, "{count} bits, {from_bit} to {to_bit}, at {at}");
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Runs work for each region, on all threads of the rayon pool or on this one.
mod parallel {
    #[cfg(feature = "rayon")]
    pub(super) fn threads() -> usize {
        rayon::current_num_threads()
    }

    #[cfg(not(feature = "rayon"))]
    pub(super) const fn threads() -> usize {
        1
    }

    /// Does the work for each item, given its number.
    #[cfg(feature = "rayon")]
    pub(super) fn for_each<I: Send>(items: &mut [I], work: impl Fn(usize, &mut I) + Sync) {
        use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

        items.par_iter_mut().enumerate().for_each(|(number, item)| work(number, item));
    }

    #[cfg(not(feature = "rayon"))]
    pub(super) fn for_each<I>(items: &mut [I], work: impl Fn(usize, &mut I)) {
        items.iter_mut().enumerate().for_each(|(number, item)| work(number, item));
    }
}
