//! The times of lines that are forgotten.

use std::io;

use guira::ExpiringCuckooFilter;

use crate::arguments::{UniqueArguments, Untimed, json_path};
use crate::failure::Failure;
use crate::keys::{Examples, KeyPart, Normalization, RecordTime, TimeField};
use crate::provenance::TimeSource;
use crate::time;

/// A gap up to this is a pause, however short the lifetime: a night without lines.
const MIN_MAX_GAP: u64 = 24 * 60 * 60 * 1000;

/// Where the time comes from.
pub(super) enum Times {
    Clock,
    /// That of all lines.
    Given(u64),
    Lines(LineTimes),
}

/// Times that stand in the lines.
pub(super) struct LineTimes {
    field: TimeField,
    untimed: Untimed,
    max_gap: u64,
    /// Whether there was a time, in this run or in one before. No gap is behind the lines without one that precede it.
    has_begun: bool,
    /// Whether keys are whole lines, which then are compared without their time.
    are_lines_whole: bool,
    /// The text and the time of the last line: many lines of a log have the time of the one before.
    last: (Vec<u8>, u64),
    /// Lines that are earlier than another by more than the gap.
    pub(super) late: u64,
    /// The key of a line without its time.
    key: Vec<u8>,
    normalized: Vec<u8>,
}

/// What becomes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moved {
    On,
    /// It is left out, as it has no time.
    Skipped,
}

impl Times {
    /// The times that the arguments ask for.
    pub(super) fn new(arguments: &UniqueArguments, filter: &ExpiringCuckooFilter) -> Result<Self, Failure> {
        let Some(text) = &arguments.time_field else {
            return Ok(match arguments.now.given() {
                Some(given) => Self::Given(given.milliseconds()?),
                None => Self::Clock,
            });
        };
        let form = arguments.inputs.form();
        if let KeyPart::Json(_) = form.part {
            json_path(text).map_err(|error| Failure::new(format_args!("--time-field {text}: {error}")))?;
        }
        let field = TimeField::new(text, form.end, &form.part, arguments.inputs.separator()).ok_or_else(|| {
            Failure::new(format_args!(
                "--time-field {text}: a field is a number, counted from 1; with --header its name"
            ))
        })?;
        Ok(Self::Lines(LineTimes {
            field,
            untimed: arguments.untimed,
            max_gap: arguments.max_gap.unwrap_or(filter.lifetime().max(MIN_MAX_GAP)),
            has_begun: filter.time() > 0,
            are_lines_whole: form.part == KeyPart::Whole,
            last: (Vec::new(), 0),
            late: 0,
            key: Vec::new(),
            normalized: Vec::new(),
        }))
    }

    pub(super) fn source_of(arguments: &UniqueArguments) -> TimeSource {
        if arguments.time_field.is_some() { TimeSource::Data } else { TimeSource::Clock }
    }

    /// Moves the time on to that at which a block of lines has come, unless lines have times of their own.
    pub(super) fn begin_block(&self, filter: &mut ExpiringCuckooFilter) {
        match self {
            Self::Clock => move_on(filter, time::now()),
            Self::Given(now) => move_on(filter, *now),
            Self::Lines(_) => {}
        }
    }

    pub(super) const fn of_lines(&mut self) -> Option<&mut LineTimes> {
        match self {
            Self::Clock | Self::Given(_) => None,
            Self::Lines(times) => Some(times),
        }
    }
}

impl LineTimes {
    pub(super) fn read_header(&mut self, header: &[u8]) -> io::Result<()> {
        self.field.read_header(header)
    }

    /// The time of a record, if it has one, and the key in place of the whole line.
    pub(super) fn of(
        &mut self,
        record: &[u8],
        normalization: Normalization,
    ) -> io::Result<(Option<u64>, Option<&[u8]>)> {
        let Some(RecordTime { text, around: [before, behind] }) = self.field.of(record)? else {
            return Ok((None, None));
        };
        // Nothing is not the time of the last line, though that is nothing before there was one.
        if text.is_empty() || text != self.last.0 {
            let Some(time) = time::parsed(text) else { return Ok((None, None)) };
            self.last.0.clear();
            self.last.0.extend_from_slice(text);
            self.last.1 = time;
        }
        let time = Some(self.last.1);
        if !self.are_lines_whole {
            return Ok((time, None));
        }
        self.key.clear();
        self.key.extend_from_slice(before);
        self.key.extend_from_slice(behind);
        if normalization.is_none() {
            return Ok((time, Some(&self.key)));
        }
        self.normalized.clear();
        normalization.apply(&self.key, &mut self.normalized);
        Ok((time, Some(&self.normalized)))
    }

    /// Moves the time on to that of a line.
    ///
    /// # Errors
    ///
    /// What is wrong with the line, and what to do.
    pub(super) fn move_on(
        &mut self,
        filter: &mut ExpiringCuckooFilter,
        time: Option<u64>,
        record: &[u8],
    ) -> Result<Moved, String> {
        let Some(now) = time else {
            return match self.untimed {
                Untimed::Keep => Ok(Moved::On),
                Untimed::Skip => Ok(Moved::Skipped),
                Untimed::Refuse => Err(self.what_is_missing(record)),
            };
        };
        let reached = filter.time();
        if now > reached {
            // An empty filter has nothing to lose.
            let gap = now - reached;
            if self.has_begun && gap > self.max_gap && !filter.is_empty() {
                return Err(format!(
                    "its time, {}, is more than {} after the latest before it, {}, and lines would be forgotten: if it is \
                     right, give a longer --max-gap",
                    time::shown(now),
                    time::duration(self.max_gap),
                    time::shown(reached)
                ));
            }
            move_on(filter, now);
        } else if reached - now > self.max_gap {
            self.late += 1;
        }
        self.has_begun = true;
        Ok(Moved::On)
    }
}

impl LineTimes {
    /// Why a record has no time, and what to do.
    fn what_is_missing(&mut self, record: &[u8]) -> String {
        let text = match self.field.of(record) {
            Ok(Some(found)) if !found.text.is_empty() => found.text,
            _ => return format!("has no time in that field: {UNTIMED}"),
        };
        let mut shown = Examples::default();
        shown.add(text);
        match time::what_is_missing(text) {
            Some(reason) => format!("{shown} is not a time that is known: {reason}; see --time-field"),
            None => format!("{shown} is not a time that is known: {UNTIMED}"),
        }
    }
}

const UNTIMED: &str = "--untimed keep takes such lines with the time of the one before, --untimed skip leaves them out";

fn move_on(filter: &mut ExpiringCuckooFilter, now: u64) {
    while !filter.jump(now) {}
}
