//! Asks a file as the library does, for the tests of the Python package: `answers FILE KIND` reads keys from standard input,
//! one per line, and prints a line of 0s and 1s, one for each. KIND is `text`, or `u64` or `i64` for decimal numbers.
//! `answers FILE build` makes a file of a million keys, which are the texts and the numbers from 0 to 499,999.

use std::error::Error;
use std::io::stdin;
use std::str::FromStr;

use guira::{CuckooFilter, CuckooFilterView, Key};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, kind] = &arguments[..] else { return Err("answers FILE KIND".into()) };
    if kind == "build" {
        return build(path);
    }
    let file = std::fs::read(path)?;
    let view = CuckooFilterView::new(&file)?;
    view.verify()?;
    let lines: Vec<String> = stdin().lines().collect::<Result<_, _>>()?;
    match kind.as_str() {
        "text" => answer(&view, &lines),
        "u64" => answer(&view, &numbers::<u64>(&lines)?),
        "i64" => answer(&view, &numbers::<i64>(&lines)?),
        _ => return Err("the kind is text, u64 or i64".into()),
    }
    Ok(())
}

fn build(path: &str) -> Result<(), Box<dyn Error>> {
    let mut filter = CuckooFilter::with_capacity(1_000_000, 0.001)?;
    for number in 0..500_000u64 {
        filter.insert(&number)?;
        filter.insert(&number.to_string())?;
    }
    Ok(std::fs::write(path, filter.to_bytes())?)
}

fn numbers<T: FromStr<Err: Error + 'static>>(lines: &[String]) -> Result<Vec<T>, Box<dyn Error>> {
    lines.iter().map(|line| Ok(line.parse()?)).collect()
}

fn answer<K: Key>(view: &CuckooFilterView<'_>, keys: &[K]) {
    let answers = keys.iter().map(|key| if view.contains(key) { '1' } else { '0' });
    println!("{}", answers.collect::<String>());
}
