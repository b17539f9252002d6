//! Text from data and file names, as people may see it.
//!
//! A class can be called anything, also something that clears the screen, forges a line of output or
//! reverses the text after it. Whatever is printed for people has such characters escaped, as in
//! `\u{1b}`. What is written for programs, as CSV or JSON, has them as they are.

use std::{
    borrow::Cow,
    io::{self, Write},
};

/// Text on one line, with characters escaped that a terminal would act on.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_acted_on) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_acted_on(character) {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

/// The same for text of several lines.
pub(crate) fn printable_lines(text: &str) -> String {
    let lines: Vec<Cow<'_, str>> = text.split('\n').map(printable).collect();
    lines.join("\n")
}

/// Writes a line to standard error. If that fails, there is nobody to be told.
pub(crate) fn note(text: &str) {
    let _ = io::stderr().write_all(format!("{}\n", printable(text)).as_bytes());
}

/// Whether a character is an instruction rather than something to be seen: control characters, line
/// separators, and those that change the direction of the text around them.
fn is_acted_on(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}'
                | '\u{200e}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{feff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_escaped_and_letters_stay() {
        assert!(matches!(printable("größer als α, 大, שלום"), Cow::Borrowed(_)));
        for (text, expected) in [
            ("\u{1b}[2Jx", r"\u{1b}[2Jx"),
            ("a\nb\r\tc", r"a\nb\r\tc"),
            ("\u{9b}31m\u{7f}", r"\u{9b}31m\u{7f}"),
            ("a\u{202e}b\u{2066}\u{200f}\u{2028}", r"a\u{202e}b\u{2066}\u{200f}\u{2028}"),
        ] {
            assert_eq!(printable(text), expected);
        }
        assert_eq!(printable_lines("a\u{7}\nb\n"), "a\\u{7}\nb\n");
    }
}
