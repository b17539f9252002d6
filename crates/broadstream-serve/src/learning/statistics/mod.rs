//! How a model has been doing lately, for the live page and for metrics.
//!
//! Accuracy counts the predictions that were really given: of a row that was predicted first and labelled
//! later, the prediction of then. Of rows that come with their labels it counts what the model said just
//! before it learned them. It starts over with the service, except for what is replayed.

mod curve;
mod histogram;
mod inputs;

use std::{collections::VecDeque, time::Duration};

use broadstream::{
    Classifier,
    drift::Adwin,
    metrics::{Metrics, ReliabilityBin},
};

pub(crate) use self::{
    curve::{Curve, CurvePoint},
    histogram::Histogram,
    inputs::Inputs,
};

use super::{
    published::RowPrediction,
    state::{LabelOutcome, Outcome, State},
};

/// How many rows the window of accuracies has.
pub(crate) const WINDOW: usize = 1000;

/// The most drifts and recent rows that are remembered.
const MOST_DRIFTS: usize = 100;
const MOST_RECENT: usize = 20;

/// The confidence at which a drift is noticed.
const DRIFT_CONFIDENCE: f64 = 0.002;

/// What was counted.
pub(crate) struct Statistics {
    pub(crate) metrics: Metrics,
    /// Whether "the label before" and "the most frequent label" were right, of the last rows.
    no_change: Recent<bool>,
    majority: Recent<bool>,
    last_label: Option<usize>,
    label_counts: Vec<u64>,
    errors: Option<Adwin>,
    /// When drifts were noticed: in milliseconds since 1970, and after how many labels.
    pub(crate) drifts: VecDeque<(u64, u64)>,
    /// The probability of the predicted class, of the last predictions that were given.
    confidences: Recent<f64>,
    leverages: Recent<f64>,
    pub(crate) inputs: Inputs,
    pub(crate) curve: Curve,
    pub(crate) recent: VecDeque<RecentRow>,
    pub(crate) label_delays: Histogram,
    pub(crate) predict_times: Histogram,
    pub(crate) learn_times: Histogram,
    pub(crate) sync_times: Histogram,
    pub(crate) predicted: u64,
}

/// A row that was predicted or learned recently.
#[derive(Clone, Debug)]
pub(crate) struct RecentRow {
    pub(crate) at: u64,
    pub(crate) predicted: Option<usize>,
    pub(crate) probability: f64,
    pub(crate) truth: Option<usize>,
    pub(crate) leverage: Option<f64>,
}

/// The last values of a sequence.
struct Recent<T> {
    values: VecDeque<T>,
}

impl<T> Recent<T> {
    fn new() -> Self {
        Recent { values: VecDeque::with_capacity(WINDOW) }
    }

    fn push(&mut self, value: T) {
        if self.values.len() == WINDOW {
            self.values.pop_front();
        }
        self.values.push_back(value);
    }
}

impl Recent<bool> {
    fn share(&self) -> Option<f64> {
        let right = self.values.iter().filter(|right| **right).count();
        (!self.values.is_empty()).then(|| right as f64 / self.values.len() as f64)
    }
}

impl Recent<f64> {
    fn mean(&self) -> Option<f64> {
        let sum: f64 = self.values.iter().sum();
        (!self.values.is_empty()).then(|| sum / self.values.len() as f64)
    }
}

impl Statistics {
    pub(crate) fn new() -> Self {
        Statistics {
            metrics: Metrics::new(WINDOW),
            no_change: Recent::new(),
            majority: Recent::new(),
            last_label: None,
            label_counts: Vec::new(),
            errors: Adwin::new(DRIFT_CONFIDENCE).ok(),
            drifts: VecDeque::new(),
            confidences: Recent::new(),
            leverages: Recent::new(),
            inputs: Inputs::default(),
            curve: Curve::default(),
            recent: VecDeque::new(),
            label_delays: Histogram::default(),
            predict_times: Histogram::default(),
            learn_times: Histogram::default(),
            sync_times: Histogram::default(),
            predicted: 0,
        }
    }

    /// A record was applied at a time, by its own account.
    pub(crate) fn applied(&mut self, outcome: &Outcome, state: &State, at: u64) {
        match outcome {
            Outcome::Rows(rows) => {
                for (i, row) in rows.iter().enumerate() {
                    self.leverages.push(row.leverage);
                    self.inputs.add(state.block().sample(i).iter());
                    self.label(
                        at,
                        row.class,
                        row.predicted,
                        &row.probabilities,
                        Some(row.leverage),
                    );
                }
            }
            Outcome::Labels(labels) => {
                for label in labels {
                    if let LabelOutcome::Learned { class, predicted, probabilities, delay } = label
                    {
                        self.label_delays.add(Duration::from_millis(*delay));
                        self.label(at, *class, *predicted, probabilities, None);
                    }
                }
            }
            Outcome::Predictions | Outcome::Unlearned { .. } => {}
            Outcome::Taken { .. } => self.label_counts.resize(state.model.classes(), 0),
        }
    }

    /// Rows were predicted for somebody.
    pub(crate) fn predicted(&mut self, rows: &[RowPrediction], now: u64, time: Duration) {
        self.predict_times.add(time);
        self.predicted += rows.len() as u64;
        for row in rows {
            self.leverages.push(row.leverage);
            self.inputs.add(row.inputs.iter().copied());
            if let Some(probability) = highest(&row.probabilities) {
                self.confidences.push(probability);
            }
            self.remember(RecentRow {
                at: now,
                predicted: row.class,
                probability: highest(&row.probabilities).unwrap_or(0.0),
                truth: None,
                leverage: Some(row.leverage),
            });
        }
        self.add_point(now);
    }

