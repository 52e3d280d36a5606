use std::error::Error;
use std::fmt;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::path::Path;

use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::foreign::Foreign;
use super::zstandard::{ZstandardDecoder, refusal};

/// How much of a compressed input is read at a time.
const BUFFER_SIZE: usize = 1 << 18;

/// How an input is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstandard,
}

/// A decompressed input.
pub(crate) struct Opened<'source> {
    /// The text behind the byte order mark, if there is one.
    pub(crate) source: Box<dyn Read + 'source>,
    /// Whether it starts with the byte order mark of UTF-8.
    pub(crate) has_mark: bool,
}

/// Opens an input with the given compression, or else that of its first bytes. A file that is called .gz or .zst and does not start
/// as such files do is never read as keys: its start may be damaged or missing.
///
/// Formats that are known not to be lists of keys are errors, unless the compression is given as none: then the bytes are the
/// keys, whatever they are.
pub(crate) fn open<'source>(
    source: impl Read + 'source,
    path: Option<&Path>,
    compression: Option<Compression>,
) -> io::Result<Opened<'source>> {
    let refuses = compression != Some(Compression::None);
    if let Some(compression) = compression {
        return begin_text(compression.decoder(source), refuses);
    }
    let (start, bytes, source) = begin(source)?;
    let compression = match (start, Compression::named(path)) {
        (Start::Compressed(compression), _) => compression,
        (Start::Foreign(foreign), _) => return Err(foreign.error()),
        // It ends within what would tell, and its decoder says so.
        (_, named) if recognise(&bytes).is_none() => named,
        (_, Compression::None) => Compression::None,
        (_, named) => return Err(named.missing()),
    };
    let source = io::Cursor::new(bytes).chain(source);
    match compression {
        Compression::None => begin_text(source, refuses),
        _ => begin_text(compression.decoder(source), refuses),
    }
}

fn begin_text<'source>(source: impl Read + 'source, refuses: bool) -> io::Result<Opened<'source>> {
    let (start, mut bytes, source) = begin(source)?;
    match start {
        Start::Foreign(foreign) if refuses => return Err(foreign.error()),
        Start::Compressed(inner) if refuses => return Err(inner.twice()),
        Start::Mark => bytes.clear(),
        Start::Foreign(_) | Start::Compressed(_) | Start::Text => {}
    }
    Ok(Opened { source: Box::new(io::Cursor::new(bytes).chain(source)), has_mark: start == Start::Mark })
}

impl Compression {
    /// Compresses bytes and writes them.
    pub(crate) fn compress(self, bytes: &[u8], mut target: impl Write) -> io::Result<()> {
        match self {
            Self::None => target.write_all(bytes),
            Self::Gzip => {
                let mut encoder = GzEncoder::new(target, flate2::Compression::default());
                encoder.write_all(bytes)?;
                encoder.finish()?.flush()
            }
            // Into memory first: this encoder panics if its target fails.
            Self::Zstandard => target.write_all(&compress_to_vec(bytes, CompressionLevel::Fastest)),
        }
    }

    /// Decompresses a filter file, by its first bytes. Also returns how it was compressed.
    pub(crate) fn of_filter<'file>(file: impl Read + 'file) -> io::Result<(Self, Box<dyn Read + 'file>)> {
        let (start, bytes, file) = begin(file)?;
        let compression = if let Start::Compressed(compression) = start { compression } else { Self::None };
        Ok((compression, compression.decoder(io::Cursor::new(bytes).chain(file))))
    }
}

/// The format of an input, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    Compressed(Compression),
    /// A format that is refused.
    Foreign(Foreign),
    /// The byte order mark of UTF-8.
    Mark,
    Text,
}

