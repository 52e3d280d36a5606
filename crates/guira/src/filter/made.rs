use alloc::sync::Arc;
use core::fmt::{self, Display};

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
                return Err(MergeError::differs(what, ours, theirs));
            }
        }
        self.refuse_if_hashed_otherwise(other)
    }

    pub(super) fn refuse_if_made_otherwise(&self, other: &Self) -> Result<(), MergeError> {
        let (a, b) = (self.parameters, other.parameters);
        self.refuse_if_shaped_otherwise(other)?;
        let numbers = [
            ("slots per bucket", a.slots_per_bucket(), b.slots_per_bucket()),
            ("fingerprint bits", a.fingerprint_bits(), b.fingerprint_bits()),
            ("bits of values", a.value_bits(), b.value_bits()),
            ("doublings", a.doublings(), b.doublings()),
        ];
        for (what, ours, theirs) in numbers {
            if ours != theirs {
                return Err(MergeError::differs(what, ours, theirs));
            }
        }
        if (a.region_count(), a.buckets_per_region()) != (b.region_count(), b.buckets_per_region()) {
            return Err(MergeError::differs("size", Regions(a), Regions(b)));
        }
        self.refuse_if_hashed_otherwise(other)
    }

    fn refuse_if_shaped_otherwise(&self, other: &Self) -> Result<(), MergeError> {
        let (ours, theirs) = (self.parameters.shape(), other.parameters.shape());
        if (ours.layout(), ours.addressing()) == (theirs.layout(), theirs.addressing()) {
            return Ok(());
        }
        Err(MergeError::differs("layout", Name(ours), Name(theirs)))
    }

    fn refuse_if_hashed_otherwise(&self, other: &Self) -> Result<(), MergeError> {
        let (ours, theirs) = (self.hasher, other.hasher);
        if ours.secret_key().is_some() != theirs.secret_key().is_some() {
            return Err(MergeError::differs("hash", ours, theirs));
        }
        if ours != theirs {
            return Err(MergeError::differs("seed", Seed(ours), Seed(theirs)));
        }
        if self.treatment != other.treatment {
            let name = |treatment| match treatment {
                0 => "hashed as they are",
                1 => "made lower case",
                2 => "trimmed",
                _ => "trimmed and made lower case",
            };
            return Err(MergeError::differs("what was done to keys", name(self.treatment), name(other.treatment)));
        }
        Ok(())
    }
}

struct Regions<'parameters>(&'parameters Parameters);

impl Display for Regions<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} regions of {} buckets", self.0.region_count(), self.0.buckets_per_region())
    }
}

struct Name(Shape);

impl Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} with {} addressing", self.0.layout(), self.0.addressing())
    }
}

/// A seed, unless it is derived from a secret key, and as secret.
struct Seed<'hasher>(&'hasher KeyHasher);

impl Display for Seed<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.key_check() {
            None => write!(formatter, "{}", self.0.seed()),
            Some(_) => formatter.write_str("a secret key"),
        }
    }
}
