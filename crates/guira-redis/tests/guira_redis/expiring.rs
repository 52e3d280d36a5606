//! Filters whose items expire, without a server: what is found when, and that a replica which is told the changes, with their times,
//! has the same bytes, whatever its own clock says.

use std::collections::BTreeMap;

use guira_redis::{
    Command, CommandError, CommandName, Insertion, Limits, Outcome, Reply, Secret, Settings, StoredFilter, Told,
    execute, merge, reserve_like, scan_dump,
};

/// In the year 2027.
const START: u64 = 1_800_000_000_000;

const SECOND: u64 = 1000;

/// A primary with a clock, and a replica without one.
struct Pair {
    primary: Option<StoredFilter>,
    replica: Option<StoredFilter>,
    now: u64,
}

fn parse<'words>(words: &'words [&'words [u8]]) -> Result<Command<'words>, CommandError> {
    let name = str::from_utf8(words[0]).expect("a name");
    let mut names = CommandName::ALL.into_iter();
    let name = names.find(|command| command.name().eq_ignore_ascii_case(name)).expect("there is such a command");
    Command::parse(name, &words[1..])
}

fn words(line: &str) -> Vec<&[u8]> {
    line.split(' ').map(str::as_bytes).collect()
}

impl Pair {
    /// A filter that is as it was created.
    #[track_caller]
    fn new(reserve: &str) -> Self {
        let mut pair = Self { primary: None, replica: None, now: START };
        assert_eq!(pair.run(reserve), Reply::Done);
        pair
    }

    fn made(reserve: &str) -> Option<StoredFilter> {
        Self::new(reserve).primary
    }

    fn ask(&mut self, line: &str) -> Result<Reply<'static>, CommandError> {
        let before = self.primary.as_ref().map(|filter| filter.try_clone().expect("there is memory"));
        let words = words(line);
        let limits = Limits::Bytes(1 << 30);
        let asked = execute(&parse(&words)?, &mut self.primary, Settings::default, limits, || self.now);
        let told: Vec<String> = match &asked {
            Ok(Outcome { changes, .. }) => {
                let text = |item: &&[u8]| String::from_utf8(item.to_vec()).expect("text");
                let items = |items: &[&[u8]]| items.iter().map(text).collect::<Vec<_>>().join(" ");
                let created = changes.created.iter().map(|made| format!("CF.RESERVE {}", made.arguments().join(" ")));
                let changed = match &changes.told {
                    Told::Nothing => Vec::new(),
                    Told::InsertedAt { time, items: stored } => {
                        vec![format!("CF.INSERT NOCREATE AT {time} ITEMS {}", items(stored)).trim_end().to_owned()]
                    }
                    Told::DeletedAt { time, items } => {
                        items.iter().map(|item| format!("CF.DEL {} AT {time}", text(item))).collect()
                    }
                    Told::Same | Told::Stored(_) => panic!("{line}: no time is told"),
                };
                created.chain(changed).collect()
            }
            Err(_) => Vec::new(),
        };
        assert_eq!(told.is_empty(), self.primary == before, "{line}: all changes are told, and nothing else is");
        for line in told {
            let words = self::words(&line);
            let command = parse(&words).expect("it was told");
            let clock = || panic!("{line}: the replica's clock was asked");
            let outcome = execute(&command, &mut self.replica, Settings::default, Limits::Lifted, clock);
            // A server takes it amiss where its primary's commands fail.
            assert!(!matches!(outcome, Err(_) | Ok(Outcome { reply: Reply::Refused(_), .. })), "{line}: {outcome:?}");
        }
        assert_eq!(self.primary, self.replica, "{line}");
        asked.map(|outcome| outcome.reply)
    }

    #[track_caller]
    fn run(&mut self, line: &str) -> Reply<'static> {
        self.ask(line).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    #[track_caller]
    fn refusal(&mut self, line: &str) -> String {
        self.ask(line).expect_err("it is refused").to_string()
    }

    fn field(&mut self, name: &str) -> u64 {
        let Reply::Fields(fields) = self.run("CF.INFO") else { panic!("fields") };
        fields.iter().find(|(field, _)| *field == name).unwrap_or_else(|| panic!("{name}: no such field")).1
    }
}

