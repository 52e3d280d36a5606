//! Runs commands on the value of a key, and says what to reply and replicate.

use std::ffi::CStr;

use crate::command::{Absent, Command, Creation, Repeats, Secret};
use crate::error::CommandError;
use crate::reply::{Insertion, Reply};
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
    pub reply: Reply,
    /// What to replicate and to notify of.
    pub changes: Changes<'arguments>,
}

/// The changes that replicas, the append-only file and clients that watch keys are told of, in this order.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes<'arguments> {
    /// The parameters of a filter that was created.
    pub created: Option<Measures>,
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
}

const NOTHING: Changes<'static> = Changes { created: None, told: Told::Nothing, event: c"" };

const fn same(event: &'static CStr) -> Changes<'static> {
    Changes { created: None, told: Told::Same, event }
}

const fn answer<'arguments>(reply: Reply) -> Outcome<'arguments> {
    Outcome { reply, changes: NOTHING }
}

/// Executes a command on the value of its key. Commands with several keys have functions of their own: [`merge`] and
/// [`reserve_like`].
///
/// # Errors
///
/// If the command is refused. The value is unchanged.
#[inline]
pub fn execute<'arguments>(
    command: &Command<'arguments>,
    place: &mut impl Place,
    settings: &Settings,
    limits: Limits,
) -> Result<Outcome<'arguments>, CommandError> {
    match *command {
        Command::Reserve { creation } => {
            if place.filter().is_some() {
                return Err(CommandError::Exists);
            }
            let created = create(place, &creation, settings, limits)?;
            Ok(Outcome { reply: Reply::Done, changes: Changes { created: Some(created), ..NOTHING } })
        }
        Command::Add { item, repeats } => add(item, repeats, place, settings, limits),
        Command::Insert { creation, absent, items, repeats } => {
            if absent == Absent::Refused && place.filter().is_none() {
                return Err(CommandError::NotFound);
            }
            insert(creation, items, repeats, place, settings, limits)
        }
        Command::Exists { item } => {
            Ok(answer(Reply::Flag(place.filter().map_or(Ok(false), |filter| filter.contains(item))?)))
        }
        Command::ExistEach { items } => {
            let nothing = || Ok(vec![false; items.len()]);
            Ok(answer(Reply::Flags(place.filter().map_or_else(nothing, |filter| filter.contains_each(items))?)))
        }
        Command::Count { item } => Ok(answer(Reply::Count(place.filter().map_or(Ok(0), |filter| filter.count(item))?))),
        Command::Delete { item } => {
            let is_removed = place.filter_mut().ok_or(CommandError::NothingToRemoveFrom)?.remove(item)?;
            let changes = if is_removed { same(c"cf.del") } else { NOTHING };
            Ok(Outcome { reply: Reply::Flag(is_removed), changes })
        }
        Command::DeleteEach { items } => {
            let removed = place.filter_mut().ok_or(CommandError::NothingToRemoveFrom)?.remove_each(items)?;
            let changes = if removed.contains(&true) { same(c"cf.del") } else { NOTHING };
            Ok(Outcome { reply: Reply::Flags(removed), changes })
        }
        Command::Info => Ok(answer(Reply::Fields(place.filter().ok_or(CommandError::NotFound)?.fields()?))),
        Command::Debug => Ok(answer(Reply::Text(place.filter().ok_or(CommandError::NotFound)?.describe()?))),
        Command::Compact => {
            place.filter_mut().ok_or(CommandError::NothingToCompact)?.compact()?;
            Ok(Outcome { reply: Reply::Done, changes: same(c"cf.compact") })
        }
        Command::ScanDump { position, secret } => {
            let filter = place.filter_mut().ok_or(CommandError::NotFound)?;
            scan_dump(filter, position, secret).map(answer)
        }
        Command::LoadChunk { position, data, key } => load_chunk(position, data, key, place, limits),
        Command::ReserveLike { .. } | Command::Merge { .. } => Err(CommandError::NotFound),
    }
}

fn create(
    place: &mut impl Place,
    creation: &Creation,
    settings: &Settings,
    limits: Limits,
) -> Result<Measures, CommandError> {
    let measures = Measures::new(creation, settings)?;
    place.put(StoredFilter::create(&measures, limits)?);
    Ok(measures)
}

