use std::ops::ControlFlow;

use guira::{CuckooFilter, Digest};

use crate::arguments::CheckArguments;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::filter_file;
use crate::keys::{BATCH_SIZE, Inputs, for_each_key_of_block};
use crate::progress::Progress;
use crate::render::Output;

pub(crate) fn run(arguments: &CheckArguments) -> Result<ExitStatus, Failure> {
    let filter = filter_file::load(&arguments.file)?;
    let inputs = Inputs::named(&arguments.inputs.inputs);
    let progress = Progress::of_bytes(inputs.size()).unless_output_is_terminal();
    let mut selection = Selection::new(&filter, arguments);
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
    let selected = selection.finish()?;
    Ok(match (selected, failed) {
        (1.., true) if arguments.quiet => ExitStatus::Success,
        (_, true) => ExitStatus::Error,
        (0, false) => ExitStatus::NotFound,
        (1.., false) => ExitStatus::Success,
    })
}

/// The lines that are selected, on their way out.
struct Selection<'filter> {
    filter: &'filter CuckooFilter,
    /// What the filter says of a line that is selected.
    wanted: bool,
    form: Form,
    output: Output,
    selected: u64,
    batch: Batch,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Lines,
    Count,
    Nothing,
}

/// Lines that are answered together.
#[derive(Default)]
struct Batch {
    digests: Vec<Digest>,
    /// Where in the block each of them ends.
    ends: Vec<usize>,
    answers: Vec<bool>,
}

impl<'filter> Selection<'filter> {
    fn new(filter: &'filter CuckooFilter, arguments: &CheckArguments) -> Self {
        let form = match (arguments.count, arguments.quiet) {
            (true, _) => Form::Count,
            (false, true) => Form::Nothing,
            (false, false) => Form::Lines,
        };
        let wanted = !arguments.invert;
        Self { filter, wanted, form, output: Output::new(), selected: 0, batch: Batch::default() }
    }

    fn take_block(&mut self, block: &[u8]) -> Result<ControlFlow<()>, Failure> {
        let hasher = *self.filter.hasher();
        let mut start = 0;
        let mut result = Ok(());
        for_each_key_of_block(block, |key, end| {
            self.batch.digests.push(hasher.digest_bytes(key));
            self.batch.ends.push(end);
            if end == block.len() || self.batch.digests.len() == BATCH_SIZE {
                if result.is_ok() {
                    result = self.answer(block, start);
                }
                start = end;
            }
        });
        result?;
        let is_answered = self.form == Form::Nothing && self.selected > 0;
        Ok(if is_answered || self.output.is_closed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Answers a batch of neighbouring lines of a block, the first of which starts at `start`.
    fn answer(&mut self, block: &[u8], start: usize) -> Result<(), Failure> {
        let Batch { digests, ends, answers } = &mut self.batch;
        answers.resize(digests.len(), false);
        self.filter.contains_each_digest(digests, answers);
        // Neighbouring lines that are selected are written as one.
        let (mut pending, mut line) = (start, start);
        for (&answer, &end) in answers.iter().zip(&*ends) {
            if answer == self.wanted {
                self.selected += 1;
            } else {
                if self.form == Form::Lines && pending < line {
                    self.output.write(&block[pending..line])?;
                }
                pending = end;
            }
            line = end;
        }
        digests.clear();
        ends.clear();
        if self.form == Form::Lines && pending < line {
            self.output.write(&block[pending..line])?;
            if block[..line].last() != Some(&b'\n') {
                self.output.write(b"\n")?;
            }
        }
        Ok(())
    }

    /// Writes what is left to write, and says how many lines were selected.
    fn finish(mut self) -> Result<u64, Failure> {
        if self.form == Form::Count {
            self.output.write(format!("{}\n", self.selected).as_bytes())?;
        }
        self.output.finish()?;
        Ok(self.selected)
    }
}
