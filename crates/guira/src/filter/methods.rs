//! The methods that several kinds have, in one place for all of them: how one is made and copied, numbers that follow from the length
//! and the parameters of its table, how far it grows, and for how long keys are found.

/// Methods of a kind, each by its name. Examples are of the type that is named, and make an empty one for 1000 keys as is said behind
/// the name.
///
/// In parentheses is what differs from kind to kind: where the method finds what it returns, beginning with `self`, or what
/// else a builder needs.
macro_rules! methods {
    ($name:literal $made:literal: $($method:ident $(($($argument:tt)*))?),+ $(,)?) => {
        $(crate::filter::methods!(@$method $name $made $($($argument)*)?);)+
    };
    (@with_capacity $name:literal $made:literal) => {
        /// Makes an empty one for `capacity` distinct keys, which takes absent keys for present ones at this rate at the most.
        /// For everything else that can be chosen, see [`builder`](Self::builder).
        ///
        /// # Errors
        ///
        /// A [`BuildError`](crate::BuildError) that says what is out of range, or that there is no memory.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let filter = ", $name, "::with_capacity(1_000_000, 0.001)?;")]
        /// assert_eq!(filter.capacity(), 1_000_000);
        /// # Ok::<(), guira::BuildError>(())
        /// ```
        pub fn with_capacity(capacity: usize, false_positive_rate: f64) -> Result<Self, crate::error::BuildError> {
            Self::builder().capacity(capacity).false_positive_rate(false_positive_rate).build()
        }
    };
    (@builder $name:literal $made:literal $($choices:literal)?) => {
        /// Returns a builder, for everything else that can be chosen.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let builder = ", $name, "::builder().capacity(1000).false_positive_rate(0.001)" $(, $choices)?, ";")]
        /// let filter = builder.build()?;
        /// assert_eq!(filter.capacity(), 1000);
        /// # Ok::<(), guira::BuildError>(())
        /// ```
        pub fn builder() -> crate::filter::FilterBuilder<Self> {
            crate::filter::FilterBuilder::default()
        }
    };
    (@try_clone $name:literal $made:literal $self:ident $(, $field:ident: $copy:expr)?) => {
        /// Returns a copy, like [`clone`](Clone::clone), which ends the process if there is no memory for one.
        ///
        /// # Errors
        ///
        /// [`OutOfMemory`](crate::OutOfMemory).
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let filter = ", $name, $made, ";")]
        /// assert!(filter.try_clone()? == filter);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn try_clone(&$self) -> Result<Self, crate::error::OutOfMemory> {
            Ok(Self { filter: $self.filter.try_clone()? $(, $field: $copy)? })
        }
    };
    (@len $name:literal $made:literal) => {
        /// Returns how many distinct keys are stored, those that share fingerprint and buckets taken for one.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let mut filter = ", $name, $made, ";")]
        /// filter.insert_many(&["ani", "guira", "ani"])?;
        /// assert_eq!(filter.len(), 2);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub const fn len(&self) -> usize {
            self.filter.len()
        }
    };
    (@is_empty $name:literal $made:literal) => {
        /// Returns `true` if [`len`](Self::len) is 0.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("assert!(", $name, $made, ".is_empty());")]
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub fn is_empty(&self) -> bool {
            self.len() == 0
        }
    };
    (@capacity $name:literal $made:literal) => {
        /// Returns the number of distinct keys promised to fit: of a million tables, at most one is expected to refuse one of
        /// them. Where the table grows, so many fit before it is doubled.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("assert_eq!(", $name, $made, ".capacity(), 1000);")]
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub fn capacity(&self) -> usize {
            crate::cast::to_usize(self.parameters().capacity())
        }
    };
    (@load_factor $name:literal $made:literal) => {
        /// Returns α, the share of the slots that are filled.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("assert_eq!(", $name, $made, ".load_factor(), 0.0);")]
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub fn load_factor(&self) -> f64 {
            crate::cast::to_f64(self.len() as u64) / crate::cast::to_f64(self.parameters().slot_count())
        }
    };
    (@expected_false_positive_rate $name:literal $made:literal) => {
        /// Returns the share of absent keys that are expected to be taken for present ones, with the table as it is now and as
        /// full as it is.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("assert_eq!(", $name, $made, ".expected_false_positive_rate(), 0.0);")]
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub fn expected_false_positive_rate(&self) -> f64 {
            self.parameters().expected_false_positive_rate(self.len() as u64)
        }
    };
    (@size_in_bytes $name:literal $made:literal) => {
        /// Returns the size of the table in bytes, padding included; of a set, the size of both tables during a doubling.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("assert!(", $name, $made, ".size_in_bytes() < 5000);")]
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub fn size_in_bytes(&self) -> usize {
            self.filter.size_in_bytes()
        }
    };
    (@empty_like $name:literal $made:literal) => {
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
        #[doc = concat!("let mut filter = ", $name, $made, ";")]
        /// let other = filter.empty_like()?;
        /// filter.merge(&other)?;
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn empty_like(&self) -> Result<Self, crate::error::OutOfMemory> {
            self.filter.empty_like().map(Self::from_filter)
        }
    };
    (@parameters $name:literal $made:literal $self:ident, $found:expr) => {
        /// Returns the parameters of the table as it is now.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("assert!(", $name, $made, ".parameters().table_size() < 5000);")]
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub const fn parameters(&$self) -> &crate::parameters::Parameters {
            $found
        }
    };
    (@hasher $name:literal $made:literal $self:ident, $found:expr) => {
        /// Returns the hash that turns keys into digests.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("assert_eq!(", $name, $made, ".hasher(), &guira::KeyHasher::default());")]
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub const fn hasher(&$self) -> &crate::digest::KeyHasher {
            $found
        }
    };
    (@growth $name:literal $made:literal) => {
        const fn growth(&self) -> Option<&crate::filter::Growth> {
            self.filter.growth()
        }
    };
    (@max_capacity $name:literal $made:literal) => {
        /// Returns the number of distinct keys up to which the false positive rate is guaranteed: where it grows, at least the
        /// [`max_capacity`](crate::FilterBuilder::max_capacity) it was built for, and otherwise its [`capacity`](Self::capacity).
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let builder = ", $name, "::builder().capacity(1000).max_capacity(50_000).false_positive_rate(0.01);")]
        /// assert!(builder.build()?.max_capacity() >= 50_000);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub fn max_capacity(&self) -> usize {
            self.growth().map_or_else(|| self.capacity(), |growth| growth.max_capacity())
        }
    };
    (@growth_policy $name:literal $made:literal $($choices:literal)?) => {
        /// Returns what it does with more keys than its [`max_capacity`](Self::max_capacity), or `None` if it doesn't grow.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let builder = ", $name, "::builder()" $(, $choices)?, ".capacity(1000).false_positive_rate(0.01);")]
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
    (@reserve $name:literal $made:literal) => {
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
        #[doc = concat!("let builder = ", $name, "::builder().capacity(1000).max_capacity(50_000).false_positive_rate(0.01);")]
        /// let mut filter = builder.build()?;
        /// filter.reserve(20_000)?;
        /// assert!(filter.capacity() >= 20_000);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn reserve(&mut self, additional: usize) -> Result<(), crate::error::ReserveError> {
            self.filter.reserve(additional)
        }
    };
    (@shrink_to_fit $name:literal $made:literal) => {
        /// Undoes doublings as long as what is stored leaves an eighth of the smaller table's capacity free, down to the size that
        /// it began with. One that doesn't grow stays as it is.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let builder = ", $name, "::builder().capacity(1000).max_capacity(50_000).false_positive_rate(0.01);")]
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
    (@lifetime $name:literal $made:literal $times:ident) => {
        /// Returns for how long a key is found at least: the lifetime that was asked for, rounded up to whole resolutions.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let filter = ", $name, $made, ";")]
        /// assert_eq!((filter.lifetime(), filter.resolution()), (60, 5));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub const fn lifetime(&self) -> u64 {
            self.$times.lifetime()
        }
    };
    (@resolution $name:literal $made:literal $times:ident) => {
        /// Returns for how long after its lifetime a key may still be found.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let filter = ", $name, $made, ";")]
        /// assert_eq!(filter.resolution(), 5);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub const fn resolution(&self) -> u64 {
            self.$times.resolution()
        }
    };
}

pub(crate) use methods;
