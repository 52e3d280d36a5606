//! Filters of the line-up, filled until they refuse a key: the basis of tables 1 and 2 and figure 4.

use crate::cast::approximate;
use crate::contender::{Contender, Kind, Memory};
use crate::failure::Failure;
use crate::keys::Keys;
use crate::measure::{check_present, fill, measure_rate};
use crate::scale::Scale;

/// A filled filter, and its space.
pub(super) struct Space {
    pub(super) contender: Box<dyn Contender>,
    pub(super) stored: u64,
    pub(super) bits_per_key: f64,
    /// The measured rate.
    pub(super) rate: f64,
    /// Keys per slot of 12 bits.
    pub(super) load_factor: f64,
}

impl Space {
    pub(super) fn of(kind: Kind, memory: Memory, keys: Keys, scale: Scale) -> Result<Self, Failure> {
        let mut contender = kind.build(memory)?;
        let stored = fill(contender.as_mut(), keys, 0, kind.limit(memory)).stored;
        check_present(kind.name(), contender.as_ref(), keys, 0..stored)?;
        let rate = measure_rate(kind.name(), contender.as_ref(), keys, scale.rate_queries())?;
        Ok(Self {
            stored,
            bits_per_key: approximate(contender.bits()) / approximate(stored),
            rate,
            load_factor: approximate(stored) / approximate(memory.slots()),
            contender,
        })
    }
}
