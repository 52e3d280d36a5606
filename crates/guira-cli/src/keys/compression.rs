use std::error::Error;
use std::fmt;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::zstandard::ZstandardDecoder;

/// How much of a compressed input is read at a time.
const BUFFER_SIZE: usize = 1 << 18;

/// How an input is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstandard,
}

/// What the first bytes of an input tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recognition {
    Certain(Compression),
    /// More bytes are needed.
    Undecided,
}

impl Compression {
    /// How the input is compressed by its first bytes, or else by the name of its file: of what is called gzip, nothing
    /// is taken for keys because its start is damaged or missing. Gives the input back, from its first byte.
    pub(crate) fn detect<R: Read>(mut source: R, path: Option<&Path>) -> io::Result<(Self, impl Read + use<R>)> {
        let mut start = Vec::new();
        let compression = loop {
            if let Recognition::Certain(compression) = recognise(&start) {
                break compression;
            }
            // One byte after the other: who types keys by hand is not kept waiting for a fourth.
            if source.by_ref().take(1).read_to_end(&mut start)? == 0 {
                break Self::None;
            }
        };
        let compression = if compression == Self::None { Self::named(path) } else { compression };
        Ok((compression, io::Cursor::new(start).chain(source)))
    }

    fn named(path: Option<&Path>) -> Self {
        match path.and_then(Path::extension) {
            Some(extension) if extension.eq_ignore_ascii_case("gz") => Self::Gzip,
            Some(extension) if extension.eq_ignore_ascii_case("zst") => Self::Zstandard,
            _ => Self::None,
        }
    }

    /// The input as it was before it was compressed. Errors say what is wrong with it.
    pub(crate) fn decoder<'source>(self, source: impl Read + 'source) -> Box<dyn Read + 'source> {
        let buffered = |source| BufReader::with_capacity(BUFFER_SIZE, source);
        match self {
            Self::None => Box::new(source),
            Self::Gzip => Box::new(Explained { decoder: GzipDecoder::new(buffered(source)), name: "gzip" }),
            Self::Zstandard => Box::new(Explained { decoder: ZstandardDecoder::new(buffered(source)), name: "zstd" }),
        }
    }
}

fn recognise(start: &[u8]) -> Recognition {
    match start {
        [0x1f, 0x8b, 0x08, ..] => Recognition::Certain(Compression::Gzip),
        // A frame, and one of those that are to be skipped.
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
            Recognition::Certain(Compression::Zstandard)
        }
        [] | [0x1f] | [0x1f, 0x8b] | [0x28] | [0x28, 0xb5] | [0x28, 0xb5, 0x2f] => Recognition::Undecided,
        [0x50..=0x5f] | [0x50..=0x5f, 0x2a] | [0x50..=0x5f, 0x2a, 0x4d] => Recognition::Undecided,
        _ => Recognition::Certain(Compression::None),
    }
}

/// Members of gzip one after the other, at least one.
struct GzipDecoder<R> {
    decoder: MultiGzDecoder<R>,
    /// Without this check an empty file would be taken for no members, and it is one that was cut off.
    has_begun: bool,
}

impl<R: BufRead> GzipDecoder<R> {
    fn new(source: R) -> Self {
        Self { decoder: MultiGzDecoder::new(source), has_begun: false }
    }
}

impl<R: BufRead> Read for GzipDecoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.has_begun {
            if self.decoder.get_mut().fill_buf()?.is_empty() {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            self.has_begun = true;
        }
        self.decoder.read(buffer)
    }
}

/// A decoder whose errors are written for a person.
struct Explained<R> {
    decoder: R,
    name: &'static str,
}

impl<R: Read> Read for Explained<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(buffer).map_err(|error| {
            // What the system says, as of a file on a broken disk, has nothing to do with the compression.
            if error.raw_os_error().is_some() || error.kind() == ErrorKind::Interrupted {
                return error;
            }
            io::Error::other(DecodingError { name: self.name, is_cut_off: is_cut_off(&error), error })
        })
    }
}

/// Whether somewhere behind an error is that the input ended.
fn is_cut_off(error: &io::Error) -> bool {
    let mut error: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(reason) = error {
        if let Some(reason) = reason.downcast_ref::<io::Error>() {
            if reason.kind() == ErrorKind::UnexpectedEof {
                return true;
            }
            // The source of an error in another one is not that one, but what is behind it.
            error = reason.get_ref().map(|inner| inner as &(dyn Error + 'static));
        } else {
            error = reason.source();
        }
    }
    false
}

#[derive(Debug)]
struct DecodingError {
    name: &'static str,
    is_cut_off: bool,
    error: io::Error,
}

impl fmt::Display for DecodingError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, is_cut_off, error } = self;
        if *is_cut_off {
            write!(formatter, "cut off: the {name} data ends too early")
        } else {
            write!(formatter, "damaged {name} data: {error}")
        }
    }
}

