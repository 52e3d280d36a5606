//! Memory that is asked for, so that a command is refused where there is none: what the standard library takes without asking ends the
//! server.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use smallvec::{Array, SmallVec};
use zerocopy::FromZeros as _;

use crate::error::CommandError;
use crate::reply::Answers;

fn no_memory<E>(_: E) -> CommandError {
    CommandError::OutOfMemory
}

/// A list with room for so many items.
pub(crate) fn list_for<T>(count: usize) -> Result<Vec<T>, CommandError> {
    let mut list = Vec::new();
    list.try_reserve_exact(count).map_err(no_memory)?;
    Ok(list)
}

/// So many zeros. Many of them are pages that the system clears when they are first written.
pub(crate) fn zeroed(count: usize) -> Result<Vec<u8>, CommandError> {
    u8::new_vec_zeroed(count).map_err(no_memory)
}

/// Collects items whose number is known.
pub(crate) fn collected<T>(items: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, CommandError> {
    let mut list = list_for(items.len())?;
    list.extend(items);
    Ok(list)
}

/// Collects items whose number is known, on the stack where there are few. The memory is there before the first item is made.
#[inline]
pub(crate) fn gathered<A: Array>(items: impl ExactSizeIterator<Item = A::Item>) -> Result<SmallVec<A>, CommandError> {
    let mut list = short_list_for(items.len())?;
    list.extend(items);
    Ok(list)
}

/// A list with room for so many items, on the stack where there are few.
#[inline]
pub(crate) fn short_list_for<A: Array>(count: usize) -> Result<SmallVec<A>, CommandError> {
    let mut list = SmallVec::new();
    if count > list.inline_size() {
        list.try_reserve_exact(count).map_err(no_memory)?;
    }
    Ok(list)
}

/// So many answers, all of them no as yet.
#[inline]
pub(crate) fn answers(count: usize) -> Result<Answers<bool>, CommandError> {
    let mut answers: Answers<bool> = short_list_for(count)?;
    if !answers.spilled() {
        return Ok(Answers::from_elem(false, count));
    }
    answers.resize(count, false);
    Ok(answers)
}

pub(crate) fn copied(bytes: &[u8]) -> Result<Vec<u8>, CommandError> {
    let mut copy = list_for(bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// A box that can be asked for: the standard library's can't be, but the memory of a list becomes one.
#[derive(Clone, Debug, PartialEq)]
pub struct Boxed<T>(Box<[T; 1]>);

impl<T> Boxed<T> {
    /// Puts a value into a box.
    pub(crate) fn new(value: T) -> Result<Self, CommandError> {
        let mut list = list_for(1)?;
        list.push(value);
        list.try_into().map(Self).map_err(no_memory)
    }

    /// The pointer to the value, which a box of the standard library frees.
    pub(crate) fn into_raw(self) -> NonNull<T> {
        NonNull::from(Box::leak(self.0)).cast()
    }
}

impl<T> Deref for Boxed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        let [value] = &*self.0;
        value
    }
}

impl<T> DerefMut for Boxed<T> {
    fn deref_mut(&mut self) -> &mut T {
        let [value] = &mut *self.0;
        value
    }
}

/// A text, as far as there is memory for it.
#[derive(Default)]
struct Text(String);

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.try_reserve(text.len()).map_err(|_| fmt::Error)?;
        self.0.push_str(text);
        Ok(())
    }
}

/// What `format!` makes.
pub(crate) fn text(arguments: fmt::Arguments<'_>) -> Result<String, CommandError> {
    let mut text = Text::default();
    fmt::write(&mut text, arguments).map_err(no_memory)?;
    Ok(text.0)
}
