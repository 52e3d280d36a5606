//! The names of the commands in this server, which begin with the prefix.

use std::ffi::CStr;
use std::fmt;
use std::sync::OnceLock;

use crate::command::CommandName;
use crate::error::CommandError;

/// More bytes than any name has with the 0 behind it: the longest prefix has 17, and no command more than 9 behind `cf.`.
const SIZE: usize = 32;

/// In the order of [`CommandName::ALL`], with zeros behind.
static NAMES: OnceLock<[[u8; SIZE]; CommandName::ALL.len()]> = OnceLock::new();

/// Sets the names of all commands, once.
pub(super) fn set(prefix: &[u8]) {
    let name = |command: CommandName| {
        let mut name = [0; SIZE];
        let suffix = command.name().trim_start_matches("cf.").as_bytes();
        for (place, letter) in name[..SIZE - 1].iter_mut().zip(prefix.iter().chain(suffix)) {
            *place = letter.to_ascii_lowercase();
        }
        name
    };
    NAMES.get_or_init(|| CommandName::ALL.map(name));
}

/// The name of a command, in lower case.
pub(super) fn of(command: CommandName) -> &'static CStr {
    let names = NAMES.get().map(<[_; _]>::as_slice).unwrap_or_default();
    let found = CommandName::ALL.iter().zip(names).find(|(other, _)| **other == command);
    found.and_then(|(_, name)| CStr::from_bytes_until_nul(name).ok()).unwrap_or_default()
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
