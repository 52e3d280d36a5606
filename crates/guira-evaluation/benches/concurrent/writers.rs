//! Writers by themselves: how much more two store than one.

use std::hint::black_box;
use std::ops::Range;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use crate::figures::median;
use crate::shared::Shared;

/// The loads up to which writers are measured.
const WRITERS_UP_TO: [f64; 3] = [0.2, 0.6, 0.8];

/// What writers do: the way, as rows name it, and where the second one writes.
const WAYS: [(&str, Tables); 3] = [("", Tables::One), (", in batches", Tables::One), (", a table each", Tables::Two)];

/// The tables of two writers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tables {
    One,
    /// So they share nothing but the machine: what is the most that two can do.
    Two,
}

/// What one writer and two did, up to each of the loads and in each of the ways that there is.
pub(crate) struct Writers([[Option<Insertions>; WAYS.len()]; WRITERS_UP_TO.len()]);

/// Million insertions per second of one writer and of two, who store as many keys together, and the ratio.
#[derive(Clone, Copy)]
struct Insertions {
    one: f64,
    two: f64,
    ratio: f64,
}

impl Writers {
    /// Fills two empty filters of so many slots further and further. What is timed is the last fifth of the slots before each
    /// load, or in a large table the last million.
    pub(crate) fn of<F: Shared>([first, second]: [&F; 2], slots: u64, rounds: u64) -> Self {
        let step = (slots / 5).min(1_000_000);
        let mut stored = 0;
        Self(WRITERS_UP_TO.map(|load| {
            let from = (slots as f64 * load) as u64 - step;
            let more: Vec<u64> = (stored..from).collect();
            assert!(first.insert_each(&more) && second.insert_each(&more), "it is not full");
            stored = from;
            let single = |filter: &F, keys: &[u64]| keys.iter().all(|&key| filter.insert(key));
            let measure = |filters, store| Insertions::of(filters, from..from + step, rounds, store);
            [
                Some(measure([first, first], single)),
                F::HAS_BATCHES.then(|| measure([first, first], F::insert_each)),
                Some(measure([first, second], single)),
            ]
        }))
    }

    pub(crate) fn print(&self, peer: Option<&Self>) {
        for (number, load) in WRITERS_UP_TO.iter().enumerate() {
            for (way, (name, tables)) in WAYS.into_iter().enumerate() {
                let row = |writers: &str, figure: fn(Insertions) -> String| {
                    let cell = |writers: &Self| writers.0[number][way].map_or_else(|| "none".to_owned(), figure);
                    let theirs = peer.map_or_else(String::new, |peer| format!(" {} |", cell(peer)));
                    println!("| {writers}{name}, up to {:.0} % | {} |{theirs}", 100.0 * load, cell(self));
                };
                if tables == Tables::One {
                    row("one writer", |rates| format!("{:.2}", rates.one));
                }
                row("two writers", |rates| format!("{:.2} ({:.2} times)", rates.two, rates.ratio));
            }
        }
    }
}

impl Insertions {
    /// The first writer, and the only one, stores in the first filter, and the second in the other one, which may be the
    /// same. Afterwards they have the keys that they had before.
    fn of<F: Shared>(filters: [&F; 2], keys: Range<u64>, rounds: u64, store: fn(&F, &[u64]) -> bool) -> Self {
        let mut figures: [Vec<f64>; 2] = Default::default();
        for _ in 0..rounds {
            for (writers, figures) in (1..).zip(&mut figures) {
                let start = Barrier::new(writers);
                let share = |number: usize| keys.clone().skip(number).step_by(writers);
                let write = |number: usize| {
                    let (filter, keys): (&F, Vec<u64>) = (filters[number], share(number).collect());
                    // Once before, so that the table is in the caches of those who write and not of those who looked on.
                    assert!(store(filter, &keys), "it is not full");
                    assert!(keys.iter().all(|&key| filter.remove(key)), "a key was lost");
                    start.wait();
                    let begin = Instant::now();
                    assert!(store(filter, black_box(&keys)), "it is not full");
                    begin.elapsed().as_secs_f64()
                };
                let times: Vec<f64> = thread::scope(|threads| {
                    let write = &write;
                    let all: Vec<_> = (0..writers).map(|number| threads.spawn(move || write(number))).collect();
                    all.into_iter().map(|writer| writer.join().expect("it does not panic")).collect()
                });
                for (number, filter) in filters.iter().enumerate().take(writers) {
                    assert!(share(number).all(|key| filter.contains(key)), "a key was lost");
                    assert!(share(number).all(|key| filter.remove(key)), "a key was lost");
                }
                figures.push((keys.end - keys.start) as f64 / 1e6 / times.into_iter().fold(0.0, f64::max));
            }
        }
        let ratio = median(figures[1].iter().zip(&figures[0]).map(|(two, one)| two / one));
        let [one, two] = figures.map(|figures| median(figures.into_iter()));
        Self { one, two, ratio }
    }
}
