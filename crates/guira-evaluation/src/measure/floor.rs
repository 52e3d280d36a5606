//! What the memory allows: reading random cache lines and nothing else.

use memmap2::MmapMut;
use prefetch_index::prefetch_index;

use super::Seconds;
use crate::cast::{in_memory, scale};
use crate::failure::Failure;
use crate::keys::Hash;

const NAME: &str = "the memory of the floors";
const LARGE_PAGE: usize = 2 << 20;
/// As deep as the ring of the library's batch operations.
const DEPTH: usize = 32;

/// Memory of the size of a table, in large pages where the system has them, as the library has for its tables.
pub(crate) struct Floor {
    memory: MmapMut,
    start: usize,
    size: u64,
}

impl Floor {
    pub(crate) fn new(size: u64) -> Result<Self, Failure> {
        let len = in_memory(size);
        let mut memory = MmapMut::map_anon(len + LARGE_PAGE).map_err(|error| Failure::not_built(NAME, error))?;
        // Without large pages it works, too: the library's tables fall back in the same way.
        #[cfg(target_os = "linux")]
        memory.advise(memmap2::Advice::HugePage).ok();
        let start = memory.as_ptr().align_offset(LARGE_PAGE);
        memory[start..start + len].fill(1);
        Ok(Self { memory, start, size })
    }

    fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.start + in_memory(self.size)]
    }

    /// Times reading LINES random lines for each key, where its hash says.
    pub(crate) fn single<const LINES: usize>(&self, keys: &[u64]) -> Result<Seconds, Failure> {
        let hash = Hash::new();
        let (bytes, size) = (self.bytes(), self.size);
        let (time, sum) = Seconds::of(|| {
            let places = keys.iter().flat_map(|&key| places::<LINES>(&hash, core::hint::black_box(key), size));
            places.map(|place| u64::from(bytes[place])).sum()
        });
        checked(time, sum, keys.len() * LINES)
    }

    /// The same, with the lines of each key prefetched 32 keys before.
    pub(crate) fn prefetched<const LINES: usize>(&self, keys: &[u64]) -> Result<Seconds, Failure> {
        let hash = Hash::new();
        let (bytes, size) = (self.bytes(), self.size);
        let order = |key: u64| {
            let places = places::<LINES>(&hash, core::hint::black_box(key), size);
            for place in places {
                prefetch_index(bytes, place);
            }
            places
        };
        let (time, sum) = Seconds::of(|| {
            let mut ring: [[usize; LINES]; DEPTH] = core::array::from_fn(|number| order(keys[number % keys.len()]));
            let mut sum = 0;
            for number in 0..keys.len() {
                let places = ring[number % DEPTH];
                ring[number % DEPTH] = order(keys[(number + DEPTH) % keys.len()]);
                for place in places {
                    sum += u64::from(bytes[place]);
                }
            }
            sum
        });
        checked(time, sum, keys.len() * LINES)
    }
}

/// Every byte of the memory is 1.
fn checked(time: Seconds, sum: u64, lines: usize) -> Result<Seconds, Failure> {
    let of = lines as u64;
    if sum == of { Ok(time) } else { Err(Failure::KeysLost { contender: NAME.to_owned(), lost: of.abs_diff(sum), of }) }
}

/// Where a key's lines are.
#[inline]
fn places<const LINES: usize>(hash: &Hash, key: u64, size: u64) -> [usize; LINES] {
    let mut digest = hash.digest(key).get();
    core::array::from_fn(|_| {
        let place = in_memory(scale(digest, size));
        digest = digest.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
        place
    })
}
