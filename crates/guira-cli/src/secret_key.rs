use std::fs::File;
#[cfg(feature = "redis")]
use std::io;
use std::io::Read;
use std::path::Path;

use guira::KeyHasher;

use crate::failure::Failure;

const SIZE: usize = 16;

/// The secret key of a hash. It has no `Debug`, so that no message shows it.
#[derive(Clone, Copy)]
pub(crate) struct SecretKey([u8; SIZE]);

impl SecretKey {
    /// Reads the key from a file: its 16 bytes, or 32 hexadecimal digits and perhaps a line end.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        // Enough to see that the file is too long.
        const MOST: u64 = 64;
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(MOST).read_to_end(&mut bytes));
        read.map_err(|error| Failure::of_io(path.display().to_string(), &error))?;
        Self::parse(&bytes).ok_or_else(|| {
            Failure::of_file(path, "not a secret key: that is 16 bytes, or 32 hexadecimal digits on a line")
        })
    }

    /// Reads the key if there is a path.
    pub(crate) fn read_if_given(path: Option<&Path>) -> Result<Option<Self>, Failure> {
        path.map(Self::read).transpose()
    }

    #[cfg(feature = "redis")]
    pub(crate) const fn new(bytes: [u8; SIZE]) -> Self {
        Self(bytes)
    }

    /// Writes the key to a file of its own, as a line of digits. A file that contains this key already is left alone.
    #[cfg(feature = "redis")]
    pub(crate) fn save(self, path: &Path) -> Result<(), Failure> {
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        let written = options.open(path).and_then(|mut file| {
            io::Write::write_all(&mut file, format!("{digits}\n").as_bytes())?;
            file.sync_all()
        });
        match written {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match Self::read(path) {
                Ok(key) if key.0 == self.0 => Ok(()),
                _ => Err(Failure::of_file(
                    path,
                    "there is such a file already, and it has not this secret key: give another",
                )),
            },
            written => written.map_err(|error| Failure::of_io(path.display().to_string(), &error)),
        }
    }

    pub(crate) const fn bytes(self) -> [u8; SIZE] {
        self.0
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        if let Ok(key) = bytes.try_into() {
            return Some(Self(key));
        }
        let digits = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let digits = digits.strip_suffix(b"\r").unwrap_or(digits);
        let mut key = [0; SIZE];
        let (pairs, rest) = digits.as_chunks::<2>();
        if pairs.len() != SIZE || !rest.is_empty() {
            return None;
        }
        for (byte, &[high, low]) in key.iter_mut().zip(pairs) {
            *byte = digit(high)? << 4 | digit(low)?;
        }
        Some(Self(key))
    }
}

/// The hash with this secret key, or without one with this seed.
pub(crate) fn hasher(key: Option<SecretKey>, seed: u64) -> KeyHasher {
    key.map_or(KeyHasher::xxh3(seed), |key| KeyHasher::sip_hash_13(key.bytes()))
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(bytes: &[u8]) -> Option<[u8; SIZE]> {
        SecretKey::parse(bytes).map(SecretKey::bytes)
    }

    #[test]
    fn sixteen_bytes_are_the_key_whatever_they_are() {
        assert_eq!(parsed(b"0123456789abcdef"), Some(*b"0123456789abcdef"));
        assert_eq!(parsed(&[0xff; 16]), Some([0xff; 16]));
        assert_eq!(parsed(b"\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"), Some([b'\n'; 16]));
    }

    #[test]
    fn digits_are_the_key_with_a_line_end_or_without() {
        let expected = Some([0x00, 0x01, 0x7f, 0x80, 0xab, 0xcd, 0xef, 0xff, 0, 0, 0, 0, 0, 0, 0, 0x10]);
        for end in ["", "\n", "\r\n"] {
            for digits in ["00017f80abcdefff0000000000000010", "00017F80ABCDEFFF0000000000000010"] {
                assert_eq!(parsed(format!("{digits}{end}").as_bytes()), expected);
            }
        }
    }

    #[test]
    fn nothing_else_is_a_key() {
        let digits = "00017f80abcdefff0000000000000010";
        for refused in ["", "\n", "0123456789abcde", "0123456789abcdef\n", &digits[1..], &digits.replace('f', "g")] {
            assert_eq!(parsed(refused.as_bytes()), None, "{refused}");
        }
        for refused in [format!("{digits}\n\n"), format!(" {digits}"), format!("{digits}0"), format!("{digits}00")] {
            assert_eq!(parsed(refused.as_bytes()), None, "{refused}");
        }
        assert_eq!(parsed(&[0xff; 32]), None);
    }
}
