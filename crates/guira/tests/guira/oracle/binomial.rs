//! How far chance may take a count of successes from its probability.

/// Standard deviations, or what is as unlikely where a distribution is not normal. Of a million correct filters, about
/// one is beyond them.
pub(crate) const SIGMAS: f64 = 5.0;

/// Checks a count of successes among independent trials, whose probability lies in a range.
///
/// By Chernoff's bound, a count with share q beyond a probability p is as unlikely as exp(-trials · D(q‖p)), D being the
/// relative entropy; for a normal distribution that is exp(-σ² / 2), hence √(2 · trials · D) in place of standard
/// deviations. It holds for small counts too.
pub(crate) fn assert_share(successes: u64, trials: u64, least: f64, most: f64, what: &str) {
    let share = successes as f64 / trials as f64;
    let nearest = share.clamp(least, most);
    let sigmas = (2.0 * trials as f64 * relative_entropy(share, nearest)).sqrt();
    assert!(
        sigmas <= SIGMAS,
        "{what}: {successes} of {trials}, a share of {share:.4e} where {least:.4e} to {most:.4e} is expected: \
         {sigmas:.1} standard deviations"
    );
}

/// D(q‖p) of two coins.
fn relative_entropy(q: f64, p: f64) -> f64 {
    let term = |q: f64, p: f64| if q == 0.0 { 0.0 } else { q * (q / p).ln() };
    (term(q, p) + term(1.0 - q, 1.0 - p)).max(0.0)
}
