use std::time::Instant;

/// How much is measured.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) rounds: u64,
    /// The keys asked for in a round.
    pub(crate) queries: u64,
}

impl Scale {
    pub(crate) const TEST: Self = Self { rounds: 1, queries: 1000 };

    pub(crate) fn of(size: u64) -> Self {
        Self { rounds: 5, queries: if size < 1 << 20 { 1 << 20 } else { 4 << 20 } }
    }
}

/// The median of some figures.
pub(crate) fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

pub(crate) fn nanoseconds_per(operations: usize, run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64() * 1e9 / operations as f64
}
