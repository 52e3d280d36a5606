use super::CountingCuckooFilter;
use crate::error::BuildError;
use crate::filter::{CuckooFilterBuilder, choices_of_filter};
use crate::parameters::Parameters;

/// Counts to 256. Counting Bloom filters get by with 4 bits, since their counters count collisions of distinct keys; these
/// count how often one key came, for which 16 is soon too little. Each bit more costs a bit per slot and doubles the reach.
const USUAL_COUNTER_BITS: u32 = 8;

/// Chooses the parameters of a [`CountingCuckooFilter`].
///
/// # Examples
///
/// ```
/// use guira::CountingCuckooFilter;
///
/// // Up to 2^12 copies of each key.
/// let filter =
///     CountingCuckooFilter::builder().capacity(10_000).false_positive_rate(0.001).counter_bits(12).build()?;
/// assert_eq!(filter.most_copies(), 4096);
/// # Ok::<(), guira::BuildError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct CountingCuckooFilterBuilder {
    filter: CuckooFilterBuilder,
    counter_bits: Option<u32>,
}

impl CountingCuckooFilterBuilder {
    choices_of_filter!();

    /// v, the bits of a counter, which counts to 2^v; 8 unless given. Fingerprint and counter have at most 32 bits together.
    pub fn counter_bits(mut self, bits: u32) -> Self {
        self.counter_bits = Some(bits);
        self
    }

    /// Checks everything and makes an empty filter.
    ///
    /// # Errors
    ///
    /// A [`BuildError`] that says what is missing, contradictory or out of range, or that there is no memory.
    pub fn build(&self) -> Result<CountingCuckooFilter, BuildError> {
        CountingCuckooFilter::with_parameters(self.parameters()?, self.filter.hasher())
    }

    /// The parameters that [`Self::build`] would choose, without building anything.
    ///
    /// # Errors
    ///
    /// Those of [`Self::build`], but for the memory.
    pub fn parameters(&self) -> Result<Parameters, BuildError> {
        self.filter.parameters_with_values(self.counter_bits.unwrap_or(USUAL_COUNTER_BITS))
    }
}
