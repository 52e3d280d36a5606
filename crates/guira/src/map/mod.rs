//! Values for keys: fingerprints that carry a small number each.

mod cuckoo_map;
mod matches;
mod value;

pub use cuckoo_map::CuckooMap;
pub use matches::Matches;
pub use value::Value;
