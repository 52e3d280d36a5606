//! Which room of `guira` may use which: the table in ARCHITECTURE.md is the rule, and the code is held to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::text::{backticked, code_only, is_identifier};
use crate::tree::{assert_nothing, files, map, read, root};

/// The rooms, and the rooms that each may use.
type Rooms = BTreeMap<String, BTreeSet<String>>;

/// The table whose first column is called "room"; its third column has what the room may use.
fn rooms_on(map: &str) -> Rooms {
    let rows = map.lines().skip_while(|line| !line.starts_with("| room ")).take_while(|line| line.starts_with('|'));
    let room = |row: &str| {
        let cells: Vec<&str> = row.split('|').collect();
        let [_, room, _, may_use, ..] = cells[..] else { panic!("a row of rooms has three cells: {row}") };
        let [room] = backticked(room)[..] else { panic!("a row is about one room: {row}") };
        (room.to_owned(), backticked(may_use).into_iter().map(str::to_owned).collect())
    };
    rows.skip(2).map(room).collect()
}

/// The room of a source file; none for lib.rs, which is a door sign.
fn room_of(file: &Path) -> Option<String> {
    let first = file.iter().next()?.to_str()?;
    let room = first.strip_suffix(".rs").unwrap_or(first);
    (room != "lib").then(|| room.to_owned())
}

/// The names that follow `crate::`, and the rooms that follow `super::`, which would be a way around.
fn used_by<'code>(code: &'code str, rooms: &Rooms) -> BTreeSet<&'code str> {
    let name = |text: &'code str| {
        let end = text.find(|c| !is_identifier(c)).unwrap_or(text.len());
        if end == 0 { "several names in one `use`" } else { &text[..end] }
    };
    let names_after = |prefix: &str| {
        let length = prefix.len();
        code.match_indices(prefix).map(|(at, _)| name(&code[at + length..])).collect::<Vec<_>>()
    };
    let by_super = names_after("super::").into_iter().filter(|name| rooms.contains_key(*name));
    names_after("crate::").into_iter().chain(by_super).collect()
}

/// What a file uses though its room may not.
fn forbidden_uses(file: &Path, code: &str, rooms: &Rooms) -> Vec<String> {
    let Some(room) = room_of(file) else { return Vec::new() };
    let file = file.display();
    let Some(may_use) = rooms.get(&room) else {
        return vec![format!("{file}: the room {room} is not on the map")];
    };
    let used = used_by(code, rooms);
    let forbidden = used.iter().filter(|&&used| used != room && !may_use.contains(used));
    forbidden.map(|used| format!("{file}: {room} must not use {used}")).collect()
}

#[test]
fn rooms_use_only_what_the_map_allows() {
    let source = root().join("crates/guira/src");
    let rooms = rooms_on(&map());
    let mut wrong = Vec::new();
    let mut found = BTreeSet::new();
    for file in files(&source, "rs") {
        let inside = file.strip_prefix(&source).expect("it is below");
        found.extend(room_of(inside));
        wrong.extend(forbidden_uses(inside, &code_only(&read(&file)), &rooms));
    }
    let gone = rooms.keys().filter(|&room| !found.contains(room));
    wrong.extend(gone.map(|room| format!("the map has a room {room}, and the tree has none")));
    assert_nothing(&wrong);
}

#[test]
fn a_room_that_uses_another_against_the_map_is_noticed() {
    let rooms = rooms_on("| room | knows | may use |\n|---|---|---|\n| `table` | bits | `cast` |\n| `cast` | | |\n");
    let count = |file: &str, code| forbidden_uses(Path::new(file), code, &rooms).len();
    assert_eq!(count("table/packed.rs", "use crate::cast::low_32;"), 0);
    assert_eq!(count("table/packed.rs", "use crate::table::Slot;"), 0);
    assert_eq!(count("table/packed.rs", "use crate::digest::Digest;"), 1);
    assert_eq!(count("table/packed.rs", "let slot = $crate::filter::Engine;"), 1);
    assert_eq!(count("table/packed.rs", "use crate::{cast, digest};"), 1);
    assert_eq!(count("cast.rs", "use super::table::Slot;"), 1);
    assert_eq!(count("attic.rs", ""), 1);
    assert_eq!(count("lib.rs", "use crate::digest::Digest;"), 0);
}
