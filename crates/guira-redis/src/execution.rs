//! Runs commands on the value of a key, and says what to reply and replicate.

use std::borrow::Cow;
use std::ffi::CStr;

use crate::command::{Absent, Command, Creation, Repeats, Secret};
use crate::error::CommandError;
use crate::reply::{Answers, Insertion, Reply};
use crate::secret::SecretKey;
use crate::settings::{Limits, Measures, Settings};
use crate::stored::{Incoming, StoredFilter};

/// The value of a key, wherever it is kept.
pub trait Place {
    /// The filter, if there is one.
    fn filter(&self) -> Option<&StoredFilter>;
    /// The filter, to be changed.
    fn filter_mut(&mut self) -> Option<&mut StoredFilter>;
    /// Stores a filter, replacing the previous value.
    fn put(&mut self, filter: StoredFilter);
}

impl Place for Option<StoredFilter> {
    fn filter(&self) -> Option<&StoredFilter> {
        self.as_ref()
    }

    fn filter_mut(&mut self) -> Option<&mut StoredFilter> {
        self.as_mut()
    }

    fn put(&mut self, filter: StoredFilter) {
        *self = Some(filter);
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
    pub created: Option<Box<Measures>>,
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
    /// An insertion of these items.
    Items(Vec<&'arguments [u8]>),
    /// An insertion of these items at this time, into a filter whose items expire.
    InsertedAt {
        /// In milliseconds.
        time: u64,
        /// The items that were stored, or for which there was no room once the time had moved on.
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
        Command::Reserve { creation } => {
            if place.filter().is_some() {
                return Err(CommandError::Exists);
            }
            let start = creation.lifetime.map(|_| creation.at.unwrap_or_else(clock));
            let creation = Creation { at: start, ..creation };
            let created = create(place, Some(&creation), settings, limits)?;
            Ok(Outcome { reply: Reply::Done, changes: Changes { created: Some(created), ..NOTHING } })
        }
        Command::Add { item, repeats } => add(item, repeats, place, settings, limits, clock),
        Command::Insert { ref creation, absent, at, items, repeats } => {
            refuse_time_without_use(at, place)?;
            if absent == Absent::Refused && place.filter().is_none() {
                return Err(CommandError::NotFound);
            }
            let now = || at.unwrap_or_else(clock);
            insert(creation.as_deref(), items, repeats, place, settings, limits, now)
        }
        Command::Exists { item } => {
            Ok(answer(Reply::Flag(place.filter().map_or(Ok(false), |filter| filter.contains(item, clock))?)))
        }
        Command::ExistEach { items } => {
            let nothing = || Ok(Answers::from_elem(false, items.len()));
            Ok(answer(Reply::Flags(
                place.filter().map_or_else(nothing, |filter| filter.contains_many_into(items, clock))?,
            )))
        }
        Command::Count { item } => {
            Ok(answer(Reply::Count(place.filter().map_or(Ok(0), |filter| filter.count(item, clock))?)))
        }
        Command::Delete { item, at } => {
            refuse_time_without_use(at, place)?;
            let filter = place.filter_mut().ok_or(CommandError::NothingToRemoveFrom)?;
            let is_removed = filter.remove(item, || at.unwrap_or_else(clock))?;
            let changes = match filter.time() {
                _ if !is_removed => NOTHING,
                None => same(c"cf.del"),
                Some(time) => removed_at(time, vec![item]),
            };
            Ok(Outcome { reply: Reply::Flag(is_removed), changes })
        }
        Command::DeleteEach { items } => {
            let filter = place.filter_mut().ok_or(CommandError::NothingToRemoveFrom)?;
            let removed = filter.remove_many_into(items, clock)?;
            let changes = match filter.time() {
                _ if !removed.contains(&true) => NOTHING,
                None => same(c"cf.del"),
                Some(time) => removed_at(time, chosen(items, &removed, |&is_removed| is_removed)),
            };
            Ok(Outcome { reply: Reply::Flags(removed), changes })
        }
        Command::Info => Ok(answer(Reply::Fields(place.filter().ok_or(CommandError::NotFound)?.fields(clock)?))),
        Command::Debug => Ok(answer(Reply::Text(place.filter().ok_or(CommandError::NotFound)?.describe(clock)?))),
        Command::Compact => {
            place.filter_mut().ok_or(CommandError::NothingToCompact)?.compact()?;
            Ok(Outcome { reply: Reply::Done, changes: same(c"cf.compact") })
        }
        Command::LoadChunk { position, data, key } => load_chunk(position, data, key, place, limits),
        Command::ReserveLike { .. } | Command::Merge { .. } | Command::ScanDump { .. } => Err(CommandError::NotFound),
    }
}

/// Refuses a time for any filter but one whose items expire.
#[inline]
fn refuse_time_without_use(at: Option<u64>, place: &impl Place) -> Result<(), CommandError> {
    match at {
        Some(_) if place.filter().and_then(StoredFilter::time).is_none() => Err(CommandError::TimeNotUsed),
        _ => Ok(()),
    }
}

const fn removed_at(time: u64, items: Vec<&[u8]>) -> Changes<'_> {
    Changes { created: None, told: Told::DeletedAt { time, items }, event: c"cf.del" }
}

/// Those of the items whose answer is as it should be.
fn chosen<'arguments, T>(
    items: &[&'arguments [u8]],
    answers: &[T],
    is_chosen: impl Fn(&T) -> bool,
) -> Vec<&'arguments [u8]> {
    items.iter().zip(answers).filter(|(_, answer)| is_chosen(answer)).map(|(item, _)| *item).collect()
}

