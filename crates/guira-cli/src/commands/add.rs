#[cfg(unix)]
mod live;
mod rejected;

use std::path::Path;

use guira::{InsertError, TryExtendError};
use serde::Serialize;

use super::warnings::{WithoutKey, refuse_to_ignore_case, warn_of_empty_keys, warn_of_excess, warn_of_missing_keys};
use crate::arguments::AddArguments;
use crate::edited_filter::{EditedFilter, IfLoaded};
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, report};
use crate::keys::{Examples, NewKeys, Normalization, SeenDigests};
use crate::render::text::{self, counted};
use crate::render::{Report, print, tell};
use crate::secret_key::SecretKey;
use crate::stored_filter::{Growth, StoredFilter};
use rejected::RejectedKeys;

/// After this many keys without room, the rest is not tried: a failed search takes as long as thousands of insertions.
const MAX_KEYS_TRIED_IN_VAIN: u64 = 10_000;

pub(crate) fn run(arguments: &AddArguments) -> Result<ExitStatus, Failure> {
    arguments.inputs.refuse_contradictions()?;
    let inputs = arguments.inputs.inputs(Normalization::default(), true);
    inputs.refuse_filters()?;
    match &arguments.rejected {
        Some(path) => inputs.refuse_as_output(path)?,
        None if arguments.keep_fitting => inputs.refuse_standard_output()?,
        None => {}
    }
    let key = SecretKey::read_if_given(arguments.key.file.as_deref())?;
    #[cfg(unix)]
    if let Some(every) = arguments.every {
        return live::run(arguments, key, every);
    }
    let mut filter = EditedFilter::open(&arguments.file, key, arguments.wait.with(arguments.quiet))?;
    prepare(arguments, &mut filter)?;
    let normalization = filter.provenance().normalization;
    refuse_to_ignore_case(arguments.ignore_case, &arguments.file, normalization)?;
    let inputs = arguments.inputs.inputs(normalization, arguments.quiet.quiet);
    let mut adding = Adding::new(arguments, &filter, SeenDigests::default(), RejectedKeys::new(arguments)?);
    let empty_counts = inputs.for_each_batch(|keys| adding.take(&mut filter, keys))?;
    adding.without_key = empty_counts.without_key;
    // Before the filter is replaced: whoever can't have the keys that did not fit would not know which they are.
    if let Some(rejected) = adding.rejected.take() {
        rejected.finish()?;
    }
    let (status, _) = adding.finish(filter)?;
    warn_of_missing_keys(&arguments.inputs, &inputs, empty_counts.without_key, WithoutKey::LeftOut);
    warn_of_empty_keys(empty_counts.empty);
    Ok(status)
}

/// Lets keys expire that would not be found any more.
fn prepare(arguments: &AddArguments, filter: &mut EditedFilter) -> Result<(), Failure> {
    filter.bring(arguments.now)?;
    if arguments.no_grow && filter.loaded().is_some_and(|filter| filter.filter.as_expiring().is_some()) {
        let text = "its keys expire, and such a filter grows where it was built to: leave out --no-grow";
        return Err(Failure::of_file(&arguments.file, text));
    }
    Ok(())
}

/// Keys on their way into a filter, and what became of them.
struct Adding<'arguments> {
    arguments: &'arguments AddArguments,
    before: Before,
    seen: SeenDigests,
    answers: Vec<bool>,
    added: u64,
    /// Keys that were probably present before: left out with `--unique`, otherwise stored once more.
    already_present: u64,
    repeated: u64,
    without_key: u64,
    /// The keys that were not added, with the reason for the first of them.
    without_room: Option<(Examples, NoRoom)>,
    with_too_many_copies: Option<(Examples, InsertError)>,
    /// Where the keys go that are not added.
    rejected: Option<RejectedKeys>,
}

/// What the filter was before.
struct Before {
    len: usize,
    capacity: usize,
    slot_count: u64,
}

/// Why a key found no room.
#[derive(Clone, Debug)]
enum NoRoom {
    /// The rate would be above what was promised.
    Rate {
        most: usize,
    },
    Insert(InsertError),
}

impl<'arguments> Adding<'arguments> {
    fn new(
        arguments: &'arguments AddArguments,
        filter: &EditedFilter,
        seen: SeenDigests,
        rejected: Option<RejectedKeys>,
    ) -> Self {
        let (len, capacity) = (filter.len(), filter.capacity());
        Self {
            arguments,
            before: Before { len, capacity, slot_count: filter.parameters().slot_count() },
            seen,
            answers: Vec::new(),
            added: 0,
            already_present: 0,
            repeated: 0,
            without_key: 0,
            without_room: None,
            with_too_many_copies: None,
            rejected,
        }
    }

