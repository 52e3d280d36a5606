//! Tells the program which commit it is built from, for `guira --version`.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let commit = commit_of_package().or_else(commit_of_clone).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=GUIRA_COMMIT={commit}");
    let target = env::var("TARGET").unwrap_or_else(|_| "unknown".to_owned());
    println!("cargo::rustc-env=GUIRA_TARGET={target}");
}

/// The commit that a published package says it was made from.
fn commit_of_package() -> Option<String> {
    const FILE: &str = ".cargo_vcs_info.json";

    let text = fs::read_to_string(FILE).ok()?;
    println!("cargo::rerun-if-changed={FILE}");
    let (_, behind) = text.split_once("\"sha1\"")?;
    let digits: String = behind.chars().skip_while(|digit| !digit.is_ascii_hexdigit()).collect();
    Some(digits.chars().take_while(char::is_ascii_hexdigit).take(12).collect())
}

/// The commit that is checked out, if this is a clone and git is at hand.
fn commit_of_clone() -> Option<String> {
    // In a directory that is no part of this repository, the commit of another one around it would be told.
    if !Path::new("../../ARCHITECTURE.md").exists() {
        return None;
    }
    // It changes with every commit and every checkout.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    // Cargo takes a file that is missing for one that has changed.
    if Path::new(&log).exists() {
        println!("cargo::rerun-if-changed={log}");
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}
