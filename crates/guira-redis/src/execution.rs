//! Runs commands on the value of a key, and says what to reply and replicate.

use std::borrow::Cow;
use std::ffi::CStr;

use guira::raw::FileEnds;

use crate::command::{Absent, Command, Creation, Repeats, Secret};
use crate::error::CommandError;
use crate::memory::{Boxed, answers, copied, list_for, short_list_for};
use crate::reply::{Answers, Insertion, Reply};
use crate::secret::SecretKey;
use crate::settings::{Limits, Measures, Settings};
use crate::stored::{Bytes, Chunk, Incoming, LARGEST_CHUNK, StoredFilter};

/// The value of a key, wherever it is kept.
pub trait Place {
    /// The filter, if there is one.
    fn filter(&self) -> Option<&StoredFilter>;
    /// The filter, to be changed.
    fn filter_mut(&mut self) -> Option<&mut StoredFilter>;
    /// Stores a filter, replacing the previous value.
    ///
    /// # Errors
    ///
    /// [`CommandError::OutOfMemory`]. The value is unchanged.
    fn put(&mut self, filter: StoredFilter) -> Result<(), CommandError>;
}

impl Place for Option<StoredFilter> {
    fn filter(&self) -> Option<&StoredFilter> {
        self.as_ref()
    }

    fn filter_mut(&mut self) -> Option<&mut StoredFilter> {
        self.as_mut()
    }

    fn put(&mut self, filter: StoredFilter) -> Result<(), CommandError> {
        *self = Some(filter);
        Ok(())
    }
}

/// The result of a command.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome<'arguments> {
    /// The answer.
    pub reply: Reply<'static>,
    /// What to replicate and to notify of.
    pub changes: Changes<'arguments>,
}

/// The changes that replicas, the append-only file and clients that watch keys are told of, in this order.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes<'arguments> {
    /// The parameters of a filter that was created.
    pub created: Option<Boxed<Measures>>,
    /// What was done to the filter, after its creation if it is new.
    pub told: Told<'arguments>,
    /// The name of the keyspace event.
    pub event: &'static CStr,
}

/// What is replicated. Each variant gives the same bytes on replicas as here, whatever their settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told<'arguments> {
    /// Nothing, since no bit has changed.
    Nothing,
    /// The command as it came.
    Same,
    /// An insertion of those of these items that were stored, as the reply says of each.
    Stored(&'arguments [&'arguments [u8]]),
    /// An insertion of these items at this time, into a filter whose items expire.
    InsertedAt {
        /// In milliseconds.
        time: u64,
        /// The items that were stored, or for which there was no room once the time had moved on. Often none of those that found no
        /// memory: then the time alone moves on.
        items: Vec<&'arguments [u8]>,
    },
    /// A removal of these items at this time, from a filter whose items expire.
    DeletedAt {
        /// In milliseconds.
        time: u64,
        /// The items of which a copy was removed.
        items: Vec<&'arguments [u8]>,
    },
}

const NOTHING: Changes<'static> = Changes { created: None, told: Told::Nothing, event: c"" };

const fn same(event: &'static CStr) -> Changes<'static> {
    Changes { created: None, told: Told::Same, event }
}

const fn answer<'arguments>(reply: Reply<'static>) -> Outcome<'arguments> {
    Outcome { reply, changes: NOTHING }
}