/// Reads as many bytes as are needed to recognise the format.
fn begin<R: Read>(mut source: R) -> io::Result<(Start, Vec<u8>, R)> {
    let mut bytes = Vec::new();
    loop {
        match recognise(&bytes) {
            Some(Start::Foreign(Foreign::Utf16)) if bytes == b"\xff\xfe" => {
                source.by_ref().take(2).read_to_end(&mut bytes)?;
                let foreign = if bytes == b"\xff\xfe\0\0" { Foreign::Utf32 } else { Foreign::Utf16 };
                return Ok((Start::Foreign(foreign), bytes, source));
            }
            Some(start) => return Ok((start, bytes, source)),
            // One byte at a time, so that somebody who types keys need not enter four bytes first.
            None => {
                if source.by_ref().take(1).read_to_end(&mut bytes)? == 0 {
                    return Ok((Start::Text, bytes, source));
                }
            }
        }
    }
}

/// The format of an input with this start; `None` if more bytes are needed.
fn recognise(start: &[u8]) -> Option<Start> {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    const GZIP: &[u8] = b"\x1f\x8b\x08";
    const ZSTANDARD: &[u8] = b"\x28\xb5\x2f\xfd";
    /// The start of a skippable Zstandard frame: the first byte is one of 16.
    const SKIPPED: &[u8] = b"\x50\x2a\x4d\x18";

    let mut like_skipped = start.to_vec();
    if let Some(first @ 0x50..=0x5f) = like_skipped.first_mut() {
        *first = SKIPPED[0];
    }
    let known = [
        (start, MARK, Start::Mark),
        (start, GZIP, Start::Compressed(Compression::Gzip)),
        (start, ZSTANDARD, Start::Compressed(Compression::Zstandard)),
        (&like_skipped, SKIPPED, Start::Compressed(Compression::Zstandard)),
    ];
    let foreign = Foreign::ALL.iter().map(|&(magic, foreign)| (start, magic, Start::Foreign(foreign)));
    let mut is_decided = true;
    for (start, magic, meaning) in known.into_iter().chain(foreign) {
        if start.starts_with(magic) {
            return Some(meaning);
        }
        is_decided &= !magic.starts_with(start);
    }
    is_decided.then_some(Start::Text)
}

impl Compression {
    /// The compression that the name of a file says.
    pub(crate) fn named(path: Option<&Path>) -> Self {
        match path.and_then(Path::extension) {
            Some(extension) if extension.eq_ignore_ascii_case("gz") => Self::Gzip,
            Some(extension) if extension.eq_ignore_ascii_case("zst") => Self::Zstandard,
            _ => Self::None,
        }
    }

    /// What it is called, and how the names of its files end.
    fn names(self) -> (&'static str, &'static str) {
        if self == Self::Gzip { ("gzip", ".gz") } else { ("zstd", ".zst") }
    }

    /// What is wrong with an input in which decompressed data are compressed so once more: they would be read as a few long keys.
    fn twice(self) -> io::Error {
        let (name, _) = self.names();
        io::Error::other(format!(
            "compressed twice, and {name} data where it is decompressed once: decompress it first, as with {name} -dc"
        ))
    }

    /// What is wrong with a file that has the name of compressed ones, and not their first bytes.
    fn missing(self) -> io::Error {
        let (name, extension) = self.names();
        io::Error::other(format!(
            "called {extension}, but does not start as {name} data does: get it again if it is damaged; if it is not compressed, \
             rename it, or give --compression none"
        ))
    }

    /// Decompresses an input. Errors are written for a person.
    pub(crate) fn decoder<'source>(self, source: impl Read + 'source) -> Box<dyn Read + 'source> {
        let buffered = |source| BufReader::with_capacity(BUFFER_SIZE, source);
        match self {
            Self::None => Box::new(source),
            Self::Gzip => Box::new(Explained { decoder: GzipDecoder::new(buffered(source)), name: "gzip" }),
            Self::Zstandard => Box::new(Explained { decoder: ZstandardDecoder::new(buffered(source)), name: "zstd" }),
        }
    }
}

/// Decodes consecutive gzip members, at least one.
///
/// The crate's own reader of several takes whatever is behind a member for another one.
struct GzipDecoder<R> {
    /// The source outside of members, and in them their decoder.
    source: Option<R>,
    member: Option<GzDecoder<R>>,
    has_begun: bool,
}

impl<R: BufRead> GzipDecoder<R> {
    const fn new(source: R) -> Self {
        Self { source: Some(source), member: None, has_begun: false }
    }
}

