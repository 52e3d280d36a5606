//! Filters in chunks: those of this module, and those of RedisBloom.

use guira::CuckooFilter;
use guira_redis::{Command, CommandError, CommandName, Limits, Reply, Settings, StoredFilter, execute, scan_dump};

fn run<'value>(
    value: &'value mut Option<StoredFilter>,
    name: CommandName,
    arguments: &[&[u8]],
) -> Result<Reply<'value>, CommandError> {
    let command = Command::parse(name, arguments)?;
    if let Command::ScanDump { position, secret } = command {
        return scan_dump(value, position, secret, None);
    }
    execute(&command, value, Settings::default, Limits::Bytes(1 << 30), || 0).map(|outcome| outcome.reply)
}

/// All chunks of a filter, each with the position that loads it.
fn dump(value: &mut Option<StoredFilter>) -> Vec<(u64, Vec<u8>)> {
    let mut chunks = Vec::new();
    let mut position = 0;
    loop {
        match run(value, CommandName::ScanDump, &[position.to_string().as_bytes()]).expect("a chunk") {
            Reply::Chunk { next, bytes } => {
                chunks.push((next, bytes.into_owned()));
                position = next;
            }
            last => {
                assert_eq!(last, Reply::LastChunk);
                return chunks;
            }
        }
    }
}

fn load(chunks: &[(u64, Vec<u8>)]) -> Result<Option<StoredFilter>, CommandError> {
    let mut value = None;
    for (position, bytes) in chunks {
        run(&mut value, CommandName::LoadChunk, &[position.to_string().as_bytes(), bytes])?;
    }
    Ok(value)
}

fn is_present(value: &mut Option<StoredFilter>, item: &str) -> bool {
    run(value, CommandName::Exists, &[item.as_bytes()]).expect("an answer") == Reply::Flag(true)
}

/// A filter of several chunks, some of whose items were removed.
fn large_filter() -> Option<StoredFilter> {
    let mut value = None;
    run(&mut value, CommandName::Reserve, &[b"2000000", b"ERROR", b"0.001"]).expect("created");
    for item in 0..5000 {
        run(&mut value, CommandName::Add, &[format!("item-{item}").as_bytes()]).expect("stored");
    }
    for item in 0..100 {
        run(&mut value, CommandName::Del, &[format!("item-{item}").as_bytes()]).expect("removed");
    }
    value
}

/// The number of buckets, by CF.INFO.
fn buckets(value: &mut Option<StoredFilter>) -> u64 {
    let Reply::Fields(fields) = run(value, CommandName::Info, &[]).expect("there is a filter") else {
        panic!("fields")
    };
    fields.iter().find(|(name, _)| *name == "Number of buckets").expect("a field").1
}

/// The file that chunks of a filter without a secret key are, behind the number of removals.
fn file_of(chunks: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let bytes: Vec<u8> = chunks.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
    bytes[8..].to_vec()
}

#[test]
fn a_filter_whose_table_is_being_doubled_is_dumped_as_it_is_and_loaded_as_it_will_be() {
    let mut value = None;
    run(&mut value, CommandName::Reserve, &[b"30000", b"HASH", b"xxh3"]).expect("created");
    let before = buckets(&mut value);
    let mut items = (0..).map(|item| format!("item-{item}"));
    let mut stored = Vec::new();
    while buckets(&mut value) == before {
        let item = items.next().expect("without end");
        run(&mut value, CommandName::Add, &[item.as_bytes()]).expect("stored");
        stored.push(item);
    }
    let before = value.as_ref().map(|filter| filter.try_clone().expect("there is memory"));
    let chunks = dump(&mut value);
    assert_eq!(value, before, "a dump is no change");
    let file = file_of(&chunks);
    let filter = CuckooFilter::from_bytes(&file).expect("a file");
    assert!(filter.size_in_bytes() as u64 > filter.parameters().table_size(), "it was not being doubled");
    assert_eq!(filter.to_bytes(), file);
    let mut loaded = load(&chunks).expect("a sound dump");
    assert_eq!(loaded.as_ref().map(StoredFilter::size), Some(filter.parameters().table_size()));
    // But for the buckets that wait, and the checksum of the header.
    let settled = file_of(&dump(&mut loaded));
    assert_eq!((&settled[..104], &settled[112..120], &settled[128..]), (&file[..104], &file[112..120], &file[128..]));
    assert_eq!(settled[104..112], [0; 8]);
    assert!(stored.iter().all(|item| is_present(&mut loaded, item)));
}

