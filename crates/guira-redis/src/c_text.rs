use std::ffi::c_char;
use std::fmt::{self, Display, Write as _};

use smallvec::SmallVec;

/// A text for the server, which ends with 0. One of a usual length takes no memory but the stack's, so that it can be said that there is
/// none.
pub(crate) struct CText(SmallVec<[u8; 512]>);

impl CText {
    pub(crate) fn of(text: &impl Display) -> Self {
        let mut shown = Self(SmallVec::new());
        // Only memory that is missing is an error, and the beginning of a text is better than none.
        _ = write!(shown, "{text}");
        shown.end();
        shown
    }

    /// Puts 0 behind the text, in place of its last byte if there is no memory for one more.
    fn end(&mut self) {
        if self.0.try_reserve(1).is_err() {
            self.0.pop();
        }
        self.0.push(0);
    }

    /// The text without the 0.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.split_last().map_or(&[], |(_, text)| text)
    }

    pub(crate) fn as_ptr(&self) -> *const c_char {
        self.0.as_ptr().cast()
    }
}

impl fmt::Write for CText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.try_reserve(text.len()).map_err(|_| fmt::Error)?;
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}
