mod detail;
mod plain;

use std::mem;
use std::ops::ControlFlow;
use std::path::PathBuf;

use serde::Serialize;

use super::warnings::{WithoutKey, refuse_to_ignore_case, warn_of_missing_keys};
use crate::arguments::{CheckArguments, Print};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::filter_bytes;
use crate::filter_view::{FilterView, Filters, Replaced};
use crate::keys::{Block, Input, Inputs, KeyPart, Normalization};
use crate::progress::Progress;
use crate::render::Output;
use crate::secret_key::SecretKey;
use crate::threads;
use detail::{Detail, Labels};
use plain::Plain;

pub(crate) fn run(arguments: &CheckArguments) -> Result<ExitStatus, Failure> {
    threads::choose(arguments.threads.count)?;
    let (filters, first_input) = arguments.filters();
    arguments.inputs.refuse_contradictions()?;
    arguments.inputs.inputs_with(first_input, Normalization::default(), arguments.quiet).refuse_filters()?;
    let key = SecretKey::read_if_given(arguments.key.file.as_deref())?;
    let names: Vec<Vec<u8>> = filters.iter().map(|path| path.as_os_str().as_encoded_bytes().to_vec()).collect();
    let inputs = |normalization| arguments.inputs.inputs_with(first_input, normalization, arguments.quiet);
    refuse_standard_input_twice(&filters, &inputs(Normalization::default()))?;
    let opened = Filters::open(&filters, key, arguments.trust.trust(), arguments.now)?;
    refuse_to_ignore_case(arguments.ignore_case, &filters[0], opened.normalization())?;
    let inputs = inputs(opened.normalization());
    if !arguments.quiet {
        inputs.refuse_standard_output()?;
    }
    select(opened, &names, &inputs, arguments)
}

fn refuse_standard_input_twice(filters: &[PathBuf], inputs: &Inputs) -> Result<(), Failure> {
    let of_filters = filters.iter().filter(|path| filter_bytes::is_standard_input(path)).count();
    match (of_filters, inputs.iter().any(Input::is_standard_input)) {
        (0, _) | (1, false) => Ok(()),
        (1, true) => {
            Err(Failure::new("the filter comes from standard input, so the keys can't: give an input, or -e KEY"))
        }
        _ => Err(Failure::new("standard input is no more than one filter")),
    }
}

fn select(
    mut filters: Filters,
    names: &[Vec<u8>],
    inputs: &Inputs,
    arguments: &CheckArguments,
) -> Result<ExitStatus, Failure> {
    let progress = Progress::of_bytes(inputs.size()).unless_output_is_terminal();
    let mut selection = Selection::new(names, arguments, inputs.len() > 1);
    let mut failed = false;
    let replaced = match (arguments.follow, arguments.quiet) {
        (true, _) => Replaced::Followed,
        (false, false) => Replaced::Told,
        (false, true) => Replaced::Ignored,
    };
    for input in inputs.iter() {
        selection.begin(input.label());
        let result = input.for_each_block(&progress, |block| {
            // Its lines have come, so whatever was replaced before they came is seen here.
            filters.look_for_replaced(replaced)?;
            filters.expire()?;
            selection.take_block(&filters.views(), block)
        });
        let is_read = result.is_ok();
        if let Err(failure) = result {
            failure.report();
            failed = true;
        }
        // As in grep, the other inputs are still read after an error, unless the output is closed.
        selection.end(is_read)?;
        if selection.is_answered() || selection.output.is_closed() {
            break;
        }
    }
    drop(progress);
    let counts = selection.finish()?;
    warn_of_missing_keys(&arguments.inputs, inputs, counts.without_key, WithoutKey::Answered);
    Ok(match (counts.selected > 0, failed) {
        (true, true) if arguments.quiet => ExitStatus::Success,
        (_, true) => ExitStatus::Error,
        (false, false) => ExitStatus::NotFound,
        (true, false) => ExitStatus::Success,
    })
}

/// Selects lines, and counts or prints them.
struct Selection<'names> {
    engine: Engine<'names>,
    form: Form,
    labels: Labels,
    output: Output,
    /// The counts of all finished inputs.
    counts: Counts,
    /// The counts of the current input.
    input_counts: Counts,
    /// The name of the current input.
    input: Vec<u8>,
    /// Whether the next header is printed before the first line.
    keeps_header: bool,
}

/// How lines are selected.
enum Engine<'names> {
    /// One filter, one key per record, printed unchanged: on all processors.
    Plain(Plain),
    Detail(Box<Detail<'names>>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Lines,
    Count,
    CountAsJson,
    FilesWithMatches,
    FilesWithoutMatch,
    Nothing,
}

