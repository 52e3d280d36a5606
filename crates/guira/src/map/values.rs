use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::MapValue;

/// The most values of a key: the slots of two buckets of 8.
const MOST: usize = 16;

/// The values that a map has for a key, in no particular order. Made by [`CuckooMap::get_all`](crate::CuckooMap::get_all).
///
/// They were copied out of the map, which may be changed meanwhile.
#[derive(Clone)]
pub struct Values<V> {
    /// Those that are still to come, the last one first.
    numbers: ArrayVec<u32, MOST>,
    value: PhantomData<fn() -> V>,
}

impl<V> Values<V> {
    pub(super) const NONE: Self = Self { numbers: ArrayVec::new_const(), value: PhantomData };

    pub(super) fn push(&mut self, number: u32) {
        self.numbers.push(number);
    }
}

impl<V: MapValue> Iterator for Values<V> {
    type Item = V;

    #[inline]
    fn next(&mut self) -> Option<V> {
        self.numbers.pop().map(V::from_bits)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.numbers.len(), Some(self.numbers.len()))
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
