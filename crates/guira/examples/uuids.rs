//! Prints each UUID of a stream once, however many there are to come.
//!
//!     cargo run --release -p guira --features uuid --example uuids < requests.txt

use std::error::Error;
use std::io::{self, BufRead, Write};

use guira::CuckooFilter;
use uuid::Uuid;

fn main() -> Result<(), Box<dyn Error>> {
    print_new(io::stdin().lock(), io::stdout().lock())
}

fn print_new(lines: impl BufRead, mut output: impl Write) -> Result<(), Box<dyn Error>> {
    // It starts small and grows; one new UUID in a thousand is taken for an old one.
    let mut seen =
        CuckooFilter::builder().capacity(1000).max_capacity(10_000_000).false_positive_rate(0.001).build()?;
    for line in lines.lines() {
        let id = Uuid::try_parse(line?.trim())?;
        if seen.insert_if_absent(&id)? {
            writeln!(output, "{id}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// 20,000 UUIDs, of which 20 look like earlier ones: beyond 50 lie more than 6 standard deviations.
    #[test]
    fn each_is_printed_once_and_few_are_left_out() {
        let ids = (1..=20_000_u128).map(|number| Uuid::from_u128(number.wrapping_mul(0x9e37_79b9_7f4a_7c15 << 61)));
        let lines: Vec<String> = ids.map(|id| format!("{id}\n")).collect();
        let mut printed = Vec::new();
        print_new(lines.concat().repeat(2).as_bytes(), &mut printed).expect("UUIDs");
        let printed = String::from_utf8(printed).expect("UUIDs");
        let distinct: HashSet<&str> = printed.lines().collect();
        assert_eq!(distinct.len(), printed.lines().count());
        assert!((19_950..=20_000).contains(&distinct.len()), "{}", distinct.len());
    }

    #[test]
    fn what_is_no_uuid_is_refused() {
        assert!(print_new("ani\n".as_bytes(), io::sink()).is_err());
    }
}
