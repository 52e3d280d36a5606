use guira::Digest;

/// Sorted numbers, each stored as its distance from the one before.
///
/// Digests take most of the memory of a build. Of 2^10 digests in a range of 2^56, nearly all distances are below 2^48 and
/// take six bytes instead of eight.
pub(super) struct Run {
    distances: Box<[u8]>,
    len: usize,
}

/// The numbers of a run; the last of several runs may have fewer.
pub(super) const RUN_LENGTH: usize = 1 << 10;

const SHORT: usize = 6;
/// Announces a distance that follows in eight bytes.
const ESCAPE: [u8; SHORT] = [0xff; SHORT];

impl Run {
    pub(super) fn of(sorted: &[u64]) -> Self {
        debug_assert!(sorted.is_sorted());
        let mut distances = Vec::with_capacity(SHORT * sorted.len() + 64);
        let mut last = 0;
        for &number in sorted {
            let distance = (number - last).to_le_bytes();
            last = number;
            match distance.split_at(SHORT) {
                (short, [0, 0]) if short != ESCAPE => distances.extend_from_slice(short),
                _ => {
                    distances.extend_from_slice(&ESCAPE);
                    distances.extend_from_slice(&distance);
                }
            }
        }
        Self { distances: distances.into(), len: sorted.len() }
    }

    /// Runs of sorted numbers; all but the last are full.
    pub(super) fn all_of(sorted: &[u64]) -> Vec<Self> {
        sorted.chunks(RUN_LENGTH).map(Self::of).collect()
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        let (mut rest, mut last) = (&*self.distances, 0);
        std::iter::from_fn(move || {
            let (short, behind) = rest.split_first_chunk::<SHORT>()?;
            let mut distance = [0; 8];
            distance[..SHORT].copy_from_slice(short);
            rest = behind;
            if *short == ESCAPE {
                (distance, rest) = rest.split_first_chunk().map(|(long, behind)| (*long, behind))?;
            }
            last += u64::from_le_bytes(distance);
            Some(last)
        })
    }
}

/// The number by which a digest is sorted: its halves are swapped, since the low one is the fingerprint.
pub(super) fn number_of(digest: Digest) -> u64 {
    digest.get().rotate_left(32)
}

/// The digest of a number.
pub(super) fn digest_of(number: u64) -> Digest {
    Digest::new(number.rotate_right(32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_comes_back(sorted: &[u64]) {
        let run = Run::of(sorted);
        assert_eq!(run.len(), sorted.len());
        assert_eq!(run.numbers().collect::<Vec<_>>(), sorted);
    }

    #[test]
    fn numbers_come_back_whatever_their_distances() {
        const LONG: u64 = (1 << 48) - 1;
        assert_comes_back(&[]);
        assert_comes_back(&[0, 0, 1, 1]);
        assert_comes_back(&[LONG - 1, 2 * LONG - 1, 3 * LONG, 4 * LONG + 1, u64::MAX, u64::MAX]);
        assert_comes_back(&[u64::MAX]);
        let spread: Vec<u64> = (0..1000).map(|number| number * 0x0123_4567_89ab).collect();
        assert_comes_back(&spread);
    }

    #[test]
    fn spread_numbers_take_little_more_than_six_bytes() {
        let mut numbers: Vec<u64> =
            (1..=RUN_LENGTH as u64).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8).collect();
        numbers.sort_unstable();
        assert!(Run::of(&numbers).distances.len() < 6 * RUN_LENGTH + RUN_LENGTH / 4);
    }

    #[test]
    fn a_digest_comes_back_from_its_number() {
        assert_eq!(number_of(Digest::new(0x0123_4567_89ab_cdef)), 0x89ab_cdef_0123_4567);
        assert_eq!(digest_of(number_of(Digest::new(0x0123_4567_89ab_cdef))), Digest::new(0x0123_4567_89ab_cdef));
    }
}
