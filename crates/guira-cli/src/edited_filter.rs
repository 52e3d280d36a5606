//! A filter file that keys are added to or removed from. Few changes of a large file are appended to its journal; for
//! many, it is loaded and replaced.

use std::path::{Path, PathBuf};

use guira::raw::Change;
use guira::{Digest, KeyHasher, Parameters};
use guira_files::LockedFile;

use crate::arguments::{NowArguments, WaitArguments};
use crate::failure::Failure;
use crate::filter_file::{FilterReplacement, explain, lock};
use crate::journaled_filter::JournaledFilter;
use crate::provenance::Provenance;
use crate::secret_key::SecretKey;
use crate::stored_filter::StoredFilter;

/// A locked file, which stays as it is until [`commit`](Self::commit) succeeds.
pub(crate) struct EditedFilter {
    path: PathBuf,
    key: Option<SecretKey>,
    wait: WaitArguments,
    filter: Filter,
    /// `None` once the lock was released.
    target: Option<Target>,
}

enum Filter {
    Journaled(Box<JournaledFilter>),
    Loaded(Box<StoredFilter>),
}

enum Target {
    Locked(LockedFile),
    Replacement(Box<FilterReplacement>),
}

impl EditedFilter {
    /// Locks a file, in order to change it. Until it is committed or released, others who want to change it wait, so that none
    /// overwrites another's keys.
    pub(crate) fn open(path: &Path, key: Option<SecretKey>, wait: WaitArguments) -> Result<Self, Failure> {
        let locked = lock(path, wait)?;
        let (filter, target) = match JournaledFilter::of(&locked, key) {
            Some(filter) => (Filter::Journaled(Box::new(filter)), Target::Locked(locked)),
            None => {
                let (filter, replacement) = FilterReplacement::of_locked(path, locked, key, wait)?;
                (Filter::Loaded(Box::new(filter)), Target::Replacement(Box::new(replacement)))
            }
        };
        Ok(Self { path: path.to_owned(), key, wait, filter, target: Some(target) })
    }

    /// Lets keys expire that would not be found any more. Those of a file with a journal don't.
    pub(crate) fn bring(&mut self, now: NowArguments) -> Result<(), Failure> {
        match &mut self.filter {
            Filter::Loaded(filter) => now.bring(&self.path, filter),
            Filter::Journaled(_) => now.refuse_for_lasting(&self.path),
        }
    }

    /// The filter, if it was loaded. Until then all keys fit.
    pub(crate) fn loaded(&self) -> Option<&StoredFilter> {
        match &self.filter {
            Filter::Loaded(filter) => Some(filter),
            Filter::Journaled(_) => None,
        }
    }

    pub(crate) fn provenance(&self) -> &Provenance {
        match &self.filter {
            Filter::Loaded(filter) => &filter.provenance,
            Filter::Journaled(filter) => filter.provenance(),
        }
    }

    pub(crate) fn hasher(&self) -> &KeyHasher {
        match &self.filter {
            Filter::Loaded(filter) => filter.filter.hasher(),
            Filter::Journaled(filter) => filter.view().hasher(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.filter {
            Filter::Loaded(filter) => filter.filter.len(),
            Filter::Journaled(filter) => filter.view().len(),
        }
    }

    pub(crate) fn capacity(&self) -> usize {
        match &self.filter {
            Filter::Loaded(filter) => filter.filter.capacity(),
            Filter::Journaled(filter) => filter.view().capacity(),
        }
    }

    pub(crate) fn parameters(&self) -> &Parameters {
        match &self.filter {
            Filter::Loaded(filter) => filter.filter.parameters(),
            Filter::Journaled(filter) => filter.view().parameters(),
        }
    }

    pub(crate) fn expected_false_positive_rate(&self) -> f64 {
        match &self.filter {
            Filter::Loaded(filter) => filter.filter.expected_false_positive_rate(),
            Filter::Journaled(filter) => filter.view().expected_false_positive_rate(),
        }
    }

    pub(crate) fn contains_many_into(&self, digests: &[Digest], answers: &mut [bool]) {
        match &self.filter {
            Filter::Loaded(filter) => filter.filter.contains_many_into(digests, answers),
            Filter::Journaled(filter) => filter.view().contains_many_into(digests, answers),
        }
    }

    /// Takes keys for the journal, all or none. Where they are not for it, the filter is loaded, to be changed itself.
    pub(crate) fn insert_in_journal(&mut self, digests: &[Digest]) -> Result<IfLoaded<'_>, Failure> {
        if let Filter::Journaled(filter) = &mut self.filter
            && filter.insert_all(digests)
        {
            return Ok(IfLoaded::Journaled);
        }
        self.load().map(IfLoaded::Loaded)
    }

    /// Removes keys, and writes to `answers` whether they were there.
    pub(crate) fn remove_many_into(&mut self, digests: &[Digest], answers: &mut [bool]) -> Result<(), Failure> {
        if let Filter::Journaled(filter) = &mut self.filter
            && filter.remove_all(digests, answers)
        {
            return Ok(());
        }
        self.load()?.filter.remove_many_into(digests, answers);
        Ok(())
    }

    /// The filter in memory, with what was taken for the journal.
    fn load(&mut self) -> Result<&mut StoredFilter, Failure> {
        if let Filter::Journaled(journaled) = &self.filter {
            let Some(Target::Locked(locked)) = self.target.take() else {
                return Err(Failure::of_file(&self.path, "is no longer locked"));
            };
            let (mut stored, replacement) = FilterReplacement::of_locked(&self.path, locked, self.key, self.wait)?;
            for change in journaled.changes() {
                match change {
                    Change::Insert(digest) => {
                        let inserted = stored.filter.insert(digest);
                        inserted.map_err(|error| Failure::of_file(&self.path, error))?;
                    }
                    Change::Remove(digest) => {
                        let _was_there: bool = stored.filter.remove(digest);
                    }
                    _ => {}
                }
            }
            self.target = Some(Target::Replacement(Box::new(replacement)));
            self.filter = Filter::Loaded(Box::new(stored));
        }
        match &mut self.filter {
            Filter::Loaded(filter) => Ok(filter),
            Filter::Journaled(_) => Err(Failure::of_file(&self.path, "was not loaded")),
        }
    }

    /// Puts the changes into the file, and releases the lock. When this returns, they are on disk.
    pub(crate) fn commit(&mut self) -> Result<(), Failure> {
        if let (Filter::Journaled(filter), Some(Target::Locked(locked))) = (&self.filter, &self.target)
            && let Some(appended) = filter.append_to(locked)
        {
            appended.map_err(|error| explain(&self.path, error))?;
        } else {
            self.load()?;
            if let (Filter::Loaded(filter), Some(Target::Replacement(replacement))) = (&self.filter, self.target.take())
            {
                replacement.commit(filter)?;
            }
        }
        self.release();
        Ok(())
    }

    /// Leaves the file as it is, and releases the lock.
    pub(crate) fn release(&mut self) {
        self.target = None;
    }
}

/// What became of keys.
pub(crate) enum IfLoaded<'filter> {
    /// They were taken for the journal.
    Journaled,
    /// They were not taken: they are for this filter.
    Loaded(&'filter mut StoredFilter),
}
