//! What batches have in common, whatever they are made for: the answers as a vector, and one key after the other for kinds that
//! have nothing faster.

/// Operations on many keys, each by its name. Examples begin with the first statements given, which make an empty filter, and mostly
/// with the second ones, which store "ani".
macro_rules! many {
    ($made:literal $stored:literal: $($name:ident($($argument:tt)*)),+ $(,)?) => {
        $(crate::filter::many!(@$name $made $stored $($argument)*);)+
    };
    // Lookups, for kinds that have `look_up_many`.
    (@answers $made:literal $stored:literal) => {
        /// Returns, for each of many keys, whether it is probably present. Where the same memory is to be used again, or a want
        /// of it must not end the process, [`contains_many_into`](Self::contains_many_into) fills a slice.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!($made, "\n", $stored)]
        /// assert_eq!(filter.contains_many(&["ani", "koel"]), [true, false]);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub fn contains_many<K: crate::digest::Key>(&self, keys: &[K]) -> alloc::vec::Vec<bool> {
            let mut answers = alloc::vec![false; keys.len()];
            self.look_up_many(keys, &mut answers);
            answers
        }

        /// Writes to `answers`, for each of many keys, whether it is probably present. It waits for the memory of several keys
        /// at once, and so in a table that no cache holds takes a fraction of the time that one call for each key takes.
        ///
        /// # Panics
        ///
        /// If `keys` and `answers` differ in length.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!($made, "\n", $stored)]
        /// let mut answers = [false; 2];
        /// filter.contains_many_into(&["ani", "koel"], &mut answers);
        /// assert_eq!(answers, [true, false]);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn contains_many_into<K: crate::digest::Key>(&self, keys: &[K], answers: &mut [bool]) {
            assert_eq!(keys.len(), answers.len(), "as many answers as keys");
            self.look_up_many(keys, answers);
        }
    };
    // Counts of this type.
    (@counts $made:literal $stored:literal $number:ty) => {
        /// Returns, for each of many keys, what [`count`](Self::count) returns. Without memory for the counts, the process ends.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!($made, "\n", $stored)]
        /// assert_eq!(filter.count_many(&["ani", "koel"]), [1, 0]);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub fn count_many<K: crate::digest::Key>(&self, keys: &[K]) -> alloc::vec::Vec<$number> {
            keys.iter().map(|key| self.count(key)).collect()
        }
    };
    // Removals, for kinds that have `remove_in_order`. It takes `&self` unless `mut` is given.
    (@removes $made:literal $stored:literal $($mut:tt)?) => {
        /// Removes one copy of each of many keys, in order. Returns, for each, whether there was one. Without memory for that,
        /// the process ends, which [`remove_many_into`](Self::remove_many_into) needs none for.
        ///
        /// Only remove what was inserted: see [`remove`](Self::remove).
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!($made, "\n", $stored)]
        /// assert_eq!(filter.remove_many(&["ani", "koel"]), [true, false]);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn remove_many<K: crate::digest::Key>(&$($mut)? self, keys: &[K]) -> alloc::vec::Vec<bool> {
            let mut removed = alloc::vec![false; keys.len()];
            self.remove_in_order(keys, &mut removed);
            removed
        }

        /// Removes one copy of each of many keys, in order. Writes to `removed`, for each, whether there was one.
        ///
        /// Only remove what was inserted: see [`remove`](Self::remove).
        ///
        /// # Panics
        ///
        /// If `keys` and `removed` differ in length.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!($made, "\n", $stored)]
        /// let mut removed = [false; 2];
        /// filter.remove_many_into(&["ani", "koel"], &mut removed);
        /// assert_eq!(removed, [true, false]);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn remove_many_into<K: crate::digest::Key>(&$($mut)? self, keys: &[K], removed: &mut [bool]) {
            assert_eq!(keys.len(), removed.len(), "as many answers as keys");
            self.remove_in_order(keys, removed);
        }
    };
    // Insertion of what an iterator gives, for kinds that have `insert_in_order`, where `extend_in_runs` is in scope. It takes `&self`
    // unless `mut` is given.
    (@extends $made:literal $stored:literal $($mut:tt)?) => {
        /// Stores a copy of each key that an iterator gives, in order, up to the first that can't be stored. In a table larger than
        /// the processor's cache this is faster than calling [`insert`](Self::insert) for each key.
        ///
        /// For keys that are in memory there is [`insert_many`](Self::insert_many).
        ///
        /// # Errors
        ///
        /// [`TryExtendError`](crate::TryExtendError) for the first key that can't be stored: why, and how many were stored before it
        /// and are kept. Some keys after it may have been taken from the iterator.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = $made]
        /// filter.try_extend("ani guira koel".split(' '))?;
        /// assert!(filter.len() == 3 && filter.contains("koel"));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn try_extend<I>(&$($mut)? self, keys: I) -> Result<(), crate::error::TryExtendError>
        where
            I: IntoIterator,
            I::Item: crate::digest::Key,
        {
            let hasher = *self.hasher();
            extend_in_runs(keys.into_iter().map(|key| hasher.digest(&key)), |run| self.insert_in_order(run))
        }
    };
    // Insertions of one item after the other, for kinds with nothing faster: of keys, or of pairs that have a key and a
    // value. They take `&self` unless `mut` is given.
    (@inserts $made:literal $stored:literal [$($mut:tt)?] $items:literal, $item:ident: $type:ty => $key:expr $(, $value:expr)?) => {
        /// Inserts many, one after the other, each as by [`insert`](Self::insert).
        ///
        /// # Errors
        ///
        /// All that fit are stored; the error has the digests of the keys of the others.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = $made]
        #[doc = concat!("filter.insert_many(&[", $items, "])?;")]
        /// assert_eq!(filter.len(), 2);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn insert_many<K: crate::digest::Key>(
            &$($mut)? self,
            items: &[$type],
        ) -> Result<(), crate::error::InsertManyError> {
            let mut rejected = crate::error::Rejected::default();
            for $item in items {
                if let Err(reason) = self.insert($key $(, $value)?) {
                    rejected.note(self.hasher().digest($key), reason)?;
                }
            }
            rejected.into_result()
        }

        /// Inserts all that an iterator gives, in order, up to the first that can't be stored.
        ///
        /// # Errors
        ///
        /// [`TryExtendError`](crate::TryExtendError) for the first that can't be stored: why, and how many came before
        /// it, which are kept.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = $made]
        #[doc = concat!("filter.try_extend([", $items, "])?;")]
        /// assert_eq!(filter.len(), 2);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn try_extend<K: crate::digest::Key>(
            &$($mut)? self,
            items: impl IntoIterator<Item = $type>,
        ) -> Result<(), crate::error::TryExtendError> {
            for (inserted, ref $item) in items.into_iter().enumerate() {
                self.insert($key $(, $value)?).map_err(|reason| crate::error::TryExtendError { inserted, reason })?;
            }
            Ok(())
        }
    };
}

pub(crate) use many;
