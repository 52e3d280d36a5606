//! Values for keys: fingerprints that carry a small number each.

mod cuckoo_map;
mod value;
mod values;

pub use cuckoo_map::CuckooMap;
pub use value::MapValue;
pub use values::Values;
