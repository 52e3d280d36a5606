//! What a key holds.

mod dump;
mod expiring;
mod growing;
mod imported;
mod incoming;
mod murmur;
mod stamp;
mod stored_filter;
mod work;

pub(crate) use dump::{Bytes, Chunk, LARGEST_CHUNK};
pub use expiring::Expiring;
pub use growing::Growing;
pub use imported::Imported;
pub use incoming::Incoming;
pub use stored_filter::StoredFilter;
pub(crate) use work::{Progress, Task, Waste, Work, Workpieces};
