//! One line of JSON, walked value by value without building it in memory.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::stream::{Cell, Place, StreamError, cell::excerpt, row_encoder::LONGEST_TEXT};

/// Calls `each` with the keys and values of a JSON object in their order. The values of a nested object
/// have the keys `outer.inner`. `skips` tells whether to pass over a nested object or array, given its
/// key and whether it is an array. `path` is working memory.
pub(in crate::stream) fn walk_object(
    text: &[u8],
    place: Place,
    path: &mut String,
    skips: impl Fn(&str, bool) -> bool,
    each: impl FnMut(&str, Cell<'_>) -> Result<(), StreamError>,
) -> Result<(), StreamError> {
    let text = std::str::from_utf8(text)
        .map_err(|_| StreamError::NotText { place, reason: "invalid UTF-8" })?;
    path.clear();
    let mut walk = Walk { path, depth: 0, place, refusal: None, skips, each };
    let mut json = serde_json::Deserializer::from_str(text);
    let walked = Object(&mut walk).deserialize(&mut json).and_then(|()| json.end());
    match walk.refusal {
        Some(refusal) => Err(refusal),
        None => walked.map_err(|error| StreamError::Json {
            place,
            byte: error.column().max(1),
            reason: reason(&error),
        }),
    }
}

struct Walk<'p, S, F> {
    /// The keys down to the current value.
    path: &'p mut String,
    depth: usize,
    place: Place,
    /// Why the walk was abandoned, if not because of the JSON.
    refusal: Option<StreamError>,
    skips: S,
    each: F,
}

impl<S, F> Walk<'_, S, F>
where
    S: Fn(&str, bool) -> bool,
    F: FnMut(&str, Cell<'_>) -> Result<(), StreamError>,
{
    fn value<E: serde::de::Error>(&mut self, cell: Cell<'_>) -> Result<(), E> {
        (self.each)(self.path, cell).map_err(|error| self.refuse(error))
    }

    fn refuse<E: serde::de::Error>(&mut self, error: StreamError) -> E {
        self.refusal = Some(error);
        E::custom("see refusal")
    }

    fn entries<'de, A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        let outer = self.path.len();
        if self.depth > 0 {
            self.path.push('.');
        }
        let start = self.path.len();
        self.depth += 1;
        while map.next_key_seed(Key(self.path))?.is_some() {
            if self.path.len() > LONGEST_TEXT {
                let (place, limit) = (self.place, LONGEST_TEXT);
                return Err(self.refuse(StreamError::NameTooLong { place, limit }));
            }
            map.next_value_seed(Value(self))?;
            self.path.truncate(start);
        }
        self.depth -= 1;
        self.path.truncate(outer);
        Ok(())
    }
}

/// The whole line.
struct Object<'w, 'p, S, F>(&'w mut Walk<'p, S, F>);

impl<'de, S, F> DeserializeSeed<'de> for Object<'_, '_, S, F>
where
    S: Fn(&str, bool) -> bool,
    F: FnMut(&str, Cell<'_>) -> Result<(), StreamError>,
{
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, S, F> Visitor<'de> for Object<'_, '_, S, F>
where
    S: Fn(&str, bool) -> bool,
    F: FnMut(&str, Cell<'_>) -> Result<(), StreamError>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.entries(map)
    }
}

/// A key, which is appended to the path.
struct Key<'k>(&'k mut String);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<(), E> {
        self.0.push_str(key);
        Ok(())
    }
}

/// The value of a key.
struct Value<'w, 'p, S, F>(&'w mut Walk<'p, S, F>);

