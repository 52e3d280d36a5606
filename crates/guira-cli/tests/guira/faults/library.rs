//! Saves and loads of the library in a process of their own, as the tracer runs them.

use std::error::Error;
use std::fmt::Display;
use std::fs;

use guira::{CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet};

/// Says to the tracer where the calls begin and end that are tried.
fn mark(name: &str) {
    fs::metadata(name).ok();
}

/// Made before the first mark, saved behind it.
enum Made {
    Filter(CuckooFilter),
    Set(CuckooSet),
    Map(CuckooMap<u8>),
    Counting(CountingCuckooFilter),
}

fn made(kind: &str) -> Result<Made, Box<dyn Error>> {
    let keys = (0..1500).map(|number| format!("key {number}"));
    Ok(match kind {
        "filter" => {
            let mut filter = CuckooFilter::with_capacity(3000, 0.001)?;
            filter.try_extend(keys)?;
            Made::Filter(filter)
        }
        "set" => {
            let mut set = CuckooSet::with_capacity(3000, 0.001)?;
            for key in keys {
                set.insert(&key)?;
            }
            Made::Set(set)
        }
        "map" => {
            let mut map = CuckooMap::with_capacity(3000, 0.001)?;
            for (key, value) in keys.zip((0..=u8::MAX).cycle()) {
                map.insert(&key, value)?;
            }
            Made::Map(map)
        }
        _ => {
            let mut filter = CountingCuckooFilter::with_capacity(3000, 0.001)?;
            for key in keys {
                filter.insert(&key)?;
            }
            Made::Counting(filter)
        }
    })
}

fn save(made: &Made, path: &str) -> Result<(), guira::SaveError> {
    match made {
        Made::Filter(filter) => filter.save(path),
        Made::Set(set) => set.save(path),
        Made::Map(map) => map.save(path),
        Made::Counting(filter) => filter.save(path),
    }
}

fn open(kind: &str, path: &str) -> Result<Made, guira::LoadError> {
    Ok(match kind {
        "filter" => Made::Filter(CuckooFilter::open(path)?),
        "set" => Made::Set(CuckooSet::open(path)?),
        "map" => Made::Map(CuckooMap::open(path)?),
        _ => Made::Counting(CountingCuckooFilter::open(path)?),
    })
}

/// Does the call, and returns what it answers.
fn done(call: &str, kind: &str, path: &str, prepared: Option<&Made>) -> Result<String, Box<dyn Error>> {
    if let Some(made) = prepared {
        save(made, path)?;
        return Ok(String::new());
    }
    let mut opened = open(kind, path)?;
    match (call, &mut opened) {
        ("load", Made::Filter(filter)) => return Ok(filter.contains("key 7").to_string()),
        ("update", Made::Filter(filter)) => filter.try_extend((1500..2500).map(|number| format!("key {number}")))?,
        _ => {}
    }
    save(&opened, path)?;
    Ok(String::new())
}

/// Ends without the test harness, which would write how long it took.
fn end(status: i32, message: impl Display) -> ! {
    mark("guira-end");
    if status == 0 {
        println!("{message}");
    } else {
        eprintln!("guira: {message}");
    }
    std::process::exit(status)
}

#[test]
#[ignore = "it is run by the tracer"]
fn saves_and_loads_for_the_tracer() {
    let Ok(words) = std::env::var("GUIRA_LIBRARY_CALL") else { return };
    let (call, path) = words.split_once(' ').expect("a call and a file");
    let (call, kind) = call.split_once('-').expect("a call and a kind");
    let prepared = (call == "save").then(|| made(kind).expect("a filter"));
    mark("guira-begin");
    match done(call, kind, path, prepared.as_ref()) {
        Ok(answer) => end(0, answer),
        Err(error) => end(2, format_args!("{path}: {error}")),
    }
}
