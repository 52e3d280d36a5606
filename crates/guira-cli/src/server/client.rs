use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use guira::FileHeader;
use redis::{Client as RedisClient, Cmd, Connection, Pipeline, RedisError, RedisResult, Value, cmd};

use super::Address;
use super::refusal::{explain, text};
use super::temporary_name::temporary_name;
use crate::failure::Failure;

/// The type of the module's values, which does not depend on the prefix of its commands.
const FILTER_TYPE: &str = "guira-flt";

/// Timeouts for connecting and for a reply.
const CONNECTING: Duration = Duration::from_secs(10);
const ANSWERING: Duration = Duration::from_secs(60);

/// The time to live of the temporary key, set again with each chunk.
const EXPIRY_MILLISECONDS: u64 = 60_000;

/// The module's own chunk size, which does not delay other clients.
const CHUNK_SIZE: usize = 1 << 20;

/// The size of the number of removals, which precedes the header of the file in a dump.
const COUNT_SIZE: usize = 8;
const KEY_SIZE: usize = 16;

/// What to do if the key holds a filter already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    Refused,
    Replaced,
}

/// Whether a dump contains the secret key of its filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secrecy {
    LeftOut,
    Asked,
}

/// The beginning of a dump. It has no `Debug`, so that no message shows the key.
pub(crate) struct DumpHeader {
    pub(crate) header: FileHeader,
    /// The header as in a file.
    pub(crate) bytes: Vec<u8>,
    pub(crate) key: Option<[u8; KEY_SIZE]>,
}

/// What a key holds.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Holding {
    Nothing,
    Filter,
    /// A value of another type.
    Other(String),
}

/// A connection to a server with the module.
pub(crate) struct Client<'address> {
    connection: Connection,
    address: &'address Address,
    /// The prefix of the module's commands.
    prefix: &'address str,
}

impl<'address> Client<'address> {
    pub(crate) fn connect(address: &'address Address, prefix: &'address str) -> Result<Self, Failure> {
        #[cfg(feature = "redis-tls")]
        rustls::crypto::ring::default_provider().install_default().ok();
        let connect = || {
            let connection = RedisClient::open(address.connection.clone())?.get_connection_with_timeout(CONNECTING)?;
            connection.set_read_timeout(Some(ANSWERING))?;
            connection.set_write_timeout(Some(ANSWERING))?;
            Ok(connection)
        };
        let connection = connect().map_err(|error| Failure::of(&*address.shown, explain(&error, prefix)))?;
        Ok(Self { connection, address, prefix })
    }

    /// Loads a filter under a temporary name, then renames the key: others see all of it or nothing. Returns `true` if a
    /// filter was replaced. `header` is that of a dump, `behind` is what follows; `advance` is called with the number of bytes of each chunk.
    pub(crate) fn push(
        &mut self,
        header: &[u8],
        behind: &[u8],
        existing: Existing,
        advance: impl Fn(usize),
    ) -> Result<bool, Failure> {
        // An early check; the one that counts is made at the end.
        self.check_existing(existing)?;
        let temporary = temporary_name(&self.address.name, RandomState::new().hash_one(()));
        let pushed = self.load(&temporary, header, behind, advance).and_then(|()| self.rename(&temporary, existing));
        if pushed.is_err() {
            // If this fails too, the key expires.
            self.query(cmd("UNLINK").arg(&temporary)).ok();
        }
        pushed
    }

    fn load(&mut self, temporary: &[u8], header: &[u8], behind: &[u8], advance: impl Fn(usize)) -> Result<(), Failure> {
        // In one transaction, so that the key always expires.
        let first = [self.command("LOADCHUNK").arg(temporary).arg(1).arg(header).clone(), expire(temporary)];
        self.transaction(&first).map_err(|error| self.refusal(&error))?;
        let mut end = 0;
        for chunk in behind.chunks(CHUNK_SIZE) {
            end += chunk.len();
            let mut pipeline = Pipeline::with_capacity(2);
            pipeline.add_command(self.command("LOADCHUNK").arg(temporary).arg(end + 1).arg(chunk).clone());
            pipeline.add_command(expire(temporary)).ignore_errors();
            let replies: RedisResult<Vec<RedisResult<Value>>> = pipeline.query(&mut self.connection);
            for reply in replies.map_err(|error| self.refusal(&error))? {
                match reply {
                    Ok(Value::Int(0)) => return Err(self.gone()),
                    Ok(_) => {}
                    Err(error) if text(&error) == "not found" => return Err(self.gone()),
                    Err(error) => return Err(self.refusal(&error)),
                }
            }
            advance(chunk.len());
        }
        Ok(())
    }

    /// Renames the temporary key, and removes its expiry. Returns `true` if a filter was replaced.
    fn rename(&mut self, temporary: &[u8], existing: Existing) -> Result<bool, Failure> {
        let name = &self.address.name;
        let both = [cmd("PERSIST").arg(temporary).clone(), cmd("RENAME").arg(temporary).arg(name).clone()];
        loop {
            if existing == Existing::Refused {
                self.query(cmd("WATCH").arg(name)).map_err(|error| self.refusal(&error))?;
            }
            let is_replaced = self.check_existing(existing)?;
            self.queue(&both).map_err(|error| self.refusal(&error))?;
            match self.query(&cmd("EXEC")) {
                // Each turn after the first means that another client has changed the key.
                Ok(Value::Nil) => {}
                Ok(_) => return Ok(is_replaced),
                Err(error) if text(&error) == "no such key" => return Err(self.gone()),
                Err(error) if error.is_io_error() => {
                    let problem = explain(&error, self.prefix);
                    return Err(self.failure(format_args!(
                        "{problem}; the filter may be there by now, as a whole: push it again with --force"
                    )));
                }
                Err(error) => return Err(self.refusal(&error)),
            }
        }
    }

