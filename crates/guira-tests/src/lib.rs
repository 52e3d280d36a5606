//! Tests of the repository as a whole, in `tests/`; and the examples of README.md and docs/library.md, compiled and run.
#![cfg_attr(doctest, doc = include_str!(concat!(env!("OUT_DIR"), "/README.md")))]
#![cfg_attr(doctest, doc = include_str!(concat!(env!("OUT_DIR"), "/library.md")))]
