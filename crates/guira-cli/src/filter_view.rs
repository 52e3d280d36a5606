//! Filters that are only queried: memory-mapped if the file is not compressed.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use std::{mem, thread};

use guira::raw::Journal;
use guira::{CuckooFilterView, Digest, ExpiringCuckooFilter, FileHeader, FileKind, KeyHasher, LoadError, LoadOptions};
use memmap2::Mmap;

use crate::arguments::NowArguments;
use crate::failure::{Failure, report};
use crate::filter_bytes;
use crate::keys::Normalization;
use crate::provenance::{Provenance, TimeSource};
use crate::secret_key::SecretKey;

/// Whether the checksum of a table is verified before the first answer. A damaged table would silently miss keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// It is. This reads all of the table once, at the speed of memory or disk.
    Verified,
    /// It is where that takes a moment, and not where it would take seconds and more memory than there may be. Files are replaced
    /// as a whole and flushed to disk, so what it would find is damage by the disk.
    VerifiedIfSmall,
    /// It is not, so that the first answer comes at once.
    Blind,
}

/// Larger tables are verified only if that is asked for: reading this much takes a few milliseconds from memory.
const MAX_SMALL_TABLE: u64 = 1 << 26;

impl Trust {
    const fn verifies(self, table_size: u64) -> bool {
        match self {
            Self::Verified => true,
            Self::VerifiedIfSmall => table_size <= MAX_SMALL_TABLE,
            Self::Blind => false,
        }
    }
}

/// What is done where a file is replaced that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replaced {
    /// The new one is opened.
    Followed,
    /// It is told once.
    Told,
    Ignored,
}

/// A filter that can be queried.
pub(crate) enum FilterView<'filter> {
    /// It is queried where it is.
    InPlace(&'filter CuckooFilterView<'static>),
    /// Its keys expire, and it is in memory.
    Loaded(&'filter ExpiringCuckooFilter),
}

impl FilterView<'_> {
    pub(crate) const fn hasher(&self) -> &KeyHasher {
        match self {
            Self::InPlace(filter) => filter.hasher(),
            Self::Loaded(filter) => filter.hasher(),
        }
    }

    pub(crate) fn contains_many_into(&self, digests: &[Digest], answers: &mut [bool]) {
        match self {
            Self::InPlace(filter) => filter.contains_many_into(digests, answers),
            Self::Loaded(filter) => filter.contains_many_into(digests, answers),
        }
    }

    /// How many copies of a key there are.
    pub(crate) fn count(&self, key: &[u8]) -> usize {
        match self {
            Self::InPlace(filter) => filter.count(key),
            Self::Loaded(filter) => filter.count(key),
        }
    }
}

/// Filters, sets, growing filters and those whose keys expire that are open.
pub(crate) struct Filters {
    sources: Vec<Source>,
    key: Option<SecretKey>,
    trust: Trust,
    now: NowArguments,
    normalization: Normalization,
}

/// A filter, and what its path has led to last.
struct Source {
    path: PathBuf,
    opened: Opened,
    /// The file that the path led to when something was told about it.
    told_of: Option<Identity>,
}

impl Filters {
    /// Opens filters. If there is more than one, the key is for those that need one.
    pub(crate) fn open(
        paths: &[impl AsRef<Path>],
        key: Option<SecretKey>,
        trust: Trust,
        now: NowArguments,
    ) -> Result<Self, Failure> {
        let mut sources = Vec::new();
        for path in paths.iter().map(AsRef::as_ref) {
            let opened = Opened::new(path, key, paths.len() > 1, trust, now)?;
            if let Contents::Loaded(filter) = &opened.contents {
                now.warn_of_time_ahead(path, filter, opened.time_source);
            }
            sources.push(Source { path: path.to_owned(), opened, told_of: None });
        }
        let normalization = sources.first().map(|source| source.opened.normalization).unwrap_or_default();
        if let Some(unlike) = sources.iter().find(|source| source.opened.normalization != normalization) {
            let text =
                "keys are not treated as in the first filter, by --lowercase or --trim: check the filters one by one";
            return Err(Failure::of_file(&unlike.path, text));
        }
        Ok(Self { sources, key, trust, now, normalization })
    }

    /// What is done to keys before they are hashed, in all of the filters.
    pub(crate) const fn normalization(&self) -> Normalization {
        self.normalization
    }

