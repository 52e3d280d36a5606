//! Registers the commands: their flags, keys, documentation and categories.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut, without_provenance};

use smallvec::SmallVec;

use super::context::Context;
use super::functions::{Functions, OK, functions};
use super::{names, run};
use crate::c_text::CText;
use crate::command::{Argument, ArgumentKind, CommandName, KeyUse, Need, Specification};

/// `RedisModuleCommandInfoVersion`
#[repr(C)]
struct Version {
    version: c_int,
    size_of_history_entry: usize,
    size_of_key: usize,
    size_of_argument: usize,
}

/// `RedisModuleCommandInfo`, version 1, as in Redis 7.0.
#[repr(C)]
struct Information {
    version: *const Version,
    summary: *const c_char,
    complexity: *const c_char,
    since: *const c_char,
    history: *const c_void,
    tips: *const c_char,
    arity: c_int,
    keys: *const Keys,
    arguments: *const RawArgument,
}

/// `RedisModuleCommandKeySpec`
#[repr(C)]
struct Keys {
    notes: *const c_char,
    flags: u64,
    begin: c_int,
    begin_at: BeginAt,
    find: c_int,
    range: Range,
}

/// A union: an index, or a keyword with an index.
#[repr(C)]
struct BeginAt {
    index_or_keyword: *const c_char,
    start: c_int,
}

#[repr(C)]
struct Range {
    last: c_int,
    step: c_int,
    limit: c_int,
}

/// `RedisModuleCommandArg`
#[repr(C)]
struct RawArgument {
    name: *const c_char,
    kind: c_int,
    key: c_int,
    token: *const c_char,
    summary: *const c_char,
    since: *const c_char,
    flags: c_int,
    deprecated_since: *const c_char,
    parts: *mut RawArgument,
    shown_as: *const c_char,
}

static VERSION: Version = Version {
    version: 1,
    // An entry consists of two texts.
    size_of_history_entry: 2 * size_of::<*const c_char>(),
    size_of_key: size_of::<Keys>(),
    size_of_argument: size_of::<RawArgument>(),
};

// REDISMODULE_KSPEC_BS_INDEX, REDISMODULE_KSPEC_FK_RANGE
const BEGIN_AT_INDEX: c_int = 2;
// REDISMODULE_KSPEC_BS_KEYWORD
const BEGIN_AT_KEYWORD: c_int = 3;
const FIND_RANGE: c_int = 2;

// REDISMODULE_CMD_KEY_*
const READ_ONLY: u64 = 1;
const READ_WRITE: u64 = 1 << 1;
const ACCESS: u64 = 1 << 4;
const UPDATE: u64 = 1 << 5;
const INSERT: u64 = 1 << 6;
const DELETE: u64 = 1 << 7;

impl Keys {
    const fn new(index: usize, flags: u64, last: c_int) -> Self {
        // The index is the first half of the union, on little-endian machines; the server runs on no others here.
        let begin_at = BeginAt { index_or_keyword: without_provenance(index), start: 0 };
        Self {
            notes: null(),
            flags,
            begin: BEGIN_AT_INDEX,
            begin_at,
            find: FIND_RANGE,
            range: Range { last, step: 1, limit: 0 },
        }
    }

    /// The key behind a keyword that follows the first key somewhere.
    const fn behind(keyword: &'static CStr, flags: u64) -> Self {
        let begin_at = BeginAt { index_or_keyword: keyword.as_ptr(), start: 2 };
        Self { begin: BEGIN_AT_KEYWORD, begin_at, ..Self::new(0, flags, 0) }
    }

    /// The entry that ends a list.
    const NONE: Self = Self {
        notes: null(),
        flags: 0,
        begin: 0,
        begin_at: BeginAt { index_or_keyword: null(), start: 0 },
        find: 0,
        range: Range { last: 0, step: 0, limit: 0 },
    };

    /// The keys of a command, with the entry that ends the list.
    fn of(name: CommandName, specification: &Specification) -> [Self; 3] {
        let flags = match specification.key_use {
            KeyUse::Read => READ_ONLY | ACCESS,
            // ACCESS, because CF.ADD and the like reply with what they found.
            KeyUse::Insert => READ_WRITE | ACCESS | INSERT,
            KeyUse::Delete => READ_WRITE | ACCESS | DELETE,
            KeyUse::Update => READ_WRITE | UPDATE,
        };
        let others = match name {
            CommandName::Merge => Self::new(2, READ_ONLY | ACCESS, -1),
            CommandName::Reserve => Self::behind(c"LIKE", READ_ONLY | ACCESS),
            _ => Self::NONE,
        };
        [Self::new(1, flags, 0), others, Self::NONE]
    }
}

