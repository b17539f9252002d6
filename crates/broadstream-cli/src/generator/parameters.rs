//! The part after the colon: 'key=value,key=value'.

use std::str::FromStr;

use anyhow::Result;

use crate::failure::BadUsage;

/// What is given for a generator and was not taken yet.
pub(super) struct Parameters {
    generator: &'static str,
    given: Vec<(String, String)>,
}

impl Parameters {
    pub(super) fn parse(generator: &'static str, text: &str) -> Result<Self> {
        let given = text
            .split(',')
            .filter(|parameter| !parameter.is_empty())
            .map(|parameter| match parameter.split_once('=') {
                Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
                None => {
                    let rule = "expected parameters as key=value";
                    Err(BadUsage(format!("{generator}: {rule}, got '{parameter}'")).into())
                }
            })
            .collect::<Result<_>>()?;
        Ok(Parameters { generator, given })
    }

    /// The name of the generator.
    pub(super) fn generator(&self) -> &'static str {
        self.generator
    }

    /// The value given for `key`, the last one if there are several, as `read` understands it;
    /// `expected` says what that is.
    pub(super) fn optional<T>(
        &mut self,
        key: &str,
        expected: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>> {
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
                    let name = self.generator;
                    BadUsage(format!("{name}: {key}: expected {expected}, got '{value}'")).into()
                })
            })
            .transpose()
    }

    pub(super) fn number<T: FromStr>(&mut self, key: &str, default: T) -> Result<T> {
        Ok(self.optional_number(key)?.unwrap_or(default))
    }

    pub(super) fn optional_number<T: FromStr>(&mut self, key: &str) -> Result<Option<T>> {
        self.optional(key, "a number", |value| value.parse().ok())
    }

    pub(super) fn flag(&mut self, key: &str, default: bool) -> Result<bool> {
        let given = self.optional(key, "true or false", |value| value.parse().ok())?;
        Ok(given.unwrap_or(default))
    }

    /// Refuses what nobody took.
    pub(super) fn finish(self) -> Result<()> {
        let Some((key, _)) = self.given.first() else {
            return Ok(());
        };
        let name = self.generator;
        let hint = "'broadstream generate --help' lists the parameters";
        Err(BadUsage(format!("{name} has no parameter '{key}': {hint}")).into())
    }
}
