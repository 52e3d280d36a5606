//! Arrays of NumPy, and others with a buffer: integers, truth values, and strings and bytes of a fixed length.

use guira::{Key, KeyHasher};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrow::{Value, refused};
use crate::batch::{BLOCK, Rows, Visit, reserve, visit_rows};
use crate::memory::Items;

/// An array whose items are keys.
pub(crate) struct Array {
    items: Items,
    kind: Kind,
    is_big_endian: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Unsigned(usize),
    Signed(usize),
    /// Truth values, each in a byte.
    Truth,
    /// Bytes, padded with zeros.
    Bytes,
    /// Four bytes per character, padded with zeros.
    Text,
    /// A single character of four bytes, which may be zero.
    Character,
    /// Bytes without padding.
    Void,
}

impl Array {
    /// `name` is that of the column, for errors. NumPy alone pads characters with zeros.
    pub(crate) fn of_buffer(buffer: PyUntypedBuffer, name: &str, is_numpy: bool) -> PyResult<Self> {
        let (kind, is_big_endian) = kind_of(buffer.format().to_bytes(), buffer.item_size()).ok_or_else(|| {
            if is_float(buffer.format().to_bytes()) {
                return refused(
                    name,
                    format_args!("of float{}", 8 * buffer.item_size()),
                    "a float is no key, since equal numbers have several spellings; cast it to integers, with .astype('int64') or, \
                     if pandas made floats of integers since some are missing, with .astype('Int64')",
                );
            }
            refused(
                name,
                format_args!("with items of format {:?}", buffer.format()),
                "keys are integers, strings or bytes; turn it into one of them, as you like it to be hashed",
            )
        })?;
        let kind = if matches!(kind, Kind::Text) && !is_numpy { Kind::Character } else { kind };
        let items = Items::of_buffer(buffer);
        let items =
            items.ok_or_else(|| PyValueError::new_err("the items of the array are not side by side: copy it"))?;
        Ok(Self { items, kind, is_big_endian })
    }

    pub(crate) const fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn visit(&self, hasher: &KeyHasher, visitor: &mut impl Visit) -> PyResult<()> {
        match self.kind {
            Kind::Unsigned(1) => self.visit_integers(visitor, |[byte]| u64::from(byte)),
            Kind::Unsigned(2) => {
                self.visit_integers(visitor, |bytes| u64::from(self.ordered(u16::from_le_bytes(bytes))))
            }
            Kind::Unsigned(4) => {
                self.visit_integers(visitor, |bytes| u64::from(self.ordered(u32::from_le_bytes(bytes))))
            }
            Kind::Unsigned(_) if self.is_big_endian => {
                self.visit_integers(visitor, |bytes| u64::from_le_bytes(bytes).swap_bytes())
            }
            Kind::Unsigned(_) => match self.words() {
                Some(words) => visit_blocks(words, visitor),
                None => self.visit_integers(visitor, u64::from_le_bytes),
            },
            Kind::Signed(1) => self.visit_integers(visitor, |bytes| widened(i8::from_le_bytes(bytes))),
            Kind::Signed(2) => {
                self.visit_integers(visitor, |bytes| widened(self.ordered(u16::from_le_bytes(bytes)).cast_signed()))
            }
            Kind::Signed(4) => {
                self.visit_integers(visitor, |bytes| widened(self.ordered(u32::from_le_bytes(bytes)).cast_signed()))
            }
            Kind::Signed(_) if self.is_big_endian => {
                self.visit_integers(visitor, |bytes| i64::from_le_bytes(bytes).swap_bytes())
            }
            Kind::Signed(_) => match self.words() {
                Some(words) => visit_blocks(bytemuck::cast_slice::<_, i64>(words), visitor),
                None => self.visit_integers(visitor, i64::from_le_bytes),
            },
            Kind::Truth => self.visit_integers(visitor, |[byte]| u64::from(byte != 0)),
            Kind::Bytes => visit_rows(self.len(), 0, None, visitor, |row| Ok(without_padding(self.items.bytes(row)))),
            Kind::Void => visit_rows(self.len(), 0, None, visitor, |row| Ok(self.items.bytes(row))),
            Kind::Text | Kind::Character => {
                let mut text = String::new();
                visit_rows(self.len(), 0, None, visitor, |row| {
                    self.read_text(row, &mut text)?;
                    Ok(hasher.digest(&text))
                })
            }
        }
    }