#[cold]
fn create(
    place: &mut impl Place,
    creation: Option<&Creation>,
    settings: impl FnOnce() -> Settings,
    limits: Limits,
) -> Result<Box<Measures>, CommandError> {
    let measures = Box::new(Measures::new(creation.unwrap_or(&Creation::default()), &settings())?);
    place.put(StoredFilter::create(&measures, limits)?);
    Ok(measures)
}

/// Returns the filter, which is created if there is none.
#[inline]
fn filter_or_new<'place, P: Place>(
    place: &'place mut P,
    creation: Option<&Creation>,
    settings: impl FnOnce() -> Settings,
    limits: Limits,
) -> Result<(&'place mut StoredFilter, Option<Box<Measures>>), CommandError> {
    let created = match place.filter() {
        Some(_) => None,
        None => Some(create(place, creation, settings, limits)?),
    };
    place.filter_mut().map(|filter| (filter, created)).ok_or(CommandError::NotFound)
}

#[inline]
fn add<'arguments>(
    item: &'arguments [u8],
    repeats: Repeats,
    place: &mut impl Place,
    settings: impl FnOnce() -> Settings,
    limits: Limits,
    clock: impl FnOnce() -> u64,
) -> Result<Outcome<'arguments>, CommandError> {
    let (filter, created) = filter_or_new(place, None, settings, limits)?;
    let before = filter.time();
    let result = match repeats {
        Repeats::Stored => filter.store(item, limits, clock).map(|()| true),
        Repeats::LeftOut => filter.store_unless_present(item, limits, clock),
    };
    let reply = match result {
        Ok(is_new) => Reply::Flag(is_new),
        Err(error) if filter.time() == before => return Err(error),
        Err(error) => Reply::Refused(error.to_string()),
    };
    let told = match filter.time() {
        _ if reply == Reply::Flag(false) => Told::Nothing,
        None => Told::Same,
        Some(time) => Told::InsertedAt { time, items: vec![item] },
    };
    Ok(Outcome { reply, changes: Changes { created, told, event: c"cf.add" } })
}

#[inline]
fn insert<'arguments>(
    creation: Option<&Creation>,
    items: &[&'arguments [u8]],
    repeats: Repeats,
    place: &mut impl Place,
    settings: impl FnOnce() -> Settings,
    limits: Limits,
    clock: impl FnOnce() -> u64,
) -> Result<Outcome<'arguments>, CommandError> {
    if let [item] = *items {
        return insert_one(creation, item, repeats, place, settings, limits, clock);
    }
    let (filter, created) = filter_or_new(place, creation, settings, limits)?;
    let before = filter.time();
    let (mut insertions, mut stored, mut at_limit) = (Answers::new(), 0, None);
    let mut add = |result: Result<bool, CommandError>| {
        insertions.push(match result {
            Ok(true) => {
                stored += 1;
                Insertion::Stored
            }
            Ok(false) => Insertion::Present,
            Err(error) => {
                if error.is_limit() {
                    at_limit.get_or_insert(error);
                }
                Insertion::Refused
            }
        });
    };
    match repeats {
        Repeats::Stored => filter.store_each(items, limits, clock, |result| add(result.map(|()| true)))?,
        Repeats::LeftOut => filter.store_each_unless_present(items, limits, clock, add)?,
    }
    // As in RedisBloom: when a filter can grow no further, the whole command fails; a filter that does not grow answers for
    // each item. An error says nothing about single items, so it is returned only if none was stored.
    if let Some(error) = at_limit.filter(|_| created.is_none() && stored == 0) {
        return Err(error);
    }
    let told = match (stored, filter.time()) {
        (0, time) if time == before => Told::Nothing,
        (_, Some(time)) => told_at(time, items, &insertions),
        (all, None) if all == items.len() => Told::Same,
        // Items that were refused here for lack of memory might be accepted by a replica, so only stored items are replicated.
        (_, None) => Told::Items(chosen(items, &insertions, |&insertion| insertion == Insertion::Stored)),
    };
    let reply = match repeats {
        Repeats::Stored => Reply::Insertions(insertions),
        Repeats::LeftOut => Reply::UniqueInsertions(insertions),
    };
    Ok(Outcome { reply, changes: Changes { created, told, event: c"cf.add" } })
}

