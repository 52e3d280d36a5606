//! What makes tables usable after `fork`: all their locks are taken before it, and released in both processes after it.
//!
//! A child has only the thread that forked. A lock that another thread holds at that moment would be held there for ever, over
//! a table that is half changed. Nobody who holds a lock waits for another one or for the interpreter's, so that taking all of
//! them takes no longer than the longest change that is going on.

use std::any::Any;
use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, RwLock, Weak};

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::memory::Held;
use crate::waiting;

/// All tables of the process, and some that are gone.
static TABLES: Mutex<Vec<Weak<dyn Table>>> = Mutex::new(Vec::new());

thread_local! {
    /// The locks that this thread holds between the two calls. The tables are released before more can be registered.
    static HELD: RefCell<Option<HeldTables>> = const { RefCell::new(None) };
}

struct HeldTables {
    /// The process that is about to fork.
    process: u32,
    _tables: Vec<Box<dyn Any>>,
    _registered: MutexGuard<'static, Vec<Weak<dyn Table>>>,
}

trait Table: Send + Sync {
    /// Waits until nobody else reads or changes the table, and keeps it so.
    fn hold(self: Arc<Self>) -> Box<dyn Any>;
}

impl<T: Send + Sync + 'static> Table for RwLock<T> {
    fn hold(self: Arc<Self>) -> Box<dyn Any> {
        Box::new(Held::new(self))
    }
}

/// Registers a table, which is forgotten some time after it is gone.
pub(crate) fn register<T: Send + Sync + 'static>(table: &Arc<RwLock<T>>) {
    let table: Weak<RwLock<T>> = Arc::downgrade(table);
    let mut tables = waiting::lock(|| TABLES.try_lock(), || TABLES.lock());
    if tables.len() == tables.capacity() {
        tables.retain(|table| table.strong_count() > 0);
        // At least as many more as there are, so that each is looked at a few times in all.
        let more = tables.len().max(64);
        let reserved = tables.try_reserve(more).or_else(|_| tables.try_reserve(1));
        reserved.expect("memory for a few words");
    }
    tables.push(table);
}

fn before_fork() {
    let process = std::process::id();
    // A module that is imported again has registered the functions again.
    if HELD.with_borrow(|held| held.as_ref().is_some_and(|held| held.process == process)) {
        return;
    }
    let registered = waiting::lock(|| TABLES.try_lock(), || TABLES.lock());
    let tables = registered.iter().filter_map(Weak::upgrade).map(Table::hold).collect();
    HELD.set(Some(HeldTables { process, _tables: tables, _registered: registered }));
}

fn after_fork() {
    drop(HELD.take());
}

/// Sees to it that this thread may wait for a table, where it holds all of them itself: then a function is being called that was given to
/// `os.register_at_fork` before this module was imported. In the child the locks are released, as they will be anyway.
///
/// # Panics
///
/// In the parent, where it can't be told whether the fork is still to come.
pub(crate) fn release_own_locks() {
    let Some(process) = HELD.with_borrow(|held| held.as_ref().map(|held| held.process)) else { return };
    assert!(
        process != std::process::id(),
        "filters can't be used by functions that were given to os.register_at_fork before guira_filters was imported"
    );
    drop(HELD.take());
}

/// Has the interpreter call both functions, on systems that can fork.
pub(crate) fn register_functions(module: &Bound<'_, PyModule>) -> PyResult<()> {
    #[pyfunction]
    fn before() {
        before_fork();
    }

    #[pyfunction]
    fn after() {
        after_fork();
    }

    let os = module.py().import("os")?;
    let Some(register) = os.getattr_opt("register_at_fork")? else { return Ok(()) };
    let functions = PyDict::new(module.py());
    functions.set_item("before", wrap_pyfunction!(before, module)?)?;
    functions.set_item("after_in_parent", wrap_pyfunction!(after, module)?)?;
    functions.set_item("after_in_child", wrap_pyfunction!(after, module)?)?;
    register.call((), Some(&functions))?;
    Ok(())
}
