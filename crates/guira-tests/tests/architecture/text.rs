//! Taking documents and source files apart.

use proc_macro2::{Delimiter, LineColumn, Span, TokenStream, TokenTree};

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

/// Rust source without comments and literals, its tokens as far from each other as they were.
pub(crate) fn code_only(source: &str) -> String {
    let tokens: TokenStream = source.parse().unwrap_or_else(|error| panic!("not Rust: {error}: {source}"));
    let mut code = Code { text: String::new(), end: LineColumn { line: 1, column: 0 } };
    code.write_all(tokens);
    code.text
}

struct Code {
    text: String,
    /// Where the last token ended in the source.
    end: LineColumn,
}

impl Code {
    fn write_all(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("", ""),
                    };
                    self.write(open, group.span_open());
                    self.write_all(group.stream());
                    self.write(close, group.span_close());
                }
                TokenTree::Ident(name) => self.write(&name.to_string(), name.span()),
                TokenTree::Punct(mark) => self.write(mark.as_char().encode_utf8(&mut [0; 4]), mark.span()),
                TokenTree::Literal(_) => {}
            }
        }
    }

    fn write(&mut self, token: &str, span: Span) {
        let start = span.start();
        if start.line > self.end.line {
            self.text.push('\n');
        } else if start.column > self.end.column {
            self.text.push(' ');
        }
        self.text.push_str(token);
        self.end = span.end();
    }
}
