/// Keys that are kept, in the order in which they came.
#[derive(Default)]
pub(crate) struct KeyList {
    bytes: Vec<u8>,
    /// The end of each key.
    ends: Vec<usize>,
}

impl KeyList {
    pub(crate) fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }

    pub(crate) const fn len(&self) -> usize {
        self.ends.len()
    }

    #[cfg(unix)]
    pub(crate) const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.bytes[start..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_out_as_they_went_in() {
        let mut keys = KeyList::default();
        assert!(keys.is_empty() && keys.iter().next().is_none());
        let given: [&[u8]; 4] = [b"ani", b"", b"a\n\0", b""];
        given.iter().for_each(|key| keys.push(key));
        assert_eq!((keys.len(), keys.iter().collect::<Vec<_>>()), (4, given.to_vec()));
    }
}
