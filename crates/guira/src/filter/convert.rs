use super::CuckooFilter;
use crate::addressing::{DoublingAddressing, Fingerprint, parts_of_regions};
use crate::analysis::capacity_in_parts;
use crate::cast::to_usize;
use crate::cuckoo::{NoRoom, Repeated};
use crate::error::{BuildError, ConvertError};
use crate::parameters::{Addressing, Layout, Parameters, Shape};

impl CuckooFilter {
    /// Returns a filter with the same keys in another layout, with buckets of another size or with shorter fingerprints.
    /// It has the same number of buckets.
    ///
    /// It is possible where the candidate buckets of every key follow from what is stored: between the packed and the
    /// semi-sorted layout, and to any bucket size of the packed one. Filters that grow have buckets of 4 or 8 slots, and their
    /// fingerprints can be shortened, to 8 bits at least and one more for each doubling to come; each bit less doubles the false
    /// positive rate. With smaller buckets, the capacity and the [`max_capacity`](Self::max_capacity) may be lower.
    ///
    /// # Errors
    ///
    /// A [`ConvertError`] that says why it is not possible, or that the keys don't fit the other table.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::{CuckooFilter, Layout};
    ///
    /// let mut filter = CuckooFilter::builder().capacity(1000).fingerprint_bits(13).build()?;
    /// filter.insert("ani")?;
    /// let smaller = filter.converted(Layout::SemiSorted, 4, 13)?;
    /// assert!(smaller.contains("ani"));
    /// assert!(smaller.size_in_bytes() < filter.size_in_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn converted(
        &self,
        layout: Layout,
        slots_per_bucket: u32,
        fingerprint_bits: u32,
    ) -> Result<Self, ConvertError> {
        let from = self.try_settled().map_err(BuildError::from)?;
        let parameters = self.converted_parameters(layout, slots_per_bucket, fingerprint_bits)?;
        if let Some(growth) = self.growth() {
            // Each doubling up to the largest capacity takes a bit, so as many must be left.
            let least = Parameters::CORE_BITS + growth.doublings.saturating_sub(parameters.doublings());
            if fingerprint_bits < least {
                return Err(BuildError::FingerprintBits {
                    given: fingerprint_bits,
                    least,
                    most: Parameters::MAX_FINGERPRINT_BITS,
                }
                .into());
            }
            growth.check(&parameters)?;
        }
        let mut converted = Self::with_parameters(parameters, *self.hasher()).map_err(BuildError::from)?;
        let full = ConvertError::Full { len: self.len(), slot_count: converted.slot_count() };
        if self.len() > converted.slot_count() {
            return Err(full);
        }
        let left_out = self.parameters().fingerprint_bits() - fingerprint_bits;
        let shortened = |fingerprint: Fingerprint| {
            if left_out == 0 { fingerprint } else { DoublingAddressing::<true>::shortened(fingerprint, left_out) }
        };
        let fingerprints = from.fingerprints().typed().map(|(bucket, fingerprint)| (bucket, shortened(fingerprint)));
        match converted.store_all(fingerprints, Repeated::Stored) {
            Ok(()) => {
                let growth = self.growth().map(|growth| growth.converted(&parameters));
                Ok(converted.with_growth(growth).with_kept(self.kept().cloned()))
            }
            Err(NoRoom::Full) => Err(full),
            Err(NoRoom::TooManyCopies { copies }) => {
                Err(ConvertError::TooManyCopies { copies: to_usize(u64::from(copies)) })
            }
            Err(NoRoom::OutOfMemory) => Err(BuildError::OutOfMemory { bytes: parameters.table_size() }.into()),
        }
    }

    fn converted_parameters(
        &self,
        layout: Layout,
        slots_per_bucket: u32,
        fingerprint_bits: u32,
    ) -> Result<Parameters, ConvertError> {
        let parameters = self.parameters();
        let (stored, given, addressing) = (parameters.fingerprint_bits(), fingerprint_bits, parameters.addressing());
        if given > stored {
            return Err(ConvertError::LongerFingerprints { stored, given });
        }
        if given < stored && addressing != Addressing::Doubling {
            return Err(ConvertError::ShorterFingerprints { stored, given, addressing });
        }
        let shape = Shape::new(layout, addressing, slots_per_bucket)?;
        let shape = shape.half_doubled(parameters.shape().is_half_doubled());
        let regions = parameters.regions();
        // First without a capacity, so that what is out of range is refused before anything is computed from it.
        Parameters::new(shape, given, regions, 0)?;
        let capacity = if slots_per_bucket == parameters.slots_per_bucket() && given == stored {
            parameters.capacity()
        } else {
            let parts = parts_of_regions(regions, shape, given, self.hasher().seed());
            let capacity = capacity_in_parts(given, regions, parts, shape);
            self.growth().map_or(capacity, |growth| growth.within_rate(capacity))
        };
        Ok(Parameters::new(shape, given, regions, capacity)?.half_doubled(parameters.half_doublings())?)
    }
}
