//! Every claim of the page, judged again by nothing but the page: the rule that it prints, and the CSV files that it has.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::Failure;
use crate::page::page;

/// The lines of a CSV file, headings first.
type Csv = Vec<Vec<String>>;

struct Claim {
    verdict: String,
    statement: String,
    scale: String,
    judged_at: String,
    rule: String,
    file: String,
}

/// A value in each turn; what is counted has one. A turn that is missing or was disturbed has none.
type Course = Vec<Option<f64>>;

/// What a rule gives, before the level of the page is known.
#[derive(Clone, Debug, PartialEq)]
enum Judged {
    Nothing,
    /// The file has no single turns of what was timed.
    TurnsMissing,
    Counted(bool),
    /// The best stakes of those who bet that it holds, and that it does not.
    Timed(f64, f64),
}

/// What stands between two marks, in each place.
fn between<'page>(page: &'page str, start: &str, end: &str) -> Vec<&'page str> {
    page.split(start).skip(1).filter_map(|rest| Some(rest.split_once(end)?.0)).collect()
}

/// Text without the marks of HTML.
fn plain(html: &str) -> String {
    let text: String = html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect();
    let text = [("&#34;", "\""), ("&#39;", "'"), ("&#60;", "<"), ("&#62;", ">"), ("&lt;", "<"), ("&gt;", ">")]
        .iter()
        .fold(text, |text, (escaped, meant)| text.replace(escaped, meant));
    text.replace("&#38;", "&").replace("&amp;", "&").trim().to_owned()
}

fn files(page: &str) -> Result<BTreeMap<String, Csv>, Failure> {
    let mut files = BTreeMap::new();
    for link in between(page, "<a download=\"", "</a>") {
        let (name, rest) = link.split_once('"').ok_or("a link without a name")?;
        let data =
            rest.split_once("base64,").and_then(|(_, data)| data.split_once('"')).ok_or("a link without data")?.0;
        let bytes = STANDARD.decode(data)?;
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(bytes.as_slice());
        let lines: Result<Csv, csv::Error> =
            reader.records().map(|line| Ok(line?.iter().map(str::to_owned).collect())).collect();
        files.insert(name.to_owned(), lines?);
    }
    Ok(files)
}

fn claims(page: &str) -> Result<Vec<Claim>, Failure> {
    let part = |item: &str, class: &str| {
        let start = format!("<span class=\"{class}\">");
        item.split_once(&start).map(|(_, rest)| rest.split_once("</span>\n").map_or(rest, |(text, _)| text).to_owned())
    };
    let items = page.split("<li class=\"").skip(1).filter(|item| item.contains("class=\"verdict\""));
    let claim = |item: &str| {
        let rule = part(item, "rule")?;
        let (_, verdict) = item.split_once("</span> ")?;
        let source = plain(&part(item, "source")?);
        Some(Claim {
            verdict: plain(verdict.split_once("</span>")?.0),
            statement: plain(&part(item, "statement")?),
            judged_at: source.rsplit_once(" · judged at ")?.1.to_owned(),
            scale: source.rsplit_once(" scale · judged at ")?.0.rsplit_once(" · ")?.1.to_owned(),
            file: plain(rule.split_once("<span class=\"file\">")?.1),
            rule: plain(rule.split_once("</code>")?.0),
        })
    };
    items.map(|item| claim(item).ok_or_else(|| format!("a claim that says too little: {item:.300}").into())).collect()
}

/// The rows that a pair of brackets chooses, and the column.
fn chosen<'csv>(brackets: &str, csv: &'csv Csv) -> Result<(String, Vec<&'csv Vec<String>>), Failure> {
    let mut parts = brackets.split(" | ");
    let column = parts.next().ok_or("no column")?.to_owned();
    let mut rows: Vec<&Vec<String>> = csv.iter().skip(1).collect();
    for part in parts {
        let (other, value) = part.split_once(" = ").ok_or_else(|| format!("no value in {part}"))?;
        let number = place(csv, other)?;
        rows.retain(|row| row[number] == value);
    }
    Ok((column, rows))
}

