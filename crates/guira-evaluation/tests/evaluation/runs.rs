//! The whole evaluation, small.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;

use serde_json::Value;

use crate::{Failure, evaluate};

const NAMES: [&str; 14] = [
    "table-1",
    "table-2",
    "table-3",
    "figure-2",
    "figure-3",
    "figure-4",
    "figure-5",
    "figure-6",
    "figure-7",
    "figure-8",
    "equation-3",
    "d-ary",
    "details",
    "floors",
];

/// The names of all reproductions, with those of a feature.
fn names() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter().chain(cfg!(feature = "peers").then_some("peers"))
}

fn evaluate_all(folder: &Path) -> Result<Output, Failure> {
    evaluate(&["all", "--scale", "quick", "--commit", "abc", "--output", &folder.to_string_lossy()])
}

/// A run that all tests share, in a folder below that of the build; each process has its own.
fn first_run() -> Result<&'static Path, Failure> {
    static FOLDER: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let run = || -> Result<PathBuf, Failure> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("evaluation-{}", std::process::id()));
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let output = evaluate_all(&folder)?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(folder)
    };
    let folder = FOLDER.get_or_init(|| run().map_err(|error| error.to_string()));
    Ok(folder.as_ref().map_err(Clone::clone)?)
}

fn is_counted(thing: &Value) -> bool {
    thing["origin"] == "counted"
}

/// What a reproduction says, without its times: all cells of counted columns, and all claims that counts decide.
fn counted(report: &Value) -> Vec<String> {
    let mut counted = Vec::new();
    for table in report["tables"].as_array().into_iter().flatten() {
        let columns: Vec<bool> = table["columns"].as_array().into_iter().flatten().map(is_counted).collect();
        for row in table["rows"].as_array().into_iter().flatten() {
            let cells = row.as_array().into_iter().flatten().zip(&columns);
            counted.extend(cells.filter(|(_, is_counted)| **is_counted).map(|(cell, _)| cell.to_string()));
        }
    }
    for claim in report["claims"].as_array().into_iter().flatten() {
        if is_counted(claim) {
            counted.push(claim.to_string());
        } else {
            // What is claimed, and by which rule it is judged, is the same.
            counted.extend(["statement", "place", "rule"].map(|part| claim[part].to_string()));
        }
    }
    counted
}

/// The same of all reproductions in a folder, by name.
fn counted_in(folder: &Path) -> Result<BTreeMap<&'static str, Vec<String>>, Failure> {
    let read = |name: &'static str| -> Result<_, Failure> {
        let report: Value = serde_json::from_slice(&fs::read(folder.join(format!("{name}.json")))?)?;
        assert_eq!(report["name"], name);
        Ok((name, counted(&report)))
    };
    names().map(read).collect()
}

#[test]
fn two_runs_differ_in_nothing_but_times() -> Result<(), Failure> {
    let (first_folder, second_folder) = (first_run()?, tempfile::tempdir()?);
    let output = evaluate_all(second_folder.path())?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let [first, second] = [counted_in(first_folder)?, counted_in(second_folder.path())?];
    for (name, counted) in &first {
        assert!(counted.len() >= 5, "{name} has next to nothing that is counted: {counted:?}");
        assert_eq!(counted, &second[name], "{name}");
    }

    let report = fs::read_to_string(first_folder.join("report.md"))?;
    assert!(report.contains("- commit: abc\n"), "the report does not say what was measured");
    for name in names() {
        let csv = fs::read_to_string(first_folder.join(format!("{name}.csv")))?;
        assert!(csv.lines().count() > 5, "{name}.csv has next to no rows");
    }
    let charts: Vec<&str> = report
        .lines()
        .filter_map(|line| line.strip_prefix("![")?.split_once("]("))
        .map(|(_, file)| file.trim_end_matches(')'))
        .collect();
    assert_eq!(charts.len(), if cfg!(feature = "peers") { 18 } else { 14 }, "{charts:?}");
    for chart in charts {
        assert!(fs::read_to_string(first_folder.join(chart))?.ends_with("</svg>\n"), "{chart} is not whole");
    }
    Ok(())
}

