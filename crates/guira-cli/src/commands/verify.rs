use std::path::Path;

use serde::Serialize;

use crate::arguments::VerifyArguments;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::inspection::{Inspection, Secret};
use crate::render::{Output, escaped, names};
use crate::secret_key::SecretKey;

pub(crate) fn run(arguments: &VerifyArguments) -> Result<ExitStatus, Failure> {
    let key = SecretKey::read_if_given(arguments.key.file.as_deref())?;
    let mut output = Output::new();
    let mut verdicts = Vec::new();
    for path in &arguments.files {
        let verdict = Verdict::of(path, key);
        if arguments.quiet {
            if let Some(problem) = &verdict.problem {
                Failure::of_file(path, problem).report();
            }
        } else if !arguments.json {
            output.write(format!("{}: {}\n", escaped(&verdict.file), verdict.text()).as_bytes())?;
        }
        verdicts.push(verdict);
    }
    let all_are_ok = verdicts.iter().all(|verdict| verdict.is_ok);
    if arguments.json {
        output.write_json(&Verdicts { files: verdicts })?;
    }
    output.finish()?;
    Ok(if all_are_ok { ExitStatus::Success } else { ExitStatus::Error })
}

/// The field names are those of the JSON output and must not change.
#[derive(Debug, Serialize)]
struct Verdicts {
    files: Vec<Verdict>,
}

#[derive(Debug, Serialize)]
struct Verdict {
    file: String,
    is_ok: bool,
    /// What is wrong with the file.
    problem: Option<String>,
    key_count: Option<u64>,
    /// Whether the journal ends with changes that were not written to their end.
    has_incomplete_changes: bool,
    /// What is known of the secret key, if the filter has one.
    secret_key: Option<&'static str>,
}

impl Verdict {
    fn of(path: &Path, key: Option<SecretKey>) -> Self {
        let file = path.display().to_string();
        match Inspection::of_whole_file(path, key) {
            Ok(inspection) => Self {
                file,
                is_ok: true,
                problem: None,
                key_count: Some(inspection.key_count()),
                has_incomplete_changes: inspection.journal.is_cut_off(),
                secret_key: names::secret(inspection.secret),
            },
            Err(failure) => Self {
                file,
                is_ok: false,
                problem: Some(failure.message().to_owned()),
                key_count: None,
                has_incomplete_changes: false,
                secret_key: None,
            },
        }
    }

    fn text(&self) -> String {
        if let Some(problem) = &self.problem {
            return problem.clone();
        }
        let mut text = "OK".to_owned();
        if self.secret_key == names::secret(Secret::NotGiven) {
            text.push_str(", as far as is seen without its secret key");
        }
        if self.has_incomplete_changes {
            text.push_str("; the last changes were not written to their end, and do not count");
        }
        text
    }
}
