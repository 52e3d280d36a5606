use clap::CommandFactory;
use clap_mangen::Man;

use crate::arguments::{Arguments, ManArguments};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::render::Output;

pub(crate) fn run(arguments: &ManArguments) -> Result<ExitStatus, Failure> {
    if let Some(directory) = &arguments.output_dir {
        clap_mangen::generate_to(Arguments::command(), directory)
            .map_err(|error| Failure::of_io(directory.display().to_string(), &error))?;
        return Ok(ExitStatus::Success);
    }
    let mut page = Vec::new();
    Man::new(Arguments::command()).render(&mut page).map_err(Failure::new)?;
    let mut output = Output::new();
    output.write(&page)?;
    output.finish()?;
    Ok(ExitStatus::Success)
}
