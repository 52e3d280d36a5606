//! The list of commands: what the server is told of each.

use std::ffi::CStr;

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are called as the commands are")]
pub enum CommandName {
    Reserve,
    Add,
    AddNx,
    Insert,
    InsertNx,
    Exists,
    MExists,
    Count,
    Del,
    MDel,
    Info,
    Debug,
    Compact,
    ScanDump,
    LoadChunk,
    Merge,
}

/// What a command does with its first key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyUse {
    /// Reads the filter.
    Read,
    /// May change the filter, or create it.
    Insert,
    /// May remove items from the filter.
    Delete,
    /// May rearrange the filter.
    Update,
}

/// An argument, as COMMAND DOCS shows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Argument {
    pub(crate) name: &'static CStr,
    pub(crate) kind: ArgumentKind,
    pub(crate) token: Option<&'static CStr>,
    pub(crate) need: Need,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum ArgumentKind {
    Text,
    Integer,
    Fraction,
    Key { specification: i32 },
    Token,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Once,
    Optional,
    Several,
}

/// What the server and COMMAND DOCS are told of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Specification {
    /// In lower case.
    pub(crate) name: &'static str,
    /// The number of words, counting name and key; -n for at least n.
    pub(crate) arity: i32,
    pub(crate) flags: &'static CStr,
    /// What COMMAND INFO tells proxies and clients, with spaces between.
    pub(crate) tips: &'static CStr,
    pub(crate) key_use: KeyUse,
    pub(crate) summary: &'static CStr,
    pub(crate) complexity: &'static CStr,
    pub(crate) arguments: &'static [Argument],
}

const fn argument(name: &'static CStr, kind: ArgumentKind) -> Argument {
    Argument { name, kind, token: None, need: Need::Once }
}

const fn option(name: &'static CStr, token: &'static CStr, kind: ArgumentKind) -> Argument {
    Argument { name, kind, token: Some(token), need: Need::Optional }
}

const KEY: Argument = argument(c"key", ArgumentKind::Key { specification: 0 });
const ITEM: Argument = argument(c"item", ArgumentKind::Text);
const ITEMS: Argument = Argument { need: Need::Several, ..ITEM };
const AT: Argument = option(c"milliseconds", c"AT", ArgumentKind::Integer);
const ITERATOR: Argument = argument(c"iterator", ArgumentKind::Integer);
const INSERT: &[Argument] = &[
    KEY,
    option(c"capacity", c"CAPACITY", ArgumentKind::Integer),
    option(c"hash", c"HASH", ArgumentKind::Text),
    option(c"nocreate", c"NOCREATE", ArgumentKind::Token),
    AT,
    Argument { name: c"items", kind: ArgumentKind::Token, token: Some(c"ITEMS"), need: Need::Once },
    ITEMS,
];

const RESERVE: &[Argument] = &[
    KEY,
    Argument { need: Need::Optional, ..argument(c"capacity", ArgumentKind::Integer) },
    option(c"rate", c"ERROR", ArgumentKind::Fraction),
    option(c"bucketsize", c"BUCKETSIZE", ArgumentKind::Integer),
    option(c"maxiterations", c"MAXITERATIONS", ArgumentKind::Integer),
    option(c"expansion", c"EXPANSION", ArgumentKind::Integer),
    option(c"maxcapacity", c"MAXCAPACITY", ArgumentKind::Integer),
    option(c"hash", c"HASH", ArgumentKind::Text),
    option(c"secret", c"KEY", ArgumentKind::Text),
    option(c"lifetime", c"LIFETIME", ArgumentKind::Integer),
    option(c"resolution", c"RESOLUTION", ArgumentKind::Integer),
    AT,
    option(c"other", c"LIKE", ArgumentKind::Key { specification: 1 }),
];
const SCAN_DUMP: &[Argument] = &[KEY, ITERATOR, option(c"nokey", c"NOKEY", ArgumentKind::Token)];
const LOAD_CHUNK: &[Argument] =
    &[KEY, ITERATOR, argument(c"data", ArgumentKind::Text), option(c"secret", c"KEY", ArgumentKind::Text)];
const MERGE: &[Argument] = &[
    argument(c"destination", ArgumentKind::Key { specification: 0 }),
    Argument { need: Need::Several, ..argument(c"source", ArgumentKind::Key { specification: 1 }) },
];

impl CommandName {
    /// All commands.
    pub const ALL: [Self; 16] = [
        Self::Reserve,
        Self::Add,
        Self::AddNx,
        Self::Insert,
        Self::InsertNx,
        Self::Exists,
        Self::MExists,
        Self::Count,
        Self::Del,
        Self::MDel,
        Self::Info,
        Self::Debug,
        Self::Compact,
        Self::ScanDump,
        Self::LoadChunk,
        Self::Merge,
    ];

