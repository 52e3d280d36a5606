use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;

use super::Value;

/// The most values of a key: the slots of two buckets of 8.
const MOST: usize = 16;

/// The values that a map has for a key, in no particular order. Made by [`CuckooMap::get`](crate::CuckooMap::get).
///
/// They were copied out of the map, which may be changed meanwhile.
#[derive(Clone)]
pub struct Matches<V> {
    numbers: [u32; MOST],
    /// How many of the numbers are still to come, the last one first.
    len: usize,
    value: PhantomData<fn() -> V>,
}

impl<V> Matches<V> {
    pub(super) const NONE: Self = Self { numbers: [0; MOST], len: 0, value: PhantomData };

    pub(super) fn push(&mut self, number: u32) {
        self.numbers[self.len] = number;
        self.len += 1;
    }
}

impl<V: Value> Iterator for Matches<V> {
    type Item = V;

    #[inline]
    fn next(&mut self) -> Option<V> {
        self.len = self.len.checked_sub(1)?;
        Some(V::from_bits(self.numbers[self.len]))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }
}

impl<V: Value> ExactSizeIterator for Matches<V> {}
impl<V: Value> FusedIterator for Matches<V> {}

impl<V: Value + fmt::Debug> fmt::Debug for Matches<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Matches ")?;
        formatter.debug_list().entries(self.clone()).finish()
    }
}
