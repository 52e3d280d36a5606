//! Commands that would take long are done in steps, with their clients blocked and all others served between them.

use std::ffi::{c_int, c_longlong, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use super::background::free_elsewhere;
use super::context::Context;
use super::functions::{RawBlocked, RawContext, RawString, functions};
use super::key::{Access, Key};
use super::run::{self, Prepared};
use crate::command::CommandName;
use crate::error::CommandError;
use crate::execution::Place as _;
use crate::memory::{Boxed, list_for, short_list_for};
use crate::stored::{Progress, Task, Waste, Work, Workpieces};

/// How long the steps are that are done in one turn.
const TURN: Duration = Duration::from_micros(800);

/// How long others have until the next turn, in milliseconds.
const PAUSE: c_longlong = 1;

/// How many commands are under way.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// Returns `true` if a command is under way, so that changes of filters must be noticed.
#[inline]
pub(super) fn are_under_way() -> bool {
    UNDER_WAY.load(Ordering::Relaxed) > 0
}

/// A command that is done in steps.
struct Job {
    name: CommandName,
    client: *mut RawBlocked,
    database: c_int,
    /// The destination, and the sources if there are any.
    keys: Vec<KeyName>,
    /// How many of them had a filter when the command came: all, or all but the destination.
    filters: usize,
    work: Work,
    /// What is to be done in the end; if nothing is prepared, all of it at once.
    prepared: Option<Prepared>,
    /// Nothing more is to be done in steps.
    is_done: bool,
}

/// The name of a key, a string of the server.
struct KeyName(*mut RawString);

impl Drop for KeyName {
    fn drop(&mut self) {
        // SAFETY: the string was made without a context, and nobody else frees it.
        unsafe { (functions().free_string)(null_mut(), self.0) }
    }
}

/// Begins to do a command in steps if that is worth while, there is memory for it, and its client may wait. Returns `true` if so: then its
/// client is blocked, and is answered later. `keys` are the destination and the sources.
///
/// # Errors
///
/// If one of the keys holds anything but a filter.
#[cold]
pub(super) fn begin(
    context: Context,
    name: CommandName,
    task: Task,
    keys: &[*mut RawString],
) -> Result<bool, CommandError> {
    match begin_task(context, name, task, keys) {
        // It may be done at once without.
        Err(CommandError::OutOfMemory) => Ok(false),
        begun => begun,
    }
}

fn begin_task(context: Context, name: CommandName, task: Task, keys: &[*mut RawString]) -> Result<bool, CommandError> {
    let opened = open(context, keys.iter().copied())?;
    let filters = match workpieces(&opened)? {
        Some(filters) if task.is_worth_steps(&filters) && context.may_wait() => filters.count(),
        _ => return Ok(false),
    };
    drop(opened);
    let mut names = list_for(keys.len())?;
    for &key in keys {
        // SAFETY: the string is an argument of the present command.
        let bytes = unsafe { super::context::bytes_of(key) };
        // SAFETY: pointer and length are those of the slice, which is copied. Without a context, the module frees the string.
        names.push(KeyName(unsafe { (functions().create_string)(null_mut(), bytes.as_ptr().cast(), bytes.len()) }));
    }
    // SAFETY: the context is that of the present call.
    let database = unsafe { (functions().selected_database)(context.0) };
    let work = Work::new(task);
    let job = Job { name, client: null_mut(), database, keys: names, filters, work, prepared: None, is_done: false };
    let job = Boxed::new(job)?;
    let job = job.into_raw().as_ptr();
    UNDER_WAY.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the functions are what the server calls with these arguments; without a limit of time there is none for its end.
    let client = unsafe { (functions().block_client)(context.0, reply, None, free, 0) };
    // SAFETY: the job was made above, and nobody else has it yet.
    unsafe { (*job).client = client };
    // SAFETY: the timer alone has the job until the client is unblocked.
    unsafe { (functions().create_timer)(context.0, 0, turn, job.cast()) };
    Ok(true)
}

fn open(
    context: Context,
    names: impl ExactSizeIterator<Item = *mut RawString>,
) -> Result<SmallVec<[Key; 4]>, CommandError> {
    let mut keys: SmallVec<[Key; 4]> = short_list_for(names.len())?;
    for name in names {
        keys.push(Key::open(context, name, Access::Inspect)?);
    }
    Ok(keys)
}

/// The filters of keys, without a destination that does not exist; `None` if nothing is done in steps with these.
fn workpieces(keys: &[Key]) -> Result<Option<Workpieces<'_>>, CommandError> {
    let is_created = keys.len() > 1 && keys.first().is_some_and(|key| key.filter().is_none());
    Workpieces::of(keys.iter().skip(usize::from(is_created)).map(Key::filter))
}

