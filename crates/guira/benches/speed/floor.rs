//! What the memory allows: reading random cache lines and nothing else.

use std::hint::black_box;

use guira::KeyHasher;
use memmap2::MmapMut;

use crate::timing::{Scale, median, nanoseconds_per};
use crate::workload;

const LARGE_PAGE: usize = 2 << 20;
/// As deep as the ring of the library's batch operations.
const DEPTH: usize = 32;

/// Memory of the size of a table, in large pages where the system has them.
pub(crate) struct Floor {
    memory: MmapMut,
    start: usize,
    size: usize,
}

/// The floors of one size, in nanoseconds per operation.
pub(crate) struct FloorFigures {
    size_name: String,
    /// Reading one line, or two, wherever the key's hash says.
    one_line: f64,
    two_lines: f64,
    /// The same with each line prefetched 32 operations before.
    one_line_prefetched: f64,
    two_lines_prefetched: f64,
}

impl Floor {
    pub(crate) fn new(size: u64) -> Self {
        let size = usize::try_from(size).expect("fits memory");
        let mut memory = MmapMut::map_anon(size + LARGE_PAGE).expect("memory for the floor");
        #[cfg(target_os = "linux")]
        if memory.advise(memmap2::Advice::HugePage).is_err() {
            eprintln!("no large pages for the floor");
        }
        let start = memory.as_ptr().align_offset(LARGE_PAGE);
        memory[start..start + size].fill(1);
        Self { memory, start, size }
    }

    fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.size]
    }

    pub(crate) fn measure(&self, size_name: &str, scale: Scale) -> FloorFigures {
        let rounds = || 0..scale.rounds;
        let queries = |round| workload::absent(scale.queries, round * scale.queries);
        FloorFigures {
            size_name: size_name.to_owned(),
            one_line: median(rounds().map(|round| self.single::<1>(&queries(round)))),
            two_lines: median(rounds().map(|round| self.single::<2>(&queries(round)))),
            one_line_prefetched: median(rounds().map(|round| self.prefetched::<1>(&queries(round)))),
            two_lines_prefetched: median(rounds().map(|round| self.prefetched::<2>(&queries(round)))),
        }
    }

    /// Reads LINES random lines for each key.
    pub(crate) fn single<const LINES: usize>(&self, keys: &[u64]) -> f64 {
        let hasher = KeyHasher::xxh3(0);
        let (bytes, last) = (self.bytes(), self.size as u64 - 1);
        nanoseconds_per(keys.len(), || {
            let sum: u64 = keys
                .iter()
                .flat_map(|key| places::<LINES>(&hasher, *key, last))
                .map(|place| u64::from(bytes[place]))
                .sum();
            assert_eq!(sum, (keys.len() * LINES) as u64);
        })
    }

    /// The same, with the lines of each key prefetched `DEPTH` keys before.
    pub(crate) fn prefetched<const LINES: usize>(&self, keys: &[u64]) -> f64 {
        let hasher = KeyHasher::xxh3(0);
        let (bytes, last) = (self.bytes(), self.size as u64 - 1);
        let order = |key: u64| {
            let places = places::<LINES>(&hasher, key, last);
            for place in places {
                prefetch(bytes, place);
            }
            places
        };
        nanoseconds_per(keys.len(), || {
            let mut ring: [[usize; LINES]; DEPTH] = std::array::from_fn(|number| order(keys[number]));
            let mut sum = 0u64;
            for number in 0..keys.len() {
                let places = ring[number % DEPTH];
                ring[number % DEPTH] = order(keys[(number + DEPTH) % keys.len()]);
                for place in places {
                    sum += u64::from(bytes[place]);
                }
            }
            assert_eq!(black_box(sum), (keys.len() * LINES) as u64);
        })
    }
}

/// Where a key's lines are.
#[inline]
fn places<const LINES: usize>(hasher: &KeyHasher, key: u64, last: u64) -> [usize; LINES] {
    let mut digest = hasher.digest(&key).get();
    std::array::from_fn(|_| {
        let place = (u128::from(digest) * u128::from(last)) >> 64;
        digest = digest.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
        usize::try_from(place).expect("below the size")
    })
}

#[inline]
#[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "the prefetch instruction has no safe form"))]
fn prefetch(bytes: &[u8], place: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let pointer = std::ptr::from_ref(&bytes[place]).cast();
        // SAFETY: every x86-64 processor has the instruction, and it reads nothing that the program can see.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(pointer) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, place);
}

impl std::fmt::Display for FloorFigures {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = &self.size_name;
        writeln!(
            formatter,
            "| {name} | floor: one line | {:.1} | | | {:.1} | | | | | | |",
            self.one_line, self.one_line_prefetched
        )?;
        write!(
            formatter,
            "| {name} | floor: two lines | {:.1} | | | {:.1} | | | | | | |",
            self.two_lines, self.two_lines_prefetched
        )
    }
}
