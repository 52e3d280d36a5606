//! Algorithm 2 while others write.

use super::guards::Guards;
use super::stripes::Stale;
use super::versions::Versions;
use crate::addressing::{Addressing, Candidate, Fingerprint};
use crate::cast::Whole;
use crate::cuckoo::{CuckooTable, Pair, Scheme, with_table};
use crate::digest::Digest;
use crate::sync::AtomicU64;
use crate::table::{PackedTable, Table, Widths};

/// How often a reader looks at most. Each look but the first follows a removal or a move of a fingerprint of the same
/// class, so a second is rare, and this many in a row come only if somebody provokes them.
pub(super) const MAX_LOOKS: u32 = 64;

/// What `contains` returns at one look; `None` if it found nothing and a fingerprint may have moved past it.
#[inline]
pub(super) fn look(versions: &Versions, fingerprint: Fingerprint, contains: impl FnOnce() -> bool) -> Option<bool> {
    let watch = versions.watch(fingerprint);
    let found = contains();
    // Not `||`: whether a key is found is hard to guess, and that something moved is rare.
    (found | watch.is_unchanged()).then_some(found)
}

impl<A: Addressing, T: Table> CuckooTable<A, T> {
    /// Algorithm 2 at one look; `None` if it was disturbed.
    #[inline]
    pub(super) fn contains_concurrent(&self, digest: Digest, versions: &Versions) -> Option<bool> {
        let (fingerprint, primary, second) = self.addressing.locate_pair::<Whole>(digest);
        look(versions, fingerprint, || self.contains_in(fingerprint, primary.bucket(), second))
    }

    /// How many copies of a fingerprint are stored; `None` if all looks were disturbed.
    fn count_concurrent(&self, fingerprint: Fingerprint, primary: Candidate, versions: &Versions) -> Option<u32> {
        (0..MAX_LOOKS).find_map(|_| {
            let watch = versions.watch(fingerprint);
            let copies = self.copies(fingerprint, primary);
            watch.is_unchanged().then_some(copies)
        })
    }
}

/// Algorithm 2. It never waits: if fingerprints move past every look, the answer is "probably", which is always allowed.
///
/// As in filters for one thread, only the schemes that are planned by default are inlined.
#[inline(always)]
pub(super) fn contains(scheme: &Scheme, words: &[AtomicU64], digest: Digest, guards: &Guards) -> bool {
    let found = if scheme.is_aligned_bytes
        && let Pair::AlignedBytes(addressing, widths) = &scheme.pair
    {
        look_once(addressing, *widths, words, digest, guards)
    } else {
        match &scheme.pair {
            Pair::AlignedNarrow(addressing, widths) => look_once(addressing, *widths, words, digest, guards),
            Pair::RegionalBytes(addressing, widths) => look_once(addressing, *widths, words, digest, guards),
            Pair::RegionalNarrow(addressing, widths) => look_once(addressing, *widths, words, digest, guards),
            _ => look_elsewhere(scheme, words, digest, guards),
        }
    };
    found.unwrap_or_else(|| look_again(scheme, words, digest, guards))
}

#[inline(always)]
fn look_once<A: Addressing, G: Widths>(
    addressing: &A,
    widths: G,
    words: &[AtomicU64],
    digest: Digest,
    guards: &Guards,
) -> Option<bool> {
    let table = CuckooTable { addressing: *addressing, slots: PackedTable::new(widths, words) };
    table.contains_concurrent(digest, &guards.versions)
}

#[inline(never)]
fn look_elsewhere(scheme: &Scheme, words: &[AtomicU64], digest: Digest, guards: &Guards) -> Option<bool> {
    with_table!(scheme, shared(words), table => table.contains_concurrent(digest, &guards.versions))
}

/// Looks again after a first look that was disturbed.
///
/// It is not given the table: that would have to be written to memory in every lookup, for a function that is hardly ever
/// called.
#[cold]
#[inline(never)]
pub(super) fn look_again(scheme: &Scheme, words: &[AtomicU64], digest: Digest, guards: &Guards) -> bool {
    with_table!(scheme, shared(words), table => {
        (1..MAX_LOOKS).find_map(|_| table.contains_concurrent(digest, &guards.versions)).unwrap_or(true)
    })
}

/// How many copies of a key's fingerprint are stored. If all looks are disturbed, its buckets are locked for the last one.
pub(super) fn count(scheme: &Scheme, words: &[AtomicU64], digest: Digest, guards: &Guards) -> Result<u32, Stale> {
    with_table!(scheme, shared(words), table => {
        let (fingerprint, primary) = table.addressing.locate(digest);
        if let Some(copies) = table.count_concurrent(fingerprint, primary, &guards.versions) {
            return Ok(copies);
        }
        let candidates = table.addressing.distinct_candidates(primary, fingerprint);
        let _guards = guards.stripes.lock_each(candidates.map(Candidate::bucket))?;
        Ok(table.copies(fingerprint, primary))
    })
}
