//! States that a hostile file could hold instead of what was written.

use serde_json::{Map, Value, json};

use super::StateWriter;

impl StateWriter {
    /// Every state that differs from this one in one entry: missing, of another type, too long, too
    /// short, or with a number changed. Each comes with the name of the entry.
    pub(crate) fn alterations(&self) -> Vec<(String, StateWriter)> {
        let mut altered = Vec::new();
        for (name, values) in altered_values(&self.values) {
            altered.push((name, StateWriter { values, ..self.copy() }));
        }
        for (name, array) in &self.floats {
            let others = [f64::NAN, f64::INFINITY, 1e308, -1e308, -1.0, 0.0, 0.5];
            for array in altered_arrays(array, &others) {
                let mut state = self.copy();
                state.floats.remove(name);
                state.floats.extend(array.map(|array| (name.clone(), array)));
                altered.push((name.clone(), state));
            }
        }
        for (name, array) in &self.integers {
            let others = [0, 1, 2, 1 << 33, 1 << 54, u64::MAX - 1, u64::MAX];
            for array in altered_arrays(array, &others) {
                let mut state = self.copy();
                state.integers.remove(name);
                state.integers.extend(array.map(|array| (name.clone(), array)));
                altered.push((name.clone(), state));
            }
        }
        altered
    }

    fn copy(&self) -> StateWriter {
        let StateWriter { values, floats, singles, integers, broken, precision } = self;
        StateWriter {
            values: values.clone(),
            floats: floats.clone(),
            singles: singles.clone(),
            integers: integers.clone(),
            broken: broken.clone(),
            precision: *precision,
        }
    }
}

fn altered_values(values: &Map<String, Value>) -> Vec<(String, Map<String, Value>)> {
    let mut altered = Vec::new();
    for (name, value) in values {
        let mut replace = |name: String, other: Option<Value>, key: &str| {
            let mut values = values.clone();
            values.remove(key);
            values.extend(other.map(|other| (key.to_owned(), other)));
            altered.push((name, values));
        };
        if let Value::Object(inner) = value {
            for (path, inner) in altered_values(inner) {
                replace(format!("{name}/{path}"), Some(Value::Object(inner)), name);
            }
        }
        replace(name.clone(), None, name);
        for other in
            [json!(null), json!(0), json!(1), json!(u64::MAX), json!(-1), json!(1e300), json!("x")]
                .into_iter()
                .chain([json!(true), json!(false), json!([]), json!([7]), json!({})])
        {
            if other != *value {
                replace(name.clone(), Some(other), name);
            }
        }
    }
    altered
}

/// The array without its last entry, with one more, and with another number in the first, middle or
/// last place; `None` stands for a missing array.
fn altered_arrays<T: Copy>(array: &[T], others: &[T]) -> Vec<Option<Vec<T>>> {
    let mut altered = vec![None, Some([array, &others[..1]].concat())];
    let Some(last) = array.len().checked_sub(1) else { return altered };
    altered.push(Some(array[..last].to_vec()));
    for place in [0, array.len() / 2, last] {
        for other in others {
            let mut array = array.to_vec();
            array[place] = *other;
            altered.push(Some(array));
        }
    }
    altered
}
