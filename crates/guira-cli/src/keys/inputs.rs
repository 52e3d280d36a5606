use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::lines::{for_each_block, for_each_key_of_block};
use crate::failure::Failure;
use crate::progress::Progress;

/// So many that the processor looks up several at once, so few that they stay in its cache.
pub(crate) const BATCH_SIZE: usize = 1024;

/// Where lines come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    StandardInput,
    File(PathBuf),
}

impl Input {
    /// Calls `take` with one block of whole lines after the other.
    pub(crate) fn for_each_block(
        &self,
        progress: &Progress,
        mut take: impl FnMut(&[u8]) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<ControlFlow<()>, Failure> {
        let source: Box<dyn Read> = match self {
            Self::StandardInput => Box::new(io::stdin().lock()),
            Self::File(path) => Box::new(File::open(path).map_err(|error| self.failure(&error))?),
        };
        for_each_block(
            source,
            |error| self.failure(error),
            |block| {
                progress.advance(block.len());
                take(block)
            },
        )
    }

    fn failure(&self, error: &io::Error) -> Failure {
        match self {
            Self::StandardInput => Failure::of_io("standard input", error),
            Self::File(path) => Failure::of_io(path.display().to_string(), error),
        }
    }

    /// The bytes to come, where that can be known.
    fn size(&self) -> Option<u64> {
        match self {
            Self::StandardInput => None,
            Self::File(path) => fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len()),
        }
    }
}

/// The inputs of a command, in order.
#[derive(Clone, Debug)]
pub(crate) struct Inputs(Vec<Input>);

impl Inputs {
    /// The files that were named; "-", or none at all, is standard input.
    pub(crate) fn named(paths: &[PathBuf]) -> Self {
        if paths.is_empty() {
            return Self(vec![Input::StandardInput]);
        }
        let input = |path: &PathBuf| {
            if path == Path::new("-") { Input::StandardInput } else { Input::File(path.clone()) }
        };
        Self(paths.iter().map(input).collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Input> {
        self.0.iter()
    }

    /// The bytes of all inputs, where that can be known.
    pub(crate) fn size(&self) -> Option<u64> {
        self.iter().map(Input::size).sum()
    }

    /// Calls `take` with every key of every input.
    pub(crate) fn for_each_key(&self, mut take: impl FnMut(&[u8])) -> Result<(), Failure> {
        self.for_all_blocks(|block| for_each_key_of_block(block, |key, _| take(key)))
    }

    /// The same with some keys at a time, in order.
    pub(crate) fn for_each_batch(&self, mut take: impl FnMut(&[&[u8]])) -> Result<(), Failure> {
        self.for_all_blocks(|block| {
            let mut batch = Vec::with_capacity(BATCH_SIZE);
            for_each_key_of_block(block, |key, end| {
                batch.push(key);
                if end == block.len() || batch.len() == BATCH_SIZE {
                    take(&batch);
                    batch.clear();
                }
            });
        })
    }

    fn for_all_blocks(&self, mut take: impl FnMut(&[u8])) -> Result<(), Failure> {
        let progress = Progress::of_bytes(self.size());
        for input in self.iter() {
            let flow = input.for_each_block(&progress, |block| {
                take(block);
                Ok(ControlFlow::Continue(()))
            })?;
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }
}