/// What is told of an insertion into a filter whose items expire. For what was refused there is no room elsewhere either, as such
/// filters don't grow; but it has moved the time on.
fn told_at<'arguments>(time: u64, items: &[&'arguments [u8]], insertions: &[Insertion]) -> Told<'arguments> {
    Told::InsertedAt { time, items: chosen(items, insertions, |&insertion| insertion != Insertion::Present) }
}

/// What [`insert`] does, for one item.
#[inline(always)]
fn insert_one<'arguments>(
    creation: Option<&Creation>,
    item: &'arguments [u8],
    repeats: Repeats,
    place: &mut impl Place,
    settings: impl FnOnce() -> Settings,
    limits: Limits,
    clock: impl FnOnce() -> u64,
) -> Result<Outcome<'arguments>, CommandError> {
    let (filter, created) = filter_or_new(place, creation, settings, limits)?;
    let before = filter.time();
    let result = match repeats {
        Repeats::Stored => filter.store(item, limits, clock).map(|()| true),
        Repeats::LeftOut => filter.store_unless_present(item, limits, clock),
    };
    let insertion = match result {
        Ok(true) => Insertion::Stored,
        Ok(false) => Insertion::Present,
        Err(error @ CommandError::Incomplete { .. }) => return Err(error),
        Err(error) if created.is_none() && error.is_limit() => return Err(error),
        Err(_) => Insertion::Refused,
    };
    let told = match filter.time() {
        Some(time) if insertion == Insertion::Stored || before != Some(time) => told_at(time, &[item], &[insertion]),
        None if insertion == Insertion::Stored => Told::Same,
        _ => Told::Nothing,
    };
    let mut insertions = Answers::new();
    insertions.push(insertion);
    let reply = match repeats {
        Repeats::Stored => Reply::Insertions(insertions),
        Repeats::LeftOut => Reply::UniqueInsertions(insertions),
    };
    Ok(Outcome { reply, changes: Changes { created, told, event: c"cf.add" } })
}

/// CF.SCANDUMP: the header, or a chunk of the table, from where it is.
///
/// # Errors
///
/// If there is no filter, or only a part of one, or no chunk at this position.
pub fn scan_dump(place: &mut impl Place, position: u64, secret: Secret) -> Result<Reply<'_>, CommandError> {
    let filter = place.filter_mut().ok_or(CommandError::NotFound)?;
    // One of which only a part was loaded can't be dumped.
    if let StoredFilter::Incoming(incoming) = filter {
        return Err(incoming.refusal());
    }
    if position == 0 {
        return Ok(Reply::Chunk { next: 1, bytes: Cow::Owned(filter.header(secret)) });
    }
    let chunk = filter.chunk(position)?;
    Ok(chunk.map_or(Reply::LastChunk, |chunk| Reply::Chunk { next: chunk.next, bytes: chunk.bytes }))
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
        place.put(StoredFilter::Incoming(Incoming::new(data, key, limits)?));
        return done;
    }
    let StoredFilter::Incoming(incoming) = place.filter_mut().ok_or(CommandError::NotFound)? else {
        return Err(CommandError::InvalidChunk);
    };
    incoming.take(position, data)?;
    if incoming.is_whole() {
        match incoming.to_filter() {
            Ok(filter) => place.put(filter),
            Err(error) => {
                incoming.give_back(data);
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
    place.put(other.ok_or(CommandError::NotFound)?.empty_like(limits)?);
    Ok(Outcome { reply: Reply::Done, changes: same(c"cf.reserve") })
}

/// CF.MERGE: adds all items of the sources, each the value of its key, to the destination.
///
/// # Errors
///
/// If the command is refused. All values are unchanged.
pub fn merge(
    place: &mut impl Place,
    sources: &[Option<&StoredFilter>],
    limits: Limits,
) -> Result<Outcome<'static>, CommandError> {
    let sources: Vec<&StoredFilter> =
        sources.iter().map(|source| source.ok_or(CommandError::NotFound)).collect::<Result<_, _>>()?;
    let (first, rest) = match (place.filter(), sources.as_slice()) {
        (Some(filter), rest) => (filter, rest),
        (None, [first, rest @ ..]) => (*first, rest),
        (None, []) => return Err(CommandError::NotFound),
    };
    // All that is quick to find out comes before any table is copied.
    limits.check(first.size())?;
    first.refuse_to_merge(rest)?;
    let mut merged = first.try_clone()?;
    for source in rest {
        merged.merge(source, limits)?;
    }
    place.put(merged);
    Ok(Outcome { reply: Reply::Done, changes: same(c"cf.merge") })
}
