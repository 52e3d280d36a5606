//! Keys to digests: the one step that looks at a key. Everything else is derived from the 64 bits it gives.

mod hasher;
mod key;

pub use hasher::{Digest, KeyHasher};
pub use key::{ByHash, Key};

pub(crate) use hasher::{checksum, checksum_of_two, seeded_checksum};
/// The checksum of bytes that come in pieces.
pub(crate) use xxhash_rust::xxh3::Xxh3 as Checksum;