impl Job {
    /// Does a part of the work. Returns `true` if nothing more is to be done in steps.
    fn step(&mut self, keys: &[Key]) -> bool {
        let Ok(Some(filters)) = workpieces(keys) else { return true };
        match self.work.step(&filters) {
            Progress::More => false,
            Progress::Done(filter) => {
                self.prepared = filter.map(Prepared::Filter);
                true
            }
            Progress::SummedUp(ends) => {
                self.prepared = Some(Prepared::Ends(ends));
                true
            }
            Progress::Unchanged => {
                self.prepared = Some(Prepared::Unchanged);
                true
            }
        }
    }

    /// Whether the command is one that changes a filter.
    fn has_change(&self) -> bool {
        self.name != CommandName::ScanDump
    }

    /// Whether the command has to wait with its change.
    ///
    /// Where clients are paused, perhaps until a replica takes over, replicas must not be told of anything: the server ends itself if they
    /// are.
    fn must_wait(&self) -> bool {
        // SAFETY: the function has no arguments, and only looks at the state of the server.
        self.has_change() && unsafe { (functions().avoid_replica_traffic)() != 0 }
    }

    /// Opens its keys.
    fn open(&self, context: Context) -> Result<SmallVec<[Key; 4]>, CommandError> {
        open(context, self.keys.iter().map(|name| name.0))
    }

    /// Whether a filter is gone that was there when the command came.
    fn has_lost_filters(&self, context: Context) -> bool {
        let Ok(keys) = self.open(context) else { return false };
        keys.iter().rev().take(self.filters).any(|key| key.filter().is_none())
    }

    /// Whether the filters are what they were when the work began.
    fn is_current(&self, context: Context) -> bool {
        let Ok(keys) = self.open(context) else { return false };
        matches!(workpieces(&keys), Ok(Some(filters)) if self.work.is_about(&filters))
    }
}

/// What the timer calls.
unsafe extern "C" fn turn(context: *mut RawContext, job: *mut c_void) {
    // SAFETY: the timer alone has the job, which was made by `begin`.
    let running = unsafe { &mut *job.cast::<Job>() };
    // SAFETY: the database is one that a client has selected.
    unsafe { (functions().select_database)(context, running.database) };
    let begin = Instant::now();
    // No other command runs during the turn.
    match running.open(Context(context)) {
        Err(_) => running.is_done = true,
        Ok(keys) => {
            while !running.is_done && begin.elapsed() < TURN {
                running.is_done = running.step(&keys);
                if let Some(waste) = running.work.take_waste() {
                    free_elsewhere::<Waste>(waste);
                }
            }
        }
    }
    if running.is_done && !running.must_wait() {
        // SAFETY: the client is blocked; from now on the server alone has the job.
        unsafe { (functions().unblock_client)(running.client, job) };
        return;
    }
    // SAFETY: as above; the timer has the job again.
    unsafe { (functions().create_timer)(context, PAUSE, turn, job) };
}

/// What the server calls for a client that waits no more.
unsafe extern "C" fn reply(context: *mut RawContext, arguments: *mut *mut RawString, count: c_int) -> c_int {
    let context = Context(context);
    // SAFETY: the context is that of a client that was blocked.
    let job = unsafe { (functions().private_data)(context.0) };
    // SAFETY: the private data is the job, which nobody else has until it is freed.
    let job = unsafe { job.cast::<Job>().as_mut() };
    let Some(job) = job else { return super::functions::ERR };
    // SAFETY: the server gives the arguments of the command that the client sent.
    let arguments = unsafe { std::slice::from_raw_parts(arguments, usize::try_from(count).unwrap_or(0)) };
    // Clients may have been paused since the last turn.
    if job.must_wait() {
        return run::refuse(context, job.name, &CommandError::Paused);
    }
    // Valkey 9 lets clients of a cluster wait where a replica has taken over, and nobody is told of a change on what is a replica now.
    if job.has_change() && context.is_read_only() {
        return run::refuse(context, job.name, &CommandError::Demoted);
    }
    // A slot may be on its way to another node, key by key: a destination that is gone must not be made here of the sources alone.
    if context.is_in_cluster() && job.has_lost_filters(context) {
        return run::refuse(context, job.name, &CommandError::Gone);
    }
    let is_current = job.is_current(context);
    let prepared = job.prepared.take().filter(|_| is_current);
    run::finish(context, job.name, arguments, prepared)
}

/// What the server calls in the end, also for clients that are gone.
unsafe extern "C" fn free(_context: *mut RawContext, job: *mut c_void) {
    UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    // SAFETY: the pointer is that of the box of `begin`, and the server calls this once.
    let Job { work, prepared, .. } = *unsafe { Box::from_raw(job.cast::<Job>()) };
    free_elsewhere((work.into_waste(), prepared));
}
