use super::growth_plan::GrowthPlan;
use super::{CuckooFilter, FilterBuilder, Growth};
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
    builder: FilterBuilder,
    growth: Option<GrowthPlan>,
}

/// The parameters of one filter: see [`FilterPlan`].
#[derive(Clone, Copy, Debug)]
pub struct PlannedFilter {
    parameters: Parameters,
    growth: Option<Growth>,
    hasher: KeyHasher,
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
        Ok(Self { growth: builder.chosen.growth_plan()?, builder: builder.clone() })
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
        let (parameters, growth) = match &self.growth {
            Some(plan) => {
                let (parameters, growth) = plan.with_seed(hasher.seed())?;
                (parameters, Some(growth))
            }
            None => (self.builder.clone().hasher(hasher).parameters()?, None),
        };
        Ok(PlannedFilter { parameters, growth, hasher })
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
}
