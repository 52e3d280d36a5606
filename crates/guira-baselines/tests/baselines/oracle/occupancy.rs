//! How many cells are occupied when keys are thrown into them at random.

use super::binomial::SIGMAS;

/// How far the share of occupied cells may be from its mean, 1 - exp(-keys per cell).
///
/// The bits that a key sets, or the cells that few keys fall into, are nearly independent of each other.
pub(crate) fn scatter(cells: f64, keys_per_cell: f64) -> f64 {
    let variance = ((-keys_per_cell).exp() - (1.0 + keys_per_cell) * (-2.0 * keys_per_cell).exp()) / cells;
    SIGMAS * variance.max(0.0).sqrt()
}
