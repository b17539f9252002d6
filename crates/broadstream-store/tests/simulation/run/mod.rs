//! The run of one seed: operations at random, and what must hold after each of them.

mod changes;
mod durability;

use std::rc::Rc;

use broadstream::{Block, Classifier, LARGEST_ERROR, OnlineBls, Sample};

use super::{
    change::Change,
    dice::Dice,
    problem::{INPUTS, Kind, LABELS, Problem},
    refusal::{self, Reason},
    sample::{input, is_indicator},
    state::{State, bytes},
    storage::Storage,
    tally::Tally,
};

pub(super) struct Run<'a> {
    dice: Dice,
    problem: Problem,
    /// The model that is put to the test.
    model: OnlineBls,
    /// The state that it should be in.
    state: State,
    storage: Storage,
    /// The states of which one is in the file, if there is no journal; `None` if there may be no file.
    saved: Vec<Option<State>>,
    /// All changes so far, which entries of a journal refer to.
    changes: Vec<Rc<Change>>,
    /// How many labels occur at the moment.
    labels: usize,
    /// Whether the journal may take no more entries, until the program starts again.
    journal_failed: bool,
    operations: &'a mut Vec<String>,
    tally: &'a mut Tally,
}

impl<'a> Run<'a> {
    pub(super) fn new(seed: u64, tally: &'a mut Tally, operations: &'a mut Vec<String>) -> Self {
        let mut dice = Dice::new(seed);
        let problem = Problem::draw(&mut dice);
        let threads = if dice.one_in(10) { 2 + dice.below(2) } else { 1 };
        let state = State::new(&problem, threads);
        let storage = Storage::new(dice.one_in(2));
        let model = OnlineBls::new(problem.config.clone()).expect("the configuration is sound");
        let labels = 1 + dice.below(3);
        let (saved, changes, journal_failed) = (vec![None], Vec::new(), false);
        Run {
            dice,
            problem,
            model,
            state,
            storage,
            saved,
            changes,
            labels,
            journal_failed,
            operations,
            tally,
        }
    }

    pub(super) fn finish(mut self) {
        let (kind, is_hard) = (self.problem.kind, self.problem.is_hard);
        let journal = if self.storage.has_journal { "with" } else { "without" };
        let difficulty = if is_hard { "badly" } else { "well" };
        self.log(format!("start: {kind:?}, {difficulty} conditioned, {journal} a journal"));
        assert!(self.storage.start().expect("the disk is healthy").is_none());
        if self.storage.has_journal {
            self.save();
        }
        let inputs = 1 + self.dice.below(3);
        self.change(Change::Declare((0..inputs).collect()));
        for _ in 0..60 + self.dice.below(140) {
            self.operation();
            assert!(
                self.state.matches(&self.model, &self.state.labels),
                "the model differs from its twin"
            );
        }
        self.compare();
        self.kill();
        self.compare();
    }

    /// Notes an operation, for the list that is printed if it fails.
    fn log(&mut self, operation: String) {
        self.tally.operations += 1;
        self.operations.push(operation);
    }

    /// Adds its outcome to the last operation.
    fn note(&mut self, result: &str) {
        if let Some(operation) = self.operations.last_mut() {
            *operation += result;
        }
    }

    fn operation(&mut self) {
        match self.dice.below(100) {
            0..28 => self.learn(),
            28..36 => self.predict(),
            36..50 => self.save(),
            50..55 => self.kill(),
            55..59 => self.declare(),
            59..60 => self.labels = LABELS.min(self.labels + 1),
            60..68 => self.unlearn(),
            68..73 => self.correct(),
            73..78 => self.merge(),
            78..80 => self.unlearn_class(),
            80..92 => self.provoke(),
            _ => self.compare(),
        }
    }

    /// Changes the model and its twin in the same way, and checks that both accept or refuse it.
    fn change(&mut self, change: Change) {
        self.log(change.to_string());
        let before = bytes(&self.model, &self.state.labels);
        let mut next = self.state.clone();
        let expected = next.apply(&change);
        let mut labels = self.state.labels.clone();
        // Blocks of any size, unless they are refused, since only blocks are refused as a whole.
        let (dice, sizes) = (&mut self.dice, expected.is_ok());
        let size = || if sizes && dice.one_in(2) { 1 + dice.below(70) } else { usize::MAX };
        let found = change.apply(&mut self.model, &mut labels, size);
        match (expected, found) {
            (Ok(expected), Ok(found)) => {
                assert!(expected.is_same(&found), "scores differ from those one by one");
                self.count(&change);
                let before = std::mem::replace(&mut self.state, next);
                self.changes.push(Rc::new(change));
                self.acknowledge(before);
            }
            (Err(error), Err(_)) => {
                match refusal::reason(&self.problem, &change, &error) {
                    Reason::Rule => self.tally.refused += 1,
                    Reason::Distrust => {
                        self.tally.distrusted += 1;
                        self.tally.distrusted_easy += u64::from(!self.problem.is_hard);
                    }
                }
                self.note(&format!("; refused: {error}"));
                let after = bytes(&self.model, &self.state.labels);
                assert!(before == after, "a refusal changed the model");
            }
            (Ok(_), Err(error)) => panic!("only the model refused: {error}"),
            (Err(error), Ok(_)) => panic!("only its twin refused: {error}"),
        }
    }

