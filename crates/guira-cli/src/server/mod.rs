//! Filters on a server of Redis or Valkey that has the module `guira-redis`: where they are, and how they come and go.

mod address;
mod client;
mod refusal;
mod temporary_name;

pub(crate) use address::Address;
pub(crate) use client::{Client, DumpHeader, Existing, Secrecy};
