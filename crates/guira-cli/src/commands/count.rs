use std::ffi::OsString;

use serde::Serialize;

use crate::arguments::CountArguments;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::filter_view::Filters;
use crate::render::Output;
use crate::secret_key::SecretKey;

pub(crate) fn run(arguments: &CountArguments) -> Result<ExitStatus, Failure> {
    let key = SecretKey::read_if_given(arguments.key.file.as_deref())?;
    let filters = Filters::open(&[&arguments.file], key, arguments.trust.trust(), arguments.now)?;
    let views = filters.views();
    let count = |key: &OsString| {
        let mut bytes = Vec::new();
        filters.normalization().apply(key.as_encoded_bytes(), &mut bytes);
        views[0].count(&bytes)
    };
    let counts: Vec<usize> = arguments.keys.iter().map(count).collect();
    let mut output = Output::new();
    if arguments.json {
        let keys = arguments.keys.iter().zip(&counts);
        let keys = keys.map(|(key, &count)| KeyCount { key: key.to_string_lossy().into_owned(), count }).collect();
        output.write_json(&Counts { keys })?;
    } else if !arguments.quiet {
        for (key, count) in arguments.keys.iter().zip(&counts) {
            output.write(format!("{count}\t").as_bytes())?;
            output.write(key.as_encoded_bytes())?;
            output.write(b"\n")?;
        }
    }
    output.finish()?;
    Ok(if counts.iter().any(|&count| count > 0) { ExitStatus::Success } else { ExitStatus::NotFound })
}

/// The field names are those of the JSON output and must not change.
#[derive(Debug, Serialize)]
struct Counts {
    keys: Vec<KeyCount>,
}

#[derive(Debug, Serialize)]
struct KeyCount {
    key: String,
    count: usize,
}
