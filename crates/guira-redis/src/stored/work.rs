//! What takes long with a large filter, in steps.

use guira::CuckooFilter;
use guira::raw::{FileEnds, Merging, Shrinking, Step, Summing};
use smallvec::SmallVec;

use super::imported::Compacting;
use super::stamp::Stamp;
use super::{Growing, Imported, StoredFilter};
use crate::cast::wide;
use crate::error::CommandError;
use crate::memory::short_list_for;

/// Less is done faster than clients notice, in bytes of all tables.
const WORTH_STEPS: u64 = 256 << 10;

/// A smaller table is summed up faster than clients notice, in bytes.
const WORTH_SUMMING_IN_STEPS: u64 = 4 << 20;

/// What is to be done with filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// The first is summed up, for the header of its dump.
    SumUp,
    /// The first is shrunk, or compacted.
    Shrink,
    /// The others are merged into a copy of the first.
    Merge,
}

/// A task that is under way.
pub(crate) struct Work {
    task: Task,
    phase: Phase,
    /// The stamps of the filters when the phase began.
    stamps: Vec<u64>,
    /// How often it was begun anew.
    restarts: u32,
    waste: Option<Waste>,
}

/// Memory that is of no use any more, which is to be freed elsewhere if it is much.
#[expect(dead_code, reason = "they are only dropped")]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub(crate) enum Waste {
    Filter(CuckooFilter),
    Layer(Vec<u8>),
    Phase(Phase),
}

#[expect(clippy::large_enum_variant, reason = "there is one for each command, in a box")]
pub(crate) enum Phase {
    /// Nothing is done yet.
    Start,
    Summing(Summing),
    Shrinking(Shrinking),
    Merging(Merging),
    Compacting(Compacting),
}

/// Where filters change too often, it is done at once.
const MOST_RESTARTS: u32 = 16;

/// What came of a step.
#[expect(clippy::large_enum_variant, reason = "it takes no memory but the stack's")]
pub(crate) enum Progress {
    /// There is more to do.
    More,
    /// All is done. If there is no filter, what remains is to be done at once.
    Done(Option<StoredFilter>),
    /// This is the header of the file, and what is behind its table.
    SummedUp(FileEnds),
    /// All is done, and the filters stay as they are.
    Unchanged,
}

/// Filters that are worked on in steps: some that grow, or one of RedisBloom.
///
/// Not an enum: the compiler would ask whether the list has allocated where there is none, as valgrind sees.
pub(crate) struct Workpieces<'filters> {
    growing: SmallVec<[&'filters Growing; 4]>,
    imported: Option<&'filters Imported>,
}

impl<'filters> Workpieces<'filters> {
    /// All filters, or `None` if nothing is done in steps with these, or one is missing.
    ///
    /// # Errors
    ///
    /// [`CommandError::OutOfMemory`].
    pub(crate) fn of(
        filters: impl ExactSizeIterator<Item = Option<&'filters StoredFilter>>,
    ) -> Result<Option<Self>, CommandError> {
        let mut all = Self { growing: short_list_for(filters.len())?, imported: None };
        let is_single = filters.len() == 1;
        for filter in filters {
            match filter {
                Some(StoredFilter::Growing(growing)) => all.growing.push(growing),
                Some(StoredFilter::Imported(imported)) if is_single => all.imported = Some(imported),
                _ => return Ok(None),
            }
        }
        Ok(Some(all))
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.growing.len() + usize::from(self.imported.is_some())
    }

    fn stamps(&self) -> impl Iterator<Item = u64> {
        let imported = self.imported.map(|imported| imported.stamp.get());
        self.growing.iter().map(|growing| growing.stamp.get()).chain(imported)
    }
}

impl Task {
    /// Whether it may take so long with these filters that steps are worth while.
    pub(crate) fn is_worth_steps(self, filters: &Workpieces<'_>) -> bool {
        if let Some(imported) = filters.imported {
            return self == Self::Shrink && imported.may_compact() && imported.size() >= WORTH_STEPS;
        }
        let filters = &filters.growing;
        let size: u64 = filters.iter().map(|growing| wide(growing.filter.size_in_bytes())).sum();
        match self {
            Self::SumUp => size >= WORTH_SUMMING_IN_STEPS,
            Self::Shrink => {
                size >= WORTH_STEPS && filters.iter().any(|growing| growing.may_shrink() || !growing.is_settled())
            }
            Self::Merge => size >= WORTH_STEPS,
        }
    }
}

