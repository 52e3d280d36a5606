//! The first 128 bytes of a file.

use arrayvec::ArrayVec;

use super::behind::Behind;
use super::chunks::Normalization;
use super::contents::Parts;
use super::fields::Fields;
use crate::cast::wide;
use crate::digest::{Checksum, checksum};
use crate::error::{FileKind, LoadError};
use crate::filter::{Growth, GrowthPolicy};
use crate::parameters::{Addressing, Layout, Parameters, Regions, Shape};

/// The size of the header; a multiple of 64, so that the table behind it can be mapped to a cache line.
pub(super) const HEADER_SIZE: usize = 128;

/// How every file starts. The first byte is no ASCII and the last two are CR LF, so that a transfer that strips the
/// eighth bit or rewrites line ends is noticed at once.
const MAGIC: [u8; 8] = *b"\x89GUIRA\r\n";

/// The version that is written, and the latest that is read.
const VERSION: u16 = 1;

/// What a file says by numbers: the first of each has the number 1.
const KINDS: &[FileKind] =
    &[FileKind::Filter, FileKind::Set, FileKind::Growing, FileKind::Counting, FileKind::Map, FileKind::Expiring];
const LAYOUTS: &[Layout] = &[Layout::Packed, Layout::SemiSorted];
const ADDRESSINGS: &[Addressing] =
    &[Addressing::Regional, Addressing::PowerOfTwo, Addressing::Ternary, Addressing::Quaternary, Addressing::Doubling];
const POLICIES: &[GrowthPolicy] = &[GrowthPolicy::KeepRate, GrowthPolicy::RaiseRate];

/// The number of what is in one of these lists; for what is not, 0, which is refused by every reader.
fn number_of<T: PartialEq>(list: &[T], sought: &T) -> u8 {
    list.iter().zip(1..).find(|(listed, _)| *listed == sought).map_or(0, |(_, number)| number)
}

/// What has this number in one of these lists.
fn numbered<T: Copy>(list: &[T], number: u8) -> Option<T> {
    list.get(usize::from(number).checked_sub(1)?).copied()
}

const HASH_XXH3: u8 = 1;
const HASH_SIP_HASH_13: u8 = 2;

/// The longest values that the format has. This release has shorter ones.
const MAX_VALUE_BITS: u8 = 56;

/// The flags that a reader must know: there are none so far.
const REQUIRED_FLAGS: u16 = 0;

/// How far a doubling has come, between two that are counted: not at all, or every second bucket has become two. What is written of a table
/// at any other place is what it is going to be, with the number of buckets that wait.
const MARK_SETTLED: u64 = 0;
const MARK_HALF_DOUBLED: u64 = 1;

/// The header of a file of any kind: its parameters, how full it is, and how its keys are hashed, without its table and
/// without the secret key that it may have been made with.
///
/// # Examples
///
/// ```
/// use guira::{CuckooFilter, FileHeader, FileKind, KeyHasher};
///
/// let hasher = KeyHasher::sip_hash_13(*b"nobody knows it.");
/// let file = CuckooFilter::builder().capacity(1000).false_positive_rate(0.001).hasher(hasher).build()?.to_bytes();
///
/// let header = FileHeader::from_bytes(&file)?;
/// assert_eq!((header.kind(), header.len(), header.has_secret_key()), (FileKind::Filter, 0, true));
/// assert_eq!(header.parameters().capacity(), 1000);
/// // All of it is whole, as far as is seen without the key.
/// header.verify(&file, None)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct FileHeader {
    pub(super) kind: FileKind,
    pub(super) parameters: Parameters,
    /// How far a filter grows, if it does.
    pub(super) growth: Option<Growth>,
    pub(super) hash: Hash,
    pub(super) len: u64,
    /// The buckets that waited to become two when the file was written, counted as they were before any did.
    pub(super) waiting: u64,
    /// The flags that a reader need not know.
    pub(super) flags: u16,
    /// The false positive rate that was asked for; 0 if that is not known.
    pub(super) rate: f64,
    /// The bytes of the chunks behind the table.
    pub(super) chunks_size: u64,
    pub(super) table_checksum: u64,
}

/// The hash of the keys, without its secret.
#[derive(Clone, Copy)]
pub(super) enum Hash {
    Xxh3 { seed: u64 },
    SipHash13 { key_check: u64 },
}

impl FileHeader {
    pub(super) fn of(parts: &Parts<'_>) -> Self {
        let table_checksum = match parts.table.in_memory() {
            Some(table) => checksum(table),
            None => {
                let mut checksum = Checksum::default();
                parts.table.each_piece(|piece| checksum.update(piece));
                checksum.digest()
            }
        };
        Self::summed(parts, table_checksum)
    }

