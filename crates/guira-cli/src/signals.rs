//! Signals that end the program.

#[cfg(unix)]
pub(crate) use unix::{EndingSignals, end_by, let_writes_fail_at_size_limit, remove_temporary_files_when_ended};

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io::{self, Write};
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::{Errno, retry_on_intr};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::flag;
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use crate::failure::Failure;
    use guira_files::remove_temporary_files;

    /// From now on, signals that end this process first remove its temporary files. The process still ends by the signal, so
    /// its parent sees the right status.
    pub(crate) fn remove_temporary_files_when_ended() -> Result<(), Failure> {
        EndingSignals::new().map(drop)
    }

    /// From now on, a write beyond the limit on the size of files fails, as one to a full disk does. The signal for it would end this
    /// process, with its temporary files left behind.
    pub(crate) fn let_writes_fail_at_size_limit() -> Result<(), Failure> {
        flag::register(SIGXFSZ, Arc::default()).map(drop).map_err(Failure::new)
    }

    /// The signals that end this process, which the program takes to end in order.
    fn ending() -> Vec<i32> {
        let ignored = ignored();
        let is_ignored = |signal: &i32| ignored >> (signal - 1) & 1 == 1;
        [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| !is_ignored(signal)).collect()
    }

    /// The signals that end this process, with its temporary files removed. Once [`note_first`](Self::note_first) is called, the first is
    /// only noted, and wakes this process where it waits for an input.
    pub(crate) struct EndingSignals {
        is_first_noted: Arc<AtomicBool>,
        /// The signal that was noted; 0 if there was none.
        received: Arc<AtomicUsize>,
        /// Readable once a signal was noted.
        wakes: UnixStream,
    }

    impl EndingSignals {
        pub(crate) fn new() -> Result<Self, Failure> {
            let explain = |error: io::Error| Failure::of_io("waiting for signals", &error);
            let mut signals = Signals::new(ending()).map_err(explain)?;
            let (wakes, mut woken) = UnixStream::pair().map_err(explain)?;
            let (is_first_noted, received) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
            let ending = Self { is_first_noted: Arc::clone(&is_first_noted), received: Arc::clone(&received), wakes };
            // A thread, because a signal handler may not take locks.
            let wait = move || {
                for signal in signals.forever() {
                    let is_first = received.load(Ordering::SeqCst) == 0;
                    if is_first && is_first_noted.load(Ordering::SeqCst) {
                        // In this order: whoever is woken finds the number.
                        received.store(usize::try_from(signal).unwrap_or(usize::MAX), Ordering::SeqCst);
                        woken.write_all(b"!").ok();
                    } else if is_first || signal != SIGHUP {
                        // SIGHUP comes twice where a terminal is closed.
                        remove_temporary_files();
                        emulate_default_handler(signal).ok();
                    }
                }
            };
            thread::Builder::new().name("signals".to_owned()).spawn(wait).map_err(Failure::new)?;
            Ok(ending)
        }

        /// From now on, the first signal is only noted. SIGINT or SIGTERM behind it ends this process at once.
        pub(crate) fn note_first(&self) {
            self.is_first_noted.store(true, Ordering::SeqCst);
        }

        pub(crate) fn received(&self) -> Option<i32> {
            i32::try_from(self.received.load(Ordering::SeqCst)).ok().filter(|&signal| signal > 0)
        }

        /// Waits until a source can be read or is at its end, which is `true`, or a signal has come or the time is over.
        pub(crate) fn wait_for(&self, source: &File, at_most: Duration) -> io::Result<bool> {
            // Rounded up, so that nobody waits again for nothing.
            let timeout = Timespec::try_from(at_most + Duration::from_millis(1)).ok();
            let mut awaited = [PollFd::new(source, PollFlags::IN), PollFd::new(&self.wakes, PollFlags::IN)];
            match poll(&mut awaited, timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let [source, _] = awaited;
            Ok(self.received().is_none() && !source.revents().is_empty())
        }

        /// Returns `true` if a source can be read at once, or is at its end.
        pub(crate) fn has_come(source: &File) -> io::Result<bool> {
            let mut awaited = [PollFd::new(source, PollFlags::IN)];
            retry_on_intr(|| poll(&mut awaited, Some(&Timespec::default())))?;
            Ok(!awaited[0].revents().is_empty())
        }
    }

    /// Ends this process as the signal would.
    pub(crate) fn end_by(signal: i32) {
        emulate_default_handler(signal).ok();
    }

    /// The signals that this process has ignored since its start, as with `nohup`; the lowest bit is signal 1. They stay
    /// ignored. If the system does not tell, none are.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}

/// Without signals, none ends the process.
#[cfg(not(unix))]
pub(crate) fn let_writes_fail_at_size_limit() -> Result<(), crate::failure::Failure> {
    Ok(())
}

/// Without signals, the next command removes files that were left behind.
#[cfg(not(unix))]
pub(crate) fn remove_temporary_files_when_ended() -> Result<(), crate::failure::Failure> {
    Ok(())
}