    /// Lets keys expire that would not be found any more.
    pub(crate) fn expire(&mut self) -> Result<(), Failure> {
        self.sources.iter_mut().try_for_each(|source| source.opened.expire(&source.path, self.now))
    }

    /// The filters as they can be queried now.
    pub(crate) fn views(&self) -> Vec<FilterView<'_>> {
        self.sources.iter().map(|source| source.opened.view()).collect()
    }

    /// Looks whether the paths lead to other files by now, or to more of them. Those that can't be opened are told of, and the filter that is open is
    /// kept in their place.
    pub(crate) fn look_for_replaced(&mut self, replaced: Replaced) -> Result<(), Failure> {
        if replaced == Replaced::Ignored {
            return Ok(());
        }
        for source in &mut self.sources {
            let Some((current, change)) = source.opened.changed_to(&source.path) else { continue };
            let is_told = source
                .told_of
                .is_some_and(|told| told == current || (replaced == Replaced::Told && told.is_same_file(&current)));
            if is_told {
                continue;
            }
            source.told_of = Some(current);
            let path = source.path.display();
            let what = match change {
                Change::Replaced => "was replaced",
                Change::Appended => "was added to",
            };
            if replaced == Replaced::Told {
                report(format_args!(
                    "warning: {path}: {what}, and lines are still checked with the filter that it was: --follow takes \
                     the new one"
                ));
                continue;
            }
            match Opened::new(&source.path, self.key, true, self.trust, self.now) {
                Ok(opened) if opened.normalization != self.normalization => {
                    // No input behind this one is checked with the filter that it was either.
                    source.told_of = None;
                    let text = "was replaced by a filter whose keys are treated otherwise, by --lowercase or --trim: start \
                                again";
                    return Err(Failure::of_file(&source.path, text));
                }
                Ok(opened) => {
                    report(format_args!("{path}: {what}: lines from here on are checked with the new filter"));
                    release(mem::replace(&mut source.opened, opened));
                }
                Err(failure) => {
                    report(format_args!("warning: {failure}: lines are still checked with the filter that it was"));
                }
            }
        }
        Ok(())
    }
}

/// Closes a filter beside what goes on.
///
/// The last to close a file whose name was given to another one waits until the file system has freed it, which takes tenths of
/// a second on a busy disk.
fn release(opened: Opened) {
    // Where no thread can be started, it is closed here.
    drop(thread::Builder::new().spawn(move || drop(opened)));
}

/// Bytes that several views look at.
#[derive(Clone)]
pub(crate) struct SharedBytes(pub(crate) Arc<Bytes>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        self.0.as_slice()
    }
}

/// A filter as its file is, and what is done to keys before they are hashed.
///
/// Everything is read from one open file: the path may be replaced at any time, and the table of one file with the notes of
/// another would miss keys.
struct Opened {
    contents: Contents,
    normalization: Normalization,
    /// If keys expire, where its time comes from.
    time_source: Option<TimeSource>,
    /// Which file it is; `None` for a stream. It stays open, so that no other file gets its number.
    file: Option<(File, Identity)>,
}

/// What is looked at.
enum Contents {
    File(Box<CuckooFilterView<'static>>),
    Loaded(Box<ExpiringCuckooFilter>),
}

/// The bytes of a filter file.
pub(crate) enum Bytes {
    Mapped(Mmap),
    /// Bytes from a pipe or a compressed file, which can't be mapped.
    Read(Vec<u8>),
}

impl Bytes {
    /// The header and all of the bytes, which may be fewer than the header says, or more.
    pub(crate) fn of(file: &File) -> Result<(FileHeader, Self), LoadError> {
        if !file.metadata()?.is_file() {
            let (header, bytes) = filter_bytes::read(file)?;
            return Ok((header, Self::Read(bytes)));
        }
        let mapped = map(file)?;
        if filter_bytes::is_uncompressed(&mapped) {
            return Ok((FileHeader::from_bytes(&mapped)?, Self::Mapped(mapped)));
        }
        let (header, bytes) = filter_bytes::read(&*mapped)?;
        Ok((header, Self::Read(bytes)))
    }

    /// The header and all of the bytes of a regular file, if it is not compressed.
    pub(crate) fn mapped(file: &File) -> Result<Option<(FileHeader, Self)>, LoadError> {
        let mapped = map(file)?;
        let is_uncompressed = filter_bytes::is_uncompressed(&mapped);
        Ok(if is_uncompressed { Some((FileHeader::from_bytes(&mapped)?, Self::Mapped(mapped))) } else { None })
    }