    /// The header of a file whose table has this checksum.
    pub(super) fn summed(parts: &Parts<'_>, table_checksum: u64) -> Self {
        Self {
            kind: parts.kind,
            parameters: *parts.parameters,
            growth: parts.growth,
            hash: match parts.hasher.key_check() {
                None => Hash::Xxh3 { seed: parts.hasher.seed() },
                Some(key_check) => Hash::SipHash13 { key_check },
            },
            len: wide(parts.len),
            waiting: parts.waiting,
            flags: parts.kept.map_or(0, |kept| kept.flags),
            rate: parts.kept.map_or(0.0, |kept| kept.rate),
            chunks_size: wide(parts.chunks().map(<[u8]>::len).sum()),
            table_checksum,
        }
    }

    /// The size of the table in bytes, which follows from the parameters.
    pub(super) const fn table_size(&self) -> u64 {
        self.parameters.table_size()
    }

    /// Where the chunks begin in the file.
    pub(super) fn chunks_at(&self) -> u64 {
        self.table_size().saturating_add(wide(HEADER_SIZE))
    }

    /// Finds the table in the bytes of a file, and reads what is behind it, if there are as many bytes as the header says, or a
    /// journal is behind them.
    pub(super) fn split<'bytes>(
        &self,
        bytes: &'bytes [u8],
        normalization: Normalization,
    ) -> Result<(&'bytes [u8], Behind), LoadError> {
        let truncated = || LoadError::Truncated { expected: self.file_size(), found: wide(bytes.len()) };
        let split = |bytes: &'bytes [u8], size| {
            usize::try_from(size).ok().and_then(|size| bytes.split_at_checked(size)).ok_or_else(truncated)
        };
        let (_, bytes) = split(bytes, wide(HEADER_SIZE))?;
        let (table, bytes) = split(bytes, self.table_size())?;
        let (chunks, rest) = split(bytes, self.chunks_size)?;
        Ok((table, Behind::of(self, chunks, rest, normalization)?))
    }

    /// Returns the header, if its kind is one of these.
    pub(super) fn of_kinds(self, expected: &[FileKind]) -> Result<Self, LoadError> {
        match expected {
            [expected, others @ ..] if *expected != self.kind && !others.contains(&self.kind) => {
                Err(LoadError::OtherKind { found: self.kind, expected: *expected })
            }
            _ => Ok(self),
        }
    }

    /// The fingerprints stored, where the address space has room for as many.
    pub(super) fn len_in_memory(&self) -> Result<usize, LoadError> {
        usize::try_from(self.len).map_err(|_| self.out_of_memory())
    }

    /// The error for a table that memory has no room for.
    pub(super) const fn out_of_memory(&self) -> LoadError {
        LoadError::OutOfMemory { bytes: self.table_size() }
    }

    /// The bytes of the header.
    pub(super) fn encode(&self) -> ArrayVec<u8, HEADER_SIZE> {
        let mut bytes = ArrayVec::new();
        let parameters = &self.parameters;
        let (hash, seed) = match self.hash {
            Hash::Xxh3 { seed } => (HASH_XXH3, seed),
            Hash::SipHash13 { key_check } => (HASH_SIP_HASH_13, key_check),
        };
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.push(number_of(KINDS, &self.kind));
        bytes.push(number_of(LAYOUTS, &parameters.layout()));
        bytes.push(number_of(ADDRESSINGS, &parameters.addressing()));
        bytes.push(hash);
        // Both are at most 56, as are v and the doublings below, and 0 is refused by every reader.
        bytes.push(u8::try_from(parameters.slots_per_bucket()).unwrap_or(0));
        bytes.push(u8::try_from(parameters.fingerprint_bits()).unwrap_or(0));
        bytes.extend(parameters.region_count().to_le_bytes());
        bytes.extend(parameters.buckets_per_region().to_le_bytes());
        bytes.extend(parameters.capacity().to_le_bytes());
        bytes.extend(self.len.to_le_bytes());
        bytes.extend(seed.to_le_bytes());
        bytes.extend(self.table_size().to_le_bytes());
        bytes.push(u8::try_from(parameters.value_bits()).unwrap_or(u8::MAX));
        bytes.push(u8::try_from(parameters.doublings()).unwrap_or(u8::MAX));
        let (policy, doublings, max_capacity) = match &self.growth {
            None => (0, 0, 0),
            Some(growth) => (
                number_of(POLICIES, &growth.policy),
                u8::try_from(growth.doublings).unwrap_or(u8::MAX),
                growth.max_capacity,
            ),
        };
        bytes.push(policy);
        bytes.push(doublings);
        bytes.extend(REQUIRED_FLAGS.to_le_bytes());
        bytes.extend(self.flags.to_le_bytes());
        bytes.extend(max_capacity.to_le_bytes());
        bytes.extend(self.chunks_size.to_le_bytes());
        bytes.extend(self.rate.to_bits().to_le_bytes());
        let mark = if parameters.shape().is_half_doubled() { MARK_HALF_DOUBLED } else { MARK_SETTLED };
        bytes.extend(mark.to_le_bytes());
        bytes.extend(self.waiting.to_le_bytes());
        bytes.extend(self.table_checksum.to_le_bytes());
        let header_checksum = checksum(&bytes);
        bytes.extend(header_checksum.to_le_bytes());
        bytes
    }

    /// Reads the fields behind the version, and checks all that they say.
    pub(super) fn decode(fields: &mut Fields<'_>) -> Result<Self, LoadError> {
        // Those of a header of full size never end too early.
        const END: LoadError = LoadError::NotGuira;
        let [kind, layout, addressing, hash, slots_per_bucket, fingerprint_bits] = fields.take().ok_or(END)?;
        let region_count = fields.number().ok_or(END)?;
        let buckets_per_region = fields.number().ok_or(END)?;
        let capacity = fields.number().ok_or(END)?;
        let len = fields.number().ok_or(END)?;
        let seed = fields.number().ok_or(END)?;
        let table_size = fields.number().ok_or(END)?;
        let [value_bits, doublings, policy, growth_doublings] = fields.take().ok_or(END)?;
        let required_flags = u16::from_le_bytes(fields.take().ok_or(END)?);
        let flags = u16::from_le_bytes(fields.take().ok_or(END)?);
        let max_capacity = fields.number().ok_or(END)?;
        let chunks_size = fields.number().ok_or(END)?;
        let rate = f64::from_le_bytes(fields.take().ok_or(END)?);
        let mark = fields.number().ok_or(END)?;
        let waiting = fields.number().ok_or(END)?;
        let table_checksum = fields.number().ok_or(END)?;

        let unknown = |what, found| LoadError::Unknown { what, found };
        let inconsistent = |what| LoadError::Inconsistent { what };
        // What this release doesn't know may change what everything else means, so it is looked for first.
        if required_flags != REQUIRED_FLAGS {
            return Err(unknown("flags", required_flags.into()));
        }
        if mark > MARK_HALF_DOUBLED {
            return Err(unknown("state of a doubling", mark));
        }
        let kind = numbered(KINDS, kind).ok_or(unknown("kind", kind.into()))?;
        let layout = numbered(LAYOUTS, layout).ok_or(unknown("layout", layout.into()))?;
        let addressing = numbered(ADDRESSINGS, addressing).ok_or(unknown("addressing", addressing.into()))?;
        let hash = match hash {
            HASH_XXH3 => Hash::Xxh3 { seed },
            HASH_SIP_HASH_13 => Hash::SipHash13 { key_check: seed },
            found => return Err(unknown("hash", found.into())),
        };
        let has_values = matches!(kind, FileKind::Counting | FileKind::Map | FileKind::Expiring);
        // What the format has and this release hasn't.
        let together = u32::from(fingerprint_bits) + u32::from(value_bits);
        let is_long = u32::from(value_bits) > Parameters::MAX_VALUE_BITS || together > Parameters::MAX_BITS_WITH_VALUE;
        if has_values && is_long && value_bits <= MAX_VALUE_BITS {
            return Err(unknown("length of values", value_bits.into()));
        }
        let regions = Regions { count: region_count, buckets: buckets_per_region };
        let half_doublings = 2 * u32::from(doublings) + u32::from(mark == MARK_HALF_DOUBLED);
        let parameters = Shape::new(layout, addressing, u32::from(slots_per_bucket))
            .map(|shape| shape.half_doubled(mark == MARK_HALF_DOUBLED))
            .and_then(|shape| Parameters::new(shape, u32::from(fingerprint_bits), regions, capacity))
            .and_then(
                |parameters| {
                    if has_values { parameters.with_value_bits(u32::from(value_bits)) } else { Ok(parameters) }
                },
            )
            .and_then(|parameters| parameters.half_doubled(half_doublings))
            .map_err(LoadError::Parameters)?;
        if u32::from(value_bits) != parameters.value_bits() {
            return Err(inconsistent("bits for values where there are none"));
        }
        let policy = match (kind, policy, numbered(POLICIES, policy)) {
            (FileKind::Filter, 1.., _) => return Err(inconsistent("a growth policy in what does not grow")),
            (_, _, Some(policy)) => Some(policy),
            (FileKind::Growing, found, _) | (_, found @ 1.., _) => return Err(unknown("growth policy", found.into())),
            _ if (policy, growth_doublings, max_capacity) != (0, 0, 0) => {
                return Err(inconsistent("a growth policy in what does not grow"));
            }
            _ => None,
        };
        let doublings = u32::from(growth_doublings);
        let growth = policy.map(|policy| Growth { doublings, max_capacity, policy });
        if let Some(growth) = &growth {
            growth.check(&parameters).map_err(LoadError::Parameters)?;
        }
        let most_waiting = if growth.is_some() && !has_values { parameters.buckets_that_became_two() } else { 0 };
        if waiting > most_waiting {
            return Err(inconsistent("more buckets wait to become two than a smaller table had"));
        }
        let header = Self { kind, parameters, growth, hash, len, waiting, flags, rate, chunks_size, table_checksum };
        if len > parameters.slot_count() {
            return Err(inconsistent("more fingerprints than slots"));
        }
        if table_size != header.table_size() {
            return Err(inconsistent("the table has another size than its parameters give"));
        }
        // Not `rate < 0.0 || rate >= 1.0`: that lets NaN through. Of the zeros only one is written.
        if !(rate.to_bits() == 0 || (rate > 0.0 && rate < 1.0)) {
            return Err(inconsistent("the rate that was asked for is none"));
        }
        Ok(header)
    }
}

