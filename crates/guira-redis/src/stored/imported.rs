use guira::raw::Step;

use super::dump::DumpHeader;
use super::murmur::murmur_64a;
use super::stamp::Stamp;
use crate::cast::{in_memory, wide};
use crate::error::CommandError;
use crate::memory::{collected, copied, list_for, text, zeroed};
use crate::settings::Limits;

/// A filter of RedisBloom that was loaded with CF.LOADCHUNK, and answers, counts and removes as it did there.
///
/// It is a list of layers: tables of 8-bit fingerprints whose numbers of buckets are powers of two, each a multiple of the one
/// before. An item's bucket numbers in a layer are its two hashes modulo the number of buckets. When all layers are full,
/// another one is added.
#[derive(Debug, PartialEq)]
pub struct Imported {
    shape: ImportedShape,
    layers: Vec<Vec<u8>>,
    items: u64,
    removed: u64,
    pub(super) stamp: Stamp,
}

/// The numbers in the header of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ImportedShape {
    /// The buckets of the first layer.
    buckets: u64,
    slots_per_bucket: u16,
    /// How many fingerprints an insertion moves before it gives up.
    iterations: u16,
    /// The number of buckets of a layer, divided by that of the layer before; 0 for a filter that does not grow.
    expansion: u16,
}

impl ImportedShape {
    /// The size of a layer, of a byte per slot; `None` if it does not fit 64 bits.
    fn layer_size(&self, index: usize) -> Option<u64> {
        let times = u64::from(self.expansion.max(1)).checked_pow(u32::try_from(index).ok()?)?;
        self.buckets.checked_mul(times)?.checked_mul(u64::from(self.slots_per_bucket))
    }
}

/// The size of a dump's header: four numbers of 64 bits and three of 16.
pub(super) const HEADER_SIZE: usize = 38;

/// The most layers that RedisBloom makes, unless it is configured otherwise.
const MAX_LAYERS: usize = 32;

/// RedisBloom's own limits allow no larger filter.
const MAX_BYTES: u64 = 1 << 40;

/// The header of a dump, checked, before any layer has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ImportedHeader {
    shape: ImportedShape,
    layers: usize,
    items: u64,
    removed: u64,
}

impl ImportedHeader {
    /// Reads and checks a header.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; HEADER_SIZE] = bytes.try_into().ok()?;
        let (numbers, measures) = bytes.split_at(32);
        let number = |index: usize| numbers.as_chunks::<8>().0.get(index).copied().map(u64::from_le_bytes);
        let measure = |index: usize| measures.as_chunks::<2>().0.get(index).copied().map(u16::from_le_bytes);
        let shape = ImportedShape {
            buckets: number(1)?,
            slots_per_bucket: measure(0)?,
            iterations: measure(1)?,
            expansion: measure(2)?,
        };
        let header = Self { shape, layers: usize::try_from(number(3)?).ok()?, items: number(0)?, removed: number(2)? };
        header.is_sound().then_some(header)
    }

    fn is_sound(&self) -> bool {
        let shape = &self.shape;
        shape.buckets.is_power_of_two()
            && (1..=255).contains(&shape.slots_per_bucket)
            && shape.iterations > 0
            && (shape.expansion == 0 || shape.expansion.is_power_of_two())
            && (1..=MAX_LAYERS).contains(&self.layers)
            && (shape.expansion > 0 || self.layers == 1)
            && self.size().is_some_and(|size| size <= MAX_BYTES && self.items <= size)
    }

    /// The bytes of all layers.
    pub(super) fn size(&self) -> Option<u64> {
        (0..self.layers).try_fold(0_u64, |size, index| size.checked_add(self.shape.layer_size(index)?))
    }

    /// The filter, from the bytes of all its layers one behind the other.
    pub(super) fn filled(&self, bytes: &[u8]) -> Result<Imported, CommandError> {
        let mut layers = list_for(self.layers)?;
        let mut rest = bytes;
        for index in 0..self.layers {
            let size = self.shape.layer_size(index).ok_or(CommandError::InvalidChunk)?;
            let (layer, behind) = rest.split_at_checked(in_memory(size)).ok_or(CommandError::InvalidChunk)?;
            layers.push(copied(layer)?);
            rest = behind;
        }
        // RedisBloom's dumps have no checksum: this alone detects damage, and a dump that was taken while the filter changed.
        let stored = bytes.iter().filter(|&&slot| slot != 0).count();
        if !rest.is_empty() || wide(stored) != self.items {
            return Err(CommandError::InvalidChunk);
        }
        Ok(Imported { shape: self.shape, layers, items: self.items, removed: self.removed, stamp: Stamp::new() })
    }
}

