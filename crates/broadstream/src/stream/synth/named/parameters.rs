//! The part after the colon: 'key=value,key=value'.

use std::str::FromStr;

use crate::{error::Error, stream::StreamError};

/// The parameters of a generator that have not been read yet.
pub(super) struct Parameters {
    generator: &'static str,
    given: Vec<(String, String)>,
    /// The keys that were read, which are those that the generator has.
    known: Vec<&'static str>,
}

impl Parameters {
    pub(super) fn parse(generator: &'static str, text: &str) -> Result<Self, Error> {
        let given = text
            .split(',')
            .filter(|parameter| !parameter.is_empty())
            .map(|parameter| match parameter.split_once('=') {
                Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
                None => {
                    let rule = "expected parameters as key=value";
                    Err(broken(generator, format!("{rule}, got '{parameter}'")))
                }
            })
            .collect::<Result<_, Error>>()?;
        Ok(Parameters { generator, given, known: Vec::new() })
    }

    /// The name of the generator.
    pub(super) fn generator(&self) -> &'static str {
        self.generator
    }

    /// The value given for `key`, the last one if there are several, as `read` understands it;
    /// `expected` says what that is.
    pub(super) fn optional<T>(
        &mut self,
        key: &'static str,
        expected: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        self.known.push(key);
        let mut value = None;
        self.given.retain(|(given, text)| {
            let asked = given == key;
            if asked {
                value = Some(text.clone());
            }
            !asked
        });
        value
            .map(|value| {
                read(&value).ok_or_else(|| {
                    let rule = format!("{key}: expected {expected}, got '{value}'");
                    broken(self.generator, rule)
                })
            })
            .transpose()
    }

    pub(super) fn number<T: FromStr>(&mut self, key: &'static str, default: T) -> Result<T, Error> {
        Ok(self.optional_number(key)?.unwrap_or(default))
    }

    pub(super) fn optional_number<T: FromStr>(
        &mut self,
        key: &'static str,
    ) -> Result<Option<T>, Error> {
        self.optional(key, "a number", |value| value.parse().ok())
    }

    pub(super) fn flag(&mut self, key: &'static str, default: bool) -> Result<bool, Error> {
        let given = self.optional(key, "true or false", |value| value.parse().ok())?;
        Ok(given.unwrap_or(default))
    }

    /// Refuses parameters that were never read.
    pub(super) fn finish(self) -> Result<(), Error> {
        match self.given.into_iter().next() {
            Some((parameter, _)) => {
                let (generator, known) = (self.generator, self.known.join(", "));
                Err(StreamError::UnknownParameter { generator, parameter, known }.into())
            }
            None => Ok(()),
        }
    }
}

/// The error for a text that breaks that rule.
pub(super) fn broken(generator: &'static str, rule: impl Into<String>) -> Error {
    StreamError::GeneratorText { generator, rule: rule.into() }.into()
}
