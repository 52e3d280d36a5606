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

    let bytes_as_text: usize = words.iter().map(|word| word.len() + 1).sum();
    println!("{} words: {bytes_as_text} bytes as text, {} as a filter", words.len(), dictionary.size_in_bytes());
    let found = unknown_words(|word| dictionary.contains(word), &text);
    println!("not in the list: {}", found.iter().copied().collect::<Vec<_>>().join(" "));
    // With all the words at hand, how good is the filter?
    let list: BTreeSet<&str> = words.iter().map(String::as_str).collect();
    let all = unknown_words(|word| list.contains(word), &text);
    let missed: Vec<&str> = all.difference(&found).copied().collect();
    println!("the filter found {} of the {}, and took for words of the list: {missed:?}", found.len(), all.len());
    Ok(())
}

/// One wrong word in a thousand is taken for a right one.
fn dictionary(words: &[String]) -> Result<CuckooFilter, Box<dyn Error>> {
    Ok(CuckooFilter::builder().false_positive_rate(0.001).build_from_keys(words)?)
}

fn unknown_words(contains: impl Fn(&str) -> bool, text: &str) -> BTreeSet<&str> {
    // A sentence may begin with any word, and a heading may shout it.
    words_of(text).filter(|word| !contains(word) && !contains(&word.to_lowercase())).collect()
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
        let unknown = unknown_words(|word| dictionary.contains(word), "The brid isn't 'here'; the BIRD iss.");
        assert_eq!(unknown.into_iter().collect::<Vec<_>>(), ["brid", "iss"]);
    }

    /// 2,000 words, and 20,000 others, of which 20 look like words: beyond 50 lie more than 6 standard deviations.
    #[test]
    fn no_word_of_the_list_is_found_and_few_others_are_missed() {
        let words: Vec<String> = (0..2000).map(|number| letters(number, "a")).collect();
        let dictionary = dictionary(&words).expect("a few words");
        let unknown = |text: &str| unknown_words(|word| dictionary.contains(word), text).len();
        assert_eq!(unknown(&words.join(" ")), 0);
        let others: Vec<String> = (0..20_000).map(|number| letters(number, "b")).collect();
        assert!((19_950..=20_000).contains(&unknown(&others.join(" "))));
    }

    /// A number in letters, behind others.
    fn letters(number: u32, start: &str) -> String {
        let letter = |digit: char| char::from_u32(u32::from(digit) - u32::from('0') + u32::from('k'));
        start.chars().chain(number.to_string().chars().filter_map(letter)).collect()
    }

    #[test]
    fn who_has_no_list_learns_what_to_install() {
        let error = words::read(Some("/nowhere")).expect_err("it is not there");
        assert!(error.contains("/nowhere") && error.contains("wamerican-insane"), "{error}");
    }
}
