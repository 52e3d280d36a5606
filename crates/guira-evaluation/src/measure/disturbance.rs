//! Whether the machine did something else while something was measured.

use std::fs;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::turns::Quiet;

/// How long a loop that does nothing looks at the clock.
const IDLE: Duration = Duration::from_millis(10);
/// Between two readings of a clock are some ten nanoseconds. The interrupt of a timer takes a few microseconds; after this, the
/// processor was somewhere else.
const GAP: Duration = Duration::from_micros(50);
/// The share of the time that a measurement may be without the processor.
pub(crate) const MOST: f64 = 0.03;

/// The shares of time that a measurement was without the processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Disturbance {
    /// Of loops that do nothing but read the clock, right before it, between its parts and after it.
    idle: f64,
    /// Of its own time, while it waited for a processor that another program had.
    waited: f64,
    /// Of all processors' time, while the host gave them to other machines.
    stolen: f64,
}

/// Begun before a measurement.
pub(crate) struct Watch {
    /// How long loops that do nothing were away, and how many they were.
    away: Duration,
    loops: u32,
    start: Instant,
    waited: Option<f64>,
    stolen: Option<f64>,
}

impl Watch {
    pub(crate) fn begin() -> Self {
        Self { away: away(), loops: 1, waited: waited(), stolen: stolen(), start: Instant::now() }
    }

    /// Looks whether the machine is disturbed right now: in the middle of a long measurement, and after it.
    pub(crate) fn look(&mut self) {
        self.away += away();
        self.loops += 1;
    }

    pub(crate) fn end(mut self) -> Disturbance {
        let seconds = self.start.elapsed().as_secs_f64();
        let since = |before: Option<f64>, after: Option<f64>| match (before, after) {
            // Ticks of the system's counters are 10 ms: less than one says nothing of a short time.
            (Some(before), Some(after)) if seconds > 0.1 => (after - before) / seconds,
            _ => 0.0,
        };
        let (waited, stolen) = (since(self.waited, waited()), since(self.stolen, stolen()));
        self.look();
        Disturbance { idle: self.away.as_secs_f64() / (self.loops * IDLE).as_secs_f64(), waited, stolen }
    }
}

impl Disturbance {
    pub(crate) fn quiet(self) -> Quiet {
        let Self { idle, waited, stolen } = self;
        if [idle, waited, stolen].into_iter().any(|share| share > MOST) { Quiet::Disturbed } else { Quiet::Yes }
    }
}

/// The time that a loop of readings of the clock was away.
fn away() -> Duration {
    let start = Instant::now();
    let (mut last, mut away) = (start, Duration::ZERO);
    while last - start < IDLE {
        let now = Instant::now();
        if now - last > GAP {
            away += now - last;
        }
        last = now;
    }
    away.min(IDLE)
}

/// The seconds that this thread has waited for a processor so far, where the system counts them.
fn waited() -> Option<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok().map(|nanoseconds: f64| nanoseconds / 1e9)
}

/// The seconds that the host has given processors to others so far, a mean of all processors.
fn stolen() -> Option<f64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let processors = text.lines().skip(1).take_while(|line| line.starts_with("cpu")).count().max(1);
    let ticks: f64 = text.lines().next()?.split_whitespace().nth(8)?.parse().ok()?;
    Some(ticks / 100.0 / crate::cast::approximate(processors as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_share_of_time_without_the_processor_disturbs() {
        let quiet = Disturbance { idle: MOST, waited: MOST, stolen: MOST };
        assert_eq!(quiet.quiet(), Quiet::Yes);
        let more = 1.1 * MOST;
        for disturbance in [
            Disturbance { idle: more, ..quiet },
            Disturbance { waited: more, ..quiet },
            Disturbance { stolen: more, ..quiet },
        ] {
            assert_eq!(disturbance.quiet(), Quiet::Disturbed, "{disturbance:?}");
        }
    }

    #[test]
    fn a_watch_tells_shares() {
        let Disturbance { idle, waited, stolen } = Watch::begin().end();
        for share in [idle, waited, stolen] {
            assert!((0.0..=1.0).contains(&share), "{share}");
        }
    }
}
