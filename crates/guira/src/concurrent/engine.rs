use super::stripes::Stripes;
use super::versions::Versions;
use crate::addressing::{DaryAddressing, DoublingAddressing, PowerOfTwoAddressing, RegionalAddressing};
use crate::filter::Nest;
use crate::parameters::{Addressing, Parameters};
use crate::table::{PackedTable, StoredTable, Words};

/// What keeps the threads at one table apart: writers from each other by locks, readers from being misled by versions.
#[derive(Debug)]
pub(super) struct Guards {
    pub(super) stripes: Stripes,
    pub(super) versions: Versions,
}

impl Guards {
    /// Those of a table that holds `stored` fingerprints.
    pub(super) fn new(parameters: &Parameters, stored: usize) -> Self {
        Self { stripes: Stripes::new(parameters.bucket_count(), stored), versions: Versions::new() }
    }
}

/// A packed table in atomic words, with the rule by which its fingerprints are placed.
pub(super) type SharedNest<A, W, const ONE_WORD: bool> = Nest<A, PackedTable<Words, W, ONE_WORD>>;

/// Lists the addressings that there are. Each is compiled for buckets that fit 64 bits and for wider ones.
macro_rules! addressings {
    ($($narrow:ident, $wide:ident: $pattern:pat => $addressing:ty;)*) => {
        /// One of the combinations: as in a filter of one thread, but for the memory.
        #[derive(Debug)]
        #[repr(u8)]
        pub(super) enum Engine {
            $($narrow(SharedNest<$addressing, u64, true>), $wide(SharedNest<$addressing, u128, false>),)*
        }

        impl Engine {
            /// The combination for these parameters, whose layout is packed, over as many words as they say.
            pub(super) fn new(parameters: &Parameters, seed: u64, words: Words) -> Self {
                let is_narrow = PackedTable::<Words, u64, true>::holds_bucket(parameters);
                match parameters.addressing() {
                    $($pattern => {
                        let addressing = <$addressing>::new(parameters, seed);
                        if is_narrow {
                            Self::$narrow(Nest { addressing, table: PackedTable::over(parameters, words) })
                        } else {
                            Self::$wide(Nest { addressing, table: PackedTable::over(parameters, words) })
                        }
                    })*
                }
            }
        }

        /// Does the same with whichever combination it is.
        macro_rules! with_shared_nest {
            ($engine:expr, $nest:ident => $body:expr) => {
                match $engine {
                    $($crate::concurrent::engine::Engine::$narrow($nest) => $body,
                    $crate::concurrent::engine::Engine::$wide($nest) => $body,)*
                }
            };
        }
    };
}

addressings! {
    RegionalNarrow, RegionalWide: Addressing::Regional => RegionalAddressing;
    PowerOfTwoNarrow, PowerOfTwoWide: Addressing::PowerOfTwo => PowerOfTwoAddressing;
    DoublingNarrow, DoublingWide: Addressing::Doubling => DoublingAddressing;
    TernaryNarrow, TernaryWide: Addressing::Ternary => DaryAddressing<3>;
    QuaternaryNarrow, QuaternaryWide: Addressing::Quaternary => DaryAddressing<4>;
}

#[expect(clippy::single_component_path_imports, reason = "other files need it by path")]
pub(super) use with_shared_nest;

impl Engine {
    pub(super) fn words(&self) -> &Words {
        with_shared_nest!(self, nest => nest.storage())
    }

    pub(super) fn into_words(self) -> Words {
        with_shared_nest!(self, nest => nest.table.into_storage())
    }
}
