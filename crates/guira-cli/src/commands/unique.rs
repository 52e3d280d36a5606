mod state;
mod times;

use std::mem;
use std::ops::{ControlFlow, Range};
use std::path::Path;

use guira::{CuckooFilter, Digest, ExpiringCuckooFilter, FilterBuilder, GrowthPolicy, InsertError};
use serde::Serialize;

#[cfg(unix)]
use super::intervals::{Intervals, Stored};
use super::warnings::{WithoutKey, warn_of_missing_keys};
use crate::arguments::UniqueArguments;
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, report};
use crate::filter::Filter;
use crate::keys::{BATCH_SIZE, Block, Input, Inputs, RecordEnd};
use crate::progress::Progress;
use crate::provenance::Provenance;
use crate::render::Output;
use crate::render::text::{self, counted};
use crate::secret_key::{SecretKey, hasher};
#[cfg(unix)]
use crate::signals::{EndingSignals, end_by};
use crate::stored_filter::StoredFilter;
use crate::time;
use state::State;
use times::{Moved, Times};

/// The share of new lines that are left out.
const RATE: f64 = 1e-6;

/// The distinct lines for which there is room at first: a megabyte and a half.
const CAPACITY: usize = 350_000;

/// How often the table is doubled at most before the rate rises: up to 90 million distinct lines. Each time takes a bit of each
/// fingerprint from the start on.
const DOUBLINGS: u32 = 8;

#[cfg(unix)]
const STORED_EVERY: std::time::Duration = std::time::Duration::from_secs(60);

pub(crate) fn run(arguments: &UniqueArguments) -> Result<ExitStatus, Failure> {
    arguments.inputs.refuse_contradictions()?;
    let inputs = arguments.inputs.inputs(arguments.normalization(), arguments.quiet);
    inputs.refuse_filters()?;
    if !arguments.count {
        inputs.refuse_standard_output()?;
    }
    if let Some(path) = &arguments.state {
        inputs.refuse_as_output(path)?;
    }
    // While a state is read, which takes long if it is large, there is a temporary file beside it.
    #[cfg(unix)]
    let signals = arguments.state.as_ref().map(|_| EndingSignals::new()).transpose()?;
    let mut work = Deduplication::new(arguments)?;
    let inputs = arguments.inputs.inputs(work.filter.provenance.normalization, arguments.quiet).in_small_blocks();
    let progress = Progress::of_bytes(inputs.size()).unless_output_is_terminal();
    #[cfg(unix)]
    let signal = if let Some(signals) = signals {
        let intervals = Intervals::new(STORED_EVERY, signals, work);
        let read = inputs
            .for_all_blocks_at(Some(&intervals), &progress, |input, block| intervals.stored().take_block(input, block));
        // What was printed before an error is stored.
        let (stored, signal) = intervals.finish(&read)?;
        work = stored;
        read?;
        signal
    } else {
        inputs.for_all_blocks_at(None, &progress, |input, block| work.take_block(input, block))?;
        None
    };
    #[cfg(not(unix))]
    {
        let read = inputs.for_all_blocks_at(None, &progress, |input, block| work.take_block(input, block));
        work.store_state()?;
        read?;
    }
    drop(progress);
    work.finish(&inputs)?;
    #[cfg(unix)]
    if let Some(signal) = signal {
        end_by(signal);
    }
    Ok(ExitStatus::Success)
}

/// Lines on their way through a filter, which remembers them.
struct Deduplication<'arguments> {
    arguments: &'arguments UniqueArguments,
    filter: StoredFilter,
    state: Option<State<'arguments>>,
    /// Where the time comes from, if lines are forgotten.
    times: Option<Times>,
    /// The name of the input that is read, its number, and how many of its lines are done.
    input: (String, Option<usize>),
    lines: u64,
    record_end: RecordEnd,
    output: Output,
    counts: Counts,
    /// The highest rate so far, as the number of lines that are remembered may fall.
    rate: f64,
    batch: Batch,
    /// The positions in a block of the records that are printed; adjacent ones are joined.
    runs: Vec<Range<usize>>,
    /// Whether the next header is printed before the first line.
    keeps_header: bool,
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
    /// Those that were left out since they have no time.
    #[serde(rename = "without_time_count", skip_serializing_if = "is_zero")]
    without_time: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Neighbouring records that are answered together.
