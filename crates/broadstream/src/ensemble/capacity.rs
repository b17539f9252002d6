//! Which regressions a model has, and how many nodes each of them.
//!
//! The stacking knows what each of its predictors contributes: by how much its squared error would
//! grow without it ([`Stacking::contribution`](super::stacking::Stacking::contribution)). At
//! reviews, which become rarer as the stream goes on,
//!
//! - regressions that contribute next to nothing come to rest, one after the other, since two that
//!   are alike contribute little each and much together;
//! - a regression whose second half of nodes contributes much gets twice as many;
//! - one whose second half contributes nothing keeps the first half, which is an exact regression of
//!   its own;
//! - the kind of nodes that serves the regression on all samples best becomes that of all others.
//!
//! Resting regressions that forget return when a regression restarts after a drift, and now and then
//! without a reason, after longer and longer rests. Whatever notices drifts never rests. A regression that is
//! new, larger or returns learns the recent samples first, some at a time, and joins when it has
//! caught up.
//!
//! Every decision follows from samples and losses alone and is taken after a multiple of 64 samples,
//! so that it does not depend on blocks or threads.

use std::collections::VecDeque;

use super::plan::{LEAST_NODES, Slot, slots};
use crate::{
    classifier::{Member, MemberChange, MemberEvent},
    config::OnlineBlsConfig,
    error::ModelFileError,
    features::NodeKind,
    numeric::Threads,
    preprocessing::ScaledSample,
    regression::{RegressionPlan, RidgeRegression},
    state::{ReadScope, WriteScope},
};

/// After this many samples nodes are drawn from them.
pub(super) const WARM_UP: u64 = 128;

/// The first review, and the longest time between two. Between them it doubles.
const FIRST_REVIEW: u64 = 256;
const LONGEST_PERIOD: u64 = 4096;

/// What a feature must contribute to the mean squared error, which is a few tenths for a stream that
/// is hard to predict: below the first, a regression comes to rest; below the second, the second half
/// of a regression's nodes is dropped; above the third, there will be twice as many. With a memory of
/// a thousand samples, contributions are uncertain by about 0.0002, or 1e-6 for each of 200 features.
pub(super) const REST: f64 = 1.5e-6;
pub(super) const SHED: f64 = 0.5e-6;
pub(super) const GROW: f64 = 4e-6;

/// What the regressions that come to rest in one review may contribute together.
pub(super) const REST_ALL: f64 = 0.003;

/// Before this many samples no nodes are dropped, and no regression on all samples rests: as long as
/// samples are fewer than nodes, contributions tell little about later ones.
pub(super) const SHED_FROM: u64 = 1024;
pub(super) const REST_MAIN_FROM: u64 = 2048;

/// By which factor the loss must be smaller for another kind of nodes to be chosen.
const BETTER: f64 = 0.93;

/// The first and the longest time between two returns of resting regressions without a reason.
const FIRST_RETURN: u64 = 8192;
const LONGEST_RETURN: u64 = 1 << 17;

/// The number of samples after a return during which a drift causes no other.
const GRACE: u64 = 1024;

/// A regression that forgets learns this many times its memory before it joins.
const MEMORIES: f64 = 4.0;

/// Regressions that learn at most these many samples before they join do so together, and before
/// those that learn more: after a drift, the shortest memories are needed first.
const GROUPS: [u64; 2] = [1024, 8192];

/// The forgettings of the regressions that the restarting one is always compared with. Without the
/// second, adapting to abrupt drifts took longer: STAGGER, whose rule changes every 1000 samples, lost
/// 0.3 points.
const SENTINELS: [f64; 2] = [0.997, 0.99];

/// How many of the last changes are remembered: a model that runs for years must not grow with them.
const MOST_CHANGES: usize = 1000;

/// What has become of a regression that a model may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// It was not needed yet.
    Unused,
    /// It takes part in predictions.
    Active,
    /// It has learned nothing since it last took part.
    Resting,
}

impl Status {
    /// Each in the place of its number in model files.
    const ALL: [Status; 3] = [Status::Unused, Status::Active, Status::Resting];
}