#[test]
fn items_expire_by_the_clock_without_a_write() {
    let mut pair = Pair::new("CF.RESERVE 1000 LIFETIME 60");
    assert_eq!(pair.run("CF.ADD ani"), Reply::Flag(true));
    let (lifetime, resolution) = (pair.field("Lifetime"), pair.field("Resolution"));
    // A fourteenth, and a whole number of them.
    assert_eq!((lifetime, resolution), (60_004, 4286));
    pair.now = START + lifetime - 1;
    assert_eq!(pair.run("CF.INSERT ITEMS koel koel"), Reply::Insertions([Insertion::Stored; 2].to_vec().into()));
    assert_eq!(pair.run("CF.MEXISTS ani koel"), Reply::Flags(vec![true, true].into()));
    assert_eq!((pair.run("CF.COUNT ani"), pair.field("Number of items inserted")), (Reply::Count(1), 3));
    // The time that it shows is that of the last write.
    assert_eq!(pair.field("Time"), pair.now);
    pair.now = START + lifetime + resolution;
    assert_eq!(pair.run("CF.MEXISTS ani koel"), Reply::Flags(vec![false, true].into()));
    assert_eq!(pair.run("CF.EXISTS ani"), Reply::Flag(false));
    assert_eq!((pair.run("CF.COUNT ani"), pair.run("CF.COUNT koel")), (Reply::Count(0), Reply::Count(2)));
    assert_eq!(pair.run("CF.DEL ani"), Reply::Flag(false));
    assert_eq!(pair.field("Number of items inserted"), 2);
    // A server was idle for a month.
    pair.now += 30 * 24 * 60 * 60 * SECOND;
    assert_eq!(pair.field("Number of items inserted"), 0);
    assert_eq!(pair.run("CF.ADDNX koel"), Reply::Flag(true));
    assert_eq!(pair.run("CF.ADDNX koel"), Reply::Flag(false));
    assert_eq!(pair.run("CF.MDEL ani koel"), Reply::Flags(vec![false, true].into()));
    assert_eq!(pair.field("Number of items deleted"), 1);
}

#[test]
fn a_clock_that_goes_back_changes_nothing() {
    let mut pair = Pair::new("CF.RESERVE 1000 LIFETIME 60");
    pair.now = START + 50 * SECOND;
    pair.run("CF.ADD ani");
    pair.now = START - 1000 * SECOND;
    assert_eq!(pair.run("CF.EXISTS ani"), Reply::Flag(true));
    pair.run("CF.ADD koel");
    assert_eq!(pair.field("Time"), START + 50 * SECOND);
    // It counts from the time that was reached.
    pair.now = START + 109 * SECOND;
    assert_eq!(pair.run("CF.EXISTS koel"), Reply::Flag(true));
    pair.now = START + 115 * SECOND;
    assert_eq!(pair.run("CF.EXISTS koel"), Reply::Flag(false));
}

#[test]
fn commands_may_say_when_they_happen() {
    let mut pair = Pair::new("CF.RESERVE 1000 LIFETIME 60 AT 5000");
    pair.run("CF.INSERT AT 6000 ITEMS ani");
    pair.run("CF.INSERTNX AT 40000 ITEMS ani koel");
    assert_eq!(pair.field("Time"), 40_000);
    assert_eq!(pair.run("CF.DEL ani AT 90000"), Reply::Flag(false));
    assert_eq!(pair.run("CF.DEL koel at 90000"), Reply::Flag(true));
    assert_eq!(pair.field("Time"), 90_000);
}