    /// Changes the file, unless nothing was added or not all that must be, and tells what was done.
    fn finish(self, mut filter: EditedFilter) -> Result<(ExitStatus, Self), Failure> {
        let is_refused = self.is_refused();
        if is_refused || self.added == 0 {
            filter.release();
        } else {
            filter.commit()?;
        }
        self.tell(&filter)?;
        if is_refused {
            return Ok((filter.loaded().map_or(ExitStatus::Error, |filter| self.report_refusal(filter)), self));
        }
        if !self.arguments.unique {
            self.warn_of_copies(&filter);
        }
        // In a journal is no key beyond the capacity, and none that was left out.
        let Some(filter) = filter.loaded() else { return Ok((ExitStatus::Success, self)) };
        warn_of_excess(&self.arguments.file, filter);
        Ok((self.report_rejected(filter), self))
    }

    /// Returns `true` if nothing is stored, since not all keys fit.
    const fn is_refused(&self) -> bool {
        !self.arguments.keep_fitting && (self.without_room.is_some() || self.with_too_many_copies.is_some())
    }

    fn take(&mut self, filter: &mut EditedFilter, keys: &[&[u8]]) -> Result<(), Failure> {
        let mut new = self.seen.new_ones(keys, filter.hasher());
        self.repeated += (keys.len() - new.keys.len()) as u64;
        let mut answers = std::mem::take(&mut self.answers);
        answers.clear();
        answers.resize(new.digests.len(), false);
        filter.contains_many_into(&new.digests, &mut answers);
        if self.arguments.unique {
            self.already_present += count_true(&answers);
            new.retain(|index| !answers[index]);
            answers.clear();
            answers.resize(new.digests.len(), false);
        }
        let added = match filter.insert_in_journal(&new.digests) {
            Ok(IfLoaded::Journaled) => {
                self.added += new.digests.len() as u64;
                self.already_present += count_true(&answers);
                Ok(())
            }
            Ok(IfLoaded::Loaded(filter)) => self.add(filter, &new, &answers),
            Err(failure) => Err(failure),
        };
        self.answers = answers;
        added
    }

    /// Adds keys, of which `are_present` says which are stored already.
    fn add(&mut self, filter: &mut StoredFilter, new: &NewKeys<'_>, are_present: &[bool]) -> Result<(), Failure> {
        let (mut keys, mut digests, mut are_present) = (&*new.keys, &*new.digests, are_present);
        while !keys.is_empty() {
            let most = if self.arguments.raise_rate { usize::MAX } else { filter.promised_len() };
            let room = most.saturating_sub(filter.filter.len());
            let is_vain = match &self.without_room {
                Some((_, NoRoom::Rate { .. })) => true,
                Some((keys, NoRoom::Insert(_))) => keys.count() >= MAX_KEYS_TRIED_IN_VAIN,
                None => false,
            };
            if is_vain || room == 0 || self.is_refused() {
                let (without_room, _) =
                    self.without_room.get_or_insert_with(|| (Examples::default(), NoRoom::Rate { most }));
                keys.iter().for_each(|key| without_room.add(key));
                return keys.iter().try_for_each(|key| self.reject(key));
            }
            // Beyond the promise, a table is not doubled for a few keys with which the rate still holds.
            let room_to_grow = match filter.filter.max_capacity().saturating_sub(filter.filter.len()) {
                _ if self.arguments.no_grow => 0,
                _ if self.arguments.raise_rate => room,
                promised => promised,
            };
            let (growth, room) =
                if room_to_grow == 0 { (Growth::Refused, room) } else { (Growth::Allowed, room_to_grow) };
            let tried = keys.len().min(room);
            let (stored, reason) = match filter.insert_each(&digests[..tried], growth) {
                Ok(()) => (tried, None),
                Err(TryExtendError { inserted, reason, .. }) => (inserted, Some(reason)),
            };
            self.added += stored as u64;
            self.already_present += count_true(&are_present[..stored]);
            let mut done = stored;
            if let Some(reason) = reason {
                let key = keys[stored];
                match reason {
                    InsertError::TooManyCopies { .. } | InsertError::Crowded { .. } => {
                        self.with_too_many_copies.get_or_insert_with(|| (Examples::default(), reason)).0.add(key);
                    }
                    reason => {
                        let reason = NoRoom::Insert(reason);
                        self.without_room.get_or_insert_with(|| (Examples::default(), reason)).0.add(key);
                    }
                }
                self.reject(key)?;
                done += 1;
            }
            (keys, digests, are_present) = (&keys[done..], &digests[done..], &are_present[done..]);
        }
        Ok(())
    }

