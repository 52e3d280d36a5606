use clap::CommandFactory;

use crate::arguments::{Arguments, CompletionsArguments};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::render::Output;

pub(crate) fn run(arguments: &CompletionsArguments) -> Result<ExitStatus, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "guira", &mut script);
    let mut output = Output::new();
    output.write(&script)?;
    output.finish()?;
    Ok(ExitStatus::Success)
}
