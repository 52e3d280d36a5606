use std::time::Instant;

/// Notes the nanoseconds per operation.
pub(crate) fn timed<T>(figures: &mut Vec<f64>, operations: usize, run: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = run();
    figures.push(begin.elapsed().as_secs_f64() * 1e9 / operations as f64);
    result
}

/// The median of some figures.
pub(crate) fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
