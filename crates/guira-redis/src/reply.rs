//! Typed replies, and the shapes that they have in both protocols.

use crate::cast::signed;

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
}

/// What a command answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The command was done; there is nothing else to say.
    Done,
    /// Yes or no.
    Flag(bool),
    /// Yes or no for each item.
    Flags(Vec<bool>),
    /// A number of copies.
    Count(u64),
    /// The outcome for each item of CF.INSERT, which never is [`Insertion::Present`].
    Insertions(Vec<Insertion>),
    /// The outcome for each item of CF.INSERTNX.
    UniqueInsertions(Vec<Insertion>),
    /// Names with numbers.
    Fields(Vec<(&'static str, u64)>),
    /// A chunk of a dump, and where the next one is.
    Chunk {
        /// Where the next chunk is.
        next: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// There are no more chunks.
    LastChunk,
    /// A line of text.
    Text(String),
}

/// A reply in the shape of the protocol. Booleans and maps are sent as such; the server converts them for RESP2.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// `+OK`
    Ok,
    /// `:1`
    Integer(i64),
    /// `#t`, or `:1`
    Boolean(bool),
    /// `$3`
    Bulk(Vec<u8>),
    /// `_`, or `$-1`
    Null,
    /// `*2`
    Array(Vec<Frame>),
    /// `%2`, or `*4`
    Map(Vec<(&'static str, Frame)>),
}

impl Reply {
    /// The shape of the reply.
    #[must_use]
    #[inline]
    pub fn frame(self, protocol: Protocol) -> Frame {
        match self {
            Self::Done => Frame::Ok,
            Self::Flag(flag) => Frame::Boolean(flag),
            Self::Flags(flags) => Frame::Array(flags.into_iter().map(Frame::Boolean).collect()),
            Self::Count(count) => Frame::Integer(signed(count)),
            Self::Insertions(insertions) => {
                let frame = |insertion| match protocol {
                    Protocol::Resp2 => Frame::Integer(number(insertion)),
                    Protocol::Resp3 => Frame::Boolean(insertion == Insertion::Stored),
                };
                Frame::Array(insertions.into_iter().map(frame).collect())
            }
            // Integers in both protocols: there are three outcomes, too many for a boolean.
            Self::UniqueInsertions(insertions) => {
                Frame::Array(insertions.into_iter().map(|insertion| Frame::Integer(number(insertion))).collect())
            }
            Self::Fields(fields) => {
                Frame::Map(fields.into_iter().map(|(name, value)| (name, Frame::Integer(signed(value)))).collect())
            }
            Self::Chunk { next, bytes } => Frame::Array(vec![Frame::Integer(signed(next)), Frame::Bulk(bytes)]),
            Self::LastChunk => Frame::Array(vec![Frame::Integer(0), Frame::Null]),
            Self::Text(text) => Frame::Bulk(text.into_bytes()),
        }
    }
}

const fn number(insertion: Insertion) -> i64 {
    match insertion {
        Insertion::Stored => 1,
        Insertion::Present => 0,
        Insertion::Refused => -1,
    }
}