/// The names of measurements in a journal.
fn measured(state: &str) -> Result<Vec<String>, Failure> {
    let name = |line: &str| Ok(serde_json::from_str::<Value>(line)?["name"].as_str().ok_or("no name")?.to_owned());
    state.lines().skip(1).map(name).collect()
}

#[test]
fn table_3_and_figures_5_to_8_take_the_same_turns() -> Result<(), Failure> {
    let folder = first_run()?;
    let names = measured(&fs::read_to_string(folder.join("state.jsonl"))?)?;
    let filled: Vec<_> = names.iter().filter(|name| name.contains("filling") && !name.starts_with("peers")).collect();
    assert_eq!(filled, ["all filters, filling 0", "all filters, filling 1", "all filters, filling 2"]);
    for name in ["table-3", "figure-5", "figure-6", "figure-7", "figure-8"] {
        let report: Value = serde_json::from_slice(&fs::read(folder.join(format!("{name}.json")))?)?;
        assert!(report["tables"][0]["rows"].as_array().is_some_and(|rows| rows.len() >= 9), "{name}");
    }
    Ok(())
}

/// A point of each filter is in each turn, and one of the floor beside it.
#[test]
fn beside_each_point_of_a_filter_the_floor_is_measured() -> Result<(), Failure> {
    for (name, table, points, filters) in [
        ("figure-5", 0, 11, 10),
        ("figure-6", 0, 10, 10),
        ("figure-6", 1, 10, 10),
        ("figure-7", 0, 10, 10),
        ("figure-8", 0, 10, 7),
    ] {
        let report: Value = serde_json::from_slice(&fs::read(first_run()?.join(format!("{name}.json")))?)?;
        let rows = report["tables"][table]["rows"].as_array().ok_or("no rows")?;
        let mut of_filter: BTreeMap<&str, usize> = BTreeMap::new();
        for row in rows {
            *of_filter.entry(row[0].as_str().ok_or("no name")?).or_default() += 1;
            let turns = row[5]["turns"].as_str().ok_or("no turns")?;
            assert_eq!(turns.split(' ').count(), 3, "{name}: {row}");
        }
        assert_eq!(of_filter.get("floor, 2 lines"), Some(&points), "{name}");
        assert_eq!(of_filter.len(), filters, "{name}: {of_filter:?}");
        assert!(of_filter.values().all(|&of| of == points), "{name}: {of_filter:?}");
    }
    Ok(())
}

#[test]
fn documents_can_show_what_a_run_found() -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let document = folder.path().join("document.md");
    let file = |name: &str| {
        Value::from(first_run().map_or_else(|_| String::new(), |run| run.join(name).to_string_lossy().into_owned()))
    };
    let blocks = [
        format!(
            r#"<!-- data {{"file": {}, "table": "claims", "rows": {{"measured by": "table-1"}}}} -->"#,
            file("claims.json")
        ),
        format!(r#"<!-- data {{"file": {}}} -->"#, file("claims.json")),
        format!(
            r#"<!-- data {{"file": {}, "table": "Table 3", "columns": ["filter", "bits per key"]}} -->"#,
            file("table-3.json")
        ),
    ];
    let end = "\n<!-- end of data -->\n";
    fs::write(&document, blocks.map(|block| block + end).concat())?;
    let output = evaluate(&["splice", &document.to_string_lossy()])?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let spliced = fs::read_to_string(&document)?;
    assert!(spliced.contains("| blk-BF: removal, no"), "{spliced}");
    assert!(!spliced.contains("table-3 "), "{spliced}");
    assert!(spliced.contains("-- all --scale quick --largest 25 --runs 2`, on "), "{spliced}");
    assert!(spliced.lines().any(|line| line.starts_with("| dl-CBF ")), "{spliced}");
    Ok(())
}

