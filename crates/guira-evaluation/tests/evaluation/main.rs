//! The evaluation as a program: what it measures, the page that it makes, and the documents that it fills in.

#![expect(clippy::cast_precision_loss, reason = "counts of turns and of claims")]

mod claims;
mod documents;
mod page;
mod runs;

use std::process::{Command, Output};

type Failure = Box<dyn std::error::Error>;

fn evaluate(arguments: &[&str]) -> Result<Output, Failure> {
    Ok(Command::new(env!("CARGO_BIN_EXE_guira-evaluation")).args(arguments).output()?)
}
