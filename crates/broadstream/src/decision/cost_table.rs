//! Costs from a CSV table or from JSON.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::costs::{ABSTAIN, Costs, is_sound};
use crate::error::CostsError;

/// Reads a table with a column for each decision and a row for each true label.
pub(super) fn read(text: &[u8]) -> Result<Costs, CostsError> {
    // Excel begins its files with a byte order mark.
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text);
    let unreadable = |error: csv::Error| CostsError::Unreadable { reason: error.to_string() };
    let header = reader.headers().map_err(unreadable)?.clone();
    let mut columns: Vec<String> = header.iter().skip(1).map(str::to_owned).collect();
    check_distinct(&columns, "in the header")?;
    let abstain = columns.iter().position(|column| column == ABSTAIN);
    let mut rows: HashMap<String, (Vec<f64>, Option<f64>)> = HashMap::new();
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        let line = record.position().map_or(0, csv::Position::line);
        let truth = record.get(0).unwrap_or_default().to_owned();
        let place = format!("line {line}");
        if truth == ABSTAIN || !columns.contains(&truth) {
            return Err(CostsError::NoColumn { label: truth, place });
        }
        let (mut costs, mut abstaining) = (Vec::new(), None);
        for (i, cell) in record.iter().skip(1).enumerate() {
            let cost = cell.parse::<f64>().ok().filter(|cost| is_sound(*cost));
            let Some(cost) = cost else {
                let (column, value) = (columns[i].clone(), cell.to_owned());
                return Err(CostsError::Cell { place, column, value });
            };
            match abstain == Some(i) {
                true => abstaining = Some(cost),
                false => costs.push(cost),
            }
        }
        if rows.insert(truth.clone(), (costs, abstaining)).is_some() {
            return Err(CostsError::Duplicate { label: truth, place: format!(" on {place}") });
        }
    }
    if let Some(position) = abstain {
        columns.remove(position);
    }
    collect(&columns, &mut rows)
}

/// Reads an object for each true label.
pub(super) fn from_json(given: &Map<String, Value>) -> Result<Costs, CostsError> {
    let labels: Vec<String> = given.keys().cloned().collect();
    let mut rows = HashMap::new();
    for (truth, row) in given {
        let Some(row) = row.as_object() else {
            return Err(CostsError::Row { label: truth.clone(), value: row.to_string() });
        };
        if let Some(unknown) = row.keys().find(|key| *key != ABSTAIN && !labels.contains(key)) {
            let place = format!("the costs of '{truth}'");
            return Err(CostsError::NoRow { label: unknown.clone(), place });
        }
        let cost = |decision: &str| match row.get(decision) {
            Some(value) => match value.as_f64().filter(|cost| is_sound(*cost)) {
                Some(cost) => Ok(cost),
                None => Err(CostsError::Value {
                    truth: truth.clone(),
                    decision: decision.to_owned(),
                    value: value.to_string(),
                }),
            },
            None => {
                Err(CostsError::Missing { truth: truth.clone(), decision: decision.to_owned() })
            }
        };
        let costs = labels.iter().map(|decision| cost(decision)).collect::<Result<_, _>>()?;
        let abstains = given.values().any(|row| row.get(ABSTAIN).is_some());
        let abstaining = if abstains { Some(cost(ABSTAIN)?) } else { None };
        rows.insert(truth.clone(), (costs, abstaining));
    }
    collect(&labels, &mut rows)
}

/// Puts the rows into the order of the labels.
fn collect(
    labels: &[String],
    rows: &mut HashMap<String, (Vec<f64>, Option<f64>)>,
) -> Result<Costs, CostsError> {
    let (mut costs, mut abstaining) = (Vec::new(), Vec::new());
    for label in labels {
        let Some((row, abstain)) = rows.remove(label) else {
            let (label, place) = (label.clone(), "the header".to_owned());
            return Err(CostsError::NoRow { label, place });
        };
        costs.extend(row);
        abstaining.extend(abstain);
    }
    Costs::new(labels, &costs, (!abstaining.is_empty()).then_some(&abstaining))
}

