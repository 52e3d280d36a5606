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
    judged_at: String,
    rule: String,
    file: String,
}

/// The least, the middle and the greatest.
type Interval = [f64; 3];

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
        Some(Claim {
            verdict: plain(verdict.split_once("</span>")?.0),
            statement: plain(&part(item, "statement")?),
            judged_at: plain(&part(item, "source")?).rsplit_once(" · judged at ")?.1.to_owned(),
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

/// A list of cells, or what is made of one; what is left of the text.
fn term<'rule>(rule: &'rule str, csv: &Csv) -> Result<(Vec<Interval>, &'rule str), Failure> {
    let (mut values, mut rest) = factor(rule, csv)?;
    while let Some(divisor) = rest.strip_prefix(" / ") {
        let (others, after) = factor(divisor, csv)?;
        let divided = pairs(&values, &others).into_iter();
        values = divided.map(|(one, other)| [one[0] / other[2], one[1] / other[1], one[2] / other[0]]).collect();
        rest = after;
    }
    Ok((values, rest))
}

fn factor<'rule>(rule: &'rule str, csv: &Csv) -> Result<(Vec<Interval>, &'rule str), Failure> {
    for (name, reduce) in [("least ", f64::min as fn(f64, f64) -> f64), ("greatest ", f64::max)] {
        if let Some(of) = rule.strip_prefix(name) {
            let (values, rest) = factor(of, csv)?;
            let each = |at: usize| values.iter().map(|value| value[at]).reduce(reduce).unwrap_or(f64::NAN);
            return Ok((vec![[each(0), each(1), each(2)]], rest));
        }
    }
    if let Some(of) = rule.strip_prefix("first ") {
        let (values, rest) = factor(of, csv)?;
        return Ok((values.into_iter().take(1).collect(), rest));
    }
    if let Some(of) = rule.strip_prefix("last ") {
        let (values, rest) = factor(of, csv)?;
        return Ok((values.into_iter().next_back().into_iter().collect(), rest));
    }
    if let Some(inner) = rule.strip_prefix('[') {
        let (brackets, rest) = inner.split_once(']').ok_or("no end of brackets")?;
        let (column, rows) = chosen(brackets, csv)?;
        let middle = place(csv, &column)?;
        let end = |suffix: &str| place(csv, &format!("{column}{suffix}")).unwrap_or(middle);
        let ends = [end(": lowest"), middle, end(": highest")];
        let mut values = Vec::new();
        for row in rows {
            if !row[middle].is_empty() {
                values.push([row[ends[0]].parse()?, row[middle].parse()?, row[ends[2]].parse()?]);
            }
        }
        return Ok((values, rest));
    }
    let end = rule.find(' ').unwrap_or(rule.len());
    let number: f64 = rule[..end].parse().map_err(|_| format!("no number in {rule}"))?;
    Ok((vec![[number; 3]], &rule[end..]))
}

fn pairs(one: &[Interval], other: &[Interval]) -> Vec<(Interval, Interval)> {
    let count = if one.is_empty() || other.is_empty() { 0 } else { one.len().max(other.len()) };
    assert!(count == 0 || [1, count].contains(&one.len()) && [1, count].contains(&other.len()), "lists do not match");
    (0..count).map(|at| (one[at % one.len()], other[at % other.len()])).collect()
}

