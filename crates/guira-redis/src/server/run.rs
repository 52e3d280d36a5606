//! From the server's call to the command, and back.

use std::ffi::c_int;

use guira::raw::FileEnds;
use smallvec::SmallVec;

use super::context::{Context, bytes_of, now};
use super::counters::{Stopwatch, count_refusal, count_refused_items};
use super::functions::{CommandFunction, OK, RawContext, RawString};
use super::key::{Access, Key};
use super::words::Words;
use super::{configuration, names, steps};
use crate::c_text::CText;
use crate::command::{Command, CommandName, KeyUse, number};
use crate::error::CommandError;
use crate::execution::{
    Changes, Outcome, Place, Told, compact_nothing, compact_to, execute, merge, merged_by, reserve_like, scan_dump,
};
use crate::memory::{collected, gathered, list_for};
use crate::reply::{Frames as _, Insertion, Reply};
use crate::settings::Limits;
use crate::stored::{StoredFilter, Task};

/// The functions that the server calls, in the order of [`CommandName::ALL`].
pub(super) const FUNCTIONS: [CommandFunction; CommandName::ALL.len()] = [
    run::<0>, run::<1>, run::<2>, run::<3>, run::<4>, run::<5>, run::<6>, run::<7>, run::<8>, run::<9>, run::<10>,
    run::<11>, run::<12>, run::<13>, run::<14>, run::<15>,
];

unsafe extern "C" fn run<const INDEX: usize>(
    context: *mut RawContext,
    arguments: *mut *mut RawString,
    count: c_int,
) -> c_int {
    let context = Context(context);
    // SAFETY: the server gives this many arguments, the name of the command first.
    let arguments = unsafe { std::slice::from_raw_parts(arguments, usize::try_from(count).unwrap_or(0)) };
    match obey(context, CommandName::ALL[INDEX], arguments, None) {
        Ok(()) => OK,
        Err(error) => refuse(context, CommandName::ALL[INDEX], &error),
    }
}

/// What came of a command that was done in steps.
#[expect(clippy::large_enum_variant, reason = "there is one for each command, in a box")]
pub(super) enum Prepared {
    /// This is to be the filter.
    Filter(StoredFilter),
    /// The filter stays as it is.
    Unchanged,
    /// These are the ends of its file.
    Ends(FileEnds),
}

/// Ends a command of which a part was done in steps, and replies.
#[cold]
pub(super) fn finish(
    context: Context,
    name: CommandName,
    arguments: &[*mut RawString],
    mut prepared: Option<Prepared>,
) -> c_int {
    match obey(context, name, arguments, Some(&mut prepared)) {
        Ok(()) => OK,
        Err(error) => refuse(context, name, &error),
    }
}

#[cold]
pub(super) fn refuse(context: Context, command: CommandName, error: &CommandError) -> c_int {
    note_refusal(context, error);
    context.refuse(&names::Refusal { command, error })
}

/// Counts what was refused.
#[cold]
fn note_refusal(context: Context, error: &CommandError) {
    count_refusal(error);
    if *error == CommandError::OutOfMemory && context.is_loading() {
        end_loading(context);
    }
}

/// Ends a server that has no memory for a command of its append-only file, as a server ends that can't load a snapshot. Otherwise it would
/// go on without what it has acknowledged.
#[cold]
fn end_loading(context: Context) -> ! {
    context
        .warn(&"no memory for a filter of the append-only file, which is as it was: start the server with more memory");
    std::process::exit(1)
}

