use std::cell::Cell;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use guira::{FileHeader, LoadError};

use super::block::{Block, Lines, Row};
use super::compression::{Compression, Opened, open};
use super::form::{KeyForm, RecordEnd};
use super::json::{Fault, JsonFaults};
use super::normalization::{EmptyKeys, Normalization, Normalized};
use super::records::{BLOCK_SIZE, for_each_block};
use crate::failure::{Failure, report};
use crate::filter_bytes::standard_input;
use crate::progress::{Progress, Watched};
use crate::same_file::SameFile;

/// Enough keys to overlap their cache misses, and few enough to stay in the cache.
pub(crate) const BATCH_SIZE: usize = 1024;

/// Enough that a call of the system is rare, and little beside all else that a program takes.
const SMALL_BLOCK_SIZE: usize = 1 << 16;

/// Where keys come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    StandardInput,
    File(PathBuf),
    /// Keys of the command line.
    Arguments(Vec<Vec<u8>>),
}

/// A source, and how to read it.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// Its position among the inputs.
    number: usize,
    source: Source,
    form: KeyForm,
    /// If not given, it is detected.
    compression: Option<Compression>,
    /// What is done to its keys before they are hashed.
    normalization: Normalization,
    /// What becomes of those that are empty then.
    empty: EmptyKeys,
    /// How many bytes of it are read at a time.
    block_size: usize,
    /// Whether only errors are reported.
    is_quiet: bool,
    /// What was wrong with its records, if they are JSON, when it was read last.
    faults: Cell<JsonFaults>,
}

/// Calls `take` with the keys of the command line.
fn take_arguments(
    keys: &[Vec<u8>],
    end: RecordEnd,
    mut take: impl FnMut(&Block<'_>) -> Result<ControlFlow<()>, Failure>,
) -> Result<ControlFlow<()>, Failure> {
    let (mut bytes, mut rows) = (Vec::new(), Vec::new());
    for key in keys {
        let start = bytes.len();
        bytes.extend_from_slice(key);
        bytes.push(end.byte());
        rows.push(Row { key: Some(start..bytes.len() - 1), end: bytes.len() });
    }
    take(&Block::of_rows(&bytes, &rows, &bytes, Lines::One))
}

impl Input {
    /// Calls `take` with one block of whole records after the other.
    pub(crate) fn for_each_block(
        &self,
        progress: &Progress,
        take: impl FnMut(&Block<'_>) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<ControlFlow<()>, Failure> {
        self.for_each_block_at(None, progress, take)
    }

    /// The same at the pace of a pulse.
    fn for_each_block_at(
        &self,
        pulse: Option<&dyn Pulse>,
        progress: &Progress,
        mut take: impl FnMut(&Block<'_>) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<ControlFlow<()>, Failure> {
        if self.normalization.is_none() && self.empty == EmptyKeys::Taken {
            return self.for_each_block_as_it_is(pulse, progress, take);
        }
        let mut normalized = Normalized::new(self.normalization, self.empty);
        self.for_each_block_as_it_is(pulse, progress, |block| {
            take(&normalized.block(block).map_err(|error| Failure::of_io(self.name(), &error))?)
        })
    }

    fn for_each_block_as_it_is(
        &self,
        pulse: Option<&dyn Pulse>,
        progress: &Progress,
        mut take: impl FnMut(&Block<'_>) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<ControlFlow<()>, Failure> {
        let explain = |error: &io::Error| Failure::of_io(self.name(), error);
        let Opened { source, has_mark } = match &self.source {
            Source::Arguments(keys) => return take_arguments(keys, self.form.end, take),
            // What is typed into a console of Windows is text in its encoding, which the standard library turns into UTF-8.
            Source::StandardInput if cfg!(windows) => self.begin(io::stdin().lock(), None, progress),
            // The standard library's buffer would hide what has come.
            Source::StandardInput => {
                standard_input().and_then(|file| self.begin(Paced::new(file, pulse), None, progress))
            }
            Source::File(path) => open_list(path, pulse.is_some())
                .and_then(|file| self.begin(Paced::new(file, pulse), Some(path), progress)),
        }
        .map_err(|error| explain(&error))?;
        if has_mark && !self.is_quiet {
            report(format_args!("{}: skipped the byte order mark at its start", self.name()));
        }
        for_each_block(source, &self.form, self.block_size, explain, |block| {
            self.faults.set(block.faults());
            take(block)
        })
    }

    fn begin<'progress>(
        &self,
        source: impl Read + 'progress,
        path: Option<&Path>,
        progress: &'progress Progress,
    ) -> io::Result<Opened<'progress>> {
        // The bytes before they are decompressed: of those it is known how many there are.
        open(Watched { source, progress }, path, self.compression)
    }

    pub(crate) const fn number(&self) -> usize {
        self.number
    }

    pub(crate) fn is_standard_input(&self) -> bool {
        self.source == Source::StandardInput
    }

    /// The name in messages.
    pub(crate) fn name(&self) -> String {
        match &self.source {
            Source::StandardInput => "standard input".to_owned(),
            Source::File(path) => path.display().to_string(),
            Source::Arguments(_) => "--key".to_owned(),
        }
    }

    /// The label before printed lines of this input.
    pub(crate) fn label(&self) -> Vec<u8> {
        match &self.source {
            Source::StandardInput => b"(standard input)".to_vec(),
            Source::File(path) => path.as_os_str().as_encoded_bytes().to_vec(),
            Source::Arguments(_) => b"(argument)".to_vec(),
        }
    }

    /// The size in bytes, if it is known.
    fn size(&self) -> Option<u64> {
        match &self.source {
            Source::StandardInput => None,
            Source::Arguments(_) => Some(0),
            Source::File(path) => fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len()),
        }
    }
}

/// Decides when a source is read.
pub(crate) trait Pulse {
    /// Waits until the source has something to read, or is at its end.
    ///
    /// # Errors
    ///
    /// If it is not to be read any more. What was read of a record that has not ended is then dropped.
    fn wait_for(&self, source: &File) -> io::Result<()>;

    /// Returns `true` if no source is to be read any more, which is no error of the source.
    fn is_over(&self) -> bool;
}

/// A source that is read at the pace of a pulse, if there is one.
struct Paced<'pulse> {
    file: File,
    /// Its size when it was opened; 0 if it has none.
    size: u64,
    pulse: Option<&'pulse dyn Pulse>,
}

