//! Readers and writers that begin together.

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::figures::median;
use crate::shared::Shared;

pub(crate) const FIRST_ABSENT: u64 = 1 << 40;
/// The keys that writers store and remove again.
const FIRST_PASSING: u64 = 1 << 41;

/// Spreads queries over all present keys.
pub(crate) fn present(count: u64, first: u64, keys: u64) -> Vec<u64> {
    (first..first + count).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % keys).collect()
}

/// Keys that were never inserted.
pub(crate) fn absent(count: u64, first: u64) -> Vec<u64> {
    (first..first + count).map(|number| FIRST_ABSENT + number).collect()
}

/// Every second key present.
fn half(count: u64, first: u64, keys: u64) -> Vec<u64> {
    let both = present(count, first, keys).into_iter().zip(absent(count, first));
    both.enumerate().map(|(number, (present, absent))| if number % 2 == 0 { present } else { absent }).collect()
}

/// So many readers that look up a share of the keys each, and so many writers beside them.
pub(crate) struct Crew {
    name: &'static str,
    readers: usize,
    writers: usize,
    pace: Pace,
}

/// How fast a writer beside readers writes.
#[derive(Clone, Copy)]
enum Pace {
    /// As fast as it can: with two readers on two processors, it is the third to run at a time.
    Any,
    /// So many changes in a second. In between it sleeps.
    PerSecond(f64),
}

impl Pace {
    /// Waits until one change more is due.
    fn wait(self, changes: u64, begin: Instant) {
        if let Self::PerSecond(rate) = self {
            while changes as f64 > begin.elapsed().as_secs_f64() * rate {
                thread::sleep(Duration::from_micros(100));
            }
        }
    }
}

/// What a crew did in a second, in millions, and in a second of a reader's processor time.
#[derive(Clone, Copy, Default)]
struct Done {
    lookups: f64,
    changes: f64,
    lookups_of_processor: f64,
}

const CREWS: [Crew; 6] = [
    Crew { name: "one reader", readers: 1, writers: 0, pace: Pace::Any },
    Crew { name: "two readers", readers: 2, writers: 0, pace: Pace::Any },
    Crew { name: "one reader beside a writer", readers: 1, writers: 1, pace: Pace::Any },
    Crew { name: "two readers beside a writer", readers: 2, writers: 1, pace: Pace::Any },
    Crew { name: "two readers beside a writer of 1 million/s", readers: 2, writers: 1, pace: Pace::PerSecond(1e6) },
    Crew { name: "two readers beside a writer of 0.1 million/s", readers: 2, writers: 1, pace: Pace::PerSecond(1e5) },
];

impl Crew {
    /// Each reader looks up all keys from a place of its own on; writers go on until the readers are done.
    fn work(&self, filter: &impl Shared, queries: &[u64]) -> Done {
        let start = Barrier::new(self.readers + self.writers);
        let is_over = AtomicBool::new(false);
        thread::scope(|threads| {
            let writers: Vec<_> = (0..self.writers as u64)
                .map(|number| {
                    let (start, is_over) = (&start, &is_over);
                    threads.spawn(move || {
                        start.wait();
                        let begin = Instant::now();
                        let mut changes = 0_u64;
                        for key in (number..).step_by(2).map(|key| FIRST_PASSING + key) {
                            if is_over.load(Ordering::Relaxed) {
                                break;
                            }
                            self.pace.wait(changes, begin);
                            // At this load a key more or less makes no difference.
                            if filter.insert(key) {
                                assert!(filter.remove(key), "a key was lost");
                                changes += 2;
                            }
                        }
                        changes as f64 / 1e6 / begin.elapsed().as_secs_f64()
                    })
                })
                .collect();
            let readers: Vec<_> = (0..self.readers)
                .map(|number| {
                    let start = &start;
                    let (behind, before) = queries.split_at(queries.len() / self.readers * number);
                    threads.spawn(move || {
                        start.wait();
                        let (begin, processor) = (Instant::now(), processor_time());
                        let found = before.iter().chain(behind).filter(|key| filter.contains(black_box(**key))).count();
                        // Every second key is present.
                        assert!(found >= queries.len() / 2, "a key was missed");
                        let rate = queries.len() as f64 / 1e6;
                        let processor = processor_time().zip(processor).map(|(end, begin)| end - begin);
                        (rate / begin.elapsed().as_secs_f64(), rate / processor.map_or(f64::NAN, |it| it.as_secs_f64()))
                    })
                })
                .collect();
            let mut done = Done::default();
            for reader in readers {
                let (rate, of_processor) = reader.join().expect("no key is missed");
                done.lookups += rate;
                done.lookups_of_processor += of_processor / self.readers as f64;
            }
            is_over.store(true, Ordering::Relaxed);
            done.changes = writers.into_iter().map(|writer| writer.join().expect("no key is lost")).sum();
            done
        })
    }
}

/// How long this thread had a processor; only Linux says it.
fn processor_time() -> Option<Duration> {
    let report = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    report.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// What all crews did, in every round.
pub(crate) struct Rates([Vec<Done>; CREWS.len()]);

impl Rates {
    pub(crate) fn of(filter: &impl Shared, keys: u64, rounds: u64, queries: u64) -> Self {
        let mut rates: [Vec<Done>; CREWS.len()] = Default::default();
        for round in 0..rounds {
            let queries = half(queries, round * queries, keys);
            for (crew, rates) in CREWS.iter().zip(&mut rates) {
                rates.push(crew.work(filter, &queries));
            }
        }
        Self(rates)
    }

    fn median(&self, crew: usize, figure: impl Fn(&Done) -> f64) -> f64 {
        median(self.0[crew].iter().map(figure))
    }

    /// The median over the rounds of what one crew did, by what another one did.
    fn ratio(&self, [crew, to]: [usize; 2], figure: impl Fn(&Done) -> f64) -> f64 {
        median(self.0[crew].iter().zip(&self.0[to]).map(|(crew, to)| figure(crew) / figure(to)))
    }

    fn rows(&self) -> [String; CREWS.len()] {
        let lookups = |done: &Done| done.lookups;
        let of_processor = |done: &Done| done.lookups_of_processor;
        let beside = |crew: usize, alone: usize| {
            format!(
                "{:.2} ({:.2} of the rate alone, {:.2} per processor time; {:.2} changes)",
                self.median(crew, lookups),
                self.ratio([crew, alone], lookups),
                self.ratio([crew, alone], of_processor),
                self.median(crew, |done| done.changes)
            )
        };
        [
            format!("{:.2}", self.median(0, lookups)),
            format!("{:.2} ({:.2} times)", self.median(1, lookups), self.ratio([1, 0], lookups)),
            beside(2, 0),
            beside(3, 1),
            beside(4, 1),
            beside(5, 1),
        ]
    }

    pub(crate) fn print(&self, peer: Option<&Self>) {
        let theirs = peer.map(Self::rows);
        for (row, (Crew { name, .. }, ours)) in CREWS.iter().zip(self.rows()).enumerate() {
            let theirs = theirs.as_ref().map_or_else(String::new, |theirs| format!(" {} |", theirs[row]));
            println!("| {name} | {ours} |{theirs}");
        }
    }
}