impl<R: BufRead> Read for GzipDecoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(member) = &mut self.member {
                let size = member.read(buffer)?;
                if size > 0 || buffer.is_empty() {
                    return Ok(size);
                }
                self.source = self.member.take().map(GzDecoder::into_inner);
            }
            let Some(source) = &mut self.source else { return Ok(0) };
            match (source.fill_buf()?, self.has_begun) {
                ([0x1f] | [0x1f, 0x8b, ..], _) => {}
                ([], true) => return Ok(0),
                // An empty file was cut off.
                ([], false) => return Err(ErrorKind::UnexpectedEof.into()),
                (_, true) => return Err(Refused("other bytes stand behind the gzip data").into()),
                (_, false) => return Err(Refused("not gzip data: leave out --compression gzip").into()),
            }
            self.has_begun = true;
            self.member = self.source.take().map(GzDecoder::new);
        }
    }
}

/// Why bytes are no compressed data.
#[derive(Debug)]
pub(super) struct Refused(pub(super) &'static str);

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }
}

impl Error for Refused {}

impl From<Refused> for io::Error {
    fn from(refused: Refused) -> Self {
        Self::other(refused)
    }
}

/// A decoder with errors that are written for a person.
struct Explained<R> {
    decoder: R,
    name: &'static str,
}

impl<R: Read> Read for Explained<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(buffer).map_err(|error| {
            // System errors, such as those of a broken disk, have nothing to do with the compression.
            let is_refused = error.get_ref().is_some_and(|error| error.is::<Refused>());
            if is_refused || error.raw_os_error().is_some() || error.kind() == ErrorKind::Interrupted {
                return error;
            }
            if let Some(refusal) = refusal(&error) {
                return io::Error::other(refusal);
            }
            io::Error::other(DecodingError { name: self.name, is_cut_off: is_cut_off(&error), error })
        })
    }
}