/// Returns the filter, which is created if there is none.
#[inline]
fn filter_or_new<'place, P: Place>(
    place: &'place mut P,
    creation: &Creation,
    settings: &Settings,
    limits: Limits,
) -> Result<(&'place mut StoredFilter, Option<Measures>), CommandError> {
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
    settings: &Settings,
    limits: Limits,
) -> Result<Outcome<'arguments>, CommandError> {
    let (filter, created) = filter_or_new(place, &Creation::default(), settings, limits)?;
    let is_new = match repeats {
        Repeats::Stored => filter.store(item, limits).map(|()| true)?,
        Repeats::LeftOut => filter.store_unless_present(item, limits)?,
    };
    let told = if is_new { Told::Same } else { Told::Nothing };
    Ok(Outcome { reply: Reply::Flag(is_new), changes: Changes { created, told, event: c"cf.add" } })
}

fn insert<'arguments>(
    creation: Creation,
    items: &[&'arguments [u8]],
    repeats: Repeats,
    place: &mut impl Place,
    settings: &Settings,
    limits: Limits,
) -> Result<Outcome<'arguments>, CommandError> {
    let (filter, created) = filter_or_new(place, &creation, settings, limits)?;
    let mut at_limit = None;
    let mut refused = |error: CommandError| {
        if error.is_limit() {
            at_limit.get_or_insert(error);
        }
        Insertion::Refused
    };
    let insertions: Vec<Insertion> = match repeats {
        Repeats::Stored => {
            let stored = filter.store_each(items, limits)?.into_iter();
            stored.map(|result| result.map_or_else(&mut refused, |()| Insertion::Stored)).collect()
        }
        Repeats::LeftOut => {
            let insertion = |is_new| if is_new { Insertion::Stored } else { Insertion::Present };
            let stored = filter.store_each_unless_present(items, limits)?.into_iter();
            stored.map(|result| result.map_or_else(&mut refused, insertion)).collect()
        }
    };
    // As in RedisBloom: when a filter can grow no further, the whole command fails; a filter that does not grow answers for
    // each item. An error says nothing about single items, so it is returned only if none was stored.
    if let Some(error) = at_limit.filter(|_| created.is_none() && !insertions.contains(&Insertion::Stored)) {
        return Err(error);
    }
    // Items that were refused here for lack of memory might be accepted by a replica, so only stored items are replicated.
    let stored = items.iter().zip(&insertions).filter(|(_, insertion)| **insertion == Insertion::Stored);
    let stored: Vec<&[u8]> = stored.map(|(item, _)| *item).collect();
    let told = match (stored.len(), repeats) {
        (0, _) => Told::Nothing,
        (all, Repeats::Stored) if all == items.len() => Told::Same,
        _ => Told::Items(stored),
    };
    let reply = match repeats {
        Repeats::Stored => Reply::Insertions(insertions),
        Repeats::LeftOut => Reply::UniqueInsertions(insertions),
    };
    Ok(Outcome { reply, changes: Changes { created, told, event: c"cf.add" } })
}

fn scan_dump(filter: &mut StoredFilter, position: u64, secret: Secret) -> Result<Reply, CommandError> {
    // A filter of which only a part was loaded can't be dumped; `fields` returns the error.
    if filter.is_incoming() {
        filter.fields()?;
    }
    if position == 0 {
        return Ok(Reply::Chunk { next: 1, bytes: filter.header(secret) });
    }
    let chunk = filter.chunk(position)?;
    Ok(chunk.map_or(Reply::LastChunk, |chunk| Reply::Chunk { next: chunk.next, bytes: chunk.bytes.to_vec() }))
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
        // The chunks are cloned: if the last one is refused, those before it are kept.
        match incoming.clone().into_filter() {
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
    let (mut merged, rest) = match (place.filter(), sources.as_slice()) {
        (Some(filter), _) => (filter.clone(), sources.as_slice()),
        (None, [first, rest @ ..]) => ((*first).clone(), rest),
        (None, []) => return Err(CommandError::NotFound),
    };
    // Checked here too, since with a single source nothing is merged.
    merged.fields()?;
    if matches!(merged, StoredFilter::Imported(_)) {
        return Err(CommandError::MergeImported);
    }
    limits.check(merged.size())?;
    for source in rest {
        merged.merge(source, limits)?;
    }
    place.put(merged);
    Ok(Outcome { reply: Reply::Done, changes: same(c"cf.merge") })
}
