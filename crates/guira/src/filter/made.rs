use alloc::format;
use alloc::string::ToString;
use alloc::sync::Arc;

use super::Kept;
use crate::digest::KeyHasher;
use crate::error::MergeError;
use crate::parameters::{Parameters, Shape};

/// What must be alike in two filters for the fingerprints of one to mean in the other what they mean in it.
#[derive(Clone, Copy)]
pub(super) struct Made<'filter> {
    parameters: &'filter Parameters,
    hasher: &'filter KeyHasher,
    /// What was done to keys before they were hashed.
    treatment: u8,
}

impl<'filter> Made<'filter> {
    pub(super) fn new(
        parameters: &'filter Parameters,
        hasher: &'filter KeyHasher,
        kept: Option<&'filter Arc<Kept>>,
    ) -> Self {
        Self { parameters, hasher, treatment: kept.map_or(0, |kept| kept.treatment) }
    }

    /// Compares all that doublings keep, before any table is doubled.
    pub(super) fn refuse_if_begun_otherwise(&self, other: &Self) -> Result<(), MergeError> {
        self.refuse_if_shaped_otherwise(other)?;
        let beginning = |parameters: &Parameters| {
            [
                ("slots per bucket", u64::from(parameters.slots_per_bucket())),
                ("bits of values", u64::from(parameters.value_bits())),
                ("regions", parameters.region_count()),
                ("the buckets per region at the beginning", parameters.buckets_per_region() >> parameters.doublings()),
                (
                    "the fingerprint bits at the beginning",
                    u64::from(parameters.fingerprint_bits() + parameters.doublings()),
                ),
            ]
        };
        for ((what, ours), (_, theirs)) in beginning(self.parameters).into_iter().zip(beginning(other.parameters)) {
            if ours != theirs {
                return Err(MergeError::Differs { what, ours: ours.to_string(), theirs: theirs.to_string() });
            }
        }
        self.refuse_if_hashed_otherwise(other)
    }

    pub(super) fn refuse_if_made_otherwise(&self, other: &Self) -> Result<(), MergeError> {
        let (a, b) = (self.parameters, other.parameters);
        let regions = |parameters: &Parameters| {
            format!("{} regions of {} buckets", parameters.region_count(), parameters.buckets_per_region())
        };
        let differs = |what, ours, theirs| Err(MergeError::Differs { what, ours, theirs });
        self.refuse_if_shaped_otherwise(other)?;
        let numbers = [
            ("slots per bucket", a.slots_per_bucket(), b.slots_per_bucket()),
            ("fingerprint bits", a.fingerprint_bits(), b.fingerprint_bits()),
            ("bits of values", a.value_bits(), b.value_bits()),
            ("doublings", a.doublings(), b.doublings()),
        ];
        for (what, ours, theirs) in numbers {
            if ours != theirs {
                return differs(what, ours.to_string(), theirs.to_string());
            }
        }
        if (a.region_count(), a.buckets_per_region()) != (b.region_count(), b.buckets_per_region()) {
            return differs("size", regions(a), regions(b));
        }
        self.refuse_if_hashed_otherwise(other)
    }

    fn refuse_if_shaped_otherwise(&self, other: &Self) -> Result<(), MergeError> {
        let (ours, theirs) = (self.parameters.shape(), other.parameters.shape());
        if (ours.layout(), ours.addressing()) == (theirs.layout(), theirs.addressing()) {
            return Ok(());
        }
        let name = |shape: Shape| format!("{} with {} addressing", shape.layout(), shape.addressing());
        Err(MergeError::Differs { what: "layout", ours: name(ours), theirs: name(theirs) })
    }

    fn refuse_if_hashed_otherwise(&self, other: &Self) -> Result<(), MergeError> {
        let differs = |what, ours, theirs| Err(MergeError::Differs { what, ours, theirs });
        let (ours, theirs) = (self.hasher, other.hasher);
        if ours.secret_key().is_some() != theirs.secret_key().is_some() {
            return differs("hash", ours.to_string(), theirs.to_string());
        }
        if ours != theirs {
            // The seed that is derived from a secret key is as secret.
            let seed = |hasher: &KeyHasher| match hasher.key_check() {
                None => hasher.seed().to_string(),
                Some(_) => "a secret key".to_string(),
            };
            return differs("seed", seed(ours), seed(theirs));
        }
        if self.treatment != other.treatment {
            let name = |treatment| match treatment {
                0 => "hashed as they are",
                1 => "made lower case",
                2 => "trimmed",
                _ => "trimmed and made lower case",
            };
            let (ours, theirs) = (name(self.treatment), name(other.treatment));
            return differs("what was done to keys", ours.to_string(), theirs.to_string());
        }
        Ok(())
    }
}
