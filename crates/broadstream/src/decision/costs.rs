//! Decisions for the least expected cost.
//!
//! With the cost c(k, d) of deciding for d when k is true, the expected cost of d for a sample with
//! probabilities p is
//!
//! ```text
//! E(d) = Σₖ pₖ c(k, d)
//! ```
//!
//! and the d with the least is decided for. One of the decisions may be to abstain, which has a
//! cost of its own: a sample on which every decision is expected to cost more is left to others.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::cost_table;
use crate::{
    error::{CostsError, ModelFileError},
    metrics::ConfusionMatrix,
    state::{ReadScope, WriteScope},
};

/// The name under which the cost of abstaining stands among those of the labels.
pub const ABSTAIN: &str = "abstain";

/// The largest magnitude of a cost, so that no sum can overflow.
const LARGEST: f64 = 1e15;

/// What each decision costs, by label: the cost of every decision for every true label, and
/// optionally that of abstaining.
///
/// Costs must be finite. A negative one is a gain. Labels that a stream never shows are allowed and
/// never decided for.
///
/// ```
/// use broadstream::Costs;
///
/// let text = "truth,ok,fraud,abstain\nok,0,1,0.5\nfraud,20,0,0.5\n";
/// let costs = Costs::from_csv(text.as_bytes())?;
/// assert_eq!(costs.labels(), ["ok", "fraud"]);
/// let costs = costs.by_class(&["ok".to_owned(), "fraud".to_owned()])?;
/// assert_eq!(costs.decide(&[0.99, 0.01]), Some(0));
/// assert_eq!(costs.decide(&[0.90, 0.10]), None, "2 and 0.9 are more than 0.5");
/// assert_eq!(costs.decide(&[0.40, 0.60]), Some(1));
/// assert_eq!(costs.cost(1, Some(0)), 20.0);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    labels: Vec<String>,
    /// By true label and decision, row by row.
    costs: Vec<f64>,
    /// By true label.
    abstaining: Option<Vec<f64>>,
}

/// The costs by the numbers of the classes instead of their labels.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassCosts {
    classes: usize,
    /// By true class and decision, row by row.
    costs: Vec<f64>,
    /// By true class.
    abstaining: Option<Vec<f64>>,
}

