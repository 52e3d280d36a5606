//! Cuckoo filters in Redis and Valkey: a module with the `CF.*` commands that RedisBloom's clients know.
//!
//! Commands are [parsed](Command::parse) and [executed](execute) without a server, and are tested like that; only `server`
//! talks to one. The user's guide is `docs/redis.md`.

mod c_text;
mod cast;
mod command;
mod error;
mod execution;
mod load_arguments;
mod memo;
mod memory;
mod reply;
mod secret;
#[expect(unsafe_code, reason = "the one room that talks to a server, by pointers to functions and values")]
mod server;
mod settings;
mod stored;

pub use command::{Absent, Command, CommandName, Creation, KeyUse, Repeats, Secret};
pub use error::CommandError;
pub use execution::{Changes, Outcome, Place, Told, execute, merge, reserve_like, scan_dump};
pub use memory::Boxed;
pub use reply::{Answers, Frames, Insertion, Protocol, Reply};
pub use secret::SecretKey;
pub use settings::{HashName, Lifetime, Limits, Measures, Settings};
pub use stored::{Expiring, Growing, Imported, Incoming, StoredFilter};