/// The fingerprint of an item, and the hashes that give its buckets in each layer.
#[derive(Clone, Copy)]
struct Place {
    fingerprint: u8,
    hashes: [u64; 2],
}

/// The first slot of the bucket that `hash` chooses in a layer.
fn bucket(layer: &[u8], slots_per_bucket: usize, hash: u64) -> usize {
    let buckets = layer.len() / slots_per_bucket;
    // The number of buckets is a power of two.
    in_memory(hash & (wide(buckets) - 1)) * slots_per_bucket
}

const ALTERNATE: u64 = 0x5bd1_e995;

impl Imported {
    pub(super) fn try_clone(&self) -> Result<Self, CommandError> {
        let mut copy = self.without_layers()?;
        for layer in &self.layers {
            copy.layers.push(copied(layer)?);
        }
        Ok(copy)
    }

    /// All but its layers, for which there is room.
    fn without_layers(&self) -> Result<Self, CommandError> {
        let Self { shape, ref layers, items, removed, .. } = *self;
        Ok(Self { shape, layers: list_for(layers.len())?, items, removed, stamp: Stamp::new() })
    }

    fn place(item: &[u8]) -> Place {
        let hash = murmur_64a(item, 0);
        let fingerprint = u8::try_from(hash % 255).map_or(1, |rest| rest + 1);
        Place { fingerprint, hashes: [hash, hash ^ u64::from(fingerprint).wrapping_mul(ALTERNATE)] }
    }

    fn slots_per_bucket(&self) -> usize {
        usize::from(self.shape.slots_per_bucket)
    }

    /// The two buckets of an item in each layer, from the oldest.
    fn buckets(&self, place: Place) -> impl Iterator<Item = &[u8]> {
        let slots = self.slots_per_bucket();
        self.layers.iter().flat_map(move |layer| {
            place.hashes.map(|hash| {
                let start = bucket(layer, slots, hash);
                &layer[start..start + slots]
            })
        })
    }

    pub(super) fn contains(&self, item: &[u8]) -> bool {
        let place = Self::place(item);
        self.buckets(place).any(|bucket| bucket.contains(&place.fingerprint))
    }

    pub(super) fn count(&self, item: &[u8]) -> u64 {
        let place = Self::place(item);
        wide(self.buckets(place).flatten().filter(|&&slot| slot == place.fingerprint).count())
    }

    /// Changes the first slot that holds `from`, in the newest layer that has one. Returns `false` if none has.
    fn replace(&mut self, place: Place, from: u8, to: u8) -> bool {
        let slots = self.slots_per_bucket();
        for layer in self.layers.iter_mut().rev() {
            for hash in place.hashes {
                let start = bucket(layer, slots, hash);
                if let Some(slot) = layer[start..start + slots].iter_mut().find(|slot| **slot == from) {
                    *slot = to;
                    return true;
                }
            }
        }
        false
    }

    pub(super) fn remove(&mut self, item: &[u8]) -> bool {
        let place = Self::place(item);
        let is_removed = self.replace(place, place.fingerprint, 0);
        if is_removed {
            self.items -= 1;
            self.removed = self.removed.saturating_add(1);
        }
        is_removed
    }

    /// Stores an item unless it is present or seems to be. Returns `true` if it was stored.
    pub(super) fn store_unless_present(&mut self, item: &[u8], limits: Limits) -> Result<bool, CommandError> {
        if self.contains(item) {
            return Ok(false);
        }
        self.store(item, limits).map(|()| true)
    }

    pub(super) fn store(&mut self, item: &[u8], limits: Limits) -> Result<(), CommandError> {
        let place = Self::place(item);
        if !self.replace(place, 0, place.fingerprint) && !self.store_moving(place)? {
            self.add_layer(limits)?;
            self.replace(place, 0, place.fingerprint);
        }
        self.items += 1;
        Ok(())
    }

