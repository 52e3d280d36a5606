use std::time::Instant;

use crate::cast::approximate;

#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub(crate) struct Seconds(f64);

impl Seconds {
    /// Runs a function. Returns the time it took, and its result.
    pub(crate) fn of<T>(run: impl FnOnce() -> T) -> (Self, T) {
        let start = Instant::now();
        let result = run();
        (Self(start.elapsed().as_secs_f64()), result)
    }
}

impl core::ops::AddAssign for Seconds {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

/// Operations, and how long they took together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timed {
    pub(crate) operations: u64,
    pub(crate) time: Seconds,
}

impl core::ops::AddAssign for Timed {
    fn add_assign(&mut self, other: Self) {
        self.operations += other.operations;
        self.time += other.time;
    }
}

/// The paper's unit of speed.
pub(crate) fn million_per_second(operations: u64, Seconds(seconds): Seconds) -> f64 {
    approximate(operations) / 1e6 / seconds
}

/// Nanoseconds per operation.
pub(crate) fn nanoseconds(operations: u64, Seconds(seconds): Seconds) -> f64 {
    1e9 * seconds / approximate(operations)
}

/// The median; of an even number of figures, the mean of the middle two. NaN if there are none.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    let (lower, upper) = (figures.len().saturating_sub(1) / 2, figures.len() / 2);
    match (figures.get(lower), figures.get(upper)) {
        (Some(&lower), Some(&upper)) => f64::midpoint(lower, upper),
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_does_not_care_for_order_or_extremes() {
        assert!((median(vec![9e9, 1.0, 3.0, 2.0, -9e9]) - 2.0).abs() < f64::EPSILON);
        assert!((median(vec![9e9, 1.0, 3.0, -9e9]) - 2.0).abs() < f64::EPSILON, "between the middle two");
        assert!((median(vec![1.0]) - 1.0).abs() < f64::EPSILON);
        assert!(median(Vec::new()).is_nan());
    }
}