    /// Rows were learned, which took that long in all.
    pub(crate) fn learned(&mut self, time: Duration) {
        self.learn_times.add(time);
    }

    /// The log was brought to the disk, which took that long.
    pub(crate) fn synced(&mut self, time: Duration) {
        self.sync_times.add(time);
    }

    fn label(
        &mut self,
        at: u64,
        class: usize,
        predicted: Option<usize>,
        probabilities: &[f64],
        leverage: Option<f64>,
    ) {
        self.metrics.add(class, predicted, probabilities);
        self.no_change.push(self.last_label == Some(class));
        self.last_label = Some(class);
        self.majority.push(self.majority_label() == Some(class));
        if self.label_counts.len() <= class {
            self.label_counts.resize(class + 1, 0);
        }
        self.label_counts[class] += 1;
        let error = f64::from(u8::from(predicted != Some(class)));
        let change = self.errors.as_mut().and_then(|errors| errors.add(error).ok().flatten());
        if change.is_some_and(|change| change.is_rise()) {
            if self.drifts.len() == MOST_DRIFTS {
                self.drifts.pop_front();
            }
            self.drifts.push_back((at, self.metrics.confusion().samples()));
        }
        self.remember(RecentRow {
            at,
            predicted,
            probability: highest(probabilities).unwrap_or(0.0),
            truth: Some(class),
            leverage,
        });
        self.add_point(at);
    }

    fn majority_label(&self) -> Option<usize> {
        let counted = self.label_counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.rev().max_by_key(|(_, count)| **count).map(|(class, _)| class)
    }

    fn remember(&mut self, row: RecentRow) {
        if self.recent.len() == MOST_RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(row);
    }

    fn add_point(&mut self, at: u64) {
        if self.curve.is_due(at) {
            self.curve.push(CurvePoint {
                at,
                labels: self.metrics.confusion().samples(),
                accuracy: self.accuracy(),
                estimated: self.estimated_accuracy(),
                no_change: self.no_change.share(),
                majority: self.majority.share(),
            });
        }
    }

    /// The accuracy of the last rows; `None` before the first label.
    pub(crate) fn accuracy(&self) -> Option<f64> {
        let window = self.metrics.window_summary();
        (window.samples > 0).then_some(window.oca)
    }

    /// What the model itself expects of the last predictions: the mean probability of the predicted class.
    /// It needs no labels, and is as good as the model is calibrated.
    pub(crate) fn estimated_accuracy(&self) -> Option<f64> {
        self.confidences.mean()
    }

    pub(crate) fn no_change_accuracy(&self) -> Option<f64> {
        self.no_change.share()
    }

    pub(crate) fn majority_accuracy(&self) -> Option<f64> {
        self.majority.share()
    }

    /// The reliability of probabilities, in bins.
    pub(crate) fn reliability(&self) -> Vec<ReliabilityBin> {
        self.metrics.calibration().bins().filter(|bin| bin.count > 0).collect()
    }

    /// The leverage below which these shares of the last rows are.
    pub(crate) fn leverage_quantiles(&self, shares: [f64; 3]) -> Option<[f64; 3]> {
        let mut sorted: Vec<f64> = self.leverages.values.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        Some(shares.map(|share| sorted[(share * last as f64).round() as usize]))
    }
}

fn highest(probabilities: &[f64]) -> Option<f64> {
    probabilities.iter().copied().reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn baselines_are_judged_before_they_see_the_label() {
        let mut statistics = Statistics::new();
        // Majority: nothing, 0 for 0, 0 for 1, 0 for 1, and then 0 of a tie for 1.
        for (class, predicted) in
            [(0, None), (0, Some(0)), (1, Some(0)), (1, Some(1)), (1, Some(1))]
        {
            statistics.label(0, class, predicted, &[0.5, 0.5], None);
        }
        assert_eq!(statistics.accuracy(), Some(0.6));
        assert_eq!(statistics.no_change_accuracy(), Some(0.6));
        assert_eq!(statistics.majority_accuracy(), Some(0.2));
    }

    #[test]
    fn a_drift_is_noticed_when_errors_rise() {
        let mut statistics = Statistics::new();
        (0..2000)
            .for_each(|i| statistics.label(i, 0, Some(usize::from(i % 10 == 0)), &[1.0], None));
        assert!(statistics.drifts.is_empty());
        (0..500).for_each(|i| statistics.label(2000 + i, 0, Some((i % 2) as usize), &[1.0], None));
        assert!(!statistics.drifts.is_empty());
        assert!(statistics.drifts[0].0 >= 2000);
    }

    #[test]
    fn memory_is_bounded() {
        let mut statistics = Statistics::new();
        for i in 0..5000 {
            statistics.label(i * 5000, 0, Some(0), &[1.0], Some(i as f64));
            statistics.leverages.push(i as f64);
        }
        assert_eq!(statistics.leverages.values.len(), WINDOW);
        assert_eq!(statistics.leverage_quantiles([0.0, 0.5, 1.0]), Some([4000.0, 4500.0, 4999.0]));
        assert_eq!(statistics.recent.len(), MOST_RECENT);
        assert!(statistics.curve.points().len() <= curve::MOST_POINTS);
    }
}