impl<'de, S, F> DeserializeSeed<'de> for Value<'_, '_, S, F>
where
    S: Fn(&str, bool) -> bool,
    F: FnMut(&str, Cell<'_>) -> Result<(), StreamError>,
{
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, S, F> Visitor<'de> for Value<'_, '_, S, F>
where
    S: Fn(&str, bool) -> bool,
    F: FnMut(&str, Cell<'_>) -> Result<(), StreamError>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.0.value(Cell::Missing)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.0.value(Cell::Flag(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.0.value(Cell::Integer(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        match i64::try_from(value) {
            Ok(value) => self.0.value(Cell::Integer(value)),
            Err(_) => self.0.value(Cell::Number(value as f64)),
        }
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        self.0.value(Cell::Number(value))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        self.0.value(Cell::Text(text.as_bytes()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        if !(self.0.skips)(self.0.path, false) {
            return self.0.entries(map);
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        if (self.0.skips)(self.0.path, true) {
            while array.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        }
        let (place, column) = (self.0.place, excerpt(self.0.path.as_bytes()));
        Err(self.0.refuse(StreamError::Array { place, column }))
    }
}

/// What is wrong with the JSON. The place is left out, since the parser sees one line only.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    excerpt(reason.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(text: &[u8]) -> Result<Vec<String>, String> {
        let mut walked = Vec::new();
        let each = |key: &str, cell: Cell<'_>| {
            walked.push(match cell {
                Cell::Text(text) => format!("{key}: {}", String::from_utf8_lossy(text)),
                other => format!("{key}: {other:?}"),
            });
            Ok(())
        };
        let skips = |key: &str, array| key == "skipped" || key == "x.skipped" && array;
        let outcome = walk_object(text, Place::Line(7), &mut "left over".to_owned(), skips, each);
        outcome.map(|()| walked).map_err(|error| error.to_string())
    }

    #[test]
    fn values_come_in_their_order_with_their_keys() {
        let text = br#" {"a":1,"b":{"c":-2.5,"":{"d":null}, "e":{}},"f":"\u00fc \"x\"","":true} "#;
        let expected =
            ["a: Integer(1)", "b.c: Number(-2.5)", "b..d: Missing", "f: ü \"x\"", ": Flag(true)"];
        assert_eq!(walk(text).unwrap(), expected);
        let large = format!("{{\"\\u0061\":{},\"b\":{}}}", u64::MAX, i64::MIN);
        let expected = ["a: Number(1.8446744073709552e19)", "b: Integer(-9223372036854775808)"];
        assert_eq!(walk(large.as_bytes()).unwrap(), expected);
    }

    #[test]
    fn values_may_be_passed_over() {
        let text = br#"{"skipped":{"a":[1]},"x":{"skipped":[{}, 2],"a":3},"skipped":[],"b":4}"#;
        assert_eq!(walk(text).unwrap(), ["x.a: Integer(3)", "b: Integer(4)"]);
        assert!(walk(br#"{"x":{"skipped":{"a":[1]}}}"#).is_err());
    }

    #[test]
    fn lines_that_are_not_rows_are_refused() {
        let json =
            |byte, reason: &str| format!("line 7, byte {byte}: expected a JSON object: {reason}");
        for (text, message) in [
            ("5", json(1, "invalid type: integer `5`, expected an object")),
            ("{\"a\":1", json(6, "EOF while parsing an object")),
            ("{\"a\":1} x", json(9, "trailing characters")),
            ("{\"a\":nan}", json(7, "expected ident")),
            ("{\"a\":1e999}", json(10, "number out of range")),
            (
                "{\"a\":1,\"b\":{\"c\":[1]}}",
                "line 7, column 'b.c': expected one value, found an array; drop the column, or give \
                 its values names"
                    .to_owned(),
            ),
        ] {
            assert_eq!(walk(text.as_bytes()).unwrap_err(), message, "{text}");
        }
        assert!(walk(b"{\"a\":\"\xff\"}").unwrap_err().contains("invalid UTF-8"));
        let deep = "{\"a\":".repeat(100_000);
        assert!(walk(deep.as_bytes()).unwrap_err().contains("recursion limit exceeded"));
        let long = format!("{{\"{}\":1}}", "k".repeat(LONGEST_TEXT + 1));
        assert!(walk(long.as_bytes()).unwrap_err().contains("at most 4096 bytes"));
    }
}