fn place(csv: &Csv, column: &str) -> Result<usize, Failure> {
    csv[0].iter().position(|name| name == column).ok_or_else(|| format!("there is no column {column}").into())
}

/// The value of a turn.
fn at(course: &Course, turn: usize) -> Option<f64> {
    if course.len() == 1 { course[0] } else { course.get(turn).copied().flatten() }
}

/// A list of courses, or what is made of one; what is left of the text.
fn term<'rule>(rule: &'rule str, csv: &Csv, seen: &mut Seen) -> Result<(Vec<Course>, &'rule str), Failure> {
    let (mut values, mut rest) = factor(rule, csv, seen)?;
    while let Some(divisor) = rest.strip_prefix(" / ") {
        let (others, after) = factor(divisor, csv, seen)?;
        let quotient = |(one, other): (Course, Course)| {
            (0..one.len().max(other.len())).map(|turn| Some(at(&one, turn)? / at(&other, turn)?)).collect()
        };
        values = pairs(&values, &others).into_iter().map(quotient).collect();
        rest = after;
    }
    Ok((values, rest))
}

/// What a rule came across in a file.
#[derive(Default)]
struct Seen {
    turns: bool,
    turns_missing: bool,
}

/// What makes one value of many.
const REDUCTIONS: [&str; 6] = ["least", "greatest", "first", "last", "mean", "trend"];

fn reduced(name: &str, values: &[f64]) -> f64 {
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let count = values.len() as f64;
    match name {
        "least" => values.iter().copied().fold(f64::INFINITY, f64::min),
        "greatest" => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        "first" => values[0],
        "last" => values[values.len() - 1],
        "mean" => (logarithms.iter().sum::<f64>() / count).exp(),
        _ => {
            // The slope is the covariance with the places over their variance; from end to end there are count - 1 steps.
            let [places, mean] = [(count - 1.0) / 2.0, logarithms.iter().sum::<f64>() / count];
            let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
                logarithms.iter().zip(0..).map(|(value, place)| of(f64::from(place) - places, value - mean)).sum()
            };
            ((count - 1.0) * sum(&|place, value| place * value) / sum(&|place, _| place * place)).exp()
        }
    }
}

fn factor<'rule>(rule: &'rule str, csv: &Csv, seen: &mut Seen) -> Result<(Vec<Course>, &'rule str), Failure> {
    for name in REDUCTIONS {
        if let Some(of) = rule.strip_prefix(name).and_then(|rest| rest.strip_prefix(' ')) {
            let (courses, rest) = factor(of, csv, seen)?;
            if courses.is_empty() {
                return Ok((courses, rest));
            }
            let turns = courses.iter().map(Vec::len).max().unwrap_or(0);
            // The first and the last do not need the others.
            let chosen = match name {
                "first" => &courses[..1],
                "last" => &courses[courses.len() - 1..],
                _ => &courses[..],
            };
            let of_turn = |turn| {
                let values: Option<Vec<f64>> = chosen.iter().map(|course| at(course, turn)).collect();
                Some(reduced(name, &values?))
            };
            return Ok((vec![(0..turns).map(of_turn).collect()], rest));
        }
    }
    if let Some(inner) = rule.strip_prefix('(') {
        let (courses, rest) = term(inner, csv, seen)?;
        return Ok((courses, rest.strip_prefix(')').ok_or("no end of parentheses")?));
    }
    if let Some(inner) = rule.strip_prefix('[') {
        let (brackets, rest) = inner.split_once(']').ok_or("no end of brackets")?;
        let (column, rows) = chosen(brackets, csv)?;
        // An earlier result may not have it.
        let Ok(middle) = place(csv, &column) else { return Ok((Vec::new(), rest)) };
        let turns = place(csv, &format!("{column}: turns")).ok();
        seen.turns |= turns.is_some();
        seen.turns_missing |= turns.is_none() && place(csv, &format!("{column}: lowest")).is_ok();
        let mut courses = Vec::new();
        for row in rows.into_iter().filter(|row| !row[middle].is_empty()) {
            courses.push(match turns {
                Some(turns) => row[turns].split(' ').map(|turn| turn.parse().ok()).collect(),
                None => vec![Some(row[middle].parse()?)],
            });
        }
        return Ok((courses, rest));
    }
    let end = rule.find(' ').unwrap_or(rule.len());
    let number: f64 = rule[..end].parse().map_err(|_| format!("no number in {rule}"))?;
    Ok((vec![vec![Some(number)]], &rule[end..]))
}

