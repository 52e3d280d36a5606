use std::cell::Cell;
use std::io::{self, IsTerminal, Read};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that is done sooner shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// A progress bar on standard error, if that is a terminal and the work is long.
pub(crate) struct Progress {
    begun: Instant,
    /// Advanced from the beginning, even if hidden, since it shows the speed.
    bar: ProgressBar,
    /// Whether the bar is visible.
    is_shown: Cell<bool>,
    is_watched: bool,
}

#[derive(Clone, Copy)]
enum Unit {
    Bytes,
    BytesWritten,
    #[cfg(feature = "redis")]
    BytesSent,
    #[cfg(feature = "redis")]
    BytesReceived,
    Keys,
}

impl Progress {
    pub(crate) fn of_bytes(total: Option<u64>) -> Self {
        Self::new(Unit::Bytes, total)
    }

    pub(crate) fn of_writing(total: usize) -> Self {
        Self::new(Unit::BytesWritten, Some(total as u64))
    }

    pub(crate) fn of_keys(total: usize) -> Self {
        Self::new(Unit::Keys, Some(total as u64))
    }

    #[cfg(feature = "redis")]
    pub(crate) fn of_sending(total: usize) -> Self {
        Self::new(Unit::BytesSent, Some(total as u64))
    }

    #[cfg(feature = "redis")]
    pub(crate) fn of_receiving(total: u64) -> Self {
        Self::new(Unit::BytesReceived, Some(total))
    }

    fn new(unit: Unit, total: Option<u64>) -> Self {
        let is_watched = io::stderr().is_terminal();
        let template = match (unit, total) {
            (Unit::Bytes, Some(_)) => "reading {bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
            (Unit::Bytes, None) => "reading {bytes}, {bytes_per_sec}",
            (Unit::BytesWritten, _) => "writing {bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
            #[cfg(feature = "redis")]
            (Unit::BytesSent, _) => "sending {bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
            #[cfg(feature = "redis")]
            (Unit::BytesReceived, _) => "receiving {bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
            (Unit::Keys, _) => "storing {bar:30} {human_pos} of {human_len} keys, {per_sec}, {eta} left",
        };
        let style = ProgressStyle::with_template(template).expect("a valid template");
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden()).with_style(style);
        Self { begun: Instant::now(), bar, is_shown: Cell::new(false), is_watched }
    }

    /// Hides the bar if standard output is a terminal, where lines are printed.
    pub(crate) fn unless_output_is_terminal(mut self) -> Self {
        self.is_watched &= !io::stdout().is_terminal();
        self
    }

    /// Advances the bar. This reads the clock, so call it rarely.
    pub(crate) fn advance(&self, done: usize) {
        if !self.is_watched {
            return;
        }
        if !self.is_shown.get() && self.begun.elapsed() >= PATIENCE {
            self.is_shown.set(true);
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(done as u64);
    }
}

/// Advances the progress by the bytes read from a source.
pub(crate) struct Watched<'progress, R> {
    pub(crate) source: R,
    pub(crate) progress: &'progress Progress,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.source.read(buffer)?;
        self.progress.advance(size);
        Ok(size)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown.get() {
            self.bar.finish_and_clear();
        }
    }
}
