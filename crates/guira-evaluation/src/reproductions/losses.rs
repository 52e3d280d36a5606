//! What becomes of keys in filters of other people, by counts: when there are more than a filter was made for, when keys are
//! removed after that, and when one key comes again and again.

use crate::cast::{approximate, in_memory};
use crate::contender::{Limit, Made, Making, Peer};
use crate::failure::Failure;
use crate::keys::Keys;
use crate::measure::{Filled, fill};
use crate::report::{Cell, Column, Reproduction, Table};
use crate::scale::Scale;

/// How often one key comes.
const COPIES: u64 = 64;

/// Numbers of keys.
struct Sizes {
    /// What filters are made for, and offered.
    asked: u64,
    offered: u64,
    /// A filter that is to grow begins small. So many more that one which chains others has several.
    small: u64,
    grown: u64,
}

impl Sizes {
    const fn of(scale: Scale) -> Self {
        let asked = if scale.is_quick() { 3_000 } else { 60_000 };
        Self { asked, offered: 2 * asked, small: asked / 6, grown: asked / 6 * 20 }
    }
}

pub(super) fn reproduce(scale: Scale) -> Result<Reproduction, Failure> {
    let sizes = Sizes::of(scale);
    let tables = vec![beyond_capacity(&sizes)?, removal(&sizes)?, copies()?];
    let Sizes { asked, offered, small, grown } = sizes;
    Ok(Reproduction {
        name: "losses".to_owned(),
        title: "What becomes of keys".to_owned(),
        method: format!(
            "Filters for {asked} keys are offered {offered} keys one by one, whether or not one before was refused; then \
             every accepted key is looked for. Filters for {small} keys get {grown}, or those up to the first that is refused; \
             every second key is removed once, and the others are looked for. Filters for 1000 keys get one key {COPIES} \
             times. Some filters draw random numbers, so that their counts vary."
        ),
        tables,
        charts: Vec::new(),
        claims: Vec::new(),
    })
}

/// The filters that keys are inserted into one by one.
fn peers() -> impl Iterator<Item = (&'static Peer, fn(usize) -> Made)> {
    static PEERS: [Peer; 10] = Peer::ALL;
    static GROWING: Peer = Peer::GROWING;
    PEERS.iter().chain([&GROWING]).filter_map(|peer| match peer.making {
        Making::Empty(make) => Some((peer, make)),
        Making::Of(_) => None,
    })
}

fn table(title: &str, figures: &[&str]) -> Table {
    let names = ["filter", "version"].map(Column::counted).into_iter();
    Table::new(title, names.chain(figures.iter().map(|&name| Column::timed(name))).collect())
}

fn named(peer: &Peer) -> [Cell; 2] {
    [peer.name, peer.version].map(Cell::text)
}

fn beyond_capacity(&Sizes { asked, offered, .. }: &Sizes) -> Result<Table, Failure> {
    let mut table =
        table("More keys than it was made for", &["made for", "offered", "accepted", "accepted, not found"]);
    for (peer, make) in peers() {
        let mut filter = make(in_memory(asked)).map_err(|reason| Failure::not_built(peer.name, reason))?;
        let keys = Keys::of_seed(14).present(0..offered);
        let accepted: Vec<u64> = keys.into_iter().filter(|&key| filter.insert_all(&[key]) == 1).collect();
        let lost = accepted.len() as u64 - filter.count_found(&accepted);
        let counts = [asked, offered, accepted.len() as u64, lost].map(Cell::Count);
        table.push(named(peer).into_iter().chain(counts).collect());
    }
    Ok(table)
}

fn removal(&Sizes { small, grown, .. }: &Sizes) -> Result<Table, Failure> {
    let figures = ["made for", "stored", "asked to be removed", "removed", "kept", "kept, not found"];
    let mut table = table("Removal of half of the keys", &figures);
    for (peer, make) in peers() {
        let mut filter = make(in_memory(small)).map_err(|reason| Failure::not_built(peer.name, reason))?;
        let keys = Keys::of_seed(15);
        let Filled { stored, .. } = fill(filter.as_mut(), keys, 0, Limit::Keys(grown));
        let Some(removing) = filter.as_removing() else { continue };
        let [chosen, kept] =
            [0, 1].map(|first| -> Vec<u64> { keys.present(0..stored).into_iter().skip(first).step_by(2).collect() });
        let removed = removing.remove_all(&chosen);
        let lost = kept.len() as u64 - filter.count_found(&kept);
        let counts = [small, stored, chosen.len() as u64, removed, kept.len() as u64, lost].map(Cell::Count);
        table.push(named(peer).into_iter().chain(counts).collect());
    }
    Ok(table)
}

fn copies() -> Result<Table, Failure> {
    let figures = ["copies offered", "copies accepted", "size before, bytes", "size after, bytes", "times"];
    let mut table = table("One key again and again", &figures);
    for (peer, make) in peers() {
        let mut filter = make(1000).map_err(|reason| Failure::not_built(peer.name, reason))?;
        let before = filter.bits() / 8;
        let key = Keys::of_seed(16).present(0..1);
        let accepted: usize = (0..COPIES).map(|_| filter.insert_all(&key)).sum();
        let after = filter.bits() / 8;
        let counts = [COPIES, accepted as u64, before, after].map(Cell::Count);
        let times = Cell::Number(approximate(after) / approximate(before));
        table.push(named(peer).into_iter().chain(counts).chain([times]).collect());
    }
    Ok(table)
}