    fn reject(&mut self, key: &[u8]) -> Result<(), Failure> {
        self.rejected.as_mut().map_or(Ok(()), |rejected| rejected.write(key))
    }

    /// Tells what was done. If nothing was, only JSON says so here: for people, the error does.
    fn tell(&self, filter: &EditedFilter) -> Result<(), Failure> {
        let is_refused = self.is_refused();
        if is_refused && !self.arguments.json {
            return Ok(());
        }
        let count = |keys: Option<&Examples>| keys.map_or(0, Examples::count);
        let (key_count, capacity) =
            if is_refused { (self.before.len, self.before.capacity) } else { (filter.len(), filter.capacity()) };
        let addition = Addition {
            file: self.arguments.file.display().to_string(),
            is_unique: self.arguments.unique,
            added_count: if is_refused { 0 } else { self.added },
            already_present_count: self.already_present,
            repeated_count: self.repeated,
            without_key_count: self.without_key,
            without_room_count: count(self.without_room.as_ref().map(|(keys, _)| keys)),
            too_many_copies_count: count(self.with_too_many_copies.as_ref().map(|(keys, _)| keys)),
            key_count: key_count as u64,
            capacity: capacity as u64,
            has_grown: !is_refused && filter.parameters().slot_count() > self.before.slot_count,
        };
        if is_refused { print(&addition, true) } else { tell(&addition, self.arguments.json, self.arguments.quiet) }
    }

    /// Says why nothing was stored, and what to do.
    fn report_refusal(&self, filter: &StoredFilter) -> ExitStatus {
        let file = &self.arguments.file;
        if let Some((keys, reason)) = &self.with_too_many_copies {
            let count = counted(keys.count(), "key");
            report_of(
                file,
                format_args!("no key was added: {count} can't be stored once more: {}: {keys}", of_copies(reason)),
            );
            report_of(
                file,
                "--unique leaves out keys that are there already, and --keep-fitting adds the others; the copies that are \
                 stored go when the filter is built again from the list of its keys, with guira build --force",
            );
            return ExitStatus::Error;
        }
        if let Some((keys, reason)) = &self.without_room {
            let (all, why) = (self.added + keys.count(), reason.text(filter, self.arguments));
            let fitting = match (self.added, all) {
                (0, 1) => format!("{keys} does not fit, since {why}"),
                (0, all) => format!("none of {} keys fits, since {why}: {keys}", text::count(all)),
                (added, all) => {
                    let (added, all) = (text::count(added), text::count(all));
                    format!("only {added} of {all} keys fit, since {why}; not {keys}")
                }
            };
            report_of(file, format_args!("no key was added: {fitting}"));
            report_of(file, self.ways_to_more_room(filter, keys.count(), reason));
        }
        ExitStatus::Error
    }

    /// Advice on how to add keys that do not fit.
    fn ways_to_more_room(&self, filter: &StoredFilter, without_room: u64, reason: &NoRoom) -> String {
        let needed = self.before.len as u64 + self.added + without_room;
        let mut ways = vec!["--keep-fitting adds those that fit and prints the others".to_owned()];
        let has_no_memory = matches!(reason, NoRoom::Insert(InsertError::OutOfMemory { .. }));
        let (raises_rate, promised) = (self.arguments.raise_rate, filter.filter.max_capacity() as u64);
        let is_kept_small = self.arguments.no_grow && filter.grows();
        if is_kept_small && (raises_rate || promised >= needed) {
            ways.push("without --no-grow the table may grow".to_owned());
        } else if is_kept_small && promised > needed - without_room {
            ways.push(format!("without --no-grow the table may grow, up to {}", counted(promised, "key")));
        }
        let may_rise = promised < needed && (filter.grows() || matches!(reason, NoRoom::Rate { .. }));
        let raised = filter.rate_of(needed);
        // Fingerprints have no bits left long before they are wrong about every thirtieth key.
        if !raises_rate && !has_no_memory && may_rise && raised < 0.03 {
            let option = if is_kept_small { "--raise-rate without --no-grow" } else { "--raise-rate" };
            let consequence = match filter.provenance.rate {
                // The promise has a margin, in small tables the larger.
                Some(asked) if raised <= asked => "in a larger table, at the rate that was asked for".to_owned(),
                _ => format!("with a rate that may rise to {}", text::rate(raised)),
            };
            ways.push(format!("{option} adds all that find room, {consequence}"));
        }
        let needed = text::count(needed);
        ways.push(format!(
            "a filter that is built again from the list of its keys, with --max-capacity {needed} or more, takes all of them"
        ));
        ways.join("; ")
    }

