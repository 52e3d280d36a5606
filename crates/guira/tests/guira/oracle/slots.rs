//! The slots of a table, as the number that tests count with.

use guira::{CountingCuckooFilter, CuckooFilter, CuckooMap, MapValue, Parameters};

pub(crate) trait Slots {
    fn table(&self) -> &Parameters;

    fn slot_count(&self) -> usize {
        usize::try_from(self.table().slot_count()).expect("a table that fits memory")
    }
}

impl Slots for CuckooFilter {
    fn table(&self) -> &Parameters {
        self.parameters()
    }
}

impl Slots for CountingCuckooFilter {
    fn table(&self) -> &Parameters {
        self.parameters()
    }
}

impl<V: MapValue> Slots for CuckooMap<V> {
    fn table(&self) -> &Parameters {
        self.parameters()
    }
}