#[test]
fn a_replica_has_the_same_bytes_and_no_living_item_is_lost() {
    // For a tenth of what comes there is no room, for other copies are not old enough.
    let mut pair = Pair::new("CF.RESERVE 400 ERROR 0.0001 LIFETIME 100");
    let lifetime = pair.field("Lifetime");
    // When each item was stored for the last time; each is its own, so that none is removed in place of another.
    let mut stored: BTreeMap<String, u64> = BTreeMap::new();
    let (mut state, mut refused) = (1_u64, 0);
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for step in 0..20_000_u64 {
        pair.now = match random(1000) {
            0 => pair.now + 5 * lifetime,
            1 => pair.now - 20 * SECOND,
            2..500 => pair.now,
            _ => pair.now + random(400),
        };
        let time = pair.field("Time").max(pair.now);
        stored.retain(|_, came| time - *came < lifetime);
        let (first, second) = (format!("item-{step}"), format!("other-{step}"));
        match step % 5 {
            0 | 1 => match pair.run_or_refuse(&format!("{} {first}", ["CF.ADD", "CF.ADDNX"][(step % 5) as usize])) {
                Some(true) => _ = stored.insert(first, time),
                Some(false) => {}
                None => refused += 1,
            },
            2 | 3 => {
                let name = if step % 5 == 2 { "CF.INSERT" } else { "CF.INSERTNX" };
                let reply = pair.run(&format!("{name} ITEMS {first} {second}"));
                let (Reply::Insertions(answers) | Reply::UniqueInsertions(answers)) = reply else {
                    panic!("insertions")
                };
                for (item, answer) in [first, second].into_iter().zip(answers) {
                    match answer {
                        Insertion::Stored => _ = stored.insert(item, time),
                        Insertion::Present => {}
                        Insertion::Refused | Insertion::WithoutMemory => refused += 1,
                    }
                }
            }
            _ => {
                let at = usize::try_from(random(1 + stored.len() as u64)).expect("small");
                let Some(item) = stored.keys().nth(at).cloned() else { continue };
                assert_eq!(pair.run(&format!("CF.MDEL absent {item}")), Reply::Flags(vec![false, true].into()));
                stored.remove(&item);
            }
        }
        if step % 100 == 0 && !stored.is_empty() {
            let items: Vec<&str> = stored.keys().map(String::as_str).collect();
            let found = pair.run(&format!("CF.MEXISTS {}", items.join(" ")));
            assert_eq!(found, Reply::Flags(vec![true; items.len()].into()), "step {step}");
        }
    }
    assert!(refused > 100, "{refused}: what is told of a full filter was not tested");
}

impl Pair {
    /// Whether an item was stored; `None` if there was no room for it.
    fn run_or_refuse(&mut self, line: &str) -> Option<bool> {
        match self.ask(line) {
            Ok(Reply::Flag(is_stored)) => Some(is_stored),
            Ok(Reply::Refused(CommandError::Full)) | Err(CommandError::Full) => None,
            other => panic!("{line}: {other:?}"),
        }
    }
}

#[test]
fn it_is_full_where_as_many_items_are_there_as_come_in_a_lifetime_and_a_resolution() {
    for capacity in [100, 1000, 20_000_usize] {
        let mut pair = Pair::new(&format!("CF.RESERVE {capacity} LIFETIME 1400"));
        let resolution = capacity.div_ceil(14);
        let stored = (0..2 * capacity).filter(|item| pair.run_or_refuse(&format!("CF.ADD {item}")).is_some()).count();
        assert_eq!(stored, capacity + resolution);
        // What is removed makes room.
        pair.run("CF.DEL 1");
        assert_eq!(pair.run("CF.ADD again"), Reply::Flag(true));
        assert_eq!(pair.refusal("CF.ADD more"), "Filter is full");
        // And so does what has expired.
        pair.now += 1500 * SECOND + 1;
        assert_eq!(pair.run("CF.ADD more"), Reply::Flag(true));
    }
}

/// What replicas are told where the primary had no memory for an item.
#[test]
fn an_insertion_of_nothing_moves_the_time_on() {
    let mut pair = Pair::new("CF.RESERVE 100 LIFETIME 14");
    let time = |pair: &mut Pair| {
        let Reply::Fields(fields) = pair.run("CF.INFO") else { panic!("fields") };
        fields.into_iter().find(|(name, _)| *name == "Time").map(|(_, time)| time)
    };
    let none = Reply::Insertions(Vec::new().into());
    assert_eq!(pair.run(&format!("CF.INSERT NOCREATE AT {} ITEMS", START + 7)), none);
    assert_eq!(time(&mut pair), Some(START + 7));
    // It never goes back.
    assert_eq!(pair.run(&format!("CF.INSERT NOCREATE AT {START} ITEMS")), none);
    assert_eq!(time(&mut pair), Some(START + 7));
    assert!(matches!(pair.ask("CF.INSERT NOCREATE ITEMS"), Err(CommandError::Arity { .. })));
    let mut growing = Pair::new("CF.RESERVE 100");
    assert!(matches!(growing.ask("CF.INSERT NOCREATE AT 5 ITEMS"), Err(CommandError::TimeNotUsed)));
}

