//! A store of sorted tables, as log-structured stores keep them: each table has a filter behind its entries, in the same memory,
//! so that a lookup reads only tables that probably have the key.
//!
//! cargo run --release --example sorted_tables

use std::sync::Arc;

use guira::{CuckooFilter, CuckooFilterView, Error};

/// The bytes of a table: sorted keys of eight bytes each, then the filter.
struct Part(Arc<[u8]>, usize);

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        self.0.get(self.1..).unwrap_or_default()
    }
}

struct Table {
    data: Arc<[u8]>,
    keys: usize,
    filter: CuckooFilterView<'static>,
}

impl Table {
    /// Writes a table of keys, and opens it where it is.
    fn write(mut keys: Vec<u64>) -> Result<Self, Error> {
        keys.sort_unstable();
        let filter = CuckooFilter::builder().false_positive_rate(0.01).build_from_keys(&keys)?;
        let mut data: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
        data.extend(filter.to_bytes());
        let data: Arc<[u8]> = data.into();
        let filter = CuckooFilterView::from_owner(Part(Arc::clone(&data), keys.len() * 8))?;
        Ok(Self { data, keys: keys.len(), filter })
    }

    /// Searches the entries, which a store has on disk.
    fn read(&self, key: u64) -> bool {
        let entry = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).ok();
        let entries: Vec<u64> = self.data.chunks_exact(8).take(self.keys).filter_map(entry).collect();
        entries.binary_search(&key).is_ok()
    }
}

/// Returns how many of the keys are in one of the tables, and how many tables were read.
fn look_up(tables: &[Table], keys: impl Iterator<Item = u64>) -> (usize, usize) {
    let (mut found, mut read) = (0, 0);
    for key in keys {
        for table in tables.iter().filter(|table| table.filter.contains(&key)) {
            read += 1;
            if table.read(key) {
                found += 1;
                break;
            }
        }
    }
    (found, read)
}

fn tables(count: u64, keys: u64) -> Result<Vec<Table>, Error> {
    (0..count).map(|number| Table::write((0..keys).map(|key| key * count + number).collect())).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tables = tables(10, 20_000)?;
    let (found, read) = look_up(&tables, 100_000..300_000);
    println!(
        "of 200000 keys {found} were found, for which {read} tables were read; without filters up to 10 for each key"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_key_is_found_and_few_tables_are_read() -> Result<(), Box<dyn std::error::Error>> {
        let tables = super::tables(5, 1000)?;
        let (found, read) = super::look_up(&tables, 0..10_000);
        assert_eq!(found, 5000);
        // Of 5 tables, 4 are asked in vain for each present key and 5 for each absent one, at 1 % at the most.
        assert!((5000..5000 + 2 * 450).contains(&read), "{read}");
        Ok(())
    }
}