impl<'pulse> Paced<'pulse> {
    fn new(file: File, pulse: Option<&'pulse dyn Pulse>) -> Self {
        let size = size_of(&file);
        Self { file, size, pulse }
    }
}

fn size_of(file: &File) -> u64 {
    file.metadata().map_or(0, |metadata| metadata.len())
}

impl Read for Paced<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(pulse) = self.pulse {
            pulse.wait_for(&self.file)?;
        }
        let size = self.file.read(buffer)?;
        // A list that is written anew in its place ends where the reader stands, or before, and the rest of it is lost.
        if size == 0 && !buffer.is_empty() && size_of(&self.file) < self.size {
            return Err(io::Error::other("was cut off while it was read"));
        }
        Ok(size)
    }
}

/// The inputs of a command, in order.
#[derive(Clone, Debug)]
pub(crate) struct Inputs(Vec<Input>);

impl Inputs {
    /// The keys of the command line, then the named files; "-", or no input at all, is standard input.
    pub(crate) fn new(
        keys: &[OsString],
        paths: &[PathBuf],
        form: &KeyForm,
        compression: Option<Compression>,
        normalization: Normalization,
        is_quiet: bool,
    ) -> Self {
        let mut sources = Vec::new();
        if !keys.is_empty() {
            sources.push(Source::Arguments(keys.iter().map(|key| key.as_encoded_bytes().to_vec()).collect()));
        }
        sources.extend(paths.iter().map(|path| match path.as_os_str().as_encoded_bytes() {
            b"-" => Source::StandardInput,
            _ => Source::File(path.clone()),
        }));
        if sources.is_empty() {
            sources.push(Source::StandardInput);
        }
        Self(
            sources
                .into_iter()
                .enumerate()
                .map(|(number, source)| Input {
                    number,
                    source,
                    form: form.clone(),
                    compression,
                    normalization,
                    empty: EmptyKeys::Taken,
                    block_size: BLOCK_SIZE,
                    is_quiet,
                    faults: Cell::new(JsonFaults::NONE),
                })
                .collect(),
        )
    }

    /// Inputs whose empty keys are treated so.
    pub(crate) fn with_empty_keys(mut self, empty: EmptyKeys) -> Self {
        self.0.iter_mut().for_each(|input| input.empty = empty);
        self
    }

