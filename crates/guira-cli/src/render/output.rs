use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};

use serde::Serialize;

use crate::failure::Failure;

const BUFFER_SIZE: usize = 1 << 18;

/// Standard output. After an error, further output is dropped. A closed pipe ends the work quietly; any other error is
/// reported once.
pub(crate) struct Output {
    writer: BufWriter<Box<dyn Write>>,
    /// Whether output is flushed at once, for a person at a terminal.
    flushes_at_once: bool,
    is_closed: bool,
    /// What is written before anything else, if anything is.
    heading: Vec<u8>,
}

impl Output {
    pub(crate) fn new() -> Self {
        let flushes_at_once = io::stdout().is_terminal();
        Self {
            writer: BufWriter::with_capacity(BUFFER_SIZE, unbuffered()),
            flushes_at_once,
            is_closed: false,
            heading: Vec::new(),
        }
    }

    /// Writes these bytes before the first others, if there are any.
    pub(crate) fn begin_with(&mut self, heading: Vec<u8>) {
        self.heading = heading;
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if self.is_closed {
            return Ok(());
        }
        let heading = std::mem::take(&mut self.heading);
        let result = self.writer.write_all(&heading).and_then(|()| self.writer.write_all(bytes));
        self.settle(result)?;
        if self.flushes_at_once { self.finish() } else { Ok(()) }
    }

    /// Writes lines of JSON.
    pub(crate) fn write_json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let mut json = serde_json::to_string_pretty(value).map_err(Failure::new)?;
        json.push('\n');
        self.write(json.as_bytes())
    }

    /// Flushes the buffer. Without this call a full disk goes unnoticed.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        if self.is_closed {
            return Ok(());
        }
        let result = self.writer.flush();
        self.settle(result)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    fn settle(&mut self, result: io::Result<()>) -> Result<(), Failure> {
        let Err(error) = result else { return Ok(()) };
        self.is_closed = true;
        match error.kind() {
            ErrorKind::BrokenPipe => Ok(()),
            _ => Err(Failure::of_io("standard output", &error)),
        }
    }
}

/// Standard output without the standard library's line buffer, which would look for line ends in every write.
#[cfg(unix)]
fn unbuffered() -> Box<dyn Write> {
    use std::fs::File;
    use std::os::fd::AsFd;
    match io::stdout().as_fd().try_clone_to_owned() {
        Ok(descriptor) => Box::new(File::from(descriptor)),
        Err(_) => Box::new(io::stdout().lock()),
    }
}

#[cfg(not(unix))]
fn unbuffered() -> Box<dyn Write> {
    Box::new(io::stdout().lock())
}
