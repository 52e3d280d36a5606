use std::io::{self, Read};
use std::ops::ControlFlow;

use super::compression::{Opened, open};
use super::form::KeyForm;
use super::records::{BLOCK_SIZE, for_each_block};
use crate::failure::Failure;

/// A record of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its keys.
    pub keys: Vec<Vec<u8>>,
    /// The bytes of the record, including its end.
    pub bytes: Vec<u8>,
}

impl Record {
    /// Reads all records of an input, which may be compressed, like the commands: in blocks as they come, each split into as
    /// many pieces as there are threads.
    ///
    /// # Errors
    ///
    /// If the source can't be read, is compressed and damaged, is no list of keys, or ends within quotes.
    pub fn all_of(source: impl Read, form: &KeyForm, threads: usize) -> io::Result<Vec<Self>> {
        let Opened { source, .. } = open(source, None, None)?;
        let mut records = Vec::new();
        let explain = |error: &io::Error| Failure::of_io("input", error);
        let read = for_each_block(source, form, BLOCK_SIZE, explain, |block| {
            for piece in block.pieces(threads) {
                let mut start = 0;
                piece.for_each_key(|key, end| {
                    if end > start {
                        records.push(Self { keys: Vec::new(), bytes: piece.bytes()[start..end].to_vec() });
                    }
                    let record: &mut Self = records.last_mut().expect("the one with this end");
                    record.keys.extend(key.map(<[u8]>::to_vec));
                    start = end;
                });
            }
            Ok(ControlFlow::Continue(()))
        });
        read.map(|_| records).map_err(|failure| io::Error::other(failure.to_string()))
    }
}