#[derive(Default)]
struct Batch {
    digests: Vec<Digest>,
    /// Which of them were stored.
    stored: Vec<bool>,
    records: Vec<Record>,
}

struct Record {
    /// Where its keys end among those of the batch.
    keys: usize,
    /// Where it ends in the block.
    end: usize,
    /// Its time, if it has one and that is asked for.
    time: Option<u64>,
}

impl<'arguments> Deduplication<'arguments> {
    fn new(arguments: &'arguments UniqueArguments) -> Result<Self, Failure> {
        let (filter, state) = match &arguments.state {
            None => {
                let no_file = Path::new("");
                let key = SecretKey::read_if_given(arguments.key.file.as_deref())?;
                (StoredFilter::for_output(new_filter(arguments, key)?, provenance_of(arguments), no_file), None)
            }
            Some(path) => {
                let (filter, state) = State::open(path, arguments)?;
                (filter, Some(state))
            }
        };
        let times = match filter.filter.as_expiring() {
            Some(filter) => Some(Times::new(arguments, filter)?),
            None => refuse_times(arguments).map(|()| None)?,
        };
        Ok(Self {
            arguments,
            filter,
            state,
            times,
            input: (String::new(), None),
            lines: 0,
            record_end: arguments.inputs.form().end,
            output: Output::new(),
            counts: Counts::default(),
            rate: 0.0,
            batch: Batch::default(),
            runs: Vec::new(),
            keeps_header: arguments.keep_header,
        })
    }

