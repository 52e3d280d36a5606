use std::ops::{ControlFlow, Range};

use guira::{CuckooFilterView, Digest};
use serde::Serialize;

use super::warnings::{WithoutKey, warn_of_missing_fields};
use crate::arguments::CheckArguments;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::filter_view;
use crate::keys::{BATCH_SIZE, Block, Inputs, RecordEnd};
use crate::progress::Progress;
use crate::render::Output;
use crate::secret_key::SecretKey;
use crate::threads;

pub(crate) fn run(arguments: &CheckArguments) -> Result<ExitStatus, Failure> {
    threads::choose(arguments.threads.count)?;
    let inputs = arguments.inputs.inputs();
    inputs.refuse_filters()?;
    let key = SecretKey::read_if_given(arguments.key.file.as_deref())?;
    filter_view::ask(&arguments.file, key, arguments.trust.trust(), |filter| select(filter, &inputs, arguments))
}

fn select(filter: &CuckooFilterView<'_>, inputs: &Inputs, arguments: &CheckArguments) -> Result<ExitStatus, Failure> {
    let progress = Progress::of_bytes(inputs.size()).unless_output_is_terminal();
    let mut selection = Selection::new(filter, arguments);
    let mut failed = false;
    for input in inputs.iter() {
        match input.for_each_block(&progress, |block| selection.take_block(block)) {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) => break,
            Err(failure) => {
                failure.report();
                failed = true;
                // As grep does: the other inputs are still read, if there is anywhere to print their lines.
                if selection.output.is_closed() {
                    break;
                }
            }
        }
    }
    drop(progress);
    let counts = selection.finish()?;
    warn_of_missing_fields(&arguments.inputs, counts.without_key, WithoutKey::Answered);
    Ok(match (counts.selected, failed) {
        (1.., true) if arguments.quiet => ExitStatus::Success,
        (_, true) => ExitStatus::Error,
        (0, false) => ExitStatus::NotFound,
        (1.., false) => ExitStatus::Success,
    })
}

/// The lines that are selected, on their way out.
struct Selection<'filter> {
    filter: &'filter CuckooFilterView<'filter>,
    /// What the filter says of a line that is selected.
    wanted: bool,
    form: Form,
    record_end: RecordEnd,
    output: Output,
    counts: Counts,
    /// One for each thread.
    workers: Vec<Worker>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Lines,
    Count,
    CountAsJson,
    Nothing,
}

/// How many records there were. The names of the fields are those of the JSON output, and stay.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Counts {
    #[serde(rename = "record_count")]
    all: u64,
    #[serde(rename = "selected_count")]
    selected: u64,
    #[serde(rename = "without_key_count")]
    without_key: u64,
}

impl<'filter> Selection<'filter> {
    fn new(filter: &'filter CuckooFilterView<'filter>, arguments: &CheckArguments) -> Self {
        let form = match (arguments.count, arguments.quiet) {
            (true, _) if arguments.json => Form::CountAsJson,
            (true, _) => Form::Count,
            (false, true) => Form::Nothing,
            (false, false) => Form::Lines,
        };
        Self {
            filter,
            wanted: !arguments.invert,
            form,
            record_end: arguments.inputs.form().end,
            output: Output::new(),
            counts: Counts::default(),
            workers: vec![Worker::default()],
        }
    }

    fn take_block(&mut self, block: &Block<'_>) -> Result<ControlFlow<()>, Failure> {
        let pieces = threads::pieces(block);
        if self.workers.len() < pieces.len() {
            self.workers.resize_with(pieces.len(), Worker::default);
        }
        threads::for_each(&mut self.workers, &pieces, |worker, piece| worker.select(self.filter, self.wanted, piece));
        for (worker, piece) in self.workers.iter().zip(&pieces) {
            self.counts.add(worker.counts);
            if self.form == Form::Lines {
                write_runs(&mut self.output, piece, &worker.runs, self.record_end)?;
            }
        }
        let is_answered = self.form == Form::Nothing && self.counts.selected > 0;
        Ok(if is_answered || self.output.is_closed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Writes what is left to write.
    fn finish(mut self) -> Result<Counts, Failure> {
        match self.form {
            Form::Count => self.output.write(format!("{}\n", self.counts.selected).as_bytes())?,
            Form::CountAsJson => self.output.write_json(&self.counts)?,
            Form::Lines | Form::Nothing => {}
        }
        self.output.finish()?;
        Ok(self.counts)
    }
}

fn write_runs(
    output: &mut Output,
    piece: &Block<'_>,
    runs: &[Range<usize>],
    record_end: RecordEnd,
) -> Result<(), Failure> {
    let bytes = piece.bytes();
    for run in runs {
        output.write(&bytes[run.clone()])?;
        if bytes[..run.end].last() != Some(&record_end.byte()) {
            output.write(&[record_end.byte()])?;
        }
    }
    Ok(())
}

impl Counts {
    fn add(&mut self, more: Self) {
        self.all += more.all;
        self.selected += more.selected;
        self.without_key += more.without_key;
    }
}

/// Finds the selected records of a piece of the input.
#[derive(Default)]
struct Worker {
    /// Where they stand in the piece; neighbours are one.
    runs: Vec<Range<usize>>,
    counts: Counts,
    batch: Batch,
}

/// Neighbouring records that are answered together.
#[derive(Default)]
struct Batch {
    start: usize,
    digests: Vec<Digest>,
    /// Where in the piece each of them ends.
    ends: Vec<usize>,
    /// Those that have no key, if any.
    without_key: Vec<usize>,
    answers: Vec<bool>,
}

impl Worker {
    fn select(&mut self, filter: &CuckooFilterView<'_>, wanted: bool, piece: &Block<'_>) {
        self.runs.clear();
        self.counts = Counts::default();
        self.batch.start = 0;
        let hasher = *filter.hasher();
        piece.for_each_key(|key, end| {
            let batch = &mut self.batch;
            if key.is_none() {
                batch.without_key.push(batch.ends.len());
            }
            batch.digests.push(hasher.digest_bytes(key.unwrap_or_default()));
            batch.ends.push(end);
            if batch.digests.len() == BATCH_SIZE {
                self.answer(filter, wanted);
            }
        });
        self.answer(filter, wanted);
    }

    fn answer(&mut self, filter: &CuckooFilterView<'_>, wanted: bool) {
        let Batch { start, digests, ends, without_key, answers } = &mut self.batch;
        answers.resize(digests.len(), false);
        filter.contains_each_digest(digests, answers);
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
