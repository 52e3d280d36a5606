//! Commands without a server: how they are read, what they do, what they answer, and what replicas are told.

use guira_redis::{
    Command, CommandError, CommandName, Frames, Insertion, Limits, Outcome, Protocol, Reply, Settings, StoredFilter,
    Told, execute, merge, reserve_like, scan_dump,
};

/// Filters here have no time, so nobody asks what it is.
fn no_clock() -> u64 {
    panic!("the time was asked for")
}

/// A key of a server without a server.
#[derive(Default)]
struct Key {
    value: Option<StoredFilter>,
    settings: Settings,
}

fn copy(value: Option<&StoredFilter>) -> Option<StoredFilter> {
    value.map(|filter| filter.try_clone().expect("there is memory"))
}

fn command_called(name: &str) -> CommandName {
    let mut names = CommandName::ALL.into_iter();
    names.find(|command| command.name().eq_ignore_ascii_case(name)).expect("there is such a command")
}

impl Key {
    fn limited_to(bytes: u64) -> Self {
        Self { settings: Settings { memory_limit: bytes, ..Settings::DEFAULT }, ..Self::default() }
    }

    /// Runs a command given as it is typed, but for its key; the reply, and the words that replicas are told.
    fn told(&mut self, line: &[&[u8]]) -> Result<(Reply<'_>, Vec<Vec<u8>>), CommandError> {
        let name = command_called(str::from_utf8(line[0]).expect("a name"));
        let command = Command::parse(name, &line[1..])?;
        let limits = Limits::Bytes(self.settings.memory_limit);
        if let Command::ScanDump { position, secret } = command {
            return scan_dump(&self.value, position, secret, None).map(|reply| (reply, Vec::new()));
        }
        let Outcome { reply, changes } = execute(&command, &mut self.value, || self.settings, limits, no_clock)?;
        let mut told = Vec::new();
        if let Some(measures) = changes.created {
            told.push([b"CF.RESERVE".to_vec(), measures.arguments().join(" ").into_bytes()].join(&b' '));
        }
        match changes.told {
            Told::Nothing => {}
            Told::Same => told.push(line.join(&b' ')),
            Told::InsertedAt { .. } | Told::DeletedAt { .. } => panic!("these filters have no time"),
            Told::Stored(items) => {
                let (Reply::Insertions(insertions) | Reply::UniqueInsertions(insertions)) = &reply else {
                    panic!("{reply:?}")
                };
                let stored = items.iter().zip(insertions).filter(|(_, insertion)| **insertion == Insertion::Stored);
                let stored: Vec<&[u8]> = stored.map(|(item, _)| *item).collect();
                told.push([b"CF.INSERT NOCREATE ITEMS".to_vec(), stored.join(&b' ')].join(&b' '));
            }
        }
        Ok((reply, told))
    }

    fn ask(&mut self, line: &str) -> Result<Reply<'_>, CommandError> {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        self.told(&words).map(|(reply, _)| reply)
    }

    #[track_caller]
    fn run(&mut self, line: &str) -> Reply<'_> {
        self.ask(line).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    #[track_caller]
    fn refusal(&mut self, line: &str) -> String {
        let before = copy(self.value.as_ref());
        let refusal = self.ask(line).expect_err("it is refused").to_string();
        assert_eq!(self.value, before, "{line}: a command that is refused changes nothing");
        refusal
    }
}

#[test]
fn items_are_stored_found_counted_and_removed() {
    let mut key = Key::default();
    assert_eq!(key.run("CF.RESERVE 1000 ERROR 0.001"), Reply::Done);
    assert_eq!(key.run("CF.ADD ani"), Reply::Flag(true));
    assert_eq!(key.run("CF.ADD ani"), Reply::Flag(true));
    assert_eq!(key.run("CF.ADDNX ani"), Reply::Flag(false));
    assert_eq!(key.run("CF.COUNT ani"), Reply::Count(2));
    assert_eq!(key.run("CF.EXISTS ani"), Reply::Flag(true));
    assert_eq!(key.run("CF.MEXISTS ani koel"), Reply::Flags(vec![true, false].into()));
    assert_eq!(key.run("CF.DEL ani"), Reply::Flag(true));
    assert_eq!(key.run("CF.MDEL ani ani"), Reply::Flags(vec![true, false].into()));
    assert_eq!(key.run("CF.EXISTS ani"), Reply::Flag(false));
}

