mod state;

use std::ops::{ControlFlow, Range};
use std::path::Path;

use guira::{CuckooFilter, Digest, GrowthPolicy, InsertError};
use serde::Serialize;

#[cfg(unix)]
use super::intervals::{Intervals, Stored};
use super::warnings::{WithoutKey, warn_of_missing_fields};
use crate::arguments::UniqueArguments;
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, report};
use crate::keys::{BATCH_SIZE, Block, RecordEnd};
use crate::progress::Progress;
use crate::provenance::Provenance;
use crate::render::Output;
use crate::render::text::{self, counted};
use crate::stored_filter::StoredFilter;
use state::State;

/// The share of new lines that are left out.
const RATE: f64 = 1e-6;

/// The distinct lines for which there is room at first: some two megabytes.
const CAPACITY: usize = 350_000;

/// How often the table is doubled at most before the rate rises. Each time takes a bit of each fingerprint from the start on.
const DOUBLINGS: u32 = 9;

#[cfg(unix)]
const STORED_EVERY: std::time::Duration = std::time::Duration::from_secs(60);

pub(crate) fn run(arguments: &UniqueArguments) -> Result<ExitStatus, Failure> {
    arguments.inputs.refuse_contradictions()?;
    let inputs = arguments.inputs.inputs(arguments.normalization(), arguments.quiet);
    inputs.refuse_filters()?;
    if let Some(path) = &arguments.state {
        inputs.refuse_as_output(path)?;
    }
    let mut work = Deduplication::new(arguments)?;
    let inputs = arguments.inputs.inputs(work.filter.provenance.normalization, arguments.quiet);
    let progress = Progress::of_bytes(inputs.size()).unless_output_is_terminal();
    #[cfg(unix)]
    let signal = if work.state.is_some() {
        let intervals = Intervals::new(STORED_EVERY, work)?;
        let read = inputs.for_all_blocks_at(Some(&intervals), &progress, |block| intervals.stored().take_block(block));
        // What was printed before an error is stored.
        let (stored, signal) = intervals.finish()?;
        work = stored;
        read?;
        signal
    } else {
        inputs.for_all_blocks_at(None, &progress, |block| work.take_block(block))?;
        None
    };
    #[cfg(not(unix))]
    {
        let read = inputs.for_all_blocks_at(None, &progress, |block| work.take_block(block));
        work.store_state()?;
        read?;
    }
    drop(progress);
    work.finish()?;
    #[cfg(unix)]
    if let Some(signal) = signal {
        crate::signals::end_by(signal);
    }
    Ok(ExitStatus::Success)
}

/// Lines on their way through a filter, which remembers them.
struct Deduplication<'arguments> {
    arguments: &'arguments UniqueArguments,
    filter: StoredFilter,
    state: Option<State<'arguments>>,
    record_end: RecordEnd,
    output: Output,
    counts: Counts,
    batch: Batch,
    /// The positions in a block of the records that are printed; adjacent ones are joined.
    runs: Vec<Range<usize>>,
}

/// Numbers of records. The field names are those of the JSON output and must not change.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Counts {
    #[serde(rename = "record_count")]
    all: u64,
    #[serde(rename = "new_count")]
    new: u64,
    #[serde(rename = "repeated_count")]
    repeated: u64,
    #[serde(rename = "without_key_count")]
    without_key: u64,
}

/// Neighbouring records that are answered together.
#[derive(Default)]
struct Batch {
    digests: Vec<Digest>,
    answers: Vec<bool>,
    records: Vec<Record>,
}

struct Record {
    /// Where its keys end among those of the batch.
    keys: usize,
    /// Where it ends in the block.
    end: usize,
}

impl<'arguments> Deduplication<'arguments> {
    fn new(arguments: &'arguments UniqueArguments) -> Result<Self, Failure> {
        let (filter, state) = match &arguments.state {
            None => {
                let no_file = Path::new("");
                (StoredFilter::for_output(new_filter(arguments)?, provenance_of(arguments), no_file), None)
            }
            Some(path) => {
                let (filter, state) = State::open(path, arguments)?;
                (filter, Some(state))
            }
        };
        Ok(Self {
            arguments,
            filter,
            state,
            record_end: arguments.inputs.form().end,
            output: Output::new(),
            counts: Counts::default(),
            batch: Batch::default(),
            runs: Vec::new(),
        })
    }

