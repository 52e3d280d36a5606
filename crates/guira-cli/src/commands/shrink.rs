use serde::Serialize;

use crate::arguments::ShrinkArguments;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::filter_file::FilterReplacement;
use crate::render::text::counted;
use crate::render::{Doublings, Report, tell};
use crate::secret_key::SecretKey;

pub(crate) fn run(arguments: &ShrinkArguments) -> Result<ExitStatus, Failure> {
    let key = SecretKey::read_if_given(arguments.key.file.as_deref())?;
    let (mut stored, replacement) =
        FilterReplacement::of_filter(&arguments.file, key, arguments.wait.with(arguments.quiet))?;
    arguments.now.bring(&arguments.file, &mut stored)?;
    if !stored.grows() {
        let text = "does not grow, so there is nothing to give back: build a smaller one from the keys";
        return Err(Failure::of_file(&arguments.file, text));
    }
    let filter = &mut stored.filter;
    let (size, halves) = (filter.size_in_bytes(), filter.parameters().half_doublings());
    filter.shrink_to_fit();
    let shrinkage = Shrinkage {
        file: arguments.file.display().to_string(),
        doublings_undone: Doublings { halves: halves - filter.parameters().half_doublings() },
        table_size_in_bytes_before: size as u64,
        table_size_in_bytes: filter.size_in_bytes() as u64,
    };
    if shrinkage.doublings_undone.halves > 0 {
        replacement.commit(&stored)?;
    }
    tell(&shrinkage, arguments.json, arguments.quiet)?;
    Ok(ExitStatus::Success)
}

/// What was done. The field names are those of the JSON output and must not change.
#[derive(Debug, Serialize)]
struct Shrinkage {
    file: String,
    doublings_undone: Doublings,
    table_size_in_bytes_before: u64,
    table_size_in_bytes: u64,
}

impl Report for Shrinkage {
    fn text(&self) -> String {
        let (before, now) =
            (counted(self.table_size_in_bytes_before, "byte"), counted(self.table_size_in_bytes, "byte"));
        if self.doublings_undone.halves == 0 {
            return format!("{}: as small as it can be", self.file);
        }
        format!("{}: {} undone, from {before} to {now}", self.file, self.doublings_undone.counted())
    }
}
