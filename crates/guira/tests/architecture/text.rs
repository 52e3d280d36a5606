//! Taking documents and source files apart.

pub(crate) fn is_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// What stands in single backticks.
pub(crate) fn backticked(text: &str) -> Vec<&str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

/// A document without its code blocks, which stand between lines of three backticks.
pub(crate) fn prose_only(document: &str) -> String {
    let mut in_block = false;
    let is_prose = |line: &&str| {
        let is_fence = line.trim_start().starts_with("```");
        in_block ^= is_fence;
        !in_block && !is_fence
    };
    document.lines().filter(is_prose).flat_map(|line| [line, "\n"]).collect()
}

/// Rust source without comments and literals of characters and strings.
pub(crate) fn code_only(source: &str) -> String {
    let mut code = String::new();
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let starts_word = !code.ends_with(is_identifier);
        let left_out = match c {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => end_of_string(rest),
            '\'' => end_of_character(rest),
            'r' if starts_word => end_of_raw_string(rest),
            _ => 0,
        };
        if left_out == 0 {
            code.push(c);
            rest = &rest[c.len_utf8()..];
        } else {
            rest = &rest[left_out..];
        }
    }
    code
}

/// The length of the string that `text` starts with.
fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    let mut characters = text.char_indices().skip(1);
    let end = characters.find(|&(_, c)| {
        let is_end = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        is_end
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// The length of the character that `text` starts with; 0 for a lifetime.
fn end_of_character(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), Some((at, c))) => {
            let after = at + c.len_utf8();
            text[after..].find('\'').map_or(text.len(), |end| after + end + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 0,
    }
}

/// The length of the raw string that `text` starts with; 0 where it starts with another word.
fn end_of_raw_string(text: &str) -> usize {
    let hashes: String = text[1..].chars().take_while(|&c| c == '#').collect();
    let start = hashes.len() + 2;
    if text[1 + hashes.len()..].starts_with('"') {
        text[start..].find(&format!("\"{hashes}")).map_or(text.len(), |end| start + end + 1 + hashes.len())
    } else {
        0
    }
}
