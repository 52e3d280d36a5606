//! Commands as they are typed.

use std::borrow::Cow;
use std::path::Path;

/// A path as it is typed in a shell.
pub(crate) fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    shlex::try_quote(&path).map(Cow::into_owned).unwrap_or(path)
}