#[test]
fn a_filter_comes_back_from_its_chunks_as_it_was() {
    let mut empty = None;
    run(&mut empty, CommandName::Reserve, &[b"100"]).expect("created");
    for mut value in [large_filter(), empty] {
        let chunks = dump(&mut value);
        assert!(chunks.iter().all(|(_, bytes)| bytes.len() <= 1 << 20));
        assert_eq!(load(&chunks).expect("a sound dump"), value);
    }
    assert!(dump(&mut large_filter()).len() > 3);
}

#[test]
fn a_filter_of_which_a_part_has_come_answers_nothing_rather_than_wrongly() {
    let chunks = dump(&mut large_filter());
    let mut part = load(&chunks[..chunks.len() - 1]).expect("a sound part");
    for name in [CommandName::Exists, CommandName::Add, CommandName::Count, CommandName::Del, CommandName::MExists] {
        let refusal = run(&mut part, name, &[b"item-7"]).expect_err("not whole").to_string();
        assert!(refusal.starts_with("ERR the filter is still being loaded: "), "{refusal}");
    }
    assert!(run(&mut part, CommandName::ScanDump, &[b"0"]).is_err());
}

#[test]
fn chunks_that_are_damaged_left_out_or_in_another_order_are_refused() {
    let chunks = dump(&mut large_filter());
    let refused = |chunks: &[(u64, Vec<u8>)]| match load(chunks) {
        Err(error) => {
            matches!(error, CommandError::InvalidChunk | CommandError::InvalidHeader | CommandError::KeyDiffers)
        }
        Ok(filter) => matches!(filter, Some(StoredFilter::Incoming(_))),
    };
    assert!(!refused(&chunks));
    for index in 0..chunks.len() {
        let mut without = chunks.clone();
        without.remove(index);
        // Without the header there is nothing to add to.
        assert!(index == 0 || refused(&without), "without chunk {index}");
        for at in [0, chunks[index].1.len() / 2, chunks[index].1.len() - 1] {
            // The number of removals, which no checksum covers, counts nothing but removals.
            if index == 0 && at < 8 {
                continue;
            }
            let mut damaged = chunks.clone();
            damaged[index].1[at] ^= 4;
            assert!(refused(&damaged), "byte {at} of chunk {index}");
        }
        let mut shorter = chunks.clone();
        shorter[index].1.pop();
        assert!(refused(&shorter), "chunk {index} cut off");
    }
    let mut swapped = chunks.clone();
    swapped.swap(1, 2);
    assert!(refused(&swapped));
}

/// RedisBloom's header: four numbers of 64 bits, and three of 16.
fn header(items: u64, buckets: u64, removed: u64, layers: u64, measures: [u16; 3]) -> Vec<u8> {
    let numbers = [items, buckets, removed, layers].into_iter().flat_map(u64::to_le_bytes);
    numbers.chain(measures.into_iter().flat_map(u16::to_le_bytes)).collect()
}

/// An empty filter of RedisBloom with so many layers, in chunks that end where layers do.
fn empty_import(buckets: u64, layers: u32, slots: u16, expansion: u16) -> Vec<(u64, Vec<u8>)> {
    let mut chunks = vec![(1, header(0, buckets, 0, layers.into(), [slots, 20, expansion]))];
    let mut position = 1;
    for layer in 0..layers {
        let size = buckets * u64::from(expansion.max(1)).pow(layer) * u64::from(slots);
        position += size;
        chunks.push((position, vec![0; usize::try_from(size).expect("small")]));
    }
    chunks
}