/// The fields of a header behind its version, if it is whole, of this version, and its checksum is right.
pub(super) fn fields_behind_version(bytes: &[u8]) -> Result<Fields<'_>, LoadError> {
    let mut fields = Fields(bytes);
    if !MAGIC.iter().zip(bytes).all(|(magic, byte)| magic == byte) {
        return Err(LoadError::NotGuira);
    }
    let truncated = || LoadError::Truncated { expected: wide(HEADER_SIZE), found: wide(bytes.len()) };
    fields.take::<{ MAGIC.len() }>().ok_or_else(truncated)?;
    let version = u16::from_le_bytes(fields.take().ok_or_else(truncated)?);
    if version > VERSION {
        // A later version may have another header, so its checksum says nothing.
        return Err(LoadError::LaterVersion { found: version, supported: VERSION });
    }
    let header = bytes.first_chunk::<HEADER_SIZE>().ok_or_else(truncated)?;
    let (checked, header_checksum) = header.split_last_chunk::<8>().ok_or_else(truncated)?;
    if checksum(checked) != u64::from_le_bytes(*header_checksum) {
        return Err(LoadError::HeaderChecksum);
    }
    if version != VERSION {
        return Err(LoadError::Inconsistent { what: "there is no such version" });
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use core::fmt::Debug;

    use super::*;

    /// Goes through all variants, of which `next` tells the one behind each. It is a `match`, so none can be forgotten.
    fn assert_numbered<T: Copy + Debug + PartialEq>(list: &[T], first: T, next: impl Fn(&T) -> Option<T>) {
        let mut variants = 0;
        for (variant, number) in core::iter::successors(Some(first), next).zip(1..) {
            assert_eq!((number_of(list, &variant), numbered(list, number)), (number, Some(variant)));
            variants += 1;
        }
        assert_eq!((list.len(), numbered(list, 0)), (variants, None), "{list:?}");
    }

    #[test]
    fn every_kind_layout_addressing_and_policy_has_its_number() {
        assert_numbered(KINDS, FileKind::Filter, |kind| match kind {
            FileKind::Filter => Some(FileKind::Set),
            FileKind::Set => Some(FileKind::Growing),
            FileKind::Growing => Some(FileKind::Counting),
            FileKind::Counting => Some(FileKind::Map),
            FileKind::Map => Some(FileKind::Expiring),
            FileKind::Expiring => None,
        });
        assert_numbered(LAYOUTS, Layout::Packed, |layout| match layout {
            Layout::Packed => Some(Layout::SemiSorted),
            Layout::SemiSorted => None,
        });
        assert_numbered(ADDRESSINGS, Addressing::Regional, |addressing| match addressing {
            Addressing::Regional => Some(Addressing::PowerOfTwo),
            Addressing::PowerOfTwo => Some(Addressing::Ternary),
            Addressing::Ternary => Some(Addressing::Quaternary),
            Addressing::Quaternary => Some(Addressing::Doubling),
            Addressing::Doubling => None,
        });
        assert_numbered(POLICIES, GrowthPolicy::KeepRate, |policy| match policy {
            GrowthPolicy::KeepRate => Some(GrowthPolicy::RaiseRate),
            GrowthPolicy::RaiseRate => None,
        });
    }
}
