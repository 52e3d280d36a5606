use std::io::IsTerminal;
use std::ops::{ControlFlow, Range};

use bstr::{BStr, ByteSlice};
use guira::{Digest, KeyHasher};

use super::Counts;
use crate::arguments::{CheckArguments, Print, When};
use crate::failure::Failure;
use crate::filter_view::FilterView;
use crate::keys::{BATCH_SIZE, Block, RecordEnd};
use crate::render::Output;

/// Selects records, with any number of keys and filters, and prints the parts of them that were asked for.
pub(super) struct Detail<'names> {
    names: &'names [Vec<u8>],
    /// Whether a record is selected if some filter has one of its keys, or if none has.
    wanted: bool,
    print: Print,
    field_separator: u8,
    is_csv: bool,
    record_end: RecordEnd,
    max_count: u64,
    is_line_buffered: bool,
    /// The number of lines of the input before the next record.
    lines: u64,
    digests: Vec<Digest>,
    /// For each filter, its answers to all keys.
    answers: Vec<Vec<bool>>,
    text: Vec<u8>,
}

/// Neighbouring records that are answered together.
#[derive(Default)]
struct Batch<'block> {
    keys: Vec<&'block [u8]>,
    records: Vec<Record>,
}

struct Record {
    /// The record's keys among those of the batch.
    keys: Range<usize>,
    /// The record's position in the block.
    bytes: Range<usize>,
}

/// Where selected records are printed, with the labels and the name of the input.
type Printed<'to> = (&'to mut Output, &'to Labels, &'to [u8]);

impl<'names> Detail<'names> {
    /// `names` are those of the filters.
    pub(super) fn new(names: &'names [Vec<u8>], arguments: &CheckArguments) -> Self {
        Self {
            names,
            wanted: !arguments.invert_match,
            print: arguments.printed(),
            field_separator: arguments.inputs.separator().printed(),
            is_csv: arguments.inputs.is_csv(),
            record_end: arguments.inputs.form().end,
            max_count: arguments.max_count.map_or(u64::MAX, Into::into),
            is_line_buffered: arguments.line_buffered,
            lines: 0,
            digests: Vec::new(),
            answers: vec![Vec::new(); names.len()],
            text: Vec::new(),
        }
    }

    /// Begins an input.
    pub(super) fn begin(&mut self) {
        self.lines = 0;
    }

