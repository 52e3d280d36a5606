use serde::{Deserialize, Serialize};

use super::{Machine, Reproduction};
use crate::scale::Scale;

/// How a reproduction came about.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) machine: Machine,
    pub(crate) scale: Scale,
    /// What was typed.
    pub(crate) command: String,
    pub(crate) seconds: f64,
}

/// A reproduction, and how it came about: what stands in its JSON file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    #[serde(flatten)]
    pub(crate) reproduction: Reproduction,
    pub(crate) run: Run,
}
