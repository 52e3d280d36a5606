//! Keys in blocks: a block is hashed and its buckets are prefetched, and while they are on their way the block before it
//! is finished.

use core::convert::Infallible;
use core::ops::Range;

use crate::cuckoo::{BLOCK, LocatedBlock};
use crate::digest::Digest;

/// How many keys are prefetched at a time when the table is changed.
const TURN: usize = 4;

/// Looks up many keys block by block, with prefetching. `digest` computes the digests of the keys with these numbers,
/// `locate` finds the buckets of a block, and `answer` looks up a block and prefetches the buckets of the next one. Its
/// first call only prefetches: its block holds no keys.
#[inline]
pub(crate) fn look_up_each(
    answers: &mut [bool],
    digest: impl Fn(Range<usize>, &mut [Digest]),
    mut locate: impl FnMut(&[Digest; BLOCK], &mut LocatedBlock),
    mut answer: impl FnMut(&Block, &LocatedBlock, &mut [bool]),
) {
    let (count, mut unused) = (answers.len(), [false; BLOCK]);
    let Ok::<(), Infallible>(()) = each_block(
        answers,
        count,
        digest,
        |_, digests, located| locate(digests, located),
        |answers, block, next, numbers| {
            answer(block, next, numbers.map_or(&mut unused[..], |numbers| &mut answers[numbers]));
            Ok(())
        },
    );
}

/// Works on many keys block by block, with prefetching: as [`look_up_each`] does, but `work` is told which keys a block has, and may
/// change the table, which is given to it and to `locate`. Ends with the first error of `work`.
#[inline]
pub(super) fn each_block<T: ?Sized, E>(
    table: &mut T,
    count: usize,
    digest: impl Fn(Range<usize>, &mut [Digest]),
    mut locate: impl FnMut(&T, &[Digest; BLOCK], &mut LocatedBlock),
    mut work: impl FnMut(&mut T, &Block, &LocatedBlock, Option<Range<usize>>) -> Result<(), E>,
) -> Result<(), E> {
    let mut blocks = [Block::NOTHING; 2];
    let [mut block, mut next] = blocks.each_mut();
    for first in (0..count + BLOCK).step_by(BLOCK) {
        if first < count {
            let numbers = first..count.min(first + BLOCK);
            digest(numbers.clone(), &mut next.digests[..numbers.len()]);
            locate(table, &next.digests, &mut next.located);
        }
        let numbers = first.checked_sub(BLOCK).map(|before| before..count.min(first));
        work(table, block, &next.located, numbers)?;
        core::mem::swap(&mut block, &mut next);
    }
    Ok(())
}

/// Keys to be looked for, and their buckets.
pub(crate) struct Block {
    pub(crate) digests: [Digest; BLOCK],
    pub(crate) located: LocatedBlock,
}

impl Block {
    const NOTHING: Self = Self { digests: [Digest::new(0); BLOCK], located: LocatedBlock::NOTHING };
}

/// Looks up many keys block by block in a table that is in the core's own cache. The last block may have fewer answers
/// than digests; those in excess are not of any key.
#[inline]
pub(crate) fn look_up_in_cache(
    answers: &mut [bool],
    digest: impl Fn(Range<usize>, &mut [Digest]),
    mut answer: impl FnMut(&[Digest; BLOCK], &mut [bool]),
) {
    let mut digests = [Digest::new(0); BLOCK];
    for (number, answers) in answers.chunks_mut(BLOCK).enumerate() {
        let first = number * BLOCK;
        digest(first..first + answers.len(), &mut digests[..answers.len()]);
        answer(&digests, answers);
    }
}

/// Calls `change` with each number below `count` and its digest, in order, about a block after it called `prefetch` with
/// that digest. Both are given `table`. Ends with the first error of `change`.
#[inline]
pub(crate) fn change_each<T: ?Sized, E>(
    table: &mut T,
    count: usize,
    digest: impl Fn(usize) -> Digest,
    prefetch: impl Fn(&T, &[Digest]),
    mut change: impl FnMut(&mut T, usize, Digest) -> Result<(), E>,
) -> Result<(), E> {
    let mut blocks = [[Digest::new(0); BLOCK]; 2];
    let [mut digests, mut next] = blocks.each_mut();
    for first in (0..count + BLOCK).step_by(BLOCK) {
        if first < count {
            for (number, place) in (first..count).zip(&mut *next) {
                *place = digest(number);
            }
        }
        // In turns: too few cache lines can be in flight for a whole block at once.
        for turn in (0..BLOCK).step_by(TURN) {
            if first < count {
                prefetch(table, &next[turn..(turn + TURN).min(count - first).max(turn)]);
            }
            if let Some(before) = first.checked_sub(BLOCK) {
                let numbers = before + turn..(before + turn + TURN).min(count);
                for (number, &digest) in numbers.zip(&digests[turn..]) {
                    change(table, number, digest)?;
                }
            }
        }
        core::mem::swap(&mut digests, &mut next);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const COUNTS: [usize; 8] = [0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK + 5];

    #[test]
    fn every_number_is_changed_in_order_after_it_was_prefetched() {
        for count in COUNTS {
            let mut changed = Vec::new();
            let prefetched = core::cell::Cell::new(0);
            let result: Result<(), ()> = change_each(
                &mut changed,
                count,
                |number| Digest::new(number as u64 * 10),
                |_, digests| prefetched.set(prefetched.get() + digests.len()),
                |changed, number, digest| {
                    assert_eq!(digest.get(), number as u64 * 10);
                    assert!(number < prefetched.get());
                    changed.push(number);
                    Ok(())
                },
            );
            assert_eq!(result, Ok(()));
            assert_eq!(prefetched.get(), count);
            assert_eq!(changed, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_ends_it() {
        let mut last = 0;
        let result = change_each(
            &mut last,
            1000,
            |number| Digest::new(number as u64),
            |_, _| {},
            |last, number, _| {
                *last = number;
                if number == 500 { Err("stop") } else { Ok(()) }
            },
        );
        assert_eq!((result, last), (Err("stop"), 500));
    }

    fn number_each(numbers: Range<usize>, digests: &mut [Digest]) {
        assert_eq!(numbers.len(), digests.len());
        for (number, digest) in numbers.zip(digests) {
            *digest = Digest::new(number as u64);
        }
    }

    #[test]
    fn every_number_is_answered_by_its_digest() {
        for count in COUNTS {
            let mut answers = Vec::new();
            answers.resize(count, false);
            look_up_in_cache(&mut answers, number_each, |digests, answers| {
                for (answer, digest) in answers.iter_mut().zip(digests) {
                    *answer = digest.get() % 3 == 0;
                }
            });
            assert_eq!(answers, (0..count).map(|number| number % 3 == 0).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_number_is_answered_by_the_digest_located_for_it() {
        for count in COUNTS {
            let mut answers = Vec::new();
            answers.resize(count, false);
            look_up_each(
                &mut answers,
                number_each,
                |digests, located| {
                    for (first, digest) in located.first.iter_mut().zip(digests) {
                        *first = digest.get();
                    }
                },
                |block, _next, answers| {
                    for (answer, bucket) in answers.iter_mut().zip(&block.located.first) {
                        *answer = bucket % 3 == 0;
                    }
                },
            );
            assert_eq!(answers, (0..count).map(|number| number % 3 == 0).collect::<Vec<_>>());
        }
    }
}
