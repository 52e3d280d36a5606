//! The addresses that a crawler has seen: a set on disk that is opened or made, asked for a page's links at once, and saved now and
//! then. An address that is taken for another is not visited, which is why the rate is low.
//!
//! cargo run --release --example seen

use std::path::Path;

use guira::{CuckooSet, Error};

/// What a crawler has seen.
struct Seen {
    addresses: CuckooSet,
}

impl Seen {
    fn open(path: &Path) -> Result<Self, Error> {
        let builder = CuckooSet::builder().capacity(10_000).max_capacity(1_000_000).false_positive_rate(0.0001);
        Ok(Self { addresses: builder.open_or_create(path)? })
    }

    /// Returns the links of a page that are new, and notes them.
    fn new_of(&mut self, links: &[String]) -> Result<Vec<String>, Error> {
        let answers = self.addresses.contains_many(links);
        let new: Vec<String> =
            links.iter().zip(answers).filter(|&(_, seen)| !seen).map(|(link, _)| link.clone()).collect();
        self.addresses.insert_many(&new)?;
        Ok(new)
    }

    fn save(&self, path: &Path) -> Result<(), Error> {
        Ok(self.addresses.save(path)?)
    }
}

/// Returns how many of `pages` pages, with ten links each of which most are known, bring how many new addresses.
fn crawl(path: &Path, pages: usize) -> Result<usize, Error> {
    let mut seen = Seen::open(path)?;
    let mut new = 0;
    for page in 0..pages {
        let links: Vec<String> = (page..page + 10).map(|number| format!("https://example.org/{number}")).collect();
        new += seen.new_of(&links)?.len();
        if page % 1000 == 999 {
            seen.save(path)?;
        }
    }
    seen.save(path)?;
    Ok(new)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("seen.guira");
    println!(
        "{} new addresses on 5000 pages, and {} on the same pages again",
        crawl(&path, 5000)?,
        crawl(&path, 5000)?
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_was_seen_is_still_seen_after_it_was_opened_again() -> Result<(), Box<dyn std::error::Error>> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("seen.guira");
        let new = super::crawl(&path, 2000)?;
        // 2009 addresses, some of which may be taken for others.
        assert!((1990..=2009).contains(&new), "{new}");
        assert_eq!(super::crawl(&path, 2000)?, 0);
        Ok(())
    }
}
