use super::chosen::whole_regions;
use super::{Built as _, Chosen, CuckooFilter, FilterBuilder, Growth};
use crate::digest::KeyHasher;
use crate::error::BuildError;
use crate::parameters::Parameters;

/// The parameters of many filters that differ in nothing but their hash, computed once. For those that grow, computing them
/// takes far longer than making a table of a few keys.
///
/// # Examples
///
/// ```
/// use guira::raw::FilterPlan;
/// use guira::{CuckooFilter, KeyHasher};
///
/// let builder = CuckooFilter::builder().capacity(100).max_capacity(100_000).false_positive_rate(0.001);
/// let plan = FilterPlan::new(&builder)?;
/// for key in [*b"16 random bytes!", *b"16 others: 01234"] {
///     let hasher = KeyHasher::sip_hash_13(key);
///     assert_eq!(plan.with_hasher(hasher)?.build()?, builder.clone().hasher(hasher).build()?);
/// }
/// # Ok::<(), guira::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FilterPlan {
    chosen: Chosen,
    /// The plan for seeds that don't ask for larger regions; `None` if a seed may matter in other ways too.
    usual: Option<PlannedFilter>,
}

/// The parameters of one filter: see [`FilterPlan`].
#[derive(Clone, Copy, Debug)]
pub struct PlannedFilter {
    pub(super) parameters: Parameters,
    pub(super) growth: Option<Growth>,
    pub(super) hasher: KeyHasher,
}

impl FilterPlan {
    /// Computes what does not depend on the hasher; that of the builder is not used.
    ///
    /// # Errors
    ///
    /// Those of [`FilterBuilder::build`], except [`BuildError::OutOfMemory`].
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = guira::CuckooFilter::builder().false_positive_rate(0.001);
    /// assert!(guira::raw::FilterPlan::new(&builder).is_err());
    /// assert!(guira::raw::FilterPlan::new(&builder.capacity(100)).is_ok());
    /// ```
    pub fn new(builder: &FilterBuilder) -> Result<Self, BuildError> {
        let chosen = CuckooFilter::chosen(&builder.chosen)?;
        let mut asked = 0;
        let planned = chosen.plan_with(|regions, _, _| {
            asked += 1;
            regions
        })?;
        // Where larger regions were planned since some were not enough, a seed might have made those large enough.
        Ok(Self { chosen, usual: (asked == 1).then_some(planned) })
    }

    /// Returns the parameters of a filter with this hasher, which are those that the builder gives.
    ///
    /// # Errors
    ///
    /// Those of [`FilterBuilder::parameters`].
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::{CuckooFilter, KeyHasher, raw::FilterPlan};
    ///
    /// let builder = CuckooFilter::builder().capacity(100).max_capacity(100_000).false_positive_rate(0.001);
    /// let planned = FilterPlan::new(&builder)?.with_hasher(KeyHasher::xxh3(7))?;
    /// assert_eq!(*planned.parameters(), builder.hasher(KeyHasher::xxh3(7)).parameters()?);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn with_hasher(&self, hasher: KeyHasher) -> Result<PlannedFilter, BuildError> {
        match self.usual {
            Some(planned) if planned.is_whole_with(hasher.seed()) => Ok(PlannedFilter { hasher, ..planned }),
            _ => Chosen { hasher, ..self.chosen }.plan(),
        }
    }
}

impl PlannedFilter {
    /// Returns the parameters of the table.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::{CuckooFilter, KeyHasher, raw::FilterPlan};
    ///
    /// let builder = CuckooFilter::builder().capacity(100).false_positive_rate(0.001);
    /// let planned = FilterPlan::new(&builder)?.with_hasher(KeyHasher::default())?;
    /// assert!(planned.parameters().table_size() < 1000);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Makes the filter, empty.
    ///
    /// # Errors
    ///
    /// [`BuildError::OutOfMemory`].
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::{CuckooFilter, KeyHasher, raw::FilterPlan};
    ///
    /// let builder = CuckooFilter::builder().capacity(100).false_positive_rate(0.001);
    /// let filter = FilterPlan::new(&builder)?.with_hasher(KeyHasher::default())?.build()?;
    /// assert!(filter.is_empty());
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn build(&self) -> Result<CuckooFilter, BuildError> {
        Ok(CuckooFilter::with_parameters(self.parameters, self.hasher)?.with_growth(self.growth))
    }

    /// Whether this seed asks for no larger regions.
    fn is_whole_with(&self, seed: u64) -> bool {
        let (regions, shape) = (self.parameters.regions(), self.parameters.shape());
        whole_regions(regions, shape, self.parameters.fingerprint_bits(), seed) == regions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::GrowthPolicy;

    #[test]
    fn a_plan_for_all_seeds_is_that_of_each() {
        let mut enlarged = 0;
        for (capacity, slots_per_bucket) in (1..20_000_usize).step_by(19).zip([4, 8].into_iter().cycle()) {
            let builder = CuckooFilter::builder().capacity(capacity).false_positive_rate(0.001);
            let growing = builder.clone().max_capacity(capacity << (capacity % 9)).slots_per_bucket(slots_per_bucket);
            for builder in [growing.growth_policy(GrowthPolicy::RaiseRate), builder] {
                let plan = FilterPlan::new(&builder).expect("there is such a table");
                let usual = plan.usual.expect("fingerprints have bits enough");
                // One seed in a hundred thousand asks for a larger table: these, and one that does not.
                let is_enlarged = |seed: &u64| !usual.is_whole_with(*seed);
                for seed in (0..1).chain((1..400).filter(is_enlarged)) {
                    let hasher = KeyHasher::xxh3(seed);
                    let planned = plan.with_hasher(hasher).expect("there is such a table");
                    let alone = builder.clone().hasher(hasher).chosen.plan().expect("there is such a table");
                    assert_eq!((planned.parameters, planned.growth), (alone.parameters, alone.growth), "{builder:?}");
                    assert_eq!((planned.hasher, alone.hasher), (hasher, hasher));
                    enlarged += u32::from(is_enlarged(&seed));
                }
            }
        }
        assert!(enlarged > 0, "no table depends on its seed");
    }
}
