//! Filters that RedisBloom itself made, in its releases and its development of 2026: all of them are imported, answer as
//! they did there, and lose nothing when a part is removed.

use std::io::{BufRead, BufReader};

use base64::Engine;
use flate2::read::GzDecoder;
use guira_redis::{Command, CommandName, Limits, Reply, Settings, StoredFilter, execute};
use serde_json::Value;

const DUMPS: &[u8] = include_bytes!("../data/redisbloom.jsonl.gz");

fn dumps() -> impl Iterator<Item = Value> {
    let lines = BufReader::new(GzDecoder::new(DUMPS)).lines();
    lines.map(|line| serde_json::from_str(&line.expect("text")).expect("JSON"))
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().into_iter().flatten().map(|number| number.as_u64().expect("a number")).collect()
}

/// The numbers of the items that are stored, each once.
fn stored(dump: &Value) -> Vec<u64> {
    let ranges = dump["stored_ranges"].as_array().into_iter().flatten().flat_map(|range| {
        let ends = numbers(range);
        ends[0]..ends[1]
    });
    numbers(&dump["stored"]).into_iter().chain(ranges).collect()
}

fn run(value: &mut Option<StoredFilter>, name: CommandName, words: &[&[u8]]) -> Reply<'static> {
    let command = Command::parse(name, words).expect("a command");
    let outcome = execute(&command, value, Settings::default, Limits::Bytes(1 << 30), || 0);
    outcome.unwrap_or_else(|error| panic!("{error}")).reply
}

fn import(dump: &Value) -> Option<StoredFilter> {
    let mut filter = None;
    for chunk in dump["chunks"].as_array().expect("chunks") {
        let bytes = base64::engine::general_purpose::STANDARD.decode(chunk[1].as_str().expect("text")).expect("base64");
        run(&mut filter, CommandName::LoadChunk, &[chunk[0].to_string().as_bytes(), &bytes]);
    }
    filter
}

fn exists(filter: &mut Option<StoredFilter>, item: &str) -> bool {
    run(filter, CommandName::Exists, &[item.as_bytes()]) == Reply::Flag(true)
}

#[test]
fn every_dump_is_imported_and_answers_as_in_redisbloom() {
    let mut imported = 0;
    for dump in dumps() {
        let name = format!("{} {}", dump["redisbloom"], dump["variant"]);
        let mut filter = import(&dump);
        for number in stored(&dump) {
            assert!(exists(&mut filter, &format!("item:{number}")), "{name}: item:{number} is lost");
        }
        let found: Vec<u64> = (0..2000).filter(|number| exists(&mut filter, &format!("absent:{number}"))).collect();
        assert_eq!(found, numbers(&dump["found_absent"]), "{name}");
        for (number, &count) in numbers(&dump["counts_of_first_200"]).iter().enumerate() {
            let item = format!("item:{number}");
            assert_eq!(run(&mut filter, CommandName::Count, &[item.as_bytes()]), Reply::Count(count), "{name}: {item}");
        }
        let Reply::Fields(fields) = run(&mut filter, CommandName::Info, &[]) else { panic!("fields") };
        for field in ["Number of buckets", "Number of filters", "Number of items inserted", "Bucket size"] {
            let here = fields.iter().find(|(other, _)| *other == field).map(|(_, value)| *value);
            assert_eq!(here, dump["info"][field].as_u64(), "{name}: {field}");
        }
        imported += 1;
    }
    assert_eq!(imported, 54);
}

#[test]
fn nothing_is_lost_when_half_of_the_items_of_a_dump_are_removed() {
    for dump in dumps() {
        let mut filter = import(&dump);
        let stored = stored(&dump);
        let (removed, kept): (Vec<u64>, Vec<u64>) = stored.iter().partition(|&&number| number % 2 == 0);
        for number in removed {
            let item = format!("item:{number}");
            assert_eq!(run(&mut filter, CommandName::Del, &[item.as_bytes()]), Reply::Flag(true), "{item}");
        }
        for number in kept {
            assert!(exists(&mut filter, &format!("item:{number}")), "item:{number} is lost");
        }
    }
}
