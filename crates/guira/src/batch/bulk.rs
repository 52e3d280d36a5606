//! The bulk build: keys are sorted by region, and each region is filled while it is in the processor's cache.

use core::convert::Infallible;

use alloc::vec::Vec;

use super::blocks::change_each;
use super::partition::Partition;
use crate::addressing::{Addressing, Candidate};
use crate::cast::to_usize;
use crate::cuckoo::{NoRoom, Scheme, with_table};
use crate::digest::{Digest, Key};
use crate::error::{BuildError, BuildFromKeysError, InsertManyError, Rejected};
use crate::filter::{CuckooFilter, FilterBuilder};
use crate::parameters::Parameters;
use crate::table::Storage;

impl FilterBuilder {
    /// Builds a filter of these keys, each stored once for every time that it comes: by value or by reference, from a slice or
    /// any iterator. Unless given, the capacity is their number; an iterator that does not tell it is collected first.
    ///
    /// The bytes are those of inserting one key after the other, but large tables are built several times faster. The
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
        if !self.has_size() && most != Some(least) {
            let keys: Vec<_> = keys.collect();
            let mut filter = self.build_for(keys.len())?;
            filter.insert_many(&keys)?;
            return Ok(filter);
        }
        let mut filter = self.build_for(least)?;
        let mut rejected = Rejected::default();
        let mut chunk = Vec::new();
        loop {
            chunk.clear();
            chunk.extend(keys.by_ref().take(chunk_len(filter.parameters())));
            if chunk.is_empty() {
                rejected.into_result()?;
                return Ok(filter);
            }
            if let Err(InsertManyError { rejected: digests, reason }) = filter.insert_many(&chunk) {
                digests.into_iter().for_each(|digest| rejected.note(digest, reason.clone()));
            }
        }
    }

    fn build_for(&self, keys: usize) -> Result<CuckooFilter, BuildError> {
        if self.has_size() { self.build() } else { self.clone().capacity(keys.max(1)).build() }
    }
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
    /// All keys that fit are stored; the error has the digests of the others. To stop at the first that does not fit, use
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
        let hasher = *self.hasher();
        let mut rejected = Rejected::default();
        let mut rest = keys;
        while !rest.is_empty() {
            if !is_worth_sorting(rest.len().min(chunk_len(self.parameters())), self.parameters()) {
                rest = self.insert_up_to_refusal(rest, &mut rejected);
                continue;
            }
            // Sorting by region needs a single table.
            self.settle();
            let (run, behind) = rest.split_at(self.room().min(rest.len()));
            rest = behind;
            let outcome = self.store_bulk(run, |key| hasher.digest(key));
            if let Some(reason) = outcome.reason {
                if self.growth().is_none() {
                    let reason = self.insert_error(reason);
                    return Err(InsertManyError { rejected: outcome.rejected, reason });
                }
                // Keys that found no room in a run are tried one by one, which may make the table grow.
                try_each(self, &outcome.rejected, &mut rejected);
            }
            if let [next, following @ ..] = rest {
                try_each(self, &[hasher.digest(next)], &mut rejected);
                rest = following;
            }
        }
        rejected.into_result()
    }

    /// Stores keys in order up to the first that is refused, and notes that. Returns those behind it.
    fn insert_up_to_refusal<'keys, K: Key>(&mut self, keys: &'keys [K], rejected: &mut Rejected) -> &'keys [K] {
        let Err(error) = self.insert_in_order(keys) else { return &[] };
        let (refused, behind) = (&keys[error.inserted], &keys[error.inserted + 1..]);
        rejected.note(self.hasher().digest(refused), error.reason);
        behind
    }

    fn store_bulk<K: Sync>(&mut self, keys: &[K], digest: impl Fn(&K) -> Digest + Sync) -> Outcome {
        let parameters = *self.parameters();
        let mut outcome = Outcome::default();
        let mut partitions = Vec::new();
        for chunk in keys.chunks(chunk_len(&parameters)) {
            let (scheme, bytes) = self.scheme_and_bytes();
            outcome.append(if is_worth_sorting(chunk.len(), &parameters) {
                insert_by_region(scheme, bytes, chunk, &digest, &parameters, &mut partitions)
            } else {
                insert_in_order(scheme, bytes, chunk, &digest)
            });
        }
        self.add_to_len(outcome.inserted);
        outcome
    }
}

/// Tries keys one by one, and notes those that are refused.
fn try_each(filter: &mut CuckooFilter, digests: &[Digest], rejected: &mut Rejected) {
    for &digest in digests {
        if let Err(reason) = filter.insert_digest(digest) {
            rejected.note(digest, reason);
        }
    }
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
    /// Why the first of them was rejected.
    reason: Option<NoRoom>,
}

impl Outcome {
    fn note(&mut self, digest: Digest, result: Result<(), NoRoom>) {
        match result {
            Ok(()) => self.inserted += 1,
            Err(reason) => {
                self.rejected.push(digest);
                self.reason.get_or_insert(reason);
            }
        }
    }