#[test]
fn an_imported_filter_stores_counts_and_removes_over_all_its_layers() {
    for (layers, slots, expansion) in [(1, 2, 0), (1, 2, 1), (3, 2, 2), (2, 4, 1), (4, 1, 4)] {
        let mut value = load(&empty_import(64, layers, slots, expansion)).expect("sound");
        let mut stored = Vec::new();
        for item in 0..400 {
            let item = format!("item-{item}");
            if run(&mut value, CommandName::Add, &[item.as_bytes()]).is_ok() {
                stored.push(item);
            }
        }
        assert!(stored.len() > 50, "{layers} layers of {slots}: {}", stored.len());
        assert!(stored.iter().all(|item| is_present(&mut value, item)));
        // What it gives is what it was given.
        let again = load(&dump(&mut value)).expect("sound");
        assert_eq!(again, value);
        // Every removal takes a copy of its own, whatever came before.
        let kept = stored.split_off(stored.len() / 2);
        for item in &stored {
            let reply = run(&mut value, CommandName::Del, &[item.as_bytes()]).expect("an answer");
            assert_eq!(reply, Reply::Flag(true), "{item}");
        }
        assert!(kept.iter().all(|item| is_present(&mut value, item)));
        run(&mut value, CommandName::Compact, &[]).expect("compacted");
        assert!(kept.iter().all(|item| is_present(&mut value, item)), "after it was compacted");
        for item in &kept {
            let reply = run(&mut value, CommandName::Del, &[item.as_bytes()]).expect("an answer");
            assert_eq!(reply, Reply::Flag(true), "{item}");
        }
        let Reply::Fields(fields) = run(&mut value, CommandName::Info, &[]).expect("fields") else { panic!("fields") };
        assert!(fields.contains(&("Number of items inserted", 0)), "{fields:?}");
    }
}

#[test]
fn one_item_again_and_again_does_not_make_an_imported_filter_lose_others() {
    let mut value = load(&empty_import(64, 1, 2, 0)).expect("sound");
    run(&mut value, CommandName::Add, &[b"other"]).expect("stored");
    let stored = (0..200).filter(|_| run(&mut value, CommandName::Add, &[b"same"]).is_ok()).count();
    assert!((2..=4).contains(&stored), "{stored}");
    assert!(is_present(&mut value, "other"));
}

#[test]
fn malformed_dumps_of_redisbloom_are_refused() {
    let headers = [
        (header(0, 0, 0, 1, [2, 20, 1]), "no buckets"),
        (header(0, 63, 0, 1, [2, 20, 1]), "not a power of two"),
        (header(0, 64, 0, 0, [2, 20, 1]), "no layers"),
        (header(0, 64, 0, 33, [2, 20, 1]), "too many layers"),
        (header(0, 64, 0, 1, [0, 20, 1]), "no slots"),
        (header(0, 64, 0, 1, [256, 20, 1]), "too many slots"),
        (header(0, 64, 0, 1, [2, 0, 1]), "no iterations"),
        (header(0, 64, 0, 2, [2, 20, 0]), "two layers without expansion"),
        (header(0, 64, 0, 2, [2, 20, 3]), "an expansion that is no power of two"),
        (header(129, 64, 0, 1, [2, 20, 1]), "more items than slots"),
        (header(0, 1 << 63, 0, 3, [255, 20, 32768]), "a size beyond 64 bits"),
        (header(0, 1 << 40, 0, 1, [2, 20, 1]), "a size beyond the limit"),
        (header(0, 64, 0, 1, [2, 20, 1])[..37].to_vec(), "a byte less"),
        ([header(0, 64, 0, 1, [2, 20, 1]), vec![0]].concat(), "a byte more"),
    ];
    for (header, what) in headers {
        assert!(load(&[(1, header)]).is_err(), "{what}");
    }
    let full = vec![1; 128];
    assert!(load(&[(1, header(128, 64, 0, 1, [2, 20, 1])), (129, full.clone())]).is_ok());
    assert!(load(&[(1, header(127, 64, 0, 1, [2, 20, 1])), (129, full.clone())]).is_err(), "another count");
    assert!(load(&[(1, header(128, 64, 0, 1, [2, 20, 1])), (130, full.clone())]).is_err(), "another position");
    assert!(load(&[(1, header(128, 64, 0, 1, [2, 20, 1])), (130, [full, vec![0]].concat())]).is_err(), "too long");
}

#[test]
fn a_header_takes_no_memory_for_what_it_promises() {
    // The largest that passes the checks: half a tebibyte.
    let promised = header(0, 1 << 38, 0, 1, [2, 20, 1]);
    let command = [b"1".as_slice(), &promised];
    let command = Command::parse(CommandName::LoadChunk, &command).expect("a chunk");
    let mut value = None;
    execute(&command, &mut value, Settings::default, Limits::Lifted, || 0).expect("a sound header");
    assert_eq!(value.expect("it waits for more").size(), 0);
    let refusal = execute(&command, &mut None, Settings::default, Limits::Bytes(1 << 20), || 0).expect_err("too large");
    assert!(matches!(refusal, CommandError::MemoryLimit { .. }), "{refusal}");
}

const KEY: &[u8] = b"00112233445566778899AABBCCDDEEFF";
const OTHER_KEY: &[u8] = b"00112233445566778899aabbccddeefe";