impl Costs {
    /// Costs with a row for each true label: the cost of each decision, in the order of the labels,
    /// and optionally those of abstaining, also by true label.
    ///
    /// ```
    /// use broadstream::Costs;
    ///
    /// let labels = ["no".to_owned(), "yes".to_owned()];
    /// let costs = Costs::new(&labels, &[0.0, 1.0, 5.0, 0.0], None)?;
    /// assert!(!costs.may_abstain());
    /// let refused = Costs::new(&labels, &[0.0, f64::NAN, 5.0, 0.0], None).unwrap_err();
    /// let message = "the cost of deciding 'yes' when 'no' is true must be a number within ±1e15, got NaN";
    /// assert_eq!(refused.to_string(), message);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn new(
        labels: &[String],
        costs: &[f64],
        abstaining: Option<&[f64]>,
    ) -> Result<Self, CostsError> {
        let known = labels.len();
        if known < 2 {
            return Err(CostsError::FewLabels { labels: known });
        }
        for (i, label) in labels.iter().enumerate() {
            if labels[..i].contains(label) {
                return Err(CostsError::Duplicate { label: label.clone(), place: String::new() });
            }
        }
        let (found, expected) = (costs.len(), known * known);
        if found != expected {
            return Err(CostsError::Count { found, expected });
        }
        if let Some(abstaining) = abstaining.filter(|costs| costs.len() != known) {
            return Err(CostsError::Count { found: abstaining.len(), expected: known });
        }
        let rows = costs.iter().enumerate().map(|(i, cost)| (i / known, &labels[i % known], cost));
        let abstained = abstaining.into_iter().flatten().enumerate();
        let abstain = ABSTAIN.to_owned();
        for (truth, decision, cost) in rows.chain(abstained.map(|(i, cost)| (i, &abstain, cost))) {
            if !is_sound(*cost) {
                let (truth, decision) = (labels[truth].clone(), decision.clone());
                return Err(CostsError::Value { truth, decision, value: cost.to_string() });
            }
        }
        let abstaining = abstaining.map(<[f64]>::to_vec);
        Ok(Costs { labels: labels.to_vec(), costs: costs.to_vec(), abstaining })
    }

    /// Reads a CSV table: a header with a name for the column of true labels, the labels that may
    /// be decided, and `abstain` if that is possible; then a row for each true label. An error says
    /// on which line it is.
    pub fn from_csv(text: &[u8]) -> Result<Self, CostsError> {
        cost_table::read(text)
    }

    /// Reads an object with an object for each true label, which has the cost of each decision.
    ///
    /// ```
    /// use broadstream::Costs;
    /// use serde_json::json;
    ///
    /// let costs = json!({ "no": { "no": 0, "yes": 1 }, "yes": { "no": 5, "yes": 0 } });
    /// let costs = Costs::from_json(costs.as_object().unwrap())?;
    /// assert_eq!(costs.to_json()["yes"]["no"], 5.0);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn from_json(rows: &Map<String, Value>) -> Result<Self, CostsError> {
        cost_table::from_json(rows)
    }

    /// The costs in the form that [`from_json`](Self::from_json) reads.
    pub fn to_json(&self) -> Map<String, Value> {
        let row = |(truth, label): (usize, &String)| {
            let known = self.labels.len();
            let costs = self.labels.iter().zip(&self.costs[truth * known..]);
            let mut row: Map<String, Value> =
                costs.map(|(decision, cost)| (decision.clone(), Value::from(*cost))).collect();
            if let Some(abstaining) = &self.abstaining {
                row.insert(ABSTAIN.to_owned(), Value::from(abstaining[truth]));
            }
            (label.clone(), Value::Object(row))
        };
        self.labels.iter().enumerate().map(row).collect()
    }

    /// The labels, in the order of the rows.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Whether a decision may be to abstain.
    pub fn may_abstain(&self) -> bool {
        self.abstaining.is_some()
    }

    /// The costs for classes with these labels. It is an error if one of the labels has no costs.
    pub fn by_class(&self, labels: &[String]) -> Result<ClassCosts, CostsError> {
        let positions: HashMap<&str, usize> =
            self.labels.iter().enumerate().map(|(i, label)| (label.as_str(), i)).collect();
        let position = |label: &String| match positions.get(label.as_str()) {
            Some(position) => Ok(*position),
            None => Err(CostsError::Unknown { label: label.clone(), labels: self.listed() }),
        };
        let rows: Vec<usize> = labels.iter().map(position).collect::<Result<_, _>>()?;
        let known = self.labels.len();
        let cost = |truth: usize, decision: &usize| self.costs[truth * known + decision];
        let costs = rows.iter().flat_map(|truth| rows.iter().map(|d| cost(*truth, d))).collect();
        let abstaining = self.abstaining.as_ref();
        let abstaining = abstaining.map(|costs| rows.iter().map(|truth| costs[*truth]).collect());
        Ok(ClassCosts { classes: labels.len(), costs, abstaining })
    }

    /// The labels as an error lists them, at most a dozen.
    fn listed(&self) -> String {
        const MOST: usize = 12;
        let shown = self.labels.iter().take(MOST).cloned().collect::<Vec<String>>().join(", ");
        if self.labels.len() > MOST { format!("{shown}, …") } else { shown }
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.texts("labels", self.labels.iter().map(String::as_str));
        to.floats("costs", self.costs.clone());
        if let Some(abstaining) = &self.abstaining {
            to.floats("abstaining", abstaining.clone());
        }
        to.value("may_abstain", self.may_abstain());
    }

    pub(crate) fn restored(from: &ReadScope<'_>) -> Result<Self, ModelFileError> {
        let labels: Vec<String> = from.texts("labels")?.into_iter().map(str::to_owned).collect();
        let costs = from.any_floats("costs")?;
        let abstaining = match from.flag("may_abstain")? {
            true => Some(from.any_floats("abstaining")?),
            false => None,
        };
        Costs::new(&labels, &costs, abstaining.as_deref())
            .map_err(|error| from.invalid("costs", &format!("sound: {error}")))
    }
}

impl ClassCosts {
    /// The number of classes that have costs.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The class with the least expected cost, the first of equals; `None` if abstaining is expected to
    /// cost less, or if there are no probabilities. Only classes that have a probability are
    /// decided for.
    pub fn decide(&self, probabilities: &[f64]) -> Option<usize> {
        let known = probabilities.len().min(self.classes);
        let probabilities = &probabilities[..known];
        let expected = |decision: usize| {
            let costs = probabilities.iter().enumerate();
            costs.map(|(truth, p)| p * self.costs[truth * self.classes + decision]).sum::<f64>()
        };
        let mut best: Option<(usize, f64)> = None;
        for (decision, p) in probabilities.iter().enumerate() {
            // A class with probability 0 is one whose samples were all unlearned.
            let cost = expected(decision);
            if *p > 0.0 && best.is_none_or(|(_, least)| cost < least) {
                best = Some((decision, cost));
            }
        }
        let (decision, cost) = best?;
        let abstains = self.abstaining.as_ref().is_some_and(|costs| {
            probabilities.iter().zip(costs).map(|(p, cost)| p * cost).sum::<f64>() < cost
        });
        (!abstains).then_some(decision)
    }

