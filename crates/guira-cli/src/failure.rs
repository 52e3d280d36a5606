use std::fmt;
use std::io;
use std::path::Path;

use guira::{BuildError, LoadError};

use crate::filter_bytes;
use crate::keys::{Examples, RecordEnd};
use crate::render::{escaped, text};
use crate::time;

/// Why a command could not do its work: one line for the person who must act.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The file or stream concerned, if any.
    subject: Option<String>,
    message: String,
}

impl Failure {
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self { subject: None, message: message.to_string() }
    }

    pub(crate) fn of_file(path: &Path, message: impl fmt::Display) -> Self {
        Self::of(path.display().to_string(), message)
    }

    pub(crate) fn of(subject: impl Into<String>, message: impl fmt::Display) -> Self {
        Self { subject: Some(subject.into()), message: message.to_string() }
    }

    pub(crate) fn of_io(subject: impl Into<String>, error: &io::Error) -> Self {
        Self::of(subject, without_code(error))
    }

    pub(crate) fn of_loading(path: &Path, error: &LoadError) -> Self {
        if filter_bytes::is_standard_input(path) {
            return Self::of_loading(Path::new("standard input"), error);
        }
        match error {
            LoadError::Io(error) => Self::of_file(path, without_code(error)),
            LoadError::NotGuira => {
                Self::of_file(path, format_args!("{error}; guira build makes one of a list of keys"))
            }
            LoadError::Truncated { found: 0, .. } => {
                Self::of_file(path, "an empty file, and no filter: guira build makes one of a list of keys")
            }
            LoadError::Truncated { found, expected } => {
                let (found, expected) = (text::counted(*found, "byte"), text::count(*expected));
                Self::of_file(path, format_args!("cut off: {found} where there should be at least {expected}"))
            }
            LoadError::OtherKind { found, .. } => Self::of_file(
                path,
                format_args!("holds a {found}, which this command is not for: guira info says more about it"),
            ),
            LoadError::SecretKeyMissing => Self::of_file(path, "made with a secret hash key: give it with --key-file"),
            LoadError::SecretKeyNotUsed => Self::of_file(path, "made without a secret hash key: leave out --key-file"),
            error => Self::of_file(path, error),
        }
    }

    /// Why there is no filter with the parameters asked for, in the words of the command line.
    pub(crate) fn of_parameters(error: &BuildError) -> Self {
        match *error {
            BuildError::Capacity { given, most } if given > 0 => {
                let (keys, slots) = (text::counted(given, "key"), text::count(most));
                Self::new(format_args!(
                    "a capacity of {keys} is too large: the largest table with such buckets has {slots} slots"
                ))
            }
            BuildError::Resolution { given, lifetime } => {
                let fault = if given > lifetime { "long" } else { "short" };
                let [given, least, lifetime] = [given, lifetime.div_ceil(254), lifetime].map(time::duration);
                Self::new(format_args!(
                    "a --resolution of {given} is too {fault} for {lifetime}: give one from {least}, a 254th of that, to {lifetime}"
                ))
            }
            // Values are the times of keys here.
            BuildError::RateTooLowWithValues { value_bits, .. } => Self::new(format_args!(
                "so low a rate is not for keys that expire: a fingerprint has at most 56 bits together with the {} for its time; \
                 give a higher --rate, or a coarser --resolution",
                text::counted(value_bits.into(), "bit")
            )),
            BuildError::OutOfMemory { bytes } => {
                Self::new(format_args!("not enough memory: the table takes {}", text::counted(bytes, "byte")))
            }
            BuildError::SlotsPerBucket { given: 1, .. } | BuildError::GrowingSlotsPerBucket { given: 1 } => {
                Self::new(error.to_string().replacen("1 slots", "1 slot", 1))
            }
            _ => Self::new(error),
        }
    }

    /// Why a key is not printed where others end with this.
    pub(crate) fn of_undelimited(subject: impl Into<String>, key: &[u8], end: RecordEnd, advice: &str) -> Self {
        let mut shown = Examples::default();
        shown.add(key);
        let form = match end {
            RecordEnd::Line => "a line",
            RecordEnd::Null => "one that ends with a NUL byte",
        };
        Self::of(
            subject,
            format_args!("the key {shown} can't be printed as {form}, which would be read as others: {advice}"),
        )
    }

    /// The failure to say what was done.
    pub(crate) fn after_all_was_done(self) -> Self {
        let message = format!("{}; all was done before, and needs no second try", self.message);
        Self { message, ..self }
    }

    /// The same failure of a file or stream.
    pub(crate) fn about(self, subject: impl Into<String>) -> Self {
        Self { subject: Some(subject.into()), ..self }
    }

    /// The message, without the file or stream concerned.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Prints the message to standard error. If that is closed, it is lost.
    pub(crate) fn report(&self) {
        report(self);
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(subject) = &self.subject {
            write!(formatter, "{subject}: ")?;
        }
        formatter.write_str(&self.message)
    }
}

/// Writes a line to standard error, escaped: names of files in it may contain anything.
pub(crate) fn report(line: impl fmt::Display) {
    use std::io::Write;
    let line = format!("guira: {}\n", escaped(&line.to_string()));
    // Not `eprintln!`, which panics where standard error is closed. At once, so that lines of several processes stay whole.
    io::stderr().lock().write_all(line.as_bytes()).ok();
}

/// The text of a system error without " (os error 2)", which means nothing to most people.
pub(crate) fn without_code(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