    /// Inputs that are read in smaller blocks, for a command that has one thread.
    pub(crate) fn in_small_blocks(mut self) -> Self {
        self.0.iter_mut().for_each(|input| input.block_size = SMALL_BLOCK_SIZE);
        self
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// How many records of what was read are not JSON, and how many are without a value, with the place of the first of each:
    /// `line 3 of conn.json`, or `line 3` where there is but one input.
    pub(crate) fn json_faults(&self) -> [(u64, String); 2] {
        let all = |fault: fn(JsonFaults) -> Fault| {
            let faults = self.iter().map(|input| (input, fault(input.faults.get())));
            let first = faults.clone().find(|(_, fault)| fault.count > 0).map(|(input, Fault { first, .. })| {
                if self.len() > 1 { format!("line {first} of {}", input.name()) } else { format!("line {first}") }
            });
            (faults.map(|(_, fault)| fault.count).sum(), first.unwrap_or_default())
        };
        [all(|faults| faults.not_json), all(|faults| faults.without_value)]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Input> + Clone {
        self.0.iter()
    }

    /// Returns `true` if all inputs can be read a second time.
    pub(crate) fn can_be_read_again(&self) -> bool {
        self.iter().all(|input| match &input.source {
            Source::StandardInput => false,
            Source::Arguments(_) => true,
            Source::File(path) => !fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()),
        })
    }

    /// Refuses filter files, which belong elsewhere on the command line. No list of keys starts like one.
    pub(crate) fn refuse_filters(&self) -> Result<(), Failure> {
        for input in self.iter() {
            if let Source::File(path) = &input.source
                && starts_like_a_filter(path)
            {
                let text = "a filter, where a list of keys is expected; check, add and remove take the filter first, and then the lists";
                return Err(Failure::of_file(path, text));
            }
        }
        Ok(())
    }

    /// Refuses an output that would replace one of the lists, even where it is given by another name. Opens none of them: they
    /// may be pipes.
    pub(crate) fn refuse_as_output(&self, output: &Path) -> Result<(), Failure> {
        // An output that does not exist yet, or is standard output, replaces nothing.
        self.refuse(SameFile::of(output), "a list of keys that would be replaced: give another file")
    }

    /// Refuses a list that standard output is appended to: what is printed would be read again, without an end.
    pub(crate) fn refuse_standard_output(&self) -> Result<(), Failure> {
        self.refuse(SameFile::of_standard_output(), "standard output is this list of keys: let it go to another file")
    }

    /// Refuses to read a file, if there is one.
    fn refuse(&self, file: Option<SameFile>, message: &str) -> Result<(), Failure> {
        let Some(file) = file else { return Ok(()) };
        for input in self.iter() {
            let list = match &input.source {
                Source::StandardInput => SameFile::of_standard_input(),
                Source::File(path) => SameFile::of(path),
                Source::Arguments(_) => None,
            };
            if list.is_some_and(|list| list == file) {
                return Err(Failure::of(input.name(), message));
            }
        }
        Ok(())
    }

    /// The size of all inputs in bytes, if it is known.
    pub(crate) fn size(&self) -> Option<u64> {
        self.iter().map(Input::size).sum()
    }

    /// Calls `take` with every block of every input.
    pub(crate) fn for_all_blocks(
        &self,
        mut take: impl FnMut(&Block<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.for_all_blocks_at(None, &Progress::of_bytes(self.size()), |_, block| {
            take(block)?;
            Ok(ControlFlow::Continue(()))
        })
    }

    /// Calls `take` with each input and one of its blocks, for all of them at the pace of a pulse, until that is over, or `take` breaks off.
    pub(crate) fn for_all_blocks_at(
        &self,
        pulse: Option<&dyn Pulse>,
        progress: &Progress,
        mut take: impl FnMut(&Input, &Block<'_>) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<(), Failure> {
        for input in self.iter() {
            let flow = input.for_each_block_at(pulse, progress, |block| take(input, block));
            if pulse.is_some_and(Pulse::is_over) {
                return Ok(());
            }
            if flow?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Calls `take` with batches of keys, in order. Returns how many records had no key, and how many keys were empty.
    pub(crate) fn for_each_batch(
        &self,
        mut take: impl FnMut(&[&[u8]]) -> Result<(), Failure>,
    ) -> Result<EmptyCounts, Failure> {
        let mut empty_counts = EmptyCounts::default();
        self.for_all_blocks(|block| {
            let mut batch = Vec::with_capacity(BATCH_SIZE);
            let mut taken = Ok(());
            block.for_each_key(|key, _| {
                empty_counts.count(key);
                let Some(key) = key else { return };
                batch.push(key);
                if batch.len() == BATCH_SIZE {
                    if taken.is_ok() {
                        taken = take(&batch);
                    }
                    batch.clear();
                }
            });
            taken?;
            if batch.is_empty() { Ok(()) } else { take(&batch) }
        })?;
        Ok(empty_counts)
    }
}

/// Numbers of records and keys with nothing in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EmptyCounts {
    /// Records without a key.
    pub(crate) without_key: u64,
    /// Keys that are empty.
    pub(crate) empty: u64,
}

impl EmptyCounts {
    #[inline]
    pub(crate) fn count(&mut self, key: Option<&[u8]>) {
        match key {
            None => self.without_key += 1,
            Some(key) => self.empty += u64::from(key.is_empty()),
        }
    }

    pub(crate) const fn add(&mut self, more: Self) {
        self.without_key += more.without_key;
        self.empty += more.empty;
    }
}

/// Opens a list of keys. At a pulse, a named pipe that nobody has opened to write is not waited for here, where no signal is noticed.
#[cfg(unix)]
fn open_list(path: &Path, has_pulse: bool) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open};

    if !has_pulse {
        return File::open(path);
    }
    let file = open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    // Only to open it: what is read is waited for.
    fcntl_setfl(&file, fcntl_getfl(&file)?.difference(OFlags::NONBLOCK))?;
    Ok(file.into())
}

#[cfg(not(unix))]
fn open_list(path: &Path, _has_pulse: bool) -> io::Result<File> {
    File::open(path)
}

/// `false` if the file can't be read, which is reported later, or is no regular file: a pipe can be read only once.
fn starts_like_a_filter(path: &Path) -> bool {
    let mut start = Vec::new();
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
        && File::open(path).is_ok_and(|file| file.take(FileHeader::MIN_SIZE as u64).read_to_end(&mut start).is_ok())
        && !matches!(FileHeader::from_bytes(&start), Err(LoadError::NotGuira | LoadError::Truncated { .. }))
}
