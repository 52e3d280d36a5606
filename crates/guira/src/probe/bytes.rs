//! Memory that is read without comparing each position with its end.

#![expect(unsafe_code, reason = "whoever reads has compared the size once, for all positions")]

#[cfg(feature = "concurrent")]
use crate::sync::AtomicU64;
#[cfg(all(feature = "concurrent", any(test, loom, not(target_arch = "x86_64"))))]
use crate::sync::Ordering;

/// Where memory ends, in bytes and, rounded up, in words of 64 bits. Each kind of memory compares what it is counted in: a lookup in a
/// filter that threads share takes an instruction more to multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(super) bytes: u64,
    words: u64,
}

impl End {
    pub(super) const fn after(bytes: u64) -> Self {
        Self { bytes, words: bytes.div_ceil(8) }
    }
}

/// Bytes of which words are read at any of them.
///
/// # Safety
///
/// Where [`reaches`](Self::reaches) was true once, all bytes before that end are there, always.
pub(crate) unsafe trait Bytes {
    /// Whether all bytes before this end are there.
    fn reaches(&self, end: End) -> bool;

    /// The little-endian word that starts at a byte.
    ///
    /// # Safety
    ///
    /// Its last byte is one of them.
    unsafe fn word(&self, byte: usize) -> u64;
}

// SAFETY: the slice has as many bytes, and keeps them.
unsafe impl Bytes for &[u8] {
    #[inline(always)]
    fn reaches(&self, end: End) -> bool {
        self.len() as u64 >= end.bytes
    }

    #[inline(always)]
    unsafe fn word(&self, byte: usize) -> u64 {
        let start = self.as_ptr().wrapping_add(byte).cast::<u64>();
        // SAFETY: the caller promises that the word ends inside the slice. The read needs no alignment.
        u64::from_le(unsafe { start.read_unaligned() })
    }
}

// SAFETY: the slice has as many bytes, and keeps them.
unsafe impl Bytes for &mut [u8] {
    #[inline(always)]
    fn reaches(&self, end: End) -> bool {
        self.len() as u64 >= end.bytes
    }

    #[inline(always)]
    unsafe fn word(&self, byte: usize) -> u64 {
        // SAFETY: the caller promises the same of these bytes.
        unsafe { (&**self).word(byte) }
    }
}

/// Words that other threads may write meanwhile, little-endian. Bits of one of them are read at one moment; those of two that follow
/// each other need not be. Reads are relaxed.
// SAFETY: the slice has as many words of eight bytes, and keeps them.
#[cfg(feature = "concurrent")]
unsafe impl Bytes for &[AtomicU64] {
    #[inline(always)]
    fn reaches(&self, end: End) -> bool {
        self.len() as u64 >= end.words
    }

    #[inline(always)]
    #[cfg(all(target_arch = "x86_64", not(loom)))]
    unsafe fn word(&self, byte: usize) -> u64 {
        let word;
        // One instruction does what `word_of_two` does with eight: each byte that it reads is one that a relaxed load may give. The
        // language has no such load of a word that isn't aligned.
        //
        // SAFETY: the caller promises that the word ends inside the slice. The instruction needs no alignment, and writes nothing.
        unsafe {
            core::arch::asm!(
                "mov {word}, qword ptr [{start} + {byte}]",
                start = in(reg) self.as_ptr(),
                byte = in(reg) byte,
                word = lateout(reg) word,
                options(nostack, preserves_flags, readonly)
            );
        }
        word
    }

    #[inline(always)]
    #[cfg(not(all(target_arch = "x86_64", not(loom))))]
    unsafe fn word(&self, byte: usize) -> u64 {
        word_of_two(self, byte)
    }
}

/// The word that starts at a byte, read as parts of the one or two words that it is in.
#[cfg(feature = "concurrent")]
#[cfg(any(test, loom, not(target_arch = "x86_64")))]
fn word_of_two(words: &[AtomicU64], byte: usize) -> u64 {
    let load = |index: usize| u64::from_le(words[index].load(Ordering::Relaxed));
    let before = 8 * (byte % 8);
    // In two steps, since a shift by all bits of a word would overflow.
    load(byte / 8) >> before | load(byte.div_ceil(8)) << 1 << (63 - before)
}

#[cfg(all(test, feature = "concurrent", not(loom)))]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn words_that_threads_share_are_read_at_any_byte_as_others_are() {
        let bytes: Vec<u8> = (0..80_u8).map(|byte| byte.wrapping_mul(0x9d)).collect();
        let (chunks, _) = bytes.as_chunks();
        let words: Vec<AtomicU64> =
            chunks.iter().map(|&chunk| AtomicU64::new(u64::from_le_bytes(chunk).to_le())).collect();
        let (bytes, words) = (&bytes[..], &words[..]);
        for end in 0..=100 {
            assert_eq!(bytes.reaches(End::after(end)), end <= 80, "{end}");
            assert_eq!(words.reaches(End::after(end)), end <= 80, "{end}");
        }
        assert!(!bytes.reaches(End::after(u64::MAX)) && !words.reaches(End::after(u64::MAX)));
        for byte in 0..=72 {
            // SAFETY: there are 80 bytes.
            let expected = unsafe { bytes.word(byte) };
            assert_eq!(expected.to_le_bytes(), bytes[byte..byte + 8]);
            // SAFETY: there are 80 bytes.
            assert_eq!(unsafe { words.word(byte) }, expected, "byte {byte}");
            assert_eq!(word_of_two(words, byte), expected, "byte {byte}");
        }
    }
}