impl RawArgument {
    const NONE: Self = Self {
        name: null(),
        kind: 0,
        key: -1,
        token: null(),
        summary: null(),
        since: null(),
        flags: 0,
        deprecated_since: null(),
        parts: null_mut(),
        shown_as: null(),
    };

    fn new(argument: &Argument) -> Self {
        // REDISMODULE_ARG_TYPE_*
        let (kind, key) = match argument.kind {
            ArgumentKind::Text => (0, -1),
            ArgumentKind::Integer => (1, -1),
            ArgumentKind::Fraction => (2, -1),
            ArgumentKind::Key { specification } => (3, specification),
            ArgumentKind::Token => (6, -1),
        };
        // REDISMODULE_CMD_ARG_*
        let flags = match argument.need {
            Need::Once => 0,
            Need::Optional => 1,
            Need::Several => 1 << 1,
        };
        let token = argument.token.map_or(null(), CStr::as_ptr);
        Self { name: argument.name.as_ptr(), kind, key, token, flags, ..Self::NONE }
    }
}

/// Creates all commands.
///
/// # Errors
///
/// If the server refuses a command or its description.
pub(super) fn register(context: Context) -> Result<(), &'static str> {
    let functions = functions();
    let category = c"cuckoo";
    if let Some(add) = functions.add_acl_category {
        // Fails if another module has added the category, which is as good.
        // SAFETY: the name ends with 0, and is copied.
        unsafe { add(context.0, category.as_ptr()) };
    }
    for (name, function) in CommandName::ALL.into_iter().zip(run::FUNCTIONS) {
        let specification = name.specification();
        let (text, flags) = (names::of(name).as_ptr(), specification.flags.as_ptr());
        let last = if name == CommandName::Merge { -1 } else { 1 };
        // SAFETY: the texts end with 0, and are copied.
        if unsafe { (functions.create_command)(context.0, text, function, flags, 1, last, 1) } != OK {
            return Err(
                "the server did not take the CF.* commands: is RedisBloom loaded? Beside it, load the module with prefix GF.",
            );
        }
        // SAFETY: the name ends with 0.
        let command = unsafe { (functions.get_command)(context.0, text) };
        document(functions, command.cast(), name, specification)?;
        if let Some(set) = functions.set_acl_categories {
            // Categories that a server derives from flags for its own commands, but not for those of modules.
            let flags = specification.flags.to_str().unwrap_or_default();
            let has = |flag| flags.split(' ').any(|other| other == flag);
            let if_so = |name: &'static str, is_so: bool| if is_so { name } else { "" };
            let read = if_so(" read", specification.key_use == KeyUse::Read);
            let (write, fast) = (if_so(" write", has("write")), if_so(" fast", has("fast")));
            let categories = CText::of(&format_args!("cuckoo{read}{write}{fast}"));
            // SAFETY: the command was created above, and the names end with 0.
            unsafe { set(command, categories.as_ptr()) };
        }
    }
    Ok(())
}

fn document(
    functions: &Functions,
    command: *mut c_void,
    name: CommandName,
    specification: &Specification,
) -> Result<(), &'static str> {
    let keys = Keys::of(name, specification);
    // On the stack: no command has more.
    let arguments: SmallVec<[RawArgument; 16]> =
        specification.arguments.iter().map(RawArgument::new).chain([RawArgument::NONE]).collect();
    let since = CText::of(&env!("CARGO_PKG_VERSION"));
    let information = Information {
        version: &raw const VERSION,
        summary: specification.summary.as_ptr(),
        complexity: specification.complexity.as_ptr(),
        since: since.as_ptr(),
        history: null(),
        // An empty list would be one empty tip.
        tips: if specification.tips.is_empty() { null() } else { specification.tips.as_ptr() },
        arity: specification.arity,
        keys: keys.as_ptr(),
        arguments: arguments.as_ptr(),
    };
    let information: *const Information = &raw const information;
    // SAFETY: the structures are those of their version, lists have their end, and everything is copied.
    let status = unsafe { (functions.set_command_info)(command.cast(), information.cast()) };
    if status == OK { Ok(()) } else { Err("the server did not take the description of a command") }
}