/// The regressions that a model may have, and when to think about them again.
#[derive(Clone, Debug)]
pub(crate) struct Capacity {
    linear: usize,
    pub(super) slots: Vec<Slot>,
    pub(super) status: Vec<Status>,
    /// The number of features of each regression when it takes part.
    pub(super) features: Vec<usize>,
    /// The number of samples before which a regression that was halved is not doubled.
    doubled_after: Vec<u64>,
    /// The kind of nodes of regressions that have no kind of their own.
    pub(super) kind: NodeKind,
    /// Groups of regressions that are to take part, the one that learns now first.
    pub(super) joining: VecDeque<JoiningGroup>,
    next_review: u64,
    next_return: u64,
    rest_length: u64,
    last_return: u64,
    /// The number of samples after which a regression last restarted, and whether that is news.
    last_restart: u64,
    has_restarted: bool,
    pub(super) changes: Vec<MemberChange>,
    /// The number of indicators of codes that features may depend on.
    pub(super) code_indicators: usize,
    /// The number of inputs and of classes up to the last ones of the samples that were learned.
    pub(super) seen: (usize, usize),
}

/// Regressions that learn recent samples before they take part.
#[derive(Clone, Debug)]
pub(super) struct JoiningGroup {
    pub(super) members: Vec<JoiningRegression>,
    /// The number of the sample that is learned next.
    pub(super) next: u64,
}

#[derive(Clone, Debug)]
pub(super) struct JoiningRegression {
    pub(super) slot: usize,
    /// The number of the first sample that it learns.
    pub(super) first: u64,
    pub(super) regression: RidgeRegression,
    /// The recent loss of each of its nested models.
    pub(super) losses: Vec<f64>,
}

impl Capacity {
    pub(super) fn new(config: &OnlineBlsConfig) -> Self {
        let slots = slots(config);
        let begins = |slot: &Slot| match slot.kind {
            None | Some(NodeKind::Random) => Status::Active,
            Some(_) => Status::Unused,
        };
        Capacity {
            linear: config.linear(),
            status: slots.iter().map(begins).collect(),
            features: slots.iter().map(|slot| slot.plan.features).collect(),
            doubled_after: vec![0; slots.len()],
            slots,
            kind: NodeKind::Random,
            joining: VecDeque::new(),
            next_review: FIRST_REVIEW,
            next_return: FIRST_RETURN,
            rest_length: FIRST_RETURN,
            last_return: 0,
            last_restart: 0,
            has_restarted: false,
            changes: Vec::new(),
            code_indicators: 0,
            seen: (0, 0),
        }
    }

    /// The plan of a regression as it takes part now, or would.
    pub(super) fn plan(&self, slot: usize) -> RegressionPlan {
        let Slot { plan, kind, .. } = &self.slots[slot];
        let kind = kind.unwrap_or(self.kind);
        RegressionPlan { kind, features: self.features[slot], ..plan.clone() }
    }

    /// Whether the time for a review has come; if so, sets the next one.
    pub(super) fn is_review_due(&mut self, learned: u64) -> bool {
        if learned < self.next_review {
            return false;
        }
        self.next_review = learned + learned.min(LONGEST_PERIOD);
        true
    }

    /// Records that a regression on that many features has restarted. If it was about to be replaced
    /// by a larger one, that one is dropped, since it has learned what was before.
    pub(super) fn restarted(&mut self, learned: u64, features: usize) {
        (self.last_restart, self.has_restarted) = (learned, true);
        let restarts = self.slots.iter().position(|slot| slot.plan.restarts);
        restarts.into_iter().for_each(|slot| self.features[slot] = features);
        for group in &mut self.joining {
            group.members.retain(|member| !self.slots[member.slot].plan.restarts);
        }
        self.joining.retain(|group| !group.members.is_empty());
    }

    /// Whether resting regressions should return, and why; if so, sets the next time.
    pub(super) fn is_return_due(&mut self, learned: u64) -> Option<MemberEvent> {
        let drift = std::mem::take(&mut self.has_restarted);
        let reason = if drift && learned >= self.last_return + GRACE {
            self.rest_length = FIRST_RETURN;
            MemberEvent::ReturnedAfterDrift
        } else if learned >= self.next_return {
            self.rest_length = (2 * self.rest_length).min(LONGEST_RETURN);
            MemberEvent::ReturnedForComparison
        } else {
            return None;
        };
        self.next_return = learned + self.rest_length;
        self.last_return = learned;
        // What has returned is reviewed as soon as the stacking knows it.
        self.next_review = self.next_review.max(learned + GRACE);
        Some(reason)
    }

    /// Whether a regression may have twice as many nodes.
    pub(super) fn may_grow(&self, slot: usize, learned: u64) -> bool {
        let Slot { most_features, .. } = self.slots[slot];
        let twice = self.linear + 2 * (self.features[slot] - self.linear);
        twice <= most_features && learned >= self.doubled_after[slot]
    }

