//! What the library's choices are called in reports and on the command line.

use guira::{Addressing, Layout};

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
        _ => "unknown",
    }
}
