use super::CuckooFilter;
use crate::analysis::{self, Plan, Preference, fingerprint_bits_for_rate, fingerprint_bits_to_fill};
use crate::digest::{HashAlgorithm, KeyHasher};
use crate::error::BuildError;
use crate::parameters::{Addressing, Layout, Parameters, Regions, Shape};

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
    preference: Preference,
    layout: Option<Layout>,
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
    /// than 65,536 buckets the number is rounded up, by less than 1 in 16,384, so that all regions are equal and even.
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

    /// What matters more in the choice of what is left open, with a capacity and a rate.
    pub fn preference(mut self, preference: Preference) -> Self {
        self.preference = preference;
        self
    }

    /// How fingerprints are kept in the table. Left alone, it is what the [preference](Self::preference) asks for.
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = Some(layout);
        self
    }

    /// b, the slots of a bucket: 1, 2, 4 or 8 if packed, 4 if semi-sorted, 2, 3 or 4 in a window. Left alone, it is what
    /// takes the least memory for the capacity and the rate; where one of them is not given, 4, or 3 in a window.
    ///
    /// One slot per bucket and two candidates are there for the reproduction of the paper: to promise a capacity they
    /// need several times the memory.
    pub fn slots_per_bucket(mut self, slots: u32) -> Self {
        self.slots_per_bucket = Some(slots);
        self
    }

    /// How the candidate buckets of a key are related. Left alone, it is regional.
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
        CuckooFilter::with_parameters(self.parameters()?, self.hasher())
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
        let shape = self.choose_shape()?;
        let (regions, promised) = self.choose_regions(shape)?;
        let fingerprint_bits = self.choose_fingerprint_bits(shape, regions, promised)?;
        // Fingerprints of a given length may be too short for all that the slots would take.
        let capacity = promised.min(analysis::capacity_with_fingerprints(fingerprint_bits, regions, shape));
        Parameters::new(shape, fingerprint_bits, regions, capacity.max(self.capacity.unwrap_or(0)))
    }

    /// The measures of a filter whose fingerprints carry values of so many bits; always packed and regional.
    pub(crate) fn parameters_with_values(&self, value_bits: u32) -> Result<Parameters, BuildError> {
        let of = |builder: &Self| builder.parameters()?.with_value_bits(value_bits);
        let packed = self.clone().layout(Layout::Packed);
        if self.slots_per_bucket.is_some() || self.capacity.is_none() || self.false_positive_rate.is_none() {
            return of(&packed);
        }
        // Which bucket size takes the least memory is another question where every slot has a value too.
        [2, 8].into_iter().fold(of(&packed.clone().slots_per_bucket(4)), |best, slots| {
            let other = of(&packed.clone().slots_per_bucket(slots));
            match (&best, &other) {
                (Ok(smallest), Ok(table)) if table.table_bits() < smallest.table_bits() => other,
                (Err(_), Ok(_)) => other,
                _ => best,
            }
        })
    }

    /// The hash that was chosen.
    pub(crate) fn hasher(&self) -> KeyHasher {
        KeyHasher::new(self.hash, self.seed)
    }

    /// Whether a capacity or a number of buckets was given.
    pub(crate) const fn has_size(&self) -> bool {
        self.capacity.is_some() || self.bucket_count.is_some()
    }

    fn choose_shape(&self) -> Result<Shape, BuildError> {
        if let (Some(capacity), Some(rate)) = (self.capacity, self.false_positive_rate)
            && (self.layout.is_none() || self.slots_per_bucket.is_none())
        {
            let plan = match (self.layout, self.slots_per_bucket, self.addressing) {
                (None, None, Addressing::Regional) => Plan::new(capacity, rate, self.preference),
                (layout, slots, addressing) => {
                    let layout = layout.unwrap_or_default();
                    let given = |size: &&u32| slots.is_none_or(|slots| slots == **size);
                    let sizes: &[u32] = match slots {
                        None if layout == Layout::Packed => &[4, 2, 8],
                        _ => Shape::slots_per_bucket_of(layout),
                    };
                    let shapes = sizes.iter().filter(given).flat_map(|&size| Shape::new(layout, addressing, size));
                    match Plan::smallest(capacity, rate, shapes) {
                        // There is no such shape; which error that is, is said below.
                        Err(BuildError::SizeMissing) => return self.given_shape(),
                        plan => plan,
                    }
                }
            };
            return plan.map(|plan| plan.parameters().shape());
        }
        self.given_shape()
    }

    /// The shape as far as it was given, and the usual one for the rest.
    fn given_shape(&self) -> Result<Shape, BuildError> {
        let layout = self.layout.unwrap_or_default();
        let usual_slots = if layout == Layout::Windowed { 3 } else { 4 };
        Shape::new(layout, self.addressing, self.slots_per_bucket.unwrap_or(usual_slots))
    }

    /// The regions, and the capacity that may be promised for them.
    fn choose_regions(&self, shape: Shape) -> Result<(Regions, u64), BuildError> {
        match (self.capacity, self.bucket_count) {
            (None, None) => Err(BuildError::SizeMissing),
            (Some(_), Some(_)) => Err(BuildError::SizeGivenTwice),
            (Some(capacity), None) => {
                let regions = analysis::regions_to_promise(capacity, shape)?;
                let promised = match shape.addressing() {
                    Addressing::Regional | Addressing::Doubling => capacity,
                    // What the next power gives beyond what was asked for is not to be wasted.
                    _ => analysis::promised_by(regions, shape).max(capacity),
                };
                Ok((regions, promised))
            }
            (None, Some(given)) => {
                if given == 0 || given > Parameters::MOST_BUCKETS {
                    return Err(BuildError::BucketCount { given });
                }
                let regions = Regions::of_buckets(given, shape);
                Ok((regions, analysis::promised_by(regions, shape)))
            }
        }
    }

    fn choose_fingerprint_bits(&self, shape: Shape, regions: Regions, promised: u64) -> Result<u32, BuildError> {
        let Some(given) = self.fingerprint_bits else {
            let rate = self.false_positive_rate.ok_or(BuildError::PrecisionMissing)?;
            return Ok(fingerprint_bits_for_rate(rate, promised, regions, shape)?.0);
        };
        // Who gives a number of buckets asks for no promise: short fingerprints are how the paper finds its figure 2.
        let Some(capacity) = self.capacity else { return Ok(given) };
        let least = fingerprint_bits_to_fill(capacity, regions, shape);
        let possible = shape.least_fingerprint_bits()..=Parameters::MOST_FINGERPRINT_BITS;
        if possible.contains(&given) && given < least {
            return Err(BuildError::FingerprintTooShort { given, least, capacity });
        }
        Ok(given)
    }
}

