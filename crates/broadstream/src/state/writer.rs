//! Writing state.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Precision, SEPARATOR};

/// Everything that was saved: small values as a JSON object, arrays by their full names.
#[derive(Debug, Default)]
pub(crate) struct StateWriter {
    pub(crate) values: Map<String, Value>,
    pub(crate) floats: BTreeMap<String, Vec<f64>>,
    /// Arrays that were rounded.
    pub(crate) singles: BTreeMap<String, Vec<f32>>,
    pub(crate) integers: BTreeMap<String, Vec<u64>>,
    /// The first entry that breaks its rule and could not be read again.
    pub(crate) broken: Option<String>,
    /// What is done to arrays that may be rounded.
    pub(crate) precision: Precision,
}

impl StateWriter {
    /// The outermost part.
    pub(crate) fn root(&mut self) -> WriteScope<'_> {
        let StateWriter { values, floats, singles, integers, broken, precision } = self;
        let (prefix, precision) = (String::new(), *precision);
        WriteScope { prefix, values, floats, singles, integers, broken, precision }
    }
}

/// A part of the state, to be written.
pub(crate) struct WriteScope<'a> {
    prefix: String,
    values: &'a mut Map<String, Value>,
    floats: &'a mut BTreeMap<String, Vec<f64>>,
    singles: &'a mut BTreeMap<String, Vec<f32>>,
    integers: &'a mut BTreeMap<String, Vec<u64>>,
    broken: &'a mut Option<String>,
    precision: Precision,
}

impl WriteScope<'_> {
    /// The part of that name within this one.
    pub(crate) fn scope(&mut self, name: &str) -> WriteScope<'_> {
        let prefix = format!("{}{name}{SEPARATOR}", self.prefix);
        let inner = self.values.entry(name).or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(values) = inner else {
            unreachable!("'{name}' is a value and a part at once");
        };
        let (floats, singles) = (&mut *self.floats, &mut *self.singles);
        let (integers, broken, precision) =
            (&mut *self.integers, &mut *self.broken, self.precision);
        WriteScope { prefix, values, floats, singles, integers, broken, precision }
    }

    /// A value that has no method of its own below.
    pub(crate) fn value(&mut self, name: &str, value: impl Into<Value>) {
        self.values.insert(name.to_owned(), value.into());
    }

    pub(crate) fn integer(&mut self, name: &str, value: impl TryInto<u64>) {
        self.value(name, value.try_into().unwrap_or(u64::MAX));
    }

    /// A finite number, since JSON has no others.
    pub(crate) fn float(&mut self, name: &str, value: f64) {
        self.check(name, value.is_finite());
        self.value(name, value);
    }

    pub(crate) fn texts<T: Into<String>>(
        &mut self,
        name: &str,
        texts: impl IntoIterator<Item = T>,
    ) {
        let texts = texts.into_iter().map(|text| Value::String(text.into()));
        self.value(name, texts.collect::<Vec<Value>>());
    }

    /// An array of finite numbers.
    pub(crate) fn floats(&mut self, name: &str, values: Vec<f64>) {
        self.check(name, values.iter().all(|value| value.is_finite()));
        self.any_floats(name, values);
    }

    /// An array of finite numbers, which are rounded where the precision says so.
    pub(crate) fn rounded_floats(&mut self, name: &str, values: Vec<f64>) {
        if self.precision == Precision::Double {
            return self.floats(name, values);
        }
        let values: Vec<f32> = values.into_iter().map(|value| value as f32).collect();
        self.check(name, values.iter().all(|value| value.is_finite()));
        self.singles.insert(format!("{}{name}", self.prefix), values);
    }

    /// Whether what can be computed from rounded arrays is left out.
    pub(crate) fn is_rounded(&self) -> bool {
        self.precision == Precision::Single
    }

    /// An array in which infinities and NaN are allowed.
    pub(crate) fn any_floats(&mut self, name: &str, values: Vec<f64>) {
        self.floats.insert(format!("{}{name}", self.prefix), values);
    }

    pub(crate) fn integers(&mut self, name: &str, values: Vec<u64>) {
        self.integers.insert(format!("{}{name}", self.prefix), values);
    }

    /// Records an entry that reading would refuse, so that no file is made from it.
    pub(crate) fn check(&mut self, name: &str, sound: bool) {
        if !sound && self.broken.is_none() {
            *self.broken = Some(format!("{}{name}", self.prefix));
        }
    }
}
