//! The names of the commands in this server, which begin with the prefix.

use std::ffi::{CStr, CString};
use std::fmt;
use std::sync::OnceLock;

use crate::command::CommandName;
use crate::error::CommandError;

/// In the order of [`CommandName::ALL`].
static NAMES: OnceLock<Vec<CString>> = OnceLock::new();

/// Sets the names of all commands, once.
pub(super) fn set(prefix: &str) {
    let name = |command: &CommandName| {
        let suffix = command.name().trim_start_matches("cf.");
        CString::new(format!("{prefix}{suffix}")).unwrap_or_default()
    };
    NAMES.get_or_init(|| CommandName::ALL.iter().map(name).collect());
}

/// The name of a command, in lower case.
pub(super) fn of(command: CommandName) -> &'static CStr {
    let names = NAMES.get().map(Vec::as_slice).unwrap_or_default();
    let found = CommandName::ALL.iter().zip(names).find(|(other, _)| **other == command);
    found.map_or(c"", |(_, name)| name.as_c_str())
}

/// An error with the name of the command as it is called here.
pub(super) struct Refusal<'error> {
    pub(super) command: CommandName,
    pub(super) error: &'error CommandError,
}

impl fmt::Display for Refusal<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.error {
            CommandError::Arity { .. } => {
                let name = of(self.command).to_str().unwrap_or_default();
                write!(formatter, "ERR wrong number of arguments for '{name}' command")
            }
            error => error.fmt(formatter),
        }
    }
}
