//! Names in reports that differ from the library's; layouts and addressings name themselves.

use guira::FileKind;

use crate::inspection::Secret;

pub(crate) fn kind(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Filter => "cuckoo filter",
        FileKind::Set => "cuckoo set",
        FileKind::Growing => "growing cuckoo filter",
        FileKind::Counting => "counting cuckoo filter",
        FileKind::Map => "cuckoo map",
        FileKind::Expiring => "expiring cuckoo filter",
        _ => "unknown",
    }
}

/// The hash of the keys.
pub(crate) fn hash(secret: Secret) -> &'static str {
    match secret {
        Secret::None => "XXH3-64",
        Secret::Fits | Secret::NotGiven => "SipHash-1-3",
    }
}

/// The state of the secret key, if the filter has one.
pub(crate) fn secret(secret: Secret) -> Option<&'static str> {
    match secret {
        Secret::None => None,
        Secret::Fits => Some("fits"),
        Secret::NotGiven => Some("not given"),
    }
}
