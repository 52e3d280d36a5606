//! A server with the module, as far as `push` and `pull` use it: keys that hold dumps, and expire.
//!
//! It has one client at a time, so that whoever connects finds all done that the one before has sent. What real servers do
//! is tested beside the module, in crates/guira-redis/tests/server.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// What precedes the table in a dump: the number of removals, and the header of the file.
const HEADER: usize = 8 + guira::FileHeader::MIN_SIZE;
/// The size of the chunks that it sends.
const CHUNK: usize = 4096;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) bytes: Vec<u8>,
    pub(super) expires: bool,
}

pub(super) type Keys = BTreeMap<Vec<u8>, Value>;

pub(super) struct Server {
    port: u16,
    keys: Arc<Mutex<Keys>>,
}

type Words = Vec<Vec<u8>>;

impl Server {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it listens").port();
        let keys = Arc::new(Mutex::new(Keys::new()));
        let server = Self { port, keys: Arc::clone(&keys) };
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A client may be killed at any moment.
                Session { keys: &keys, queued: None }.serve(&client).ok();
                client.shutdown(Shutdown::Both).ok();
            }
        });
        server
    }

    pub(super) fn url(&self, key: &str) -> String {
        format!("redis://127.0.0.1:{}/{key}", self.port)
    }

    /// The keys when all is done that clients have sent.
    pub(super) fn keys(&self) -> Keys {
        self.wait();
        locked(&self.keys).clone()
    }

    pub(super) fn restore(&self, keys: &Keys) {
        self.wait();
        locked(&self.keys).clone_from(keys);
    }

    /// Until the clients before have been served.
    fn wait(&self) {
        let mut client = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        client.write_all(b"*1\r\n$4\r\nPING\r\n").expect("it reads");
        let mut reply = [0; 5];
        client.read_exact(&mut reply).expect("it answers");
    }
}

fn locked(keys: &Mutex<Keys>) -> MutexGuard<'_, Keys> {
    keys.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Session<'server> {
    keys: &'server Mutex<Keys>,
    /// The commands of a transaction that has begun.
    queued: Option<Vec<Words>>,
}

impl Session<'_> {
    fn serve(&mut self, client: &TcpStream) -> std::io::Result<()> {
        client.set_nodelay(true)?;
        let mut reader = BufReader::new(client);
        let mut writer = client;
        while let Some(words) = command(&mut reader)? {
            let reply = self.reply(words);
            writer.write_all(&reply)?;
        }
        Ok(())
    }

    fn reply(&mut self, words: Words) -> Vec<u8> {
        let name = words[0].to_ascii_uppercase();
        match (name.as_slice(), self.queued.take()) {
            (b"EXEC", Some(queued)) => {
                let mut keys = locked(self.keys);
                let replies = queued.iter().flat_map(|words| execute(&mut keys, words));
                [format!("*{}\r\n", queued.len()).into_bytes(), replies.collect()].concat()
            }
            (_, Some(mut queued)) => {
                queued.push(words);
                self.queued = Some(queued);
                b"+QUEUED\r\n".to_vec()
            }
            (b"MULTI", None) => {
                self.queued = Some(Vec::new());
                b"+OK\r\n".to_vec()
            }
            (_, None) => execute(&mut locked(self.keys), &words),
        }
    }
}

fn execute(keys: &mut Keys, words: &[Vec<u8>]) -> Vec<u8> {
    let number = |index: usize| -> usize {
        String::from_utf8_lossy(&words[index]).parse().expect("a position, as the program sends it")
    };
    let integer = |number: usize| format!(":{number}\r\n").into_bytes();
    let bulk = |bytes: &[u8]| [format!("${}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
    match words[0].to_ascii_uppercase().as_slice() {
        b"TYPE" => if keys.contains_key(&words[1]) { b"+guira-flt\r\n" } else { &b"+none\r\n"[..] }.to_vec(),
        b"CF.LOADCHUNK" => {
            let (position, bytes) = (number(2), &words[3]);
            let value = if position == 1 {
                assert_eq!(bytes.len(), HEADER, "the header alone");
                keys.insert(words[1].clone(), Value { bytes: Vec::new(), expires: false });
                keys.get_mut(&words[1])
            } else {
                keys.get_mut(&words[1])
            };
            let Some(value) = value else { return b"-ERR not found\r\n".to_vec() };
            value.bytes.extend_from_slice(bytes);
            assert_eq!(position, value.bytes.len() - HEADER + 1, "where the chunk ends");
            b"+OK\r\n".to_vec()
        }
        b"CF.SCANDUMP" => {
            let Some(value) = keys.get(&words[1]) else { return b"-ERR not found\r\n".to_vec() };
            let table = &value.bytes[HEADER..];
            let (next, bytes) = match number(2) {
                0 => (1, &value.bytes[..HEADER]),
                position if position > table.len() => (0, &[][..]),
                position => {
                    let end = table.len().min(position - 1 + CHUNK);
                    (end + 1, &table[position - 1..end])
                }
            };
            [b"*2\r\n".to_vec(), integer(next), bulk(bytes)].concat()
        }
        b"PEXPIRE" | b"PERSIST" => {
            let value = keys.get_mut(&words[1]);
            integer(usize::from(value.map(|value| value.expires = words.len() > 2).is_some()))
        }
        b"RENAME" => match keys.remove(&words[1]) {
            Some(value) => {
                keys.insert(words[2].clone(), value);
                b"+OK\r\n".to_vec()
            }
            None => b"-ERR no such key\r\n".to_vec(),
        },
        b"UNLINK" => integer(usize::from(keys.remove(&words[1]).is_some())),
        // CLIENT, SELECT, PING, WATCH.
        _ => b"+OK\r\n".to_vec(),
    }
}

/// The next command, or nothing at the end.
fn command(reader: &mut impl BufRead) -> std::io::Result<Option<Words>> {
    let Some(count) = length(reader, '*')? else { return Ok(None) };
    let mut words = Words::new();
    for _ in 0..count {
        let Some(length) = length(reader, '$')? else { return Ok(None) };
        let mut word = vec![0; length + 2];
        reader.read_exact(&mut word)?;
        word.truncate(length);
        words.push(word);
    }
    Ok(Some(words))
}

/// The number of a line such as `$12`.
fn length(reader: &mut impl BufRead, mark: char) -> std::io::Result<Option<usize>> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    Ok(line.strip_prefix(mark).and_then(|rest| rest.trim_end().parse().ok()))
}