    /// Whether a regression may have half as many nodes.
    pub(super) fn may_shrink(&self, slot: usize) -> bool {
        self.features[slot] - self.linear >= 2 * LEAST_NODES
    }

    /// The plan of a regression with twice as many nodes.
    pub(super) fn doubled(&self, slot: usize) -> RegressionPlan {
        let plan = self.plan(slot);
        RegressionPlan { features: self.linear + 2 * (plan.features - self.linear), ..plan }
    }

    /// Counts the inputs and classes of a sample that is learned.
    pub(super) fn see(&mut self, x: &ScaledSample, class: usize) {
        let (inputs, classes) = self.seen;
        let sample = x.sample();
        let own = match sample.inputs() {
            Some(listed) => listed.iter().max().map_or(0, |last| *last as usize + 1),
            None => sample.values().len(),
        };
        self.seen = (inputs.max(own), classes.max(class + 1));
    }

    /// Gives a regression twice as many nodes.
    pub(super) fn double(&mut self, slot: usize) {
        self.features[slot] = self.doubled(slot).features;
    }

    /// Gives a regression half as many nodes, and returns how many features it has then. It does not
    /// grow again before it has learned twice as many samples.
    pub(super) fn halve(&mut self, slot: usize, learned: u64) -> usize {
        let age = learned - self.first_sample(slot, learned);
        self.doubled_after[slot] = learned + age;
        self.features[slot] = self.linear + (self.features[slot] - self.linear) / 2;
        self.features[slot]
    }

    /// Raises the number of classes.
    pub(super) fn add_classes(&mut self, classes: usize) {
        for member in self.joining.iter_mut().flat_map(|group| &mut group.members) {
            member.regression.add_classes(classes);
        }
    }

    /// All regressions by name, given those that take part as members.
    pub(super) fn members(&self, active: Vec<Member>) -> Vec<Member> {
        let mut active = active.into_iter();
        let member = |(slot, status): (usize, &Status)| match status {
            Status::Active => active.next(),
            Status::Resting | Status::Unused => {
                Some(Member { rests: true, ..self.plan(slot).member(0.0) })
            }
        };
        self.status.iter().enumerate().filter_map(member).collect()
    }

    /// How the regressions have changed.
    pub(super) fn changes(&self) -> &[MemberChange] {
        &self.changes
    }

    /// The number of the first sample that a regression learns before it joins.
    pub(super) fn first_sample(&self, slot: usize, learned: u64) -> u64 {
        let RegressionPlan { forgetting, restarts, .. } = self.slots[slot].plan;
        if restarts {
            return self.last_restart;
        }
        if forgetting == 1.0 {
            return 0;
        }
        // What was before a drift would only mislead it, and take time.
        let memory = MEMORIES / (1.0 - forgetting);
        learned.saturating_sub(memory as u64).max(self.last_restart)
    }

    /// The regressions that take part, in the order of their slots.
    pub(super) fn active(&self) -> Vec<usize> {
        self.with(Status::Active)
    }

    /// The regressions of that status, in the order of their slots.
    pub(super) fn with(&self, status: Status) -> Vec<usize> {
        (0..self.slots.len()).filter(|slot| self.status[*slot] == status).collect()
    }

    /// Whether a regression must not rest, because it shows drifts.
    pub(super) fn notices_drifts(&self, slot: usize) -> bool {
        let RegressionPlan { forgetting, restarts, sees_labels, .. } = self.slots[slot].plan;
        let has_restart = self.slots.iter().any(|slot| slot.plan.restarts);
        restarts || has_restart && SENTINELS.contains(&forgetting) && !sees_labels
    }

    /// Records a change of a regression that had `features_before` features, or 0 if it rested, and
    /// has `features` from now on. Drops the oldest change if there are too many.
    pub(super) fn record(
        &mut self,
        learned: u64,
        slot: usize,
        (features_before, features): (usize, usize),
        event: MemberEvent,
    ) {
        if self.changes.len() >= MOST_CHANGES {
            self.changes.drain(..=self.changes.len() - MOST_CHANGES);
        }
        let member = self.slots[slot].plan.name.clone();
        let nodes = self.slots[slot].kind.unwrap_or(self.kind).name();
        let change = MemberChange { learned, member, features_before, features, nodes, event };
        self.changes.push(change);
    }

