//! What results are expected, and from which cases: models, bounds of statistics, numbers that look random.

#![expect(clippy::cast_precision_loss, reason = "the counts are far below 2^53, and statistics are approximate")]

pub(crate) mod allocation;
pub(crate) mod arrangement;
pub(crate) mod binomial;
pub(crate) mod case;
pub(crate) mod checksums;
pub(crate) mod chi_square;
pub(crate) mod classes;
pub(crate) mod random;
pub(crate) mod shapes;
pub(crate) mod slots;
pub(crate) mod specification;
