//! Which changes are made to the model.

use broadstream::{Classifier, OnlineBls, Partial};

use super::Run;
use crate::simulation::{
    change::{Change, Other, OtherContent},
    problem::{INPUTS, Kind},
    reference::Reference,
    sample::{NamedSample, block, class_of, input},
};

/// No more samples than this are remembered on purpose: a refit goes through all of them.
const MOST_REMEMBERED: usize = 150;

/// The same for a model that forgets, whose refit solves a system for each of them.
const MOST_FORGOTTEN: usize = 40;

impl Run<'_> {
    pub(super) fn learn(&mut self) {
        let mut samples = self.samples();
        // Samples repeat.
        if !samples.is_empty() && self.dice.one_in(4) {
            samples.push(samples[0].clone());
        }
        let tests = self.dice.one_in(3);
        let change = if tests { Change::TestThenTrain } else { Change::Learn };
        if self.problem.kind == Kind::Window && self.problem.is_hard {
            // A window that can no longer be trusted refuses the next block, and so more of the samples if
            // these come one by one.
            samples.into_iter().for_each(|sample| self.change(change(vec![sample])));
        } else {
            self.change(change(samples));
        }
    }

    /// A block of samples, mostly small.
    fn samples(&mut self) -> Vec<NamedSample> {
        let room = match self.problem.kind {
            Kind::Forgetting => MOST_FORGOTTEN,
            Kind::Exact | Kind::Nested => MOST_REMEMBERED,
            Kind::Window | Kind::Ensemble => usize::MAX,
        };
        let room = room.saturating_sub(self.state.reference.rows().len());
        let size = if self.dice.one_in(12) { 100 } else { 10 };
        let size = (1 + self.dice.below(size)).min(room);
        let inputs = self.inputs();
        let draw = |_| self.problem.sample(&mut self.dice, &inputs, self.labels);
        (0..size).map(draw).collect()
    }

    /// The inputs that the model knows, by their numbers.
    pub(super) fn inputs(&self) -> Vec<usize> {
        let is_known = |number: &usize| self.model.declared_inputs().contains(&input(*number));
        (0..INPUTS).filter(is_known).collect()
    }

    pub(super) fn declare(&mut self) {
        let known = self.inputs();
        let new: Vec<usize> = (0..INPUTS).filter(|number| !known.contains(number)).collect();
        if !new.is_empty() {
            let new = self.dice.pick(&new);
            self.change(Change::Declare(vec![new]));
        }
    }

    /// Rows of the reference that may be unlearned.
    fn removable(&self) -> Vec<usize> {
        let reference = &self.state.reference;
        let rows = 0..reference.rows().len();
        rows.filter(|row| reference.keeps_features(*row, &self.state.twin)).collect()
    }

    pub(super) fn unlearn(&mut self) {
        let mut rows = self.removable();
        self.dice.shuffle(&mut rows);
        let most = if self.dice.one_in(10) { rows.len() } else { 6 };
        rows.truncate(1 + self.dice.below(most.max(1)));
        self.unlearn_rows(rows);
    }

    pub(super) fn unlearn_class(&mut self) {
        let label = self.dice.below(self.labels);
        let mut rows = self.removable();
        rows.retain(|row| self.state.reference.rows()[*row].sample.label == label);
        self.unlearn_rows(rows);
    }

    fn unlearn_rows(&mut self, rows: Vec<usize>) {
        if !rows.is_empty() {
            let samples = self.state.reference.samples(&rows);
            self.change(Change::Unlearn(rows, samples));
        }
    }

    pub(super) fn correct(&mut self) {
        let rows = self.removable();
        if rows.is_empty() {
            return;
        }
        let row = self.dice.pick(&rows);
        let sample = self.state.reference.rows()[row].sample.clone();
        let label = self.dice.below(self.labels);
        self.change(Change::Correct(row, sample, label));
    }

    pub(super) fn merge(&mut self) {
        if self.state.reference.rows().len() < MOST_REMEMBERED
            && let Some(other) = self.other()
        {
            self.change(Change::Merge(other));
        }
    }

    /// A model that learned samples of its own, with other inputs and classes; `None` if it refused them.
    fn other(&mut self) -> Option<Other> {
        let mut other = self.state.twin.like().ok()?;
        // A scaling that was taken over knows only the inputs that were there.
        let mut inputs: Vec<usize> =
            if self.problem.scaling_runs() { self.inputs() } else { (0..INPUTS).collect() };
        self.dice.shuffle(&mut inputs);
        inputs.truncate(1 + self.dice.below(INPUTS));
        let declared: Vec<_> = inputs.iter().map(|number| input(*number)).collect();
        other.declare_inputs(&declared).ok()?;
        let (mut labels, mut reference) = (Vec::new(), Reference::new(&self.problem));
        let samples: Vec<_> = (0..self.dice.below(20))
            .map(|_| self.problem.sample(&mut self.dice, &inputs, self.labels))
            .collect();
        for sample in &samples {
            let x = sample.positioned(&declared);
            let features = other.features_one(x.sample()).ok()?;
            let class = class_of(&mut labels, sample.label);
            reference.learn(sample, class, features);
            other.learn_one(x.sample(), class, sample.weight).ok()?;
        }
        if self.dice.one_in(3)
            && let Ok(mut sums) = Partial::like(&self.state.twin)
        {
            for input in &declared {
                sums.declare_input(&input.name, input.kind).ok()?;
            }
            sums.learn_many(&block(&samples, &declared, &mut labels).ok()?).ok()?;
            return Some(Other { content: OtherContent::Sums(Box::new(sums)), labels, reference });
        }
        self.empty_a_class(&mut other, &labels, &mut reference)?;
        Some(Other { content: OtherContent::Model(Box::new(other)), labels, reference })
    }

    /// Lets the other model unlearn all samples of a class, once in a while; `None` if it refuses.
    fn empty_a_class(
        &mut self,
        other: &mut OnlineBls,
        labels: &[usize],
        reference: &mut Reference,
    ) -> Option<()> {
        if labels.is_empty() || !self.dice.one_in(4) {
            return Some(());
        }
        let label = self.dice.pick(labels);
        // A class that is new here would take part in predictions, as if a sample of weight 0 had
        // introduced it.
        let own = self.state.labels.iter().position(|known| *known == label);
        if !own.is_some_and(|class| self.state.reference.was_learned(class)) {
            return Some(());
        }
        let rows = 0..reference.rows().len();
        let rows: Vec<usize> =
            rows.filter(|row| reference.rows()[*row].sample.label == label).collect();
        let samples = reference.samples(&rows);
        let gone = block(&samples, other.declared_inputs(), &mut labels.to_vec()).ok()?;
        other.unlearn_many(&gone).ok()?;
        reference.unlearn(&rows);
        Some(())
    }
}