    /// Starts to prepare regressions for taking part.
    pub(super) fn prepare(
        &mut self,
        slots: &[usize],
        learned: u64,
        config: &OnlineBlsConfig,
        classes: usize,
    ) {
        let mut groups = vec![Vec::new(); GROUPS.len() + 1];
        for &slot in slots {
            let plan = self.plan(slot);
            let mut regression = RidgeRegression::new(plan, config, &Threads::default());
            regression.add_classes(classes);
            let losses = vec![0.0; regression.readouts().len()];
            let first = self.first_sample(slot, learned);
            let group = GROUPS.partition_point(|most| *most < learned - first);
            groups[group].push(JoiningRegression { slot, first, regression, losses });
        }
        for members in groups {
            if let Some(next) = members.iter().map(|member| member.first).min() {
                self.joining.push_back(JoiningGroup { members, next });
            }
        }
    }

    /// The kind of nodes that has proved best, given the recent loss of each active regression on all
    /// samples.
    pub(super) fn best_kind(&self, losses: &[(NodeKind, f64)]) -> NodeKind {
        let own = losses.iter().find(|(kind, _)| *kind == self.kind).map_or(f64::MAX, |x| x.1);
        let best = losses.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        best.filter(|(_, loss)| *loss < BETTER * own).map_or(self.kind, |(kind, _)| *kind)
    }
}

impl Capacity {
    pub(super) fn save(&self, to: &mut WriteScope<'_>) {
        let numbers = |counts: &[usize]| counts.iter().map(|count| *count as u64).collect();
        to.integers("status", self.status.iter().map(|status| *status as u64).collect());
        to.integers("features", numbers(&self.features));
        to.integers("doubled_after", self.doubled_after.clone());
        to.integer("kind", self.kind.index());
        to.integer("next_review", self.next_review);
        to.integer("next_return", self.next_return);
        to.integer("rest_length", self.rest_length);
        to.integer("last_return", self.last_return);
        to.integer("last_restart", self.last_restart);
        to.value("has_restarted", self.has_restarted);
        to.integer("code_indicators", self.code_indicators);
        to.integer("seen_inputs", self.seen.0);
        to.integer("seen_classes", self.seen.1);
        self.save_changes(&mut to.scope("changes"));
        to.integer("joining_groups", self.joining.len());
        for (i, JoiningGroup { members, next }) in self.joining.iter().enumerate() {
            let mut to = to.scope(&format!("joining_{i}"));
            to.integer("next", *next);
            to.integers("slots", members.iter().map(|member| member.slot as u64).collect());
            for member in members {
                let mut to = to.scope(&member.slot.to_string());
                to.integer("first", member.first);
                to.floats("losses", member.losses.clone());
                member.regression.save(&mut to.scope("regression"));
            }
        }
    }

    fn save_changes(&self, to: &mut WriteScope<'_>) {
        let changes = || self.changes.iter();
        to.integers("learned", changes().map(|change| change.learned).collect());
        let before = changes().map(|change| change.features_before as u64);
        to.integers("features_before", before.collect());
        to.integers("features", changes().map(|change| change.features as u64).collect());
        to.integers("members", changes().map(|change| self.slot_named(&change.member)).collect());
        let kind = |change: &MemberChange| {
            NodeKind::ALL.iter().position(|kind| kind.name() == change.nodes).unwrap_or(0) as u64
        };
        to.integers("kinds", changes().map(kind).collect());
        to.integers("events", changes().map(|change| change.event as u64).collect());
    }

    fn slot_named(&self, name: &str) -> u64 {
        self.slots.iter().position(|slot| slot.plan.name == name).unwrap_or(0) as u64
    }

