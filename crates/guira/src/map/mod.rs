//! Values for keys: fingerprints that carry a small number each.

mod builder;
mod cuckoo_map;
mod matches;
mod value;

pub use builder::CuckooMapBuilder;
pub use cuckoo_map::CuckooMap;
pub use matches::Matches;
pub use value::Value;