    /// Warns of keys that are now stored more than once, if they are more than false positives explain.
    #[expect(clippy::cast_precision_loss, reason = "a threshold")]
    fn warn_of_copies(&self, filter: &EditedFilter) {
        let (added, present) = (self.added, self.already_present);
        let mistaken = filter.expected_false_positive_rate() * added as f64;
        // False positives are nearly Poisson-distributed: the standard deviation is the root of the mean.
        if present as f64 <= mistaken + 3.0 * mistaken.sqrt() || present < added / 100 {
            return;
        }
        report(format_args!(
            "warning: {}: {} of {} added keys were probably there already. Each is now stored once more, takes more room \
             and must be removed once more; add --unique leaves such keys out",
            self.arguments.file.display(),
            text::count(present),
            text::count(added),
        ));
    }

    /// With `--keep-fitting`, says which keys were left out.
    fn report_rejected(&self, filter: &StoredFilter) -> ExitStatus {
        let file = &self.arguments.file;
        if let Some((keys, reason)) = &self.with_too_many_copies {
            let count = counted(keys.count(), "key");
            report_of(
                file,
                format_args!("{count} not added, which can't be stored once more: {}: {keys}", of_copies(reason)),
            );
        }
        if let Some((keys, reason)) = &self.without_room {
            let (count, why) = (counted(keys.count(), "key"), reason.text(filter, self.arguments));
            report_of(file, format_args!("{count} not added: {why}: {keys}"));
        }
        match (self.without_room.is_some() || self.with_too_many_copies.is_some(), self.added) {
            (false, _) => ExitStatus::Success,
            (true, 0) => ExitStatus::Error,
            (true, _) => ExitStatus::Part,
        }
    }
}

impl NoRoom {
    fn text(&self, filter: &StoredFilter, arguments: &AddArguments) -> String {
        let (len, promised) = (filter.filter.len(), filter.filter.max_capacity());
        match self {
            Self::Rate { most } => format!("its rate is kept with at most {}", counted(*most as u64, "key")),
            Self::Insert(InsertError::OutOfMemory { bytes }) => {
                format!("there is not enough memory for a table of {}", counted(*bytes, "byte"))
            }
            // It has slots to spare, but it grows before they are all taken, so that keys find their places soon.
            Self::Insert(_) if filter.grows() && !arguments.raise_rate && len >= promised => {
                format!("it was built for {}, and its table does not grow beyond that", counted(promised as u64, "key"))
            }
            Self::Insert(_) if arguments.no_grow && filter.grows() && len >= filter.filter.capacity() => {
                format!("its table takes {} as it is", counted(filter.filter.capacity() as u64, "key"))
            }
            Self::Insert(_) if filter.grows() && !arguments.no_grow => {
                let slots = counted(filter.filter.parameters().slot_count(), "slot");
                format!("its table of {slots} is full, and fingerprints have no bit left for a larger one")
            }
            Self::Insert(_) => {
                format!("its table of {} is full", counted(filter.filter.parameters().slot_count(), "slot"))
            }
        }
    }
}

/// Why a key can't be stored once more. No filter of this program counts keys.
fn of_copies(reason: &InsertError) -> String {
    match reason {
        InsertError::Crowded { .. } => {
            "copies of other keys fill the buckets of this one, and a larger table would not help".to_owned()
        }
        reason => reason.to_string(),
    }
}

fn report_of(file: &Path, message: impl std::fmt::Display) {
    Failure::of_file(file, message).report();
}

fn count_true(answers: &[bool]) -> u64 {
    answers.iter().filter(|&&answer| answer).count() as u64
}

/// What was done. The field names are those of the JSON output and must not change.
#[derive(Debug, Serialize)]
struct Addition {
    file: String,
    #[serde(skip)]
    is_unique: bool,
    added_count: u64,
    /// Keys that were probably present before: left out with `--unique`, otherwise stored once more.
    already_present_count: u64,
    repeated_count: u64,
    without_key_count: u64,
    /// Keys that were not added, because there was no room for them.
    without_room_count: u64,
    /// Keys that were not added, because the filter holds as many copies of them as it can.
    too_many_copies_count: u64,
    /// The keys in the filter now.
    key_count: u64,
    capacity: u64,
    /// Whether the table was doubled.
    has_grown: bool,
}

impl Report for Addition {
    fn text(&self) -> String {
        let (added, repeated) = (counted(self.added_count, "key"), counted(self.repeated_count, "repeated line"));
        let grown = if self.has_grown {
            format!(", grown to a capacity of {}", counted(self.capacity, "key"))
        } else {
            String::new()
        };
        if self.is_unique {
            let present = text::count(self.already_present_count);
            return format!(
                "{}: {added} added, {present} probably there already, {repeated} left out{grown}",
                self.file
            );
        }
        format!("{}: {added} added, {repeated} left out{grown}", self.file)
    }
}
