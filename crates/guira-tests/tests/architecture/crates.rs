//! Which crate of the workspace may depend on which.

use cargo_metadata::MetadataCommand;

use crate::tree::{assert_nothing, map, root};

/// The crates of the workspace that a crate may depend on.
const MAY_USE: &[(&str, &[&str])] = &[
    ("guira-files", &[]),
    ("guira", &["guira-files"]),
    ("guira-cli", &["guira", "guira-files"]),
    ("guira-redis", &["guira"]),
    ("guira-python", &["guira", "guira-files"]),
    // Never `guira`: a baseline that shares its code proves nothing.
    ("guira-baselines", &[]),
    ("guira-evaluation", &["guira", "guira-baselines"]),
    ("guira-tests", &["guira", "guira-cli"]),
];

/// Filters of other people, which only [`MAY_USE_PEERS`] may depend on.
const PEERS: &[&str] = &[
    "atomic-cuckoo-filter",
    "autoscale_cuckoo_filter",
    "bloom",
    "bloomfilter",
    "cuckoofilter",
    "fastbloom",
    "growable-bloom-filter",
    "probabilistic-collections",
    "qfilter",
    "scalable_cuckoo_filter",
    "xorf",
];

const MAY_USE_PEERS: &str = "guira-evaluation";

/// What is wrong with the dependencies of a crate, be they for use, for building or for tests.
fn forbidden_arrows(package: &str, dependencies: &[&str]) -> Vec<String> {
    let Some((_, may_use)) = MAY_USE.iter().find(|(name, _)| *name == package) else {
        return vec![format!("{package} has no line in MAY_USE")];
    };
    let is_ours = |name: &str| name == "guira" || name.starts_with("guira-");
    let is_forbidden =
        |name: &str| (is_ours(name) && !may_use.contains(&name)) || (PEERS.contains(&name) && package != MAY_USE_PEERS);
    let forbidden = dependencies.iter().filter(|name| is_forbidden(name));
    forbidden.map(|name| format!("{package} must not depend on {name}")).collect()
}

#[test]
fn no_crate_depends_on_one_it_must_not_know() {
    let manifest = root().join("Cargo.toml");
    let metadata =
        MetadataCommand::new().manifest_path(manifest).no_deps().exec().expect("cargo describes the workspace");
    let map = map();
    let mut wrong = Vec::new();
    for package in metadata.workspace_packages() {
        let name = package.name.as_str();
        let dependencies: Vec<&str> = package.dependencies.iter().map(|dependency| dependency.name.as_str()).collect();
        wrong.extend(forbidden_arrows(name, &dependencies));
        if !map.contains(&format!("| `{name}` |")) {
            wrong.push(format!("ARCHITECTURE.md has no row for {name}"));
        }
    }
    assert_nothing(&wrong);
}

#[test]
fn a_forbidden_crate_arrow_is_noticed() {
    let count = |package, dependencies: &[&str]| forbidden_arrows(package, dependencies).len();
    assert_eq!(count("guira", &["libm", "xxhash-rust"]), 0);
    assert_eq!(count("guira-evaluation", &["guira", "guira-baselines", "fastbloom"]), 0);
    assert_eq!(count("guira", &["guira-cli"]), 1);
    assert_eq!(count("guira-baselines", &["guira"]), 1);
    assert_eq!(count("guira-cli", &["guira", "guira-evaluation", "qfilter"]), 2);
    assert_eq!(count("guira-new", &[]), 1);
}