#[test]
fn insertions_answer_for_each_item() {
    let mut key = Key::default();
    let (stored, present) = (Insertion::Stored, Insertion::Present);
    assert_eq!(key.run("CF.INSERT CAPACITY 100 ITEMS a b"), Reply::Insertions(vec![stored, stored].into()));
    assert_eq!(
        key.run("CF.INSERTNX NOCREATE ITEMS a c c"),
        Reply::UniqueInsertions(vec![present, stored, present].into())
    );
    // ITEMS may be an item.
    assert_eq!(key.run("cf.insert items items"), Reply::Insertions(vec![stored].into()));
}

#[test]
fn what_is_not_there_is_answered_as_clients_expect() {
    let mut key = Key::default();
    assert_eq!(key.run("CF.EXISTS a"), Reply::Flag(false));
    assert_eq!(key.run("CF.MEXISTS a b"), Reply::Flags(vec![false, false].into()));
    assert_eq!(key.run("CF.COUNT a"), Reply::Count(0));
    let refusals = [
        ("CF.DEL a", "Not found"),
        ("CF.MDEL a", "Not found"),
        ("CF.INFO", "ERR not found"),
        ("CF.DEBUG", "ERR not found"),
        ("CF.SCANDUMP 0", "ERR not found"),
        ("CF.LOADCHUNK 2 x", "ERR not found"),
        ("CF.COMPACT", "Cuckoo filter was not found"),
        ("CF.INSERT NOCREATE ITEMS a", "ERR not found"),
    ];
    for (line, text) in refusals {
        assert_eq!(key.refusal(line), text, "{line}");
    }
    assert!(key.value.is_none());
}