/// Executes a command on the value of its key. Commands with several keys, and those that answer with a part of the filter, have
/// functions of their own: [`merge`], [`reserve_like`] and [`scan_dump`]. The settings are asked only if a filter is created, and the
/// clock, which gives milliseconds, only if its items expire and the command doesn't say when it is; once.
///
/// # Errors
///
/// If the command is refused. The value is unchanged.
#[inline(always)]
pub fn execute<'arguments>(
    command: &Command<'arguments>,
    place: &mut impl Place,
    settings: impl FnOnce() -> Settings,
    limits: Limits,
    clock: impl FnOnce() -> u64,
) -> Result<Outcome<'arguments>, CommandError> {
    match *command {
        Command::Reserve { ref creation } => {
            if place.filter().is_some() {
                return Err(CommandError::Exists);
            }
            let start = creation.lifetime.map(|_| creation.at.unwrap_or_else(clock));
            let creation = Creation { at: start, ..**creation };
            let (filter, created) = new_filter(Some(&creation), settings, limits)?;
            place.put(filter)?;
            Ok(Outcome { reply: Reply::Done, changes: Changes { created: Some(created), ..NOTHING } })
        }
        Command::Add { item, repeats } => change_or_create(place, None, settings, limits, |filter, _| {
            insert_one(item, repeats, filter, limits, clock, |result| Ok(Reply::Flag(result?)))
        }),
        Command::Insert { ref creation, absent, at, items, repeats } => {
            if absent == Absent::Refused && place.filter().is_none() {
                return Err(CommandError::NotFound);
            }
            if at.is_some() {
                refuse_time_without_use(place.filter())?;
            }
            let now = || at.unwrap_or_else(clock);
            change_or_create(place, creation.as_deref(), settings, limits, |filter, age| match *items {
                [item] => insert_one(item, repeats, filter, limits, now, |result| list_of_one(result, repeats, age)),
                _ => insert_into(items, repeats, filter, age, limits, now),
            })
        }
        Command::Exists { item } => {
            let is_found = match place.filter() {
                Some(filter) => filter.contains(item, clock)?,
                None => false,
            };
            Ok(answer(Reply::Flag(is_found)))
        }
        Command::ExistEach { items } => {
            let nothing = || answers(items.len());
            Ok(answer(Reply::Flags(
                place.filter().map_or_else(nothing, |filter| filter.contains_many_into(items, clock))?,
            )))
        }
        Command::Count { item } => {
            let count = match place.filter() {
                Some(filter) => filter.count(item, clock)?,
                None => 0,
            };
            Ok(answer(Reply::Count(count)))
        }
        Command::Delete { item, at } => {
            let filter = place.filter_mut().ok_or(CommandError::NothingToRemoveFrom)?;
            if at.is_some() {
                refuse_time_without_use(Some(filter))?;
            }
            let mut told = list_if_told(filter, 1)?;
            let is_removed = filter.remove(item, || at.unwrap_or_else(clock))?;
            let changes = match filter.time() {
                _ if !is_removed => NOTHING,
                None => same(c"cf.del"),
                Some(time) => {
                    told.push(item);
                    removed_at(time, told)
                }
            };
            Ok(Outcome { reply: Reply::Flag(is_removed), changes })
        }
        Command::DeleteEach { items } => {
            let filter = place.filter_mut().ok_or(CommandError::NothingToRemoveFrom)?;
            let mut told = list_if_told(filter, items.len())?;
            let removed = filter.remove_many_into(items, clock)?;
            let changes = match filter.time() {
                _ if !removed.contains(&true) => NOTHING,
                None => same(c"cf.del"),
                Some(time) => {
                    told.extend(
                        items.iter().zip(&removed).filter(|(_, is_removed)| **is_removed).map(|(item, _)| *item),
                    );
                    removed_at(time, told)
                }
            };
            Ok(Outcome { reply: Reply::Flags(removed), changes })
        }
        Command::Info => Ok(answer(Reply::Fields(place.filter().ok_or(CommandError::NotFound)?.fields(clock)?))),
        Command::Debug => Ok(answer(Reply::Text(place.filter().ok_or(CommandError::NotFound)?.describe(clock)?))),
        Command::Compact => Ok(compacted(place.filter_mut().ok_or(CommandError::NothingToCompact)?.compact()?)),
        Command::LoadChunk { position, data, key } => load_chunk(position, data, key, place, limits),
        Command::ReserveLike { .. } | Command::Merge { .. } | Command::ScanDump { .. } => Err(CommandError::NotFound),
    }
}