/// Returns `true` if an error was caused by the end of the input.
fn is_cut_off(error: &io::Error) -> bool {
    let mut error: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(reason) = error {
        if let Some(reason) = reason.downcast_ref::<io::Error>() {
            if reason.kind() == ErrorKind::UnexpectedEof {
                return true;
            }
            // `source` of an `io::Error` skips the inner error and returns the inner error's source.
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
        let mut decoded = Vec::new();
        let result =
            open(bytes, Some(Path::new(name)), None).and_then(|mut text| text.source.read_to_end(&mut decoded));
        result.map(|_| decoded).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_compressed_twice_is_refused() {
        for inner in [gzip(b"ani\n"), zstandard(b"ani\n")] {
            for outer in [gzip(&inner), zstandard(&inner)] {
                let error = decoded(&outer, "keys.gz").expect_err("no list of keys");
                assert!(error.contains("compressed twice"), "{error}");
                let mut once = Vec::new();
                let opened = open(&*inner, None, Some(Compression::None));
                opened.expect("no error").source.read_to_end(&mut once).expect("memory");
                assert_eq!(once, inner);
            }
        }
    }

    /// Lines so many and so different that they take several blocks.
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

    /// Headers of frames that `zstd --long=31` and `zstd -D` write: with a window of 2^31 bytes, and with the number of a dictionary.
    #[test]
    fn zstandard_data_that_are_whole_but_not_taken_are_refused_with_what_to_do() {
        for (frame, remedy) in [
            (&b"\x28\xb5\x2f\xfd\x04\xa8\x01\x00\x00"[..], "zstd -dc --long=31"),
            (b"\x28\xb5\x2f\xfd\x27\x57\x6b\x5d\x4c\x04\x21\x00\x00ani\n", "zstd -dc -D DICTIONARY"),
        ] {
            let error = decoded(frame, "keys").expect_err("it is refused");
            assert!(error.ends_with(remedy) && !error.contains("damaged"), "{error}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_skipped_once_and_said() {
        for (bytes, text, has_mark) in [
            (&b"\xef\xbb\xbfani\n"[..], &b"ani\n"[..], true),
            (b"\xef\xbb\xbf\xef\xbb\xbf", b"\xef\xbb\xbf", true),
            (b"\xef\xbb", b"\xef\xbb", false),
            (b"a\xef\xbb\xbf", b"a\xef\xbb\xbf", false),
        ] {
            for (bytes, compression) in
                [(bytes.to_vec(), Some(Compression::None)), (bytes.to_vec(), None), (gzip(bytes), None)]
            {
                let mut opened = open(&*bytes, None, compression).expect("memory");
                let mut decoded = Vec::new();
                opened.source.read_to_end(&mut decoded).expect("memory");
                assert_eq!((&*decoded, opened.has_mark), (text, has_mark));
            }
        }
    }

    #[test]
    fn what_is_no_list_of_keys_is_refused_by_name_compressed_or_not() {
        for (magic, foreign) in Foreign::ALL {
            let bytes = [magic, b"rest\n"].concat();
            let expected = Err(foreign.error().to_string());
            assert_eq!(decoded(&bytes, "keys"), expected);
            assert_eq!(decoded(&gzip(&bytes), "keys"), expected);
            for size in 0..magic.len() {
                assert_eq!(decoded(&magic[..size], "keys").as_deref(), Ok(&magic[..size]), "{magic:?}");
            }
            let mut raw = Vec::new();
            let opened = open(&*bytes, None, Some(Compression::None));
            opened.expect("no error").source.read_to_end(&mut raw).expect("memory");
            assert_eq!(raw, bytes);
        }
    }

    #[test]
    fn utf_16_and_utf_32_are_told_apart() {
        for (text, name) in [
            (&b"\xff\xfe"[..], "UTF-16"),
            (b"\xff\xfea\0", "UTF-16"),
            (b"\xfe\xff\0a", "UTF-16"),
            (b"\xff\xfe\0\0a\0\0\0", "UTF-32"),
            (b"\0\0\xfe\xff\0\0\0a", "UTF-32"),
        ] {
            let refused = decoded(text, "keys").expect_err("no list of keys");
            assert!(refused.starts_with(name) && refused.contains(&format!("iconv -f {name} ")), "{refused}");
        }
    }

    #[test]
    fn what_only_has_the_name_is_refused() {
        for (name, start) in [
            ("keys.gz", "called .gz, but does not start as gzip data does: "),
            ("keys.ZST", "called .zst, but does not start as zstd data does: "),
        ] {
            for text in [&b"ani\nguira\nkoel\n"[..], b"\xef\xbb\xbfani\n"] {
                let refused = decoded(text, name).expect_err("not compressed");
                assert!(refused.starts_with(start), "{refused}");
            }
        }
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
                // Cut off behind a whole part.
                let second = [&compressed, &compressed[..size]].concat();
                assert_eq!(decoded(&second, ""), expected, "{size} of {} bytes behind others", compressed.len());
            }
        }
        let skipped = decoded(b"\x50\x2a\x4d\x18\x09\0\0\0abc", "");
        assert_eq!(skipped, Err("cut off: the zstd data ends too early".to_owned()));
    }

    #[test]
    fn other_bytes_are_told_from_data_that_was_cut_off() {
        for (compressed, name, compression) in
            [(gzip(b"ani\n"), "gzip", Compression::Gzip), (zstandard(b"ani\n"), "zstd", Compression::Zstandard)]
        {
            for other in [&b"x"[..], b"garbage\n", b"\0\0\0\0", b"more text behind it than any header takes\n"] {
                let behind = decoded(&[&compressed, other].concat(), "");
                assert_eq!(behind, Err(format!("other bytes stand behind the {name} data")), "{other:?}");
                let mut opened = open(other, None, Some(compression)).map(|_| ());
                assert_eq!(
                    opened.as_mut().map_err(|error| error.to_string()),
                    Err(format!("not {name} data: leave out --compression {name}"))
                );
            }
        }
        let gzip_as_zstandard = open(&*gzip(b"ani\n"), None, Some(Compression::Zstandard)).map(|_| ());
        assert!(gzip_as_zstandard.is_err_and(|error| error.to_string().starts_with("not zstd data")));
        assert_eq!(
            decoded(&[zstandard(b""), b"(xyz".to_vec()].concat(), "").err().as_deref(),
            Some("other bytes stand behind the zstd data")
        );
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
