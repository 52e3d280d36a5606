//! A model of a disk that loses power: what was not flushed is kept or lost in parts, as chance decides.
//!
//! It allows what a file system may do, and more than most do: sectors of a file that was not flushed are written in any
//! order, its length before its bytes, names in order or out of it. `fsync` of a file keeps its bytes and not its name;
//! that takes `fsync` of the directory. A rename is kept as a whole or not at all.

use std::collections::{BTreeMap, HashMap};

/// The bytes that a disk writes at once.
const SECTOR: usize = 512;

/// What a program did to a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Create { name: String, inode: u64 },
    Write { inode: u64, offset: usize, bytes: Vec<u8> },
    Flush { inode: u64 },
    FlushNames,
    Rename { from: String, to: String },
    Remove { name: String },
}

/// The files of a folder: their names, and the bytes of each.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    pub(super) names: BTreeMap<String, u64>,
    pub(super) contents: HashMap<u64, Vec<u8>>,
}

/// A sequence of numbers that look random, from a seed: SplitMix64.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below another, which is small.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).expect("64 bits")).expect("less than a length")
    }

    fn is_kept(&mut self, chance: usize) -> bool {
        self.below(4) < chance
    }
}

/// A change of names that happens as a whole.
#[derive(Clone, Default)]
struct Change {
    removed: Option<String>,
    set: Option<(String, u64)>,
}

impl Change {
    fn apply(&self, names: &mut BTreeMap<String, u64>) {
        if let Some(name) = &self.removed {
            names.remove(name);
        }
        if let Some((name, inode)) = &self.set {
            names.insert(name.clone(), *inode);
        }
    }
}

impl Disk {
    /// What is found after a loss of power that follows these effects on a disk that was flushed.
    pub(super) fn after_loss_of_power(mut self, effects: &[Effect], random: &mut Random) -> BTreeMap<String, Vec<u8>> {
        // As the program sees it.
        let mut seen = self.names.clone();
        let mut changes: Vec<Change> = Vec::new();
        let mut writes: Vec<(u64, usize, &[u8])> = Vec::new();
        for effect in effects {
            let change = match effect {
                Effect::Create { name, inode } => {
                    if seen.get(name) == Some(inode) {
                        continue;
                    }
                    // The number may be that of a file that was removed.
                    self.contents.insert(*inode, Vec::new());
                    Change { removed: None, set: Some((name.clone(), *inode)) }
                }
                Effect::Rename { from, to } => {
                    let inode = seen.get(from).copied().expect("a file that is renamed is there");
                    Change { removed: Some(from.clone()), set: Some((to.clone(), inode)) }
                }
                Effect::Remove { name } => Change { removed: Some(name.clone()), set: None },
                Effect::Write { inode, offset, bytes } => {
                    writes.push((*inode, *offset, bytes));
                    continue;
                }
                Effect::Flush { inode } => {
                    let contents = self.contents.entry(*inode).or_default();
                    writes.retain(|&(of, offset, bytes)| {
                        if of == *inode {
                            write(contents, offset, bytes);
                        }
                        of != *inode
                    });
                    continue;
                }
                Effect::FlushNames => {
                    changes.drain(..).for_each(|change| change.apply(&mut self.names));
                    continue;
                }
            };
            change.apply(&mut seen);
            changes.push(change);
        }
        self.keep_some(&changes, &writes, random)
    }

    fn keep_some(
        mut self,
        changes: &[Change],
        writes: &[(u64, usize, &[u8])],
        random: &mut Random,
    ) -> BTreeMap<String, Vec<u8>> {
        // Of four parts; 0 and 4 keep nothing or all.
        let chance = random.below(5);
        for &(inode, offset, bytes) in writes {
            let contents = self.contents.entry(inode).or_default();
            if random.is_kept(chance) && contents.len() < offset + bytes.len() {
                contents.resize(offset + bytes.len(), 0);
            }
            let mut start = 0;
            while start < bytes.len() {
                let end = (start + SECTOR - (offset + start) % SECTOR).min(bytes.len());
                if random.is_kept(chance) {
                    write(contents, offset + start, &bytes[start..end]);
                }
                start = end;
            }
        }
        if random.below(2) == 0 {
            let kept = random.below(changes.len() + 1);
            changes[..kept].iter().for_each(|change| change.apply(&mut self.names));
        } else {
            let chance = random.below(5);
            for change in changes {
                if random.is_kept(chance) {
                    change.apply(&mut self.names);
                }
            }
        }
        let contents = &self.contents;
        let bytes = |inode: &u64| contents.get(inode).cloned().unwrap_or_default();
        self.names.iter().map(|(name, inode)| (name.clone(), bytes(inode))).collect()
    }
}

fn write(contents: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if contents.len() < end {
        contents.resize(end, 0);
    }
    contents[offset..end].copy_from_slice(bytes);
}
