//! The target that feeds the program with inputs.

use std::fs;
use std::path::Path;

#[path = "../../../../fuzz/bodies/records.rs"]
mod records;

#[test]
fn stored_inputs_have_the_records_that_the_model_finds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/records");
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    paths.sort();
    assert!(paths.len() > 10, "{} has no inputs to speak of", folder.display());
    for path in paths {
        // Printed only where the test fails; the last one is the one.
        println!("{}", path.display());
        records::run(&fs::read(&path).expect("readable"));
    }
}

#[test]
fn random_inputs_have_the_records_that_the_model_finds() {
    // What inputs are made of where something is to be decided.
    const PARTS: &[&[u8]] = &[b"a", b"\n", b"\r\n", b"\r", b"\0", b",", b"\t", b"\"", b"\"\"", b"bc", b"\xff", b"\n"];
    const STARTS: &[&[u8]] =
        &[b"", b"", b"\xef\xbb\xbf", b"\xef\xbb", b"\x1f\x8b", b"(\xb5/", b"P*M", b"\xff\xfe", b"BZh91A"];
    // Weyl's sequence, its high bits.
    let mut state = 0_u64;
    let mut below = |end: usize| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        usize::try_from(mixed >> 40).expect("24 bits") % end
    };
    for number in 0..5000 {
        println!("input {number}");
        let mut input: Vec<u8> = (0..4).map(|_| u8::try_from(below(256)).expect("a byte")).collect();
        input[2] = b",\t\0"[below(3)];
        input.extend(STARTS[below(STARTS.len())]);
        for _ in 0..below(30) {
            input.extend(PARTS[below(PARTS.len())]);
        }
        records::run(&input);
    }
}
