//! A line of data, dense or sparse, as values of attributes.

use super::{
    quoted, text_of,
    tokens::{Token, Tokens},
};
use crate::{
    data::check_weight,
    stream::{Place, StreamError},
};

/// The values of one row and its weight. It is reused for every row, to keep its memory.
#[derive(Default)]
pub(super) struct Row {
    /// The text of all values, one after the other.
    text: Vec<u8>,
    values: Vec<Value>,
    /// Whether the row mentions only some attributes.
    sparse: bool,
    weight: f64,
}

/// A value as it stands in a row.
#[derive(Clone, Copy, Debug)]
struct Value {
    attribute: usize,
    start: usize,
    end: usize,
    quoted: bool,
}

impl Row {
    /// Reads a line of data for that many attributes; `false` if it is blank or a comment.
    pub(super) fn parse(
        &mut self,
        line: &[u8],
        number: u64,
        attributes: usize,
    ) -> Result<bool, StreamError> {
        self.text.clear();
        self.values.clear();
        self.weight = 1.0;
        let mut tokens = Tokens::new(line, number);
        let Some(first) = tokens.next(&mut self.text)? else { return Ok(false) };
        self.sparse = first == Token::Open;
        if self.sparse {
            self.parse_sparse(&mut tokens, attributes)?;
        } else {
            self.parse_dense(first, &mut tokens)?;
            if self.values.len() != attributes {
                let (expected, found) = (attributes, self.values.len());
                return Err(StreamError::Ragged { line: number, expected, found });
            }
        }
        Ok(true)
    }

    /// The attributes that the row mentions, with their values in the order of the row. `None` is a
    /// value that is missing.
    pub(super) fn values(&self) -> impl Iterator<Item = (usize, Option<&[u8]>)> {
        self.values.iter().map(|value| {
            let text = &self.text[value.start..value.end];
            (value.attribute, (value.quoted || text != b"?").then_some(text))
        })
    }

    pub(super) fn is_sparse(&self) -> bool {
        self.sparse
    }

    pub(super) fn weight(&self) -> f64 {
        self.weight
    }

    /// Values between commas or blanks, then perhaps a weight in braces.
    fn parse_dense(&mut self, first: Token, tokens: &mut Tokens<'_>) -> Result<(), StreamError> {
        let mut next = Some((first, 0));
        while let Some((token, start)) = next {
            match token {
                Token::Word | Token::Quoted => {
                    self.push(self.values.len(), token, start);
                }
                Token::Open if !self.values.is_empty() => return self.parse_weight(tokens),
                Token::Comma => return Err(unexpected(tokens, "a value", "a comma")),
                Token::Open | Token::Close => {
                    return Err(unexpected(tokens, "a value", "a brace"));
                }
            }
            next = self.next(tokens)?;
            if let Some((Token::Comma, _)) = next {
                next = self.next(tokens)?;
                if next.is_none() {
                    return Err(unexpected(tokens, "a value", "the end of the line"));
                }
            }
        }
        Ok(())
    }

    /// `index value` between commas, up to a closing brace, then perhaps a weight.
    fn parse_sparse(
        &mut self,
        tokens: &mut Tokens<'_>,
        attributes: usize,
    ) -> Result<(), StreamError> {
        loop {
            match self.next(tokens)? {
                Some((Token::Close, _)) => break,
                Some((Token::Comma, _)) if !self.values.is_empty() => {}
                Some((Token::Word, start)) => {
                    let attribute = self.attribute(start, tokens, attributes)?;
                    self.text.truncate(start);
                    match self.next(tokens)? {
                        Some((token @ (Token::Word | Token::Quoted), start)) => {
                            self.push(attribute, token, start);
                        }
                        _ => return Err(unexpected(tokens, "a value behind the index", "none")),
                    }
                }
                _ => return Err(unexpected(tokens, "index value", "something else")),
            }
        }
        match self.next(tokens)? {
            None => Ok(()),
            Some((Token::Open, _)) => self.parse_weight(tokens),
            Some((Token::Comma, _)) if matches!(self.next(tokens)?, Some((Token::Open, _))) => {
                self.parse_weight(tokens)
            }
            _ => Err(unexpected(tokens, "a weight in braces behind the row", "something else")),
        }
    }

    /// Reads the index of an attribute, which must be larger than the one before.
    fn attribute(
        &self,
        start: usize,
        tokens: &Tokens<'_>,
        attributes: usize,
    ) -> Result<usize, StreamError> {
        let least = self.values.last().map_or(0, |value| value.attribute + 1);
        let text = &self.text[start..];
        let index = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
        index.filter(|index| (least..attributes).contains(index)).ok_or_else(|| {
            let expected = match least < attributes {
                true => format!("an index from {least} to {}", attributes - 1),
                false => "no further index".to_owned(),
            };
            unexpected(tokens, &expected, &quoted(text))
        })
    }

    /// Reads `weight}` at the end of a row.
    fn parse_weight(&mut self, tokens: &mut Tokens<'_>) -> Result<(), StreamError> {
        let Some((Token::Word | Token::Quoted, start)) = self.next(tokens)? else {
            return Err(unexpected(tokens, "a weight in braces", "none"));
        };
        let text = &self.text[start..];
        let weight = text_of(text, tokens.line())?.trim_ascii().parse().ok();
        self.weight = weight.filter(|weight| check_weight(*weight).is_ok()).ok_or_else(|| {
            unexpected(tokens, "a weight of 0 or from 1e-12 to 1e12", &quoted(text))
        })?;
        match (self.next(tokens)?, self.next(tokens)?) {
            (Some((Token::Close, _)), None) => Ok(()),
            _ => Err(unexpected(tokens, "nothing behind the weight in braces", "something")),
        }
    }

    /// The next token, and where its text starts.
    fn next(&mut self, tokens: &mut Tokens<'_>) -> Result<Option<(Token, usize)>, StreamError> {
        let start = self.text.len();
        Ok(tokens.next(&mut self.text)?.map(|token| (token, start)))
    }

    /// Takes the text from `start` on as the value of an attribute.
    fn push(&mut self, attribute: usize, token: Token, start: usize) {
        let (end, quoted) = (self.text.len(), token == Token::Quoted);
        self.values.push(Value { attribute, start, end, quoted });
    }
}

fn unexpected(tokens: &Tokens<'_>, expected: &str, found: &str) -> StreamError {
    let (expected, found) = (expected.to_owned(), found.to_owned());
    StreamError::Unexpected { place: Place::Line(tokens.line()), expected, found }
}
