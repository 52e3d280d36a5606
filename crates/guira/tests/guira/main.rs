//! The library by its public interface: one program, which is compiled and linked once. Beside it are the golden files, which
//! are tried on other targets too, batches, which are tried without threads too, and the models of threads.

mod bug_classes;
mod capacity;
mod concurrent;
mod conversion;
mod expiring;
mod format;
mod growing;
mod interface;
mod keys;
mod kinds;
mod load;
mod long_fingerprints;
mod model;
mod oracle;
mod real_words;
mod statistics;

/// Of all tests, since there is one allocator in a program.
#[global_allocator]
static ALLOCATOR: oracle::allocation::Counting = oracle::allocation::Counting;
