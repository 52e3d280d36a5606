use std::borrow::Cow;

/// Untrusted text, such as the name of a file, made safe for a terminal: control characters and those that change the
/// direction of writing are escaped, as in `\u{1b}`.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_escaped(character) {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

fn is_escaped(character: char) -> bool {
    let turns_direction =
        matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks_line = matches!(character, '\u{2028}' | '\u{2029}');
    character.is_control() || turns_direction || breaks_line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_upsets_a_terminal_is_escaped_and_nothing_else() {
        assert_eq!(escaped("\x1b[2J\r\n\t\0\x7f\u{9b}31m"), r"\u{1b}[2J\r\n\t\u{0}\u{7f}\u{9b}31m");
        assert_eq!(escaped("a\u{202e}b\u{2028}"), r"a\u{202e}b\u{2028}");
        let plain = "gr\u{fc}n \u{1f426} u\u{308} C:\\keys \"quoted\" 'x' \u{fffd}";
        assert_eq!(escaped(plain), plain);
    }
}
