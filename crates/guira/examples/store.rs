//! A filter before a key-value store on disk: how many reads does it save?
//!
//!     cargo run --release -p guira --example store
//!
//! Every other word of a list is stored, and all of them are asked for, without a filter and with one. The store is redb,
//! with a small cache; its reads of the file are counted. An argument is another list of words than Debian's.

#[path = "words/mod.rs"]
mod words;

use std::env;
use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use guira::{CuckooFilter, KeyHasher};
use redb::backends::FileBackend;
use redb::{Database, StorageBackend, TableDefinition};

const TABLE: TableDefinition<'_, &str, u64> = TableDefinition::new("line of each word");
/// Far less than the table, as in a store that is worth a filter.
const CACHE_SIZE: usize = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let words = words::read(env::args().nth(1).as_deref())?;
    let Comparison { filter_size, found, without_filter, with_filter } = compare(&words)?;
    println!("{} words were asked for, {found} of them are in the store", words.len());
    println!("reads of its file: {without_filter} without a filter, {with_filter} with one of {filter_size} bytes");
    let absent = words.len() - found;
    let saved = without_filter.saturating_sub(with_filter);
    println!("{saved} reads saved, for the {absent} words that are not in it");
    Ok(())
}

struct Comparison {
    filter_size: usize,
    found: usize,
    without_filter: u64,
    with_filter: u64,
}

fn compare(words: &[String]) -> Result<Comparison, Box<dyn Error>> {
    let reads = Arc::new(AtomicU64::new(0));
    let file = CountedFile { file: FileBackend::new(tempfile::tempfile()?)?, reads: Arc::clone(&reads) };
    let store = Database::builder().set_cache_size(CACHE_SIZE).create_with_backend(file)?;
    let writing = store.begin_write()?;
    {
        let mut table = writing.open_table(TABLE)?;
        for (line, word) in (0..).zip(words).step_by(2) {
            table.insert(word.as_str(), line)?;
        }
    }
    writing.commit()?;
    let stored: Vec<&String> = words.iter().step_by(2).collect();
    let filter = CuckooFilter::builder().false_positive_rate(0.001).build_from_keys(&stored)?;

    // In no order: words that follow each other are read together.
    let mut asked: Vec<&String> = words.iter().collect();
    asked.sort_by_key(|word| KeyHasher::xxh3(0).digest(word.as_str()));
    let table = store.begin_read()?.open_table(TABLE)?;
    let count = |ask: &dyn Fn(&str) -> Result<bool, redb::StorageError>| {
        let before = reads.load(Ordering::Relaxed);
        let mut found = 0;
        for word in &asked {
            found += usize::from(ask(word)?);
        }
        Ok::<_, redb::StorageError>((found, reads.load(Ordering::Relaxed) - before))
    };
    let (all, without_filter) = count(&|word| Ok(table.get(word)?.is_some()))?;
    // "Certainly not" saves the way to the disk.
    let (found, with_filter) = count(&|word| Ok(filter.contains(word) && table.get(word)?.is_some()))?;
    assert_eq!(found, all, "a filter loses no key");
    Ok(Comparison { filter_size: filter.size_in_bytes(), found, without_filter, with_filter })
}

/// A file that counts how often it is read.
#[derive(Debug)]
struct CountedFile {
    file: FileBackend,
    reads: Arc<AtomicU64>,
}

impl StorageBackend for CountedFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.file.read(offset, len)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync_data(&self, eventual: bool) -> io::Result<()> {
        self.file.sync_data(eventual)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write(offset, data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_saves_reads_and_loses_nothing() {
        // More than the cache holds; neighbours in the store are asked for far from each other.
        let word = |number: u64| format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let words: Vec<String> = (0..100_000).map(word).collect();
        let Comparison { found, without_filter, with_filter, .. } = compare(&words).expect("a store");
        assert_eq!(found, 50_000);
        // Half of the words are absent. Each that is asked for costs a read of a leaf, give or take the cache.
        assert!(with_filter > 0 && with_filter * 4 < without_filter * 3, "{with_filter} of {without_filter}");
    }
}
