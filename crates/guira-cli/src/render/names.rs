//! What the library's choices are called in reports and on the command line.

use guira::{Addressing, FileKind, Layout};

use crate::inspection::Secret;

pub(crate) fn layout(layout: Layout) -> &'static str {
    match layout {
        Layout::Packed => "packed",
        Layout::SemiSorted => "semi-sorted",
        Layout::Windowed => "windowed",
        _ => "unknown",
    }
}

pub(crate) fn addressing(addressing: Addressing) -> &'static str {
    match addressing {
        Addressing::Regional => "regional",
        Addressing::PowerOfTwo => "power of two",
        Addressing::Ternary => "ternary",
        Addressing::Quaternary => "quaternary",
        Addressing::Doubling => "doubling",
        _ => "unknown",
    }
}

pub(crate) fn kind(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Filter => "cuckoo filter",
        FileKind::Set => "cuckoo set",
        FileKind::Growing => "growing cuckoo filter",
        FileKind::Counting => "counting cuckoo filter",
        FileKind::Map => "cuckoo map",
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

/// What is known of a secret key, of a filter that has one.
pub(crate) fn secret(secret: Secret) -> Option<&'static str> {
    match secret {
        Secret::None => None,
        Secret::Fits => Some("fits"),
        Secret::NotGiven => Some("not given"),
    }
}