    /// Counts the records of a block, and prints those that are selected if there is an output.
    pub(super) fn take_block(
        &mut self,
        filters: &[FilterView<'_>],
        block: &Block<'_>,
        mut printed: Option<Printed<'_>>,
        counts: &mut Counts,
    ) -> Result<ControlFlow<()>, Failure> {
        let mut batch = Batch::default();
        let mut result = Ok(ControlFlow::Continue(()));
        let mut has_records = false;
        block.for_each_key(|key, end| {
            if !matches!(result, Ok(ControlFlow::Continue(()))) {
                return;
            }
            has_records = true;
            let start = batch.records.last().map_or(0, |record| record.bytes.end);
            if start < end {
                if batch.keys.len() >= BATCH_SIZE || batch.records.len() >= BATCH_SIZE {
                    result = self.answer(filters, block, &batch, &mut printed, counts);
                    batch.keys.clear();
                    batch.records.clear();
                }
                batch.records.push(Record { keys: batch.keys.len()..batch.keys.len(), bytes: start..end });
            }
            if let (Some(key), Some(record)) = (key, batch.records.last_mut()) {
                batch.keys.push(key);
                record.keys.end = batch.keys.len();
            }
        });
        if !has_records {
            self.lines += block.lines_between(0, block.bytes().len());
        }
        match result {
            Ok(ControlFlow::Continue(())) => self.answer(filters, block, &batch, &mut printed, counts),
            result => result,
        }
    }

    fn answer(
        &mut self,
        filters: &[FilterView<'_>],
        block: &Block<'_>,
        batch: &Batch<'_>,
        printed: &mut Option<Printed<'_>>,
        counts: &mut Counts,
    ) -> Result<ControlFlow<()>, Failure> {
        self.ask(filters, &batch.keys);
        for record in &batch.records {
            counts.all += 1;
            counts.without_key += u64::from(record.keys.is_empty());
            let is_found = self.answers.iter().any(|answers| answers[record.keys.clone()].contains(&true));
            let line = self.lines + 1;
            self.lines += block.lines_between(record.bytes.start, record.bytes.end);
            if is_found != self.wanted {
                continue;
            }
            counts.selected += 1;
            if let Some(printed) = printed {
                self.print(block, batch, record, line, printed)?;
            }
            if counts.selected >= self.max_count {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Looks up all keys in each filter.
    fn ask(&mut self, filters: &[FilterView<'_>], keys: &[&[u8]]) {
        let mut hasher: Option<&KeyHasher> = None;
        for (filter, answers) in filters.iter().zip(&mut self.answers) {
            if hasher != Some(filter.hasher()) {
                hasher = Some(filter.hasher());
                self.digests.clear();
                self.digests.extend(keys.iter().map(|key| filter.hasher().digest(key)));
            }
            answers.resize(keys.len(), false);
            filter.contains_many_into(&self.digests, answers);
        }
    }

    fn print(
        &mut self,
        block: &Block<'_>,
        batch: &Batch<'_>,
        record: &Record,
        line: u64,
        (output, labels, input): &mut Printed<'_>,
    ) -> Result<(), Failure> {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        let bytes = &block.bytes()[record.bytes.clone()];
        let is_found = |index: usize| self.answers.iter().any(|answers| answers[index]);
        let end = self.record_end.byte();
        match self.print {
            Print::Line => {
                labels.push(&mut text, input, line, || self.filters_with(record.keys.clone()));
                let found = record.keys.clone().filter(|&index| is_found(index)).map(|index| batch.keys[index]);
                labels.push_record(&mut text, bytes, self.record_end, found);
            }
            Print::Key => {
                for index in record.keys.clone().filter(|&index| is_found(index) == self.wanted) {
                    labels.push(&mut text, input, line, || self.filters_with(index..index + 1));
                    self.refuse_unless(self.record_end.delimits(batch.keys[index]), batch.keys[index], input, line)?;
                    text.extend_from_slice(batch.keys[index]);
                    text.push(end);
                }
            }
            Print::Fields => {
                labels.push(&mut text, input, line, || self.filters_with(record.keys.clone()));
                let is_alone = record.keys.len() == 1;
                for index in record.keys.clone() {
                    if index > record.keys.start {
                        text.push(self.field_separator);
                    }
                    let field = batch.keys[index];
                    // A value of JSON may hold any byte.
                    let is_one =
                        self.record_end.delimits(field) && (is_alone || !field.contains(&self.field_separator));
                    self.refuse_unless(self.is_csv || is_one, field, input, line)?;
                    self.push_field(&mut text, field);
                }
                text.push(end);
            }
        }
        output.write(&text)?;
        self.text = text;
        if self.is_line_buffered { output.finish() } else { Ok(()) }
    }

    /// Appends a field, in quotes where CSV needs them.
    fn push_field(&self, text: &mut Vec<u8>, field: &[u8]) {
        let special = [self.field_separator, self.record_end.byte(), b'"', b'\n', b'\r'];
        if !self.is_csv || field.find_byteset(special).is_none() {
            text.extend_from_slice(field);
            return;
        }
        text.push(b'"');
        text.extend_from_slice(&field.replace(b"\"", b"\"\""));
        text.push(b'"');
    }

    /// Refuses to print a key unless it would be read as what it is.
    fn refuse_unless(&self, is_one: bool, key: &[u8], input: &[u8], line: u64) -> Result<(), Failure> {
        if is_one {
            return Ok(());
        }
        let advice =
            if self.is_csv { "--print fields puts it in quotes" } else { "--print line prints the line as it is" };
        let place = format!("{}: line {line}", BStr::new(input));
        Err(Failure::of_undelimited(place, key, self.record_end, advice))
    }

    /// The names of the filters that have one of these keys.
    fn filters_with(&self, keys: Range<usize>) -> Vec<u8> {
        let has = |answers: &[bool]| answers[keys.clone()].contains(&true);
        let names = self.names.iter().zip(&self.answers).filter(|(_, answers)| has(answers));
        names.map(|(name, _)| &**name).collect::<Vec<_>>().join(&b","[..])
    }
}

/// The labels before selected records, and their colours.
pub(super) struct Labels {
    input: bool,
    line: bool,
    filters: bool,
    colors: bool,
    record_end: RecordEnd,
}

/// The colours of grep.
const INPUT: &str = "\x1b[35m";
const LINE: &str = "\x1b[32m";
const FILTERS: &str = "\x1b[33m";
const SEPARATOR: &str = "\x1b[36m";
const KEY: &str = "\x1b[1;31m";
const NORMAL: &str = "\x1b[0m";

impl Labels {
    pub(super) fn new(arguments: &CheckArguments, has_several_inputs: bool) -> Self {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let colors = match arguments.color {
            When::Always => true,
            When::Never => false,
            When::Auto => {
                std::io::stdout().is_terminal()
                    && !is_set("NO_COLOR")
                    && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
            }
        };
        Self {
            input: arguments.with_filename || (has_several_inputs && !arguments.no_filename),
            line: arguments.line_number,
            filters: arguments.which,
            colors,
            record_end: arguments.inputs.form().end,
        }
    }

    /// Returns `true` if anything is added to a selected line.
    pub(super) fn are_printed(&self) -> bool {
        self.input || self.line || self.filters || self.colors
    }

    fn push(&self, text: &mut Vec<u8>, input: &[u8], line: u64, filters: impl FnOnce() -> Vec<u8>) {
        if self.input {
            self.push_label(text, INPUT, input);
        }
        if self.line {
            self.push_label(text, LINE, line.to_string().as_bytes());
        }
        if self.filters {
            self.push_label(text, FILTERS, &filters());
        }
    }

    /// The header of an input as it is printed, with the labels of the lines below it; no filter has a key of it.
    pub(super) fn of_header(&self, input: &[u8], header: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        self.push(&mut text, input, 1, Vec::new);
        self.push_record(&mut text, header, self.record_end, std::iter::empty());
        text
    }

    fn push_label(&self, text: &mut Vec<u8>, color: &str, label: &[u8]) {
        self.push_colored(text, color, label);
        self.push_colored(text, SEPARATOR, b":");
    }

    fn push_colored(&self, text: &mut Vec<u8>, color: &str, bytes: &[u8]) {
        if self.colors {
            text.extend_from_slice(color.as_bytes());
        }
        text.extend_from_slice(bytes);
        if self.colors {
            text.extend_from_slice(NORMAL.as_bytes());
        }
    }

    /// Appends a record with its end. Keys that are only a part of it are coloured.
    fn push_record<'key>(
        &self,
        text: &mut Vec<u8>,
        record: &[u8],
        end: RecordEnd,
        keys: impl Iterator<Item = &'key [u8]>,
    ) {
        let mut start = 0;
        if self.colors {
            let content = end.strip(record);
            for key in keys.filter(|key| !key.is_empty() && key.len() < content.len()) {
                // A key without its quotes or escapes may not occur in the record.
                let Some(at) = place(record, key).or_else(|| record[start..].find(key).map(|at| start + at)) else {
                    continue;
                };
                if at >= start {
                    text.extend_from_slice(&record[start..at]);
                    self.push_colored(text, KEY, key);
                    start = at + key.len();
                }
            }
        }
        text.extend_from_slice(&record[start..]);
        if record.last() != Some(&end.byte()) {
            text.push(end.byte());
        }
    }

    /// Prints the number of selected lines of an input.
    pub(super) fn write_count(&self, output: &mut Output, input: &[u8], count: u64) -> Result<(), Failure> {
        let mut text = Vec::new();
        if self.input {
            self.push_label(&mut text, INPUT, input);
        }
        text.extend_from_slice(format!("{count}\n").as_bytes());
        output.write(&text)
    }

    /// Prints the name of an input, with the end that keys have.
    pub(super) fn write_name(&self, output: &mut Output, input: &[u8]) -> Result<(), Failure> {
        let mut text = Vec::new();
        self.push_colored(&mut text, INPUT, input);
        text.push(self.record_end.byte());
        output.write(&text)
    }
}

/// The position of a field in its record, if it is a slice of the record.
fn place(record: &[u8], field: &[u8]) -> Option<usize> {
    let at = (field.as_ptr() as usize).checked_sub(record.as_ptr() as usize)?;
    (record.get(at..at + field.len())? == field).then_some(at)
}
