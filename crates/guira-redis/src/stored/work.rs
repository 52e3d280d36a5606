//! What takes long with a large filter, in steps.

use guira::CuckooFilter;
use guira::raw::{FileEnds, Merging, RawInsert as _, Shrinking, Step, Summing};

use super::stamp::Stamp;
use super::{Growing, StoredFilter};
use crate::cast::wide;

/// Less is done faster than clients notice, in bytes of all tables.
const WORTH_STEPS: u64 = 256 << 10;

/// A smaller table is summed up faster than clients notice, in bytes.
const WORTH_SUMMING_IN_STEPS: u64 = 4 << 20;

/// What is to be done with filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Doublings are finished.
    Settle,
    /// The first is summed up, for the header of its dump.
    SumUp,
    /// The first is shrunk.
    Shrink,
    /// The others are merged into a copy of the first.
    Merge,
}

/// A task that is under way.
pub(crate) struct Work {
    task: Task,
    phase: Phase,
    /// The stamps of the filters since they are settled.
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
    Phase(Phase),
}

#[expect(clippy::large_enum_variant, reason = "there is one for each command, in a box")]
pub(crate) enum Phase {
    Settling,
    Summing(Summing),
    Shrinking(Shrinking),
    Merging(Merging),
}

/// Where filters change too often, it is done at once.
const MOST_RESTARTS: u32 = 16;

/// What came of a step.
#[expect(clippy::large_enum_variant, reason = "it takes no memory but the stack's")]
pub(crate) enum Progress {
    /// There is more to do.
    More,
    /// All is done. If there is no filter, what remains is to be done at once.
    Done(Option<Growing>),
    /// This is the header of the file, and what is behind its table.
    SummedUp(FileEnds),
    /// All is done, and the filters stay as they are.
    Unchanged,
}

/// The filters, where all of them are such as are worked on in steps.
pub(crate) fn all_growing<'filters>(
    filters: impl IntoIterator<Item = Option<&'filters StoredFilter>>,
) -> impl Iterator<Item = Option<&'filters Growing>> {
    filters.into_iter().map(|filter| match filter {
        Some(StoredFilter::Growing(growing)) => Some(growing),
        _ => None,
    })
}

impl Task {
    /// Whether it may take so long with these filters that steps are worth while.
    pub(crate) fn is_worth_steps(self, filters: &[&Growing]) -> bool {
        let size: u64 = filters.iter().map(|growing| wide(growing.filter.size_in_bytes())).sum();
        let is_settled = filters.iter().all(|growing| growing.is_settled());
        let has_more = match self {
            Self::Settle => false,
            Self::SumUp => size >= WORTH_SUMMING_IN_STEPS,
            Self::Shrink => filters.iter().any(|growing| growing.may_shrink()),
            Self::Merge => true,
        };
        size >= WORTH_STEPS && (has_more || !is_settled)
    }
}

impl Work {
    pub(crate) const fn new(task: Task) -> Self {
        Self { task, phase: Phase::Settling, stamps: Vec::new(), restarts: 0, waste: None }
    }

    /// Whether doublings are to be finished first.
    pub(crate) const fn is_settling(&self) -> bool {
        matches!(self.phase, Phase::Settling)
    }

    /// Returns `true` if the filters are what they were when the work began.
    pub(crate) fn is_about(&self, filters: &[&Growing]) -> bool {
        self.stamps.iter().copied().eq(filters.iter().map(|growing| growing.stamp.get()))
    }

    /// Does a part of the work with filters that are settled. Where there is no memory, nothing more is done in steps.
    pub(crate) fn step(&mut self, filters: &[&Growing]) -> Progress {
        let Some((first, rest)) = filters.split_first() else { return Progress::Done(None) };
        if matches!(self.phase, Phase::Settling) {
            return self.begin(filters);
        }
        if !self.is_about(filters) {
            self.restarts += 1;
            self.waste = Some(Waste::Phase(std::mem::replace(&mut self.phase, Phase::Settling)));
            return if self.restarts > MOST_RESTARTS { Progress::Done(None) } else { Progress::More };
        }
        match &mut self.phase {
            Phase::Settling => Progress::More,
            Phase::Summing(summing) => match summing.step(&first.filter) {
                Step::More => Progress::More,
                Step::Done(ends) => Progress::SummedUp(ends),
            },
            Phase::Shrinking(shrinking) => match shrinking.step(&first.filter) {
                Ok(Step::More) => Progress::More,
                Ok(Step::Done(Some(shrunk))) => Progress::Done(Some(Growing::new(shrunk))),
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
                        Growing { filter, removed, stamp: Stamp::new() }
                    })),
                    Err(_) => Progress::Done(None),
                }
            }
        }
    }

    /// What is of no use any more, if there is something.
    pub(crate) fn take_waste(&mut self) -> Option<Waste> {
        let waste = match &mut self.phase {
            Phase::Settling | Phase::Summing(_) => None,
            Phase::Shrinking(shrinking) => shrinking.take_waste(),
            Phase::Merging(merging) => merging.take_waste(),
        };
        waste.map(Waste::Filter).or_else(|| self.waste.take())
    }

    /// All that the work has made, in the end.
    pub(crate) fn into_waste(self) -> Waste {
        Waste::Phase(self.phase)
    }

    fn begin(&mut self, filters: &[&Growing]) -> Progress {
        self.stamps.clear();
        if self.stamps.try_reserve(filters.len()).is_err() {
            return Progress::Done(None);
        }
        self.stamps.extend(filters.iter().map(|growing| growing.stamp.get()));
        self.phase = match (self.task, filters) {
            (Task::Settle, _) | (_, []) => return Progress::Done(None),
            (Task::SumUp, _) => Phase::Summing(Summing::default()),
            (Task::Shrink, _) => Phase::Shrinking(Shrinking::default()),
            (Task::Merge, [first, rest @ ..]) => {
                let Ok(others) = crate::memory::collected(rest.iter().map(|other| &other.filter)) else {
                    return Progress::Done(None);
                };
                match Merging::of(&first.filter, &others) {
                    Ok(Some(merging)) => Phase::Merging(merging),
                    Ok(None) | Err(_) => return Progress::Done(None),
                }
            }
        };
        Progress::More
    }
}

impl StoredFilter {
    /// Gives the filter another stamp, before it may be changed.
    #[cold]
    pub(crate) fn renew_stamp(&mut self) {
        if let Self::Growing(growing) = self {
            growing.stamp = Stamp::new();
        }
    }

    /// Whether no table is being doubled.
    pub(crate) fn is_settled(&self) -> bool {
        match self {
            Self::Growing(growing) => growing.is_settled(),
            Self::Expiring(_) | Self::Imported(_) | Self::Incoming(_) => true,
        }
    }

    /// Finishes a part of a doubling, if the table is being doubled. Returns `true` if nothing is left of it.
    pub(crate) fn settle_some(&mut self) -> bool {
        match self {
            Self::Growing(growing) if !growing.is_settled() => {
                growing.stamp = Stamp::new();
                growing.filter.settle_some()
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let outcome = std::iter::repeat_with(|| work.step(&[&growing])).find(|step| !matches!(step, Progress::More));
        assert!(matches!(outcome, Some(Progress::Unchanged)));
    }
}
