use alloc::string::String;
use core::fmt;

use thiserror::Error;

/// Why two filters were not merged. Both are as they were before.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// The filters were not made alike, so the fingerprints of one mean other keys in the other.
    #[error(
        "the filters differ in {what} ({ours}, and {theirs}): only filters that were made alike, with the same seed, can be \
         merged; build both with the same options"
    )]
    Differs {
        /// What differs first.
        what: &'static str,
        /// Its value in the filter that was to be added to.
        ours: String,
        /// Its value in the other filter.
        theirs: String,
    },
    /// The keys of both don't fit the table of one.
    #[error("{len} and {other_len} fingerprints do not fit {slot_count} slots: build the first filter larger")]
    Full {
        /// The fingerprints stored in the filter that was to be added to.
        len: usize,
        /// The fingerprints stored in the other filter.
        other_len: usize,
        /// The slots of the table.
        slot_count: usize,
    },
    /// Together there are more copies of a key than its buckets hold.
    #[error(
        "together there are more than {copies} copies of a key (or of keys that share its fingerprint and buckets), which \
         is as many as fit"
    )]
    TooManyCopies {
        /// The most copies that fit.
        copies: usize,
    },
    /// Copies of some keys fill the candidate buckets of others, in a filter that grows. A larger table would not help: sizes up to one
    /// of which a quarter is filled were tried.
    #[error(
        "copies of some keys fill the buckets of others, and a larger table would not help; the filters hold {len} and \
         {other_len} fingerprints, the first of them in {slot_count} slots: store fewer copies of each key, or count them"
    )]
    Crowded {
        /// The fingerprints stored in the filter that was to be added to.
        len: usize,
        /// The fingerprints stored in the other filter.
        other_len: usize,
        /// The slots of the table of the former.
        slot_count: usize,
    },
    /// Together a key is counted more often than its counter reaches.
    #[error(
        "together a key is counted more than {count} times, which is as far as counters go: build both filters with more \
         counter bits"
    )]
    CounterFull {
        /// How often a key can be counted.
        count: u64,
    },
    /// The memory for another table could not be allocated.
    #[error("no memory for another table of {bytes} bytes")]
    OutOfMemory {
        /// The bytes of a table.
        bytes: u64,
    },
}

/// A text, as far as there is memory for it.
#[derive(Default)]
struct Text(String);

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.try_reserve(text.len()).map_err(|_| fmt::Error)?;
        self.0.push_str(text);
        Ok(())
    }
}

impl MergeError {
    /// The error of filters that were not made alike, or that there is no memory to say so.
    #[cold]
    pub(crate) fn differs(what: &'static str, ours: impl fmt::Display, theirs: impl fmt::Display) -> Self {
        let (mut first, mut second) = (Text::default(), Text::default());
        match fmt::write(&mut first, format_args!("{ours}")).and(fmt::write(&mut second, format_args!("{theirs}"))) {
            Ok(()) => Self::Differs { what, ours: first.0, theirs: second.0 },
            Err(fmt::Error) => Self::OutOfMemory { bytes: (first.0.len() + second.0.len()) as u64 },
        }
    }
}
