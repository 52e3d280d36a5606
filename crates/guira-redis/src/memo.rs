//! The last few results of a computation, by what they depend on.

use std::sync::{Mutex, PoisonError};

/// As many results are kept.
const KEPT: usize = 8;

/// Results of a function of `I`, whose latest inputs come again.
pub(crate) struct Memo<I, O>(Mutex<Kept<I, O>>);

struct Kept<I, O> {
    results: [Option<(I, O)>; KEPT],
    oldest: usize,
}

impl<I: PartialEq + Copy, O: Clone> Memo<I, O> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Kept { results: [const { None }; KEPT], oldest: 0 }))
    }

    /// Returns the result for the input, which is computed unless it is kept.
    pub(crate) fn get_or_compute(&self, input: I, compute: impl FnOnce() -> O) -> O {
        match self.get_or_try_compute(input, || Ok::<O, std::convert::Infallible>(compute())) {
            Ok(output) => output,
        }
    }

    /// The same for what may fail; errors are not kept.
    pub(crate) fn get_or_try_compute<E>(&self, input: I, compute: impl FnOnce() -> Result<O, E>) -> Result<O, E> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, output)) = kept.results.iter().flatten().find(|(known, _)| *known == input) {
            return Ok(output.clone());
        }
        let output = compute()?;
        let oldest = kept.oldest;
        if let Some(result) = kept.results.get_mut(oldest) {
            *result = Some((input, output.clone()));
        }
        kept.oldest = (oldest + 1) % KEPT;
        Ok(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_not_come_lately_is_computed() {
        let memo = Memo::new();
        let computed = std::cell::Cell::new(0);
        let square = |number: u64| {
            memo.get_or_compute(number, || {
                computed.set(computed.get() + 1);
                number * number
            })
        };
        for _ in 0..3 {
            assert!((0..8).all(|number| square(number) == number * number));
        }
        assert_eq!(computed.get(), 8);
        assert!((0..20).all(|number| square(number) == number * number));
        assert_eq!(computed.get(), 20);
        assert!((12..20).all(|number| square(number) == number * number));
        assert_eq!(computed.get(), 20);
        let failing: Memo<u64, u64> = Memo::new();
        assert_eq!(failing.get_or_try_compute(1, || Err("refused")), Err("refused"));
        assert_eq!(failing.get_or_try_compute(1, || Ok::<_, &str>(5)), Ok(5));
    }
}
