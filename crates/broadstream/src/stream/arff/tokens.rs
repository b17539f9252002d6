//! One line cut into words, quoted texts, commas and braces.
//!
//! A quote matters only where a word could begin, and so does the `%` of a comment: `don't` and `50%`
//! are words.

use crate::stream::{Place, StreamError};

/// What comes next on a line. The text of a word or a quotation goes where the caller chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word,
    Quoted,
    Comma,
    Open,
    Close,
}

/// The tokens of one line.
pub(super) struct Tokens<'a> {
    rest: &'a [u8],
    line: u64,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a [u8], line: u64) -> Self {
        Tokens { rest: text, line }
    }

    /// The number of the line.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The next token, or `None` at the end of the line or before a comment. The text of a word or
    /// a quotation, without its quotes and escapes, is appended to `text`.
    pub(super) fn next(&mut self, text: &mut Vec<u8>) -> Result<Option<Token>, StreamError> {
        self.rest = self.rest.trim_ascii_start();
        let Some((&first, behind)) = self.rest.split_first() else { return Ok(None) };
        let token = match first {
            b'%' => return Ok(None),
            b',' => Token::Comma,
            b'{' => Token::Open,
            b'}' => Token::Close,
            b'\'' | b'"' => {
                self.rest = behind;
                self.quotation(first, text)?;
                return Ok(Some(Token::Quoted));
            }
            _ => {
                let ends = |byte: &u8| byte.is_ascii_whitespace() || b",{}".contains(byte);
                let end = self.rest.iter().position(ends).unwrap_or(self.rest.len());
                text.extend_from_slice(&self.rest[..end]);
                self.rest = &self.rest[end..];
                return Ok(Some(Token::Word));
            }
        };
        self.rest = behind;
        Ok(Some(token))
    }

    /// The rest of the line, for a message.
    pub(super) fn found(&self) -> &'a [u8] {
        self.rest.trim_ascii()
    }

    /// Reads up to the closing quote.
    fn quotation(&mut self, quote: u8, text: &mut Vec<u8>) -> Result<(), StreamError> {
        let open = StreamError::OpenQuote { line: self.line };
        loop {
            let Some((&byte, behind)) = self.rest.split_first() else { return Err(open) };
            self.rest = behind;
            match byte {
                b'\\' => {
                    let Some((&escaped, behind)) = behind.split_first() else { return Err(open) };
                    self.rest = behind;
                    self.escape(escaped, text)?;
                }
                _ if byte == quote => return Ok(()),
                _ => text.push(byte),
            }
        }
    }

    /// Decodes the character after a backslash. One without a special meaning stands for itself.
    fn escape(&mut self, escaped: u8, text: &mut Vec<u8>) -> Result<(), StreamError> {
        match escaped {
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'u' => {
                let digits =
                    self.rest.get(..4).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
                let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
                let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                let Some(character) = code.and_then(char::from_u32) else {
                    return Err(StreamError::Unexpected {
                        place: Place::Line(self.line),
                        expected: "four digits of a character behind \\u".to_owned(),
                        found: super::quoted(self.rest),
                    });
                };
                self.rest = &self.rest[4..];
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => text.push(escaped),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Vec<(Token, String)>, String> {
        let mut tokens = Tokens::new(line.as_bytes(), 7);
        let mut read = Vec::new();
        loop {
            let mut text = Vec::new();
            match tokens.next(&mut text).map_err(|error| error.to_string())? {
                Some(token) => read.push((token, String::from_utf8(text).unwrap())),
                None => return Ok(read),
            }
        }
    }

    fn texts(line: &str) -> Vec<String> {
        read(line).unwrap().into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn words_end_at_blanks_commas_and_braces() {
        use Token::{Close, Comma, Open, Word};
        let kinds = |line| read(line).unwrap().into_iter().map(|t| t.0).collect::<Vec<_>>();
        assert_eq!(kinds("a,b\t{c}"), [Word, Comma, Word, Open, Word, Close]);
        assert_eq!(texts("  a b,, %c"), ["a", "b", "", ""]);
        assert_eq!(texts("50%,don't,\"\""), ["50%", "", "don't", "", ""]);
        assert_eq!(texts(" % all of it"), [""; 0]);
    }

    #[test]
    fn quotations_and_escapes() {
        assert_eq!(texts(r#"'a b' "c,'{%}" 'd"' "#), ["a b", "c,'{%}", "d\""]);
        assert_eq!(texts(r#"'it\'s \\ \n\t\% \u00fc'"#), ["it's \\ \n\t% ü"]);
        let open = "line 7: a quote opened in this row is never closed";
        for line in ["'a", "a,\"b'", "'a\\", "'a\\'"] {
            assert_eq!(read(line).unwrap_err(), open, "{line}");
        }
        for line in [r"'\u12'", r"'\ud800'", r"'\u+123'", r"'\uü12'"] {
            assert!(read(line).unwrap_err().contains("four digits"), "{line}");
        }
    }
}
