//! Algorithm 2 while others write.

use super::guards::Guards;
use super::shared_table::SharedTable;
use super::stripes::{Stale, Stripes};
use super::versions::{OptimisticRead, Versions};
use crate::addressing::{Addressing, Fingerprint};
use crate::cast::to_usize;
use crate::cuckoo::{CuckooTable, Look, Scheme, with_table};
use crate::digest::Digest;
use crate::sync::AtomicU64;
use crate::table::Table;

/// How often a reader looks at most. Each look but the first follows a removal or a move of a fingerprint of the same
/// class, so a second is rare, and this many in a row come only if somebody provokes them.
pub(super) const MAX_LOOKS: u32 = 64;

/// What `contains` returns at one look; `None` if it found nothing and a fingerprint may have moved past it.
#[inline]
pub(super) fn look(versions: &Versions, fingerprint: Fingerprint, contains: impl FnOnce() -> bool) -> Option<bool> {
    let watch = versions.begin(fingerprint);
    <&Versions>::end(watch, contains())
}

/// How many copies are counted at a look that was not disturbed. If all are, writers are locked out for the last one; a caller who has
/// locked the whole table is disturbed by nobody. A look returns what it counted, and whether it was undisturbed.
pub(super) fn count_at_rest(look: impl Fn() -> (u32, bool), stripes: &Stripes) -> Result<usize, Stale> {
    let looked = (0..MAX_LOOKS).find_map(|_| {
        let (copies, is_undisturbed) = look();
        is_undisturbed.then_some(copies)
    });
    let copies = match looked {
        Some(copies) => copies,
        None => {
            let _all = stripes.lock_all()?;
            look().0
        }
    };
    Ok(to_usize(u64::from(copies)))
}

impl<'versions> Look for &'versions Versions {
    type Watch = OptimisticRead<'versions>;
    type Output = Option<bool>;

    #[inline(always)]
    fn begin(self, fingerprint: Fingerprint) -> OptimisticRead<'versions> {
        self.watch(fingerprint)
    }

    #[inline(always)]
    fn end(watch: OptimisticRead<'_>, found: bool) -> Option<bool> {
        // Not `||`: whether a key is found is hard to guess, and that something moved is rare.
        (found | watch.is_unchanged()).then_some(found)
    }
}

impl<A: Addressing, T: Table> CuckooTable<A, T> {
    /// Algorithm 2 at one look; `None` if it was disturbed.
    #[inline]
    pub(super) fn contains_concurrent(&self, digest: Digest, versions: &Versions) -> Option<bool> {
        let located = self.addressing.locate(digest);
        look(versions, located.fingerprint, || self.contains_located(located))
    }
}

impl SharedTable {
    /// Algorithm 2. It never waits: if fingerprints move past every look, the answer is "probably", which is always allowed.
    ///
    /// As in filters for one thread, only the schemes that are planned by default are inlined.
    #[inline(always)]
    pub(super) fn contains(&self, digest: Digest) -> bool {
        let found = match self.scheme.planned.look(&*self.words, digest, &self.guards.versions) {
            Some(found) => found,
            None => look_elsewhere(&self.scheme, &self.words, digest, &self.guards),
        };
        found.unwrap_or_else(|| self.look_again(digest))
    }

    /// See [`look_again`].
    #[inline(always)]
    pub(super) fn look_again(&self, digest: Digest) -> bool {
        look_again(&self.scheme, &self.words, digest, &self.guards)
    }

    /// How many copies of a key's fingerprint are stored.
    pub(super) fn count(&self, digest: Digest) -> Result<usize, Stale> {
        with_table!(self.scheme, packed(&*self.words), table => {
            let located = table.addressing.locate(digest);
            let look = || {
                let watch = self.guards.versions.watch(located.fingerprint);
                (table.copies(located), watch.is_unchanged())
            };
            count_at_rest(look, &self.guards.stripes)
        })
    }
}

// What follows is given parts of the shared table: given all of it, every lookup in a loop takes three instructions more.

#[inline(never)]
fn look_elsewhere(scheme: &Scheme, words: &[AtomicU64], digest: Digest, guards: &Guards) -> Option<bool> {
    match scheme.planned.look_in_halves(words, digest, &guards.versions) {
        Some(found) => found,
        None => with_table!(scheme, packed(words), table => table.contains_concurrent(digest, &guards.versions)),
    }
}

/// Looks again after a first look that was disturbed.
///
/// It is not given the cuckoo table either: that would have to be written to memory in every lookup, for a function that is hardly
/// ever called.
#[cold]
#[inline(never)]
fn look_again(scheme: &Scheme, words: &[AtomicU64], digest: Digest, guards: &Guards) -> bool {
    with_table!(scheme, packed(words), table => {
        (1..MAX_LOOKS).find_map(|_| table.contains_concurrent(digest, &guards.versions)).unwrap_or(true)
    })
}
