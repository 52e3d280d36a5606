use serde::{Deserialize, Serialize};

use super::{Machine, Reproduction};
use crate::scale::Scale;

/// How a reproduction was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) machine: Machine,
    pub(crate) scale: Scale,
    /// The command line.
    pub(crate) command: String,
    pub(crate) seconds: f64,
}

/// A reproduction, and how it was measured: the content of its JSON file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    #[serde(flatten)]
    pub(crate) reproduction: Reproduction,
    pub(crate) run: Run,
}