#[test]
fn an_interrupted_run_goes_on_where_it_was() -> Result<(), Failure> {
    let first_folder = first_run()?;
    let whole = fs::read_to_string(first_folder.join("state.jsonl"))?;
    // Within a line of the last measurements but some.
    let middle = whole.lines().count() * 9 / 10;
    let kept: usize = whole.lines().take(middle).map(|line| line.len() + 1).sum();
    let folder = tempfile::tempdir()?;
    let state = folder.path().join("state.jsonl");
    fs::write(&state, &whole[..kept + 20])?;

    let output = evaluate_all(folder.path())?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains(&format!("{} measurements are there", middle - 1)), "{said}");
    assert!(said.contains("figure-5   from the fillings of table-3"), "{said}");
    assert_eq!(counted_in(folder.path())?, counted_in(first_folder)?);
    let continued = fs::read_to_string(&state)?;
    assert!(continued.starts_with(&whole[..kept]), "what was there was measured again");
    let names = |state: &str| -> Result<Vec<String>, Failure> {
        let mut names = measured(state)?;
        names.sort();
        Ok(names)
    };
    assert_eq!(names(&continued)?, names(&whole)?);
    let mut distinct = names(&whole)?;
    distinct.dedup();
    assert_eq!(distinct, names(&whole)?, "two measurements of one name");
    Ok(())
}

#[test]
fn a_run_with_more_fillings_goes_on_with_those_that_are_there() -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let state = folder.path().join("state.jsonl");
    let begun = fs::read_to_string(first_run()?.join("state.jsonl"))?;
    fs::write(&state, &begun)?;
    let path = folder.path().to_string_lossy();
    let output = evaluate(&["all", "--fills", "4", "--commit", "abc", "--output", &path])?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let continued = fs::read_to_string(&state)?;
    let more = continued.strip_prefix(&begun).ok_or("what was there was measured again")?;
    let more: Vec<String> = measured(&format!("\n{more}"))?;
    assert_eq!(more.first().map(String::as_str), Some("all filters, filling 3"));
    assert!(more.iter().skip(1).all(|name| name.starts_with("peers, ")), "{more:?}");
    let figure: Value = serde_json::from_slice(&fs::read(folder.path().join("figure-7.json"))?)?;
    let turns = figure["tables"][0]["rows"][0][5]["turns"].as_str().ok_or("no turns")?;
    assert_eq!(turns.split(' ').count(), 4, "{turns}");
    Ok(())
}

#[test]
fn only_what_is_missing_among_earlier_results_is_measured() -> Result<(), Failure> {
    let [earlier, folder] = [tempfile::tempdir()?, tempfile::tempdir()?];
    for name in names().filter(|&name| name != "figure-4") {
        fs::copy(first_run()?.join(format!("{name}.json")), earlier.path().join(format!("{name}.json")))?;
    }
    let [from, to] = [earlier.path().to_string_lossy(), folder.path().to_string_lossy()];
    let output = evaluate(&["all", "--from", &from, "--commit", "def", "--output", &to])?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("figure-4") && !said.contains("figure-2"), "{said}");
    for name in names() {
        let read = |folder: &Path| -> Result<Value, Failure> {
            Ok(serde_json::from_slice(&fs::read(folder.join(format!("{name}.json")))?)?)
        };
        let (before, after) = (read(first_run()?)?, read(folder.path())?);
        assert_eq!(counted(&after), counted(&before), "{name}");
        let commit = if name == "figure-4" { "def" } else { "abc" };
        assert_eq!(after["run"]["machine"]["commit"], commit, "{name}");
        assert!(folder.path().join(format!("{name}.csv")).exists(), "{name}");
    }
    let claims = fs::read_to_string(folder.path().join("claims.json"))?;
    assert!(claims.contains(&format!(" --from {from}\"")), "{claims}");
    let report = fs::read_to_string(folder.path().join("report.md"))?;
    assert_eq!(report.matches("\nAn earlier result, by `").count(), names().count() - 1, "{report}");
    assert_eq!(
        fs::read_dir(earlier.path())?.count(),
        names().count() - 1,
        "something was written beside earlier results"
    );
    Ok(())
}

