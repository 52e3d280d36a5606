//! Loads bytes as each kind of file. Whatever they are, it must not panic; what is taken must be saved as it came, and
//! must be sound, also after it was used.

use guira::{CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet, ExpiringCuckooFilter, FileHeader, LoadError};

use super::oracle::checksums;

/// The bytes as they are, and with checksums that make them look whole.
pub(crate) fn run(data: &[u8]) {
    load_as_every_kind(data);
    let mut whole = data.to_vec();
    checksums::fix_checksums(&mut whole);
    load_as_every_kind(&whole);
}

/// Whether it was loaded.
macro_rules! load {
    ($bytes:expr, $type:ty, $use_it:expr) => {{
        let read = <$type>::read_from($bytes);
        match <$type>::from_bytes($bytes) {
            Ok(mut loaded) => {
                assert_eq!(read.expect("from_bytes took it"), loaded);
                if !has_journal($bytes) {
                    assert_eq!(loaded.to_bytes(), $bytes, "{loaded:?}");
                }
                assert_eq!(loaded.check_invariants(), Ok(()), "{loaded:?}");
                // Any answer is right: the table may hold what no keys gave.
                $use_it(&mut loaded);
                assert_eq!(loaded.check_invariants(), Ok(()), "{loaded:?}");
                true
            }
            Err(error) => {
                assert!(read.is_err() && !error.to_string().is_empty(), "{error:?}");
                false
            }
        }
    }};
}

fn load_as_every_kind(bytes: &[u8]) {
    let mut is_loaded = load!(bytes, CuckooFilter, |filter: &mut CuckooFilter| for key in 0..20_u32 {
        let _removed: bool = filter.remove(&key);
        drop(filter.insert(&key));
    });
    is_loaded |= load!(bytes, CuckooSet, |set: &mut CuckooSet| for key in 0..20_u32 {
        drop(set.insert(&key));
    });
    is_loaded |= load!(bytes, CountingCuckooFilter, |filter: &mut CountingCuckooFilter| for key in 0..20_u32 {
        let _removed: bool = filter.remove(&key);
        drop(filter.insert(&key));
    });
    is_loaded |= load!(bytes, CuckooMap<u32>, |map: &mut CuckooMap<u32>| for key in 0..20_u32 {
        for value in map.get_all(&key) {
            let _removed: bool = map.remove_value(&key, value);
        }
        drop(map.insert(&key, key % 2));
    });
    is_loaded |= load!(bytes, ExpiringCuckooFilter, |filter: &mut ExpiringCuckooFilter| for key in 0..20_u32 {
        let _removed: bool = filter.remove(&key);
        drop(filter.insert(&key));
        drop(filter.insert_or_renew(&key));
        let step = if key == 19 { u64::MAX } else { filter.resolution() / 3 };
        let _caught_up: bool = filter.jump(filter.time().saturating_add(step));
    });
    match FileHeader::from_bytes(bytes) {
        // Without its secret key no file is loaded, and a few things are not seen.
        Ok(header) if header.has_secret_key() => assert!(!is_loaded),
        // Whether there is room for the keys of a journal is not tried.
        Ok(header) => assert!(
            header.verify(bytes, None).is_ok() == is_loaded
                || matches!(CuckooFilter::from_bytes(bytes), Err(LoadError::JournalDoesNotFit { .. })),
            "{header:?}"
        ),
        Err(_) => assert!(!is_loaded, "without a header"),
    }
}

/// Returns `true` if there is more than the header counts, which is not written again as it came.
fn has_journal(bytes: &[u8]) -> bool {
    FileHeader::from_bytes(bytes).is_ok_and(|header| header.file_size() < bytes.len() as u64)
}
