//! How an ensemble changes its regressions, as [`Capacity`](super::capacity::Capacity) explains.

use std::{collections::BTreeMap, ops::Range};

use super::{
    Adaptive, Ensemble,
    capacity::{
        GROW, JoiningRegression, REST, REST_ALL, REST_MAIN_FROM, SHED, SHED_FROM, Status, WARM_UP,
    },
    error_weighted_average::ErrorWeightedAverage,
    multiply_adds,
    plan::LEAST_NODES,
};
use crate::{
    classifier::MemberEvent,
    config::OnlineBlsConfig,
    error::{Error, ModelFileError},
    features::{BroadFeatures, NodeKind},
    preprocessing::ScaledSample,
    regression::{Batch, Learned, RegressionPlan, RidgeRegression},
    state::{ReadScope, WriteScope},
};

/// After a multiple of this many samples something may change.
const EVERY: u64 = 64;

/// How much a group of joining regressions learns after each `EVERY` new samples, as the sum of its
/// squared numbers of features over samples: 512 samples for a regression on 600 features.
const REPLAYED: usize = 512 * 600 * 600;

/// But at least this many samples, so that it catches up,
const LEAST_REPLAYED: usize = 128;

/// and this many at once.
const BLOCK: usize = 64;

/// One part of this many of the memory limit is not for regressions that begin or grow.
const RESERVE: u128 = 8;

/// The losses of a regression that has learned fewer samples are not compared with others.
const LEAST_COMPARED: u64 = 32;

/// A regression with the members that its nested models are.
struct Arranged {
    regression: RidgeRegression,
    /// The earlier members that they are, or resemble.
    sources: Vec<usize>,
    losses: Vec<f64>,
}

