use super::stripes::Stripes;
use super::versions::Versions;
use crate::parameters::Parameters;

/// What keeps the threads at one table apart: writers from each other by locks, readers from being misled by versions.
#[derive(Debug)]
pub(super) struct Guards {
    pub(super) stripes: Stripes,
    pub(super) versions: Versions,
}

impl Guards {
    /// Those of a table that holds `stored` fingerprints.
    pub(super) fn new(parameters: &Parameters, stored: usize) -> Self {
        Self { stripes: Stripes::new(parameters.bucket_count(), stored), versions: Versions::new() }
    }
}
