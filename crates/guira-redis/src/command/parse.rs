use super::creation::number;
use super::{CommandName, Creation};
use crate::error::CommandError;

/// What becomes of items that are there already, or seem to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// They are stored once more.
    Stored,
    /// They are left out.
    LeftOut,
}

/// What becomes of an insertion where there is no filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// One is created.
    Created,
    /// It is refused.
    Refused,
}

/// A command with its arguments, behind its key. The words are those of the server's users: what they store are items.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    missing_docs,
    reason = "the fields are called as the arguments of the commands, which docs/redis.md describes"
)]
pub enum Command<'arguments> {
    /// CF.RESERVE
    Reserve { creation: Creation },
    /// CF.ADD, CF.ADDNX
    Add { item: &'arguments [u8], repeats: Repeats },
    /// CF.INSERT, CF.INSERTNX
    Insert { creation: Creation, absent: Absent, items: &'arguments [&'arguments [u8]], repeats: Repeats },
    /// CF.EXISTS
    Exists { item: &'arguments [u8] },
    /// CF.MEXISTS
    ExistEach { items: &'arguments [&'arguments [u8]] },
    /// CF.COUNT
    Count { item: &'arguments [u8] },
    /// CF.DEL
    Delete { item: &'arguments [u8] },
    /// CF.MDEL
    DeleteEach { items: &'arguments [&'arguments [u8]] },
    /// CF.INFO
    Info,
    /// CF.DEBUG
    Debug,
    /// CF.COMPACT
    Compact,
    /// CF.SCANDUMP
    ScanDump { position: u64 },
    /// CF.LOADCHUNK
    LoadChunk { position: u64, data: &'arguments [u8] },
    /// CF.MERGE, whose sources the server finds
    Merge { sources: &'arguments [&'arguments [u8]] },
}

impl<'arguments> Command<'arguments> {
    /// A command from its arguments behind the key.
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    #[inline]
    pub fn parse(name: CommandName, arguments: &'arguments [&'arguments [u8]]) -> Result<Self, CommandError> {
        Ok(match (name, arguments) {
            (CommandName::Reserve, [capacity, options @ ..]) => {
                Self::Reserve { creation: Creation::of_reserve(capacity, options)? }
            }
            (CommandName::Add, [item]) => Self::Add { item, repeats: Repeats::Stored },
            (CommandName::AddNx, [item]) => Self::Add { item, repeats: Repeats::LeftOut },
            (CommandName::Insert, [_, ..]) => Self::parse_insertion(name, arguments, Repeats::Stored)?,
            (CommandName::InsertNx, [_, ..]) => Self::parse_insertion(name, arguments, Repeats::LeftOut)?,
            (CommandName::Exists, [item]) => Self::Exists { item },
            (CommandName::MExists, [_, ..]) => Self::ExistEach { items: arguments },
            (CommandName::Count, [item]) => Self::Count { item },
            (CommandName::Del, [item]) => Self::Delete { item },
            (CommandName::MDel, [_, ..]) => Self::DeleteEach { items: arguments },
            (CommandName::Info, []) => Self::Info,
            (CommandName::Debug, []) => Self::Debug,
            (CommandName::Compact, []) => Self::Compact,
            (CommandName::ScanDump, [position]) => {
                Self::ScanDump { position: number(position).ok_or(CommandError::InvalidPosition)? }
            }
            (CommandName::LoadChunk, [position, data]) => {
                let position = number(position).filter(|&position| position > 0);
                Self::LoadChunk { position: position.ok_or(CommandError::InvalidPosition)?, data }
            }
            (CommandName::Merge, [_, ..]) => Self::Merge { sources: arguments },
            _ => return Err(CommandError::Arity { command: name.specification().name }),
        })
    }

    fn parse_insertion(
        name: CommandName,
        arguments: &'arguments [&'arguments [u8]],
        repeats: Repeats,
    ) -> Result<Self, CommandError> {
        let wrong_arity = CommandError::Arity { command: name.specification().name };
        let (mut creation, mut absent) = (Creation::default(), Absent::Created);
        let mut rest = arguments;
        loop {
            match rest {
                [option, items @ ..] if option.eq_ignore_ascii_case(b"ITEMS") => {
                    if items.is_empty() {
                        return Err(wrong_arity);
                    }
                    return Ok(Self::Insert { creation, absent, items, repeats });
                }
                [option, behind @ ..] if option.eq_ignore_ascii_case(b"NOCREATE") => {
                    absent = Absent::Refused;
                    rest = behind;
                }
                [option, capacity, behind @ ..] if option.eq_ignore_ascii_case(b"CAPACITY") => {
                    creation = Creation::with_capacity(capacity)?;
                    rest = behind;
                }
                [] => return Err(wrong_arity),
                [option] if option.eq_ignore_ascii_case(b"CAPACITY") => return Err(wrong_arity),
                _ => return Err(CommandError::UnknownArgument),
            }
        }
    }
}
