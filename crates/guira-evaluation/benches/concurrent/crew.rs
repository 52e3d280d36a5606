//! Readers and writers that begin together.

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::median;
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
    readers: usize,
    writers: usize,
}

/// What a crew did in a second, in millions, and in a second of a reader's processor time.
#[derive(Clone, Copy, Default)]
struct Done {
    lookups: f64,
    changes: f64,
    lookups_of_processor: f64,
}

const CREWS: [Crew; 4] = [
    Crew { readers: 1, writers: 0 },
    Crew { readers: 2, writers: 0 },
    Crew { readers: 1, writers: 1 },
    Crew { readers: 2, writers: 1 },
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

    /// Million insertions per second of one writer and of two, who store as many keys together, and the ratio.
    pub(crate) fn writers<F: Shared>(build: impl Fn() -> F, first: u64, keys: u64, rounds: u64) -> [f64; 3] {
        let mut figures: [Vec<f64>; 2] = Default::default();
        for _ in 0..rounds {
            for (writers, figures) in (1..).zip(&mut figures) {
                let filter = build();
                let start = Barrier::new(writers);
                let times: Vec<f64> = thread::scope(|threads| {
                    let write = |number| {
                        let (filter, start) = (&filter, &start);
                        move || {
                            start.wait();
                            let begin = Instant::now();
                            for key in (first + number as u64..first + keys).step_by(writers) {
                                assert!(filter.insert(black_box(key)), "it is not full");
                            }
                            begin.elapsed().as_secs_f64()
                        }
                    };
                    let all: Vec<_> = (0..writers).map(|number| threads.spawn(write(number))).collect();
                    all.into_iter().map(|writer| writer.join().expect("it does not panic")).collect()
                });
                assert!((first..first + keys).all(|key| filter.contains(key)), "a key was lost");
                figures.push(keys as f64 / 1e6 / times.into_iter().fold(0.0, f64::max));
            }
        }
        let ratio = median(figures[1].iter().zip(&figures[0]).map(|(two, one)| two / one));
        let [one, two] = figures.map(|figures| median(figures.into_iter()));
        [one, two, ratio]
    }
}

/// How long this thread had a processor; only Linux says it.
fn processor_time() -> Option<Duration> {
    let report = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    report.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// What all crews did, in every round.
pub(crate) struct Rates([Vec<Done>; 4]);

impl Rates {
    pub(crate) fn of(filter: &impl Shared, keys: u64, rounds: u64, queries: u64) -> Self {
        let mut rates: [Vec<Done>; 4] = Default::default();
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

    fn rows(&self) -> [String; 4] {
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
        ]
    }

    pub(crate) fn print(&self, peer: Option<&Self>) {
        let names = ["one reader", "two readers", "one reader beside a writer", "two readers beside a writer"];
        let theirs = peer.map(Self::rows);
        for (row, (name, ours)) in names.iter().zip(self.rows()).enumerate() {
            let theirs = theirs.as_ref().map_or_else(String::new, |theirs| format!(" {} |", theirs[row]));
            println!("| {name} | {ours} |{theirs}");
        }
    }
}
