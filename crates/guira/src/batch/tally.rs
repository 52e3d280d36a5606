/// Counts what a batch does to the number of fingerprints of a filter, to which it is added at the end: also where that is a panic in the
/// code of a caller's keys.
pub(super) struct Tally<'filter> {
    len: &'filter mut usize,
    /// The fingerprints that were stored, less those that were removed.
    pub(super) added: isize,
}

impl<'filter> Tally<'filter> {
    pub(super) const fn of(len: &'filter mut usize) -> Self {
        Self { len, added: 0 }
    }
}

impl Drop for Tally<'_> {
    fn drop(&mut self) {
        *self.len = self.len.wrapping_add_signed(self.added);
    }
}
