//! The filter on real keys: the words of Debian's packages wamerican-insane and wpolish. Where they are not installed the
//! test is skipped, and says so.

#![expect(clippy::cast_precision_loss, reason = "the counts are far below 2^53, and statistics are approximate")]

use std::collections::HashSet;
use std::fs;

use guira::CuckooFilter;

use crate::oracle::binomial::assert_share;

/// The file of a package's words, one to a line.
fn read_words(package: &str, file: &str) -> Option<Vec<u8>> {
    let words = fs::read(file);
    if let Err(error) = &words {
        println!("skipped: {file}: {error}. Install Debian's package {package} to run this test.");
    }
    words.ok()
}

fn lines(words: &[u8]) -> impl Iterator<Item = &[u8]> {
    words.split(|&byte| byte == b'\n').filter(|line| !line.is_empty())
}

#[test]
fn all_american_words_are_found_and_polish_ones_at_the_expected_rate() {
    let american = read_words("wamerican-insane", "/usr/share/dict/american-english-insane");
    let polish = read_words("wpolish", "/usr/share/dict/polish");
    let (Some(american), Some(polish)) = (american, polish) else { return };
    let american: HashSet<&[u8]> = lines(&american).collect();
    let rate = 0.001;

    let mut filter = CuckooFilter::with_capacity(american.len(), rate).expect("parameters in range");
    for word in &american {
        filter.insert(*word).unwrap_or_else(|error| panic!("{}: {error}", word.escape_ascii()));
    }
    assert_eq!(filter.len(), american.len());
    let lost = american.iter().find(|word| !filter.contains(**word));
    assert_eq!(lost.map(|word| word.escape_ascii().to_string()), None, "a word is lost");
    assert_eq!(filter.check_invariants(), Ok(()));

    // The documented formula, and the rate itself: keys that share a class make the first too high, by a factor of
    // -ln(1 - p) / p at the most (statistics.rs has the reasons).
    let parameters = filter.parameters();
    let probability = 1.0 / (2.0_f64.powi(parameters.fingerprint_bits().cast_signed()) - 1.0);
    let compared = 2.0 * f64::from(parameters.slots_per_bucket()) * filter.load_factor();
    let formula = 1.0 - (1.0 - probability).powf(compared);
    let least = formula * probability / -(-probability).ln_1p();
    assert!(formula <= rate, "{filter:?}: {formula} is expected, {rate} was asked for");

    let absent: HashSet<&[u8]> = lines(&polish).filter(|word| !american.contains(word)).collect();
    let found = absent.iter().filter(|word| filter.contains(**word)).count();
    println!(
        "{} words stored in {} bytes; of {} others, {found} are found: {:.6}, {formula:.6} expected",
        filter.len(),
        filter.size_in_bytes(),
        absent.len(),
        found as f64 / absent.len() as f64,
    );
    assert!(absent.len() > 1_000_000, "{} words are not in the other list", absent.len());
    assert_share(found as u64, absent.len() as u64, least, formula, &format!("{filter:?}: words found"));

    // Removal takes the words it is asked to and no others.
    let (removed, kept): (Vec<&[u8]>, Vec<&[u8]>) = american.iter().partition(|word| word.len() % 2 == 0);
    for word in &removed {
        assert!(filter.remove(*word), "{} is lost", word.escape_ascii());
    }
    assert_eq!(filter.len(), kept.len());
    let lost = kept.iter().find(|word| !filter.contains(**word));
    assert_eq!(lost.map(|word| word.escape_ascii().to_string()), None, "a word is lost");
    assert_eq!(filter.check_invariants(), Ok(()));
}
