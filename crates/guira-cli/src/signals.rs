//! Signals that end the program.

#[cfg(unix)]
pub(crate) use unix::remove_temporary_files_when_ended;

#[cfg(unix)]
mod unix {
    use std::thread;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use crate::failure::Failure;
    use guira_files::remove_temporary_files;

    /// From now on, signals that end this process first remove its temporary files. The process still ends by the signal, so
    /// its parent sees the right status.
    pub(crate) fn remove_temporary_files_when_ended() -> Result<(), Failure> {
        let ignored = ignored();
        let is_ignored = |signal: &i32| ignored >> (signal - 1) & 1 == 1;
        let signals = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| !is_ignored(signal));
        let mut signals = Signals::new(signals).map_err(Failure::new)?;
        // A thread, because a signal handler may not take locks.
        let wait = move || {
            if let Some(signal) = signals.forever().next() {
                remove_temporary_files();
                emulate_default_handler(signal).ok();
            }
        };
        thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop).map_err(Failure::new)
    }

    /// The signals that this process has ignored since its start, as with `nohup`; the lowest bit is signal 1. They stay
    /// ignored. If the system does not tell, none are.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}

/// Without signals, the next command removes files that were left behind.
#[cfg(not(unix))]
pub(crate) fn remove_temporary_files_when_ended() -> Result<(), crate::failure::Failure> {
    Ok(())
}
