//! Commands that messages show.

use std::borrow::Cow;
use std::path::Path;

use guira::KeyHasher;

use crate::keys::Normalization;

/// A path, quoted for a shell if necessary.
pub(crate) fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    shlex::try_quote(&path).map(Cow::into_owned).unwrap_or(path)
}

/// A rate with so many digits as tell lengths of fingerprints apart.
pub(crate) fn rate(rate: f64) -> String {
    let short = format!("{rate:e}");
    if short.len() <= 8 { short } else { format!("{rate:.3e}") }
}

/// The options of `build` that say how keys are hashed, and what is done to them before.
pub(crate) fn options_of_keys(hasher: &KeyHasher, normalization: Normalization) -> String {
    let mut options = String::new();
    if hasher.secret_key().is_some() {
        options += " --hash siphash --key-file KEYFILE";
    } else if hasher.seed() != 0 {
        options += &format!(" --seed {}", hasher.seed());
    }
    for (is_given, option) in [(normalization.lowercase, " --lowercase"), (normalization.trim, " --trim")] {
        options += if is_given { option } else { "" };
    }
    options
}