/// Refuses a time for any filter but one whose items expire.
#[cold]
fn refuse_time_without_use(filter: Option<&StoredFilter>) -> Result<(), CommandError> {
    match filter {
        Some(StoredFilter::Expiring(_)) => Ok(()),
        // It may be one of these.
        Some(StoredFilter::Incoming(incoming)) => Err(incoming.refusal()),
        None | Some(StoredFilter::Growing(_) | StoredFilter::Imported(_)) => Err(CommandError::TimeNotUsed),
    }
}

const fn removed_at(time: u64, items: Vec<&[u8]>) -> Changes<'_> {
    Changes { created: None, told: Told::DeletedAt { time, items }, event: c"cf.del" }
}

/// A list for so many items that will be told of with their time, which only a filter whose items expire has. There must be memory
/// for it before the filter changes.
#[inline]
fn list_if_told<'arguments>(filter: &StoredFilter, count: usize) -> Result<Vec<&'arguments [u8]>, CommandError> {
    if filter.time().is_some() { list_for(count) } else { Ok(Vec::new()) }
}

#[cold]
fn new_filter(
    creation: Option<&Creation>,
    settings: impl FnOnce() -> Settings,
    limits: Limits,
) -> Result<(StoredFilter, Boxed<Measures>), CommandError> {
    let measures = Boxed::new(Measures::new(creation.unwrap_or(&Creation::default()), &settings())?)?;
    Ok((StoredFilter::create(&measures, limits)?, measures))
}

/// Whether a filter is there for others, or was made by the present command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Age {
    Old,
    New,
}

/// Changes the filter, or makes one.
#[inline(always)]
fn change_or_create<'arguments>(
    place: &mut impl Place,
    creation: Option<&Creation>,
    settings: impl FnOnce() -> Settings,
    limits: Limits,
    change: impl FnOnce(&mut StoredFilter, Age) -> Result<Outcome<'arguments>, CommandError>,
) -> Result<Outcome<'arguments>, CommandError> {
    match place.filter_mut() {
        Some(filter) => change(filter, Age::Old),
        None => create_and_change(place, creation, settings, limits, change),
    }
}

/// Makes a filter, and stores it when it was changed: a command that is refused leaves none.
#[cold]
fn create_and_change<'arguments>(
    place: &mut impl Place,
    creation: Option<&Creation>,
    settings: impl FnOnce() -> Settings,
    limits: Limits,
    change: impl FnOnce(&mut StoredFilter, Age) -> Result<Outcome<'arguments>, CommandError>,
) -> Result<Outcome<'arguments>, CommandError> {
    let (mut filter, created) = new_filter(creation, settings, limits)?;
    let mut outcome = change(&mut filter, Age::New)?;
    place.put(filter)?;
    outcome.changes.created = Some(created);
    Ok(outcome)
}

/// Inserts an item, in the shortest way. `reply` says what is answered for an item that was stored, or was not, and which errors are those
/// of the whole command.
#[inline(always)]
fn insert_one<'arguments>(
    item: &'arguments [u8],
    repeats: Repeats,
    filter: &mut StoredFilter,
    limits: Limits,
    clock: impl FnOnce() -> u64,
    reply: impl FnOnce(Result<bool, CommandError>) -> Result<Reply<'static>, CommandError>,
) -> Result<Outcome<'arguments>, CommandError> {
    if filter.time().is_some() {
        return insert_one_at(clock(), item, repeats, filter, reply);
    }
    let result = store(item, repeats, filter, limits, 0);
    let told = if matches!(result, Ok(true)) { Told::Same } else { Told::Nothing };
    Ok(Outcome { reply: reply(result)?, changes: Changes { created: None, told, event: c"cf.add" } })
}

/// Stores an item at a time, which only filters ask whose items expire. Returns `true` if it was stored.
#[inline(always)]
fn store(
    item: &[u8],
    repeats: Repeats,
    filter: &mut StoredFilter,
    limits: Limits,
    now: u64,
) -> Result<bool, CommandError> {
    match repeats {
        Repeats::Stored => filter.store(item, limits, || now).map(|()| true),
        Repeats::LeftOut => filter.store_unless_present(item, limits, || now),
    }
}