/// The choices of the builders of filters with values, which they keep in a field `filter`.
macro_rules! choices_of_filter {
    () => {
        /// How many distinct keys must fit. Of a million tables, at most one is expected not to take that many.
        pub fn capacity(mut self, keys: usize) -> Self {
            self.filter = self.filter.capacity(keys);
            self
        }

        /// How many buckets the table has, instead of a capacity. See
        /// [`CuckooFilterBuilder::bucket_count`](crate::CuckooFilterBuilder::bucket_count).
        pub fn bucket_count(mut self, buckets: u64) -> Self {
            self.filter = self.filter.bucket_count(buckets);
            self
        }

        /// The share of absent keys that may be taken for present ones, while there are no more distinct keys than the
        /// capacity says.
        pub fn false_positive_rate(mut self, rate: f64) -> Self {
            self.filter = self.filter.false_positive_rate(rate);
            self
        }

        /// f, the bits of a fingerprint, instead of a rate. Fingerprint and value have at most 32 bits together.
        pub fn fingerprint_bits(mut self, bits: u32) -> Self {
            self.filter = self.filter.fingerprint_bits(bits);
            self
        }

        /// b, the slots of a bucket: 1, 2, 4 or 8. Left alone, it is what takes the least memory for the capacity and the
        /// rate; where one of them is not given, 4.
        pub fn slots_per_bucket(mut self, slots: u32) -> Self {
            self.filter = self.filter.slots_per_bucket(slots);
            self
        }

        /// How keys become digests.
        pub fn hash(mut self, algorithm: crate::digest::HashAlgorithm) -> Self {
            self.filter = self.filter.hash(algorithm);
            self
        }

        /// The seed of the hash and of the relation between candidate buckets; 0 unless given. With SipHash the secret
        /// key takes its place.
        pub fn seed(mut self, seed: u64) -> Self {
            self.filter = self.filter.seed(seed);
            self
        }
    };
}

pub(crate) use choices_of_filter;
