//! The list of words that the examples take their keys from.

use std::fs;

/// Debian's lists, the largest first.
const PLACES: &[&str] = &["/usr/share/dict/american-english-insane", "/usr/share/dict/words"];

/// The lines of the list that was given, or of the first one that is there.
pub(crate) fn read(given: Option<&str>) -> Result<Vec<String>, String> {
    let places = given.as_ref().map_or(PLACES, std::slice::from_ref);
    for place in places {
        if let Ok(bytes) = fs::read(place) {
            let text = String::from_utf8_lossy(&bytes);
            return Ok(text.lines().map(str::to_owned).collect());
        }
    }
    Err(format!(
        "no list of words at {}: install Debian's package wamerican-insane, or give a file with a word on each line",
        places.join(" or ")
    ))
}