    fn append(&mut self, mut other: Self) {
        self.inserted += other.inserted;
        self.rejected.append(&mut other.rejected);
        self.reason = self.reason.or(other.reason);
    }
}

fn insert_in_order<K>(scheme: &Scheme, bytes: &mut [u8], keys: &[K], digest: &impl Fn(&K) -> Digest) -> Outcome {
    let mut outcome = Outcome::default();
    let prefetch = scheme.prefetch_block(bytes.len());
    let all: Result<(), Infallible> = change_each(
        bytes,
        keys.len(),
        |number| digest(&keys[number]),
        prefetch,
        |bytes, _, digest| {
            outcome.note(digest, scheme.insert(bytes, digest));
            Ok(())
        },
    );
    match all {
        Ok(()) => outcome,
    }
}

fn insert_by_region<K: Sync>(
    scheme: &Scheme,
    bytes: &mut [u8],
    keys: &[K],
    digest: &(impl Fn(&K) -> Digest + Sync),
    parameters: &Parameters,
    partitions: &mut Vec<Partition>,
) -> Outcome {
    // Each thread sorts one part. A region then takes its keys from one part after the other, so in the order in which
    // they came, however many parts there are.
    let part_len = keys.len().div_ceil(parallel::threads()).max(1);
    partitions.resize_with(keys.len().div_ceil(part_len), Partition::default);
    let parts = partitions.iter_mut().zip(keys.chunks(part_len)).collect();
    parallel::map(parts, |(partition, part): (&mut Partition, &[K])| {
        partition.refill(part.iter().map(digest), parameters.region_count());
    });
    let region_bits = bits_per_region(parameters);
    let fill = |(region, table): (usize, RegionBytes<'_>)| fill_region(scheme, region, region_bits, table, partitions);
    // Neighbouring regions may share a byte, so they are filled one after the other: first the even ones.
    let mut outcome = Outcome::default();
    for parity in [0, 1] {
        let regions = regions_of_parity(bytes, region_bits, parameters.region_count(), parity);
        for of_region in parallel::map(regions, fill) {
            outcome.append(of_region);
        }
    }
    outcome
}

/// The bytes that hold a region, and the bit of the first byte at which it starts.
struct RegionBytes<'table> {
    bytes: &'table mut [u8],
    first_bit: u32,
}

/// The bytes of every second region.
fn regions_of_parity(
    table: &mut [u8],
    region_bits: u64,
    region_count: u64,
    parity: u64,
) -> Vec<(usize, RegionBytes<'_>)> {
    let mut regions = Vec::new();
    let (mut rest, mut rest_start) = (table, 0);
    for region in (parity..region_count).step_by(2) {
        let (start, end) = (region * region_bits, (region + 1) * region_bits);
        let (start_byte, end_byte) = (to_usize(start / 8), to_usize(end.div_ceil(8)));
        let (before, behind) = core::mem::take(&mut rest).split_at_mut(end_byte - rest_start);
        let (_, bytes) = before.split_at_mut(start_byte - rest_start);
        let first_bit = u32::from(start.to_le_bytes()[0] & 7);
        regions.push((to_usize(region), RegionBytes { bytes, first_bit }));
        (rest, rest_start) = (behind, end_byte);
    }
    regions
}

/// Fills one region in a copy of its own, which starts at a byte and stays in the cache, and puts it back.
fn fill_region(
    scheme: &Scheme,
    region: usize,
    region_bits: u64,
    table: RegionBytes<'_>,
    partitions: &[Partition],
) -> Outcome {
    let mut outcome = Outcome::default();
    if partitions.iter().all(|partition| partition.region(region).is_empty()) {
        return outcome;
    }
    let mut copy = Storage::zeroed(region_bits).expect("memory for one region");
    bits::copy(table.bytes, table.first_bit, &mut copy, 0, region_bits);
    let digests = partitions.iter().flat_map(|partition| partition.region(region)).copied();
    with_table!(scheme, over_mut(&mut copy), table => {
        for digest in digests {
            let (fingerprint, primary) = table.addressing.locate(digest);
            outcome.note(digest, table.insert_fingerprint(fingerprint, Candidate::at(0, primary.offset())).map(|_place| ()));
        }
    });
    bits::copy(&copy, 0, table.bytes, table.first_bit, region_bits);
    outcome
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
    use alloc::vec::Vec;

    #[cfg(feature = "rayon")]
    pub(super) fn threads() -> usize {
        rayon::current_num_threads()
    }

    #[cfg(not(feature = "rayon"))]
    pub(super) const fn threads() -> usize {
        1
    }

    /// The results, in the order of the items.
    #[cfg(feature = "rayon")]
    pub(super) fn map<I: Send, R: Send>(items: Vec<I>, of_item: impl Fn(I) -> R + Sync) -> Vec<R> {
        use rayon::iter::{IntoParallelIterator, ParallelIterator};

        items.into_par_iter().map(&of_item).collect()
    }

    #[cfg(not(feature = "rayon"))]
    pub(super) fn map<I, R>(items: Vec<I>, of_item: impl Fn(I) -> R) -> Vec<R> {
        items.into_iter().map(of_item).collect()
    }
}
