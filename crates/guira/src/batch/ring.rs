/// How many keys are under way at once. Processors have 10 to 50 cache lines on order per core; a key orders two to four.
const DEPTH: usize = 32;

/// For every number below `count`, in order, `finish` with what `prepare` made of it `DEPTH` numbers before. Ends early,
/// with `finish`'s error, where there is one. `idle` is what the ring is filled with at first; its value does not matter.
///
/// `prepare` asks for the memory that `finish` then needs, so that by then it has come.
#[inline]
pub(crate) fn pipeline<T: Copy, E>(
    count: usize,
    idle: T,
    mut prepare: impl FnMut(usize) -> T,
    mut finish: impl FnMut(usize, T) -> Result<(), E>,
) -> Result<(), E> {
    // One loop, in which each of the two is called in one place and so becomes part of it: the steps at both ends, where
    // there is nothing to finish or to prepare, are few.
    let mut ring = [idle; DEPTH];
    for step in 0..count + DEPTH {
        let place = &mut ring[step % DEPTH];
        if step >= DEPTH {
            finish(step - DEPTH, *place)?;
        }
        if step < count {
            *place = prepare(step);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn every_number_is_finished_in_order_with_what_was_prepared_for_it() {
        for count in [0, 1, 2, DEPTH - 1, DEPTH, DEPTH + 1, 3 * DEPTH + 5] {
            let mut finished = Vec::new();
            let result: Result<(), ()> = pipeline(
                count,
                0,
                |number| number * 10,
                |number, prepared| {
                    assert_eq!(prepared, number * 10);
                    finished.push(number);
                    Ok(())
                },
            );
            assert_eq!(result, Ok(()));
            assert_eq!(finished, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_ends_it() {
        let mut last = 0;
        let result = pipeline(
            1000,
            0,
            |number| number,
            |number, _| {
                last = number;
                if number == 500 { Err("stop") } else { Ok(()) }
            },
        );
        assert_eq!((result, last), (Err("stop"), 500));
    }
}
