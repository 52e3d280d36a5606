//! Inputs that do not end: what came of them is stored at intervals, and when a signal ends the program.

use std::cell::{RefCell, RefMut};
use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::keys::Pulse;
use crate::signals::EndingSignals;

/// What is stored every so often.
pub(super) trait Stored {
    /// Stores what has come since the last time.
    fn store(&mut self) -> Result<(), Failure>;
}

/// When inputs are read, and when what came of them is stored.
pub(super) struct Intervals<S> {
    every: Duration,
    signals: EndingSignals,
    state: RefCell<State<S>>,
}

struct State<S> {
    stored: S,
    /// When it is stored next.
    due: Instant,
    /// How often an input may still be read after a signal.
    last_reads: u32,
    /// Why it could not be stored.
    failure: Option<Failure>,
}

/// More than it takes to read what a pipe holds.
const LAST_READS: u32 = 16;

impl<S: Stored> Intervals<S> {
    /// From now on, the first signal that would end the program is only noted.
    pub(super) fn new(every: Duration, signals: EndingSignals, stored: S) -> Self {
        signals.note_first();
        let state = State { stored, due: Instant::now() + every, last_reads: LAST_READS, failure: None };
        Self { every, signals, state: RefCell::new(state) }
    }

    pub(super) fn stored(&self) -> RefMut<'_, S> {
        RefMut::map(self.state.borrow_mut(), |state| &mut state.stored)
    }

    /// Stores what came last, also where reading it has failed, which is then reported if storing fails as well. Returns the signal that is
    /// to end the program, if one came; a second one ends it at once.
    pub(super) fn finish(self, read: &Result<(), Failure>) -> Result<(S, Option<i32>), Failure> {
        let Self { signals, state, .. } = self;
        let State { mut stored, failure, .. } = state.into_inner();
        if let Some(failure) = failure {
            return Err(failure);
        }
        if let Err(failure) = stored.store() {
            if let Err(first) = read {
                first.report();
            }
            return Err(failure);
        }
        Ok((stored, signals.received()))
    }
}

impl<S: Stored> Pulse for Intervals<S> {
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
                if let Err(failure) = state.stored.store() {
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
