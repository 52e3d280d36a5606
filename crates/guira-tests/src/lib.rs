//! Tests of the repository as a whole, in `tests/`; and the examples of README.md, compiled and run.
#![cfg_attr(doctest, doc = include_str!("../../../README.md"))]
