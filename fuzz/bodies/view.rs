//! Views bytes as a file. Whatever they are, it must not panic; its answers must agree with each other, and verifying must
//! say what loading says.

use guira::{CuckooFilter, CuckooFilterView, CuckooSet, FileHeader, FileKind, LoadError};

use super::oracle::checksums;

/// The bytes as they are, and with checksums that make them look whole.
pub(crate) fn run(data: &[u8]) {
    view(data);
    let mut whole = data.to_vec();
    checksums::fix_checksums(&mut whole);
    view(&whole);
}

fn view(bytes: &[u8]) {
    let Ok(view) = CuckooFilterView::new(bytes) else {
        assert!(load(bytes, FileKind::Filter).is_err(), "a filter is loaded that can't be viewed");
        assert!(load(bytes, FileKind::Set).is_err(), "a set is loaded that can't be viewed");
        assert!(load(bytes, FileKind::Growing).is_err(), "a growing filter is loaded that can't be viewed");
        return;
    };
    let keys: Vec<u32> = (0..50).collect();
    let mut answers = vec![false; keys.len()];
    view.contains_many_into(&keys, &mut answers);
    for (key, answer) in keys.iter().zip(answers) {
        assert_eq!((view.contains(key), view.count(key) > 0), (answer, answer), "{view:?}: {key}");
    }
    let kind = FileHeader::from_bytes(bytes).expect("it was viewed").kind();
    match (view.verify(), load(bytes, kind)) {
        (Ok(()), Ok(filter)) => {
            assert!(keys.iter().all(|key| view.count(key) == filter.count(key)), "{view:?}");
        }
        // Whether there is room for the keys of a journal is not tried.
        (Ok(()), Err(LoadError::JournalDoesNotFit { .. })) => {}
        (Err(error), Err(expected)) => assert_eq!(format!("{error:?}"), format!("{expected:?}"), "{view:?}"),
        (verified, loaded) => panic!("{view:?}: verified as {verified:?}, loaded as {loaded:?}"),
    }
}

/// The filter in a file of this kind.
fn load(bytes: &[u8], kind: FileKind) -> Result<CuckooFilter, LoadError> {
    match kind {
        FileKind::Set => CuckooSet::from_bytes(bytes).map(|set| set.as_filter().clone()),
        FileKind::Growing => CuckooFilter::from_bytes(bytes),
        _ => CuckooFilter::from_bytes(bytes),
    }
}
