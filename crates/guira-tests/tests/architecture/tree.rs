//! The files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is two folders up")
}

/// The text of ARCHITECTURE.md.
pub(crate) fn map() -> String {
    read(&root().join("ARCHITECTURE.md"))
}

pub(crate) fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The files below a folder, in order: those with an extension, or all where it is "". Hidden folders and what cargo
/// builds are left out.
pub(crate) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("the folder can be read").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let has_extension = || path.extension().is_some_and(|found| found == extension);
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                found.extend(files(&path, extension));
            }
        } else if extension.is_empty() || has_extension() {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Fails with what is wrong, one line each.
pub(crate) fn assert_nothing<T: std::fmt::Debug>(wrong: &[T]) {
    assert!(wrong.is_empty(), "{wrong:#?}");
}
