//! Work that several threads share: as many as there are processors, or as were asked for.

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelIterator};

use crate::failure::Failure;
use crate::keys::Block;

/// What is smaller is done sooner than shared.
const MIN_SHARED_BYTES: usize = 1 << 16;

/// Chooses the number of threads, once and before all work; 0 leaves it at the number of processors.
pub(crate) fn choose(count: usize) -> Result<(), Failure> {
    if count == 0 {
        return Ok(());
    }
    rayon::ThreadPoolBuilder::new().num_threads(count).build_global().map_err(Failure::new)
}

/// A block in pieces, one for each thread.
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
