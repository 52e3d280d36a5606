//! What must be alike in two filters for the fingerprints of one to mean in the other what they mean in it.

use core::fmt::Display;

use super::CuckooFilter;
use crate::error::MergeError;
use crate::parameters::Parameters;

impl CuckooFilter {
    /// Refuses a filter that was not made like this one; where this one grows, like the table that it began with.
    pub(super) fn refuse_if_unlike(&self, other: &Self) -> Result<(), MergeError> {
        if self.growth().is_some() {
            self.refuse_if_begun_otherwise(other)
        } else {
            self.refuse_if_made_otherwise(other)
        }
    }

    /// Compares all that doublings keep, before any table is doubled.
    pub(super) fn refuse_if_begun_otherwise(&self, other: &Self) -> Result<(), MergeError> {
        self.refuse_if_shaped_otherwise(other)?;
        self.refuse_if_any_differs(other, |parameters| {
            [
                ("slots per bucket", u64::from(parameters.slots_per_bucket())),
                ("bits of values", u64::from(parameters.value_bits())),
                ("regions", parameters.region_count()),
                ("the buckets per region at the beginning", parameters.regions_at_first().buckets),
                (
                    "the fingerprint bits at the beginning",
                    u64::from(parameters.fingerprint_bits() + parameters.doublings()),
                ),
            ]
        })?;
        self.refuse_if_hashed_otherwise(other)
    }

    pub(super) fn refuse_if_made_otherwise(&self, other: &Self) -> Result<(), MergeError> {
        self.refuse_if_shaped_otherwise(other)?;
        self.refuse_if_any_differs(other, |parameters| {
            [
                ("slots per bucket", parameters.slots_per_bucket()),
                ("fingerprint bits", parameters.fingerprint_bits()),
                ("bits of values", parameters.value_bits()),
                ("half doublings", parameters.half_doublings()),
            ]
        })?;
        let (a, b) = (self.parameters(), other.parameters());
        if (a.region_count(), a.buckets_per_region()) != (b.region_count(), b.buckets_per_region()) {
            return Err(MergeError::differs(
                "size",
                format_args!("{} regions of {} buckets", a.region_count(), a.buckets_per_region()),
                format_args!("{} regions of {} buckets", b.region_count(), b.buckets_per_region()),
            ));
        }
        self.refuse_if_hashed_otherwise(other)
    }

    /// Compares numbers of the parameters, each with what it is.
    fn refuse_if_any_differs<T: PartialEq + Display, const N: usize>(
        &self,
        other: &Self,
        numbers: impl Fn(&Parameters) -> [(&'static str, T); N],
    ) -> Result<(), MergeError> {
        for ((what, ours), (_, theirs)) in numbers(self.parameters()).into_iter().zip(numbers(other.parameters())) {
            if ours != theirs {
                return Err(MergeError::differs(what, ours, theirs));
            }
        }
        Ok(())
    }

    fn refuse_if_shaped_otherwise(&self, other: &Self) -> Result<(), MergeError> {
        let (ours, theirs) = (self.parameters().shape(), other.parameters().shape());
        if (ours.layout(), ours.addressing()) == (theirs.layout(), theirs.addressing()) {
            return Ok(());
        }
        Err(MergeError::differs(
            "layout",
            format_args!("{} with {} addressing", ours.layout(), ours.addressing()),
            format_args!("{} with {} addressing", theirs.layout(), theirs.addressing()),
        ))
    }

    fn refuse_if_hashed_otherwise(&self, other: &Self) -> Result<(), MergeError> {
        let (ours, theirs) = (self.hasher(), other.hasher());
        if ours.secret_key().is_some() != theirs.secret_key().is_some() {
            return Err(MergeError::differs("hash", ours, theirs));
        }
        if ours != theirs {
            return Err(match ours.secret_key() {
                None => MergeError::differs("seed", ours.seed(), theirs.seed()),
                // Seeds are derived from them, and as secret.
                Some(_) => MergeError::differs("seed", "a secret key", "a secret key"),
            });
        }
        let treatment = |filter: &Self| filter.kept().map_or(0, |kept| kept.treatment);
        if treatment(self) != treatment(other) {
            let name = |treatment| match treatment {
                0 => "hashed as they are",
                1 => "made lower case",
                2 => "trimmed",
                _ => "trimmed and made lower case",
            };
            return Err(MergeError::differs("what was done to keys", name(treatment(self)), name(treatment(other))));
        }
        Ok(())
    }
}
