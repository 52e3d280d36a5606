//! Filters on a Redis or Valkey server with the module `guira-redis`: their addresses, loading and downloading.

mod address;
mod client;
mod refusal;
mod temporary_name;

pub(crate) use address::Address;
pub(crate) use client::{Client, DumpHeader, Existing, Secrecy};
