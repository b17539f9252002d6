//! The lines above `@data`: the names and types of the attributes.

use std::collections::HashSet;

use super::{
    quoted, text_of,
    tokens::{Token, Tokens},
};
use crate::stream::{Place, StreamError, lines::Lines};

/// A column of the file.
#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) values: Values,
}

/// The values of an attribute.
#[derive(Debug, PartialEq)]
pub(super) enum Values {
    Numbers,
    /// One of these, in their order.
    Nominal(Vec<String>),
    Texts,
    /// Something of that type, which is neither a number nor a category.
    Other(&'static str),
}

/// The most bytes of declarations: names and values are kept for as long as the file is read.
const LARGEST_HEADER: usize = 64 << 20;

/// Reads up to and including the line `@data`.
pub(super) fn read_header(lines: &mut Lines) -> Result<Vec<Attribute>, StreamError> {
    let mut attributes = Vec::new();
    let mut names = HashSet::new();
    // How many relational attributes are open. The attributes inside them are not columns of the file.
    let mut nested = 0usize;
    let mut any = false;
    let mut declared = 0;
    while let Some(range) = lines.peek()? {
        let line = lines.line();
        lines.pass();
        let length = range.len();
        let mut tokens = Tokens::new(lines.text(range), line);
        let mut keyword = Vec::new();
        if tokens.next(&mut keyword)?.is_none() {
            continue;
        }
        any = true;
        declared += length;
        if declared > LARGEST_HEADER {
            let rule = format!("at most {LARGEST_HEADER} bytes of declarations before @data");
            return Err(expected(line, &rule, "more"));
        }
        match keyword.to_ascii_lowercase().as_slice() {
            b"@relation" => {}
            b"@attribute" => {
                let attribute = read_attribute(&mut tokens)?;
                let relational = attribute.values == Values::Other("relational");
                if nested == 0 {
                    if !names.insert(attribute.name.clone()) {
                        let (place, column) = (Place::Line(line), attribute.name);
                        return Err(StreamError::DuplicateColumn { place, column });
                    }
                    attributes.push(attribute);
                }
                nested += usize::from(relational);
            }
            b"@end" if nested > 0 => nested -= 1,
            b"@data" if nested == 0 => return Ok(attributes),
            _ => return Err(expected(line, "@relation, @attribute or @data", &quoted(&keyword))),
        }
    }
    if any { Err(expected(lines.line(), "@data", "the end")) } else { Err(StreamError::Empty) }
}

/// Reads what follows `@attribute`.
fn read_attribute(tokens: &mut Tokens<'_>) -> Result<Attribute, StreamError> {
    let line = tokens.line();
    let mut name = Vec::new();
    match tokens.next(&mut name)? {
        Some(Token::Word | Token::Quoted) => {}
        _ => return Err(expected(line, "the name of an attribute", &rest(tokens))),
    }
    let name = text_of(&name, line)?.trim_ascii().to_owned();
    let mut word = Vec::new();
    let values = match tokens.next(&mut word)? {
        Some(Token::Open) => Values::Nominal(read_nominal(tokens)?),
        Some(Token::Word) => match word.to_ascii_lowercase().as_slice() {
            b"numeric" | b"real" | b"integer" => Values::Numbers,
            b"string" => Values::Texts,
            b"date" => Values::Other("date"),
            b"relational" => Values::Other("relational"),
            _ => return Err(expected(line, TYPES, &quoted(&word))),
        },
        _ => return Err(expected(line, TYPES, &rest(tokens))),
    };
    Ok(Attribute { name, values })
}

const TYPES: &str = "the type numeric, real, integer, string, date or {values}";

/// Reads the values of a nominal attribute, after its opening brace.
fn read_nominal(tokens: &mut Tokens<'_>) -> Result<Vec<String>, StreamError> {
    let line = tokens.line();
    let mut values = Vec::new();
    loop {
        let mut text = Vec::new();
        match tokens.next(&mut text)? {
            Some(Token::Word | Token::Quoted) => {
                values.push(text_of(&text, line)?.trim_ascii().to_owned());
            }
            Some(Token::Comma) => {}
            Some(Token::Close) if values.is_empty() => {
                return Err(expected(line, "at least one value between braces", "none"));
            }
            Some(Token::Close) => return Ok(values),
            _ => return Err(expected(line, "a value or a closing brace", &rest(tokens))),
        }
    }
}

fn expected(line: u64, expected: &str, found: &str) -> StreamError {
    let (place, expected, found) = (Place::Line(line), expected.to_owned(), found.to_owned());
    StreamError::Unexpected { place, expected, found }
}

/// What is left of a line, for a message.
fn rest(tokens: &Tokens<'_>) -> String {
    match tokens.found() {
        [] => "the end of the line".to_owned(),
        found => quoted(found),
    }
}
