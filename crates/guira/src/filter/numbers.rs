//! What every kind says of itself, in one place for all of them: numbers that follow from the length and the parameters of a
//! table, how far it grows, and copies.

/// Numbers of a table, and how it grows, each by its name. Examples begin with the given expression, which makes an empty one for
/// 1000 keys; from `growth` on it makes a builder, to which a capacity of 1000 and a largest one are added.
macro_rules! numbers {
    ($made:literal, $($name:ident),+) => { $(crate::filter::numbers!(@$name $made);)+ };
    (@len $made:literal) => {
        /// Returns how many distinct keys are stored, those that share fingerprint and buckets taken for one.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let mut filter = ", $made, ";")]
        /// filter.insert_many(&["ani", "guira", "ani"])?;
        /// assert_eq!(filter.len(), 2);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub const fn len(&self) -> usize {
            self.filter.len()
        }
    };
    (@is_empty $made:literal) => {
        /// Returns `true` if [`len`](Self::len) is 0.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("assert!(", $made, ".is_empty());")]
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub fn is_empty(&self) -> bool {
            self.len() == 0
        }
    };
    (@capacity $made:literal) => {
        /// Returns the number of distinct keys promised to fit: of a million tables, at most one is expected to refuse one of
        /// them. Where the table grows, so many fit before it is doubled.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("assert_eq!(", $made, ".capacity(), 1000);")]
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub fn capacity(&self) -> usize {
            crate::cast::to_usize(self.parameters().capacity())
        }
    };
    (@load_factor $made:literal) => {
        /// Returns α, the share of the slots that are filled.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("assert_eq!(", $made, ".load_factor(), 0.0);")]
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub fn load_factor(&self) -> f64 {
            crate::cast::to_f64(self.len() as u64) / crate::cast::to_f64(self.parameters().slot_count())
        }
    };
    (@expected_false_positive_rate $made:literal) => {
        /// Returns the share of absent keys that are expected to be taken for present ones, with the table as it is now and as
        /// full as it is.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("assert_eq!(", $made, ".expected_false_positive_rate(), 0.0);")]
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub fn expected_false_positive_rate(&self) -> f64 {
            self.parameters().expected_false_positive_rate(self.len() as u64)
        }
    };
    (@size_in_bytes $made:literal) => {
        /// Returns the size of the table in bytes, padding included, or of both tables during a doubling.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("assert!(", $made, ".size_in_bytes() < 5000);")]
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub fn size_in_bytes(&self) -> usize {
            self.filter.size_in_bytes()
        }
    };
    (@empty_like $made:literal) => {
        /// Returns an empty one that began as this one did, with the same hash, so that the two can be merged: in this release and in
        /// later ones, whose builders may choose other parameters for the same capacity and rate.
        ///
        /// # Errors
        ///
        /// [`OutOfMemory`](crate::OutOfMemory).
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let mut filter = ", $made, ";")]
        /// let other = filter.empty_like()?;
        /// filter.merge(&other)?;
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn empty_like(&self) -> Result<Self, crate::error::OutOfMemory> {
            self.filter.empty_like().map(Self::from_filter)
        }
    };
    (@growth $builder:literal) => {
        const fn growth(&self) -> Option<&crate::filter::Growth> {
            self.filter.growth()
        }
    };
    (@max_capacity $builder:literal) => {
        /// Returns the number of distinct keys up to which the false positive rate is guaranteed: where it grows, at least the
        /// [`max_capacity`](crate::FilterBuilder::max_capacity) it was built for, and otherwise its [`capacity`](Self::capacity).
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let builder = ", $builder, ".capacity(1000).max_capacity(50_000).false_positive_rate(0.01);")]
        /// assert!(builder.build()?.max_capacity() >= 50_000);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub fn max_capacity(&self) -> usize {
            self.growth().map_or_else(|| self.capacity(), |growth| growth.max_capacity())
        }
    };
    (@growth_policy $builder:literal) => {
        /// Returns what it does with more keys than its [`max_capacity`](Self::max_capacity), or `None` if it doesn't grow.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let builder = ", $builder, ".capacity(1000).false_positive_rate(0.01);")]
        /// assert_eq!(builder.build()?.growth_policy(), None);
        /// let growing = builder.max_capacity(50_000).build()?;
        /// assert_eq!(growing.growth_policy(), Some(guira::GrowthPolicy::KeepRate));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub fn growth_policy(&self) -> Option<crate::filter::GrowthPolicy> {
            self.growth().map(|growth| growth.policy)
        }
    };
    (@reserve $builder:literal) => {
        /// Makes room for `additional` more distinct keys at once.
        ///
        /// # Errors
        ///
        /// [`ReserveError::Full`](crate::ReserveError::Full) if it may not grow so far, and
        /// [`ReserveError::OutOfMemory`](crate::ReserveError::OutOfMemory). In both cases it is as it was.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let builder = ", $builder, ".capacity(1000).max_capacity(50_000).false_positive_rate(0.01);")]
        /// let mut filter = builder.build()?;
        /// filter.reserve(20_000)?;
        /// assert!(filter.capacity() >= 20_000);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn reserve(&mut self, additional: usize) -> Result<(), crate::error::ReserveError> {
            self.filter.reserve(additional)
        }
    };
    (@shrink_to_fit $builder:literal) => {
        /// Undoes doublings as long as what is stored leaves an eighth of the smaller table's capacity free, down to the size that
        /// it began with. One that doesn't grow stays as it is.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let builder = ", $builder, ".capacity(1000).max_capacity(50_000).false_positive_rate(0.01);")]
        /// let mut filter = builder.build()?;
        /// let size = filter.size_in_bytes();
        /// filter.reserve(20_000)?;
        /// filter.shrink_to_fit();
        /// assert_eq!(filter.size_in_bytes(), size);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn shrink_to_fit(&mut self) {
            self.filter.shrink_to_fit();
        }
    };
}

/// What a table was made with: where its parameters are, and its hash. Examples begin as those of [`numbers`].
macro_rules! made_with {
    ($made:literal, $of:ident, $parameters:expr, $hasher:expr) => {
        /// Returns the parameters of the table as it is now.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("assert!(", $made, ".parameters().table_size() < 5000);")]
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub const fn parameters(&self) -> &crate::parameters::Parameters {
            let $of = self;
            $parameters
        }

        crate::filter::made_with!($made, $of, $hasher);
    };
    ($made:literal, $of:ident, $hasher:expr) => {
        /// Returns the hash that turns keys into digests.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("assert_eq!(", $made, ".hasher(), &guira::KeyHasher::default());")]
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub const fn hasher(&self) -> &crate::digest::KeyHasher {
            let $of = self;
            $hasher
        }
    };
}

/// A copy, with each named field beside the filter within: those that are numbers, and behind a semicolon those that take memory.
/// Examples begin as those of [`numbers`].
macro_rules! try_clone {
    ($made:literal $(, $field:ident)* $(; $tried:ident)*) => {
        /// Returns a copy, like [`clone`](Clone::clone), which ends the process if there is no memory for one.
        ///
        /// # Errors
        ///
        /// [`OutOfMemory`](crate::OutOfMemory).
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let filter = ", $made, ";")]
        /// assert!(filter.try_clone()? == filter);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn try_clone(&self) -> Result<Self, crate::error::OutOfMemory> {
            Ok(Self { filter: self.filter.try_clone()? $(, $field: self.$field)* $(, $tried: self.$tried.try_clone()?)* })
        }
    };
}

pub(crate) use {made_with, numbers, try_clone};
