//! A file that the program `guira` made, opened in Rust and asked for keys.
//!
//!     guira build --output seen.guira keys.txt
//!     cargo run --release -p guira --example opened -- seen.guira ani koel

use std::env;
use std::error::Error;

use guira::CuckooFilter;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().ok_or("which file is to be opened? opened FILE KEY…")?;
    for answer in answers(&path, arguments)? {
        println!("{answer}");
    }
    Ok(())
}

fn answers(path: &str, keys: impl Iterator<Item = String>) -> Result<Vec<String>, Box<dyn Error>> {
    // A growing filter is one too. `AnyFilter::open` opens sets, maps and counting filters as well.
    let seen = CuckooFilter::open(path)?;
    let answer = |key: String| format!("{key}: {}", if seen.contains(&key) { "probably" } else { "no" });
    Ok(keys.map(answer).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file is what `printf 'ani\nguira\n' | guira build --rate 0.001` writes.
    #[test]
    fn keys_of_the_file_are_found() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/opened/seen.guira");
        let keys = ["ani", "guira", "koel"].map(str::to_owned);
        let answers = answers(file, keys.into_iter()).expect("a file of the program");
        assert_eq!(answers, ["ani: probably", "guira: probably", "koel: no"]);
    }
}
