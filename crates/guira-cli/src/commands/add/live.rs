//! Keys of a stream that does not end: they are stored at intervals, and when a signal ends the program.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::mem;
use std::time::{Duration, Instant};

use guira::KeyHasher;

use super::Adding;
use super::rejected::RejectedKeys;
use crate::arguments::AddArguments;
use crate::commands::warnings::{WithoutKey, refuse_to_ignore_case, warn_of_missing_fields};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::filter_file::FilterReplacement;
use crate::inspection::{Inspection, Secret};
use crate::keys::{BATCH_SIZE, KeyList, Normalization, Pulse, SeenDigests};
use crate::secret_key::SecretKey;
use crate::signals::EndingSignals;

/// Adds the keys of the inputs every so often. The file is locked and read while keys are stored, and not in between.
pub(super) fn run(arguments: &AddArguments, key: Option<SecretKey>, every: Duration) -> Result<ExitStatus, Failure> {
    let Inspection { header, secret, provenance, .. } = Inspection::of_header(&arguments.file, key)?;
    if secret == Secret::NotGiven {
        return Err(Failure::of_loading(&arguments.file, &guira::LoadError::SecretKeyMissing));
    }
    let key_of_filter = key.map(SecretKey::bytes);
    let hasher = header.hasher(key_of_filter).map_err(|error| Failure::of_loading(&arguments.file, &error))?;
    let normalization = provenance.normalization;
    refuse_to_ignore_case(arguments.ignore_case, &arguments.file, normalization)?;
    let inputs = arguments.inputs.inputs(normalization, arguments.quiet.quiet);
    let store = Store {
        arguments,
        key,
        hasher,
        normalization,
        pending: KeyList::default(),
        seen: SeenDigests::default(),
        rejected: RejectedKeys::new(arguments)?,
        status: ExitStatus::Success,
    };
    let live = Live {
        every,
        signals: EndingSignals::new()?,
        state: RefCell::new(State { store, due: Instant::now() + every, last_reads: LAST_READS, failure: None }),
    };
    let mut without_key = 0;
    let read = inputs.for_all_blocks_at(Some(&live), |block| {
        let pending = &mut live.state.borrow_mut().store.pending;
        block.for_each_key(|key, _| match key {
            Some(key) => pending.push(key),
            None => without_key += 1,
        });
        Ok(())
    });
    let Live { signals, state, .. } = live;
    let State { mut store, failure, .. } = state.into_inner();
    if let Some(failure) = failure {
        return Err(failure);
    }
    // A second signal ends the program at once.
    let signal = signals.received();
    crate::signals::remove_temporary_files_when_ended()?;
    // What was read before an error was stored so far, and is stored now.
    store.store()?;
    if let Some(rejected) = store.rejected.take() {
        rejected.finish()?;
    }
    read?;
    warn_of_missing_fields(&arguments.inputs, without_key, WithoutKey::LeftOut);
    if let Some(signal) = signal {
        crate::signals::end_by(signal);
    }
    Ok(store.status)
}

/// When inputs are read, and when keys are stored.
struct Live<'arguments> {
    every: Duration,
    signals: EndingSignals,
    state: RefCell<State<'arguments>>,
}

struct State<'arguments> {
    store: Store<'arguments>,
    /// When keys are stored next.
    due: Instant,
    /// How often an input may still be read after a signal.
    last_reads: u32,
    /// Why keys could not be stored.
    failure: Option<Failure>,
}

/// More than it takes to read what a pipe holds.
const LAST_READS: u32 = 16;

/// Keys that have come, and how they are stored.
struct Store<'arguments> {
    arguments: &'arguments AddArguments,
    key: Option<SecretKey>,
    hasher: KeyHasher,
    normalization: Normalization,
    pending: KeyList,
    seen: SeenDigests,
    rejected: Option<RejectedKeys>,
    /// What all stores came to.
    status: ExitStatus,
}

impl Pulse for Live<'_> {
    fn wait_for(&self, source: &File) -> io::Result<()> {
        let mut state = self.state.borrow_mut();
        loop {
            if state.failure.is_some() {
                return Err(io::Error::other("no more is read"));
            }
            if self.signals.received().is_some() {
                // What had come before the signal is still read, but not the rest of an input that always has more.
                if state.last_reads == 0 || !EndingSignals::has_come(source)? {
                    return Err(io::Error::other("no more is read"));
                }
                state.last_reads -= 1;
                return Ok(());
            }
            let now = Instant::now();
            if now >= state.due {
                if let Err(failure) = state.store.store() {
                    state.failure = Some(failure);
                    continue;
                }
                state.due = Instant::now() + self.every;
            }
            let left = state.due.saturating_duration_since(Instant::now());
            if self.signals.wait_for(source, left)? {
                return Ok(());
            }
            // A signal has come, or the time is over.
        }
    }

    fn is_over(&self) -> bool {
        self.state.borrow().failure.is_some() || self.signals.received().is_some()
    }
}

impl Store<'_> {
    /// Stores the keys that have come.
    fn store(&mut self) -> Result<(), Failure> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let arguments = self.arguments;
        let (mut filter, replacement) = FilterReplacement::of_filter(&arguments.file, self.key, arguments.wait)?;
        if *filter.filter.hasher() != self.hasher || filter.provenance.normalization != self.normalization {
            let text = "was replaced by a filter whose keys are hashed or treated otherwise: start again";
            return Err(Failure::of_file(&arguments.file, text));
        }
        // With --unique the filter itself says what was there before, so nothing else has to be kept for it.
        let seen = if arguments.unique { SeenDigests::default() } else { mem::take(&mut self.seen) };
        let mut adding = Adding::new(arguments, &filter, seen, self.rejected.take());
        let pending = mem::take(&mut self.pending);
        let keys: Vec<&[u8]> = pending.iter().collect();
        for keys in keys.chunks(BATCH_SIZE) {
            adding.take(&mut filter, keys)?;
        }
        if let Some(rejected) = &mut adding.rejected {
            rejected.flush()?;
        }
        let (status, adding) = adding.finish(&filter, replacement)?;
        (self.seen, self.rejected) = (adding.seen, adding.rejected);
        match (status, self.status) {
            (ExitStatus::Error, _) if !arguments.keep_fitting => Err(Failure::of_file(
                &arguments.file,
                "the keys of this interval were not added, and those before it were",
            )),
            // Some were added, in this interval or in another.
            (ExitStatus::Success, before) => {
                self.status = before;
                Ok(())
            }
            _ => {
                self.status = ExitStatus::Part;
                Ok(())
            }
        }
    }
}
