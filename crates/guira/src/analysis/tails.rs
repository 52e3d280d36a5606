//! Bounds of moments and tails of binomial, Poisson and normal numbers, as logarithms: some are too small for `f64`.

/// The logarithm of a bound of E\[(M / μ)^t\] for a binomial or Poisson number M of mean μ.
///
/// ((t/μ) / ln(1 + t/μ))^t: T. D. Ahle, "Sharp and simple bounds for the raw moments of the binomial and Poisson
/// distributions" (2022). It is sharp where μ is not much below t.
pub(super) fn log_inflation_bound(power: f64, mean: f64) -> f64 {
    let ratio = power / mean;
    if ratio < 1e-9 { 0.0 } else { power * libm::log(ratio / libm::log1p(ratio)) }
}

/// The logarithm of E\[(M / μ)^t\] for a Poisson number M of mean μ, summed up.
pub(super) fn log_inflation(power: f64, mean: f64) -> f64 {
    let (mut log_weight, mut value) = (-mean, 0.0);
    let (mut sum, mut previous) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    loop {
        value += 1.0;
        log_weight += libm::log(mean / value);
        let term = log_weight + power * libm::log(value);
        sum = term.max(sum) + libm::log1p(libm::exp(-libm::fabs(term - sum)));
        if term < previous && term < sum - 7.0 {
            return sum - power * libm::log(mean);
        }
        previous = term;
    }
}

/// The logarithm of a bound of the probability that a binomial number is at least `least`: its first term and a geometric
/// series. `choices` is ln C(trials, least).
pub(super) fn log_binomial_tail(trials: f64, probability: f64, least: f64, choices: f64) -> f64 {
    if least > trials {
        return f64::NEG_INFINITY;
    }
    let ratio = (trials - least) * probability / ((least + 1.0) * (1.0 - probability));
    if probability >= 1.0 || ratio >= 1.0 {
        // That many are to be expected.
        return 0.0;
    }
    let first_term = choices + least * libm::log(probability) + (trials - least) * libm::log1p(-probability);
    (first_term - libm::log1p(-ratio)).min(0.0)
}

/// How many standard deviations a normal value exceeds with at most this probability: ½ exp(-z²/2) bounds its tail.
pub(super) fn deviations_exceeded_with(probability: f64) -> f64 {
    libm::sqrt(-2.0 * libm::log(2.0 * probability))
}

/// ln C(n, k).
pub(super) fn log_choices(n: f64, k: f64) -> f64 {
    libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_bounded_by_what_bounds_them() {
        // E[M^t] of a Poisson number of mean 1 are the Bell numbers.
        for (power, bell) in [(1.0, 1.0), (2.0, 2.0), (3.0, 5.0), (4.0, 15.0), (5.0, 52.0), (10.0, 115_975.0)] {
            let moment = libm::exp(log_inflation(power, 1.0));
            assert!((moment / bell - 1.0).abs() <= 2e-3, "{moment} is not {bell}");
            assert!(libm::exp(log_inflation_bound(power, 1.0)) >= bell);
        }
    }
}
