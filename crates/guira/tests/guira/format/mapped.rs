//! Views of files that are mapped to memory.

#![expect(unsafe_code, reason = "the tests promise that their files do not change")]

use std::io::Write;
use std::path::PathBuf;
use std::{env, fs, process};

use guira::{CuckooFilter, CuckooFilterView, KeyHasher, LoadError};

use super::journal::{Random, apply, assert_answers_alike, filters, journal, some_changes};

const SECRET: [u8; 16] = *b"0123456789abcdef";

/// A file that goes when the test ends.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = env::temp_dir().join(format!("guira-{}-{name}", process::id()));
        fs::write(&path, bytes).expect("the temporary folder can be written");
        Self(path)
    }

    fn open(&self) -> Result<CuckooFilterView<'static>, LoadError> {
        // SAFETY: nobody else knows the file, and no test writes to one that it has opened.
        unsafe { CuckooFilterView::map(&self.0) }
    }

    fn open_with_key(&self, key: [u8; 16]) -> Result<CuckooFilterView<'static>, LoadError> {
        // SAFETY: as above.
        unsafe { guira::LoadOptions::new().secret_key(key).map(&self.0) }
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.0));
    }
}

#[test]
fn a_mapped_file_answers_as_the_filter_does() {
    let mut filter = CuckooFilter::with_capacity(300_000, 0.001).expect("parameters in range");
    for key in 0..200_000u64 {
        filter.insert(&key).expect("room");
    }
    let file = TemporaryFile::new("answers", &filter.to_bytes());
    let view = file.open().expect("a file");
    view.verify().expect("a whole table");
    let keys: Vec<u64> = (0..400_000).step_by(7).collect();
    let mut answers = vec![false; keys.len()];
    view.contains_many_into(&keys, &mut answers);
    for (key, answer) in keys.iter().zip(answers) {
        assert_eq!((view.contains(key), answer), (filter.contains(key), filter.contains(key)), "{key}");
        assert_eq!(view.count(key), filter.count(key), "{key}");
    }
}

#[test]
fn a_view_outlives_the_name_of_its_file_and_its_clones_share_the_mapping() {
    let mut filter = CuckooFilter::with_capacity(1000, 0.001).expect("parameters in range");
    filter.insert("ani").expect("room");
    let file = TemporaryFile::new("outlives", &filter.to_bytes());
    let view = file.open().expect("a file");
    let clone = view.clone();
    drop(view);
    drop(file);
    let answer = std::thread::spawn(move || clone.contains("ani")).join().expect("it does not panic");
    assert!(answer);
}

#[test]
fn what_is_no_whole_file_is_refused_with_the_error_of_its_bytes() {
    let mut filter = CuckooFilter::with_capacity(10, 0.01).expect("parameters in range");
    filter.insert("ani").expect("room");
    let whole = filter.to_bytes();
    let mut damaged = whole.clone();
    damaged[20] ^= 1;
    let longer = [&whole[..], &[0]].concat();
    let not_guira = vec![b'x'; 300];
    let cases: [&[u8]; 7] = [&[], &whole[..5], &whole[..128], &whole[..whole.len() - 1], &damaged, &longer, &not_guira];
    for (number, bytes) in cases.into_iter().enumerate() {
        let file = TemporaryFile::new(&format!("refused-{number}"), bytes);
        let error = file.open().expect_err("no whole file");
        let expected = CuckooFilterView::new(bytes).expect_err("no whole file");
        assert_eq!(format!("{error:?}"), format!("{expected:?}"), "case {number}");
    }
    let file = TemporaryFile::new("gone", &whole);
    fs::remove_file(&file.0).expect("it was there");
    assert!(matches!(file.open(), Err(LoadError::Io(_))));
}

#[test]
fn a_secret_key_is_needed_and_checked() {
    let builder = CuckooFilter::builder().capacity(10).fingerprint_bits(16);
    let mut filter = builder.hasher(KeyHasher::sip_hash_13(SECRET)).build().expect("parameters in range");
    filter.insert("ani").expect("room");
    let file = TemporaryFile::new("secret", &filter.to_bytes());
    assert!(file.open_with_key(SECRET).expect("the right key").contains("ani"));
    assert!(matches!(file.open_with_key([0; 16]), Err(LoadError::SecretKeyDiffers)));
    assert!(matches!(file.open(), Err(LoadError::SecretKeyMissing)));
}

#[test]
#[ignore = "writes a gigabyte, to print how long it takes to open"]
fn a_file_of_a_gigabyte_is_opened() {
    let filter = CuckooFilter::builder().capacity(600_000_000).false_positive_rate(0.001).build().expect("memory");
    let file = TemporaryFile::new("gigabyte", &filter.to_bytes());
    for _ in 0..5 {
        let begun = std::time::Instant::now();
        let view = file.open().expect("a file");
        let opened = begun.elapsed();
        assert!(!view.contains("ani"));
        let answered = begun.elapsed();
        println!("{} bytes opened after {opened:?}, answered after {answered:?}", view.parameters().table_size());
    }
}

#[test]
fn a_mapped_file_is_answered_from_with_its_journal_and_stays_as_it_was_opened() {
    let (_, filter) = filters().swap_remove(0);
    let batches = some_changes(&filter, &mut Random(3));
    let (bytes, ends) = journal(&batches);
    let file = TemporaryFile::new("journal", &[&filter.to_bytes()[..], &bytes[..ends[3]]].concat());
    let view = file.open().expect("whole");
    let mut expected = filter.clone();
    apply(&mut expected, &batches[..4]);
    assert_answers_alike(&view, &expected, "before");
    // What is mapped of the file does not change.
    let mut appended = fs::File::options().append(true).open(&file.0).expect("writable");
    appended.write_all(&bytes[ends[3]..]).expect("writable");
    assert_answers_alike(&view, &expected, "after");
    apply(&mut expected, &batches[4..]);
    assert_answers_alike(&file.open().expect("whole"), &expected, "opened again");
}