fn pairs(one: &[Course], other: &[Course]) -> Vec<(Course, Course)> {
    let count = if one.is_empty() || other.is_empty() { 0 } else { one.len().max(other.len()) };
    assert!(count == 0 || [1, count].contains(&one.len()) && [1, count].contains(&other.len()), "lists do not match");
    (0..count).map(|at| (one[at % one.len()].clone(), other[at % other.len()].clone())).collect()
}

/// What a bet of 1 has become after turns that were won or lost: half of it on 95 %, 30 % on 80 %, 20 % on 65 %.
fn stake(turns: &[bool]) -> f64 {
    let bet = |p: f64| turns.iter().map(|&won| 2.0 * if won { p } else { 1.0 - p }).product::<f64>();
    0.5 * bet(0.95) + 0.3 * bet(0.8) + 0.2 * bet(0.65)
}

/// The best stake on that all comparisons hold, which is that on the least of them, and the best one on that they do not, which
/// is spread over all.
fn stakes(comparisons: &[Vec<Option<bool>>]) -> (f64, f64) {
    let turns = comparisons.iter().map(Vec::len).max().unwrap_or(0);
    let so_far = |outcomes: &[Option<bool>], turn: usize, wins: bool| {
        let counted = outcomes.iter().take(turn).flatten();
        stake(&counted.map(|&holds| holds == wins).collect::<Vec<_>>())
    };
    let best = |outcomes: &[Option<bool>]| (0..=turns).map(|turn| so_far(outcomes, turn, true)).fold(0.0, f64::max);
    let holds = comparisons.iter().map(|outcomes| best(outcomes)).fold(f64::INFINITY, f64::min);
    let spread =
        |turn| comparisons.iter().map(|outcomes| so_far(outcomes, turn, false)).sum::<f64>() / comparisons.len() as f64;
    (holds, (0..=turns).map(spread).fold(0.0, f64::max))
}