/// Numbers of records. The field names are those of the JSON output and must not change.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Counts {
    #[serde(rename = "record_count")]
    all: u64,
    #[serde(rename = "selected_count")]
    selected: u64,
    #[serde(rename = "without_key_count")]
    without_key: u64,
}

impl<'names> Selection<'names> {
    fn new(names: &'names [Vec<u8>], arguments: &CheckArguments, has_several_inputs: bool) -> Self {
        let form = match arguments {
            CheckArguments { count: true, json: true, .. } => Form::CountAsJson,
            CheckArguments { count: true, .. } => Form::Count,
            CheckArguments { quiet: true, .. } => Form::Nothing,
            CheckArguments { files_with_matches: true, .. } => Form::FilesWithMatches,
            CheckArguments { files_without_match: true, .. } => Form::FilesWithoutMatch,
            _ => Form::Lines,
        };
        let labels = Labels::new(arguments, has_several_inputs);
        let is_plain = matches!(names, [_])
            && has_one_key(&arguments.inputs.form().part)
            && arguments.max_count.is_none()
            && (form != Form::Lines
                || (arguments.printed() == Print::Line && !labels.are_printed() && !arguments.line_buffered));
        let engine = if is_plain {
            Engine::Plain(Plain::new(arguments))
        } else {
            Engine::Detail(Box::new(Detail::new(names, arguments)))
        };
        Self {
            engine,
            form,
            labels,
            output: Output::new(),
            counts: Counts::default(),
            input_counts: Counts::default(),
            input: Vec::new(),
            keeps_header: arguments.keep_header,
        }
    }

    /// Begins an input with this name.
    fn begin(&mut self, input: Vec<u8>) {
        self.input = input;
        self.input_counts = Counts::default();
        if let Engine::Detail(detail) = &mut self.engine {
            detail.begin();
        }
    }

    fn take_block(&mut self, filters: &[FilterView<'_>], block: &Block<'_>) -> Result<ControlFlow<()>, Failure> {
        if block.is_header() && mem::take(&mut self.keeps_header) {
            self.output.begin_with(self.labels.of_header(&self.input, block.bytes()));
        }
        let Self { engine, form, labels, output, input, input_counts, .. } = self;
        let mut printed = (*form == Form::Lines).then_some(&mut *output);
        let flow = match engine {
            Engine::Plain(plain) => {
                plain.take_block(&filters[0], block, printed.as_deref_mut(), input_counts)?;
                ControlFlow::Continue(())
            }
            Engine::Detail(detail) => detail.take_block(
                filters,
                block,
                printed.as_deref_mut().map(|output| (output, &*labels, &**input)),
                input_counts,
            )?,
        };
        // The next block may take long to arrive.
        if let Some(output) = printed {
            output.finish()?;
        }
        let is_known = matches!(self.form, Form::Nothing | Form::FilesWithMatches | Form::FilesWithoutMatch)
            && self.input_counts.selected > 0;
        Ok(if is_known || self.output.is_closed() { ControlFlow::Break(()) } else { flow })
    }

    /// Ends an input. A count, or the name of an input without selected lines, is printed only if all of it could be read.
    fn end(&mut self, is_read: bool) -> Result<(), Failure> {
        self.counts.add(self.input_counts);
        let has_selected = self.input_counts.selected > 0;
        let is_named = match self.form {
            Form::Count => {
                if is_read {
                    let count = self.input_counts.selected;
                    self.labels.write_count(&mut self.output, &self.input, count)?;
                }
                false
            }
            Form::FilesWithMatches => has_selected,
            Form::FilesWithoutMatch => is_read && !has_selected,
            Form::Lines | Form::CountAsJson | Form::Nothing => false,
        };
        if is_named {
            self.labels.write_name(&mut self.output, &self.input)?;
        }
        Ok(())
    }

    /// Returns `true` if the rest of the inputs can't change the result.
    fn is_answered(&self) -> bool {
        self.form == Form::Nothing && self.counts.selected > 0
    }

    /// Writes the final report and flushes the output.
    fn finish(mut self) -> Result<Counts, Failure> {
        if self.form == Form::CountAsJson {
            self.output.write_json(&self.counts)?;
        }
        self.output.finish()?;
        Ok(self.counts)
    }
}

/// Returns `true` if a record has one key at most.
fn has_one_key(part: &KeyPart) -> bool {
    use crate::keys::FieldChoice::Listed;
    match part {
        KeyPart::Whole => true,
        KeyPart::Fields(fields) | KeyPart::CsvFields(fields) => {
            matches!(&fields.choice, Listed(indices) if indices.len() == 1)
        }
        KeyPart::Named { names, .. } => names.len() == 1,
        // The value may be an array, of several keys.
        KeyPart::Json(_) => false,
    }
}

impl Counts {
    fn add(&mut self, more: Self) {
        self.all += more.all;
        self.selected += more.selected;
        self.without_key += more.without_key;
    }
}
