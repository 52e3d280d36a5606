use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;

use super::MapValue;

/// The most values of a key: the slots of two buckets of 8.
const MOST: usize = 16;

/// The values that a map has for a key, in no particular order. Made by [`CuckooMap::get_all`](crate::CuckooMap::get_all).
///
/// They were copied out of the map, which may be changed meanwhile.
#[derive(Clone)]
pub struct Values<V> {
    numbers: [u32; MOST],
    /// How many of the numbers are still to come, the last one first.
    len: usize,
    value: PhantomData<fn() -> V>,
}

impl<V> Values<V> {
    pub(super) const NONE: Self = Self { numbers: [0; MOST], len: 0, value: PhantomData };

    pub(super) fn push(&mut self, number: u32) {
        self.numbers[self.len] = number;
        self.len += 1;
    }
}

impl<V: MapValue> Iterator for Values<V> {
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

impl<V: MapValue> ExactSizeIterator for Values<V> {}
impl<V: MapValue> FusedIterator for Values<V> {}

impl<V: MapValue + fmt::Debug> fmt::Debug for Values<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Values ")?;
        formatter.debug_list().entries(self.clone()).finish()
    }
}