fn judged(rule: &str, csv: &Csv) -> Result<Judged, Failure> {
    let (mut counted, mut timed) = (Vec::new(), Vec::new());
    let mut rest = rule;
    loop {
        if let Some((left, right)) = rest.split_once(" = \"")
            && !left.contains(" and ")
        {
            let (wanted, after) = right.split_once('"').ok_or("no end of a text")?;
            let brackets = left.trim_start_matches('[').trim_end_matches(']');
            let (column, rows) = chosen(brackets, csv)?;
            let number = place(csv, &column)?;
            if rows.is_empty() {
                return Ok(Judged::Nothing);
            }
            counted.extend(rows.iter().map(|row| row[number] == wanted));
            assert!(after.is_empty(), "{after}");
            break;
        }
        let mut seen = Seen::default();
        let (left, after) = term(rest, csv, &mut seen)?;
        let after = after.strip_prefix(' ').ok_or("no relation")?;
        let (relation, after) = after.split_once(' ').ok_or("no right side")?;
        let (right, mut after) = term(after, csv, &mut seen)?;
        let mut tolerance = 0.0;
        for sign in [" − ", " + "] {
            if let Some(number) = after.strip_prefix(sign) {
                let end = number.find(' ').unwrap_or(number.len());
                tolerance = number[..end].parse()?;
                after = &number[end..];
            }
        }
        let holds = |left: f64, right: f64| match relation {
            "≥" => left >= right - tolerance,
            "≤" => left <= right + tolerance,
            ">" => left > right - tolerance,
            _ => left < right + tolerance,
        };
        assert!(["≥", "≤", ">", "<"].contains(&relation), "no relation: {relation}");
        let all = pairs(&left, &right);
        if seen.turns_missing {
            return Ok(Judged::TurnsMissing);
        }
        if all.is_empty() {
            return Ok(Judged::Nothing);
        }
        for (left, right) in all {
            let turns = left.len().max(right.len());
            let outcomes: Vec<Option<bool>> =
                (0..turns).map(|turn| Some(holds(at(&left, turn)?, at(&right, turn)?))).collect();
            if seen.turns { timed.push(outcomes) } else { counted.extend(outcomes.into_iter().flatten()) }
        }
        match after.strip_prefix(" and ") {
            Some(next) => rest = next,
            None => {
                assert!(after.is_empty(), "{after} is left of {rule}");
                break;
            }
        }
    }
    let all_hold = counted.iter().all(|&holds| holds);
    if timed.is_empty() || !all_hold {
        return Ok(Judged::Counted(all_hold));
    }
    let (holds, fails) = stakes(&timed);
    Ok(Judged::Timed(holds, fails))
}

/// The level of each of these claims: the greatest k-th part of 1 % at which k of them are decided.
fn level(probabilities: &[f64]) -> f64 {
    let count = probabilities.len() as f64;
    let decided = |level: f64| probabilities.iter().filter(|&&probability| probability <= level).count() as f64;
    let levels = (1..=probabilities.len()).map(|number| (number, 0.01 * number as f64 / count));
    levels
        .filter(|&(number, level)| decided(level) >= number as f64)
        .map(|(_, level)| level)
        .fold(0.01 / count, f64::max)
}

/// Checks every verdict of a page; how many claims have each.
fn assert_verdicts_follow(page: &str) -> Result<BTreeMap<String, u32>, Failure> {
    let (files, claims) = (files(page)?, claims(page)?);
    assert!(claims.len() > 120, "{} claims", claims.len());
    let mut found = Vec::new();
    for claim in &claims {
        let csv = files.get(&claim.file).ok_or_else(|| format!("{}: there is no {}", claim.statement, claim.file))?;
        let judged = judged(&claim.rule, csv);
        let judged = judged.map_err(|error| format!("{}: {error}: {}", claim.statement, claim.rule))?;
        let scales: &[&str] = match claim.judged_at.as_str() {
            "every scale" => &["quick", "medium", "paper"],
            "medium scale" => &["medium", "paper"],
            "paper scale" => &["paper"],
            other => return Err(format!("judged at {other}").into()),
        };
        found.push(if scales.contains(&claim.scale.as_str()) { judged } else { Judged::Nothing });
    }
    let probability = |judged: &Judged| match judged {
        Judged::Timed(holds, fails) => Some((1.0 / holds.max(*fails)).min(1.0)),
        _ => None,
    };
    let level = level(&found.iter().filter_map(probability).collect::<Vec<_>>());
    let mut verdicts = BTreeMap::new();
    for (claim, judged) in claims.into_iter().zip(&found) {
        let expected = match judged {
            Judged::Nothing | Judged::TurnsMissing => "not judged",
            Judged::Counted(true) => "holds",
            Judged::Counted(false) => "does not hold",
            // Rounding errors are far smaller than the steps between stakes.
            Judged::Timed(holds, fails) if holds.max(*fails) * level < 1.0 - 1e-9 => "undecided",
            Judged::Timed(holds, fails) => {
                if holds > fails {
                    "holds"
                } else {
                    "does not hold"
                }
            }
        };
        assert_eq!(claim.verdict, expected, "{}: {}, {judged:?}", claim.statement, claim.rule);
        *verdicts.entry(claim.verdict).or_default() += 1;
    }
    Ok(verdicts)
}

