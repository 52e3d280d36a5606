use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::compression::Refused;

/// Decodes consecutive Zstandard frames, at least one, and verifies their checksums.
///
/// The crate's own reader stops behind the first frame, and does not verify the checksum.
pub(super) struct ZstandardDecoder<R> {
    source: R,
    frame: FrameDecoder,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// If the input ends here, it was cut off.
    BeforeFirstFrame,
    BetweenFrames,
    InFrame,
}

/// What an error of the decoder says of data that may be whole, but are not decoded here, and what to do; `None` for other errors.
pub(super) fn refusal(error: &io::Error) -> Option<String> {
    match error.get_ref()?.downcast_ref()? {
        FrameDecoderError::WindowSizeTooBig { requested, max } => Some(format!(
            "zstd data with a window of {requested} bytes, where at most {max} are taken: decompress it first, as with zstd -dc --long=31"
        )),
        FrameDecoderError::DictNotProvided { .. } => {
            Some("zstd data with a dictionary: decompress it first, as with zstd -dc -D DICTIONARY".to_owned())
        }
        _ => None,
    }
}

impl<R: BufRead> ZstandardDecoder<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, frame: FrameDecoder::new(), state: State::BeforeFirstFrame }
    }

    fn begin_frame(&mut self) -> io::Result<()> {
        match self.frame.init(&mut self.source) {
            Ok(()) => self.state = State::InFrame,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let length = u64::from(length);
                if io::copy(&mut self.source.by_ref().take(length), &mut io::sink())? < length {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                self.state = State::BetweenFrames;
            }
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::BadMagicNumber(_))) => {
                return Err(self.no_frame());
            }
            Err(error) => return Err(io::Error::other(error)),
        }
        Ok(())
    }

    /// The error for bytes that begin no frame, where one might begin.
    fn no_frame(&self) -> io::Error {
        let text = match self.state {
            State::BeforeFirstFrame => "not zstd data: leave out --compression zstd",
            State::BetweenFrames | State::InFrame => "other bytes stand behind the zstd data",
        };
        Refused(text).into()
    }

    fn end_frame(&mut self) -> io::Result<()> {
        let (stored, calculated) = (self.frame.get_checksum_from_data(), self.frame.get_calculated_checksum());
        if stored.is_some() && stored != calculated {
            return Err(io::Error::other("the checksum does not match"));
        }
        self.state = State::BetweenFrames;
        Ok(())
    }
}

impl<R: BufRead> Read for ZstandardDecoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.state != State::InFrame {
                match self.source.fill_buf()?.first() {
                    None if self.state == State::BetweenFrames => return Ok(0),
                    // A frame, one that is skipped, or one that was cut off.
                    None | Some(b'\x28' | b'\x50'..=b'\x5f') => self.begin_frame()?,
                    Some(_) => return Err(self.no_frame()),
                }
            } else if self.frame.can_collect() > 0 {
                return self.frame.read(buffer);
            } else if self.frame.is_finished() {
                self.end_frame()?;
            } else {
                let one_block = BlockDecodingStrategy::UptoBlocks(1);
                self.frame.decode_blocks(&mut self.source, one_block).map_err(io::Error::other)?;
            }
        }
    }
}
