use std::io::{self, Read};
use std::ops::ControlFlow;

use super::compression::Compression;
use super::form::KeyForm;
use super::records::for_each_block;
use crate::failure::Failure;

/// A record of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its key, if it has one.
    pub key: Option<Vec<u8>>,
    /// All of it, its end included.
    pub bytes: Vec<u8>,
}

impl Record {
    /// All records of an input that may be compressed, read as the commands read it: in blocks as they come, and each of
    /// these in as many pieces as there are threads.
    ///
    /// # Errors
    ///
    /// Where the source can't be read, or what it is compressed with is damaged.
    pub fn all_of(source: impl Read, form: KeyForm, threads: usize) -> io::Result<Vec<Self>> {
        let (compression, source) = Compression::detect(source, None)?;
        let mut records = Vec::new();
        let explain = |error: &io::Error| Failure::of_io("input", error);
        let read = for_each_block(compression.decoder(source), form, explain, |block| {
            for piece in block.pieces(threads) {
                let mut start = 0;
                piece.for_each_key(|key, end| {
                    let bytes = piece.bytes()[start..end].to_vec();
                    records.push(Self { key: key.map(<[u8]>::to_vec), bytes });
                    start = end;
                });
            }
            Ok(ControlFlow::Continue(()))
        });
        read.map(|_| records).map_err(|failure| io::Error::other(failure.to_string()))
    }
}
