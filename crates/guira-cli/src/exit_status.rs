use std::process::ExitCode;

/// How the program ended, in the manner of grep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// All was done; `check` selected a line; `diff` found no difference.
    Success = 0,
    /// `check` selected no line; `remove` did not find every key; `diff` found a difference.
    NotFound = 1,
    /// Something went wrong and was reported.
    Error = 2,
    /// `add --keep-fitting` added some keys, and others did not fit.
    Part = 3,
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status as u8)
    }
}