/// "holds", "does not hold" or "within noise"; nothing where the file has no such cells.
fn judged(rule: &str, csv: &Csv) -> Result<Option<&'static str>, Failure> {
    let mut all = Vec::new();
    let mut rest = rule;
    loop {
        if let Some((left, right)) = rest.split_once(" = \"")
            && !left.contains(" and ")
        {
            let (wanted, after) = right.split_once('"').ok_or("no end of a text")?;
            let brackets = left.trim_start_matches('[').trim_end_matches(']');
            let (column, rows) = chosen(brackets, csv)?;
            let number = place(csv, &column)?;
            all.extend(rows.iter().map(|row| if row[number] == wanted { 0 } else { 2 }));
            rest = after;
            assert!(rest.is_empty(), "{rest}");
            break;
        }
        let (left, after) = term(rest, csv)?;
        let after = after.strip_prefix(' ').ok_or("no relation")?;
        let (relation, after) = after.split_once(' ').ok_or("no right side")?;
        let (right, mut after) = term(after, csv)?;
        let mut tolerance = 0.0;
        for sign in [" − ", " + "] {
            if let Some(number) = after.strip_prefix(sign) {
                let end = number.find(' ').unwrap_or(number.len());
                tolerance = number[..end].parse()?;
                after = &number[end..];
            }
        }
        for (left, right) in pairs(&left, &right) {
            let (holds, fails) = match relation {
                "≥" => (left[0] >= right[2] - tolerance, left[2] < right[0] - tolerance),
                "≤" => (left[2] <= right[0] + tolerance, left[0] > right[2] + tolerance),
                ">" => (left[0] > right[2] - tolerance, left[2] <= right[0] - tolerance),
                "<" => (left[2] < right[0] + tolerance, left[0] >= right[2] + tolerance),
                _ => return Err(format!("no relation: {relation}").into()),
            };
            all.push(if holds {
                0
            } else if fails {
                2
            } else {
                1
            });
        }
        match after.strip_prefix(" and ") {
            Some(next) => rest = next,
            None => {
                assert!(after.is_empty(), "{after} is left of {rule}");
                break;
            }
        }
    }
    Ok(all.into_iter().max().map(|worst| ["holds", "within noise", "does not hold"][worst]))
}

/// Checks every verdict of a page; how many claims have each.
fn assert_verdicts_follow(page: &str, judges_all: bool) -> Result<BTreeMap<String, u32>, Failure> {
    let (files, claims) = (files(page)?, claims(page)?);
    assert!(claims.len() > 60, "{} claims", claims.len());
    let mut verdicts = BTreeMap::new();
    for claim in claims {
        let csv = files.get(&claim.file).ok_or_else(|| format!("{}: there is no {}", claim.statement, claim.file))?;
        let found =
            judged(&claim.rule, csv).map_err(|error| format!("{}: {error}: {}", claim.statement, claim.rule))?;
        let expected = match (claim.judged_at.as_str(), judges_all) {
            ("paper scale", false) => "not judged",
            ("paper scale", true) | ("every scale", _) => found.unwrap_or("nothing to judge by"),
            (other, _) => return Err(format!("judged at {other}").into()),
        };
        assert_eq!(claim.verdict, expected, "{}: {}", claim.statement, claim.rule);
        *verdicts.entry(claim.verdict).or_default() += 1;
    }
    Ok(verdicts)
}

#[test]
fn every_verdict_follows_from_its_rule_and_the_csv() -> Result<(), Failure> {
    let verdicts = assert_verdicts_follow(page()?.0, false)?;
    assert!(verdicts.len() >= 3, "next to all claims have the same verdict: {verdicts:?}");
    Ok(())
}

#[test]
fn every_verdict_of_the_report_at_the_papers_scale_follows_from_its_rule_and_the_csv() -> Result<(), Failure> {
    let report = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/report/report.html");
    let verdicts = assert_verdicts_follow(&fs::read_to_string(report)?, true)?;
    assert!(!verdicts.contains_key("not judged"), "claims that are left open: {verdicts:?}");
    Ok(())
}

#[test]
fn a_rule_is_read_as_it_is_printed() -> Result<(), Failure> {
    let csv: Csv =
        ["filter,load,speed,speed: lowest,speed: highest", "CF,1,10,9,12", "CF,2,8,7.5,8.5", "QF,1,9.5,9.5,9.5"]
            .map(|line| line.split(',').map(str::to_owned).collect())
            .into();
    for (rule, verdict) in [
        ("least [speed | filter = CF] / greatest [speed | filter = CF] ≥ 0.6", Some("holds")),
        ("least [speed | filter = CF] / greatest [speed | filter = CF] ≥ 0.7", Some("within noise")),
        ("least [speed | filter = CF] / greatest [speed | filter = CF] ≥ 1 − 0.4", Some("holds")),
        ("[speed | filter = CF] > 8 and [speed | filter = QF] < 9", Some("does not hold")),
        ("last [speed | filter = CF] < first [speed | filter = CF]", Some("holds")),
        ("[filter | load = 2] = \"CF\"", Some("holds")),
        ("[filter | load = 1] = \"CF\"", Some("does not hold")),
        ("[speed | filter = BF] ≥ 1", None),
    ] {
        assert_eq!(judged(rule, &csv)?, verdict, "{rule}");
    }
    Ok(())
}