/// Inlined into the function of each command, which then has no choice left to make between commands. `prepared` is there where a
/// command was done in steps, as far as possible, and has what came of it.
#[inline(always)]
fn obey(
    mut context: Context,
    name: CommandName,
    arguments: &[*mut RawString],
    prepared: Option<&mut Option<Prepared>>,
) -> Result<(), CommandError> {
    let specification = name.specification();
    let [_, key_name, rest @ ..] = arguments else {
        return Err(CommandError::Arity { command: specification.name });
    };
    // SAFETY: arguments live as long as the command.
    let text = |&argument: &*mut RawString| unsafe { bytes_of(argument) };
    // Few arguments need no allocation; most commands have one.
    let (one, two): ([&[u8]; 1], [&[u8]; 2]);
    let several: SmallVec<[&[u8]; 16]>;
    let texts: &[&[u8]] = match rest {
        [argument] => {
            one = [text(argument)];
            &one
        }
        [first, second] => {
            two = [text(first), text(second)];
            &two
        }
        _ => {
            several = gathered(rest.iter().map(text))?;
            &several
        }
    };
    if matches!(name, CommandName::Reserve | CommandName::LoadChunk) {
        hide_secrets(context, name, texts);
    }
    let _stopwatch = Stopwatch::start(name);
    let command = Command::parse(name, texts)?;
    // Nobody but a primary or a file on disk moves a filter's time ahead of the clock, where it would stay.
    if command.at().is_some_and(|at| at > now()) && !context.must_obey() {
        return Err(CommandError::TimeToCome);
    }
    let access = if specification.key_use == KeyUse::Read { Access::Read } else { Access::Write };
    let outcome = match command {
        Command::Merge { sources } => {
            if sources.contains(&text(key_name)) {
                return Err(CommandError::MergeWithItself);
            }
            let mut keys = list_for(rest.len())?;
            for &source in rest {
                keys.push(Key::open(context, source, Access::Read)?);
            }
            let sources: Vec<Option<&StoredFilter>> = collected(keys.iter().map(Key::filter))?;
            let mut key = Key::open(context, *key_name, access)?;
            if prepared.is_none() {
                merged_by(key.filter(), &sources, limits(context))?;
                let [_, names @ ..] = arguments else { return Ok(()) };
                if steps::begin(context, name, Task::Merge, names)? {
                    return Ok(());
                }
            }
            let merged = match prepared.and_then(Option::take) {
                Some(Prepared::Filter(merged)) => Some(merged),
                _ => None,
            };
            merge(&mut key, &sources, limits(context), merged)?
        }
        Command::Compact if name == CommandName::Compact => {
            if prepared.is_none() && steps::begin(context, name, Task::Shrink, &[*key_name])? {
                return Ok(());
            }
            let mut key = Key::open(context, *key_name, access)?;
            match prepared.and_then(Option::take) {
                Some(Prepared::Filter(compacted)) => compact_to(&mut key, compacted)?,
                Some(Prepared::Unchanged) => compact_nothing(&mut key)?,
                _ => return execute_within_limits(context, &command, access, *key_name, key),
            }
        }
        Command::ReserveLike { .. } => {
            let other = rest.last().map(|&other| Key::open(context, other, Access::Read)).transpose()?;
            let mut key = Key::open(context, *key_name, access)?;
            reserve_like(&mut key, other.as_ref().and_then(Key::filter), limits(context))?
        }
        Command::ScanDump { position, secret } => {
            if position == 0 && prepared.is_none() && steps::begin(context, name, Task::SumUp, &[*key_name])? {
                return Ok(());
            }
            let ends = match prepared.and_then(Option::take) {
                Some(Prepared::Ends(ends)) => Some(ends),
                _ => None,
            };
            scan_dump(&Key::open(context, *key_name, access)?, position, secret, ends)?.send(&mut context);
            return Ok(());
        }
        command => {
            return execute_within_limits(context, &command, access, *key_name, Key::open(context, *key_name, access)?);
        }
    };
    respond(context, *key_name, &outcome);
    Ok(())
}

/// Tells of what a command did, and replies.
#[inline(always)]
fn respond(mut context: Context, key_name: *mut RawString, outcome: &Outcome<'_>) {
    tell(context, key_name, outcome);
    // What is most often replied takes the shortest way.
    if let Reply::Flag(flag) = outcome.reply {
        return context.boolean(flag);
    }
    match &outcome.reply {
        Reply::Refused(error) => note_refusal(context, error),
        reply => count_refused_items(reply),
    }
    outcome.reply.send(&mut context);
}

/// Hides secret keys from the slow log and MONITOR, also where the command is wrong in another way: what is behind KEY, and the
/// first chunk of a dump.
///
/// Not in the commands of an append-only file, of which neither is told: the server keeps what it shows of one of them for the next, and
/// an argument hidden in that may be none that the first one had.
#[cold]
fn hide_secrets(context: Context, name: CommandName, texts: &[&[u8]]) {
    /// The number of the first argument behind the key.
    const FIRST: usize = 2;

    if context.is_loading() {
        return;
    }
    for (number, text) in texts.iter().enumerate() {
        if text.eq_ignore_ascii_case(b"KEY") && number + 1 < texts.len() {
            context.redact(FIRST + number + 1);
        }
    }
    if name == CommandName::LoadChunk && texts.len() > 1 && texts.first().and_then(|text| number(text)) == Some(1) {
        context.redact(FIRST + 1);
    }
}

