//! What happens to the model's file and journal.

use std::rc::Rc;

use super::Run;
use crate::simulation::state::State;

impl Run<'_> {
    /// Writes the last change to the journal, if there is one. Until then nobody may rely on it.
    pub(super) fn acknowledge(&mut self, before: State) {
        if !self.storage.has_journal {
            return;
        }
        let forever = self.dice.one_in(2);
        if self.dice.one_in(10) {
            self.storage.disk.fail_at(self.dice.below(3), forever);
        }
        let padding = if self.dice.one_in(10) { 6000 } else { self.dice.below(20) };
        let appended = self.storage.append(self.changes.len() - 1, padding);
        let has_failed = self.storage.disk.has_failed();
        self.storage.disk.repair();
        if appended.is_ok() {
            self.tally.appends += 1;
            return;
        }
        assert!(has_failed || self.journal_failed, "the journal refused an entry");
        self.tally.disk_failures += u64::from(has_failed);
        self.note("; the journal fails");
        let power_fails = self.dice.one_in(2);
        // A part of an entry is removed, if the disk permits it.
        let is_certain = !has_failed || !forever && !power_fails;
        let after = (!is_certain).then(|| self.state.clone());
        self.restart(Some(before).into_iter().chain(after).map(Some).collect(), power_fails);
    }

    /// Saves the model on a disk that may fail.
    pub(super) fn save(&mut self) {
        let is_first = self.storage.has_journal && self.changes.is_empty();
        if !is_first && self.dice.one_in(2) {
            let forever = self.dice.one_in(2);
            self.storage.disk.fail_at(self.dice.below(16), forever);
        }
        let feature_weights = self.dice.one_in(2);
        let outcome = self.storage.save(&self.model, &self.state.labels, feature_weights);
        let has_failed = self.storage.disk.has_failed();
        self.storage.disk.repair();
        self.tally.disk_failures += u64::from(has_failed);
        let current = Some(self.state.clone());
        if let Err(error) = outcome {
            self.log(format!("save: {error}"));
            assert!(has_failed || self.journal_failed, "{error}");
            self.journal_failed = self.storage.has_journal;
            self.saved.push(current.clone());
        } else {
            self.log("save".to_owned());
            self.tally.saves += 1;
            self.saved = vec![current.clone()];
        }
        if self.storage.has_journal {
            // Whatever has failed, everything that was acknowledged is there.
            if has_failed && self.dice.one_in(2) {
                let power_fails = self.dice.one_in(2);
                self.restart(vec![current], power_fails);
            }
        } else {
            let found = self.storage.read();
            let is_known = |state: &Option<State>| match (state, &found) {
                (Some(state), Some(found)) => {
                    state.matches(&found.model, &numbers(found.schema.labels()))
                }
                (state, found) => state.is_none() && found.is_none(),
            };
            assert!(self.saved.iter().any(is_known), "the file is neither the old nor the new one");
        }
    }

    /// Kills the program, with the power or without, and starts another.
    pub(super) fn kill(&mut self) {
        let power_fails = self.dice.one_in(2);
        let states = if self.storage.has_journal {
            vec![Some(self.state.clone())]
        } else {
            self.saved.clone()
        };
        self.restart(states, power_fails);
    }

    /// Kills the program and starts another, which must find the model in one of these states.
    fn restart(&mut self, states: Vec<Option<State>>, power_fails: bool) {
        self.log(format!("kill{}", if power_fails { ", and the power fails" } else { "" }));
        self.tally.kills += 1;
        self.tally.power_failures += u64::from(power_fails);
        self.storage.kill(power_fails.then_some(&mut self.dice));
        self.journal_failed = false;
        if self.dice.one_in(6) {
            self.storage.disk.fail_at(self.dice.below(4), false);
        }
        let mut started = self.storage.start();
        if started.is_err() && self.storage.disk.has_failed() {
            self.tally.disk_failures += 1;
            self.storage.kill(None);
            started = self.storage.start();
        }
        let has_failed = self.storage.disk.has_failed();
        self.storage.disk.repair();
        let Some(found) = started.unwrap_or_else(|error| panic!("cannot start again: {error}"))
        else {
            assert!(states.iter().any(Option::is_none), "the file is gone");
            self.state = State::new(&self.problem, 1);
            self.model = self.state.twin.clone();
            return self.now_saved(None, power_fails);
        };
        let mut labels = numbers(found.saved.schema.labels());
        let mut model = found.saved.model;
        for number in found.changes {
            let change = Rc::clone(&self.changes[number]);
            change.apply(&mut model, &mut labels, || usize::MAX).expect("it was applied before");
        }
        let state = states.into_iter().flatten().find(|state| state.matches(&model, &labels));
        self.state = state.expect("the model is not the one that was acknowledged");
        self.model = model;
        // What could not be removed stays until the file is locked again.
        if !has_failed {
            self.storage.check_folder();
        }
        self.now_saved(Some(self.state.clone()), power_fails);
    }

    /// Notes which state the file is in, if it cannot become another one again.
    fn now_saved(&mut self, state: Option<State>, power_failed: bool) {
        if power_failed {
            self.saved = vec![state];
        }
    }
}

/// The labels of a file, which are numbers here.
fn numbers(labels: &[String]) -> Vec<usize> {
    labels.iter().map(|label| label.parse().expect("labels are numbers")).collect()
}
