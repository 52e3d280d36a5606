//! Typed replies, and the shapes that they have in both protocols.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::cast::signed;
use crate::error::CommandError;

/// The protocol that a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// RESP2: integers for booleans, arrays for maps.
    Resp2,
    /// RESP3.
    Resp3,
}

/// The outcome for one item of CF.INSERT or CF.INSERTNX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insertion {
    /// The item was stored.
    Stored,
    /// The item is present already, or seems to be.
    Present,
    /// There is no room for the item.
    Refused,
    /// There is no memory for the item.
    WithoutMemory,
}

impl Insertion {
    /// The outcome for an item that was refused for this reason.
    pub(crate) const fn refused(error: &CommandError) -> Self {
        match error {
            CommandError::OutOfMemory | CommandError::MemoryLimit { .. } => Self::WithoutMemory,
            _ => Self::Refused,
        }
    }
}

/// One answer for each item. Those for a few items take no allocation.
pub type Answers<T> = SmallVec<[T; 16]>;

/// What a command answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply<'filter> {
    /// The command was done; there is nothing else to say.
    Done,
    /// Yes or no.
    Flag(bool),
    /// Yes or no for each item.
    Flags(Answers<bool>),
    /// A number of copies.
    Count(u64),
    /// The outcome for each item of CF.INSERT, which never is [`Insertion::Present`].
    Insertions(Answers<Insertion>),
    /// The outcome for each item of CF.INSERTNX.
    UniqueInsertions(Answers<Insertion>),
    /// Names with numbers.
    Fields(Vec<(&'static str, u64)>),
    /// A chunk of a dump, and where the next one is.
    Chunk {
        /// Where the next chunk is.
        next: u64,
        /// The bytes.
        bytes: Cow<'filter, [u8]>,
    },
    /// There are no more chunks.
    LastChunk,
    /// A line of text.
    Text(String),
    /// The item was not stored, for the reason that this error gives; but the time of its filter has moved on.
    Refused(CommandError),
}

/// Where the parts of a reply go, one after the other. Booleans and maps are sent as such; the server converts them for RESP2.
pub trait Frames {
    /// The protocol of the client.
    fn protocol(&self) -> Protocol;
    /// `+OK`
    fn ok(&mut self);
    /// `:1`
    fn integer(&mut self, number: i64);
    /// `#t`, or `:1`
    fn boolean(&mut self, flag: bool);
    /// `$3`
    fn bytes(&mut self, bytes: &[u8]);
    /// `+Size`: names are simple strings in RedisBloom's replies.
    fn name(&mut self, name: &str);
    /// `-ERR …`
    fn error(&mut self, error: &CommandError);
    /// `_`, or `$-1`
    fn null(&mut self);
    /// `*2`: as many frames follow.
    fn array(&mut self, length: usize);
    /// `%2`, or `*4`: as many pairs of frames follow.
    fn map(&mut self, length: usize);
}

impl Reply<'_> {
    /// Sends the reply in its shape.
    pub fn send(&self, to: &mut impl Frames) {
        match self {
            Self::Done => to.ok(),
            Self::Flag(flag) => to.boolean(*flag),
            Self::Flags(flags) => {
                to.array(flags.len());
                flags.iter().for_each(|&flag| to.boolean(flag));
            }
            Self::Count(count) => to.integer(signed(*count)),
            Self::Insertions(insertions) => {
                to.array(insertions.len());
                for &insertion in insertions {
                    match insertion {
                        // Asking for the protocol takes time, and only here is the number not that of a boolean.
                        Insertion::Refused | Insertion::WithoutMemory if to.protocol() == Protocol::Resp2 => {
                            to.integer(number(insertion));
                        }
                        insertion => to.boolean(insertion == Insertion::Stored),
                    }
                }
            }
            // Integers in both protocols: there are three outcomes, too many for a boolean.
            Self::UniqueInsertions(insertions) => {
                to.array(insertions.len());
                insertions.iter().for_each(|&insertion| to.integer(number(insertion)));
            }
            Self::Fields(fields) => {
                to.map(fields.len());
                for &(name, value) in fields {
                    to.name(name);
                    to.integer(signed(value));
                }
            }
            Self::Chunk { next, bytes } => {
                to.array(2);
                to.integer(signed(*next));
                to.bytes(bytes);
            }
            Self::LastChunk => {
                to.array(2);
                to.integer(0);
                to.null();
            }
            Self::Refused(error) => to.error(error),
            Self::Text(text) => to.bytes(text.as_bytes()),
        }
    }
}

const fn number(insertion: Insertion) -> i64 {
    match insertion {
        Insertion::Stored => 1,
        Insertion::Present => 0,
        Insertion::Refused | Insertion::WithoutMemory => -1,
    }
}
