use thiserror::Error;

/// Why the time of a filter was not moved on: all keys would have expired. The filter is as it was.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "at the time {now} all keys would have expired: it is {} after {time}, the time of the filter, and they live for \
     {lifetime}; if that is not a mistake, jump there",
    .now.saturating_sub(*.time)
)]
#[non_exhaustive]
pub struct AdvanceError {
    /// The time asked for.
    pub now: u64,
    /// The time that was reached.
    pub time: u64,
    /// The lifetime of keys.
    pub lifetime: u64,
}