    fn take_block(&mut self, input: &Input, block: &Block<'_>) -> Result<ControlFlow<()>, Failure> {
        if self.input.1 != Some(input.number()) {
            self.input = (input.name(), Some(input.number()));
            self.lines = 0;
        }
        if let (Some(times), Filter::Expiring(filter)) = (&self.times, &mut self.filter.filter) {
            times.begin_block(filter);
        }
        self.runs.clear();
        // Also where it fails, what is remembered of a block is printed: whoever goes on from the state has lost no line.
        let taken = self.take_records(block);
        self.rate = self.rate.max(self.filter.filter.expected_false_positive_rate());
        if !self.arguments.count {
            block.write_runs(&mut self.output, &self.runs, self.record_end)?;
            // The next block may take long to arrive.
            self.output.finish()?;
        }
        taken?;
        Ok(if self.output.is_closed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Remembers the keys of a block, and notes which of its records are printed.
    fn take_records(&mut self, block: &Block<'_>) -> Result<(), Failure> {
        let hasher = *self.filter.filter.hasher();
        let normalization = self.filter.provenance.normalization;
        if block.is_header() {
            self.lines += block.lines_between(0, block.bytes().len());
            if mem::take(&mut self.keeps_header) {
                let mut heading = block.bytes().to_vec();
                if heading.last() != Some(&self.record_end.byte()) {
                    heading.push(self.record_end.byte());
                }
                self.output.begin_with(heading);
            }
            return match self.times.as_mut().and_then(Times::of_lines) {
                Some(times) => times.read_header(block.bytes()).map_err(|error| Failure::of_io(&*self.input.0, &error)),
                None => Ok(()),
            };
        }
        let (mut start, mut last_end, mut answered) = (0, 0, Ok(()));
        block.for_each_key(|key, end| {
            if answered.is_err() {
                return;
            }
            let is_next = end != last_end;
            if is_next && self.batch.records.len().max(self.batch.digests.len()) >= BATCH_SIZE {
                answered = self.answer(&mut start, block);
            }
            let mut time = None;
            let mut digest = None;
            if is_next && let Some(times) = self.times.as_mut().and_then(Times::of_lines) {
                match times.of(&block.bytes()[last_end..end], normalization) {
                    Ok((found, key)) => (time, digest) = (found, key.map(|key| hasher.digest(key))),
                    Err(error) => answered = Err(Failure::of_io(&*self.input.0, &error)),
                }
            }
            self.batch.digests.extend(digest.or_else(|| key.map(|key| hasher.digest(key))));
            let keys = self.batch.digests.len();
            match self.batch.records.last_mut() {
                Some(record) if !is_next => record.keys = keys,
                _ => self.batch.records.push(Record { keys, end, time }),
            }
            last_end = end;
        });
        answered.and_then(|()| self.answer(&mut start, block))
    }

    /// Remembers the keys of a batch, and notes which of its records are printed. They begin at `start`, which is moved to
    /// their end.
    fn answer(&mut self, start: &mut usize, block: &Block<'_>) -> Result<(), Failure> {
        let mut batch = mem::take(&mut self.batch);
        let answered = self.answer_each(&mut batch, start, block);
        batch.digests.clear();
        batch.records.clear();
        self.batch = batch;
        answered
    }

    fn answer_each(&mut self, batch: &mut Batch, start: &mut usize, block: &Block<'_>) -> Result<(), Failure> {
        let Batch { digests, stored, records } = batch;
        self.grow_early(digests.len());
        stored.clear();
        stored.resize(digests.len(), false);
        // Keys are stored together, since each waits for memory, unless time moves on from line to line or what is there is renewed;
        // then looking for them together has the memory come.
        let is_line_by_line = self.arguments.renew || matches!(self.times, Some(Times::Lines(_)));
        let mut refused = None;
        if is_line_by_line {
            self.filter.filter.contains_many_into(digests, stored);
        } else {
            refused = self.filter.filter.insert_each_if_absent(digests, stored).err();
        }
        let mut first_key = 0;
        for record in &*records {
            let keys = mem::replace(&mut first_key, record.keys)..record.keys;
            let line = mem::replace(start, record.end)..record.end;
            if is_line_by_line {
                if self.move_on(record, line.start, block)? == Moved::Skipped {
                    self.counts.without_time += 1;
                    continue;
                }
                refused = self.remember(digests, keys.clone(), stored).err();
            }
            let end = refused.as_ref().map_or(keys.end, |(number, _)| keys.end.min(*number));
            let is_new = keys.is_empty() || stored[keys.start..end].contains(&true);
            if is_new || end == keys.end {
                self.note(is_new, keys.is_empty(), line);
            }
            if end < keys.end {
                break;
            }
        }
        refused.map_or(Ok(()), |(_, error)| Err(explain(&error)))
    }

    /// Makes the table larger before it is so full that most new keys have to search for a slot, which was two fifths of the time;
    /// but not where that would raise the rate, or where the capacity was given.
    fn grow_early(&mut self, keys: usize) {
        let filter = &mut self.filter.filter;
        let capacity = filter.capacity();
        let is_nearly_full = filter.len() + keys > capacity - capacity / 16;
        if is_nearly_full && capacity < filter.max_capacity() && self.arguments.capacity.is_none() {
            // If there is no memory for it, insertions go on as long as there is room, and say so then.
            filter.reserve(capacity / 8 + keys).ok();
        }
    }

    /// Moves the time on to that of a record.
    fn move_on(&mut self, record: &Record, start: usize, block: &Block<'_>) -> Result<Moved, Failure> {
        let (Some(Times::Lines(times)), Filter::Expiring(filter)) = (&mut self.times, &mut self.filter.filter) else {
            return Ok(Moved::On);
        };
        let line = self.lines + 1;
        self.lines += block.lines_between(start, record.end);
        let moved = times.move_on(filter, record.time, &block.bytes()[start..record.end]);
        moved.map_err(|wrong| Failure::of(&*self.input.0, format_args!("line {line}: {wrong}")))
    }

    /// Stores the keys of a record one by one, and says which are new; up to the first that can't be stored, whose number it
    /// returns with the reason.
    fn remember(
        &mut self,
        digests: &[Digest],
        keys: Range<usize>,
        stored: &mut [bool],
    ) -> Result<(), (usize, InsertError)> {
        for key in keys {
            let is_stored = match &mut self.filter.filter {
                Filter::Expiring(filter) if self.arguments.renew => filter.insert_or_renew(&digests[key]),
                filter => filter.insert_if_absent(&digests[key]),
            };
            stored[key] = is_stored.map_err(|error| (key, error))?;
        }
        Ok(())
    }

    /// Counts a record, and notes it if it is to be printed.
    fn note(&mut self, is_new: bool, has_no_key: bool, record: Range<usize>) {
        self.counts.all += 1;
        self.counts.without_key += u64::from(has_no_key);
        *(if is_new { &mut self.counts.new } else { &mut self.counts.repeated }) += 1;
        if is_new != self.arguments.repeated {
            match self.runs.last_mut() {
                Some(run) if run.end == record.start => run.end = record.end,
                _ => self.runs.push(record),
            }
        }
    }

    /// Says how many lines there were.
    fn finish(mut self, inputs: &Inputs) -> Result<(), Failure> {
        let Counts { all, new, repeated, without_key, without_time } = self.counts;
        let printed = if self.arguments.repeated { repeated } else { new };
        if self.arguments.json {
            self.output.write_json(&self.counts)?;
        } else if self.arguments.count {
            self.output.write(format!("{printed}\n").as_bytes())?;
        }
        self.output.finish()?;
        warn_of_missing_keys(&self.arguments.inputs, inputs, without_key, WithoutKey::Printed);
        if without_time > 0 {
            report(format_args!("warning: {} without a time, left out", counted(without_time, "line")));
        }
        self.warn_of_late_lines();
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
        self.rate.max(self.filter.filter.expected_false_positive_rate()).max(asked)
    }

    /// Warns of a time that was far ahead of those behind it, which then were not forgotten.
    fn warn_of_late_lines(&mut self) {
        let late = self.times.as_mut().and_then(Times::of_lines).map_or(0, |times| times.late);
        if late > 0 {
            report(format_args!(
                "warning: {} far behind the latest time, and taken as of that time: was it wrong?",
                counted(late, "line")
            ));
        }
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
            let text = "not saved, since not all lines could be written to standard output";
            return Err(Failure::of_file(state.path(), text));
        }
        state.save(&self.filter, self.counts.all + self.counts.without_time)
    }
}

/// An empty filter, whose hash has this secret key, if there is one.
fn new_filter(arguments: &UniqueArguments, key: Option<SecretKey>) -> Result<Filter, Failure> {
    let (capacity, rate) = (arguments.capacity.unwrap_or(CAPACITY), arguments.rate.unwrap_or(RATE));
    let hasher = hasher(key, 0);
    let filter = match arguments.lifetime {
        None => {
            let builder = growing(CuckooFilter::builder().hasher(hasher), capacity, rate);
            // For low rates, fingerprints have fewer bits to give away.
            let doublings = (0..=DOUBLINGS).rev().find(|&doublings| builder(doublings).parameters().is_ok());
            builder(doublings.unwrap_or(0)).build().map(Filter::from)
        }
        Some(lifetime) => {
            let resolution = resolution(arguments, lifetime);
            let builder = ExpiringCuckooFilter::builder().lifetime(lifetime).resolution(resolution);
            let builder = growing(builder.hasher(hasher), capacity, rate);
            // Where fingerprint and time have no bits for so many doublings, the first table would be larger instead: it is at most
            // twice as large as it must be for other reasons.
            let is_small = |doublings: &u32| {
                let parameters = builder(*doublings).parameters();
                parameters.is_ok_and(|first| first.capacity() / 5 < capacity as u64 / 2)
            };
            let doublings = (0..=DOUBLINGS).rev().find(is_small);
            builder(doublings.unwrap_or(0)).build().map(Filter::from)
        }
    };
    filter.map_err(|error| Failure::of_parameters(&error))
}

/// Builders of a filter that is doubled so often at most before its rate rises.
fn growing<T>(builder: FilterBuilder<T>, capacity: usize, rate: f64) -> impl Fn(u32) -> FilterBuilder<T> {
    move |doublings| {
        let builder = builder.clone().capacity(capacity).max_capacity(capacity.saturating_mul(1 << doublings));
        builder.false_positive_rate(rate).growth_policy(GrowthPolicy::RaiseRate)
    }
}

/// How much longer than its lifetime a line may be remembered.
fn resolution(arguments: &UniqueArguments, lifetime: u64) -> u64 {
    arguments.resolution.unwrap_or_else(|| time::usual_resolution(lifetime))
}

fn provenance_of(arguments: &UniqueArguments) -> Provenance {
    let rate = Some(arguments.rate.unwrap_or(RATE));
    let time_source = arguments.lifetime.map(|_| Times::source_of(arguments));
    Provenance { rate, normalization: arguments.normalization(), time_source, ..Provenance::default() }
}

/// Refuses what has a meaning only where lines are forgotten.
fn refuse_times(arguments: &UniqueArguments) -> Result<(), Failure> {
    let given = [
        ("--renew", arguments.renew),
        ("--resolution", arguments.resolution.is_some()),
        ("--time-field", arguments.time_field.is_some()),
        ("--now", arguments.now.given().is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => {
            Err(Failure::new(format_args!("{option} is for lines that are forgotten: give --for as well")))
        }
        None => Ok(()),
    }
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