    /// The name, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.specification().name
    }

    pub(crate) const fn specification(self) -> &'static Specification {
        match self {
            Self::Reserve => &Specification {
                name: "cf.reserve",
                arity: -3,
                flags: c"write deny-oom",
                tips: c"",
                key_use: KeyUse::Insert,
                summary: c"Creates an empty filter with a rate and room to grow, or one made like another",
                complexity: c"O(n), where n is the capacity",
                arguments: RESERVE,
            },
            Self::Add => &Specification {
                name: "cf.add",
                arity: 3,
                flags: c"write deny-oom fast",
                tips: c"",
                key_use: KeyUse::Insert,
                summary: c"Stores an item, and creates the filter if there is none",
                complexity: c"O(1); O(n) where the filter doubles",
                arguments: &[KEY, ITEM],
            },
            Self::AddNx => &Specification {
                name: "cf.addnx",
                arity: 3,
                flags: c"write deny-oom fast",
                tips: c"",
                key_use: KeyUse::Insert,
                summary: c"Stores an item unless it seems to be there; not to be combined with removal",
                complexity: c"O(1); O(n) where the filter doubles",
                arguments: &[KEY, ITEM],
            },
            Self::Insert => &Specification {
                name: "cf.insert",
                arity: -4,
                flags: c"write deny-oom",
                tips: c"",
                key_use: KeyUse::Insert,
                summary: c"Stores items, and creates the filter if there is none",
                complexity: c"O(n), where n is the number of items",
                arguments: INSERT,
            },
            Self::InsertNx => &Specification {
                name: "cf.insertnx",
                arity: -4,
                flags: c"write deny-oom",
                tips: c"",
                key_use: KeyUse::Insert,
                summary: c"Stores items unless they seem to be there; not to be combined with removal",
                complexity: c"O(n), where n is the number of items",
                arguments: INSERT,
            },
            Self::Exists => &Specification {
                name: "cf.exists",
                arity: 3,
                flags: c"readonly fast",
                tips: c"",
                key_use: KeyUse::Read,
                summary: c"Whether an item is probably in the filter; no is certain",
                complexity: c"O(1)",
                arguments: &[KEY, ITEM],
            },
            Self::MExists => &Specification {
                name: "cf.mexists",
                arity: -3,
                flags: c"readonly fast",
                tips: c"",
                key_use: KeyUse::Read,
                summary: c"Whether items are probably in the filter; no is certain",
                complexity: c"O(n), where n is the number of items",
                arguments: &[KEY, ITEMS],
            },
            Self::Count => &Specification {
                name: "cf.count",
                arity: 3,
                flags: c"readonly fast",
                tips: c"",
                key_use: KeyUse::Read,
                summary: c"How many copies of an item are stored, those of items that look the same included",
                complexity: c"O(1)",
                arguments: &[KEY, ITEM],
            },
            Self::Del => &Specification {
                name: "cf.del",
                arity: -3,
                flags: c"write fast",
                tips: c"",
                key_use: KeyUse::Delete,
                summary: c"Removes a copy of an item, which must have been stored",
                complexity: c"O(1)",
                arguments: &[KEY, ITEM, AT],
            },
            Self::MDel => &Specification {
                name: "cf.mdel",
                arity: -3,
                flags: c"write",
                tips: c"",
                key_use: KeyUse::Delete,
                summary: c"Removes a copy of each item, which must have been stored",
                complexity: c"O(n), where n is the number of items",
                arguments: &[KEY, ITEMS],
            },
            Self::Info => &Specification {
                name: "cf.info",
                arity: 2,
                flags: c"readonly fast",
                tips: c"",
                key_use: KeyUse::Read,
                summary: c"The measures of a filter",
                complexity: c"O(1)",
                arguments: &[KEY],
            },
            Self::Debug => &Specification {
                name: "cf.debug",
                arity: 2,
                flags: c"readonly fast",
                tips: c"",
                key_use: KeyUse::Read,
                summary: c"The measures of a filter, with its rate and how far it grows, as a line of text",
                complexity: c"O(1)",
                arguments: &[KEY],
            },
            Self::Compact => &Specification {
                name: "cf.compact",
                arity: 2,
                flags: c"write",
                tips: c"",
                key_use: KeyUse::Update,
                summary: c"Gives back the memory that removals have freed",
                complexity: c"O(n), where n is the capacity",
                arguments: &[KEY],
            },
            Self::ScanDump => &Specification {
                name: "cf.scandump",
                arity: -3,
                flags: c"readonly",
                tips: c"nondeterministic_output",
                key_use: KeyUse::Read,
                summary: c"A chunk of a filter, to be loaded elsewhere",
                complexity: c"O(n), where n is the size of the filter for the first chunk",
                arguments: SCAN_DUMP,
            },
            Self::LoadChunk => &Specification {
                name: "cf.loadchunk",
                arity: -4,
                flags: c"write deny-oom",
                tips: c"",
                key_use: KeyUse::Insert,
                summary: c"Loads a chunk of a filter, this module's or RedisBloom's",
                complexity: c"O(n), where n is the size of the chunk, and of the filter for the last one",
                arguments: LOAD_CHUNK,
            },
            Self::Merge => &Specification {
                name: "cf.merge",
                arity: -3,
                flags: c"write deny-oom",
                tips: c"",
                key_use: KeyUse::Insert,
                summary: c"Adds all items of filters that were made alike to another, and creates it if there is none",
                complexity: c"O(n), where n is the sum of the sizes",
                arguments: MERGE,
            },
        }
    }
}