fn check_distinct(columns: &[String], place: &str) -> Result<(), CostsError> {
    let twice = columns.iter().enumerate().find(|(i, column)| columns[..*i].contains(column));
    match twice {
        Some((_, label)) => {
            Err(CostsError::Duplicate { label: label.clone(), place: format!(" {place}") })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_and_an_object_say_the_same() {
        let table = "\u{feff}truth, b ,abstain,a\na,3,4,5\nb,0,1,2\n";
        let found = read(table.as_bytes()).unwrap();
        let costs =
            json!({ "b": { "a": 2, "b": 0, "abstain": 1 }, "a": { "a": 5, "b": 3, "abstain": 4 } });
        assert_eq!(found, from_json(costs.as_object().unwrap()).unwrap());
        assert!(found.may_abstain());
        assert_eq!(from_json(&found.to_json()).unwrap(), found);
    }

    #[test]
    fn faulty_tables_are_refused_with_the_place() {
        for (table, message) in [
            ("", "costs need at least two labels, got 0"),
            ("t,a\na,0\n", "costs need at least two labels, got 1"),
            ("t,a,b,a\na,0,1,2\n", "the label 'a' has costs twice in the header"),
            ("t,a,b\na,0,1\na,0,1\n", "the label 'a' has costs twice on line 3"),
            ("t,a,b\na,0,1\nc,0,1\n", "line 3: the label 'c' has a row of costs, but no column"),
            (
                "t,a,b\na,0,1\nabstain,0,1\n",
                "line 3: the label 'abstain' has a row of costs, but no column",
            ),
            ("t,a,b\na,0,1\n", "the label 'b' is in the header, but has no row of costs"),
            (
                "t,a,b\na,0,NaN\nb,1,0\n",
                "line 2, column 'b': a cost must be a number within ±1e15, got 'NaN'",
            ),
            (
                "t,a,b\na,0,\nb,1,0\n",
                "line 2, column 'b': a cost must be a number within ±1e15, got ''",
            ),
            (
                "t,a,b\na,0,1e16\nb,1,0\n",
                "line 2, column 'b': a cost must be a number within ±1e15, got '1e16'",
            ),
        ] {
            assert_eq!(read(table.as_bytes()).unwrap_err().to_string(), message, "{table:?}");
        }
        let short = read(b"t,a,b\na,0\nb,1,0\n").unwrap_err().to_string();
        assert!(
            short.starts_with("costs are not a CSV table: ") && short.contains("line: 2"),
            "{short}"
        );
    }

    #[test]
    fn faulty_objects_are_refused_with_the_place() {
        for (costs, message) in [
            (json!({}), "costs need at least two labels, got 0"),
            (
                json!({ "a": 1 }),
                "the costs of 'a' must be an object with the cost of each decision, got 1",
            ),
            (
                json!({ "a": { "a": 0 }, "b": { "a": 1, "b": 0 } }),
                "there is no cost of deciding 'b' when 'a' is true",
            ),
            (
                json!({ "a": { "a": 0, "b": 1, "abstain": 1 }, "b": { "a": 1, "b": 0 } }),
                "there is no cost of deciding 'abstain' when 'b' is true",
            ),
            (
                json!({ "a": { "a": 0, "c": 1 }, "b": { "a": 1, "b": 0 } }),
                "the label 'c' is in the costs of 'a', but has no row of costs",
            ),
            (
                json!({ "a": { "a": 0, "b": null }, "b": { "a": 1, "b": 0 } }),
                "the cost of deciding 'b' when 'a' is true must be a number within ±1e15, got null",
            ),
        ] {
            let refused = from_json(costs.as_object().unwrap()).unwrap_err();
            assert_eq!(refused.to_string(), message, "{costs}");
        }
    }
}