/// What [`insert_one`] does where items expire. What is refused is told of as well, where the time has moved on before.
#[cold]
fn insert_one_at<'arguments>(
    now: u64,
    item: &'arguments [u8],
    repeats: Repeats,
    filter: &mut StoredFilter,
    reply: impl FnOnce(Result<bool, CommandError>) -> Result<Reply<'static>, CommandError>,
) -> Result<Outcome<'arguments>, CommandError> {
    let before = filter.time();
    let mut items = list_for(1)?;
    let result = store(item, repeats, filter, Limits::Lifted, now);
    let told = match (&result, filter.time()) {
        (Ok(false), _) | (_, None) => Told::Nothing,
        (Err(_), time) if time == before => Told::Nothing,
        // Elsewhere there may be memory for it: the time alone is told.
        (Err(CommandError::OutOfMemory), Some(time)) => Told::InsertedAt { time, items: Vec::new() },
        (_, Some(time)) => {
            items.push(item);
            Told::InsertedAt { time, items }
        }
    };
    let reply = match reply(result) {
        Err(error) if told != Told::Nothing => Reply::Refused(error),
        reply => reply?,
    };
    Ok(Outcome { reply, changes: Changes { created: None, told, event: c"cf.add" } })
}

/// What CF.INSERT and CF.INSERTNX of one item answer, as [`insert_into`] does of several.
#[inline(always)]
fn list_of_one(result: Result<bool, CommandError>, repeats: Repeats, age: Age) -> Result<Reply<'static>, CommandError> {
    let insertion = match result {
        Ok(true) => Insertion::Stored,
        Ok(false) => Insertion::Present,
        Err(error @ (CommandError::Incomplete { .. } | CommandError::OutOfMemory)) => return Err(error),
        Err(error) if age == Age::Old && error.is_limit() => return Err(error),
        Err(error) => Insertion::refused(&error),
    };
    let mut insertions = Answers::new();
    insertions.push(insertion);
    Ok(match repeats {
        Repeats::Stored => Reply::Insertions(insertions),
        Repeats::LeftOut => Reply::UniqueInsertions(insertions),
    })
}

fn insert_into<'arguments>(
    items: &'arguments [&'arguments [u8]],
    repeats: Repeats,
    filter: &mut StoredFilter,
    age: Age,
    limits: Limits,
    clock: impl FnOnce() -> u64,
) -> Result<Outcome<'arguments>, CommandError> {
    let before = filter.time();
    let mut insertions: Answers<Insertion> = short_list_for(items.len())?;
    let mut told_items = list_if_told(filter, items.len())?;
    let (mut stored, mut at_limit, mut lacks_memory) = (0, None, false);
    let mut add = |result: Result<bool, CommandError>| {
        insertions.push(match result {
            Ok(true) => {
                stored += 1;
                Insertion::Stored
            }
            Ok(false) => Insertion::Present,
            Err(error) => {
                let refused = Insertion::refused(&error);
                lacks_memory |= error == CommandError::OutOfMemory;
                if error.is_limit() {
                    at_limit.get_or_insert(error);
                }
                refused
            }
        });
    };
    match repeats {
        // What a replica is told where the primary had no memory for the items.
        _ if items.is_empty() => filter.move_to(clock()),
        Repeats::Stored => {
            filter.store_each(items, limits, clock, |result| add(result.map(|()| true)))?;
        }
        Repeats::LeftOut => filter.store_each_unless_present(items, limits, clock, add)?,
    }
    // Who must obey has accepted the items already, and is not asked again: an error is logged, and answers for items are not.
    if lacks_memory && limits == Limits::Lifted {
        return Err(CommandError::OutOfMemory);
    }
    let time_moved = filter.time() != before;
    // As in RedisBloom: when a filter can grow no further, the whole command fails; a filter that does not grow answers for
    // each item. An error says nothing about single items, so it is returned only if none was stored.
    if stored == 0
        && let Some(error) = at_limit
        && (age == Age::Old || lacks_memory)
    {
        return match filter.time() {
            Some(time) if time_moved => Ok(refused_at(time, error)),
            _ => Err(error),
        };
    }
    let told = match filter.time() {
        _ if stored == 0 && !time_moved => Told::Nothing,
        Some(time) => {
            // For what found no room there is none elsewhere either, as such filters don't grow; but it has moved the time on.
            let is_told = |insertion: Insertion| match insertion {
                Insertion::Stored => true,
                Insertion::Present => false,
                Insertion::Refused | Insertion::WithoutMemory => !lacks_memory,
            };
            let told = items.iter().zip(&insertions).filter(|(_, insertion)| is_told(**insertion));
            told_items.extend(told.map(|(item, _)| *item));
            Told::InsertedAt { time, items: told_items }
        }
        None if stored == items.len() => Told::Same,
        // Items that were refused here for lack of memory might be accepted by a replica, so only stored items are replicated.
        None => Told::Stored(items),
    };
    let reply = match repeats {
        Repeats::Stored => Reply::Insertions(insertions),
        Repeats::LeftOut => Reply::UniqueInsertions(insertions),
    };
    Ok(Outcome { reply, changes: Changes { created: None, told, event: c"cf.add" } })
}