#[test]
fn errors_have_the_texts_that_clients_know() {
    let refusals = [
        ("CF.RESERVE x", "Bad capacity"),
        ("CF.RESERVE -5", "Bad capacity"),
        ("CF.RESERVE 0", "Capacity must be in the range [1, 1073741824]"),
        ("CF.RESERVE 1073741825", "Capacity must be in the range [1, 1073741824]"),
        ("CF.RESERVE 100 BUCKETSIZE 0", "BUCKETSIZE: value must be in the range [1, 255]"),
        ("CF.RESERVE 100 BUCKETSIZE 256", "BUCKETSIZE: value must be in the range [1, 255]"),
        ("CF.RESERVE 100 BUCKETSIZE x", "Couldn't parse BUCKETSIZE"),
        ("CF.RESERVE 100 MAXITERATIONS 0", "MAXITERATIONS: value must be in the range [1, 65535]"),
        ("CF.RESERVE 100 MAXITERATIONS x", "Couldn't parse MAXITERATIONS"),
        ("CF.RESERVE 100 EXPANSION -1", "EXPANSION: value must be in the range [0, 32768]"),
        ("CF.RESERVE 100 EXPANSION 32769", "EXPANSION: value must be in the range [0, 32768]"),
        ("CF.RESERVE 100 EXPANSION x", "Couldn't parse EXPANSION"),
        ("CF.RESERVE 100 ERROR x", "Couldn't parse ERROR"),
        ("CF.RESERVE 100 ERROR 1", "ERROR: value must be between 0 and 1, both excluded"),
        ("CF.RESERVE 100 ERROR nan", "ERROR: value must be between 0 and 1, both excluded"),
        ("CF.RESERVE 100 MAXCAPACITY x", "Couldn't parse MAXCAPACITY"),
        (
            "CF.RESERVE 100 MAXCAPACITY 99",
            "MAXCAPACITY: value must be at least the capacity, and equal to it with EXPANSION 0",
        ),
        (
            "CF.RESERVE 100 EXPANSION 0 MAXCAPACITY 101",
            "MAXCAPACITY: value must be at least the capacity, and equal to it with EXPANSION 0",
        ),
        ("CF.RESERVE 100 FOO 1", "Unknown argument received"),
        ("CF.RESERVE LIKE", "ERR wrong number of arguments for 'cf.reserve' command"),
        (
            "CF.RESERVE LIKE other ERROR 0.1",
            "LIKE: give neither a capacity nor options, since the filter has those of the other one",
        ),
        (
            "CF.RESERVE 100 ERROR 0.1 LIKE other",
            "LIKE: give neither a capacity nor options, since the filter has those of the other one",
        ),
        ("CF.RESERVE 100 ERROR", "ERR wrong number of arguments for 'cf.reserve' command"),
        ("CF.ADD a b", "ERR wrong number of arguments for 'cf.add' command"),
        ("CF.INSERT ITEMS", "ERR wrong number of arguments for 'cf.insert' command"),
        ("CF.INSERT CAPACITY", "ERR wrong number of arguments for 'cf.insert' command"),
        ("CF.INSERT CAPACITY 0 ITEMS a", "Capacity must be in the range [1, 1073741824]"),
        ("CF.INSERT HASH md5 ITEMS a", "HASH: value must be siphash13 or xxh3"),
        ("CF.RESERVE 100 HASH md5", "HASH: value must be siphash13 or xxh3"),
        ("CF.RESERVE 100 KEY 0011", "KEY: value must have 32 hexadecimal digits"),
        ("CF.RESERVE 100 KEY 0123456789abcdef0123456789abcdeg", "KEY: value must have 32 hexadecimal digits"),
        (
            "CF.RESERVE 100 HASH xxh3 KEY 0123456789abcdef0123456789abcdef",
            "KEY: a filter that hashes with xxh3 has no secret key",
        ),
        ("CF.SCANDUMP 0 FOO", "Unknown argument received"),
        ("CF.LOADCHUNK 1 x FOO bar", "Unknown argument received"),
        ("CF.LOADCHUNK 1 x KEY bar", "KEY: value must have 32 hexadecimal digits"),
        (
            "CF.LOADCHUNK 2 x KEY 0123456789abcdef0123456789abcdef",
            "KEY: only the first chunk of a dump that was made with NOKEY takes one",
        ),
        ("CF.INSERT CAPACITY x ITEMS a", "Bad capacity"),
        ("CF.INSERTNX FOO ITEMS a", "Unknown argument received"),
        ("CF.SCANDUMP x", "Invalid position"),
        ("CF.SCANDUMP -1", "Invalid position"),
        ("CF.LOADCHUNK 0 x", "Invalid position"),
        ("CF.LOADCHUNK x x", "Invalid position"),
        ("CF.LOADCHUNK 1 x", "Invalid header"),
    ];
    let mut key = Key::default();
    for (line, text) in refusals {
        assert_eq!(key.refusal(line), text, "{line}");
    }
    key.run("CF.RESERVE 100");
    assert_eq!(key.refusal("CF.RESERVE 100"), "ERR item exists");
    assert_eq!(key.refusal("CF.LOADCHUNK 1 x"), "ERR item exists");
    assert_eq!(key.refusal("CF.LOADCHUNK 2 x"), "Couldn't load chunk!");
    assert_eq!(key.refusal("CF.SCANDUMP 100000"), "Invalid position");
}

