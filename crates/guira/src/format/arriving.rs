//! A file that comes in pieces, each of which is checked when it comes.

use alloc::vec::Vec;
use core::fmt;

use super::FileHeader;
use super::behind::Behind;
use super::check::{MALFORMED, check_len, check_padding, check_waiting};
use super::chunks::Normalization;
use super::contents::Contents as _;
use super::load::no_memory;
use crate::cast::{to_usize, wide};
use crate::cuckoo::Scheme;
use crate::digest::{Checksum, KeyHasher};
use crate::error::{FileKind, LoadError, OutOfMemory};
use crate::expiring::ExpiringCuckooFilter;
use crate::filter::CuckooFilter;
use crate::table::Storage;

/// The bytes that are read at any slot, at most.
const READ_AT_ONCE: u64 = 16;

/// How many bytes of memory are taken at most for each byte that has come, unless [`Arriving::reserve`] takes all.
const MOST_PER_BYTE: usize = 16;

/// The file of a filter whose keys stay or expire, without its header, of which one piece after the other comes. The table of one whose
/// keys stay is checked as it comes, and is not copied at the end, so no piece takes much longer than others.
///
/// # Examples
///
/// ```
/// use guira::raw::{Arriving, RawFilter};
/// use guira::{CuckooFilter, FileHeader};
///
/// let mut filter = CuckooFilter::builder().capacity(100).max_capacity(1000).false_positive_rate(0.01).build()?;
/// filter.insert("ani")?;
/// let (header, table, _) = filter.file_parts();
///
/// let mut arriving = Arriving::new(&FileHeader::from_bytes(&header)?, None)?;
/// for piece in table.chunks(10) {
///     assert!(!arriving.is_whole());
///     arriving.take(piece)?;
/// }
/// assert_eq!(arriving.finish()?, filter);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Arriving {
    header: FileHeader,
    hasher: KeyHasher,
    /// How the fingerprints are stored, if they have no values.
    scheme: Option<Scheme>,
    table: Vec<u8>,
    /// What is behind the table.
    chunks: Vec<u8>,
    checked: Checked,
}

/// What is known of the part of the table that has come.
#[derive(Clone)]
struct Checked {
    checksum: Checksum,
    /// The buckets that were checked.
    buckets: u64,
    occupied_slots: u64,
    is_well_formed: bool,
}

/// How far a file had come; see [`Arriving::mark`].
#[derive(Clone)]
pub struct Mark {
    table_size: usize,
    chunks_size: usize,
    checked: Checked,
}

impl Arriving {
    /// Begins with the header of a file, and the secret key with which its keys were hashed, if there is one.
    ///
    /// # Errors
    ///
    /// [`LoadError::OtherKind`] where keys neither stay nor expire, [`LoadError::OutOfMemory`] where the address space has no room for
    /// the table, [`LoadError::SecretKeyMissing`], [`LoadError::SecretKeyNotUsed`] or [`LoadError::SecretKeyDiffers`].
    pub fn new(header: &FileHeader, key: Option<[u8; 16]>) -> Result<Self, LoadError> {
        let header = header.clone().of_kinds(&[FileKind::Growing, FileKind::Filter, FileKind::Expiring])?;
        let hasher = header.hasher(key)?;
        usize::try_from(header.table_size()).map_err(|_| header.out_of_memory())?;
        let has_values = header.kind() == FileKind::Expiring;
        let scheme = (!has_values).then(|| Scheme::new(&header.parameters, hasher.seed()));
        let checked = Checked { checksum: Checksum::default(), buckets: 0, occupied_slots: 0, is_well_formed: true };
        Ok(Self { header, hasher, scheme, table: Vec::new(), chunks: Vec::new(), checked })
    }

    /// Takes memory for all of the table. Without this it is taken for what comes, at most 16 times as much.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`].
    pub fn reserve(&mut self) -> Result<(), OutOfMemory> {
        let no_memory = |_| OutOfMemory::new(self.header.table_size());
        let missing = to_usize(self.header.table_size()).saturating_sub(self.table.len());
        self.table.try_reserve_exact(missing).map_err(no_memory)
    }

    /// Returns what kind of file it is.
    #[must_use]
    pub const fn kind(&self) -> FileKind {
        self.header.kind()
    }

    /// Returns how many bytes are to come in all.
    #[must_use]
    pub fn expected(&self) -> u64 {
        self.header.table_size().saturating_add(self.header.chunks_size)
    }