impl Ensemble {
    /// Keeps a sample that was learned for regressions that begin later.
    pub(crate) fn remember(&mut self, x: ScaledSample, class: usize, weight: f64) {
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.capacity.see(&x, class);
            adaptive.recent.push(x, class, weight);
        }
    }

    /// Whether it keeps samples.
    pub(crate) fn remembers(&self) -> bool {
        self.adaptive.is_some()
    }

    /// Changes regressions if it is time for that, and the features that they need with them. To be
    /// called after samples were counted.
    pub(crate) fn adapt(&mut self, features: &mut BroadFeatures) -> Result<(), Error> {
        let learned = self.learned;
        let Some(Adaptive { capacity, .. }) = &mut self.adaptive else { return Ok(()) };
        if learned == 0 || !learned.is_multiple_of(EVERY) {
            return Ok(());
        }
        if !capacity.joining.is_empty() {
            return self.catch_up(features);
        }
        if learned == WARM_UP {
            return self.try_other_nodes(features);
        }
        if let Some(event) = capacity.is_return_due(learned) {
            // What remembers everything would have to learn all samples again, and after a drift it is
            // of no use.
            let mut resting = capacity.with(Status::Resting);
            resting.retain(|slot| capacity.slots[*slot].plan.forgetting < 1.0);
            if event == MemberEvent::ReturnedAfterDrift {
                resting.extend(self.enlarge_restarted());
            }
            return self.prepare(&resting, event, features);
        }
        if capacity.is_review_due(learned) { self.review(features) } else { Ok(()) }
    }

    /// Gives the regression that has restarted as many nodes as the best one on all samples has,
    /// whose place it takes, and returns its slot if these are more than it had.
    fn enlarge_restarted(&mut self) -> Option<usize> {
        let (active, ranges) = (self.active(), self.ranges());
        let best = active[self.best_main(&active, &ranges)?];
        let Adaptive { capacity, recent } = self.adaptive.as_ref()?;
        let slot = capacity.slots.iter().position(|slot| slot.plan.restarts)?;
        let most = capacity.slots[slot].most_features.min(capacity.features[best]);
        let is_kept = recent.first() <= capacity.first_sample(slot, self.learned);
        let larger = RegressionPlan { features: most, ..capacity.plan(slot) };
        if capacity.features[slot] >= most || !is_kept || !self.fits(&[larger]) {
            return None;
        }
        self.adaptive.as_mut()?.capacity.features[slot] = most;
        Some(slot)
    }

    /// Whether the model stays within its memory limit if these regressions begin too. A regression
    /// that becomes larger learns beside the one that it replaces, so both count.
    ///
    /// What counts are the inputs and classes of samples that were learned, and not those that were
    /// declared, since a block declares its classes before it is learned. Some memory is left for
    /// inputs and classes that are new later.
    fn fits(&self, beginning: &[RegressionPlan]) -> bool {
        let Some(Adaptive { capacity, .. }) = &self.adaptive else { return true };
        let (inputs, classes) = capacity.seen;
        let limit = u128::from(self.config.memory_limit);
        self.bytes_with(beginning, inputs, classes) <= limit - limit / RESERVE
    }

    /// How many bytes it takes with this many inputs and classes, and with these regressions beside
    /// its own.
    pub(super) fn bytes_with(
        &self,
        beginning: &[RegressionPlan],
        inputs: usize,
        classes: usize,
    ) -> u128 {
        let joining = self.adaptive.iter().flat_map(|adaptive| &adaptive.capacity.joining);
        let joining = joining.flat_map(|group| &group.members).map(|member| &member.regression);
        let own = self.regressions.iter().chain(joining).map(RidgeRegression::plan);
        let plans: Vec<&RegressionPlan> = own.chain(beginning).collect();
        // An indicator has weights as an input has.
        let codes = self.adaptive.as_ref().map_or(0, |adaptive| adaptive.capacity.code_indicators);
        self.config.bytes_of(&plans, inputs + codes, classes)
    }

    /// The best regression on all samples.
    fn best_main(&self, active: &[usize], ranges: &[Range<usize>]) -> Option<usize> {
        let loss = |i: &usize| self.combiner.recent_loss(ranges[*i].end - 1);
        let mains = (0..active.len()).filter(|i| self.is_main(active[*i]));
        mains.min_by(|a, b| loss(a).total_cmp(&loss(b)))
    }

    /// Draws nodes from the first samples, and prepares regressions on them.
    fn try_other_nodes(&mut self, features: &mut BroadFeatures) -> Result<(), Error> {
        let Some(Adaptive { capacity, recent, .. }) = &mut self.adaptive else { return Ok(()) };
        features.sample_nodes_from(recent.oldest(WARM_UP as usize));
        let mut unused = capacity.with(Status::Unused);
        capacity.code_indicators = features.code_indicators();
        if capacity.code_indicators == 0 {
            unused.retain(|slot| capacity.slots[*slot].kind != Some(NodeKind::Coded));
        }
        self.prepare(&unused, MemberEvent::Joined, features)
    }

    /// Starts to prepare regressions for taking part. Those that would need samples which are no
    /// longer kept, or more memory than there may be, stay as they are.
    fn prepare(
        &mut self,
        slots: &[usize],
        event: MemberEvent,
        features: &mut BroadFeatures,
    ) -> Result<(), Error> {
        let (learned, classes) = (self.learned, self.classes);
        let Some(Adaptive { capacity, recent, .. }) = &self.adaptive else { return Ok(()) };
        let kept = |slot: &usize| {
            let remembers = capacity.slots[*slot].plan.forgetting == 1.0;
            let from = capacity.first_sample(*slot, learned);
            !remembers || recent.first() <= from || event == MemberEvent::Doubled
        };
        let mut slots: Vec<usize> = slots.iter().copied().filter(kept).collect();
        slots.sort_unstable();
        let (mut plans, mut fitting) = (Vec::new(), Vec::new());
        for slot in slots {
            plans.push(capacity.plan(slot));
            match self.fits(&plans) {
                true => fitting.push(slot),
                false => drop(plans.pop()),
            }
        }
        let active = self.active();
        let before = |slot: &usize| {
            let own = active.iter().position(|other| other == slot);
            own.map_or(0, |i| self.regressions[i].plan().features)
        };
        let before: Vec<usize> = fitting.iter().map(before).collect();
        let Some(Adaptive { capacity, .. }) = &mut self.adaptive else { return Ok(()) };
        for (slot, before) in fitting.iter().zip(before) {
            capacity.record(learned, *slot, (before, capacity.features[*slot]), event);
        }
        capacity.prepare(&fitting, learned, &self.config, classes);
        self.fit_features(features);
        Ok(())
    }

    /// Gives the features the nodes that the regressions need, and no others.
    fn fit_features(&self, features: &mut BroadFeatures) {
        let Some(Adaptive { capacity, .. }) = &self.adaptive else { return };
        let joining = capacity.joining.iter().flat_map(|group| &group.members);
        let joining = joining.map(|member| member.regression.plan());
        let plans = self.regressions.iter().map(RidgeRegression::plan).chain(joining);
        let linear = self.config.linear();
        let mut nodes = [0; NodeKind::ALL.len()];
        let mut labelled = 0;
        for plan in plans {
            let own = &mut nodes[plan.kind.index()];
            *own = (*own).max(plan.features - linear);
            labelled = labelled.max(if plan.sees_labels { plan.features } else { 0 });
        }
        features.set_nodes(nodes);
        features.set_labelled(labelled, capacity.kind);
    }

    /// Lets a group of joining regressions learn some of the samples that they lack.
    fn catch_up(&mut self, features: &mut BroadFeatures) -> Result<(), Error> {
        let Some(Adaptive { capacity, recent, .. }) = &mut self.adaptive else { return Ok(()) };
        let Some(group) = capacity.joining.front_mut() else { return Ok(()) };
        group.next = group.next.max(recent.first());
        let square = |member: &JoiningRegression| member.regression.plan().features.pow(2);
        let samples = REPLAYED / group.members.iter().map(square).sum::<usize>().max(1);
        let samples = samples.next_multiple_of(BLOCK).max(LEAST_REPLAYED);
        let end = recent.end().min(group.next + samples as u64);
        while group.next < end {
            let most = BLOCK.min((end - group.next) as usize);
            let batch = recent.batch(group.next, most, features, self.classes);
            group.next += batch.weights.len() as u64;
            let reached = group.next;
            if let [only] = group.members.as_mut_slice() {
                only.regression.share_threads(&self.threads);
                only.learn(&batch)?;
                continue;
            }
            let members = group.members.iter_mut().filter(|member| member.first < reached);
            let mut outcomes: Vec<(&mut JoiningRegression, Result<(), Error>)> =
                members.map(|member| (member, Ok(()))).collect();
            let joining = outcomes.iter().map(|(member, _)| &member.regression);
            let multiply_adds = multiply_adds(joining, batch.weights.len());
            self.threads.spread(multiply_adds, outcomes.iter_mut(), |(member, outcome)| {
                *outcome = member.learn(&batch);
            });
            outcomes.into_iter().try_for_each(|(_, outcome)| outcome)?;
        }
        if group.next < recent.end() {
            return Ok(());
        }
        let group = capacity.joining.pop_front();
        self.join(group.map(|group| group.members).unwrap_or_default())?;
        self.fit_features(features);
        Ok(())
    }

    /// Takes up regressions that have caught up.
    fn join(&mut self, joining: Vec<JoiningRegression>) -> Result<(), Error> {
        let ranges = self.ranges();
        let active = self.active();
        let main = active.iter().zip(&ranges).find(|(slot, _)| self.is_main(**slot));
        let main = main.map_or(0..1, |(_, range)| range.clone());
        let mut arranged = self.take_apart();
        for JoiningRegression { slot, first, regression, losses } in joining {
            // Nested models resemble the earlier ones of the same regression, or those of the first
            // regression on all samples; the largest resembles the largest.
            let like = active.iter().position(|other| *other == slot);
            let like = like.map_or(&main, |i| &ranges[i]);
            let count = regression.readouts().len();
            let source = |i: usize| like.end - 1 - (count - 1 - i).min(like.len() - 1);
            let sources: Vec<usize> = (0..count).map(source).collect();
            // Losses are sums. Those of regressions that have learned only some of the samples are
            // completed, and of too few samples they tell nothing.
            let own = self.learned.saturating_sub(first);
            let losses = match own < LEAST_COMPARED {
                true => sources.iter().map(|i| self.combiner.recent_loss(*i)).collect(),
                false => {
                    let missing =
                        ErrorWeightedAverage::mass(self.learned) / ErrorWeightedAverage::mass(own);
                    losses.iter().map(|loss| loss * missing).collect()
                }
            };
            arranged.insert(slot, Arranged { regression, sources, losses });
            if let Some(Adaptive { capacity, .. }) = &mut self.adaptive {
                capacity.status[slot] = Status::Active;
            }
        }
        self.put_together(arranged)
    }

    /// Decides which regressions rest, grow and shrink, and which kind of nodes they have.
    fn review(&mut self, features: &mut BroadFeatures) -> Result<(), Error> {
        let Some(Adaptive { capacity, recent, .. }) = &self.adaptive else { return Ok(()) };
        let (ranges, active, linear) = (self.ranges(), self.active(), self.config.linear());
        let without = |gone: &[usize], more: Range<usize>| {
            let all: Vec<usize> = gone.iter().copied().chain(more).collect();
            self.combiner.loss_without(&all)
        };
        let first = self.combiner.loss_without(&[])?;
        let noise = self.combiner.noise(first);

        // Rest: the least worth its features first, and then what is left without it.
        let mut stays: Vec<usize> = (0..active.len()).collect();
        let (mut gone, mut loss) = (Vec::new(), first);
        loop {
            let mut least: Option<(usize, f64, f64)> = None;
            for &i in stays.iter().filter(|i| self.may_rest(**i, &active, &ranges)) {
                let then = without(&gone, ranges[i].clone())?;
                let chance = noise * ranges[i].len() as f64;
                let worth = (then - loss - chance) / self.regressions[i].plan().features as f64;
                if least.is_none_or(|(_, _, least)| worth < least) {
                    least = Some((i, then, worth));
                }
            }
            let Some((i, then, worth)) = least else { break };
            if worth >= REST || then - first >= REST_ALL {
                break;
            }
            gone.extend(ranges[i].clone());
            loss = then;
            stays.retain(|other| *other != i);
        }
        let rests = |i: &usize| !stays.contains(i);
        let resting: Vec<usize> = (0..active.len()).filter(rests).map(|i| active[i]).collect();

        // What each node of the second half is worth.
        let mut halves: Vec<(usize, f64)> = Vec::new();
        for &i in stays.iter().filter(|i| ranges[**i].len() > 1) {
            let then = without(&gone, ranges[i].end - 1..ranges[i].end)?;
            let nodes = (capacity.features[active[i]] - linear) as f64;
            halves.push((active[i], (then - loss - noise) / nodes));
        }
        let sheds = |(slot, worth): &&(usize, f64)| {
            let age = self.learned - capacity.first_sample(*slot, self.learned);
            *worth < SHED && age >= SHED_FROM && capacity.may_shrink(*slot)
        };
        let shrinking: Vec<usize> = halves.iter().filter(sheds).map(|(slot, _)| *slot).collect();
        let mut growing: Vec<(usize, f64)> = halves;
        growing.retain(|(slot, worth)| *worth > GROW && capacity.may_grow(*slot, self.learned));
        growing.sort_by(|a, b| b.1.total_cmp(&a.1));
        // Regressions on all samples are large, and one that has grown may make up for the others.
        let mut grows_main = false;
        growing
            .retain(|(slot, _)| !self.is_main(*slot) || !std::mem::replace(&mut grows_main, true));
        let mut plans = Vec::new();
        growing.retain(|(slot, _)| {
            plans.push(capacity.doubled(*slot));
            let fits = self.fits(&plans);
            plans.truncate(plans.len() - usize::from(!fits));
            fits
        });
        let growing: Vec<usize> = growing.into_iter().map(|(slot, _)| slot).collect();
        // After a drift, losses of regressions that remember what was before tell nothing.
        let kind = if recent.first() == 0 && self.restarts.is_empty() {
            capacity.best_kind(&self.kind_losses(&active, &ranges))
        } else {
            capacity.kind
        };
        // With another kind, all regressions without a kind of their own begin again.
        let others = stays
            .iter()
            .map(|i| active[*i])
            .filter(|slot| capacity.slots[*slot].kind.is_none() && !growing.contains(slot));
        plans.extend(others.map(|slot| capacity.plan(slot)));
        let kind = if self.fits(&plans) { kind } else { capacity.kind };
        self.change(&resting, &shrinking, growing, kind, features)
    }

    /// Whether a regression may rest: not the best one on all samples, nor one that notices drifts.
    fn may_rest(&self, i: usize, active: &[usize], ranges: &[Range<usize>]) -> bool {
        let Some(Adaptive { capacity, .. }) = &self.adaptive else { return false };
        let best = self.best_main(active, ranges);
        let is_early = self.is_main(active[i]) && self.learned < REST_MAIN_FROM;
        best != Some(i) && !is_early && !capacity.notices_drifts(active[i])
    }

    /// The recent loss of each kind of nodes. The regressions that will have nodes of the best kind
    /// have few of them, so what counts is how well few nodes do.
    fn kind_losses(&self, active: &[usize], ranges: &[Range<usize>]) -> Vec<(NodeKind, f64)> {
        let mains = (0..active.len()).filter(|i| self.is_main(active[*i]));
        let few = self.config.linear() + LEAST_NODES;
        mains
            .map(|i| {
                let sizes = self.regressions[i].readouts();
                let nested = sizes.iter().filter(|size| **size <= few).count().max(1) - 1;
                let loss = self.combiner.recent_loss(ranges[i].start + nested);
                (self.regressions[i].plan().kind, loss)
            })
            .collect()
    }

    /// Carries out what a review has decided.
    fn change(
        &mut self,
        resting: &[usize],
        shrinking: &[usize],
        growing: Vec<usize>,
        kind: NodeKind,
        features: &mut BroadFeatures,
    ) -> Result<(), Error> {
        let learned = self.learned;
        let mut arranged = self.take_apart();
        let Some(Adaptive { capacity, .. }) = &mut self.adaptive else { return Ok(()) };
        for slot in resting {
            let before = arranged.remove(slot);
            let before = before.map_or(0, |before| before.regression.plan().features);
            capacity.status[*slot] = Status::Resting;
            capacity.record(learned, *slot, (before, 0), MemberEvent::Rested);
        }
        for slot in shrinking {
            if let Some(Arranged { regression, sources, losses }) = arranged.get_mut(slot) {
                let before = regression.plan().features;
                let order = capacity.halve(*slot, learned);
                let half = regression.prefix(order, &self.config)?;
                // A nested model that is new resembles the next larger one.
                let sizes = regression.readouts();
                let same = half.readouts().iter().map(|size| sizes.partition_point(|s| s < size));
                let same: Vec<usize> = same.collect();
                *sources = same.iter().map(|i| sources[*i]).collect();
                *losses = same.iter().map(|i| losses[*i]).collect();
                *regression = half;
                capacity.record(learned, *slot, (before, order), MemberEvent::Halved);
            }
        }
        growing.iter().for_each(|slot| capacity.double(*slot));
        let mut preparing = growing;
        let mut event = MemberEvent::Doubled;
        if kind != capacity.kind {
            capacity.kind = kind;
            event = MemberEvent::ChangedNodes;
            let others =
                |slot: &&usize| capacity.slots[**slot].kind.is_none() && !preparing.contains(*slot);
            let others: Vec<usize> = arranged.keys().filter(others).copied().collect();
            preparing.extend(others);
            // Labels are fed into nodes of one kind only.
            for slot in &preparing {
                if capacity.slots[*slot].plan.sees_labels {
                    arranged.remove(slot);
                    capacity.status[*slot] = Status::Resting;
                }
            }
        }
        self.put_together(arranged)?;
        self.prepare(&preparing, event, features)
    }

    /// Whether a slot is that of a regression on all samples with the usual ridge.
    fn is_main(&self, slot: usize) -> bool {
        let adaptive = self.adaptive.as_ref();
        adaptive.is_some_and(|adaptive| adaptive.capacity.slots[slot].kind.is_some())
    }

    /// The slots of the regressions.
    fn active(&self) -> Vec<usize> {
        self.adaptive.as_ref().map_or_else(Vec::new, |adaptive| adaptive.capacity.active())
    }

    /// The members that the nested models of each regression are.
    fn ranges(&self) -> Vec<Range<usize>> {
        let mut end = 0;
        let lengths = self.regressions.iter().map(|regression| regression.readouts().len());
        lengths
            .map(|length| {
                end += length;
                end - length..end
            })
            .collect()
    }

    /// All regressions, by their slots.
    fn take_apart(&mut self) -> BTreeMap<usize, Arranged> {
        let (slots, ranges) = (self.active(), self.ranges());
        let regressions = std::mem::take(&mut self.regressions).into_iter();
        let arranged = regressions.zip(ranges).map(|(regression, range)| {
            let losses = range.clone().map(|member| self.combiner.recent_loss(member)).collect();
            Arranged { regression, sources: range.collect(), losses }
        });
        slots.into_iter().zip(arranged).collect()
    }

    /// Makes these the regressions, in the order of their slots.
    fn put_together(&mut self, arranged: BTreeMap<usize, Arranged>) -> Result<(), Error> {
        let (mut sources, mut losses) = (Vec::new(), Vec::new());
        for member in arranged.into_values() {
            sources.extend(member.sources);
            losses.extend(member.losses);
            self.regressions.push(member.regression);
        }
        let before = self.combiner.members();
        if sources.iter().copied().eq(0..before) {
            // One that has taken the place of another may be larger, and works alone so far.
            self.share_threads(&self.threads.clone());
            return Ok(());
        }
        self.combiner.reshape(&sources, losses)?;
        let restart = self.restart.take();
        self.rearranged();
        // The comparison goes on with the members that stay; they are the last ones.
        if let (Some((_, mut old)), Some((_, new))) = (restart, &mut self.restart) {
            let start = before - old.others();
            let others = sources[sources.len() - new.others()..].iter();
            old.reshape(others.map(|source| source.checked_sub(start)));
            *new = old;
        }
        Ok(())
    }
}

