//! The bulk build: keys are sorted by region, and each region is filled while it is in the processor's cache.

use core::convert::Infallible;

use alloc::vec::Vec;

use super::blocks::change_each;
use super::partition::Partition;
use super::tally::Tally;
use crate::addressing::{Addressing, Candidate, Located};
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
        let mut keys = keys.into_iter().fuse();
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
    /// inserting one after the other. Only in a filter that grows, a key may be stored behind others of its batch, after the table was
    /// enlarged: where copies of keys leave it no room in a table that is not yet full.
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
/// for the memory of some thousand keys.
const fn is_worth_sorting(keys: usize, parameters: &Parameters) -> bool {
    let regions = parameters.region_count();
    regions > 1 && keys as u64 / regions >= 2048
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
    let region_bits = parameters.slots_per_region() * u64::from(parameters.bits_per_slot());
    let region_count = parameters.region_count();
    // Neighbouring regions may share a byte. A unit is as many of them, 1 to 8, as surely end with a byte.
    let regions_per_unit = 8 >> region_bits.trailing_zeros().min(3);
    let unit_bytes = to_usize(regions_per_unit * region_bits / 8);
    let unit_count = to_usize(region_count.div_ceil(regions_per_unit));
    let first_region = |unit: usize| region_count.min(unit as u64 * regions_per_unit);
    // The digests of each region, in the order in which they came, in some slices.
    let digests_of = |unit| {
        let regions = to_usize(first_region(unit))..to_usize(first_region(unit + 1));
        regions.flat_map(|region| partitions.iter().map(move |partition| partition.region(region)))
    };

    // What came of each unit; `None` where memory was missing.
    let mut outcomes = Vec::new();
    if outcomes.try_reserve_exact(unit_count).is_ok() {
        outcomes.resize_with(unit_count, || None);
    }
    let mut units = Vec::new();
    if units.try_reserve_exact(outcomes.len()).is_ok() {
        // Behind the last unit, or in its last bytes, is padding.
        units.extend(bytes.chunks_mut(unit_bytes).zip(&mut outcomes));
        parallel::for_each(&mut units, |number, (unit, outcome)| {
            let start = first_region(number) * parameters.buckets_per_region();
            **outcome = fill_copy(scheme, unit, start, digests_of(number));
        });
    }
    let mut outcome = Outcome::default();
    for number in 0..unit_count {
        match outcomes.get_mut(number).and_then(Option::take) {
            Some(of_unit) => outcome.append(of_unit),
            None => {
                let digests = digests_of(number).flatten().copied();
                digests.for_each(|digest| outcome.note(digest, scheme.insert(bytes, digest)));
            }
        }
    }
    outcome
}

/// Fills a unit, whose first bucket is bucket `start` of the table, in a copy that stays in the cache, and puts it back.
///
/// `None` where there is no memory for a copy.
fn fill_copy<'digests>(
    scheme: &Scheme,
    unit: &mut [u8],
    start: u64,
    digests: impl Iterator<Item = &'digests [Digest]> + Clone,
) -> Option<Outcome> {
    let mut outcome = Outcome::default();
    if digests.clone().all(<[Digest]>::is_empty) {
        return Some(outcome);
    }
    let mut copy = Storage::zeroed(8 * unit.len() as u64).ok()?;
    copy[..unit.len()].copy_from_slice(unit);
    with_table!(scheme, over_mut(&mut copy), table => {
        for digests in digests {
            for &digest in digests {
                let Located { fingerprint, primary, .. } = table.addressing.locate(digest);
                let primary = Candidate::at(primary.region_start() - start, primary.offset());
                let located = table.addressing.located(fingerprint, primary);
                outcome.note(digest, table.insert_located(located).map(|_place| ()));
            }
        }
    });
    unit.copy_from_slice(&copy[..unit.len()]);
    Some(outcome)
}

/// Runs work for each item, on all threads of the rayon pool or on this one.
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
