//! Under which licences what the published crates are made of may be used: one that deny.toml allows.

use std::collections::HashSet;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, PackageId};
use spdx::{Expression, ParseMode};

use crate::tree::{assert_nothing, read, root};

/// The crates whose users get all that they depend on.
const PUBLISHED: &[&str] = &["guira", "guira-cli", "guira-files", "guira-redis"];

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

fn allowed_licences() -> Vec<String> {
    let table: toml::Table = read(&root().join("deny.toml")).parse().expect("TOML");
    let allow = table["licenses"]["allow"].as_array().expect("a list");
    allow.iter().map(|licence| licence.as_str().expect("a name").to_owned()).collect()
}

/// Whether one of the choices that a package gives has only licences that are allowed.
fn is_allowed(licence: &str, allowed: &[String]) -> bool {
    let expression = Expression::parse_mode(licence, ParseMode::LAX);
    expression.is_ok_and(|expression| {
        expression.evaluate(|required| allowed.iter().any(|name| *name == required.license.to_string()))
    })
}

/// The published crates and what they depend on, but for tests.
fn published(metadata: &Metadata) -> HashSet<&PackageId> {
    let resolve = metadata.resolve.as_ref().expect("dependencies were asked for");
    let ours = metadata.workspace_packages().into_iter().filter(|package| PUBLISHED.contains(&package.name.as_str()));
    let mut to_do: Vec<&PackageId> = ours.map(|package| &package.id).collect();
    let mut found = HashSet::new();
    while let Some(id) = to_do.pop() {
        if found.insert(id) {
            let dependencies = &resolve[id].deps;
            let used = dependencies
                .iter()
                .filter(|used| used.dep_kinds.iter().any(|kind| kind.kind != DependencyKind::Development));
            to_do.extend(used.map(|used| &used.pkg));
        }
    }
    found
}

#[test]
fn what_is_published_has_licences_and_sources_that_are_allowed() {
    let mut command = MetadataCommand::new();
    command.manifest_path(root().join("Cargo.toml")).features(cargo_metadata::CargoOpt::AllFeatures);
    let metadata = command.exec().expect("cargo describes the workspace");
    let allowed = allowed_licences();
    let packages = published(&metadata);
    assert!(packages.len() > 50, "{} packages are found", packages.len());
    let mut wrong = Vec::new();
    for package in packages.into_iter().map(|id| &metadata[id]) {
        let licence = package.license.as_deref().unwrap_or_default();
        if !is_allowed(licence, &allowed) {
            wrong.push(format!("{}: the licence {licence:?}", package.name));
        }
        if package.source.as_ref().is_some_and(|source| source.repr != CRATES_IO) {
            wrong.push(format!("{} does not come from crates.io", package.name));
        }
    }
    assert_nothing(&wrong);
}

#[test]
fn a_licence_that_is_not_allowed_is_noticed() {
    let allowed = ["MIT", "Zlib"].map(str::to_owned);
    assert!(is_allowed("MIT", &allowed) && is_allowed("GPL-3.0-only OR MIT", &allowed));
    assert!(is_allowed("MIT/Apache-2.0", &allowed) && is_allowed("MIT AND Zlib", &allowed));
    assert!(!is_allowed("MIT AND Apache-2.0", &allowed) && !is_allowed("", &allowed) && !is_allowed("mine", &allowed));
}