impl JoiningRegression {
    /// Learns samples, and counts how well it would have predicted them.
    fn learn(&mut self, batch: &Batch) -> Result<(), Error> {
        let classes = batch.targets.len() / batch.weights.len().max(1);
        let Learned { scores, .. } = self.regression.learn(batch.view())?;
        let members = self.losses.len();
        let rows = scores.chunks_exact((members * classes).max(1));
        for (i, (rows, weight)) in rows.zip(&batch.weights).enumerate() {
            let targets = &batch.targets[i * classes..][..classes];
            let class = targets.iter().position(|target| *target == 1.0).unwrap_or(0);
            for (loss, row) in self.losses.iter_mut().zip(rows.chunks_exact(classes)) {
                let error = ErrorWeightedAverage::squared_error(row, class);
                *loss = ErrorWeightedAverage::decayed(*loss, *weight, error);
            }
        }
        Ok(())
    }
}

impl Adaptive {
    /// Saves it, with what the regressions are that take part.
    pub(super) fn save(&self, regressions: &[RidgeRegression], to: &mut WriteScope<'_>) {
        let plans = || regressions.iter().map(RidgeRegression::plan);
        let mut own = to.scope("regressions");
        own.integers("features", plans().map(|plan| plan.features as u64).collect());
        own.integers("kinds", plans().map(|plan| plan.kind.index() as u64).collect());
        self.capacity.save(&mut to.scope("capacity"));
        self.recent.save(&mut to.scope("recent"));
    }

    pub(super) fn restore(
        &mut self,
        from: &ReadScope<'_>,
        config: &OnlineBlsConfig,
        inputs: usize,
        classes: usize,
        learned: u64,
    ) -> Result<(), ModelFileError> {
        self.capacity.restore(&from.scope("capacity")?, config, inputs, classes)?;
        self.recent.restore(&from.scope("recent")?, inputs, classes, learned)?;
        Ok(())
    }
}