    pub(super) fn restore(
        &mut self,
        from: &ReadScope<'_>,
        config: &OnlineBlsConfig,
        inputs: usize,
        classes: usize,
    ) -> Result<(), ModelFileError> {
        let count = self.slots.len();
        let status = from.integers("status", count, Status::ALL.len() as u64 - 1)?;
        self.status = status.into_iter().map(|status| Status::ALL[status as usize]).collect();
        let rule = "at least one regression that takes part";
        from.check("status", self.status.contains(&Status::Active), rule)?;
        let features = from.integers("features", count, u64::MAX)?;
        let sound = features.iter().zip(&self.slots).all(|(features, slot)| {
            *features > self.linear as u64 && *features <= slot.most_features as u64
        });
        from.check("features", sound, "numbers of features within their bounds")?;
        self.features = features.into_iter().map(|features| features as usize).collect();
        self.doubled_after = from.integers("doubled_after", count, u64::MAX)?;
        self.kind = NodeKind::ALL[from.count("kind", NodeKind::ALL.len() - 1)?];
        self.next_review = from.integer("next_review")?;
        self.next_return = from.integer("next_return")?;
        self.rest_length = from.count("rest_length", LONGEST_RETURN as usize)? as u64;
        self.last_return = from.integer("last_return")?;
        self.last_restart = from.integer("last_restart")?;
        self.has_restarted = from.flag("has_restarted")?;
        self.code_indicators = from.count("code_indicators", u16::MAX as usize)?;
        let seen = (from.integer("seen_inputs")?, from.integer("seen_classes")?);
        let sound = seen.0 <= inputs as u64 && seen.1 <= classes as u64;
        from.check("seen_inputs", sound, "no more inputs and classes than the model has")?;
        self.seen = (seen.0 as usize, seen.1 as usize);
        self.restore_changes(&from.scope("changes")?)?;
        self.joining.clear();
        for i in 0..from.count("joining_groups", GROUPS.len() + 1)? {
            let group =
                self.restore_group(&from.scope(&format!("joining_{i}"))?, config, classes)?;
            self.joining.push_back(group);
        }
        Ok(())
    }

    fn restore_group(
        &self,
        from: &ReadScope<'_>,
        config: &OnlineBlsConfig,
        classes: usize,
    ) -> Result<JoiningGroup, ModelFileError> {
        let count = self.slots.len() as u64;
        let slots = from.any_integers("slots")?;
        let sound = slots.is_sorted_by(|a, b| a < b) && slots.iter().all(|slot| *slot < count);
        from.check("slots", sound && !slots.is_empty(), "increasing numbers of regressions")?;
        let mut members = Vec::with_capacity(slots.len());
        for slot in slots.into_iter().map(|slot| slot as usize) {
            let from = from.scope(&slot.to_string())?;
            let plan = self.plan(slot);
            // The file must hold what it claims before anything of that size is allocated.
            let (order, factor) = (plan.features, from.scope("regression")?.scope("factor")?);
            let sound = factor.length("l") == order * (order - 1) / 2;
            factor.check("l", sound, "the triangle of its features")?;
            let mut regression = RidgeRegression::new(plan, config, &Threads::default());
            regression.restore(&from.scope("regression")?, classes)?;
            let losses = from.floats("losses", regression.readouts().len())?;
            let first = from.integer("first")?;
            members.push(JoiningRegression { slot, first, regression, losses });
        }
        Ok(JoiningGroup { members, next: from.integer("next")? })
    }

    /// The plans of the regressions that take part, as they were saved. They need not be those of
    /// their slots while larger ones or others are about to join.
    pub(super) fn saved_plans(
        &self,
        from: &ReadScope<'_>,
    ) -> Result<Vec<RegressionPlan>, ModelFileError> {
        let active = self.active();
        let features = from.integers("features", active.len(), u64::MAX)?;
        let kinds = from.integers("kinds", active.len(), NodeKind::ALL.len() as u64 - 1)?;
        let mut plans = Vec::with_capacity(active.len());
        for ((slot, features), kind) in active.into_iter().zip(features).zip(kinds) {
            let Slot { plan, most_features, .. } = &self.slots[slot];
            let sound = features > self.linear as u64 && features <= *most_features as u64;
            from.check("features", sound, "numbers of features within their bounds")?;
            let (features, kind) = (features as usize, NodeKind::ALL[kind as usize]);
            plans.push(RegressionPlan { features, kind, ..plan.clone() });
        }
        Ok(plans)
    }

    fn restore_changes(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let learned = from.any_integers("learned")?;
        from.check("learned", learned.len() <= MOST_CHANGES, "no more than are remembered")?;
        let numbers = |name, most: usize| from.integers(name, learned.len(), most as u64);
        let before = numbers("features_before", usize::MAX)?;
        let features = numbers("features", usize::MAX)?;
        let members = numbers("members", self.slots.len() - 1)?;
        let kinds = numbers("kinds", NodeKind::ALL.len() - 1)?;
        let events = numbers("events", MemberEvent::ALL.len() - 1)?;
        self.changes = (0..learned.len())
            .map(|i| MemberChange {
                learned: learned[i],
                member: self.slots[members[i] as usize].plan.name.clone(),
                features_before: before[i] as usize,
                features: features[i] as usize,
                nodes: NodeKind::ALL[kinds[i] as usize].name(),
                event: MemberEvent::ALL[events[i] as usize],
            })
            .collect();
        Ok(())
    }
}
