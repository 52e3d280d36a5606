//! What is in memory, to bytes.

use alloc::vec::Vec;

use super::Header;
use super::contents::Contents;
use super::header::HEADER_SIZE;
use crate::counting::CountingCuckooFilter;
use crate::filter::CuckooFilter;
use crate::growing::GrowingCuckooFilter;
use crate::map::{CuckooMap, Value};
use crate::set::CuckooSet;

macro_rules! can_be_saved {
    ($(#[$example:meta])* [$($generic:tt)*] $type:ty) => {
        impl<$($generic)*> $type {
            /// All of it as a file of format version 1: header and table, to be read by [`from_bytes`](Self::from_bytes)
            /// on any machine and by any later release. A secret hash key is not in it.
            ///
            $(#[$example])*
            #[must_use]
            pub fn to_bytes(&self) -> Vec<u8> {
                let mut bytes = Vec::with_capacity(HEADER_SIZE + self.parts().storage.len());
                Header::of(self).encode(&mut bytes);
                bytes.extend_from_slice(self.parts().storage);
                bytes
            }

            /// The first part of [`to_bytes`](Self::to_bytes), of 128 bytes; [`table_bytes`](Self::table_bytes) are the
            /// rest. For who sends a large filter in pieces, without a copy of it.
            #[must_use]
            pub fn header_bytes(&self) -> Vec<u8> {
                let mut bytes = Vec::with_capacity(HEADER_SIZE);
                Header::of(self).encode(&mut bytes);
                bytes
            }

            /// The second part of [`to_bytes`](Self::to_bytes), where it is.
            #[must_use]
            pub fn table_bytes(&self) -> &[u8] {
                self.parts().storage
            }

            /// Writes the bytes of [`to_bytes`](Self::to_bytes) without a copy of the table.
            ///
            /// # Errors
            ///
            /// Those of the writer.
            #[cfg(feature = "std")]
            pub fn write_to<W: std::io::Write>(&self, mut writer: W) -> std::io::Result<()> {
                writer.write_all(&self.header_bytes())?;
                writer.write_all(self.table_bytes())
            }
        }
    };
}

can_be_saved! {
    /// ```
    /// use guira::CuckooFilter;
    ///
    /// let mut filter = CuckooFilter::with_capacity(100, 0.01)?;
    /// filter.insert("ani")?;
    /// assert_eq!(CuckooFilter::from_bytes(&filter.to_bytes())?, filter);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    [] CuckooFilter
}

can_be_saved! {
    /// ```
    /// use guira::CuckooSet;
    ///
    /// let mut set = CuckooSet::with_capacity(100, 0.01)?;
    /// set.insert("ani")?;
    /// assert_eq!(CuckooSet::from_bytes(&set.to_bytes())?, set);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    [] CuckooSet
}

can_be_saved! {
    /// ```
    /// use guira::GrowingCuckooFilter;
    ///
    /// let mut filter = GrowingCuckooFilter::with_capacity(100, 0.01)?;
    /// filter.insert("ani")?;
    /// assert_eq!(GrowingCuckooFilter::from_bytes(&filter.to_bytes())?, filter);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    [] GrowingCuckooFilter
}

can_be_saved! {
    /// ```
    /// use guira::CountingCuckooFilter;
    ///
    /// let mut filter = CountingCuckooFilter::with_capacity(100, 0.01)?;
    /// filter.insert("ani")?;
    /// assert_eq!(CountingCuckooFilter::from_bytes(&filter.to_bytes())?, filter);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    [] CountingCuckooFilter
}

can_be_saved! {
    /// The file says how many bits values have, not of which type they are.
    ///
    /// ```
    /// use guira::CuckooMap;
    ///
    /// let mut map = CuckooMap::<u8>::with_capacity(100, 0.01)?;
    /// map.insert("ani", 7)?;
    /// assert_eq!(CuckooMap::from_bytes(&map.to_bytes())?, map);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    [V: Value] CuckooMap<V>
}