/// The outcome of an insertion that had no memory for any item, when the time of the filter had moved on.
#[cold]
const fn refused_at<'arguments>(time: u64, error: CommandError) -> Outcome<'arguments> {
    let told = Told::InsertedAt { time, items: Vec::new() };
    Outcome { reply: Reply::Refused(error), changes: Changes { created: None, told, event: c"cf.add" } }
}

/// CF.SCANDUMP: the header, or a chunk of the table, from where it is. The ends of the file are there if the filter was summed up before,
/// and has not changed since.
///
/// # Errors
///
/// If there is no filter, or only a part of one, or no chunk at this position.
pub fn scan_dump(
    place: &impl Place,
    position: u64,
    secret: Secret,
    ends: Option<FileEnds>,
) -> Result<Reply<'_>, CommandError> {
    let filter = place.filter().ok_or(CommandError::NotFound)?;
    // One of which only a part was loaded can't be dumped.
    if let StoredFilter::Incoming(incoming) = filter {
        return Err(incoming.refusal());
    }
    if position == 0 {
        return Ok(Reply::Chunk { next: 1, bytes: Cow::Owned(copied(&filter.header(secret, ends))?) });
    }
    Ok(match filter.chunk(position)? {
        None => Reply::LastChunk,
        Some(Chunk { next, bytes: Bytes::Borrowed(bytes) }) => Reply::Chunk { next, bytes: bytes.into() },
        Some(Chunk { mut next, bytes: Bytes::PutTogether(piece) }) => {
            let mut bytes = copied(&piece)?;
            while let Some(Chunk { next: behind, bytes: Bytes::PutTogether(piece) }) = filter.chunk(next)?
                && bytes.len() + piece.len() <= LARGEST_CHUNK
            {
                bytes.try_reserve(piece.len()).map_err(|_| CommandError::OutOfMemory)?;
                bytes.extend_from_slice(&piece);
                next = behind;
            }
            Reply::Chunk { next, bytes: bytes.into() }
        }
        Some(Chunk { next, bytes }) => Reply::Chunk { next, bytes: copied(bytes.get())?.into() },
    })
}