    /// Returns `true` if there is a filter. Fails if there must be none, or if the key holds something else.
    fn check_existing(&mut self, existing: Existing) -> Result<bool, Failure> {
        match self.holding()? {
            Holding::Nothing => Ok(false),
            Holding::Filter if existing == Existing::Replaced => Ok(true),
            Holding::Filter => Err(self.failure("there is such a key already: give --force to replace it")),
            Holding::Other(name) => Err(self.failure(format_args!(
                "there is such a key, and it holds a value of type {name}, and no filter: give another key, or remove it first"
            ))),
        }
    }

    fn holding(&mut self) -> Result<Holding, Failure> {
        let reply = self.query(cmd("TYPE").arg(&self.address.name)).map_err(|error| self.refusal(&error))?;
        let name: String = redis::from_redis_value(reply).map_err(|_| self.misunderstood())?;
        Ok(match name.as_str() {
            "none" => Holding::Nothing,
            FILTER_TYPE => Holding::Filter,
            _ => Holding::Other(name),
        })
    }

    /// Requests the beginning of the filter's dump.
    pub(crate) fn dump_header(&mut self, secrecy: Secrecy) -> Result<DumpHeader, Failure> {
        let mut command = self.command("SCANDUMP");
        command.arg(&self.address.name).arg(0);
        if secrecy == Secrecy::LeftOut {
            command.arg("NOKEY");
        }
        let (_, bytes) = self.dumped(&command).map_err(|error| match text(&error).as_str() {
            "not found" => self.failure("there is no such key"),
            _ => self.refusal(&error),
        })?;
        let no_file = || {
            self.failure("imported from RedisBloom, and its fingerprints are in no guira file: build one of the keys")
        };
        let (_, bytes) = bytes.split_first_chunk::<COUNT_SIZE>().ok_or_else(no_file)?;
        let (bytes, key) = bytes.split_at_checked(FileHeader::MIN_SIZE).ok_or_else(no_file)?;
        let header = FileHeader::from_bytes(bytes).map_err(|_| no_file())?;
        Ok(DumpHeader { header, bytes: bytes.to_vec(), key: key.try_into().ok() })
    }

    /// Requests the next bytes behind the header.
    pub(crate) fn dump_chunk(&mut self, received: usize) -> Result<Vec<u8>, Failure> {
        let position = received as u64 + 1;
        let command = self.command("SCANDUMP").arg(&self.address.name).arg(position).clone();
        let (next, bytes) = self.dumped(&command).map_err(|error| match text(&error).as_str() {
            "not found" | "Invalid position" => self.changed(),
            _ => self.refusal(&error),
        })?;
        if bytes.is_empty() || next != position + bytes.len() as u64 { Err(self.changed()) } else { Ok(bytes) }
    }

    /// The error for a filter that others change meanwhile.
    pub(crate) fn changed(&self) -> Failure {
        self.failure(
            "changed while it was pulled, so nothing was written: pull it when nobody changes it, or pull a copy, which the \
             server's command COPY makes",
        )
    }

    fn dumped(&mut self, command: &Cmd) -> RedisResult<(u64, Vec<u8>)> {
        let (next, bytes): (u64, Option<Vec<u8>>) = command.query(&mut self.connection)?;
        Ok((next, bytes.unwrap_or_default()))
    }

    /// Runs commands in a transaction, or none if one is refused. Returns nil if a watched key has changed.
    fn transaction(&mut self, commands: &[Cmd]) -> RedisResult<Value> {
        self.queue(commands)?;
        self.query(&cmd("EXEC"))
    }

    /// Begins a transaction of these commands.
    fn queue(&mut self, commands: &[Cmd]) -> RedisResult<()> {
        // Not a pipeline: its error would say that it was discarded, but not why.
        self.query(&cmd("MULTI"))?;
        for command in commands {
            if let Err(error) = self.query(command) {
                // Or what follows would be queued too.
                self.query(&cmd("DISCARD")).ok();
                return Err(error);
            }
        }
        Ok(())
    }

    fn query(&mut self, command: &Cmd) -> RedisResult<Value> {
        command.query(&mut self.connection)
    }

    /// One of the module's commands.
    fn command(&self, name: &str) -> Cmd {
        cmd(&format!("{}{name}", self.prefix.to_uppercase()))
    }

    fn gone(&self) -> Failure {
        self.failure(
            "not pushed: the temporary key that it was loaded under is gone: evicted, removed, or expired after a minute \
             without a chunk",
        )
    }

    fn misunderstood(&self) -> Failure {
        self.failure("the server gives an answer that is not understood")
    }

    fn refusal(&self, error: &RedisError) -> Failure {
        self.failure(explain(error, self.prefix))
    }

    fn failure(&self, message: impl std::fmt::Display) -> Failure {
        Failure::of(&*self.address.shown, message)
    }
}

fn expire(temporary: &[u8]) -> Cmd {
    cmd("PEXPIRE").arg(temporary).arg(EXPIRY_MILLISECONDS).clone()
}
