//! A large filter file to which few changes are appended, without loading it.

use std::sync::Arc;

use guira::raw::{Change, Journal, RawView as _};
use guira::{CuckooFilterView, Digest, FileKind, LoadError};
use guira_files::LockedFile;

use crate::filter_view::{Bytes, SharedBytes, view_options};
use crate::provenance::Provenance;
use crate::secret_key::SecretKey;

/// Smaller files are replaced as a whole: that takes a few milliseconds, and leaves no journal for others to read.
const MIN_TABLE_SIZE: u64 = 1 << 24;

/// Where a journal has a change for so many keys of the capacity, the file is replaced as a whole, so that on average a change writes
/// a thousand times what it is.
const KEYS_PER_CHANGE: usize = 1000;
/// Whoever opens the file reads all changes, and so many in some 15 ms.
const MAX_CHANGES: usize = 1 << 16;
/// Where a command has more, it loads the file, and what was taken for the journal was for nothing: some 1 % of the whole.
const MAX_CHANGES_AT_ONCE: usize = 1 << 13;

/// A filter in its file, and changes that are to be appended.
pub(crate) struct JournaledFilter {
    /// Answers for the file with the changes.
    view: CuckooFilterView<'static>,
    journal: Journal,
    provenance: Provenance,
    file_size: u64,
    changes: Vec<Change>,
}

impl JournaledFilter {
    /// Opens a file for changes that are appended. `None` where it has to be loaded and replaced, or where something is wrong, which
    /// loading finds too.
    pub(crate) fn of(locked: &LockedFile, key: Option<SecretKey>) -> Option<Self> {
        locked.appendable()?;
        Self::open(locked, key).ok().flatten()
    }

    fn open(locked: &LockedFile, key: Option<SecretKey>) -> Result<Option<Self>, LoadError> {
        let Some((header, bytes)) = Bytes::mapped(locked.file())? else { return Ok(None) };
        let may_have_journal = matches!(header.kind(), FileKind::Filter | FileKind::Growing);
        if !may_have_journal || header.parameters().table_size() < MIN_TABLE_SIZE {
            return Ok(None);
        }
        let provenance = Provenance::of_file_bytes(&header, bytes.as_slice())?;
        let journal = bytes.journal(&header)?;
        if journal.is_cut_off() {
            return Ok(None);
        }
        let file_size = bytes.as_slice().len() as u64;
        let view = view_options(key).view_from_owner(SharedBytes(Arc::new(bytes)))?;
        Ok(Some(Self { view, journal, provenance, file_size, changes: Vec::new() }))
    }

    pub(crate) const fn view(&self) -> &CuckooFilterView<'static> {
        &self.view
    }

    pub(crate) const fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// Takes keys that are to be inserted, all or none. Returns `false` where they don't all fit into the table for sure, or are so
    /// many that the file is better replaced: then it is to be loaded.
    pub(crate) fn insert_all(&mut self, digests: &[Digest]) -> bool {
        // What is promised of the capacity holds for all keys: those of the journal find room when they are put into the table.
        // So do copies, if there are no more of a key than a bucket holds.
        let max_copies = self.view.parameters().slots_per_bucket() as usize;
        if !self.has_room_for(digests.len()) || digests.len() > self.view.capacity().saturating_sub(self.view.len()) {
            return false;
        }
        let before = self.changes.len();
        for &digest in digests {
            if self.view.count(&digest) >= max_copies {
                // The view has some of them now, and is not used any more.
                self.changes.truncate(before);
                return false;
            }
            self.push(Change::Insert(digest));
        }
        true
    }

    /// Takes keys that are to be removed. Writes to `answers` whether they were there. Returns `false` where they are
    /// so many that the file is better replaced.
    pub(crate) fn remove_all(&mut self, digests: &[Digest], answers: &mut [bool]) -> bool {
        if !self.has_room_for(digests.len()) {
            return false;
        }
        for (digest, was_there) in digests.iter().zip(answers) {
            *was_there = self.view.contains(digest);
            if *was_there {
                self.push(Change::Remove(*digest));
            }
        }
        true
    }

    fn has_room_for(&self, count: usize) -> bool {
        let max_changes = (self.view.capacity() / KEYS_PER_CHANGE).min(MAX_CHANGES);
        let at_once = self.changes.len() + count;
        at_once <= MAX_CHANGES_AT_ONCE && self.journal.changes().len() + at_once <= max_changes
    }

    fn push(&mut self, change: Change) {
        self.view.push(change);
        self.changes.push(change);
    }

    /// What was taken, in order.
    pub(crate) fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Appends the changes to the file. `None` where that can't be done any more.
    pub(crate) fn append_to(&self, locked: &LockedFile) -> Option<Result<(), guira_files::ReplaceError>> {
        let batch = self.journal.batch(&self.changes);
        Some(locked.appendable()?.append(self.file_size, &self.journal.start(), &batch))
    }
}
