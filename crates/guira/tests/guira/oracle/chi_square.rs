//! How far chance may take counts in many cells from an even spread.

use super::binomial::SIGMAS;

/// Checks counts in cells against the numbers expected there, by Pearson's χ².
///
/// Laurent and Massart (2000): χ² with k degrees of freedom exceeds k + 2√(kx) + 2x with probability exp(-x) at the most,
/// and stays below k - 2√(kx) as rarely; too even a spread is no chance either.
pub(crate) fn assert_spread(cells: impl IntoIterator<Item = (u64, f64)>, what: &str) {
    let mut degrees = -1.0;
    let mut statistic = 0.0;
    for (count, expected) in cells {
        assert!(expected >= 5.0, "{what}: {expected} expected in a cell are too few for a χ² test");
        degrees += 1.0;
        statistic += (count as f64 - expected).powi(2) / expected;
    }
    let unlikeliness = SIGMAS * SIGMAS / 2.0;
    let around = 2.0 * (degrees * unlikeliness).sqrt();
    let range = degrees - around..=degrees + around + 2.0 * unlikeliness;
    assert!(
        range.contains(&statistic),
        "{what}: χ² is {statistic:.1} with {degrees} degrees of freedom, not {range:?}"
    );
}
