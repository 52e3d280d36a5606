//! The map against the land: what ARCHITECTURE.md and the other documents say, checked against the tree.
//!
//! Each check is a function of text that returns what is wrong, so that a second test can show that it notices.

mod code;
mod crates;
mod documents;
mod interface;
mod licences;
mod rooms;
mod text;
mod tree;
