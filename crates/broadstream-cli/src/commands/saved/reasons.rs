//! The reasons of a prediction as text: in a cell of CSV, and as JSON.

use std::fmt::Write;

use broadstream::Reason;
use serde_json::{Value, json};

/// Pairs `column:change`, separated by spaces. What would end a name or a pair is escaped as in a URL, so a
/// reader splits at spaces, then at the colon, and decodes the name.
pub(super) fn text(reasons: &[Reason]) -> String {
    let pair = |Reason { column, change, .. }: &Reason| {
        // A change that rounds to 0 has no sign.
        let change = if change.abs() < 5e-7 { 0.0 } else { *change };
        format!("{}:{change:.6}", escaped(column))
    };
    reasons.iter().map(pair).collect::<Vec<String>>().join(" ")
}

pub(super) fn json(reasons: &[Reason]) -> Value {
    let reason = |Reason { column, change, score_change, .. }: &Reason| json!({ "column": column, "change": change, "score_change": score_change });
    reasons.iter().map(reason).collect()
}

fn escaped(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for character in name.chars() {
        if matches!(character, ':' | '%') || character.is_whitespace() || character.is_control() {
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                // Writing to a text cannot fail.
                let _ = write!(escaped, "%{byte:02X}");
            }
        } else {
            escaped.push(character);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_be_mistaken_for_pairs() {
        assert_eq!(escaped("größe,\"a\""), "größe,\"a\"");
        assert_eq!(escaped("a:1 b%\n"), "a%3A1%20b%25%0A");
        assert_eq!(escaped("a\u{2003}b"), "a%E2%80%83b");
    }
}