#[test]
fn earlier_results_of_another_scale_are_refused_and_stay_as_they_are() -> Result<(), Failure> {
    let [earlier, folder] = [tempfile::tempdir()?, tempfile::tempdir()?];
    let result = fs::read_to_string(first_run()?.join("table-1.json"))?;
    let result = result.replacen("\"scale\": \"quick\"", "\"scale\": \"paper\"", 1);
    let path = earlier.path().join("table-1.json");
    fs::write(&path, &result)?;
    let page = folder.path().join("report.html");
    let [from, to] = [earlier.path().to_string_lossy(), page.to_string_lossy()];
    let output = evaluate(&["report", "--from", &from, "--output", &to])?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("table-1.json") && said.contains("say --scale paper"), "{said}");
    assert_eq!(fs::read_to_string(path)?, result);
    assert_eq!(fs::read_dir(earlier.path())?.count(), 1, "something was written beside it");
    Ok(())
}

#[test]
fn a_run_does_not_go_on_with_what_another_one_measured() -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let state = folder.path().join("state.jsonl");
    let begun = fs::read_to_string(first_run()?.join("state.jsonl"))?;
    let path = folder.path().to_string_lossy();
    let other_machine = begun.replacen("\"processor\":\"", "\"processor\":\"Not ", 1);
    assert_ne!(other_machine, begun);
    for (there, more, named) in [
        (&begun, ["--commit", "def"], "commit abc, which is now def"),
        (&begun, ["--rounds", "4"], "--rounds 3, which is now 4"),
        (&other_machine, ["--commit", "abc"], "processor Not "),
    ] {
        fs::write(&state, there)?;
        let mut arguments = vec!["all", "--output", &path];
        if more[0] != "--commit" {
            arguments.extend(["--commit", "abc"]);
        }
        arguments.extend(more);
        let output = evaluate(&arguments)?;
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(named) && said.contains("state.jsonl"), "{said}");
        assert_eq!(&fs::read_to_string(&state)?, there);
    }
    Ok(())
}

#[test]
fn measured_space_is_that_of_theory() -> Result<(), Failure> {
    let report: Value = serde_json::from_slice(&fs::read(first_run()?.join("table-3.json"))?)?;
    let rows = report["tables"][0]["rows"].as_array().ok_or("no rows")?;
    assert_eq!(rows.len(), 9);
    for row in rows {
        let figure = |column: usize| row[column].as_f64().ok_or("no figure");
        let (load, bits, rate, expected) = (figure(3)?, figure(4)?, figure(5)? / 100.0, figure(6)? / 100.0);
        // Slots of 12 bits, all of the same memory: equation (4). Regions do not come out even.
        assert!((bits * load / 12.0 - 1.0).abs() < 0.001, "{row}");
        // A count of half a million queries, within six of its standard deviations.
        assert!((rate - expected).abs() < 6.0 * (expected / 500_000.0).sqrt(), "{row}");
    }
    Ok(())
}

#[cfg(feature = "peers")]
#[test]
fn losses_of_keys_are_seen_and_the_library_has_none() -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let output = evaluate(&["losses", "--output", &folder.path().to_string_lossy()])?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&fs::read(folder.path().join("losses.json"))?)?;
    let rows = |table: usize| report["tables"][table]["rows"].as_array().ok_or("no rows");
    let [mut ours, mut theirs] = [0, 0];
    for (table, not_found) in [(0, 5), (1, 7)] {
        for row in rows(table)? {
            let lost = row[not_found].as_u64().ok_or("no count")?;
            match row[0].as_str().ok_or("no name")? {
                name if name.starts_with("guira") => {
                    assert_eq!(lost, 0, "{row}");
                    ours += 1;
                }
                // Each key that it refuses takes the place of another one.
                "cuckoofilter" => theirs += lost,
                _ => {}
            }
        }
    }
    assert!(ours == 6 && theirs > 0, "{ours} rows of the library, {theirs} keys that cuckoofilter lost");
    // A key that comes again and again makes no table of the library larger.
    assert!(
        rows(2)?
            .iter()
            .filter(|row| row[0].as_str().is_some_and(|name| name.starts_with("guira")))
            .all(|row| row[4] == row[5])
    );
    Ok(())
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() -> Result<(), Failure> {
    let file = tempfile::NamedTempFile::new()?;
    let output = evaluate(&["figure-4", "--output", &file.path().to_string_lossy()])?;
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains(&*file.path().to_string_lossy()));
    Ok(())
}