    /// Returns how many bytes have come.
    #[must_use]
    pub fn received(&self) -> u64 {
        wide(self.table.len()).saturating_add(wide(self.chunks.len()))
    }

    /// Returns `true` if all bytes have come.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.received() == self.expected()
    }

    /// Returns what has come of the table, and of what is behind it.
    #[must_use]
    pub fn parts(&self) -> [&[u8]; 2] {
        [&self.table, &self.chunks]
    }

    /// Returns the checksum of what has come of the table.
    #[must_use]
    pub fn checksum(&self) -> u64 {
        self.checked.checksum.digest()
    }

    /// Takes the next bytes. What is wrong with them is told by [`finish`](Self::finish).
    ///
    /// # Errors
    ///
    /// [`LoadError::TrailingBytes`] where more come than are expected, and [`LoadError::OutOfMemory`]. Nothing has changed then.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), LoadError> {
        let missing = self.header.table_size().saturating_sub(wide(self.table.len()));
        let (of_table, behind) = bytes.split_at(to_usize(missing).min(bytes.len()));
        if wide(self.chunks.len()).saturating_add(wide(behind.len())) > self.header.chunks_size {
            return Err(LoadError::TrailingBytes { expected: self.header.file_size() });
        }
        self.make_room(of_table.len()).map_err(|_| self.header.out_of_memory())?;
        self.chunks.try_reserve(behind.len()).map_err(no_memory)?;
        self.table.extend_from_slice(of_table);
        self.chunks.extend_from_slice(behind);
        self.checked.checksum.update(of_table);
        self.check_buckets();
        Ok(())
    }

    /// Takes memory for so many more bytes of the table, and for all that are missing once a part has come: so little of it is
    /// moved, and little memory is taken for a header that promises what never comes.
    fn make_room(&mut self, additional: usize) -> Result<(), alloc::collections::TryReserveError> {
        let (come, size) = (self.table.len().saturating_add(additional), to_usize(self.header.table_size()));
        if come <= self.table.capacity() {
            return Ok(());
        }
        match come.checked_mul(MOST_PER_BYTE) {
            Some(most) if most < size => self.table.try_reserve(additional),
            _ => self.table.try_reserve_exact(size.saturating_sub(self.table.len())),
        }
    }

    /// Checks the buckets that are whole now.
    fn check_buckets(&mut self) {
        let Some(scheme) = &self.scheme else { return };
        let parameters = &self.header.parameters;
        let readable = wide(self.table.len()).saturating_sub(READ_AT_ONCE);
        let end = match wide(self.table.len()) == self.header.table_size() {
            true => parameters.bucket_count(),
            false => (readable.saturating_mul(8) / u64::from(parameters.bucket_bits())).min(parameters.bucket_count()),
        };
        let checked = &mut self.checked;
        if checked.buckets < end {
            let occupied = scheme.occupied_if_well_formed(&self.table, checked.buckets..end, true);
            checked.is_well_formed &= occupied.is_some();
            checked.occupied_slots = checked.occupied_slots.saturating_add(occupied.unwrap_or_default());
            checked.buckets = end;
        }
    }

    /// Returns how far the file has come, for [`go_back`](Self::go_back).
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark { table_size: self.table.len(), chunks_size: self.chunks.len(), checked: self.checked.clone() }
    }

    /// Forgets what has come since a mark.
    pub fn go_back(&mut self, mark: Mark) {
        self.table.truncate(mark.table_size);
        self.chunks.truncate(mark.chunks_size);
        self.checked = mark.checked;
    }

    /// Returns a copy.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, OutOfMemory> {
        let copied = |bytes: &[u8]| {
            let mut copy = Vec::new();
            copy.try_reserve_exact(bytes.len()).map_err(|_| OutOfMemory::new(wide(bytes.len())))?;
            copy.extend_from_slice(bytes);
            Ok(copy)
        };
        let (table, chunks) = (copied(&self.table)?, copied(&self.chunks)?);
        let (header, scheme, checked) = (self.header.clone(), self.scheme, self.checked.clone());
        Ok(Self { header, hasher: self.hasher, scheme, table, chunks, checked })
    }

    /// Lets the caller move the bytes of the table elsewhere in memory; the same bytes must come back.
    pub fn move_table(&mut self, elsewhere: impl FnOnce(Vec<u8>) -> Vec<u8>) {
        self.table = elsewhere(core::mem::take(&mut self.table));
    }

    /// Returns what is behind the table, if all bytes have come, of a file of one of these kinds, and the table is what was written.
    fn whole(&self, kinds: &[FileKind]) -> Result<Behind, LoadError> {
        if !self.is_whole() {
            let (expected, missing) = (self.header.file_size(), self.expected().saturating_sub(self.received()));
            return Err(LoadError::Truncated { expected, found: expected.saturating_sub(missing) });
        }
        let header = self.header.clone().of_kinds(kinds)?;
        let behind = Behind::of(&header, &self.chunks, &[], Normalization::ByCaller)?;
        if self.checksum() != header.table_checksum {
            return Err(LoadError::TableChecksum);
        }
        check_padding(&self.table, &header.parameters)?;
        Ok(behind)
    }

    /// Makes the filter of a file whose keys stay. It takes the table over, so nothing is left here. If the table was being doubled, that
    /// goes on, once the buckets that waited are those of the smaller table again: that takes some 10 ns for each.
    ///
    /// # Errors
    ///
    /// Those of [`LoadOptions::from_bytes`](crate::LoadOptions::from_bytes), for what is wrong with any of the bytes. What has come is
    /// unchanged then.
    pub fn finish(&mut self) -> Result<CuckooFilter, LoadError> {
        let behind = self.whole(&[FileKind::Growing, FileKind::Filter])?;
        if let Some(scheme) = &self.scheme {
            check_waiting(scheme, &self.table, &self.header.parameters, self.header.waiting)?;
        }
        let mut filter = self.finish_with(behind)?;
        if filter.resume_doubling(self.header.waiting).is_err() {
            self.table = filter.into_storage().into_vec();
            return Err(self.header.out_of_memory());
        }
        Ok(filter)
    }

    /// As [`finish`](Self::finish), but if the table was being doubled, that is over, which takes no time.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish), but that buckets are not asked whether they can have waited.
    pub fn finish_settled(&mut self) -> Result<CuckooFilter, LoadError> {
        let behind = self.whole(&[FileKind::Growing, FileKind::Filter])?;
        self.finish_with(behind)
    }

    fn finish_with(&mut self, behind: Behind) -> Result<CuckooFilter, LoadError> {
        if !self.checked.is_well_formed {
            return Err(MALFORMED);
        }
        let header = &self.header;
        let len = header.len_in_memory()?;
        check_len(self.checked.occupied_slots, len)?;
        let storage = Storage::from_vec(core::mem::take(&mut self.table));
        let filter = CuckooFilter::from_parts(header.parameters, self.hasher, storage, len);
        Ok(filter.with_growth(header.growth).with_kept(behind.kept))
    }

    /// Makes the filter of a file whose keys expire, of a copy of the table.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn finish_expiring(&self) -> Result<ExpiringCuckooFilter, LoadError> {
        let behind = self.whole(ExpiringCuckooFilter::KINDS)?;
        let storage = Storage::copied_from(&self.table).map_err(|_| self.header.out_of_memory())?;
        ExpiringCuckooFilter::checked(&self.header, self.hasher, storage, behind)
    }
}