    /// The cost of a decision for a sample of class `truth`. Where nothing was decided it is the cost of
    /// abstaining, or the largest for that class if there is none: nothing is known about the first
    /// sample of a stream.
    pub fn cost(&self, truth: usize, decision: Option<usize>) -> f64 {
        let row = &self.costs[truth * self.classes..][..self.classes];
        match (decision, &self.abstaining) {
            (Some(decision), _) => row[decision],
            (None, Some(abstaining)) => abstaining[truth],
            (None, None) => row.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// The mean cost of the decisions that were counted; 0 without any. All classes must have costs.
    pub fn mean(&self, confusion: &ConfusionMatrix) -> f64 {
        let cells = confusion.cells();
        let costs = cells.map(|(truth, decided, count)| self.cost(truth, decided) * count as f64);
        costs.sum::<f64>() / confusion.samples().max(1) as f64
    }
}

pub(super) fn is_sound(cost: f64) -> bool {
    cost.abs() <= LARGEST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_order_of_classes_is_that_of_the_stream() {
        let names = labels(&["a", "b", "c"]);
        let table: Vec<f64> = (0..9).map(f64::from).collect();
        let costs = Costs::new(&names, &table, Some(&[10.0, 11.0, 12.0])).unwrap();
        let by_class = costs.by_class(&labels(&["c", "a"])).unwrap();
        assert_eq!(by_class.classes(), 2);
        assert_eq!(by_class.cost(0, Some(1)), 6.0);
        assert_eq!(by_class.cost(1, Some(0)), 2.0);
        assert_eq!([by_class.cost(0, None), by_class.cost(1, None)], [12.0, 10.0]);
        let refused = costs.by_class(&labels(&["c", "d"])).unwrap_err().to_string();
        assert_eq!(refused, "there are no costs for the label 'd': there are some for a, b, c");
    }

    #[test]
    fn errors_cost_one_is_the_most_probable_class() {
        let costs = Costs::new(&labels(&["a", "b"]), &[0.0, 1.0, 1.0, 0.0], None).unwrap();
        let costs = costs.by_class(&labels(&["a", "b"])).unwrap();
        for (p, class) in [(0.3, 1), (0.5, 0), (0.51, 0)] {
            assert_eq!(costs.decide(&[p, 1.0 - p]), Some(class));
        }
        assert_eq!(costs.decide(&[]), None);
        assert_eq!(costs.cost(0, None), 1.0);
    }

    #[test]
    fn a_class_of_which_nothing_is_remembered_is_not_decided_for() {
        let costs = Costs::new(&labels(&["a", "b"]), &[5.0, 0.0, 5.0, 0.0], None).unwrap();
        let costs = costs.by_class(&labels(&["a", "b"])).unwrap();
        assert_eq!(costs.decide(&[1.0, 0.0]), Some(0));
    }

    #[test]
    fn the_least_expected_cost_is_that_of_the_definition() {
        let mut random = crate::numeric::Random::new(1, "test", "costs");
        for classes in 2..5 {
            let names: Vec<String> = (0..classes).map(|k| k.to_string()).collect();
            let table: Vec<f64> = (0..classes * classes).map(|_| random.signed_unit()).collect();
            let abstaining: Vec<f64> = (0..classes).map(|_| random.signed_unit()).collect();
            let costs = Costs::new(&names, &table, Some(&abstaining)).unwrap();
            let costs = costs.by_class(&names).unwrap();
            for _ in 0..200 {
                let p: Vec<f64> = (0..classes).map(|_| random.signed_unit().abs() + 0.01).collect();
                let expected = |decision: Option<usize>| -> f64 {
                    (0..classes).map(|truth| p[truth] * costs.cost(truth, decision)).sum()
                };
                let decided = expected(costs.decide(&p));
                let all = (0..classes).map(Some).chain([None]);
                assert!(all.map(expected).all(|cost| cost >= decided - 1e-12));
            }
        }
    }
}