fn load_chunk<'arguments>(
    position: u64,
    data: &[u8],
    key: Option<SecretKey>,
    place: &mut impl Place,
    limits: Limits,
) -> Result<Outcome<'arguments>, CommandError> {
    let done = Ok(Outcome { reply: Reply::Done, changes: same(c"cf.loadchunk") });
    if position == 1 {
        if place.filter().is_some() {
            return Err(CommandError::Exists);
        }
        place.put(StoredFilter::Incoming(Incoming::new(data, key, limits)?))?;
        return done;
    }
    let StoredFilter::Incoming(incoming) = place.filter_mut().ok_or(CommandError::NotFound)? else {
        return Err(CommandError::InvalidChunk);
    };
    let before = incoming.mark();
    incoming.take(position, data)?;
    if incoming.is_whole() {
        match incoming.finish() {
            Ok(filter) => place.put(filter)?,
            Err(error) => {
                incoming.go_back(before);
                return Err(error);
            }
        }
    }
    done
}

/// CF.RESERVE with LIKE: creates an empty filter with the parameters and the secret key of another one, the value of its key.
///
/// # Errors
///
/// If the command is refused. Both values are unchanged.
pub fn reserve_like(
    place: &mut impl Place,
    other: Option<&StoredFilter>,
    limits: Limits,
) -> Result<Outcome<'static>, CommandError> {
    if place.filter().is_some() {
        return Err(CommandError::Exists);
    }
    place.put(other.ok_or(CommandError::NotFound)?.empty_like(limits)?)?;
    Ok(Outcome { reply: Reply::Done, changes: same(c"cf.reserve") })
}

/// What CF.MERGE merges: a filter, and others into a copy of it.
///
/// # Errors
///
/// If it is quick to find out that the command is refused.
pub(crate) fn merged_by<'filters>(
    destination: Option<&'filters StoredFilter>,
    sources: &[Option<&'filters StoredFilter>],
    limits: Limits,
) -> Result<Vec<&'filters StoredFilter>, CommandError> {
    let mut found = list_for(sources.len() + 1)?;
    found.extend(destination);
    for source in sources {
        found.push(source.ok_or(CommandError::NotFound)?);
    }
    let (first, rest) = found.split_first().ok_or(CommandError::NotFound)?;
    limits.check(first.size_when_settled())?;
    first.refuse_to_merge(rest)?;
    Ok(found)
}

/// CF.MERGE: adds all items of the sources, each the value of its key, to the destination. `prepared` is what comes of that, if it is
/// there already.
///
/// # Errors
///
/// If the command is refused. All values are unchanged.
pub fn merge(
    place: &mut impl Place,
    sources: &[Option<&StoredFilter>],
    limits: Limits,
    prepared: Option<StoredFilter>,
) -> Result<Outcome<'static>, CommandError> {
    // All that is quick to find out comes before any table is copied.
    let filters = merged_by(place.filter(), sources, limits)?;
    let (first, rest) = filters.split_first().ok_or(CommandError::NotFound)?;
    let merged = match prepared {
        Some(merged) => {
            limits.check(merged.size())?;
            merged
        }
        None => {
            let mut merged = first.try_clone()?;
            for source in rest {
                merged.merge(source, limits)?;
            }
            merged
        }
    };
    place.put(merged)?;
    Ok(Outcome { reply: Reply::Done, changes: same(c"cf.merge") })
}

/// CF.COMPACT, where it is known that no smaller table has room.
///
/// # Errors
///
/// [`CommandError::NothingToCompact`].
pub(crate) fn compact_nothing(place: &mut impl Place) -> Result<Outcome<'static>, CommandError> {
    Ok(compacted(place.filter_mut().ok_or(CommandError::NothingToCompact)?.forget_removed()))
}

/// What a compaction answers, and what replicas are told of it.
const fn compacted(has_changed: bool) -> Outcome<'static> {
    Outcome { reply: Reply::Done, changes: if has_changed { same(c"cf.compact") } else { NOTHING } }
}

/// CF.COMPACT, where the smaller filter is there already.
///
/// # Errors
///
/// [`CommandError::OutOfMemory`]. The value is unchanged.
pub(crate) fn compact_to(place: &mut impl Place, prepared: StoredFilter) -> Result<Outcome<'static>, CommandError> {
    place.put(prepared)?;
    Ok(Outcome { reply: Reply::Done, changes: same(c"cf.compact") })
}