impl Work {
    pub(crate) const fn new(task: Task) -> Self {
        Self { task, phase: Phase::Start, stamps: Vec::new(), restarts: 0, waste: None }
    }

    /// Returns `true` if the filters are what they were when the work began.
    pub(crate) fn is_about(&self, filters: &Workpieces<'_>) -> bool {
        self.stamps.iter().copied().eq(filters.stamps())
    }

    /// Does a part of the work. Where there is no memory, nothing more is done in steps.
    pub(crate) fn step(&mut self, filters: &Workpieces<'_>) -> Progress {
        if matches!(self.phase, Phase::Start) {
            return self.begin(filters);
        }
        if !self.is_about(filters) {
            self.restarts += 1;
            self.waste = Some(Waste::Phase(std::mem::replace(&mut self.phase, Phase::Start)));
            return if self.restarts > MOST_RESTARTS { Progress::Done(None) } else { Progress::More };
        }
        match filters.imported {
            None => self.step_growing(&filters.growing),
            Some(imported) => self.step_imported(imported),
        }
    }

    fn step_growing(&mut self, filters: &[&Growing]) -> Progress {
        let Some((first, rest)) = filters.split_first() else { return Progress::Done(None) };
        match &mut self.phase {
            Phase::Start => Progress::More,
            Phase::Compacting(_) => Progress::Done(None),
            Phase::Summing(summing) => match summing.step(&first.filter) {
                Step::More => Progress::More,
                Step::Done(ends) => Progress::SummedUp(ends),
            },
            Phase::Shrinking(shrinking) => match shrinking.step(&first.filter) {
                Ok(Step::More) => Progress::More,
                Ok(Step::Done(Some(shrunk))) => Progress::Done(Some(StoredFilter::Growing(Growing::new(shrunk)))),
                Ok(Step::Done(None)) => Progress::Unchanged,
                Err(_) => Progress::Done(None),
            },
            Phase::Merging(merging) => {
                let Ok(others) = crate::memory::collected(rest.iter().map(|other| &other.filter)) else {
                    return Progress::Done(None);
                };
                match merging.step(&first.filter, &others) {
                    Ok(Step::More) => Progress::More,
                    Ok(Step::Done(merged)) => Progress::Done(merged.map(|filter| {
                        let removed = filters.iter().map(|growing| growing.removed).fold(0, u64::saturating_add);
                        StoredFilter::Growing(Growing { filter, removed, stamp: Stamp::new() })
                    })),
                    Err(_) => Progress::Done(None),
                }
            }
        }
    }

    fn step_imported(&mut self, imported: &Imported) -> Progress {
        let Phase::Compacting(compacting) = &mut self.phase else { return Progress::Done(None) };
        match compacting.step(imported) {
            Ok(Step::More) => Progress::More,
            Ok(Step::Done(Some(compacted))) => Progress::Done(Some(StoredFilter::Imported(compacted))),
            Ok(Step::Done(None)) => Progress::Unchanged,
            Err(_) => Progress::Done(None),
        }
    }

    /// What is of no use any more, if there is something.
    pub(crate) fn take_waste(&mut self) -> Option<Waste> {
        let waste = match &mut self.phase {
            Phase::Start | Phase::Summing(_) => None,
            Phase::Shrinking(shrinking) => shrinking.take_waste().map(Waste::Filter),
            Phase::Merging(merging) => merging.take_waste().map(Waste::Filter),
            Phase::Compacting(compacting) => compacting.take_waste().map(Waste::Layer),
        };
        waste.or_else(|| self.waste.take())
    }

    /// All that the work has made, in the end.
    pub(crate) fn into_waste(self) -> Waste {
        Waste::Phase(self.phase)
    }

    fn begin(&mut self, filters: &Workpieces<'_>) -> Progress {
        self.stamps.clear();
        if self.stamps.try_reserve(filters.count()).is_err() {
            return Progress::Done(None);
        }
        self.stamps.extend(filters.stamps());
        let begun = match filters.imported {
            None => self.task.begin(&filters.growing),
            Some(imported) if self.task == Task::Shrink => Compacting::of(imported).ok().map(Phase::Compacting),
            Some(_) => None,
        };
        let Some(phase) = begun else { return Progress::Done(None) };
        self.phase = phase;
        Progress::More
    }
}

