//! Every combination of layout, addressing and bucket size that there is.

#![allow(dead_code, reason = "each test uses a part of it")]

use guira::{Addressing, Layout, Parameters};

/// What decides how full a table becomes: layout, addressing and bucket size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) layout: Layout,
    pub(crate) addressing: Addressing,
    pub(crate) slots_per_bucket: u32,
}

impl Shape {
    /// Packed buckets of four slots, two of them per key: what the paper recommends.
    pub(crate) const USUAL: Self =
        Self { layout: Layout::Packed, addressing: Addressing::Regional, slots_per_bucket: 4 };

    pub(crate) const fn of(parameters: &Parameters) -> Self {
        Self {
            layout: parameters.layout(),
            addressing: parameters.addressing(),
            slots_per_bucket: parameters.slots_per_bucket(),
        }
    }

    /// d · b.
    pub(crate) const fn compared_slots(self) -> u32 {
        self.addressing.candidates() * self.slots_per_bucket
    }

    /// The fewest bits of a fingerprint, as docs/format.md has them.
    pub(crate) const fn least_fingerprint_bits(self) -> u32 {
        match (self.layout, self.addressing) {
            (_, Addressing::Doubling) => 8,
            (Layout::SemiSorted, _) => 5,
            _ => 2,
        }
    }

    /// The lengths of fingerprints, as docs/format.md has them: all up to 32 bits, and some of those that are longer.
    pub(crate) fn fingerprint_lengths(self) -> impl Iterator<Item = u32> + Clone {
        let has_longer =
            matches!((self.layout, self.addressing), (Layout::Packed, Addressing::Regional | Addressing::Doubling));
        let longer: &[u32] = if has_longer { &[33, 36, 41, 49, 56] } else { &[] };
        (self.least_fingerprint_bits()..=32).chain(longer.iter().copied())
    }

    /// A load factor that large tables with long fingerprints reach, somewhat below the thresholds of docs/algorithm.md;
    /// with two buckets of one slot, more often than not.
    pub(crate) const fn rated_load_factor(self) -> f64 {
        match (self.layout, self.addressing.candidates(), self.slots_per_bucket) {
            (_, 2, 1) => 0.45,
            (_, 2, 2) => 0.86,
            (_, 2, 3) => 0.93,
            (_, 2, 4) => 0.955,
            (_, 2, _) => 0.98,
            (_, 3, 1) => 0.885,
            (_, 3, 2) => 0.965,
            (_, 3, 3) => 0.98,
            (_, 4, 1) => 0.945,
            (_, 4, 2) => 0.98,
            _ => 0.985,
        }
    }
}

pub(crate) fn all_shapes() -> Vec<Shape> {
    let packed = [
        Addressing::Regional,
        Addressing::PowerOfTwo,
        Addressing::Ternary,
        Addressing::Quaternary,
        Addressing::Doubling,
    ]
    .into_iter()
    .flat_map(|addressing| {
        let sizes: &[u32] = if addressing == Addressing::Doubling { &[4, 8] } else { &[1, 2, 3, 4, 8] };
        sizes.iter().map(move |&slots_per_bucket| (Layout::Packed, addressing, slots_per_bucket))
    });
    let others = [(Layout::SemiSorted, Addressing::Regional, 4), (Layout::SemiSorted, Addressing::PowerOfTwo, 4)];
    packed
        .chain(others)
        .map(|(layout, addressing, slots_per_bucket)| Shape { layout, addressing, slots_per_bucket })
        .collect()
}