    /// Visits the items of an array of strings or bytes.
    pub(crate) fn visit_values(&self, visit: &mut dyn FnMut(Option<Value<'_>>) -> PyResult<()>) -> PyResult<()> {
        let mut text = String::new();
        (0..self.len()).try_for_each(|row| match self.kind {
            Kind::Bytes => visit(Some(Value::Bytes(without_padding(self.items.bytes(row))))),
            Kind::Void => visit(Some(Value::Bytes(self.items.bytes(row)))),
            Kind::Text | Kind::Character => {
                self.read_text(row, &mut text)?;
                visit(Some(Value::Text(text.as_bytes())))
            }
            Kind::Unsigned(_) | Kind::Signed(_) | Kind::Truth => {
                Err(refused("", format_args!("of numbers"), "strings or bytes are expected"))
            }
        })
    }

    /// Integers of 64 bits where they are, if this machine reads them so. They need not be copied.
    fn words(&self) -> Option<&[u64]> {
        let is_native = self.is_big_endian == cfg!(target_endian = "big");
        let bytes = self.items.side_by_side(0..self.len()).filter(|_| is_native)?;
        bytemuck::try_cast_slice(bytes).ok()
    }

    /// An integer that was read as little-endian, with its bytes swapped if items are big-endian.
    fn ordered<T: SwapBytes>(&self, integer: T) -> T {
        if self.is_big_endian { integer.swapped() } else { integer }
    }

    /// Visits integers, which are keys by their value: each is a 64-bit integer with that value.
    fn visit_integers<const N: usize, K: Key>(
        &self,
        visitor: &mut impl Visit,
        value: impl Fn([u8; N]) -> K,
    ) -> PyResult<()> {
        let mut keys = Vec::new();
        reserve(&mut keys, BLOCK.min(self.len()))?;
        for start in (0..self.len()).step_by(BLOCK) {
            let block = start..self.len().min(start + BLOCK);
            keys.clear();
            match self.items.side_by_side(block.clone()) {
                Some(bytes) => keys.extend(bytes.as_chunks::<N>().0.iter().map(|&bytes| value(bytes))),
                None => keys.extend(block.map(|row| value(self.items.array(row)))),
            }
            visitor.block(&keys, Rows::From(start))?;
        }
        Ok(())
    }

    /// The UTF-8 of an item of four bytes per character.
    fn read_text(&self, row: usize, text: &mut String) -> PyResult<()> {
        text.clear();
        let characters = self.items.bytes(row).as_chunks::<4>().0;
        let end = match self.kind {
            Kind::Character => characters.len(),
            _ => characters.iter().rposition(|bytes| *bytes != [0; 4]).map_or(0, |last| last + 1),
        };
        for bytes in &characters[..end] {
            let number = self.ordered(u32::from_le_bytes(*bytes));
            let character = char::from_u32(number).ok_or_else(|| {
                PyValueError::new_err(format!("item {row} has U+{number:04X}, which UTF-8 does not encode"))
            })?;
            text.push(character);
        }
        Ok(())
    }
}

fn visit_blocks<K: Key>(keys: &[K], visitor: &mut impl Visit) -> PyResult<()> {
    let mut blocks = keys.chunks(BLOCK).enumerate();
    blocks.try_for_each(|(number, block)| visitor.block(block, Rows::From(number * BLOCK)))
}

trait SwapBytes {
    fn swapped(self) -> Self;
}

impl SwapBytes for u16 {
    fn swapped(self) -> Self {
        self.swap_bytes()
    }
}

impl SwapBytes for u32 {
    fn swapped(self) -> Self {
        self.swap_bytes()
    }
}

/// The 64-bit integer of this value.
pub(crate) fn widened(value: impl Into<i64>) -> i64 {
    value.into()
}

/// Removes trailing zeros, as NumPy does for its own bytes.
fn without_padding(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &bytes[..end]
}

/// Whether a format is that of numbers with a fraction.
fn is_float(format: &[u8]) -> bool {
    let ([letter] | [b'@' | b'=' | b'<' | b'>' | b'!', letter]) = format else { return false };
    matches!(letter, b'e' | b'f' | b'd' | b'g')
}

/// The kind of items of a format, and whether they are big-endian; `None` if they are no keys.
fn kind_of(format: &[u8], size: usize) -> Option<(Kind, bool)> {
    let (order, format) = match format {
        [order @ (b'@' | b'=' | b'<' | b'>' | b'!'), format @ ..] => (*order, format),
        _ => (b'@', format),
    };
    let is_big_endian = match order {
        b'>' | b'!' => true,
        b'<' => false,
        _ => cfg!(target_endian = "big"),
    };
    let digits = format.iter().take_while(|c| c.is_ascii_digit()).count();
    let kind = match (digits, &format[digits..]) {
        (0, b"B" | b"H" | b"I" | b"L" | b"Q" | b"N") => Kind::Unsigned(size),
        (0, b"b" | b"h" | b"i" | b"l" | b"q" | b"n") => Kind::Signed(size),
        (0, b"?") if size == 1 => Kind::Truth,
        (_, b"s") => Kind::Bytes,
        (_, b"w") => Kind::Text,
        (_, b"x") => Kind::Void,
        _ => return None,
    };
    match kind {
        Kind::Unsigned(size) if !matches!(size, 1 | 2 | 4 | 8) => None,
        Kind::Signed(size) if !matches!(size, 1 | 2 | 4 | 8) => None,
        kind => Some((kind, is_big_endian)),
    }
}
