//! What all kinds have in common: batches that answer as single calls do, builders of each kind, files that are opened or made,
//! views that own their bytes, and errors that say each thing once.

mod batches;
mod errors;
mod kinds;