#[test]
fn a_dump_has_the_secret_key_or_is_loaded_where_it_is_known() {
    let mut value = None;
    run(&mut value, CommandName::Reserve, &[b"100", b"KEY", KEY]).expect("created");
    run(&mut value, CommandName::Add, &[b"ani"]).expect("stored");
    let chunks = dump(&mut value);
    assert_eq!(load(&chunks).expect("it has the key"), value);

    let reply = run(&mut value, CommandName::ScanDump, &[b"0", b"nokey"]).expect("a chunk");
    let Reply::Chunk { bytes: header, .. } = reply else { panic!("a chunk") };
    let secret: Vec<u8> = (0..16).map(|byte| byte * 0x11).collect();
    let has_key = |bytes: &[u8]| bytes.windows(16).any(|part| part == secret);
    assert!(has_key(&chunks[0].1) && !has_key(&header) && !has_key(&chunks[1].1));

    let mut loaded = None;
    let refusal = run(&mut loaded, CommandName::LoadChunk, &[b"1", &header]).expect_err("no key").to_string();
    assert!(refusal.contains("with NOKEY: load its first chunk with KEY"), "{refusal}");
    let other = run(&mut loaded, CommandName::LoadChunk, &[b"1", &header, b"KEY", OTHER_KEY]);
    assert!(matches!(other, Err(CommandError::KeyDiffers)));
    assert!(loaded.is_none());
    // What is no header is refused as such, whatever key comes with it; one that has its key needs no other.
    let damaged: Vec<u8> = chunks[0].1.iter().map(|byte| !byte).collect();
    for bytes in [&b"zz"[..], &damaged, &damaged[..header.len()]] {
        let refused = run(&mut loaded, CommandName::LoadChunk, &[b"1", bytes, b"KEY", KEY]);
        assert!(matches!(refused, Err(CommandError::InvalidHeader)), "{} bytes", bytes.len());
    }
    let twice = run(&mut loaded, CommandName::LoadChunk, &[b"1", &chunks[0].1, b"KEY", KEY]);
    assert!(matches!(twice, Err(CommandError::KeyNotTaken)) && loaded.is_none());
    run(&mut loaded, CommandName::LoadChunk, &[b"1", &header, b"KEY", KEY]).expect("the key");
    let position = chunks[1].0.to_string();
    let late = run(&mut loaded, CommandName::LoadChunk, &[position.as_bytes(), &chunks[1].1, b"KEY", KEY]);
    assert!(matches!(late, Err(CommandError::KeyNotTaken)));
    run(&mut loaded, CommandName::LoadChunk, &[position.as_bytes(), &chunks[1].1]).expect("the table");
    assert_eq!(loaded, value);
}

#[test]
fn a_dump_without_a_secret_key_is_as_it_was_before_there_were_any() {
    let mut value = None;
    run(&mut value, CommandName::Reserve, &[b"100", b"HASH", b"xxh3"]).expect("created");
    run(&mut value, CommandName::Add, &[b"ani"]).expect("stored");
    let chunks = dump(&mut value);
    // The number of removals, and the header of the library's file.
    assert_eq!(chunks[0].1.len(), 8 + 128);
    assert_eq!(load(&chunks).expect("sound"), value);
    let mut loaded = None;
    let with_key = run(&mut loaded, CommandName::LoadChunk, &[b"1", &chunks[0].1, b"KEY", KEY]);
    assert!(matches!(with_key, Err(CommandError::KeyNotUsed)));
}

#[test]
fn a_filter_of_a_version_without_secret_keys_is_loaded() {
    let made: serde_json::Value = serde_json::from_str(include_str!("../data/before-secret-keys.json")).expect("JSON");
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).expect("digits"), 16).expect("a byte");
    let bytes = |text: &serde_json::Value| text.as_str().expect("text").as_bytes().chunks(2).map(byte).collect();
    let chunks = made["chunks"].as_array().expect("chunks").iter();
    let chunks: Vec<(u64, Vec<u8>)> =
        chunks.map(|chunk| (chunk[0].as_u64().expect("a position"), bytes(&chunk[1]))).collect();
    let mut value = load(&chunks).expect("it is loaded");
    // 200 items were stored, and the first 50 removed again.
    assert!((50..200).all(|item| is_present(&mut value, &format!("item-{item}"))));
    assert!((0..50).filter(|item| is_present(&mut value, &format!("item-{item}"))).count() < 5);
    assert_eq!(dump(&mut value), chunks);
}
