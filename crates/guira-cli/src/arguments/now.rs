use std::path::Path;

use clap::Args;
use guira::ExpiringCuckooFilter;

use super::values;
use crate::failure::{Failure, report};
use crate::provenance::TimeSource;
use crate::stored_filter::StoredFilter;
use crate::time;

#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct NowArguments {
    /// Of a filter whose keys expire, the time that it is now [default: that of the clock or, if times came with the keys, the
    /// last of them]
    ///
    /// Written as in RFC 3339 (2026-11-25T10:00:00Z), or as seconds or milliseconds since 1970. A time before the one that the
    /// filter has reached changes nothing.
    #[arg(long, value_name = "TIME", value_parser = values::time, allow_hyphen_values = true)]
    now: Option<GivenTime>,
}

/// A time as it was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GivenTime {
    /// Unless it is a number too large for that.
    pub(super) milliseconds: Option<u64>,
    /// The number that was typed, in any unit.
    pub(super) number: Option<u64>,
}

impl GivenTime {
    pub(crate) fn milliseconds(self) -> Result<u64, Failure> {
        self.milliseconds.ok_or_else(|| {
            let number = self.number.unwrap_or_default();
            Failure::new(format_args!("--now {number} is neither seconds nor milliseconds since 1970"))
        })
    }
}

impl NowArguments {
    /// Lets the keys of a filter expire that would not be found any more, if they expire at all.
    pub(crate) fn bring(self, path: &Path, filter: &mut StoredFilter) -> Result<(), Failure> {
        let source = filter.provenance.time_source;
        match filter.filter.as_expiring_mut() {
            Some(filter) => {
                self.warn_of_time_ahead(path, filter, source);
                self.bring_expiring(path, filter, source)
            }
            None => self.refuse_for_lasting(path),
        }
    }

    /// The same for a filter of which it is known that its keys expire.
    pub(crate) fn bring_expiring(
        self,
        path: &Path,
        filter: &mut ExpiringCuckooFilter,
        source: Option<TimeSource>,
    ) -> Result<(), Failure> {
        let now = match (self.now, source) {
            (None, Some(TimeSource::Clock)) => time::now(),
            (None, _) => return Ok(()),
            (Some(given), Some(_)) => given.milliseconds()?,
            (Some(given), None) => given.number.ok_or_else(|| {
                let text =
                    "was not made by this program, and does not say in which unit its time is: give --now as a number";
                Failure::of_file(path, text)
            })?,
        };
        while !filter.jump(now) {}
        Ok(())
    }

    /// Warns of a filter whose time the clock has yet to reach, as one that was changed while the clock was wrong.
    pub(crate) fn warn_of_time_ahead(self, path: &Path, filter: &ExpiringCuckooFilter, source: Option<TimeSource>) {
        let ahead = filter.time().saturating_sub(time::now());
        if self.now.is_none() && source == Some(TimeSource::Clock) && ahead > filter.resolution() {
            report(format_args!(
                "warning: {}: its time is {} ahead of the clock, and keys expire only when that gets there",
                path.display(),
                time::duration(ahead)
            ));
        }
    }

    /// Refuses a time that has no effect.
    pub(crate) fn refuse_for_lasting(self, path: &Path) -> Result<(), Failure> {
        match self.now {
            Some(_) => Err(Failure::of_file(path, "its keys do not expire: leave out --now")),
            None => Ok(()),
        }
    }

    pub(crate) fn given(self) -> Option<GivenTime> {
        self.now
    }

    /// The time for keys of a new filter.
    pub(crate) fn or_clock(self) -> Result<u64, Failure> {
        self.now.map_or_else(|| Ok(time::now()), GivenTime::milliseconds)
    }
}
