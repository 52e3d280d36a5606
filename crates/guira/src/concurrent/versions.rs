//! How a reader knows that it missed nothing.
//!
//! A reader looks at the candidate buckets of a key one after the other. Meanwhile a fingerprint may move from the bucket
//! that is still to be looked at to the one that was; then it is stored at every moment (invariant 5), and yet not seen.
//! So there is a version for each class of fingerprints, and a writer
//!
//! 1. writes a fingerprint that moves to its new slot,
//! 2. increments the version of its class,
//! 3. overwrites or empties its old slot;
//!
//! and where a fingerprint is removed, does 2 and 3. A reader that found nothing answers "absent" only if the version is
//! the same, say n, before and after.
//!
//! Why that is enough: reading n acquires all that was written before the nth increment. Seeing what was written after
//! the next one would acquire that increment as well, and the second reading would not give n. So what the reader saw of
//! the class is every copy that was written before the nth increment, or before the lookup began, less those that left
//! by one of the first n increments. Each of these that moved was written elsewhere before its increment, and each that
//! was removed was inserted before that. So among the copies that share fingerprint and buckets with the key, the reader
//! saw as many as were inserted less as many as were removed, and the key's own was inserted and not removed: at least
//! one.
//!
//! Removals must increment for that: a key that is inserted and another one that is removed, both with the key's
//! fingerprint and buckets, are a move of the key.
//!
//! It needs no odd version during a move: one increment between the two writes tells as much, and nobody waits.

use alloc::sync::Arc;

use crate::addressing::Fingerprint;
use crate::cast::to_usize;
use crate::parameters::Parameters;
use crate::sync::{AtomicU64, Ordering, fence};
use crate::table::{OutOfMemory, try_arc};

/// How many classes there are: so many that moves seldom disturb readers of other keys, and so few that all versions stay
/// in the innermost cache.
///
/// The class is in the lowest bits of a fingerprint, which it keeps when a table is doubled.
const CLASSES: usize = if cfg!(loom) { 2 } else { 1 << Parameters::CORE_BITS };

/// How often fingerprints of each class have left a slot. At 64 bits they never come to the same number again.
///
/// Tables that come from one another by doublings have the same ones, since a reader may be in one while writers are in the
/// next.
#[derive(Clone)]
pub(super) struct Versions(Arc<[AtomicU64; CLASSES]>);

impl Versions {
    pub(super) fn new() -> Result<Self, OutOfMemory> {
        try_arc(core::array::from_fn(|_| AtomicU64::new(0))).map(Self)
    }

    #[inline]
    fn of(&self, fingerprint: Fingerprint) -> &AtomicU64 {
        &self.0[to_usize(u64::from(fingerprint.low_half())) % CLASSES]
    }

    /// Announces that a fingerprint leaves its slot, between steps 1 and 3.
    ///
    /// Release: who reads this version, or a later one, sees where the fingerprint was written before. The release of
    /// step 3 keeps step 3 after this.
    #[inline]
    pub(super) fn bump(&self, fingerprint: Fingerprint) {
        self.of(fingerprint).fetch_add(1, Ordering::Release);
    }

    /// Begins a look at the buckets of a fingerprint.
    ///
    /// Acquire: what was written before the increments that this reads is seen by the look, which comes after it.
    #[inline]
    pub(super) fn watch(&self, fingerprint: Fingerprint) -> OptimisticRead<'_> {
        let version = self.of(fingerprint);
        OptimisticRead { version, began: version.load(Ordering::Acquire) }
    }
}

/// A look at the buckets of a fingerprint that has begun.
pub(super) struct OptimisticRead<'versions> {
    version: &'versions AtomicU64,
    began: u64,
}

impl OptimisticRead<'_> {
    /// Whether no fingerprint of the class left a slot while the look went on, as far as it saw.
    ///
    /// The fence makes an acquire of every relaxed read of a slot before it: having seen that a fingerprint had left, the
    /// look sees the increment before that. Nothing is read after it that would need more than relaxed.
    #[inline]
    pub(super) fn is_unchanged(&self) -> bool {
        fence(Ordering::Acquire);
        self.version.load(Ordering::Relaxed) == self.began
    }
}
