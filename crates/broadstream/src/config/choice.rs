//! Options that take one of a few named values.

use serde_json::{Value, json};

/// A type whose values have names: the same on the command line, in Python and in JSON.
pub(crate) trait Choice: Copy + PartialEq + 'static {
    /// Each value, with its name and its meaning.
    const CHOICES: &'static [(Self, Named)];

    /// The rule for an error message: it lists the names.
    const RULE: &'static str;
}

/// The name of a value, and its meaning in a few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name that users write.
    pub name: &'static str,
    /// Its meaning, without a full stop.
    pub help: &'static str,
}

impl Named {
    pub(crate) const fn new(name: &'static str, help: &'static str) -> Self {
        Named { name, help }
    }
}

pub(crate) fn to_json<T: Choice>(value: T) -> Value {
    let named = T::CHOICES.iter().find(|(known, _)| *known == value);
    named.map_or(Value::Null, |(_, named)| json!(named.name))
}

pub(crate) fn from_json<T: Choice>(value: &Value) -> Result<T, &'static str> {
    let text = value.as_str().ok_or(T::RULE)?;
    let named = T::CHOICES.iter().find(|(_, named)| named.name == text);
    named.map(|(value, _)| *value).ok_or(T::RULE)
}

/// The names without the values. Constant, since the definitions of options are static.
pub(crate) const fn names<T: Choice, const N: usize>() -> [Named; N] {
    let mut names = [Named::new("", ""); N];
    let mut i = 0;
    while i < N {
        names[i] = T::CHOICES[i].1;
        i += 1;
    }
    names
}
