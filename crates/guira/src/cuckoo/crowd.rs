//! What doublings would do for a key that finds no room, without doubling anything.

use arrayvec::ArrayVec;

use crate::addressing::{Addressing as _, BucketIndex, Candidate, DoublingAddressing, Fingerprint, Located};
use crate::cast::to_usize;
use crate::digest::Digest;
use crate::parameters::Parameters;
use crate::table::MOST_SLOTS;

/// So many buckets and more are no crowd: a table in which that many are full is full as a whole.
const MOST_BUCKETS: usize = 16;

/// What is stored in a bucket.
pub(crate) type Stored = ArrayVec<(BucketIndex, Fingerprint), MOST_SLOTS>;

/// What keeps a key out of its buckets, for good until the table is doubled: copies, and others that share their buckets.
#[derive(Debug)]
pub(crate) struct Crowd {
    /// They need no memory that could be missing.
    fingerprints: ArrayVec<(BucketIndex, Fingerprint), { MOST_BUCKETS * MOST_SLOTS }>,
    digest: Digest,
    seed: u64,
    slots_per_bucket: usize,
}

impl Crowd {
    /// The fingerprints in all buckets where a slot could be freed for a key. `None` where there is an empty slot among
    /// them, or where they are many.
    pub(crate) fn around(
        digest: Digest,
        parameters: &Parameters,
        seed: u64,
        stored_in: impl Fn(BucketIndex) -> Stored,
    ) -> Option<Self> {
        let slots_per_bucket = to_usize(u64::from(parameters.slots_per_bucket()));
        let mut crowd = Self { fingerprints: ArrayVec::new(), digest, seed, slots_per_bucket };
        crowd.fingerprints = crowd.gather(&DoublingAddressing::<true>::new(parameters, seed), stored_in)?;
        Some(crowd)
    }

    /// Whether any of these doublings, one after the other, lets the key in: `doublings` are the parameters of the tables,
    /// the first of which has the parameters that the crowd was found with.
    pub(crate) fn gives_way_to(mut self, doublings: impl Iterator<Item = Parameters>) -> bool {
        let mut addressings = doublings.map(|parameters| DoublingAddressing::<true>::new(&parameters, self.seed));
        let Some(mut old) = addressings.next() else { return false };
        for new in addressings {
            for (bucket, fingerprint) in &mut self.fingerprints {
                (*bucket, *fingerprint) = old.moved(*bucket, *fingerprint);
            }
            // All in a bucket come from the one that it is or was half of, which is one of the crowd's.
            let stored_in = |next| self.fingerprints.iter().filter(|(bucket, _)| *bucket == next).copied().collect();
            match self.gather(&new, stored_in) {
                None => return true,
                Some(fingerprints) => self.fingerprints = fingerprints,
            }
            old = new;
        }
        false
    }

    fn gather(
        &self,
        addressing: &DoublingAddressing<true>,
        stored_in: impl Fn(BucketIndex) -> Stored,
    ) -> Option<ArrayVec<(BucketIndex, Fingerprint), { MOST_BUCKETS * MOST_SLOTS }>> {
        let Located { primary, second, .. } = addressing.locate(self.digest);
        let mut buckets = ArrayVec::<Candidate, { MOST_BUCKETS + MOST_SLOTS }>::new();
        buckets.extend([primary, second]);
        let mut gathered = ArrayVec::new();
        let mut next = 0;
        while let Some(&candidate) = buckets.get(next) {
            let stored = stored_in(candidate.bucket());
            if stored.len() < self.slots_per_bucket || buckets.len() >= MOST_BUCKETS {
                return None;
            }
            for &(_, fingerprint) in &stored {
                let other = addressing.alternate(candidate, fingerprint);
                if buckets.iter().all(|known| known.bucket() != other.bucket()) {
                    buckets.push(other);
                }
            }
            gathered.extend(stored);
            next += 1;
        }
        Some(gathered)
    }
}