fn limits(context: Context) -> Limits {
    match context.must_obey() {
        true => Limits::Lifted,
        false => configuration::limits(),
    }
}

/// Executes a command within the memory limit, which does not apply to commands from the primary or from disk, and replies. Asking the
/// server for that takes half as long as a lookup, so it is asked only after a refusal. CF.INSERT of several items can't be tried
/// again, since it stores what it can, so it asks first.
#[inline(always)]
fn execute_within_limits(
    context: Context,
    command: &Command<'_>,
    access: Access,
    key_name: *mut RawString,
    mut key: Key,
) -> Result<(), CommandError> {
    let first = match command {
        Command::Insert { items: [_, _, ..], .. } => limits(context),
        _ => configuration::limits(),
    };
    // A doubling may go on also where nothing is stored.
    let was_splitting = (access == Access::Write && steps::are_under_way())
        .then(|| key.filter().is_some_and(|filter| !filter.is_settled()));
    let mut outcome = execute(command, &mut key, configuration::settings, first, now);
    if matches!(outcome, Err(CommandError::MemoryLimit { .. })) && context.must_obey() {
        outcome = execute_without_limits(command, &mut key);
    }
    if let Some(was_splitting) = was_splitting {
        let is_told = outcome.as_ref().is_ok_and(|outcome| outcome.changes.told != Told::Nothing);
        note_change(&mut key, was_splitting || is_told);
    }
    drop(key);
    // Looked at where it is: it is large.
    match outcome {
        Err(error) => Err(error),
        Ok(ref outcome) => {
            respond(context, key_name, outcome);
            Ok(())
        }
    }
}

/// Lets commands that are done in steps know that a filter may have changed, or has begun to be doubled.
#[cold]
fn note_change(key: &mut Key, has_changed: bool) {
    if let Some(filter) = key.filter_mut()
        && (has_changed || !filter.is_settled())
    {
        filter.renew_stamp();
    }
}

#[cold]
fn execute_without_limits<'arguments>(
    command: &Command<'arguments>,
    key: &mut Key,
) -> Result<Outcome<'arguments>, CommandError> {
    execute(command, key, configuration::settings, Limits::Lifted, now)
}

/// Replicates the changes, and notifies clients that watch the key or listen to events.
#[inline(always)]
fn tell(context: Context, key: *mut RawString, outcome: &Outcome<'_>) {
    match &outcome.changes {
        Changes { created: None, told: Told::Nothing, .. } => {}
        Changes { created: None, told: Told::Same, event } => {
            context.replicate_same();
            context.signal(key);
            context.notify(event, key);
        }
        _ => tell_more(context, key, outcome),
    }
}

/// What has changed is told in any case, so this takes no memory of the module's.
#[cold]
fn tell_more(context: Context, key: *mut RawString, Outcome { reply, changes }: &Outcome<'_>) {
    if let Some(measures) = &changes.created {
        let mut words = Words::new(context, key);
        measures.give_arguments(|argument| words.push(argument));
        words.replicate(names::of(CommandName::Reserve));
    }
    match &changes.told {
        Told::Nothing => {}
        Told::Same => context.replicate_same(),
        Told::Stored(items) => {
            let (Reply::Insertions(insertions) | Reply::UniqueInsertions(insertions)) = reply else { return };
            let stored = items.iter().zip(insertions).filter(|(_, insertion)| **insertion == Insertion::Stored);
            let mut words = Words::new(context, key);
            [b"NOCREATE".as_slice(), b"ITEMS"].into_iter().for_each(|word| words.push(word));
            words.replicate_insertion(stored.map(|(item, _)| *item));
        }
        Told::InsertedAt { time, items } => {
            let mut words = Words::new(context, key);
            let time = CText::of(time);
            [b"NOCREATE".as_slice(), b"AT", time.bytes(), b"ITEMS"].into_iter().for_each(|word| words.push(word));
            words.replicate_insertion(items.iter().copied());
        }
        Told::DeletedAt { time, items } => {
            let time = CText::of(time);
            for item in items {
                let mut words = Words::new(context, key);
                [item, b"AT".as_slice(), time.bytes()].into_iter().for_each(|word| words.push(word));
                words.replicate(names::of(CommandName::Del));
            }
        }
    }
    context.signal(key);
    if changes.created.is_some() {
        context.notify(c"cf.reserve", key);
    }
    if changes.told != Told::Nothing {
        context.notify(changes.event, key);
    }
}