    /// Stores an item by moving fingerprints of the newest layer, up to the filter's number of iterations. Returns `false` if
    /// no slot became free; then all moves are undone.
    fn store_moving(&mut self, place: Place) -> Result<bool, CommandError> {
        let slots = self.slots_per_bucket();
        let Some(layer) = self.layers.last_mut() else { return Ok(false) };
        let [hash, _] = place.hashes;
        let (mut fingerprint, mut start) = (place.fingerprint, bucket(layer, slots, hash));
        let mut moves = list_for(usize::from(self.shape.iterations))?;
        for step in 0..usize::from(self.shape.iterations) {
            let slot = start + step % slots;
            std::mem::swap(&mut layer[slot], &mut fingerprint);
            moves.push(slot);
            let index = wide(start / slots) ^ u64::from(fingerprint).wrapping_mul(ALTERNATE);
            start = bucket(layer, slots, index);
            if let Some(empty) = layer[start..start + slots].iter_mut().find(|slot| **slot == 0) {
                *empty = fingerprint;
                return Ok(true);
            }
        }
        for slot in moves.into_iter().rev() {
            std::mem::swap(&mut layer[slot], &mut fingerprint);
        }
        Ok(false)
    }

    fn add_layer(&mut self, limits: Limits) -> Result<(), CommandError> {
        if self.shape.expansion == 0 {
            return Err(CommandError::Full);
        }
        let size = self.shape.layer_size(self.layers.len()).filter(|_| self.layers.len() < MAX_LAYERS);
        let size = size.ok_or(CommandError::MaximumExpansions)?;
        limits.check(self.size().saturating_add(size))?;
        self.layers.try_reserve(1).map_err(|_| CommandError::OutOfMemory)?;
        self.layers.push(zeroed(in_memory(size))?);
        Ok(())
    }

    /// Moves fingerprints from the newest layers to free slots of older ones, and removes layers that are empty then. Returns `true` if
    /// that changed anything.
    pub(super) fn compact(&mut self) -> bool {
        let mut done = Compaction::default();
        while matches!(self.compact_some(&mut done, usize::MAX), Step::More) {}
        self.forget_removed() | done.has_changed
    }

    /// Looks at no more than so many slots of the newest layer.
    fn compact_some(&mut self, done: &mut Compaction, most_slots: usize) -> Step<()> {
        let slots = self.slots_per_bucket();
        let Some((newest, older)) = self.layers.split_last_mut().filter(|(_, older)| !older.is_empty()) else {
            return Step::Done(());
        };
        let some = newest.iter_mut().enumerate().skip(done.slots).take(most_slots);
        for (slot, fingerprint) in some.filter(|(_, fingerprint)| **fingerprint != 0) {
            let index = wide(slot / slots);
            let hashes = [index, index ^ u64::from(*fingerprint).wrapping_mul(ALTERNATE)];
            let empty = older.iter_mut().find_map(|layer| {
                let starts = hashes.map(|hash| bucket(layer, slots, hash));
                let mut places = starts.into_iter().flat_map(|start| start..start + slots);
                let empty = places.find(|&place| layer[place] == 0)?;
                Some(&mut layer[empty])
            });
            if let Some(empty) = empty {
                std::mem::swap(empty, fingerprint);
                done.has_changed = true;
            } else {
                done.has_kept = true;
            }
        }
        done.slots = done.slots.saturating_add(most_slots);
        if done.slots < newest.len() {
            return Step::More;
        }
        if done.has_kept {
            return Step::Done(());
        }
        *done = Compaction { has_changed: true, emptied: self.layers.pop(), ..Compaction::default() };
        Step::More
    }

    /// Counts removed items anew. Returns `true` if there were any.
    pub(super) const fn forget_removed(&mut self) -> bool {
        std::mem::replace(&mut self.removed, 0) > 0
    }

    /// Returns `true` if there are older layers, whose free slots may take fingerprints of the newest one.
    pub(super) const fn may_compact(&self) -> bool {
        self.layers.len() > 1
    }

    pub(super) fn size(&self) -> u64 {
        self.layers.iter().map(|layer| wide(layer.len())).sum()
    }

