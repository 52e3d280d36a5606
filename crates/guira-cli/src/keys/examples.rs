use std::fmt;

use bstr::BStr;

/// How many keys are shown, and how much of each.
const MAX_SHOWN: usize = 3;
const MAX_BYTES_SHOWN: usize = 40;

/// Counts keys that a message is about, and keeps the first few to show.
#[derive(Debug, Default)]
pub(crate) struct Examples {
    count: u64,
    first: Vec<Example>,
}

#[derive(Debug)]
struct Example {
    start: Vec<u8>,
    is_cut: bool,
}

impl Examples {
    pub(crate) fn add(&mut self, key: &[u8]) {
        self.count += 1;
        if self.first.len() < MAX_SHOWN {
            let start = key[..key.len().min(MAX_BYTES_SHOWN)].to_vec();
            self.first.push(Example { is_cut: start.len() < key.len(), start });
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}

/// `"ani", "a key that is long"... and 7 more`
impl fmt::Display for Examples {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, example) in self.first.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            let cut = if example.is_cut { "..." } else { "" };
            write!(formatter, "{comma}{:?}{cut}", BStr::new(&example.start))?;
        }
        let more = self.count - self.first.len() as u64;
        if more > 0 {
            write!(formatter, " and {} more", indicatif::HumanCount(more))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples(keys: &[&[u8]]) -> String {
        let mut examples = Examples::default();
        keys.iter().for_each(|key| examples.add(key));
        examples.to_string()
    }

    #[test]
    fn three_keys_are_shown_and_the_rest_is_counted() {
        assert_eq!(examples(&[b"ani"]), r#""ani""#);
        assert_eq!(examples(&[b"a", b"b", b"c"]), r#""a", "b", "c""#);
        assert_eq!(examples(&[b"a", b"b", b"c", b"d", b"e"]), r#""a", "b", "c" and 2 more"#);
    }

    #[test]
    fn bytes_that_would_upset_a_terminal_are_escaped() {
        assert_eq!(examples(&[b"\x1b[2J\0\xff", "gr\u{fc}n".as_bytes()]), "\"\\x1b[2J\\0\\xff\", \"gr\u{fc}n\"");
    }

    #[test]
    fn only_the_start_of_a_long_key_is_shown() {
        assert_eq!(examples(&[&[b'x'; 40]]), format!("\"{}\"", "x".repeat(40)));
        assert_eq!(examples(&[&[b'x'; 41]]), format!("\"{}\"...", "x".repeat(40)));
    }
}
