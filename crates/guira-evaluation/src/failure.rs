use std::fmt;
use std::io;

/// Why there is no report. A wrong answer of a filter fails the whole run, since its figures would mean nothing.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Keys that were inserted are denied.
    KeysLost { contender: String, lost: u64, of: u64 },
    /// More absent keys are found than chance explains.
    RateTooHigh { contender: String, found: u64, of: u64, expected: f64 },
    /// Keys are still stored after all were removed.
    KeysLeft { contender: String, left: u64 },
    /// One call for all keys gives other answers than a call for each.
    AnswersDiffer { contender: String, single: u64, batch: u64 },
    /// The filter could not be built.
    NotBuilt { contender: String, reason: String },
    /// A program to be recorded could not be run.
    NotRun { command: String, reason: String },
    /// An earlier result could not be read.
    NotRead { path: std::path::PathBuf, reason: String },
    /// A file could not be written.
    NotWritten { path: std::path::PathBuf, reason: String },
}

impl Failure {
    pub(crate) fn not_built(contender: &str, reason: impl fmt::Display) -> Self {
        Self::NotBuilt { contender: contender.to_owned(), reason: reason.to_string() }
    }

    pub(crate) fn not_written(path: &std::path::Path, reason: impl fmt::Display) -> Self {
        Self::NotWritten { path: path.to_owned(), reason: reason.to_string() }
    }

    pub(crate) fn not_read(path: &std::path::Path, reason: impl fmt::Display) -> Self {
        Self::NotRead { path: path.to_owned(), reason: reason.to_string() }
    }

    /// Prints the message to standard error. If that is closed, it is lost.
    pub(crate) fn report(&self) {
        use std::io::Write;
        writeln!(io::stderr().lock(), "guira-evaluation: {self}").ok();
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeysLost { contender, lost, of } => write!(
                formatter,
                "{contender} denies {lost} of {of} keys that were inserted; it is wrong, and so is every figure of it"
            ),
            Self::RateTooHigh { contender, found, of, expected } => {
                write!(
                    formatter,
                    "{contender} finds {found} of {of} absent keys, where a rate of {expected} is expected"
                )
            }
            Self::KeysLeft { contender, left } => {
                write!(formatter, "{contender} holds {left} keys after all were removed")
            }
            Self::AnswersDiffer { contender, single, batch } => {
                write!(formatter, "{contender} finds {single} keys one by one, but {batch} in a batch")
            }
            Self::NotBuilt { contender, reason } => write!(formatter, "{contender} could not be built: {reason}"),
            Self::NotRun { command, reason } => write!(formatter, "{command}: {reason}"),
            Self::NotRead { path, reason } | Self::NotWritten { path, reason } => {
                write!(formatter, "{}: {reason}", path.display())
            }
        }
    }
}

impl core::error::Error for Failure {}
