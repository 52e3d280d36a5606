//! A spelling checker: which words of a text are not in a dictionary of which only fingerprints are kept?
//!
//!     cargo run --release -p guira --example spelling -- README.md
//!
//! A second argument is another list of words than Debian's.

#[path = "words/mod.rs"]
mod words;

use std::collections::BTreeSet;
use std::error::Error;
use std::{env, fs};

use guira::CuckooFilter;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let text = arguments.next().ok_or("which text is to be checked? Give its file: spelling TEXT [WORDS]")?;
    let text = fs::read_to_string(&text).map_err(|error| format!("{text}: {error}"))?;
    let words = words::read(arguments.next().as_deref())?;
    let dictionary = dictionary(&words)?;

    let bytes_of_words: usize = words.iter().map(|word| word.len() + 1).sum();
    println!("{} words in {} bytes, {} as text", words.len(), dictionary.size_in_bytes(), bytes_of_words);
    let unknown = unknown_words(&dictionary, &text);
    println!("unknown: {}", unknown.iter().copied().collect::<Vec<_>>().join(" "));
    // What the filter takes for a word and the list does not have.
    let list: BTreeSet<&str> = words.iter().map(String::as_str).collect();
    let missed = words_of(&text).filter(|word| !is_known(|word| list.contains(word), word) && !unknown.contains(word));
    println!("{} unknown, and missed: {:?}", unknown.len(), missed.collect::<BTreeSet<_>>());
    Ok(())
}

/// One wrong word in a thousand is taken for a right one.
fn dictionary(words: &[String]) -> Result<CuckooFilter, Box<dyn Error>> {
    Ok(CuckooFilter::builder().false_positive_rate(0.001).build_from_keys(words)?)
}

fn unknown_words<'text>(dictionary: &CuckooFilter, text: &'text str) -> BTreeSet<&'text str> {
    words_of(text).filter(|word| !is_known(|word| dictionary.contains(word), word)).collect()
}

/// A sentence may begin with any word, and a heading may shout it.
fn is_known(contains: impl Fn(&str) -> bool, word: &str) -> bool {
    contains(word) || contains(&word.to_lowercase())
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphabetic() && c != '\'');
    words.map(|word| word.trim_matches('\'')).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_not_in_the_list_is_found() {
        let words: Vec<String> = ["the", "bird", "isn't", "here"].map(str::to_owned).into();
        let dictionary = dictionary(&words).expect("a few words");
        // None of these has the fingerprint of a word: the filter is the same in every run.
        let unknown = unknown_words(&dictionary, "The brid isn't 'here'; the BIRD iss.");
        assert_eq!(unknown.into_iter().collect::<Vec<_>>(), ["brid", "iss"]);
    }

    #[test]
    fn who_has_no_list_learns_what_to_install() {
        let error = words::read(Some("/nowhere")).expect_err("it is not there");
        assert!(error.contains("/nowhere") && error.contains("wamerican-insane"), "{error}");
    }
}
