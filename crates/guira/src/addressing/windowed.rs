//! Windows in place of buckets: regional addressing, with a start that the fingerprint shifts.

use super::{Addressing, AnySize, Candidate, Fingerprint, Grid, RegionalAddressing};
use crate::cast::multiply_shift;
use crate::digest::Digest;
use crate::parameters::Parameters;

/// A window is L neighbouring slots. It starts at slot L · i + g of its region, where i is given by regional addressing
/// and the phase g, 0 to L - 1, by the fingerprint. Windows of different phases overlap, so fingerprints push each other
/// along as well as across, and windows of L slots fill further than buckets of L.
///
/// A slot and the fingerprint in it tell the window: it is the one of the fingerprint's phase that covers the slot. So
/// nothing beside the fingerprint is stored.
///
/// A [`Candidate`]'s offset is here the first slot of the window, and its bucket index that slot's place in the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowedAddressing<const L: u64> {
    grid: RegionalAddressing,
    slots_per_region: u64,
}

impl<const L: u64> WindowedAddressing<L> {
    pub(crate) fn new(parameters: &Parameters, seed: u64) -> Self {
        Self {
            grid: RegionalAddressing::new(parameters, AnySize::new(parameters.buckets_per_region()), seed),
            slots_per_region: parameters.slots_per_region(),
        }
    }

    /// g, by the high bits of a product of the fingerprint.
    #[inline]
    const fn phase(fingerprint: Fingerprint) -> u64 {
        let mixed = fingerprint.get().wrapping_mul(0x9e37_79b9) as u64;
        multiply_shift(mixed << 32, L).0
    }
}

impl<const L: u64> Addressing for WindowedAddressing<L> {
    const CANDIDATES: usize = 2;
    const OVERLAPPING: bool = true;
    const SELECTIVE: bool = true;

    fn grid(&self) -> Grid {
        let Grid { region_count, .. } = self.grid.grid();
        Grid { region_count, buckets_per_region: self.slots_per_region / L, step: L }
    }

    #[inline]
    fn locate(&self, digest: Digest) -> (Fingerprint, Candidate) {
        let (fingerprint, region, place) = self.grid.region_and_offset(digest);
        let offset = L * place + Self::phase(fingerprint);
        (fingerprint, Candidate::at(region * self.slots_per_region, offset))
    }

    #[inline]
    fn alternate(&self, candidate: Candidate, fingerprint: Fingerprint) -> Candidate {
        let phase = Self::phase(fingerprint);
        let place = (candidate.offset() - phase) / L;
        candidate.with_offset(L * self.grid.alternate_offset(place, fingerprint) + phase)
    }

    fn may_hold(&self, window: Candidate, index: u64, fingerprint: Fingerprint) -> bool {
        let slot = window.offset() + index;
        let phase = Self::phase(fingerprint);
        // The last place of the grid is one before the last L slots, which windows of the later phases reach into.
        slot >= phase && (slot - phase) / L + 1 < self.slots_per_region / L
    }

    #[inline]
    fn window_of(&self, window: Candidate, index: u64, fingerprint: Fingerprint) -> Candidate {
        let slot = window.offset() + index;
        let phase = Self::phase(fingerprint);
        window.with_offset(slot - (slot - phase) % L)
    }
}

#[cfg(test)]
mod tests {
    use super::super::mix;
    use super::*;

    fn addressing<const L: u64>(places: u64) -> WindowedAddressing<L> {
        let grid = RegionalAddressing::with_measures(3, AnySize::new(places), 255, mix(5));
        WindowedAddressing { grid, slots_per_region: L * (places + 1) }
    }

    fn assert_windows_are_consistent<const L: u64>() {
        for places in 1..40 {
            let addressing = addressing::<L>(places);
            for value in 1..=255 {
                let fingerprint = Fingerprint::new(value).expect("counted from 1");
                let phase = WindowedAddressing::<L>::phase(fingerprint);
                let covered = L * places;
                for slot in 0..addressing.slots_per_region {
                    let start = Candidate::at(7, slot - slot % L);
                    let is_covered = (phase..phase + covered).contains(&slot);
                    assert_eq!(addressing.may_hold(start, slot % L, fingerprint), is_covered);
                }
                for place in 0..places {
                    let window = Candidate::at(7, L * place + phase);
                    let other = addressing.alternate(window, fingerprint);
                    assert_eq!(addressing.alternate(other, fingerprint), window, "not an involution");
                    assert!(other.offset() + L <= addressing.slots_per_region, "left its region");
                    for index in 0..L {
                        // Seen from another window that covers the slot too, it is the same.
                        let slot = window.offset() + index;
                        for start in slot.saturating_sub(L - 1)..=slot {
                            let seen = Candidate::at(7, start);
                            assert_eq!(addressing.window_of(seen, slot - start, fingerprint), window);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_slot_and_its_fingerprint_tell_both_windows() {
        assert_windows_are_consistent::<2>();
        assert_windows_are_consistent::<3>();
        assert_windows_are_consistent::<4>();
    }

    #[test]
    fn phases_are_equally_likely() {
        let mut counts = [0u32; 3];
        for value in 1..=4095 {
            let fingerprint = Fingerprint::new(value).expect("counted from 1");
            counts[usize::try_from(WindowedAddressing::<3>::phase(fingerprint)).expect("small")] += 1;
        }
        assert!(counts.iter().all(|count| (1350..1380).contains(count)), "{counts:?}");
    }
}
