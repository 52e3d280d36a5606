//! The names of the commands in this server, which begin with the prefix.

use std::ffi::{CStr, CString};
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

/// The text of an error, with the name of the command as it is called here.
pub(super) fn error_text(command: CommandName, error: &CommandError) -> String {
    match error {
        CommandError::Arity { .. } => {
            format!("ERR wrong number of arguments for '{}' command", of(command).to_string_lossy())
        }
        error => error.to_string(),
    }
}