    fn count(&mut self, change: &Change) {
        match change {
            Change::Declare(_) => {}
            Change::Learn(samples) => self.tally.learned += samples.len() as u64,
            Change::TestThenTrain(samples) => {
                self.tally.learned += samples.len() as u64;
                self.tally.predictions += samples.len() as u64;
            }
            Change::Unlearn(rows, _) => self.tally.unlearned += rows.len() as u64,
            Change::Correct(..) => self.tally.corrected += 1,
            Change::Merge(_) => self.tally.merges += 1,
        }
    }

    fn predict(&mut self) {
        let before = bytes(&self.model, &self.state.labels);
        let (mut inputs, known) = (self.inputs(), self.model.inputs());
        // Inputs that the model does not know are declared, and withdrawn afterwards.
        let new = INPUTS - 1;
        if !inputs.contains(&new) && !is_indicator(new) && self.dice.one_in(2) {
            if self.model.declare_inputs(&[input(new)]).is_err() {
                self.tally.refused += 1;
                return;
            }
            inputs.push(new);
        }
        let samples: Vec<_> = (0..1 + self.dice.below(5))
            .map(|_| self.problem.sample(&mut self.dice, &inputs, self.labels))
            .collect();
        self.log(format!("predict {} samples", samples.len()));
        let mut block = Block::new();
        for sample in &samples {
            let x = sample.positioned(self.model.declared_inputs());
            block.push(x.sample(), 0, 0.0).unwrap();
        }
        let (scores, leverages) = self.model.scores_many(&block).unwrap();
        for i in 0..block.len() {
            let x: Sample<'_> = block.sample(i);
            assert_eq!(scores.row(i), self.model.scores_one(x).unwrap());
            assert_eq!(leverages[i], self.model.leverage_one(x).unwrap());
            let probabilities = self.model.predict_proba_one(x).unwrap();
            let sum: f64 = probabilities.iter().sum();
            assert!(probabilities.is_empty() || (sum - 1.0).abs() < 1e-9, "{probabilities:?}");
        }
        self.model.withdraw_inputs(known);
        assert!(before == bytes(&self.model, &self.state.labels), "predicting changed the model");
        self.tally.predictions += samples.len() as u64;
    }

    fn provoke(&mut self) {
        let before = bytes(&self.model, &self.state.labels);
        let Run { dice, problem, state, model, .. } = self;
        let (what, error) = refusal::provoke(dice, problem, state, model);
        self.log(format!("refuse {what}"));
        assert!(error.is_some(), "{what} was accepted");
        assert!(before == bytes(&self.model, &self.state.labels), "a refusal changed the model");
        self.tally.refused += 1;
    }

    /// Compares the model with a refit.
    fn compare(&mut self) {
        if !self.problem.has_refit() || self.model.classes() == 0 {
            return;
        }
        self.log("compare with a refit".to_owned());
        if self.problem.kind == Kind::Exact {
            self.compare_totals();
        }
        let rows = self.state.reference.rows();
        // The estimate is for samples like those learned: others may have inputs that no sample had yet.
        let samples: Vec<_> = (0..20.min(rows.len()))
            .map(|_| rows[self.dice.below(rows.len())].sample.clone())
            .collect();
        let distance = self.state.reference.distance(&self.problem, &self.model, &samples);
        let estimate = self.model.health()[0].now.error;
        if distance <= LARGEST_ERROR {
            self.tally.exact += 1;
        } else {
            assert!(
                estimate > LARGEST_ERROR,
                "scores are off by {distance:e}, and the estimate is {estimate:e}"
            );
            self.tally.warned += 1;
        }
    }

    fn compare_totals(&self) {
        let reference = &self.state.reference;
        assert_eq!(self.model.learned(), reference.rows().len() as u64);
        for (class, total) in self.model.class_totals().iter().enumerate() {
            let expected = reference.total(class);
            let is_close = (total - expected).abs() <= 1e-9 * expected;
            assert!(is_close, "class {class} has a total of {total}, not {expected}");
        }
    }
}