impl Error for DecodingError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).expect("memory");
        encoder.finish().expect("memory")
    }

    fn zstandard(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    }

    fn decoded(bytes: &[u8], name: &str) -> Result<Vec<u8>, String> {
        let (compression, source) = Compression::detect(bytes, Some(Path::new(name))).expect("memory");
        let mut decoded = Vec::new();
        let result = compression.decoder(source).read_to_end(&mut decoded);
        result.map(|_| decoded).map_err(|error| error.to_string())
    }

    /// So many and so different that there are several blocks.
    fn lines() -> Vec<u8> {
        (0..60_000u64)
            .map(|number| format!("{}\n", number.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            .collect::<String>()
            .into()
    }

    #[test]
    fn compression_is_seen_in_the_bytes_whatever_the_name() {
        for name in ["keys", "keys.gz", "keys.zst"] {
            assert_eq!(decoded(&gzip(b"ani\n"), name).as_deref(), Ok(&b"ani\n"[..]));
            assert_eq!(decoded(&zstandard(b"ani\n"), name).as_deref(), Ok(&b"ani\n"[..]));
        }
    }

    #[test]
    fn text_that_starts_like_a_magic_number_is_text() {
        for text in [
            &b""[..],
            b"P",
            b"P*",
            b"PM\x18\n",
            b"P*M\n",
            b"(",
            b"(\xb5",
            b"(\xb5/",
            b"\x1f",
            b"\x1f\x8b",
            b"\x1f\x8b\n",
        ] {
            assert_eq!(decoded(text, "keys").as_deref(), Ok(text));
        }
    }

    #[test]
    fn what_only_has_the_name_is_refused() {
        assert_eq!(
            decoded(b"ani\nguira\nkoel\n", "keys.gz").err().as_deref(),
            Some("damaged gzip data: invalid gzip header")
        );
        let refused = decoded(b"ani\nguira\nkoel\n", "keys.ZST").expect_err("text");
        assert!(refused.starts_with("damaged zstd data: "), "{refused}");
        for (name, expected) in [("keys.gz", "gzip"), ("keys.zst", "zstd")] {
            let expected = format!("cut off: the {expected} data ends too early");
            assert_eq!(decoded(b"", name), Err(expected));
        }
    }

    #[test]
    fn parts_that_were_compressed_one_by_one_are_one_input() {
        assert_eq!(
            decoded(&[gzip(b"ani\ngu"), gzip(b""), gzip(b"ira\n")].concat(), "").as_deref(),
            Ok(&b"ani\nguira\n"[..])
        );
        let skipped = b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec();
        let frames =
            [zstandard(b"ani\ngu"), skipped.clone(), zstandard(b""), zstandard(b"ira\n"), skipped.clone()].concat();
        assert_eq!(decoded(&frames, "").as_deref(), Ok(&b"ani\nguira\n"[..]));
        assert_eq!(decoded(&[skipped, zstandard(b"ani")].concat(), "").as_deref(), Ok(&b"ani"[..]));
    }

    #[test]
    fn wherever_it_is_cut_off_is_said() {
        let short = b"ani\nguira\nkoel\n";
        for (compressed, name) in [(gzip(short), "gzip"), (zstandard(short), "zstd")] {
            for size in 4..compressed.len() {
                let expected = Err(format!("cut off: the {name} data ends too early"));
                assert_eq!(decoded(&compressed[..size], ""), expected, "{size} of {} bytes", compressed.len());
                // The same behind a whole part.
                let second = [&compressed, &compressed[..size]].concat();
                assert_eq!(decoded(&second, ""), expected, "{size} of {} bytes behind others", compressed.len());
            }
        }
        let skipped = decoded(b"\x50\x2a\x4d\x18\x09\0\0\0abc", "");
        assert_eq!(skipped, Err("cut off: the zstd data ends too early".to_owned()));
    }

    #[test]
    fn a_changed_bit_is_noticed() {
        let lines = lines();
        for compressed in [gzip(&lines), zstandard(&lines)] {
            assert!(decoded(&compressed, "").as_deref() == Ok(&lines));
            for at in [compressed.len() / 3, compressed.len() / 2, compressed.len() - 3, compressed.len() - 1] {
                let mut damaged = compressed.clone();
                damaged[at] ^= 0x10;
                assert!(decoded(&damaged, "").is_err(), "byte {at} of {}", compressed.len());
            }
        }
    }
}
