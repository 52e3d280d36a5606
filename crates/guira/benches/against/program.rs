//! Times two builds of the library in alternation, and prints how their times compare.
//!
//! Each figure is the median over the rounds; a ratio is the median of the rounds' own ratios. Keys are counted `u64`s
//! that are hashed in the timed loop, and every answer is checked.

use std::hint::black_box;
use std::time::Instant;

/// The buckets of a table of four slots of 12 bits.
const SIZES: [(&str, u64); 4] = [("0.2MB", 1 << 15), ("4MB", (4 << 20) / 6), ("24MB", 1 << 22), ("192MB", 1 << 25)];
const FIRST_ABSENT: u64 = 1 << 40;
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

fn nanoseconds_per(count: usize, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e9 / count as f64
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Runs one build's operations; the two modules that this makes differ in nothing but the crate they call.
macro_rules! build {
    ($name:ident, $growing:ident, $max_capacity:ident) => {
        mod $name {
            use super::*;
            use ::$name::{ConcurrentCuckooFilter, CuckooFilter, Layout};

            pub(super) struct Tables {
                plain: CuckooFilter,
                semi_sorted: CuckooFilter,
                growing: ::$name::$growing,
                shared: ConcurrentCuckooFilter,
                hasher: ::$name::KeyHasher,
            }

            impl Tables {
                pub(super) fn new(buckets: u64, operations: &[String]) -> Self {
                    let keys: Vec<u64> = (0..buckets * 4 * 95 / 100).collect();
                    let wants =
                        |name: &str| operations.is_empty() || operations.iter().any(|wanted| wanted.contains(name));
                    let plain = CuckooFilter::builder().bucket_count(buckets).fingerprint_bits(12);
                    let small = CuckooFilter::builder().bucket_count(16).fingerprint_bits(12);
                    let sorted = CuckooFilter::builder().layout(Layout::SemiSorted).fingerprint_bits(13);
                    let growing = |capacity: u64| {
                        ::$name::$growing::builder()
                            .capacity(capacity as usize)
                            .$max_capacity(2 * capacity as usize)
                            .false_positive_rate(0.002)
                            .build()
                            .expect("memory")
                    };
                    let fill = |mut filter: CuckooFilter| {
                        filter.try_extend(&keys).expect("95 % fit");
                        filter
                    };
                    let filled = fill(plain.build().expect("memory"));
                    Self {
                        shared: if wants("shared") { filled.clone() } else { small.build().expect("memory") }
                            .try_into()
                            .expect("packed"),
                        semi_sorted: if wants("semi-sorted") {
                            fill(sorted.clone().bucket_count(buckets).build().expect("memory"))
                        } else {
                            sorted.bucket_count(16).build().expect("memory")
                        },
                        growing: if wants("growing") {
                            let mut filter = growing(buckets * 4 * 95 / 100);
                            filter.try_extend(&keys).expect("they fit");
                            filter
                        } else {
                            growing(10)
                        },
                        hasher: *filled.hasher(),
                        plain: filled,
                    }
                }

                /// Nanoseconds per operation.
                pub(super) fn run(&mut self, operation: &str, keys: &[u64], present: &[u64]) -> f64 {
                    fn absent_found(found: usize, count: usize) {
                        assert!(found < count / 250 + 20, "{found} of {count}");
                    }
                    match operation {
                        "contains" => nanoseconds_per(keys.len(), || {
                            absent_found(
                                keys.iter().filter(|key| self.plain.contains(black_box(*key))).count(),
                                keys.len(),
                            );
                        }),
                        "contains, present" => nanoseconds_per(present.len(), || {
                            assert!(present.iter().all(|key| self.plain.contains(black_box(key))));
                        }),
                        "contains_many_into" => {
                            let mut answers = vec![true; keys.len()];
                            let time = nanoseconds_per(keys.len(), || self.plain.contains_many_into(keys, &mut answers));
                            absent_found(answers.iter().filter(|answer| **answer).count(), keys.len());
                            time
                        }
                        "semi-sorted contains" => nanoseconds_per(keys.len(), || {
                            absent_found(
                                keys.iter().filter(|key| self.semi_sorted.contains(black_box(*key))).count(),
                                keys.len(),
                            );
                        }),
                        "growing contains" => nanoseconds_per(keys.len(), || {
                            absent_found(
                                keys.iter().filter(|key| self.growing.contains(black_box(*key))).count(),
                                keys.len(),
                            );
                        }),
                        "shared contains" => nanoseconds_per(keys.len(), || {
                            absent_found(
                                keys.iter().filter(|key| self.shared.contains(black_box(*key))).count(),
                                keys.len(),
                            );
                        }),
                        "remove" => {
                            let time = nanoseconds_per(present.len(), || {
                                assert!(present.iter().all(|key| self.plain.remove(black_box(key))), "a key was lost");
                            });
                            self.plain.try_extend(present).expect("they fitted before");
                            time
                        }
                        "insert to 95 %" => {
                            let count = self.plain.len() as u64;
                            self.plain.clear();
                            nanoseconds_per(count as usize, || {
                                for key in 0..count {
                                    self.plain.insert(black_box(&key)).expect("95 % fit");
                                }
                            })
                        }
                        "hash" => nanoseconds_per(keys.len(), || {
                            assert!(
                                keys.iter().filter(|key| self.hasher.digest(black_box(*key)).get() == 77).count() < 9
                            );
                        }),
                        _ => panic!("no operation {operation}"),
                    }
                }
            }
        }
    };
}

// Growth was a type of its own in earlier commits.
#[cfg(growing_type)]
build!(before, GrowingCuckooFilter, largest_capacity);
#[cfg(not(growing_type))]
build!(before, CuckooFilter, max_capacity);
build!(after, CuckooFilter, max_capacity);

/// Memory of the size of a table, of which two random bytes are read per key, found by the same hash: the least that a lookup
/// can do.
struct Floor(memmap2::MmapMut);

impl Floor {
    fn new(size: u64) -> Self {
        let mut memory = memmap2::MmapMut::map_anon(size as usize).expect("memory");
        #[cfg(target_os = "linux")]
        memory.advise(memmap2::Advice::HugePage).expect("large pages");
        memory.fill(1);
        Self(memory)
    }

    /// Where the two bytes of a key are.
    #[inline(always)]
    fn places(&self, digest: u64) -> [usize; 2] {
        let place = |bits: u64| ((u128::from(bits) * self.0.len() as u128) >> 64) as usize;
        [place(digest), place(digest.wrapping_mul(MULTIPLIER))]
    }

    fn single(&self, keys: &[u64]) -> f64 {
        let hasher = ::after::KeyHasher::xxh3(0);
        nanoseconds_per(keys.len(), || {
            let mut sum = 0u64;
            for key in keys {
                for place in self.places(hasher.digest(black_box(key)).get()) {
                    sum += u64::from(self.0[place]);
                }
            }
            assert_eq!(sum, 2 * keys.len() as u64);
        })
    }

    /// The bytes of each key asked for 32 keys before they are read.
    fn batch(&self, keys: &[u64]) -> f64 {
        const DEPTH: usize = 32;
        let hasher = ::after::KeyHasher::xxh3(0);
        nanoseconds_per(keys.len(), || {
            let mut sum = 0u64;
            let mut ring = [[0; 2]; DEPTH];
            for (number, key) in keys.iter().enumerate() {
                for place in std::mem::replace(&mut ring[number % DEPTH], self.places(hasher.digest(key).get())) {
                    sum += u64::from(self.0[place]);
                }
                for place in ring[number % DEPTH] {
                    prefetch(&self.0, place);
                }
            }
            // The last keys are left out and the first byte is read in their place, which is too little to be seen.
            assert_eq!(sum, 2 * keys.len() as u64);
        })
    }
}

#[inline]
fn prefetch(bytes: &[u8], place: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has the instruction, and it reads nothing that the program can see.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().wrapping_add(place).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, place);
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rounds: usize = std::env::var("ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(9);
    let sizes = SIZES
        .iter()
        .filter(|(name, _)| !arguments.iter().any(|a| a.ends_with("MB")) || arguments.iter().any(|a| a == name));
    let names = [
        "contains",
        "contains, present",
        "contains_many_into",
        "insert to 95 %",
        "remove",
        "semi-sorted contains",
        "growing contains",
        "shared contains",
        "hash",
    ];
    let wanted: Vec<String> = arguments.iter().filter(|a| !a.ends_with("MB")).cloned().collect();
    for (size, buckets) in sizes {
        let (mut before, mut after) = (before::Tables::new(*buckets, &wanted), after::Tables::new(*buckets, &wanted));
        let floor = Floor::new(buckets * 6);
        for name in names.iter().filter(|name| wanted.is_empty() || wanted.iter().any(|w| w == *name)) {
            let mut figures: [Vec<f64>; 4] = Default::default();
            let rounds = if *name == "insert to 95 %" && *buckets > 1 << 20 { 3 } else { rounds };
            for round in 0..rounds as u64 {
                let count = 1u64 << 20;
                let first = FIRST_ABSENT + round * count;
                let keys: Vec<u64> = (first..first + count).collect();
                let stored = buckets * 4 * 95 / 100;
                let some = count.min(stored / 2);
                let present: Vec<u64> = (0..some).map(|number| (round * some % (stored - some)) + number).collect();
                figures[0].push(before.run(name, &keys, &present));
                figures[1].push(after.run(name, &keys, &present));
                figures[2].push(figures[1].last().unwrap() / figures[0].last().unwrap());
                let floor = if name.contains("each") { floor.batch(&keys) } else { floor.single(&keys) };
                figures[3].push(floor);
            }
            let [before, after, ratio, floor] = figures.map(median);
            println!(
                "| {size} | {name} | {before:.1} | {after:.1} | {ratio:.2} | floor {floor:.1} | {:.2} |",
                after / floor
            );
        }
    }
}
