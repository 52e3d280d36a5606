//! Work shared between threads: one per processor, or as many as were asked for.

use std::num::NonZeroUsize;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelIterator};

use crate::failure::Failure;
use crate::keys::Block;

/// Smaller blocks are processed sooner than shared.
const MIN_SHARED_BYTES: usize = 1 << 16;

/// Some more than processors are of use where lookups wait for the disk. Far more wait for each other most of the time.
const MOST_PER_PROCESSOR: usize = 4;

/// Starts the threads, once, before all work; 0 means one per processor.
pub(crate) fn choose(count: usize) -> Result<(), Failure> {
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let count = count.min(processors.saturating_mul(MOST_PER_PROCESSOR));
    rayon::ThreadPoolBuilder::new().num_threads(count).build_global().map_err(|error| {
        Failure::new(format_args!(
            "the threads can't be started, for lack of memory perhaps: {error}: give --threads 1"
        ))
    })
}

/// Splits a block into a piece for each thread.
pub(crate) fn pieces<'input>(block: &Block<'input>) -> Vec<Block<'input>> {
    if block.bytes().len() < MIN_SHARED_BYTES { vec![*block] } else { block.pieces(rayon::current_num_threads()) }
}

/// Calls `work` with each piece and a worker of its own.
pub(crate) fn for_each<W: Send>(workers: &mut [W], pieces: &[Block<'_>], work: impl Fn(&mut W, &Block<'_>) + Sync) {
    match pieces {
        // Not worth waking anyone.
        [piece] => work(&mut workers[0], piece),
        pieces => workers.par_iter_mut().zip(pieces.par_iter()).for_each(|(worker, piece)| work(worker, piece)),
    }
}
