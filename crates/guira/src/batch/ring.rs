/// How many keys are under way at once. Processors have 10 to 50 cache lines on order per core; a key orders two to four.
const DEPTH: usize = 32;

/// For every number below `count`, in order, `finish` with what `prepare` made of it `DEPTH` numbers before. Ends early,
/// with `finish`'s error, where there is one.
///
/// `prepare` asks for the memory that `finish` then needs, so that by then it has come.
#[inline]
pub(super) fn pipeline<T: Copy, E>(
    count: usize,
    mut prepare: impl FnMut(usize) -> T,
    mut finish: impl FnMut(usize, T) -> Result<(), E>,
) -> Result<(), E> {
    if count == 0 {
        return Ok(());
    }
    let mut ring = [prepare(0); DEPTH];
    for (ahead, place) in ring.iter_mut().enumerate().take(count).skip(1) {
        *place = prepare(ahead);
    }
    let full = count.saturating_sub(DEPTH);
    for number in 0..full {
        let place = number % DEPTH;
        let prepared = ring[place];
        ring[place] = prepare(number + DEPTH);
        finish(number, prepared)?;
    }
    for number in full..count {
        finish(number, ring[number % DEPTH])?;
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
            |number| number,
            |number, _| {
                last = number;
                if number == 500 { Err("stop") } else { Ok(()) }
            },
        );
        assert_eq!((result, last), (Err("stop"), 500));
    }
}
