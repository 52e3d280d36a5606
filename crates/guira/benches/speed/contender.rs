use guira::{Addressing, CuckooFilter, FilterBuilder, Layout};

/// A kind of filter to be measured.
#[derive(Clone, Copy)]
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    layout: Layout,
    addressing: Addressing,
    slots_per_bucket: u32,
    fingerprint_bits: u32,
    /// The load to which it is filled.
    pub(crate) load_factor: f64,
}

/// All that hold 12 bits per slot, but for the one with 16; the semi-sorted one has fingerprints of 13 bits in them.
pub(crate) const CONTENDERS: [Contender; 6] = [
    packed("packed-4", 4, 0.95),
    packed("packed-2", 2, 0.85),
    packed("packed-8", 8, 0.95),
    Contender { layout: Layout::SemiSorted, fingerprint_bits: 13, ..packed("semi-sorted", 4, 0.95) },
    Contender { addressing: Addressing::Ternary, ..packed("ternary-1", 1, 0.87) },
    Contender { addressing: Addressing::Quaternary, ..packed("quaternary-1", 1, 0.94) },
];

const fn packed(name: &'static str, slots_per_bucket: u32, load_factor: f64) -> Contender {
    Contender {
        name,
        layout: Layout::Packed,
        addressing: Addressing::Regional,
        slots_per_bucket,
        fingerprint_bits: 12,
        load_factor,
    }
}

impl Contender {
    /// What builds a filter with a table of about `size` bytes.
    pub(crate) fn builder(&self, size: u64) -> FilterBuilder {
        CuckooFilter::builder()
            .layout(self.layout)
            .addressing(self.addressing)
            .slots_per_bucket(self.slots_per_bucket)
            .fingerprint_bits(self.fingerprint_bits)
            .bucket_count(size * 8 / 12 / u64::from(self.slots_per_bucket))
    }
}