    fn take_block(&mut self, block: &Block<'_>) -> Result<ControlFlow<()>, Failure> {
        let hasher = *self.filter.filter.hasher();
        let (mut start, mut last_end, mut answered) = (0, 0, Ok(()));
        self.runs.clear();
        block.for_each_key(|key, end| {
            if answered.is_err() {
                return;
            }
            let is_next = end != last_end;
            if is_next && self.batch.records.len().max(self.batch.digests.len()) >= BATCH_SIZE {
                answered = self.answer(&mut start);
            }
            self.batch.digests.extend(key.map(|key| hasher.digest(key)));
            let keys = self.batch.digests.len();
            match self.batch.records.last_mut() {
                Some(record) if !is_next => record.keys = keys,
                _ => self.batch.records.push(Record { keys, end }),
            }
            last_end = end;
        });
        answered.and_then(|()| self.answer(&mut start))?;
        if !self.arguments.count {
            block.write_runs(&mut self.output, &self.runs, self.record_end)?;
            // The next block may take long to arrive.
            self.output.finish()?;
        }
        Ok(if self.output.is_closed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Remembers the keys of a batch, and notes which of its records are printed. They begin at `start`, which is moved to
    /// their end.
    fn answer(&mut self, start: &mut usize) -> Result<(), Failure> {
        let Batch { digests, answers, records } = &mut self.batch;
        answers.clear();
        answers.resize(digests.len(), false);
        // All at once, since each waits for memory. Those that are new are looked for once more, which no longer waits.
        self.filter.filter.contains_many_into(digests, answers);
        for (digest, is_there) in digests.iter().zip(&mut *answers) {
            if !*is_there {
                *is_there = !self.filter.filter.insert_if_absent(digest).map_err(|error| explain(&error))?;
            }
        }
        let mut first_key = 0;
        for record in &*records {
            let answers = &answers[first_key..record.keys];
            let is_new = answers.is_empty() || answers.contains(&false);
            self.counts.all += 1;
            self.counts.without_key += u64::from(answers.is_empty());
            *(if is_new { &mut self.counts.new } else { &mut self.counts.repeated }) += 1;
            if is_new != self.arguments.repeated {
                match self.runs.last_mut() {
                    Some(run) if run.end == *start => run.end = record.end,
                    _ => self.runs.push(*start..record.end),
                }
            }
            (first_key, *start) = (record.keys, record.end);
        }
        digests.clear();
        records.clear();
        Ok(())
    }

    /// Says how many lines there were.
    fn finish(mut self) -> Result<(), Failure> {
        let Counts { all, new, repeated, without_key } = self.counts;
        let printed = if self.arguments.repeated { repeated } else { new };
        if self.arguments.json {
            self.output.write_json(&self.counts)?;
        } else if self.arguments.count {
            self.output.write(format!("{printed}\n").as_bytes())?;
        }
        self.output.finish()?;
        warn_of_missing_fields(&self.arguments.inputs, without_key, WithoutKey::Printed);
        self.warn_of_rate();
        if !(self.arguments.quiet || self.arguments.count || self.output.is_closed()) {
            let (lines, printed) = (counted(all, "line"), text::count(printed));
            let rate = text::rate(self.rate());
            report(format_args!("{lines}, {printed} printed; new ones are taken for repeated at a rate of {rate}"));
        }
        Ok(())
    }

    /// The rate that was asked for, or the present one if that is higher.
    fn rate(&self) -> f64 {
        let asked = self.filter.provenance.rate.unwrap_or(0.0);
        self.filter.filter.expected_false_positive_rate().max(asked)
    }

    fn warn_of_rate(&self) {
        if let Some(asked) = self.filter.provenance.rate
            && self.rate() > asked
        {
            let (rate, asked) = (text::rate(self.rate()), text::rate(asked));
            report(format_args!(
                "warning: more distinct lines than the rate of {asked} is kept for, and it has risen to {rate}: give \
                 --capacity LINES"
            ));
        }
    }
}

#[cfg(unix)]
impl Stored for Deduplication<'_> {
    fn store(&mut self) -> Result<(), Failure> {
        self.store_state()
    }
}

impl Deduplication<'_> {
    /// Saves the state, if there is one and all that it remembers was printed.
    fn store_state(&mut self) -> Result<(), Failure> {
        let Some(state) = &mut self.state else { return Ok(()) };
        if self.output.is_closed() {
            let text = "not saved, since standard output was closed before all lines were printed";
            return Err(Failure::of_file(state.path(), text));
        }
        state.save(&self.filter)
    }
}

/// An empty filter, and the rate that it is made for.
fn new_filter(arguments: &UniqueArguments) -> Result<CuckooFilter, Failure> {
    let capacity = arguments.capacity.unwrap_or(CAPACITY);
    let builder = |doublings: u32| {
        CuckooFilter::builder()
            .capacity(capacity)
            .max_capacity(capacity.saturating_mul(1 << doublings))
            .false_positive_rate(arguments.rate.unwrap_or(RATE))
            .growth_policy(GrowthPolicy::RaiseRate)
    };
    // For low rates, fingerprints have fewer bits to give away.
    let doublings = (0..=DOUBLINGS).rev().find(|&doublings| builder(doublings).parameters().is_ok()).unwrap_or(0);
    builder(doublings).build().map_err(|error| Failure::of_parameters(&error))
}

fn provenance_of(arguments: &UniqueArguments) -> Provenance {
    let rate = Some(arguments.rate.unwrap_or(RATE));
    Provenance { rate, normalization: arguments.normalization(), ..Provenance::default() }
}

fn explain(error: &InsertError) -> Failure {
    match error {
        InsertError::OutOfMemory { bytes } => Failure::new(format_args!(
            "not enough memory to remember more lines: the next table takes {}; a higher --rate takes less",
            counted(*bytes, "byte")
        )),
        error => Failure::new(format_args!("no more lines can be remembered: {error}")),
    }
}
