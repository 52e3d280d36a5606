use std::ops::Range;

use guira::Digest;

use super::Counts;
use crate::arguments::CheckArguments;
use crate::failure::Failure;
use crate::filter_view::FilterView;
use crate::keys::{BATCH_SIZE, Block, RecordEnd};
use crate::render::Output;
use crate::threads;

/// Selects records with one key by one filter, and prints them unchanged.
pub(super) struct Plain {
    /// The filter's answer for a selected line.
    wanted: bool,
    record_end: RecordEnd,
    /// One for each thread.
    workers: Vec<Worker>,
}

impl Plain {
    pub(super) fn new(arguments: &CheckArguments) -> Self {
        Self {
            wanted: !arguments.invert_match,
            record_end: arguments.inputs.form().end,
            workers: vec![Worker::default()],
        }
    }

    /// Counts the records of a block, and prints those that are selected if there is an output.
    pub(super) fn take_block(
        &mut self,
        filter: &FilterView<'_>,
        block: &Block<'_>,
        mut output: Option<&mut Output>,
        counts: &mut Counts,
    ) -> Result<(), Failure> {
        let pieces = threads::pieces(block);
        if self.workers.len() < pieces.len() {
            self.workers.resize_with(pieces.len(), Worker::default);
        }
        threads::for_each(&mut self.workers, &pieces, |worker, piece| worker.select(filter, self.wanted, piece));
        for (worker, piece) in self.workers.iter().zip(&pieces) {
            counts.add(worker.counts);
            if let Some(output) = output.as_deref_mut() {
                piece.write_runs(output, &worker.runs, self.record_end)?;
            }
        }
        Ok(())
    }
}

/// Finds the selected records of a piece of the input.
#[derive(Default)]
struct Worker {
    /// The positions of the selected records in the piece; adjacent ones are joined.
    runs: Vec<Range<usize>>,
    counts: Counts,
    batch: Batch,
}

/// Neighbouring records that are answered together.
#[derive(Default)]
struct Batch {
    start: usize,
    digests: Vec<Digest>,
    /// The end of each record in the piece.
    ends: Vec<usize>,
    /// The indices of the records without a key.
    without_key: Vec<usize>,
    answers: Vec<bool>,
}

impl Worker {
    fn select(&mut self, filter: &FilterView<'_>, wanted: bool, piece: &Block<'_>) {
        self.runs.clear();
        self.counts = Counts::default();
        self.batch.start = 0;
        let hasher = *filter.hasher();
        piece.for_each_key(|key, end| {
            let batch = &mut self.batch;
            if key.is_none() {
                batch.without_key.push(batch.ends.len());
            }
            batch.digests.push(hasher.digest(key.unwrap_or_default()));
            batch.ends.push(end);
            if batch.digests.len() == BATCH_SIZE {
                self.answer(filter, wanted);
            }
        });
        self.answer(filter, wanted);
    }

    fn answer(&mut self, filter: &FilterView<'_>, wanted: bool) {
        let Batch { start, digests, ends, without_key, answers } = &mut self.batch;
        answers.resize(digests.len(), false);
        filter.contains_many_into(digests, answers);
        for &index in &*without_key {
            answers[index] = false;
        }
        self.counts.all += ends.len() as u64;
        self.counts.without_key += without_key.len() as u64;
        let mut pending = *start;
        for (&answer, &end) in answers.iter().zip(&*ends) {
            if answer == wanted {
                self.counts.selected += 1;
            } else {
                if pending < *start {
                    self.runs.push(pending..*start);
                }
                pending = end;
            }
            *start = end;
        }
        if pending < *start {
            self.runs.push(pending..*start);
        }
        digests.clear();
        ends.clear();
        without_key.clear();
    }
}
