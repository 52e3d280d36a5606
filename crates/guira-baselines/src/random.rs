use crate::cast::{low_32, scale};
use crate::mixing::mixed;

/// The random choices of a filter, derived from its seed (`SplitMix64`).
#[derive(Clone, Debug)]
pub(crate) struct Random {
    seed: u64,
    drawn: u64,
}

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self { seed, drawn: 0 }
    }

    #[inline]
    pub(crate) const fn draw(&mut self) -> u64 {
        self.drawn = self.drawn.wrapping_add(1);
        mixed(self.seed, self.drawn)
    }

    /// A number below `limit`.
    #[inline]
    pub(crate) const fn below(&mut self, limit: u32) -> u32 {
        low_32(scale(self.draw(), limit as u64).0)
    }
}
