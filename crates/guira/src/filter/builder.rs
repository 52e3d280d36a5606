use super::CuckooFilter;
use crate::analysis::{self, Measures, fingerprint_bits_for_rate, fingerprint_bits_to_fill};
use crate::digest::{HashAlgorithm, KeyHasher};
use crate::error::BuildError;
use crate::parameters::{Addressing, Parameters};

/// Chooses the measures of a [`CuckooFilter`].
///
/// Quick advice: give a [`capacity`](Self::capacity) and a [`false_positive_rate`](Self::false_positive_rate) and leave
/// the rest alone. If strangers choose your keys, give a [`seed`](Self::seed) they don't know, or better
/// [`HashAlgorithm::SipHash13`].
///
/// # Examples
///
/// ```
/// use guira::CuckooFilter;
///
/// let filter = CuckooFilter::builder().capacity(100_000).false_positive_rate(0.01).build()?;
/// assert_eq!(filter.capacity(), 100_000);
/// # Ok::<(), guira::BuildError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct CuckooFilterBuilder {
    capacity: Option<u64>,
    bucket_count: Option<u64>,
    false_positive_rate: Option<f64>,
    fingerprint_bits: Option<u32>,
    slots_per_bucket: Option<u32>,
    addressing: Addressing,
    hash: HashAlgorithm,
    seed: u64,
}

impl CuckooFilterBuilder {
    /// How many distinct keys must fit. Of a million filters, at most one is expected not to take that many.
    pub fn capacity(mut self, keys: usize) -> Self {
        self.capacity = Some(keys as u64);
        self
    }

    /// How many buckets the table has, instead of a capacity; the filter then says what capacity that makes. With more
    /// than 65,536 buckets the number is rounded up, by less than 1 in 65,536, so that all regions are equal.
    pub fn bucket_count(mut self, buckets: u64) -> Self {
        self.bucket_count = Some(buckets);
        self
    }

    /// The share of absent keys that may be answered with "probably present", while the filter holds no more keys than
    /// its capacity.
    pub fn false_positive_rate(mut self, rate: f64) -> Self {
        self.false_positive_rate = Some(rate);
        self
    }

    /// f, the bits of a fingerprint (2 to 32), instead of a rate.
    pub fn fingerprint_bits(mut self, bits: u32) -> Self {
        self.fingerprint_bits = Some(bits);
        self
    }

    /// b, the slots of a bucket: 1, 2, 4 or 8. Left alone, it is what takes the least memory for the capacity and the
    /// rate, or 4 where one of them is not given.
    ///
    /// One slot per bucket is there for the reproduction of the paper: to promise a capacity it needs several times the
    /// memory.
    pub fn slots_per_bucket(mut self, slots: u32) -> Self {
        self.slots_per_bucket = Some(slots);
        self
    }

    /// How the two candidate buckets of a key are related.
    pub fn addressing(mut self, addressing: Addressing) -> Self {
        self.addressing = addressing;
        self
    }

    /// How keys become digests.
    pub fn hash(mut self, algorithm: HashAlgorithm) -> Self {
        self.hash = algorithm;
        self
    }

    /// The seed of the hash and of the relation between candidate buckets; 0 unless given. With SipHash the secret key
    /// takes its place.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Checks everything and makes an empty filter.
    ///
    /// # Errors
    ///
    /// A [`BuildError`] that says what is missing, contradictory or out of range, or that there is no memory.
    pub fn build(&self) -> Result<CuckooFilter, BuildError> {
        CuckooFilter::with_parameters(self.parameters()?, KeyHasher::new(self.hash, self.seed))
    }

    /// The measures that [`Self::build`] would choose, without building anything.
    ///
    /// # Errors
    ///
    /// Those of [`Self::build`], but for the memory.
    pub fn parameters(&self) -> Result<Parameters, BuildError> {
        match (self.false_positive_rate, self.fingerprint_bits) {
            (None, None) => return Err(BuildError::PrecisionMissing),
            (Some(_), Some(_)) => return Err(BuildError::PrecisionGivenTwice),
            _ => {}
        }
        let slots_per_bucket = self.choose_slots_per_bucket()?;
        let (measures, capacity) = self.choose_measures(slots_per_bucket)?;
        let fingerprint_bits = self.choose_fingerprint_bits(slots_per_bucket, measures, capacity)?;
        Parameters::new(
            self.addressing,
            slots_per_bucket,
            fingerprint_bits,
            measures.region_count,
            measures.buckets_per_region,
            capacity,
        )
    }

    fn choose_slots_per_bucket(&self) -> Result<u32, BuildError> {
        match (self.slots_per_bucket, self.capacity, self.false_positive_rate) {
            (Some(slots), ..) if Parameters::SLOTS_PER_BUCKET.contains(&slots) => Ok(slots),
            (Some(given), ..) => Err(BuildError::SlotsPerBucket { given }),
            (None, Some(capacity), Some(rate)) => {
                Ok(analysis::Plan::new(capacity, rate)?.parameters().slots_per_bucket())
            }
            (None, ..) => Ok(4),
        }
    }

    /// The regions, and the capacity that may be promised for them.
    fn choose_measures(&self, slots_per_bucket: u32) -> Result<(Measures, u64), BuildError> {
        let single_region = self.addressing == Addressing::PowerOfTwo;
        match (self.capacity, self.bucket_count) {
            (None, None) => Err(BuildError::SizeMissing),
            (Some(_), Some(_)) => Err(BuildError::SizeGivenTwice),
            (Some(capacity), None) => {
                let measures = analysis::measures_to_promise(capacity, slots_per_bucket)?;
                if single_region {
                    let measures = Measures::single_region(measures.bucket_count().next_power_of_two());
                    Ok((measures, analysis::promised_by(measures, slots_per_bucket).max(capacity)))
                } else {
                    Ok((measures, capacity))
                }
            }
            (None, Some(given)) => {
                if given == 0 || given > Parameters::MOST_BUCKETS {
                    return Err(BuildError::BucketCount { given });
                }
                let measures = if single_region {
                    Measures::single_region(given)
                } else {
                    Measures::of_buckets(given, slots_per_bucket)
                };
                Ok((measures, analysis::promised_by(measures, slots_per_bucket)))
            }
        }
    }

    fn choose_fingerprint_bits(
        &self,
        slots_per_bucket: u32,
        measures: Measures,
        capacity: u64,
    ) -> Result<u32, BuildError> {
        let Some(given) = self.fingerprint_bits else {
            let rate = self.false_positive_rate.ok_or(BuildError::PrecisionMissing)?;
            return Ok(fingerprint_bits_for_rate(rate, capacity, measures, slots_per_bucket)?.0);
        };
        if !Parameters::FINGERPRINT_BITS.contains(&given) {
            return Err(BuildError::FingerprintBits { given });
        }
        let least = fingerprint_bits_to_fill(capacity, measures, slots_per_bucket);
        // Who gives a number of buckets asks for no promise: short fingerprints are how the paper finds its figure 2.
        if self.capacity.is_some() && given < least {
            return Err(BuildError::FingerprintTooShort { given, least, capacity });
        }
        Ok(given)
    }
}
