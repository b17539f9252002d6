//! Names of models, which are also names of folders.

use std::fmt;

use super::ServeError;

/// The longest name.
const LONGEST: usize = 64;

/// The name of a model or of an alias. It cannot lead out of a folder, differ from another one only in case,
/// or be hidden.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelName(String);

impl ModelName {
    /// The name, if it is one: 1 to 64 of the characters a-z, 0-9, `-`, `_` and `.`, beginning with a letter
    /// or digit.
    ///
    /// ```
    /// use broadstream_serve::ModelName;
    ///
    /// assert_eq!(ModelName::parse("fraud-v2.1")?.as_str(), "fraud-v2.1");
    /// assert!(ModelName::parse("../passwords").is_err());
    /// # Ok::<(), broadstream_serve::ServeError>(())
    /// ```
    pub fn parse(name: &str) -> Result<Self, ServeError> {
        let letter = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let bytes = name.as_bytes();
        let sound = bytes.first().is_some_and(letter)
            && bytes.len() <= LONGEST
            && bytes.iter().all(|byte| letter(byte) || b"-_.".contains(byte));
        match sound {
            true => Ok(ModelName(name.to_owned())),
            false => Err(ServeError::Name { name: excerpt(name) }),
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The beginning of a text, for a message, without characters that a terminal would act on.
pub(crate) fn excerpt(text: &str) -> String {
    let mut shown: String = text.chars().take(80).flat_map(char::escape_debug).collect();
    if text.chars().nth(80).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_folder() {
        for good in ["a", "0", "a.b-c_d", &"x".repeat(64)] {
            assert_eq!(ModelName::parse(good).unwrap().as_str(), good);
        }
        let long = "x".repeat(65);
        for bad in ["", ".", "..", ".a", "-a", "a/b", "a\\b", "A", "ä", "a b", "a\0", "~", &long] {
            assert!(ModelName::parse(bad).is_err(), "{bad}");
        }
        let message = ModelName::parse("\u{1b}[2J").unwrap_err().to_string();
        assert!(message.ends_with("got '\\u{1b}[2J'"), "{message}");
    }
}
