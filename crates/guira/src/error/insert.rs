use thiserror::Error;

/// Why a key was not stored. The filter is as it was before.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum InsertError {
    /// No slot can be freed for the key. Others may still fit, but the filter is at its limit.
    #[error(
        "the filter is full: it holds {len} fingerprints in {slot_count} slots, and its table is promised for {capacity} \
         keys; build a larger one"
    )]
    Full {
        /// The fingerprints stored.
        len: usize,
        /// The distinct keys that the table was promised to take: in a filter that grows, the table as it is now.
        capacity: usize,
        /// The slots of the table.
        slot_count: usize,
    },
    /// Copies of the key fill its candidate buckets, and anything else there can't be moved. The filter as a whole need
    /// not be full; a larger one would not help.
    #[error(
        "the filter holds {copies} copies of this key (or of keys that share its fingerprint and buckets), as many as fit; \
         insert each key once, or check first whether it is there"
    )]
    TooManyCopies {
        /// The copies that are stored.
        copies: usize,
    },
    /// Copies of other keys fill the candidate buckets of this one, in a filter that grows. A larger table would not help: sizes up to one
    /// of which a quarter is filled were tried.
    #[error(
        "copies of other keys fill the buckets of this one, and a larger table would not help; the filter holds {len} \
         fingerprints in {slot_count} slots: store fewer copies of each key, or count them"
    )]
    Crowded {
        /// The fingerprints stored.
        len: usize,
        /// The slots of the table.
        slot_count: usize,
    },
    /// The memory for a larger table could not be allocated, or that for a search for a slot that can be freed.
    #[error("there is no memory for {bytes} bytes to make room for the key")]
    OutOfMemory {
        /// The bytes of the table, or those that a search takes at most.
        bytes: u64,
    },
    /// The counter of the key is at its greatest. Other keys may still be inserted.
    #[error(
        "this key (with keys that share its fingerprint and buckets) is counted {count} times, as far as its counter goes; \
         build the filter with more counter bits"
    )]
    CounterFull {
        /// How often the key is counted.
        count: u64,
    },
    /// The value has more bits than the map keeps.
    #[error("the value {value} has more than the {value_bits} bits that the map keeps; build it with more value bits")]
    ValueTooLarge {
        /// The value, as a number.
        value: u32,
        /// The bits that the map keeps of each.
        value_bits: u32,
    },
}

impl InsertError {
    /// The error with the numbers of living keys, where the table has others as well.
    #[cold]
    pub(crate) fn with_numbers(self, len: usize, capacity: usize) -> Self {
        match self {
            Self::Full { slot_count, .. } => Self::Full { len, capacity, slot_count },
            other => other,
        }
    }
}