    /// The journal behind what the header counts.
    pub(crate) fn journal(&self, header: &FileHeader) -> Result<Journal, LoadError> {
        let end = usize::try_from(header.file_size()).unwrap_or(usize::MAX);
        Journal::read(header, self.as_slice().get(end..).unwrap_or_default())
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Mapped(bytes) => bytes,
            Self::Read(bytes) => bytes,
        }
    }
}

impl Opened {
    /// Opens a filter. Of several, not all need the key.
    fn new(
        path: &Path,
        key: Option<SecretKey>,
        is_key_optional: bool,
        trust: Trust,
        now: NowArguments,
    ) -> Result<Self, Failure> {
        let explain = |error: LoadError| Failure::of_loading(path, &error);
        let file = filter_bytes::open(path).map_err(|error| explain(error.into()))?;
        let mut opened = Self::of(file, key, is_key_optional).map_err(explain)?;
        opened.expire(path, now)?;
        // What is loaded is verified.
        if let Contents::File(view) = &opened.contents
            && trust.verifies(view.parameters().table_size())
        {
            view.verify_checksum().map_err(explain)?;
        }
        Ok(opened)
    }

    fn of(file: File, key: Option<SecretKey>, is_key_optional: bool) -> Result<Self, LoadError> {
        // Before it is read: what is appended meanwhile is seen the next time.
        let identity = file.metadata().ok().and_then(|metadata| Identity::of(&metadata));
        let (header, bytes) = Bytes::of(&file)?;
        // If there is too little, the view reports that.
        let is_whole = bytes.as_slice().len() as u64 >= header.file_size();
        let provenance =
            if is_whole { Provenance::of_file_bytes(&header, bytes.as_slice())? } else { Provenance::default() };
        let Provenance { normalization, time_source, .. } = provenance;
        let key = key.filter(|_| header.has_secret_key() || !is_key_optional);
        let contents = match header.kind() {
            FileKind::Expiring => Contents::Loaded(Box::new(view_options(key).from_bytes(bytes.as_slice())?)),
            _ => Contents::File(Box::new(view_options(key).view_from_owner(SharedBytes(Arc::new(bytes)))?)),
        };
        Ok(Self { contents, normalization, time_source, file: identity.map(|identity| (file, identity)) })
    }

    fn view(&self) -> FilterView<'_> {
        match &self.contents {
            Contents::File(view) => FilterView::InPlace(view),
            Contents::Loaded(filter) => FilterView::Loaded(filter),
        }
    }

    fn expire(&mut self, path: &Path, now: NowArguments) -> Result<(), Failure> {
        match &mut self.contents {
            Contents::File(_) => now.refuse_for_lasting(path),
            Contents::Loaded(filter) => now.bring_expiring(path, filter, self.time_source),
        }
    }

    /// The file that a path leads to, if it is not as this was when it was opened. A path that leads nowhere may be about to be
    /// replaced.
    fn changed_to(&self, path: &Path) -> Option<(Identity, Change)> {
        let (_, identity) = self.file.as_ref()?;
        let current = Identity::of(&fs::metadata(path).ok()?)?;
        if !current.is_same_file(identity) {
            Some((current, Change::Replaced))
        } else {
            (current.size != identity.size).then_some((current, Change::Appended))
        }
    }
}

/// What has happened to a file that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Replaced,
    /// Its journal has grown.
    Appended,
}

/// How a filter is viewed.
pub(crate) fn view_options(key: Option<SecretKey>) -> LoadOptions {
    // Whoever asks does to keys what the normalization says.
    let options = LoadOptions::new().normalized_keys();
    match key {
        Some(key) => options.secret_key(key.bytes()),
        None => options,
    }
}

/// Whoever asks does to keys what the normalization says.
pub(crate) fn load_options(key: Option<SecretKey>) -> LoadOptions {
    let options = LoadOptions::new().normalized_keys();
    match key {
        Some(key) => options.secret_key(key.bytes()),
        None => options,
    }
}

/// What tells one file from another, and one content from the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    #[cfg(unix)]
    number: (u64, u64),
    size: u64,
    modified: Option<SystemTime>,
}

