//! The slow model that the fast one is compared with: it keeps every sample that is to be remembered, and
//! fits a ridge regression to all of them in 300 bits.

use std::rc::Rc;

use broadstream::{Classifier, OnlineBls};

use super::{
    problem::{Kind, Problem},
    refit::{Refit, Row, Sums},
    sample::NamedSample,
};

/// A sample that is remembered, with the features that it was learned with.
pub(super) struct Remembered {
    pub(super) sample: NamedSample,
    row: Row,
}

/// All samples that a model should remember, the oldest first.
#[derive(Clone)]
pub(super) struct Reference {
    rows: Vec<Rc<Remembered>>,
    /// Whether a sample was ever learned, by class.
    learned: Vec<bool>,
    window: Option<usize>,
    /// The sums over the first rows, so that these need not be added again.
    sums: Option<Rc<FirstRows>>,
}

/// Sums over this many rows, for this many classes.
#[derive(Clone)]
struct FirstRows {
    sums: Sums,
    rows: usize,
    classes: usize,
}

impl Reference {
    pub(super) fn new(problem: &Problem) -> Self {
        let (rows, learned) = (Vec::new(), Vec::new());
        Reference { rows, learned, window: problem.config.window, sums: None }
    }

    pub(super) fn rows(&self) -> &[Rc<Remembered>] {
        &self.rows
    }

    /// The samples of some rows.
    pub(super) fn samples(&self, rows: &[usize]) -> Vec<NamedSample> {
        rows.iter().map(|row| self.rows[*row].sample.clone()).collect()
    }

    /// Whether there was ever a sample of a class.
    pub(super) fn was_learned(&self, class: usize) -> bool {
        self.learned.get(class).copied().unwrap_or(false)
    }

    /// Whether there was a sample of a class, and there is none any more.
    pub(super) fn is_absent(&self, class: usize) -> bool {
        self.was_learned(class) && !self.rows.iter().any(|row| row.row.class == class)
    }

    /// The total weight of the samples of a class.
    pub(super) fn total(&self, class: usize) -> f64 {
        let rows = self.rows.iter().filter(|row| row.row.class == class);
        rows.map(|row| row.row.weight).sum()
    }

    pub(super) fn learn(&mut self, sample: &NamedSample, class: usize, features: Vec<f64>) {
        let weight = sample.weight;
        if weight == 0.0 {
            return;
        }
        self.note(class);
        let row = Row { features, class, weight };
        self.rows.push(Rc::new(Remembered { sample: sample.clone(), row }));
        if let Some(window) = self.window
            && self.rows.len() > window
        {
            self.rows.remove(0);
            self.sums = None;
        }
    }

    pub(super) fn unlearn(&mut self, rows: &[usize]) {
        let mut position = 0;
        self.rows.retain(|_| {
            position += 1;
            !rows.contains(&(position - 1))
        });
        self.sums = None;
    }

    pub(super) fn correct(&mut self, row: usize, label: usize, class: usize) {
        self.note(class);
        let Remembered { sample, row: Row { features, weight, .. } } = &*self.rows[row];
        let sample = NamedSample { label, ..sample.clone() };
        let corrected = Row { features: features.clone(), class, weight: *weight };
        self.rows[row] = Rc::new(Remembered { sample, row: corrected });
        self.sums = None;
    }

    /// Adds the samples of another, whose class k is `classes[k]` here.
    pub(super) fn merge(&mut self, other: &Reference, classes: &[usize]) {
        for (class, _) in other.learned.iter().enumerate().filter(|(_, learned)| **learned) {
            self.note(classes[class]);
        }
        for Remembered { sample, row: Row { features, class, weight } } in
            other.rows.iter().map(Rc::as_ref)
        {
            let row = Row { features: features.clone(), class: classes[*class], weight: *weight };
            self.rows.push(Rc::new(Remembered { sample: sample.clone(), row }));
        }
    }

    /// Whether a sample still has the features that it was learned with. It has not if it was learned before
    /// the scaling was frozen.
    pub(super) fn keeps_features(&self, row: usize, model: &OnlineBls) -> bool {
        let Remembered { sample, row } = &*self.rows[row];
        let x = sample.positioned(model.declared_inputs());
        let now = model.features_one(x.sample()).expect("it was learned");
        now == row.features
    }

    /// The largest difference between a model's scores and those of a refit, relative to the largest score
    /// and to the square root of a leverage above 1.
    pub(super) fn distance(
        &mut self,
        problem: &Problem,
        model: &OnlineBls,
        samples: &[NamedSample],
    ) -> f64 {
        let refit = self.refit(problem, model);
        let (mut difference, mut size) = (0.0f64, 1.0f64);
        for sample in samples {
            let x = sample.positioned(model.declared_inputs());
            let x = x.sample();
            let expected = refit.scores(&model.features_one(x).unwrap());
            let scores = model.scores_one(x).unwrap();
            let reach = model.leverage_one(x).unwrap().max(1.0).sqrt();
            for (class, (score, expected)) in scores.iter().zip(&expected).enumerate() {
                let is_absent = self.is_absent(class);
                assert_eq!(*score == f64::NEG_INFINITY, is_absent, "class {class}: {score}");
                size = size.max(expected.abs());
                if !is_absent {
                    difference = difference.max((score - expected).abs() / reach);
                }
            }
        }
        difference / size
    }

    fn refit(&mut self, problem: &Problem, model: &OnlineBls) -> Refit {
        let ridge = problem.config.ridge.fixed().expect("a regression of its own has a ridge");
        let (order, classes) = (model.features(), model.classes());
        if problem.kind == Kind::Forgetting {
            let mu = problem.config.forgetting.fixed().expect("it is given");
            let every = model.refresh_every().expect("it forgets");
            let rows = self.rows.iter().map(|row| &row.row);
            return Refit::forgetting(rows, order, classes, ridge, (mu, every));
        }
        let first = self.sums.take().filter(|first| first.classes == classes);
        let mut first = first.map_or_else(
            || FirstRows { sums: Sums::new(order, classes, ridge), rows: 0, classes },
            Rc::unwrap_or_clone,
        );
        self.rows[first.rows..].iter().for_each(|row| first.sums.add(&row.row));
        first.rows = self.rows.len();
        let sums = first.sums.clone();
        self.sums = Some(Rc::new(first));
        sums.solve()
    }

    fn note(&mut self, class: usize) {
        self.learned.resize(self.learned.len().max(class + 1), false);
        self.learned[class] = true;
    }
}
