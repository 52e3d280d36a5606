//! Quoting for a shell.

use std::borrow::Cow;
use std::path::Path;

/// A path, quoted for a shell if necessary.
pub(crate) fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    shlex::try_quote(&path).map(Cow::into_owned).unwrap_or(path)
}
