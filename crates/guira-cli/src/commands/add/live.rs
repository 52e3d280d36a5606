//! Keys of a stream that does not end: they are stored at intervals, and when a signal ends the program.

use std::mem;
use std::ops::ControlFlow;
use std::time::Duration;

use guira::KeyHasher;

use super::rejected::RejectedKeys;
use super::{Adding, prepare};
use crate::arguments::AddArguments;
use crate::commands::intervals::{Intervals, Stored};
use crate::commands::warnings::{WithoutKey, refuse_to_ignore_case, warn_of_empty_keys, warn_of_missing_keys};
use crate::edited_filter::EditedFilter;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::inspection::{Inspection, Secret};
use crate::keys::{BATCH_SIZE, EmptyCounts, KeyList, Normalization, SeenDigests};
use crate::progress::Progress;
use crate::secret_key::SecretKey;
use crate::signals::{EndingSignals, end_by};

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
        has_stored: false,
        has_rejected: false,
    };
    let live = Intervals::new(every, EndingSignals::new()?, store);
    let mut empty_counts = EmptyCounts::default();
    let read = inputs.for_all_blocks_at(Some(&live), &Progress::of_bytes(inputs.size()), |_, block| {
        let pending = &mut live.stored().pending;
        block.for_each_key(|key, _| {
            empty_counts.count(key);
            if let Some(key) = key {
                pending.push(key);
            }
        });
        Ok(ControlFlow::Continue(()))
    });
    // What was read before an error was stored so far, and is stored now.
    let (mut store, signal) = live.finish(&read)?;
    if let Some(rejected) = store.rejected.take() {
        rejected.finish()?;
    }
    read?;
    warn_of_missing_keys(&arguments.inputs, &inputs, empty_counts.without_key, WithoutKey::LeftOut);
    warn_of_empty_keys(empty_counts.empty);
    if let Some(signal) = signal {
        end_by(signal);
    }
    Ok(store.status())
}

/// Keys that have come, and how they are stored.
struct Store<'arguments> {
    arguments: &'arguments AddArguments,
    key: Option<SecretKey>,
    hasher: KeyHasher,
    normalization: Normalization,
    pending: KeyList,
    seen: SeenDigests,
    rejected: Option<RejectedKeys>,
    /// Whether keys of any interval were stored, and whether any did not fit.
    has_stored: bool,
    has_rejected: bool,
}

impl Stored for Store<'_> {
    fn store(&mut self) -> Result<(), Failure> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let arguments = self.arguments;
        let mut filter = EditedFilter::open(&arguments.file, self.key, arguments.wait.with(arguments.quiet))?;
        if *filter.hasher() != self.hasher || filter.provenance().normalization != self.normalization {
            let text = "was replaced by a filter whose keys are hashed or treated otherwise: start again";
            return Err(Failure::of_file(&arguments.file, text));
        }
        prepare(arguments, &mut filter)?;
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
        let (status, adding) = adding.finish(filter)?;
        (self.seen, self.rejected) = (adding.seen, adding.rejected);
        if status == ExitStatus::Error && !arguments.keep_fitting {
            let text = "the keys of this interval were not added, and those before it were";
            return Err(Failure::of_file(&arguments.file, text));
        }
        self.has_stored |= status != ExitStatus::Error;
        self.has_rejected |= status != ExitStatus::Success;
        Ok(())
    }
}

impl Store<'_> {
    /// What all intervals together came to.
    const fn status(&self) -> ExitStatus {
        match (self.has_stored, self.has_rejected) {
            (_, false) => ExitStatus::Success,
            (true, true) => ExitStatus::Part,
            (false, true) => ExitStatus::Error,
        }
    }
}