#[test]
fn every_verdict_follows_from_its_rule_and_the_csv() -> Result<(), Failure> {
    let verdicts = assert_verdicts_follow(page()?.0)?;
    assert!(verdicts.len() >= 3, "next to all claims have the same verdict: {verdicts:?}");
    Ok(())
}

fn report() -> Result<String, Failure> {
    Ok(fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/report/report.html"))?)
}

#[test]
fn every_verdict_of_the_report_follows_from_its_rule_and_the_csv() -> Result<(), Failure> {
    let verdicts = assert_verdicts_follow(&report()?)?;
    let [open, all] = [verdicts.get("undecided").copied().unwrap_or(0), verdicts.values().sum()];
    assert!(open * 20 <= all, "more than one in twenty is undecided: {verdicts:?}");
    Ok(())
}

#[test]
fn the_report_tells_of_every_statement_of_the_list() -> Result<(), Failure> {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("claims.csv");
    let mut reader = csv::Reader::from_path(list)?;
    let statements: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>()?;
    assert_eq!(statements.len(), 63);
    for page in [page()?.0, &report()?] {
        let rows = between(page, "<tr><td>", "</tr>");
        for statement in &statements {
            let start = format!("{}</td>", &statement[0]);
            let row =
                rows.iter().find(|row| row.starts_with(&start)).ok_or_else(|| format!("{statement:?} is missing"))?;
            let text = plain(row);
            assert!(text.contains(&statement[3]) && text.contains(&statement[2]), "{text} is not {statement:?}");
            let verdict = ["holds", "does not hold", "undecided", "not judged"]
                .into_iter()
                .find(|verdict| text.ends_with(verdict));
            match &statement[4] {
                "" => assert!(verdict.is_some(), "{text}"),
                reason => assert!(text.ends_with(&format!("not judged: {reason}")), "{text}"),
            }
        }
    }
    Ok(())
}

#[test]
fn a_rule_is_read_as_it_is_printed() -> Result<(), Failure> {
    let csv: Csv = [
        "filter,load,speed,speed: lowest,speed: highest,speed: turns",
        "CF,1,10,9,12,10 9 12 9! 10",
        "CF,2,8,7.5,8.5,8 7.5 8.5 9 -",
        "QF,1,9.5,9.5,9.5,9.5 9.5 9.5 9.5 9.5",
    ]
    .map(|line| line.split(',').map(str::to_owned).collect())
    .into();
    // Three turns have both CFs.
    let three = (stake(&[true; 3]), stake(&[false; 3]).max(1.0));
    let won = Judged::Timed(three.0, three.1);
    for (rule, found) in [
        ("least [speed | filter = CF] / greatest [speed | filter = CF] ≥ 0.6", won.clone()),
        ("least [speed | filter = CF] / greatest [speed | filter = CF] ≥ 0.9", Judged::Timed(three.1, three.0)),
        ("least [speed | filter = CF] / greatest [speed | filter = CF] ≥ 1 − 0.4", won.clone()),
        ("trend [speed | filter = CF] < 0.85", won.clone()),
        ("last [speed | filter = CF] / mean [speed | filter = CF] < 0.92", won.clone()),
        ("last ([speed | filter = CF] / [speed | filter = QF]) / (last [speed] / first [speed]) > 0.7", won),
        ("[filter | load = 2] = \"CF\"", Judged::Counted(true)),
        ("[filter | load = 1] = \"CF\"", Judged::Counted(false)),
        ("[load | filter = CF] ≤ 2", Judged::Counted(true)),
        ("[speed | filter = BF] ≥ 1", Judged::Nothing),
    ] {
        assert_eq!(judged(rule, &csv)?, found, "{rule}");
    }
    // A turn of each is lost; nine turns that agree are enough.
    assert!(stake(&[true; 8]) < 100.0 && stake(&[true; 9]) > 100.0);
    Ok(())
}
