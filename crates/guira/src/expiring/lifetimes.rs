/// For how long keys are found, as the named field knows it. Examples begin with the given expression, which makes a filter with a
/// lifetime of 60.
macro_rules! lifetimes {
    ($made:literal, $times:ident) => {
        /// Returns for how long a key is found at least: the lifetime that was asked for, rounded up to whole resolutions.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let filter = ", $made, ";")]
        /// assert_eq!((filter.lifetime(), filter.resolution()), (60, 5));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub const fn lifetime(&self) -> u64 {
            self.$times.lifetime()
        }

        /// Returns for how long after its lifetime a key may still be found.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let filter = ", $made, ";")]
        /// assert_eq!(filter.resolution(), 5);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub const fn resolution(&self) -> u64 {
            self.$times.resolution()
        }
    };
}

pub(crate) use lifetimes;
