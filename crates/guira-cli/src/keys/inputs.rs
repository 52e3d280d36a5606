use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use guira::{FileHeader, LoadError};

use super::block::Block;
use super::compression::Compression;
use super::form::KeyForm;
use super::records::for_each_block;
use crate::failure::Failure;
use crate::progress::Progress;

/// So many that the processor looks up several at once, so few that they stay in its cache.
pub(crate) const BATCH_SIZE: usize = 1024;

/// Where keys come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    StandardInput,
    File(PathBuf),
}

/// A source, and how to read it.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    source: Source,
    form: KeyForm,
    /// Where it is not given, it is found out.
    compression: Option<Compression>,
}

impl Input {
    /// Calls `take` with one block of whole records after the other.
    pub(crate) fn for_each_block(
        &self,
        progress: &Progress,
        take: impl FnMut(&Block<'_>) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<ControlFlow<()>, Failure> {
        let explain = |error: &io::Error| self.failure(error);
        let source = self.open(progress).map_err(|error| explain(&error))?;
        for_each_block(source, self.form, explain, take)
    }

    fn open<'progress>(&self, progress: &'progress Progress) -> io::Result<Box<dyn Read + 'progress>> {
        match &self.source {
            Source::StandardInput => self.decoded(io::stdin().lock(), None, progress),
            Source::File(path) => self.decoded(File::open(path)?, Some(path), progress),
        }
    }

    fn decoded<'progress>(
        &self,
        source: impl Read + 'progress,
        path: Option<&Path>,
        progress: &'progress Progress,
    ) -> io::Result<Box<dyn Read + 'progress>> {
        let watched = Watched { source, progress };
        if let Some(compression) = self.compression {
            return Ok(compression.decoder(watched));
        }
        let (compression, source) = Compression::detect(watched, path)?;
        Ok(compression.decoder(source))
    }

    fn failure(&self, error: &io::Error) -> Failure {
        match &self.source {
            Source::StandardInput => Failure::of_io("standard input", error),
            Source::File(path) => Failure::of_io(path.display().to_string(), error),
        }
    }

    /// The bytes to come, where that can be known.
    fn size(&self) -> Option<u64> {
        match &self.source {
            Source::StandardInput => None,
            Source::File(path) => fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len()),
        }
    }
}

/// A source that tells how much of it has been read, before anything is decompressed.
struct Watched<'progress, R> {
    source: R,
    progress: &'progress Progress,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.source.read(buffer)?;
        self.progress.advance(size);
        Ok(size)
    }
}

/// The inputs of a command, in order.
#[derive(Clone, Debug)]
pub(crate) struct Inputs(Vec<Input>);

impl Inputs {
    /// The files that were named; "-", or none at all, is standard input.
    pub(crate) fn named(paths: &[PathBuf], form: KeyForm, compression: Option<Compression>) -> Self {
        let input = |source| Input { source, form, compression };
        if paths.is_empty() {
            return Self(vec![input(Source::StandardInput)]);
        }
        let source =
            |path: &PathBuf| if path == Path::new("-") { Source::StandardInput } else { Source::File(path.clone()) };
        Self(paths.iter().map(source).map(input).collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Input> {
        self.0.iter()
    }

    /// Refuses filter files, of which no list of keys has the first bytes: their place on the command line is another.
    pub(crate) fn refuse_filters(&self) -> Result<(), Failure> {
        for input in self.iter() {
            if let Source::File(path) = &input.source
                && starts_like_a_filter(path)
            {
                let text = "a filter, where a list of keys is expected: the filter comes first, and then the lists";
                return Err(Failure::of_file(path, text));
            }
        }
        Ok(())
    }

    /// The bytes of all inputs, where that can be known.
    pub(crate) fn size(&self) -> Option<u64> {
        self.iter().map(Input::size).sum()
    }

    /// Calls `take` with every block of every input.
    pub(crate) fn for_all_blocks(&self, mut take: impl FnMut(&Block<'_>)) -> Result<(), Failure> {
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

    /// Calls `take` with some keys at a time, in order. Says how many records had no key.
    pub(crate) fn for_each_batch(&self, mut take: impl FnMut(&[&[u8]])) -> Result<u64, Failure> {
        let mut without_key = 0;
        self.for_all_blocks(|block| {
            let mut batch = Vec::with_capacity(BATCH_SIZE);
            block.for_each_key(|key, _| {
                let Some(key) = key else {
                    without_key += 1;
                    return;
                };
                batch.push(key);
                if batch.len() == BATCH_SIZE {
                    take(&batch);
                    batch.clear();
                }
            });
            if !batch.is_empty() {
                take(&batch);
            }
        })?;
        Ok(without_key)
    }
}

/// What can't be read, reading will tell of; and what is no file, such as a pipe, can be read only once.
fn starts_like_a_filter(path: &Path) -> bool {
    let mut start = Vec::new();
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
        && File::open(path).is_ok_and(|file| file.take(FileHeader::SIZE as u64).read_to_end(&mut start).is_ok())
        && !matches!(FileHeader::of_bytes(&start), Err(LoadError::NotGuira | LoadError::Truncated { .. }))
}