#[test]
fn what_filters_with_a_lifetime_are_not_for_is_refused_with_the_reason() {
    let mut pair = Pair { primary: None, replica: None, now: START };
    let grows = "ERR a filter with LIFETIME does not grow: leave out MAXCAPACITY, and EXPANSION or give it 0";
    let refusals = [
        ("CF.RESERVE 100 LIFETIME 0", "LIFETIME: value must be in the range [1, 4294967295]"),
        ("CF.RESERVE 100 LIFETIME 4294967296", "LIFETIME: value must be in the range [1, 4294967295]"),
        ("CF.RESERVE 100 LIFETIME 1.5", "Couldn't parse LIFETIME"),
        ("CF.RESERVE 100 LIFETIME 60 AT x", "Couldn't parse AT"),
        ("CF.RESERVE 100 LIFETIME 60 AT -1", "AT: value must be in the range [0, 9223372036854775807]"),
        ("CF.RESERVE 100 LIFETIME 60 EXPANSION 2", grows),
        ("CF.RESERVE 100 LIFETIME 60 MAXCAPACITY 200", grows),
        (
            "CF.RESERVE 100 LIFETIME 60 RESOLUTION 61",
            "RESOLUTION: give at least a 254th of LIFETIME, and at most all of it",
        ),
        (
            "CF.RESERVE 100 LIFETIME 255 RESOLUTION 1",
            "RESOLUTION: give at least a 254th of LIFETIME, and at most all of it",
        ),
        ("CF.RESERVE 100 RESOLUTION 1", "RESOLUTION: only filters with LIFETIME have one"),
        ("CF.RESERVE 100 AT 5", "AT: only filters with LIFETIME have a time"),
        ("CF.RESERVE 100 LIFETIME", "ERR wrong number of arguments for 'cf.reserve' command"),
        ("CF.INSERT AT 5 ITEMS a", "AT: only filters with LIFETIME have a time"),
        ("CF.INSERT AT", "ERR wrong number of arguments for 'cf.insert' command"),
        ("CF.INSERT NOCREATE AT 5 ITEMS a", "ERR not found"),
        ("CF.DEL a AT 5", "Not found"),
        ("CF.DEL a ON 5", "Unknown argument received"),
        ("CF.DEL a AT", "ERR wrong number of arguments for 'cf.del' command"),
    ];
    for (line, text) in refusals {
        assert_eq!(pair.refusal(line), text, "{line}");
    }
    let timed = ["CF.INSERT AT 5 ITEMS a", "CF.INSERT NOCREATE AT 5 ITEMS", "CF.DEL a AT 5"];
    let mut plain = Pair::new("CF.RESERVE 100");
    for line in timed {
        assert_eq!(plain.refusal(line), "AT: only filters with LIFETIME have a time", "{line}");
    }
    let mut loading = Pair { primary: None, replica: None, now: START };
    let whole = &mut Pair::new("CF.RESERVE 100 LIFETIME 60").primary;
    let Ok(Reply::Chunk { bytes: header, .. }) = scan_dump(whole, 0, Secret::Kept, None) else { panic!("a header") };
    let command = Command::LoadChunk { position: 1, data: &header, key: None };
    for place in [&mut loading.primary, &mut loading.replica] {
        execute(&command, place, Settings::default, Limits::Lifted, || START).expect("it begins");
    }
    for line in timed {
        assert!(loading.refusal(line).starts_with("ERR the filter is still being loaded"), "{line}");
    }
    pair.run("CF.RESERVE 100 LIFETIME 60 EXPANSION 0 MAXCAPACITY 100");
    assert_eq!(pair.refusal("CF.COMPACT"), "ERR a filter with LIFETIME does not grow, so there is nothing to compact");
    let limits = Limits::Bytes(1 << 20);
    let plain = Pair::made("CF.RESERVE 100 HASH xxh3");
    for sources in [[&plain, &pair.primary], [&pair.primary, &plain]] {
        let refusal = merge(&mut None, &sources.map(Option::as_ref), limits, None).expect_err("refused").to_string();
        assert_eq!(refusal, "ERR a filter with LIFETIME and one without can't be merged");
    }
    let otherwise = Pair::made("CF.RESERVE 100 LIFETIME 61 HASH xxh3");
    let pair = Pair::new("CF.RESERVE 100 LIFETIME 60 HASH xxh3");
    let refusal =
        merge(&mut None, &[pair.primary.as_ref(), otherwise.as_ref()], limits, None).expect_err("refused").to_string();
    assert!(refusal.contains("lifetime"), "{refusal}");
    let limited = parse(&words("CF.RESERVE 1000000 LIFETIME 60")).map(|command| {
        execute(&command, &mut None, Settings::default, limits, || START).expect_err("too large").to_string()
    });
    assert!(limited.expect("it is parsed").contains("more than the 1048576 of guira.memory-limit"));
}