impl Task {
    /// Begins with the filters. `None` if there is nothing to do, or no memory.
    fn begin(self, filters: &[&Growing]) -> Option<Phase> {
        let (first, rest) = filters.split_first()?;
        match self {
            Self::SumUp => Some(Phase::Summing(Summing::default())),
            Self::Shrink => Some(Phase::Shrinking(Shrinking::default())),
            Self::Merge => {
                let others = crate::memory::collected(rest.iter().map(|other| &other.filter)).ok()?;
                Merging::of(&first.filter, &others).ok()?.map(Phase::Merging)
            }
        }
    }
}

impl StoredFilter {
    /// Gives the filter another stamp, before it may be changed.
    #[cold]
    pub(crate) fn renew_stamp(&mut self) {
        match self {
            Self::Growing(growing) => growing.stamp = Stamp::new(),
            Self::Imported(imported) => imported.stamp = Stamp::new(),
            Self::Expiring(_) | Self::Incoming(_) => {}
        }
    }

    /// Whether no table is being doubled.
    pub(crate) fn is_settled(&self) -> bool {
        match self {
            Self::Growing(growing) => growing.is_settled(),
            Self::Expiring(_) | Self::Imported(_) | Self::Incoming(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Limits;
    use crate::stored::Incoming;

    /// Copies of a few keys, too many for half of the table, though that has slots for far more.
    fn crowded(first: u64) -> Option<CuckooFilter> {
        let builder = CuckooFilter::builder().capacity(100).max_capacity(10_000).false_positive_rate(0.001);
        let mut filter = builder.build().expect("a small filter");
        filter.reserve(150).expect("it grows");
        for key in first..first + 4 {
            (0..8).try_for_each(|_| filter.insert(&key)).ok()?;
        }
        let mut shrunk = filter.clone();
        shrunk.shrink_to_fit();
        (shrunk == filter).then_some(filter)
    }

    #[test]
    fn a_filter_that_does_not_fit_half_of_its_table_is_told_of_as_unchanged() {
        let filter = (0..1000).step_by(4).find_map(crowded).expect("some keys share buckets of the smaller table");
        let growing = Growing::new(filter);
        assert!(growing.may_shrink());
        let mut work = Work::new(Task::Shrink);
        let pieces = Workpieces { growing: SmallVec::from_slice(&[&growing]), imported: None };
        let outcome = std::iter::repeat_with(|| work.step(&pieces)).find(|step| !matches!(step, Progress::More));
        assert!(matches!(outcome, Some(Progress::Unchanged)));
    }

    /// A filter of RedisBloom with layers of 128, 256 and so on fingerprints, of which nine in ten were removed.
    fn imported() -> Imported {
        let numbers = [0_u64, 64, 0, 1].into_iter().flat_map(u64::to_le_bytes);
        let header: Vec<u8> = numbers.chain([2_u16, 20, 2].into_iter().flat_map(u16::to_le_bytes)).collect();
        let mut incoming = Incoming::new(&header, None, Limits::Lifted).expect("a header");
        incoming.take(129, &[0; 128]).expect("an empty layer");
        let Ok(StoredFilter::Imported(mut imported)) = incoming.finish() else { panic!("it is whole") };
        let item = |number: u32| number.to_le_bytes();
        (0..20_000).for_each(|number| imported.store(&item(number), Limits::Lifted).expect("it grows"));
        assert!((0..18_000).all(|number| imported.remove(&item(number))));
        imported
    }

    #[test]
    fn a_compaction_in_steps_is_that_in_one_go() {
        let imported = imported();
        let mut expected = imported.try_clone().expect("there is memory");
        assert!(expected.compact());
        assert!(expected.layers().len() < imported.layers().len());
        let mut work = Work::new(Task::Shrink);
        let compact = |work: &mut Work, imported| {
            let pieces = Workpieces { growing: SmallVec::new(), imported: Some(imported) };
            std::iter::repeat_with(|| work.step(&pieces)).find(|step| !matches!(step, Progress::More))
        };
        let Some(Progress::Done(Some(compacted))) = compact(&mut work, &imported) else { panic!("it is compacted") };
        assert_eq!(compacted, StoredFilter::Imported(expected));
        let StoredFilter::Imported(compacted) = compacted else { panic!("it is still an imported one") };
        let mut work = Work::new(Task::Shrink);
        assert!(matches!(compact(&mut work, &compacted), Some(Progress::Unchanged)));
    }
}
