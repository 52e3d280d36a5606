//! What the memory allows: reading random cache lines and nothing else.

use guira_baselines::{Digest, MultiplyShift};
use memmap2::MmapMut;
use prefetch_index::prefetch_index;
use pulp::{Arch, NullaryFnOnce};

use super::Seconds;
use crate::cast::{in_memory, scale};
use crate::failure::Failure;

const NAME: &str = "the memory of the floors";
/// As deep as the ring in the library's batch operations.
const DEPTH: usize = 32;
/// An odd factor, 2^64 over the golden ratio: the product gives the second line of a digest.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Memory of the size of a table, in large pages if the system has them, as tables of filters are.
///
/// Addresses are reserved up to a power of two, so that masking by a constant keeps an index in bounds.
pub(crate) struct Floor {
    memory: MmapMut,
    size: u64,
    hash: MultiplyShift,
}

/// Calls the method that is compiled for the reserved power of two.
macro_rules! for_reserved {
    ($exponent:expr; $($power:literal)+; $reserved:ident => $call:expr) => {
        match $exponent {
            $($power => { const $reserved: usize = 1 << $power; Some($call) })+
            _ => None,
        }
    };
}

/// The loop, compiled for the processor's instructions like those of baselines.
struct Reads<'floor, D, const LINES: usize> {
    floor: &'floor Floor,
    digests: D,
}

impl<D: Iterator<Item = Digest>, const LINES: usize> NullaryFnOnce for Reads<'_, D, LINES> {
    type Output = Option<u64>;

    #[inline(always)]
    fn call(self) -> Option<u64> {
        for_reserved!(self.floor.memory.len().trailing_zeros();
            16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34;
            RESERVED => self.floor.sum::<LINES, RESERVED>(self.digests)?)
    }
}

impl Floor {
    pub(crate) fn new(size: u64) -> Result<Self, Failure> {
        let reserved = in_memory(size.next_power_of_two());
        let mut memory = MmapMut::map_anon(reserved).map_err(|error| Failure::not_built(NAME, error))?;
        // Without large pages it works too, as for the tables of filters.
        #[cfg(target_os = "linux")]
        memory.advise(memmap2::Advice::HugePage).ok();
        memory[..in_memory(size)].fill(1);
        Ok(Self { memory, size, hash: MultiplyShift::from_seed(0) })
    }

    /// The digests of keys, by the hash of baselines.
    pub(crate) fn digests(&self, keys: &[u64]) -> Vec<u64> {
        keys.iter().map(|&key| self.hash.digest(key).get()).collect()
    }

    /// Times reading LINES random lines for each key, chosen by its hash.
    pub(crate) fn single<const LINES: usize>(&self, keys: &[u64]) -> Result<Seconds, Failure> {
        let hash = self.hash;
        self.timed::<LINES>(keys.iter().map(|&key| hash.digest(key)))
    }

    /// Times reading LINES random lines for each digest of a key that was hashed before.
    pub(crate) fn single_hashed<const LINES: usize>(&self, digests: &[u64]) -> Result<Seconds, Failure> {
        self.timed::<LINES>(digests.iter().map(|&digest| Digest::new(digest)))
    }

    fn timed<const LINES: usize>(&self, digests: impl ExactSizeIterator<Item = Digest>) -> Result<Seconds, Failure> {
        let of = digests.len() * LINES;
        let (time, sum) = Seconds::of(|| Arch::new().dispatch(Reads::<_, LINES> { floor: self, digests }));
        checked(time, sum, of)
    }

    /// The sum of a byte of each line. The loop consists only of the hash, the indices, a mask and the reads.
    #[inline(always)]
    fn sum<const LINES: usize, const RESERVED: usize>(&self, digests: impl Iterator<Item = Digest>) -> Option<u64> {
        let bytes: &[u8; RESERVED] = self.memory.first_chunk()?;
        let size = self.size;
        let mut sum = 0;
        for digest in digests {
            for place in places::<LINES>(digest, size) {
                sum += u64::from(bytes[place & (RESERVED - 1)]);
            }
        }
        Some(sum)
    }

    /// Times the reads of `single`, with the lines of each key prefetched 32 keys before.
    pub(crate) fn prefetched<const LINES: usize>(&self, keys: &[u64]) -> Result<Seconds, Failure> {
        let (bytes, size, hash) = (&self.memory[..], self.size, self.hash);
        let order = |key: u64| {
            let places = places::<LINES>(hash.digest(key), size);
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
        checked(time, Some(sum), keys.len() * LINES)
    }
}

/// Checks the sum of the bytes read, each of which is 1.
fn checked(time: Seconds, sum: Option<u64>, lines: usize) -> Result<Seconds, Failure> {
    let of = lines as u64;
    match sum {
        Some(sum) if sum == of => Ok(time),
        Some(sum) => Err(Failure::KeysLost { contender: NAME.to_owned(), lost: of.abs_diff(sum), of }),
        None => Err(Failure::not_built(NAME, "there is no loop for this size; it can be 64 KB to 16 GB")),
    }
}

/// The positions of a key's lines.
#[inline]
fn places<const LINES: usize>(digest: Digest, size: u64) -> [usize; LINES] {
    let mut digest = digest.get();
    core::array::from_fn(|_| {
        let place = in_memory(scale(digest, size));
        digest = digest.wrapping_mul(FACTOR).rotate_left(32);
        place
    })
}
