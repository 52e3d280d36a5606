//! The codes of four sorted nibbles, by which a semi-sorted bucket stores them in 12 bits.

/// The bits of a fingerprint that are sorted and coded.
pub(super) const NIBBLE_BITS: u32 = 4;
pub(super) const CODE_BITS: u32 = 12;
/// How many multisets of four nibbles there are: C(19, 4).
pub(super) const CODES: usize = 3876;

/// The nibbles of each code, lowest first. Codes from [`CODES`] on don't occur; 12 bits can't index past the end.
pub(super) static NIBBLES: [u16; 4096] = {
    let mut nibbles = [0; 4096];
    let mut sorted: [u32; 4] = [0; 4];
    loop {
        let code = code_of(sorted) as usize;
        let mut word = 0;
        let mut index = 4;
        while index > 0 {
            index -= 1;
            // Below 16, so that nothing is lost.
            word = (word << NIBBLE_BITS) | sorted[index].to_le_bytes()[0] as u16;
        }
        nibbles[code] = word;
        // The next four in order: raise the first one that is below its successor, and set those before it to 0.
        let mut index = 0;
        while index < 3 && sorted[index] == sorted[index + 1] {
            sorted[index] = 0;
            index += 1;
        }
        if sorted[index] == 15 {
            break;
        }
        sorted[index] += 1;
    }
    nibbles
};

/// The rank of four sorted nibbles a ≤ b ≤ c ≤ d: C(d + 3, 4) + C(c + 2, 3) + C(b + 1, 2) + a. Four zeros have rank 0,
/// so an empty table is all zeros.
#[inline]
pub(super) const fn code_of([a, b, c, d]: [u32; 4]) -> u32 {
    RANKS[2][d as usize] + RANKS[1][c as usize] + RANKS[0][b as usize] + a
}

/// C(n + 1, 2), C(n + 2, 3) and C(n + 3, 4) for each nibble n.
pub(super) static RANKS: [[u32; 16]; 3] = {
    let mut ranks = [[0; 16]; 3];
    let mut n = 0;
    while n < 16 {
        let nibble = n as usize;
        ranks[0][nibble] = (n + 1) * n / 2;
        ranks[1][nibble] = (n + 2) * (n + 1) * n / 6;
        ranks[2][nibble] = (n + 3) * (n + 2) * (n + 1) * n / 24;
        n += 1;
    }
    ranks
};

/// What the two lower nibbles and the two upper ones, as they follow each other in a byte, add to a rank.
#[expect(clippy::cast_possible_truncation, reason = "all ranks are below 2^12")]
pub(super) static RANKS_OF_PAIRS: [[u16; 256]; 2] = {
    let mut ranks = [[0; 256]; 2];
    let mut pair = 0;
    while pair < 256 {
        let (first, second) = (pair % 16, pair / 16);
        ranks[0][pair] = first as u16 + RANKS[0][second] as u16;
        ranks[1][pair] = (RANKS[1][first] + RANKS[2][second]) as u16;
        pair += 1;
    }
    ranks
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cast::to_usize;

    #[test]
    fn every_bucket_of_four_nibbles_has_a_code_of_its_own() {
        let mut seen = [false; CODES];
        for word in 0..=u16::MAX {
            let nibble = |index: u16| u32::from(word >> (4 * index) & 0xf);
            let mut sorted = [nibble(0), nibble(1), nibble(2), nibble(3)];
            let is_sorted = sorted.is_sorted();
            sorted.sort_unstable();
            let code = to_usize(u64::from(code_of(sorted)));
            seen[code] = true;
            if is_sorted {
                assert_eq!(NIBBLES[code], word);
            }
        }
        assert!(seen.iter().all(|&seen| seen));
    }
}
