use super::creation::{number, time};
use super::{CommandName, Creation};
use crate::error::CommandError;
use crate::memory::Boxed;
use crate::secret::SecretKey;

/// What to do with items that are present already, or seem to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// Store them once more.
    Stored,
    /// Leave them out.
    LeftOut,
}

/// What an insertion does if there is no filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// It creates one.
    Created,
    /// It is refused with an error.
    Refused,
}

/// Whether a dump contains the secret key of its filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secret {
    /// The dump contains the key.
    Kept,
    /// The key must be given when the dump is loaded.
    LeftOut,
}

/// A command with the arguments behind its key. As in the server's documentation, what a filter stores are items.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    missing_docs,
    reason = "the fields are called as the arguments of the commands, which docs/redis.md describes"
)]
pub enum Command<'arguments> {
    /// CF.RESERVE
    Reserve { creation: Boxed<Creation> },
    /// CF.RESERVE with LIKE, whose other filter the server finds
    ReserveLike { other: &'arguments [u8] },
    /// CF.ADD, CF.ADDNX
    Add { item: &'arguments [u8], repeats: Repeats },
    /// CF.INSERT, CF.INSERTNX
    Insert {
        creation: Option<Boxed<Creation>>,
        absent: Absent,
        at: Option<u64>,
        items: &'arguments [&'arguments [u8]],
        repeats: Repeats,
    },
    /// CF.EXISTS
    Exists { item: &'arguments [u8] },
    /// CF.MEXISTS
    ExistEach { items: &'arguments [&'arguments [u8]] },
    /// CF.COUNT
    Count { item: &'arguments [u8] },
    /// CF.DEL
    Delete { item: &'arguments [u8], at: Option<u64> },
    /// CF.MDEL
    DeleteEach { items: &'arguments [&'arguments [u8]] },
    /// CF.INFO
    Info,
    /// CF.DEBUG
    Debug,
    /// CF.COMPACT
    Compact,
    /// CF.SCANDUMP
    ScanDump { position: u64, secret: Secret },
    /// CF.LOADCHUNK
    LoadChunk { position: u64, data: &'arguments [u8], key: Option<SecretKey> },
    /// CF.MERGE, whose sources the server finds
    Merge { sources: &'arguments [&'arguments [u8]] },
}

impl<'arguments> Command<'arguments> {
    /// Parses the arguments of a command behind its key.
    ///
    /// # Errors
    ///
    /// The first mistake in the arguments.
    #[inline(always)]
    pub fn parse(name: CommandName, arguments: &'arguments [&'arguments [u8]]) -> Result<Self, CommandError> {
        Ok(match (name, arguments) {
            (CommandName::Reserve, [like, other]) if like.eq_ignore_ascii_case(b"LIKE") => Self::ReserveLike { other },
            (CommandName::Reserve, [like, rest @ ..]) if like.eq_ignore_ascii_case(b"LIKE") => {
                return Err(match rest {
                    [] => CommandError::Arity { command: name.specification().name },
                    _ => CommandError::LikeAlone,
                });
            }
            (CommandName::Reserve, [capacity, options @ ..]) => {
                Self::Reserve { creation: Boxed::new(Creation::of_reserve(capacity, options)?)? }
            }
            (CommandName::Add, [item]) => Self::Add { item, repeats: Repeats::Stored },
            (CommandName::AddNx, [item]) => Self::Add { item, repeats: Repeats::LeftOut },
            // Most insertions have no options.
            (CommandName::Insert, [b"ITEMS", items @ ..]) if !items.is_empty() => {
                Self::insertion_without_options(items, Repeats::Stored)
            }
            (CommandName::InsertNx, [b"ITEMS", items @ ..]) if !items.is_empty() => {
                Self::insertion_without_options(items, Repeats::LeftOut)
            }
            (CommandName::Insert, [_, ..]) => Self::parse_insertion(name, arguments, Repeats::Stored)?,
            (CommandName::InsertNx, [_, ..]) => Self::parse_insertion(name, arguments, Repeats::LeftOut)?,
            (CommandName::Exists, [item]) => Self::Exists { item },
            (CommandName::MExists, [_, ..]) => Self::ExistEach { items: arguments },
            (CommandName::Count, [item]) => Self::Count { item },
            (CommandName::Del, [item]) => Self::Delete { item, at: None },
            (CommandName::Del, [item, option, at]) if option.eq_ignore_ascii_case(b"AT") => {
                Self::Delete { item, at: Some(time(at)?) }
            }
            (CommandName::MDel, [_, ..]) => Self::DeleteEach { items: arguments },
            (CommandName::Info, []) => Self::Info,
            (CommandName::Debug, []) => Self::Debug,
            (CommandName::Compact, []) => Self::Compact,
            (CommandName::ScanDump, [position]) => Self::parse_dump(position, Secret::Kept)?,
            (CommandName::ScanDump, [position, option]) if option.eq_ignore_ascii_case(b"NOKEY") => {
                Self::parse_dump(position, Secret::LeftOut)?
            }
            (CommandName::LoadChunk, [position, data]) => Self::parse_chunk(position, data, None)?,
            (CommandName::LoadChunk, [position, data, option, key]) if option.eq_ignore_ascii_case(b"KEY") => {
                Self::parse_chunk(position, data, Some(SecretKey::parse(key).ok_or(CommandError::BadKey)?))?
            }
            (CommandName::ScanDump, [_, _])
            | (CommandName::LoadChunk, [_, _, _, _])
            | (CommandName::Del, [_, _, _]) => {
                return Err(CommandError::UnknownArgument);
            }
            (CommandName::Merge, [_, ..]) => Self::Merge { sources: arguments },
            _ => return Err(CommandError::Arity { command: name.specification().name }),
        })
    }

    /// The time that the command is given, in milliseconds.
    #[inline(always)]
    pub(crate) fn at(&self) -> Option<u64> {
        match self {
            Self::Reserve { creation } => creation.at,
            Self::Insert { at, .. } | Self::Delete { at, .. } => *at,
            _ => None,
        }
    }

    fn parse_dump(position: &[u8], secret: Secret) -> Result<Self, CommandError> {
        Ok(Self::ScanDump { position: number(position).ok_or(CommandError::InvalidPosition)?, secret })
    }

    fn parse_chunk(position: &[u8], data: &'arguments [u8], key: Option<SecretKey>) -> Result<Self, CommandError> {
        let position = number(position).filter(|&position| position > 0).ok_or(CommandError::InvalidPosition)?;
        // Only the header, which is the first chunk, says how items are hashed.
        if key.is_some() && position != 1 {
            Err(CommandError::KeyNotTaken)
        } else {
            Ok(Self::LoadChunk { position, data, key })
        }
    }

    const fn insertion_without_options(items: &'arguments [&'arguments [u8]], repeats: Repeats) -> Self {
        Self::Insert { creation: None, absent: Absent::Created, at: None, items, repeats }
    }

    fn parse_insertion(
        name: CommandName,
        arguments: &'arguments [&'arguments [u8]],
        repeats: Repeats,
    ) -> Result<Self, CommandError> {
        let wrong_arity = CommandError::Arity { command: name.specification().name };
        // Allocated only where there are options, which few commands have.
        let (mut creation, mut absent, mut given_at) = (None::<Boxed<Creation>>, Absent::Created, None);
        let mut rest = arguments;
        loop {
            match rest {
                [option, items @ ..] if option.eq_ignore_ascii_case(b"ITEMS") => {
                    // Without items, the time alone moves on: so are replicas told of it.
                    if items.is_empty() && given_at.is_none() {
                        return Err(wrong_arity);
                    }
                    return Ok(Self::Insert { creation, absent, at: given_at, items, repeats });
                }
                [option, behind @ ..] if option.eq_ignore_ascii_case(b"NOCREATE") => {
                    absent = Absent::Refused;
                    rest = behind;
                }
                [option, value, behind @ ..] if option.eq_ignore_ascii_case(b"AT") => {
                    given_at = Some(time(value)?);
                    rest = behind;
                }
                [option, value, behind @ ..] => {
                    let mut changed = match creation {
                        Some(creation) => creation,
                        None => Boxed::new(Creation::default())?,
                    };
                    changed.set_for_insertion(option, value)?;
                    creation = Some(changed);
                    rest = behind;
                }
                [option]
                    if !["CAPACITY", "HASH", "AT"]
                        .iter()
                        .any(|known| option.eq_ignore_ascii_case(known.as_bytes())) =>
                {
                    return Err(CommandError::UnknownArgument);
                }
                [] | [_] => return Err(wrong_arity),
            }
        }
    }
}
