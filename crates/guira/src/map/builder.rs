use core::fmt;
use core::marker::PhantomData;

use super::{CuckooMap, Value};
use crate::error::BuildError;
use crate::filter::{CuckooFilterBuilder, choices_of_filter};
use crate::parameters::Parameters;

/// Chooses the parameters of a [`CuckooMap`].
///
/// # Examples
///
/// ```
/// use guira::CuckooMap;
///
/// // Values below 1024, beside fingerprints for a rate of one in a thousand.
/// let map = CuckooMap::<u16>::builder().capacity(5000).false_positive_rate(0.001).value_bits(10).build()?;
/// assert_eq!(map.capacity(), 5000);
/// # Ok::<(), guira::BuildError>(())
/// ```
#[must_use]
pub struct CuckooMapBuilder<V> {
    filter: CuckooFilterBuilder,
    value_bits: Option<u32>,
    value: PhantomData<fn() -> V>,
}

impl<V: Value> CuckooMapBuilder<V> {
    choices_of_filter!();

    /// v, the bits that are kept of a value; all that the type has unless given. Values that have more are refused by
    /// [`CuckooMap::insert`].
    pub fn value_bits(mut self, bits: u32) -> Self {
        self.value_bits = Some(bits);
        self
    }

    /// Checks everything and makes an empty map.
    ///
    /// # Errors
    ///
    /// A [`BuildError`] that says what is missing, contradictory or out of range, or that there is no memory.
    pub fn build(&self) -> Result<CuckooMap<V>, BuildError> {
        CuckooMap::with_parameters(self.parameters()?, self.filter.hasher())
    }

    /// The parameters that [`Self::build`] would choose, without building anything.
    ///
    /// # Errors
    ///
    /// Those of [`Self::build`], but for the memory.
    pub fn parameters(&self) -> Result<Parameters, BuildError> {
        let value_bits = self.value_bits.unwrap_or(V::BITS);
        if value_bits > V::BITS {
            return Err(BuildError::ValueBitsOfType { given: value_bits, most: V::BITS });
        }
        self.filter.parameters_with_values(value_bits)
    }
}

impl<V> Default for CuckooMapBuilder<V> {
    fn default() -> Self {
        Self { filter: CuckooFilterBuilder::default(), value_bits: None, value: PhantomData }
    }
}

impl<V> Clone for CuckooMapBuilder<V> {
    fn clone(&self) -> Self {
        Self { filter: self.filter.clone(), value_bits: self.value_bits, value: PhantomData }
    }
}

impl<V> fmt::Debug for CuckooMapBuilder<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CuckooMapBuilder")
            .field("filter", &self.filter)
            .field("value_bits", &self.value_bits)
            .finish_non_exhaustive()
    }
}