#[test]
fn replies_have_the_shapes_of_both_protocols() {
    let resp2: fn(Reply<'_>) -> String = |reply| sent(&reply, Protocol::Resp2);
    let resp3: fn(Reply<'_>) -> String = |reply| sent(&reply, Protocol::Resp3);
    let insertions = || [Insertion::Stored, Insertion::Refused].into_iter().collect();
    let unique = || [Insertion::Stored, Insertion::Present, Insertion::Refused].into_iter().collect();
    assert_eq!(resp2(Reply::Insertions(insertions())), "*2 #t :-1");
    assert_eq!(resp3(Reply::Insertions(insertions())), "*2 #t #f");
    for sent in [resp2, resp3] {
        assert_eq!(sent(Reply::UniqueInsertions(unique())), "*3 :1 :0 :-1");
        assert_eq!(sent(Reply::Done), "+OK");
        assert_eq!(sent(Reply::Flag(true)), "#t");
        assert_eq!(sent(Reply::Flags([true, false].into_iter().collect())), "*2 #t #f");
        assert_eq!(sent(Reply::Count(3)), ":3");
        assert_eq!(sent(Reply::LastChunk), "*2 :0 _");
        assert_eq!(sent(Reply::Chunk { next: 7, bytes: b"ab".into() }), "*2 :7 $ab");
        assert_eq!(sent(Reply::Fields(vec![("Size", 9)])), "%1 +Size :9");
        assert_eq!(sent(Reply::Text("a b".to_owned())), "$a b");
        assert_eq!(sent(Reply::Refused(CommandError::Full)), "-Filter is full");
    }
}

/// The frames of a reply, as they are written in RESP3; the server writes booleans as numbers in RESP2.
fn sent(reply: &Reply<'_>, protocol: Protocol) -> String {
    struct Written(Protocol, Vec<String>);

    impl Frames for Written {
        fn protocol(&self) -> Protocol {
            self.0
        }
        fn ok(&mut self) {
            self.name("OK");
        }
        fn integer(&mut self, number: i64) {
            self.1.push(format!(":{number}"));
        }
        fn boolean(&mut self, flag: bool) {
            self.1.push(if flag { "#t" } else { "#f" }.to_owned());
        }
        fn bytes(&mut self, bytes: &[u8]) {
            self.1.push(format!("${}", String::from_utf8_lossy(bytes)));
        }
        fn name(&mut self, name: &str) {
            self.1.push(format!("+{name}"));
        }
        fn error(&mut self, error: &CommandError) {
            self.1.push(format!("-{error}"));
        }
        fn null(&mut self) {
            self.1.push("_".to_owned());
        }
        fn array(&mut self, length: usize) {
            self.1.push(format!("*{length}"));
        }
        fn map(&mut self, length: usize) {
            self.1.push(format!("%{length}"));
        }
    }

    let mut written = Written(protocol, Vec::new());
    reply.send(&mut written);
    written.1.join(" ")
}

#[test]
fn information_has_the_eight_fields_that_clients_know() {
    let mut key = Key::default();
    key.run("CF.RESERVE 1000 BUCKETSIZE 8 MAXITERATIONS 7 EXPANSION 4");
    key.run("CF.INSERT ITEMS a b c");
    key.run("CF.DEL a");
    let Reply::Fields(fields) = key.run("CF.INFO") else { panic!("fields") };
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let known = [
        "Size",
        "Number of buckets",
        "Number of filters",
        "Number of items inserted",
        "Number of items deleted",
        "Bucket size",
        "Expansion rate",
        "Max iterations",
    ];
    assert_eq!(names, known);
    let value = |name| fields.iter().find(|(field, _)| *field == name).expect("a field").1;
    assert_eq!(
        (value("Number of filters"), value("Number of items inserted"), value("Number of items deleted")),
        (1, 2, 1)
    );
    assert_eq!((value("Bucket size"), value("Expansion rate")), (8, 2));
    assert!(value("Number of buckets") * 8 >= 1000);
}

#[test]
fn other_bucket_sizes_are_rounded_to_those_there_are() {
    for (asked, given) in [(1, 4), (2, 4), (3, 4), (4, 4), (5, 8), (8, 8), (255, 8)] {
        for options in ["", " EXPANSION 0"] {
            let mut key = Key::default();
            key.run(&format!("CF.RESERVE 1000 BUCKETSIZE {asked}{options}"));
            let Reply::Fields(fields) = key.run("CF.INFO") else { panic!("fields") };
            assert!(fields.contains(&("Bucket size", given)), "{asked}{options}: {fields:?}");
        }
    }
}

/// Stores items until one is refused; how many were stored, and why the next was not.
fn fill(key: &mut Key) -> (u64, String) {
    for item in 0..10_000_000 {
        if let Err(error) = key.ask(&format!("CF.ADD item-{item}")) {
            return (item, error.to_string());
        }
    }
    panic!("it is never full");
}

#[test]
fn a_filter_that_does_not_grow_holds_its_capacity_and_says_that_it_is_full() {
    let mut key = Key::default();
    key.run("CF.RESERVE 5000 EXPANSION 0");
    let (stored, refusal) = fill(&mut key);
    assert!(stored >= 5000, "{stored}");
    assert_eq!(refusal, "Filter is full");
    assert_eq!(key.run("CF.EXISTS item-17"), Reply::Flag(true));
    let Reply::Insertions(insertions) = key.run("CF.INSERT ITEMS x y") else { panic!("insertions") };
    assert!(insertions.contains(&Insertion::Refused));
}

#[test]
fn a_filter_that_grows_goes_on_beyond_its_max_capacity_and_says_when_it_grows_no_more() {
    let mut key = Key::default();
    // 12 bits at 20,000 items, of which a doubling takes one, and 8 remain.
    key.run("CF.RESERVE 1000 ERROR 0.003 MAXCAPACITY 20000");
    let (stored, refusal) = fill(&mut key);
    assert!((20_000 << 4..20_000 << 6).contains(&stored), "{stored}");
    assert_eq!(refusal, "Maximum expansions reached");
    // As RedisBloom answers: for all items at once, and not for each.
    assert_eq!(key.refusal("CF.INSERT ITEMS x y"), "Maximum expansions reached");
    assert_eq!(key.refusal("CF.INSERTNX ITEMS x y"), "Maximum expansions reached");
    for item in 0..stored {
        assert_eq!(key.run(&format!("CF.EXISTS item-{item}")), Reply::Flag(true), "{item}");
    }
}

#[test]
fn one_item_again_and_again_is_refused_and_takes_no_memory() {
    let mut key = Key::default();
    key.run("CF.RESERVE 1000");
    let size = key.value.as_ref().map(StoredFilter::size);
    for _ in 0..8 {
        key.run("CF.ADD same");
    }
    for _ in 0..10_000 {
        assert_eq!(key.refusal("CF.ADD same"), "ERR too many copies of this item: 8 are stored, as many as fit");
    }
    assert_eq!(key.value.as_ref().map(StoredFilter::size), size);
    assert_eq!(key.run("CF.ADD other"), Reply::Flag(true));
    assert_eq!(
        key.run("CF.INSERT ITEMS same new"),
        Reply::Insertions(vec![Insertion::Refused, Insertion::Stored].into())
    );
}

/// What CF.DEBUG says of a field.
fn described(key: &mut Key, field: &str) -> String {
    let Reply::Text(text) = key.run("CF.DEBUG") else { panic!("a text") };
    let mut fields = text.split(' ').filter_map(|field| field.split_once(':'));
    fields.find(|&(name, _)| name == field).expect("there is such a field").1.to_owned()
}

#[test]
fn a_table_grows_by_a_half_and_by_a_third_and_a_refusal_says_what_it_would_take() {
    for slots in [4, 8] {
        let mut key = Key::default();
        key.run(&format!("CF.RESERVE 1000 BUCKETSIZE {slots} MAXCAPACITY 100000"));
        let (mut slot_counts, mut stored) = (Vec::new(), 0);
        for doublings in ["0", "0.5", "1", "1.5", "2", "2.5"] {
            assert_eq!(described(&mut key, "doublings"), doublings);
            slot_counts.push(slots * described(&mut key, "buckets").parse::<u64>().expect("a number"));
            let size = key.value.as_ref().map_or(0, StoredFilter::size);
            key.settings.memory_limit = size;
            let refusal = loop {
                match key.ask(&format!("CF.ADD item-{stored}")) {
                    Ok(_) => stored += 1,
                    Err(error) => break error.to_string(),
                }
            };
            key.settings.memory_limit = 0;
            key.run(&format!("CF.ADD item-{stored}"));
            stored += 1;
            // Its table is small, and so it grows at once.
            let grown = key.value.as_ref().map_or(0, StoredFilter::size);
            let needed = refusal.strip_prefix("ERR the filter would take ").and_then(|rest| rest.split(' ').next());
            let needed: u64 = needed.expect("it is refused for memory").parse().expect("a number");
            // Behind the last slot are a few bytes more.
            assert!(
                (grown - 24..=grown).contains(&needed),
                "{slots} slots, doubled {doublings} times: {needed}, {grown}"
            );
            (0..stored).for_each(|item| assert_eq!(key.run(&format!("CF.EXISTS item-{item}")), Reply::Flag(true)));
        }
        let first = slot_counts[0];
        assert_eq!(slot_counts, [2, 3, 4, 6, 8, 12].map(|halves| first * halves / 2), "{slots} slots");
    }
}

#[test]
fn no_filter_is_made_or_grows_beyond_the_memory_limit() {
    let mut key = Key::limited_to(10_000);
    let refusal = key.refusal("CF.RESERVE 1000000");
    assert!(refusal.starts_with("ERR the filter would take") && refusal.contains("10000"), "{refusal}");
    key.run("CF.RESERVE 1000");
    let (stored, refusal) = fill(&mut key);
    assert!(stored >= 1000 && refusal.starts_with("ERR the filter would take"), "{stored}: {refusal}");
    assert!(key.value.as_ref().is_some_and(|filter| filter.size() <= 10_000));
    // What is refused is not told to replicas, whose limits may be others.
    key.run("CF.DEL item-1");
    let (reply, told) = key.told(&[b"CF.INSERT", b"ITEMS", b"x1", b"x2"]).expect("it answers");
    assert_eq!(reply, Reply::Insertions(vec![Insertion::Stored, Insertion::WithoutMemory].into()));
    assert_eq!(told, [b"CF.INSERT NOCREATE ITEMS x1"]);
}

#[test]
fn replicas_are_told_of_a_creation_with_all_its_measures() {
    let mut key = Key::default();
    let (_, told) = key.told(&[b"CF.ADD", b"a"]).expect("stored");
    let creation = "CF.RESERVE 64 ERROR 0.001 BUCKETSIZE 4 EXPANSION 2 MAXCAPACITY 33554432 KEY ";
    let [reserve, add] = told.as_slice() else { panic!("a creation and an insertion") };
    let key_digits = reserve.strip_prefix(creation.as_bytes()).expect("all measures, and the secret key");
    assert!(key_digits.len() == 32 && key_digits.iter().all(u8::is_ascii_hexdigit));
    assert_eq!(add, b"CF.ADD a");
    let (_, told) = Key::default().told(&[b"CF.RESERVE", b"9", b"EXPANSION", b"0", b"HASH", b"xxh3"]).expect("created");
    assert_eq!(told, [b"CF.RESERVE 9 ERROR 0.001 BUCKETSIZE 4 EXPANSION 0 MAXCAPACITY 9 HASH xxh3"]);
    let (_, told) = key.told(&[b"CF.ADD", b"a"]).expect("stored");
    assert_eq!(told, [b"CF.ADD a"]);
    let (_, told) = key.told(&[b"CF.ADDNX", b"a"]).expect("there");
    assert!(told.is_empty());
    let (_, told) = key.told(&[b"CF.INSERTNX", b"ITEMS", b"a", b"b"]).expect("one is there");
    assert_eq!(told, [b"CF.INSERT NOCREATE ITEMS b"]);
    let (_, told) = key.told(&[b"CF.DEL", b"absent"]).expect("an answer");
    assert!(told.is_empty());
}

#[test]
fn a_replica_that_does_what_it_is_told_ends_with_the_same_bytes() {
    let mut primary = Key { settings: Settings { capacity: 500, error_rate: 0.01, ..Settings::DEFAULT }, value: None };
    // Its settings do not matter.
    let mut replica = Key {
        settings: Settings { capacity: 9999, error_rate: 0.1, max_capacity: 1, memory_limit: 1, ..Settings::DEFAULT },
        value: None,
    };
    let mut state = 1_u64;
    for step in 0..20_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let item = format!("item-{}", (state >> 33) % 5000);
        let line = match step % 7 {
            0 => format!("CF.INSERTNX ITEMS {item} {step}"),
            1 => format!("CF.INSERT CAPACITY 10 ITEMS {item} {item} {step}"),
            2 => format!("CF.DEL {item}"),
            3 if step % 700 == 3 => "CF.COMPACT".to_owned(),
            3 => format!("CF.MDEL {item} {step}"),
            4 => format!("CF.ADDNX {item}"),
            _ => format!("CF.ADD {item}"),
        };
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let Ok((_, told)) = primary.told(&words) else { continue };
        for line in told {
            let words: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
            let name = command_called(str::from_utf8(words[0]).expect("a name"));
            let command = Command::parse(name, &words[1..]).expect("it was told");
            execute(&command, &mut replica.value, || replica.settings, Limits::Lifted, no_clock)
                .expect("it was accepted there");
        }
    }
    assert!(primary.value.as_ref().is_some_and(|filter| filter.size() > 10_000), "it has grown");
    assert_eq!(primary.value, replica.value);
}

#[test]
fn filters_made_alike_are_merged() {
    let filter = |lines: &[&str]| {
        let mut key = Key::default();
        lines.iter().for_each(|line| _ = key.run(line));
        key.value.expect("a filter")
    };
    let a = filter(&["CF.RESERVE 100 HASH xxh3", "CF.INSERT ITEMS a b"]);
    let b = filter(&["CF.RESERVE 100 HASH xxh3", "CF.INSERT ITEMS b c"]);
    let other = filter(&["CF.RESERVE 5000", "CF.INSERT ITEMS d"]);
    let limits = Limits::Bytes(1 << 20);

    let mut key = Key::default();
    merge(&mut key.value, &[Some(&a), Some(&b)], limits, None).expect("made alike");
    assert_eq!(key.run("CF.MEXISTS a b c d"), Reply::Flags(vec![true, true, true, false].into()));
    assert_eq!(key.run("CF.COUNT b"), Reply::Count(2));

    let before = copy(key.value.as_ref());
    for sources in [[Some(&a), Some(&other)], [Some(&a), None]] {
        let refusal = merge(&mut key.value, &sources, limits, None).expect_err("not alike, or not there").to_string();
        assert!(refusal.starts_with("ERR "), "{refusal}");
        assert_eq!(key.value, before, "{refusal}");
    }
}

#[test]
fn a_filter_that_is_being_doubled_is_merged_where_the_doubled_one_is_within_the_limit() {
    let size = |key: &Key| key.value.as_ref().map_or(0, StoredFilter::size);
    let mut first = Key::default();
    first.run("CF.RESERVE 20000");
    let mut second = Key::default();
    reserve_like(&mut second.value, first.value.as_ref(), Limits::Lifted).expect("there is one to be like");
    second.run("CF.ADD second");
    let before = size(&first);
    let mut items = 0..;
    while size(&first) == before {
        first.run(&format!("CF.ADD item-{}", items.next().expect("it has no end")));
    }
    let mut settled = Key { value: copy(first.value.as_ref()), ..Key::default() };
    merge(&mut settled.value, &[second.value.as_ref()], Limits::Lifted, None).expect("it has room");
    assert!(size(&settled) < size(&first), "it has two tables");
    let limit = |bytes| Limits::Bytes(bytes);
    let refused = merge(&mut first.value, &[second.value.as_ref()], limit(size(&settled) - 1), None);
    assert!(matches!(refused, Err(CommandError::MemoryLimit { .. })), "{refused:?}");
    merge(&mut first.value, &[second.value.as_ref()], limit(size(&settled)), None).expect("it has room");
    assert_eq!(first.run("CF.MEXISTS second item-7"), Reply::Flags(vec![true, true].into()));
}

#[test]
fn a_filter_made_like_another_is_merged_with_it_and_one_with_a_key_of_its_own_is_not() {
    let limits = Limits::Bytes(1 << 24);
    let mut first = Key::default();
    first.run("CF.RESERVE 100 BUCKETSIZE 8 ERROR 0.01");
    // It grows meanwhile, which one made like it need not have.
    for item in 0..5000 {
        first.run(&format!("CF.ADD first-{item}"));
    }
    let mut second = Key::default();
    reserve_like(&mut second.value, first.value.as_ref(), limits).expect("there is one to be like");
    assert!(second.value.as_ref().map(StoredFilter::size) < first.value.as_ref().map(StoredFilter::size));
    assert_eq!(second.run("CF.EXISTS first-1"), Reply::Flag(false));
    second.run("CF.ADD second");
    merge(&mut first.value, &[second.value.as_ref()], limits, None).expect("made alike");
    assert_eq!(first.run("CF.MEXISTS second first-7"), Reply::Flags(vec![true, true].into()));

    let mut stranger = Key::default();
    stranger.run("CF.RESERVE 100 BUCKETSIZE 8 ERROR 0.01");
    let refusal =
        merge(&mut first.value, &[stranger.value.as_ref()], limits, None).expect_err("another key").to_string();
    assert!(refusal.starts_with("ERR the filters have different secret keys: "), "{refusal}");
    let refusal =
        |place: &mut Option<StoredFilter>, other| reserve_like(place, other, limits).expect_err("refused").to_string();
    assert_eq!(refusal(&mut stranger.value, first.value.as_ref()), "ERR item exists");
    assert_eq!(refusal(&mut None, None), "ERR not found");
    assert!(matches!(
        Command::parse(command_called("CF.RESERVE"), &[b"like", b"other"]),
        Ok(Command::ReserveLike { other: b"other" })
    ));
}

#[test]
fn a_compaction_is_told_only_where_it_changes_something() {
    let mut key = Key::default();
    let told = |key: &mut Key| key.told(&[b"CF.COMPACT"]).expect("it is compacted").1;
    let items: Vec<String> = (0..1000).map(|item| item.to_string()).collect();
    key.run(&format!("CF.INSERT ITEMS {}", items.join(" ")));
    assert_eq!(told(&mut key), Vec::<Vec<u8>>::new());
    key.run(&format!("CF.MDEL {}", items[10..].join(" ")));
    assert_eq!(told(&mut key), [b"CF.COMPACT"]);
    assert_eq!(told(&mut key), Vec::<Vec<u8>>::new());
}

/// A transaction compacts in one go, which ends a doubling.
#[test]
fn a_replica_holds_the_same_however_often_a_filter_is_compacted_while_it_grows() {
    let [mut primary, mut replica] = [(), ()].map(|()| Key::default());
    for key in [&mut primary, &mut replica] {
        key.run("CF.RESERVE 20000 MAXCAPACITY 1000000 HASH xxh3");
    }
    let mut told = 0;
    for start in (0..200_000).step_by(500) {
        let items: Vec<String> = (start..start + 500).map(|item| item.to_string()).collect();
        let insertion = format!("CF.INSERT ITEMS {}", items.join(" "));
        for key in [&mut primary, &mut replica] {
            key.run(&insertion);
        }
        for command in primary.told(&[b"CF.COMPACT"]).expect("it is compacted").1 {
            replica.run(&String::from_utf8(command).expect("a command"));
            told += 1;
        }
    }
    assert!(primary.value == replica.value, "after {told} compactions");
    assert!(told > 0, "none fell into a doubling");
}