impl PartialEq for Arriving {
    fn eq(&self, other: &Self) -> bool {
        self.header.encode() == other.header.encode() && self.hasher == other.hasher && self.parts() == other.parts()
    }
}

impl fmt::Debug for Arriving {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Arriving")
            .field("kind", &self.header.kind())
            .field("received", &self.received())
            .field("expected", &self.expected())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Mark")
            .field("table_size", &self.table_size)
            .field("chunks_size", &self.chunks_size)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::format::raw::{Chunk, RawFilter};

    /// Filters of all lengths of words, with something behind the table.
    fn filters() -> impl Iterator<Item = CuckooFilter> {
        [(8, 0.1), (4, 0.001), (8, 1e-5), (4, 1e-13)].into_iter().map(|(slots, rate)| {
            let builder = CuckooFilter::builder().capacity(100).max_capacity(3000).slots_per_bucket(slots);
            let mut filter = builder.false_positive_rate(rate).build().unwrap();
            (0..2000).for_each(|key: u64| filter.insert(&key).unwrap());
            let mut chunks = Vec::new();
            Chunk::new(*b"NOTE", 0, b"some words").append_to(&mut chunks);
            RawFilter::set_chunks(&mut filter, chunks);
            filter
        })
    }

    fn arriving(filter: &CuckooFilter) -> (Arriving, Vec<u8>) {
        let bytes = filter.to_bytes();
        let header = FileHeader::from_bytes(&bytes).unwrap();
        (Arriving::new(&header, None).unwrap(), bytes[FileHeader::MIN_SIZE..].to_vec())
    }

