use std::cell::Cell;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that takes less shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// Tells on standard error how far the work is, if that is a terminal and the work is long.
pub(crate) struct Progress {
    begun: Instant,
    /// Told of all that is done from the beginning, since it tells how fast that was.
    bar: ProgressBar,
    /// Whether patience has run out.
    is_shown: Cell<bool>,
    is_watched: bool,
}

#[derive(Clone, Copy)]
enum Unit {
    Bytes,
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

    /// The same, silent where lines are printed to the same terminal.
    pub(crate) fn unless_output_is_terminal(mut self) -> Self {
        self.is_watched &= !io::stdout().is_terminal();
        self
    }

    /// Notes that this much more is done. It asks for the time, so call it now and then only.
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

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown.get() {
            self.bar.finish_and_clear();
        }
    }
}
