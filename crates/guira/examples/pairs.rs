//! Keys of several parts: who has read which page? A tuple is a key of its own, other than its parts written together.
//!
//!     cargo run --release -p guira --example pairs

use guira::{BuildError, CuckooFilter, InsertError};

/// Which user has read which page of which book.
struct Read(CuckooFilter);

impl Read {
    fn with_capacity(capacity: usize) -> Result<Self, BuildError> {
        CuckooFilter::with_capacity(capacity, 0.001).map(Self)
    }

    fn note(&mut self, user: &str, book: &str, page: u32) -> Result<(), InsertError> {
        self.0.insert(&(user, book, page))
    }

    fn has(&self, user: &str, book: &str, page: u32) -> bool {
        self.0.contains(&(user, book, page))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut read = Read::with_capacity(1_000_000)?;
    read.note("ada", "birds", 12)?;
    println!("ada has read page 12: {}, page 13: {}", read.has("ada", "birds", 12), read.has("ada", "birds", 13));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// None of these has the fingerprint of another: the filter is the same in every run.
    #[test]
    fn the_parts_of_a_key_do_not_run_together() {
        let mut read = Read::with_capacity(1000).expect("a few keys");
        read.note("ab", "c", 1).expect("room");
        assert!(read.has("ab", "c", 1));
        assert!(!read.has("a", "bc", 1) && !read.has("abc", "", 1) && !read.has("ab", "c", 2));
    }
}