    #[test]
    fn a_file_in_pieces_of_any_size_gives_the_filter() {
        for filter in filters() {
            for size in [1, 7, 64, 1000, usize::MAX] {
                let (mut arriving, bytes) = arriving(&filter);
                for piece in bytes.chunks(size.min(bytes.len())) {
                    assert!(matches!(arriving.finish(), Err(LoadError::Truncated { .. })));
                    arriving.take(piece).unwrap();
                }
                assert!(arriving.is_whole() && matches!(arriving.take(&[0]), Err(LoadError::TrailingBytes { .. })));
                assert_eq!(arriving.finish().unwrap().to_bytes(), filter.to_bytes());
            }
        }
    }

    #[test]
    fn what_came_since_a_mark_is_forgotten() {
        for filter in filters() {
            let (mut arriving, bytes) = arriving(&filter);
            for (number, piece) in bytes.chunks(100).enumerate() {
                let (mark, before) = (arriving.mark(), arriving.try_clone().unwrap());
                let mut damaged = piece.to_vec();
                damaged[number % piece.len()] ^= 1 << (number % 8);
                arriving.take(&damaged).unwrap();
                arriving.go_back(mark);
                assert_eq!(arriving, before);
                arriving.take(piece).unwrap();
            }
            assert_eq!(arriving.finish().unwrap().to_bytes(), filter.to_bytes());
        }
    }

    #[test]
    fn any_damage_is_told_at_the_end_and_leaves_what_has_come() {
        let filter = filters().nth(1).unwrap();
        let (mut arriving, bytes) = arriving(&filter);
        let start = arriving.mark();
        for position in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[position] ^= 1 << (position % 8);
            damaged.chunks(1000).for_each(|piece| arriving.take(piece).unwrap());
            assert!(arriving.finish().is_err(), "damage at {position} was not seen");
            assert_eq!(arriving.parts().concat(), damaged);
            arriving.go_back(start.clone());
        }
        bytes.chunks(1000).for_each(|piece| arriving.take(piece).unwrap());
        assert_eq!(arriving.finish().unwrap(), filter);
    }

    #[test]
    fn any_damage_of_a_filter_whose_keys_expire_is_told_at_the_end() {
        let mut filter = ExpiringCuckooFilter::with_capacity(20, 0.01, 60).unwrap();
        (0..20).for_each(|key: u64| filter.insert(&key).unwrap());
        let bytes = filter.to_bytes();
        let header = FileHeader::from_bytes(&bytes).unwrap();
        let (mut arriving, bytes) = (Arriving::new(&header, None).unwrap(), &bytes[FileHeader::MIN_SIZE..]);
        let start = arriving.mark();
        for position in 0..bytes.len() {
            let mut damaged = bytes.to_vec();
            damaged[position] ^= 1 << (position % 8);
            arriving.take(&damaged).unwrap();
            assert!(arriving.finish_expiring().is_err(), "damage at {position} was not seen");
            arriving.go_back(start.clone());
        }
        arriving.take(bytes).unwrap();
        assert!(matches!(arriving.finish(), Err(LoadError::OtherKind { expected: FileKind::Growing, .. })));
        assert_eq!(arriving.finish_expiring().unwrap(), filter);
    }

    #[test]
    fn a_table_that_no_keys_give_is_refused_though_its_checksum_is_right() {
        for filter in filters() {
            let bytes = filter.to_bytes();
            let mut header = FileHeader::from_bytes(&bytes).unwrap();
            let mut table = filter.bytes().to_vec();
            // The highest bit of the first slot alone is no fingerprint of a filter that grows, unless the slot is short.
            let slot_bits = to_usize(u64::from(header.parameters.bits_per_slot()));
            for bit in 0..slot_bits {
                table[bit / 8] &= !(1 << (bit % 8));
            }
            let highest = slot_bits - 1;
            table[highest / 8] |= 1 << (highest % 8);
            header.table_checksum = crate::digest::checksum(&table);
            let header = FileHeader::from_bytes(&header.encode()).unwrap();
            let mut arriving = Arriving::new(&header, None).unwrap();
            arriving.take(&table).unwrap();
            arriving.take(&bytes[FileHeader::MIN_SIZE + table.len()..]).unwrap();
            assert!(matches!(arriving.finish(), Err(LoadError::Inconsistent { .. })));
        }
    }
}