#[test]
fn a_resolution_may_be_chosen() {
    for (lifetime, resolution) in [(60, 1), (60, 60), (254, 1), (86_400, 3600)] {
        let mut pair = Pair::new(&format!("CF.RESERVE 100 LIFETIME {lifetime} RESOLUTION {resolution}"));
        assert_eq!(pair.field("Lifetime"), lifetime * SECOND);
        assert_eq!(pair.field("Resolution"), resolution * SECOND);
        pair.run("CF.ADD ani");
        pair.now += (lifetime + resolution) * SECOND;
        assert_eq!(pair.run("CF.EXISTS ani"), Reply::Flag(false));
    }
}

#[test]
fn filters_made_alike_are_merged_and_none_of_their_items_dies_early() {
    let mut first = Pair::new("CF.RESERVE 1000 LIFETIME 60");
    let mut second = Pair { primary: None, replica: None, now: START + 30 * SECOND };
    let limits = Limits::Bytes(1 << 20);
    reserve_like(&mut second.primary, first.primary.as_ref(), limits).expect("there is memory");
    second.replica = second.primary.as_ref().map(|filter| filter.try_clone().expect("there is memory"));
    first.run("CF.INSERT ITEMS ani koel");
    second.run("CF.INSERT ITEMS koel guira");
    let mut merged = Pair { primary: None, replica: None, now: START + 30 * SECOND };
    for place in [&mut merged.primary, &mut merged.replica] {
        merge(place, &[first.primary.as_ref(), second.primary.as_ref()], limits, None).expect("they were made alike");
    }
    assert_eq!(merged.field("Time"), START + 30 * SECOND);
    assert_eq!(merged.run("CF.MEXISTS ani koel guira absent"), Reply::Flags(vec![true, true, true, false].into()));
    assert_eq!(merged.run("CF.COUNT koel"), Reply::Count(2));
    merged.now = START + 60 * SECOND;
    assert_eq!(merged.run("CF.MEXISTS ani koel guira"), Reply::Flags(vec![true; 3].into()));
    // A resolution later the items of the first are dead, and those of the second live on.
    merged.now = START + 65 * SECOND;
    assert_eq!(merged.run("CF.MEXISTS ani koel guira"), Reply::Flags(vec![false, true, true].into()));
    assert_eq!(merged.run("CF.COUNT koel"), Reply::Count(1));
    merged.run("CF.ADD ani");
}

#[test]
fn what_is_dumped_in_chunks_is_loaded() {
    let mut pair = Pair::new("CF.RESERVE 1000000 LIFETIME 60");
    pair.run("CF.INSERT ITEMS ani koel");
    pair.now += 30 * SECOND;
    pair.run("CF.ADD guira");
    let (mut loaded, mut position, mut chunks) = (None, 0, 0);
    let limits = Limits::Bytes(1 << 24);
    while let Reply::Chunk { next, bytes } =
        scan_dump(&pair.primary, position, guira_redis::Secret::Kept, None).expect("it is whole")
    {
        let command = Command::LoadChunk { position: next, data: &bytes, key: None };
        execute(&command, &mut loaded, Settings::default, limits, || panic!("the clock was asked")).expect("sound");
        (position, chunks) = (next, chunks + 1);
    }
    assert!(chunks > 3, "{chunks} chunks");
    assert_eq!(loaded, pair.primary);
}

#[test]
fn every_bucket_size_and_many_capacities_are_taken() {
    for capacity in [1, 2, 3, 10, 1000, 12_345, 1_000_000] {
        for options in ["", " BUCKETSIZE 2", " BUCKETSIZE 8", " ERROR 0.5", " ERROR 0.000001", " HASH xxh3"] {
            for lifetime in [1, 60, 86_400, 4_294_967_295_u64] {
                let mut pair = Pair::new(&format!("CF.RESERVE {capacity} LIFETIME {lifetime}{options}"));
                assert_eq!(pair.field("Bucket size"), if options == " BUCKETSIZE 8" { 8 } else { 4 });
                pair.run("CF.ADD ani");
                pair.now += lifetime * SECOND - 1;
                assert_eq!(pair.run("CF.EXISTS ani"), Reply::Flag(true));
                assert!(pair.field("Lifetime") - lifetime * SECOND < 14);
            }
        }
    }
}
