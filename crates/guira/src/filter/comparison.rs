use alloc::borrow::Cow;

use super::{CuckooFilter, Growth};
use crate::addressing::{Addressing, BucketIndex, Fingerprint};
use crate::cast::to_usize;
use crate::cuckoo::with_table;
use crate::error::MergeError;

impl CuckooFilter {
    /// Returns how many fingerprints this filter and another have in common, in the same candidate buckets. Of several
    /// copies, as many count as both filters have.
    ///
    /// The filters must have been made with the same parameters, hash and seed; filters that grow may have been doubled a
    /// different number of times. If they have, this takes the memory of the larger table; a filter that is being doubled is
    /// copied; otherwise it takes none.
    ///
    /// # Errors
    ///
    /// [`MergeError::Differs`] where the filters were not made alike, and [`MergeError::OutOfMemory`].
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::CuckooFilter;
    ///
    /// let mut monday = CuckooFilter::with_capacity(1000, 0.001)?;
    /// let mut tuesday = CuckooFilter::with_capacity(1000, 0.001)?;
    /// monday.insert("ani")?;
    /// monday.insert("koel")?;
    /// tuesday.insert("koel")?;
    /// assert_eq!(monday.intersection_len(&tuesday)?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn intersection_len(&self, other: &Self) -> Result<usize, MergeError> {
        // Before any table is doubled.
        let growth = self.growth().or(other.growth());
        if growth.is_some() { self.refuse_if_begun_otherwise(other) } else { self.refuse_if_made_otherwise(other) }?;
        let ours = self.doubled_as_often_as(other, growth)?;
        let theirs = other.doubled_as_often_as(self, growth)?;
        // `smaller[n]` sums, over our fingerprints with n copies, the smaller number of copies in both filters. Each of
        // them is visited n times, so the sum is divided by n.
        let mut smaller = [0u64; MAX_COPIES + 1];
        with_table!(ours.scheme(), over(ours.bytes()), table => {
            let grid = table.addressing.grid();
            for (bucket, fingerprint) in ours.fingerprints().typed() {
                let copies = table.copies(table.addressing.located(fingerprint, grid.candidate(bucket)));
                let other_copies = theirs.copies_of(bucket, fingerprint);
                smaller[to_usize(copies.into())] += u64::from(copies.min(other_copies));
            }
        });
        let common = (1..).zip(&smaller[1..]).map(|(copies, sum)| sum / copies).sum::<u64>();
        Ok(to_usize(common))
    }

    /// How many copies there are of a fingerprint that is stored in another filter of the same scheme.
    fn copies_of(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> u32 {
        with_table!(self.scheme(), over(self.bytes()), table => {
            table.copies(table.addressing.located(fingerprint, table.addressing.grid().candidate(bucket)))
        })
    }

    /// Returns the filter; if another one that began alike has been doubled more often, then doubled as often as that.
    fn doubled_as_often_as(&self, other: &Self, growth: Option<&Growth>) -> Result<Cow<'_, Self>, MergeError> {
        let mut doubled = self.try_settled()?;
        while let Some(growth) = growth
            && doubled.parameters().half_doublings() < other.parameters().half_doublings()
        {
            doubled =
                Cow::Owned(doubled.doubled(growth)?.expect("the other has been doubled as often, and began alike"));
        }
        Ok(doubled)
    }
}

/// The most slots that the candidate buckets of a key have: four buckets of eight.
const MAX_COPIES: usize = 4 * 8;