    pub(super) fn move_layers(&mut self, elsewhere: impl Fn(Vec<u8>) -> Vec<u8>) {
        for layer in &mut self.layers {
            *layer = elsewhere(std::mem::take(layer));
        }
    }

    pub(super) const fn layers(&self) -> &[Vec<u8>] {
        self.layers.as_slice()
    }

    pub(super) fn header(&self) -> DumpHeader {
        let numbers = [self.items, self.shape.buckets, self.removed, wide(self.layers.len())];
        let measures = [self.shape.slots_per_bucket, self.shape.iterations, self.shape.expansion];
        let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
        numbers.chain(measures.iter().flat_map(|measure| measure.to_le_bytes())).collect()
    }

    pub(super) fn fields(&self) -> Result<Vec<(&'static str, u64)>, CommandError> {
        let fields = [
            ("Size", self.size()),
            ("Number of buckets", self.shape.buckets),
            ("Number of filters", wide(self.layers.len())),
            ("Number of items inserted", self.items),
            ("Number of items deleted", self.removed),
            ("Bucket size", u64::from(self.shape.slots_per_bucket)),
            ("Expansion rate", u64::from(self.shape.expansion)),
            ("Max iterations", u64::from(self.shape.iterations)),
        ];
        collected(fields.into_iter())
    }

    pub(super) fn describe(&self) -> Result<String, CommandError> {
        text(format_args!(
            "kind:imported bktsize:{} buckets:{} items:{} deletes:{} filters:{} max_iterations:{} expansion:{}",
            self.shape.slots_per_bucket,
            self.shape.buckets,
            self.items,
            self.removed,
            self.layers.len(),
            self.shape.iterations,
            self.shape.expansion,
        ))
    }
}

/// How far a compaction has come with the newest layer that is left.
#[derive(Default)]
struct Compaction {
    /// The slots of that layer that have been looked at.
    slots: usize,
    /// One of them keeps its fingerprint, for which older layers have no room.
    has_kept: bool,
    /// Something has changed, in this layer or before.
    has_changed: bool,
    /// The layer before this one, which was empty in the end.
    emptied: Option<Vec<u8>>,
}

/// A compaction in steps, of a copy.
pub(crate) struct Compacting {
    copy: Imported,
    /// `None` while layers are copied.
    done: Option<Compaction>,
}

impl Compacting {
    /// How many bytes a step copies.
    const COPIED: usize = 256 << 10;

    /// How many slots a step looks at.
    const SLOTS: usize = 1 << 12;

    pub(super) fn of(imported: &Imported) -> Result<Self, CommandError> {
        Ok(Self { copy: imported.without_layers()?, done: None })
    }

    /// Does a part of the work, of a filter that is always the same. In the end returns the compacted filter, if it differs.
    pub(super) fn step(&mut self, imported: &Imported) -> Result<Step<Option<Imported>>, CommandError> {
        let Some(done) = &mut self.done else {
            self.copy_some(imported)?;
            return Ok(Step::More);
        };
        if matches!(self.copy.compact_some(done, Self::SLOTS), Step::More) {
            return Ok(Step::More);
        }
        let layers = std::mem::take(&mut self.copy.layers);
        let compacted =
            Imported { shape: imported.shape, layers, items: imported.items, removed: 0, stamp: Stamp::new() };
        Ok(Step::Done(done.has_changed.then_some(compacted)))
    }

    fn copy_some(&mut self, imported: &Imported) -> Result<(), CommandError> {
        let copies = &mut self.copy.layers;
        let missing =
            imported.layers.iter().zip(copies.iter_mut()).last().map(|(layer, copy)| (&layer[copy.len()..], copy));
        match missing {
            Some((rest, copy)) if !rest.is_empty() => copy.extend_from_slice(&rest[..rest.len().min(Self::COPIED)]),
            _ => match imported.layers.get(copies.len()) {
                Some(layer) => copies.push(list_for(layer.len())?),
                None => self.done = Some(Compaction::default()),
            },
        }
        Ok(())
    }

    /// The last layer that was removed, if it is still here.
    pub(super) fn take_waste(&mut self) -> Option<Vec<u8>> {
        self.done.as_mut()?.emptied.take()
    }
}
