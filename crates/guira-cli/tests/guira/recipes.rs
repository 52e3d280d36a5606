//! The recipes of docs/recipes.md, run as they are printed, and their output.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use crate::workplace::{GUIRA, Workplace, outcome, repository};

#[test]
fn recipes_work_as_printed() {
    let Some(repository) = repository() else { return };
    let markdown = fs::read_to_string(repository.join("docs/recipes.md")).expect("docs/recipes.md");
    let program = Path::new(GUIRA).parent().expect("it is in a directory");
    let path = env::join_paths(
        [program.to_owned()].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap_or_default())),
    );
    let path: OsString = path.expect("no colons in it");
    let place = Workplace::new();
    let mut count = 0;
    for recipe in markdown.split("```sh\n").skip(1) {
        let (script, behind) = recipe.split_once("```").expect("the end of the script");
        let (_, expected) = behind.split_once("```text\n").expect("what it prints");
        let (expected, _) = expected.split_once("```").expect("the end of what it prints");
        // Both streams into one, as on a terminal.
        let mut command = place.command("sh", ["-e", "-c", &format!("exec 2>&1\n{script}")]);
        let outcome = outcome(command.env("PATH", &path).spawn().expect("a shell"), b"");
        assert_eq!(String::from_utf8_lossy(&outcome.stdout), expected, "{script}");
        assert_eq!(outcome.status, 0, "{script}");
        count += 1;
    }
    assert!(count >= 6, "{count} recipes were run");
}