impl Identity {
    /// `None` for a stream.
    fn of(metadata: &Metadata) -> Option<Self> {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        metadata.is_file().then(|| Self {
            #[cfg(unix)]
            number: (metadata.dev(), metadata.ino()),
            size: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }

    /// Whether a file that is open is this one. A file that is not open may have had the same number.
    fn is_same_file(&self, open: &Self) -> bool {
        #[cfg(unix)]
        return self.number == open.number;
        #[cfg(not(unix))]
        return self == open;
    }
}

#[expect(unsafe_code, reason = "that others leave a file alone can be asked of them, and not be seen to")]
fn map(file: &File) -> io::Result<Mmap> {
    // This program never changes a byte of a filter file, nor cuts it off: it replaces the file, or appends to it, and what is mapped
    // stays as it is. The help of `check` asks the same of other programs.
    // SAFETY: hence nobody changes the file while it is mapped, as far as can be known here.
    unsafe { Mmap::map(file) }
}

#[cfg(test)]
mod tests {
    use guira::CuckooFilter;
    use guira::raw::RawFilter as _;

    use super::*;

    /// The file of a filter with one key, and with notes that say whether keys are made lower case.
    fn file_of(key: &str, lowercase: bool) -> Vec<u8> {
        let mut filter = CuckooFilter::with_capacity(10, 1e-9).expect("valid");
        filter.insert(key).expect("room");
        let normalization = Normalization { lowercase, trim: false };
        let (mut header, table, _) = filter.file_parts();
        let section =
            Provenance { normalization, ..Provenance::default() }.write_into(&mut header, Vec::new()).expect("memory");
        [&header[..], &table, &section].concat()
    }

    #[test]
    fn a_file_that_is_replaced_once_it_is_open_is_no_part_of_the_answer() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (path, other) = (directory.path().join("set.guira"), directory.path().join("other.guira"));
        for lowercase in [false, true] {
            fs::write(&path, file_of("Ani", lowercase)).expect("writable");
            let file = File::open(&path).expect("readable");
            fs::write(&other, file_of("koel", !lowercase)).expect("writable");
            fs::rename(&other, &path).expect("the same directory");

            let opened = Opened::of(file, None, false).expect("whole");
            assert_eq!(opened.normalization.lowercase, lowercase);
            let view = opened.view();
            assert_eq!((view.count(b"Ani"), view.count(b"koel")), (1, 0));
        }
    }

    #[test]
    fn large_tables_are_verified_only_if_that_is_asked_for() {
        for (trust, small, large) in
            [(Trust::Verified, true, true), (Trust::VerifiedIfSmall, true, false), (Trust::Blind, false, false)]
        {
            assert_eq!((trust.verifies(MAX_SMALL_TABLE), trust.verifies(MAX_SMALL_TABLE + 1)), (small, large));
        }
    }

    #[test]
    fn a_replaced_file_is_followed_and_one_that_is_no_filter_is_not() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (path, other) = (directory.path().join("set.guira"), directory.path().join("other.guira"));
        let replace = |bytes: Vec<u8>| {
            fs::write(&other, bytes).expect("writable");
            fs::rename(&other, &path).expect("the same directory");
        };
        replace(file_of("ani", false));
        let mut filters = Filters::open(&[&path], None, Trust::Verified, NowArguments::default()).expect("a filter");
        let has = |filters: &Filters, key: &str| filters.views()[0].count(key.as_bytes()) > 0;
        filters.look_for_replaced(Replaced::Followed).expect("nothing new");
        assert!(has(&filters, "ani") && !has(&filters, "koel"));

        replace(file_of("koel", false));
        assert!(has(&filters, "ani"));
        filters.look_for_replaced(Replaced::Told).expect("told");
        assert!(has(&filters, "ani") && filters.sources[0].told_of.is_some());
        filters.sources[0].told_of = None;
        filters.look_for_replaced(Replaced::Followed).expect("a filter");
        assert!(has(&filters, "koel") && !has(&filters, "ani"));

        replace(b"something else".to_vec());
        filters.look_for_replaced(Replaced::Followed).expect("told");
        assert!(has(&filters, "koel"));
        fs::remove_file(&path).expect("it is there");
        filters.look_for_replaced(Replaced::Followed).expect("nothing to follow");
        assert!(has(&filters, "koel"));
        replace(file_of("emu", false));
        filters.look_for_replaced(Replaced::Followed).expect("a filter");
        assert!(has(&filters, "emu"));
        replace(file_of("emu", true));
        assert!(filters.look_for_replaced(Replaced::Followed).is_err());
    }
}
