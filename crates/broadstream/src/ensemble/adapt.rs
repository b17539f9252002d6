//! How an ensemble changes its regressions, as [`Capacity`](super::capacity::Capacity) explains.

use std::{collections::BTreeMap, ops::Range};

use super::{
    Adaptive, Ensemble,
    capacity::{
        GROW, JoiningRegression, REST, REST_ALL, REST_MAIN_FROM, SHED, SHED_FROM, Status, WARM_UP,
    },
    error_weighted_average::ErrorWeightedAverage,
    plan::LEAST_NODES,
};
use crate::{
    classifier::MemberEvent,
    config::OnlineBlsConfig,
    error::{Error, ModelFileError},
    features::{BroadFeatures, NodeKind},
    preprocessing::ScaledSample,
    regression::{Batch, Learned, RidgeRegression},
    state::{ReadScope, WriteScope},
};

/// After a multiple of this many samples something may change.
const EVERY: u64 = 64;

/// How many recent samples a joining regression learns after each `EVERY` new ones.
const REPLAYED: usize = 256;

/// How many of them are learned at once.
const BLOCK: usize = 64;

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
        let Some(Adaptive { capacity, has_restarted, .. }) = &mut self.adaptive else {
            return Ok(());
        };
        if learned == 0 || !learned.is_multiple_of(EVERY) {
            return Ok(());
        }
        if capacity.joining.is_some() {
            return self.catch_up(features);
        }
        if learned == WARM_UP {
            return self.try_other_nodes(features);
        }
        let drift = std::mem::take(has_restarted);
        if let Some(event) = capacity.is_return_due(learned, drift) {
            let resting = capacity.with(Status::Resting);
            return self.prepare(&resting, event, features);
        }
        if capacity.is_review_due(learned) { self.review(features) } else { Ok(()) }
    }

    /// Draws nodes from the first samples, and prepares regressions on them.
    fn try_other_nodes(&mut self, features: &mut BroadFeatures) -> Result<(), Error> {
        let Some(Adaptive { capacity, recent, .. }) = &mut self.adaptive else { return Ok(()) };
        features.sample_nodes_from(recent.oldest(WARM_UP as usize));
        let unused = capacity.with(Status::Unused);
        self.prepare(&unused, MemberEvent::Joined, features)
    }

    /// Starts to prepare regressions for taking part. Those that would need samples which are no
    /// longer kept stay as they are.
    fn prepare(
        &mut self,
        slots: &[usize],
        event: MemberEvent,
        features: &mut BroadFeatures,
    ) -> Result<(), Error> {
        let (learned, classes) = (self.learned, self.classes);
        let Some(Adaptive { capacity, recent, .. }) = &mut self.adaptive else { return Ok(()) };
        let kept = |slot: &usize| {
            let remembers = capacity.slots[*slot].plan.forgetting == 1.0;
            !remembers || recent.first() == 0 || event == MemberEvent::Doubled
        };
        let slots: Vec<usize> = slots.iter().copied().filter(kept).collect();
        for slot in &slots {
            capacity.record(learned, *slot, capacity.features[*slot], event);
        }
        capacity.prepare(&slots, learned, &self.config, classes);
        self.fit_features(features);
        Ok(())
    }

    /// Gives the features the nodes that the regressions need, and no others.
    fn fit_features(&self, features: &mut BroadFeatures) {
        let Some(Adaptive { capacity, .. }) = &self.adaptive else { return };
        let joining = capacity.joining.iter().flat_map(|joining| &joining.members);
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

    /// Lets joining regressions learn some of the samples that they lack.
    fn catch_up(&mut self, features: &mut BroadFeatures) -> Result<(), Error> {
        let Some(Adaptive { capacity, recent, .. }) = &mut self.adaptive else { return Ok(()) };
        let Some(joining) = &mut capacity.joining else { return Ok(()) };
        joining.next = joining.next.max(recent.first());
        let end = recent.end().min(joining.next + REPLAYED as u64);
        while joining.next < end {
            let most = BLOCK.min((end - joining.next) as usize);
            let batch = recent.batch(joining.next, most, features, self.classes);
            joining.next += batch.weights.len() as u64;
            let reached = joining.next;
            let members = joining.members.iter_mut().filter(|member| member.first < reached);
            let mut outcomes: Vec<(&mut JoiningRegression, Result<(), Error>)> =
                members.map(|member| (member, Ok(()))).collect();
            self.threads.spread(outcomes.iter_mut(), |(member, outcome)| {
                *outcome = member.learn(&batch);
            });
            outcomes.into_iter().try_for_each(|(_, outcome)| outcome)?;
        }
        if joining.next < recent.end() {
            return Ok(());
        }
        let members = capacity.joining.take().map(|joining| joining.members);
        self.join(members.unwrap_or_default())?;
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
        for JoiningRegression { slot, regression, losses, .. } in joining {
            // Nested models resemble the earlier ones of the same regression, or those of the first
            // regression on all samples; the largest resembles the largest.
            let like = active.iter().position(|other| *other == slot);
            let like = like.map_or(&main, |i| &ranges[i]);
            let count = regression.readouts().len();
            let source = |i: usize| like.end - 1 - (count - 1 - i).min(like.len() - 1);
            let sources = (0..count).map(source).collect();
            arranged.insert(slot, Arranged { regression, sources, losses });
            if let Some(Adaptive { capacity, .. }) = &mut self.adaptive {
                capacity.status[slot] = Status::Active;
            }
        }
        self.put_together(arranged)
    }

    /// Decides which regressions rest, grow and shrink, and which kind of nodes they have.
    fn review(&mut self, features: &mut BroadFeatures) -> Result<(), Error> {
        let Some(stacking) = self.combiner.stacking() else { return Ok(()) };
        let Some(Adaptive { capacity, recent, .. }) = &self.adaptive else { return Ok(()) };
        let (ranges, active, linear) = (self.ranges(), self.active(), self.config.linear());
        let inverse = stacking.inverse()?;
        let without = |gone: &[usize], more: Range<usize>| {
            let all: Vec<usize> = gone.iter().copied().chain(more).collect();
            stacking.contribution(&inverse, &all)
        };

        // Rest: the least worth its features first, and then what is left without it.
        let mut stays: Vec<usize> = (0..active.len()).collect();
        let (mut gone, mut lost) = (Vec::new(), 0.0);
        loop {
            let candidates = stays.iter().filter(|i| self.may_rest(**i, &active, &ranges));
            let worth = candidates.map(|&i| {
                let total = without(&gone, ranges[i].clone());
                (i, total, (total - lost) / self.regressions[i].plan().features as f64)
            });
            let Some((i, total, worth)) = worth.min_by(|a, b| a.2.total_cmp(&b.2)) else { break };
            if worth >= REST || total >= REST_ALL {
                break;
            }
            gone.extend(ranges[i].clone());
            lost = total;
            stays.retain(|other| *other != i);
        }
        let rests = |i: &usize| !stays.contains(i);
        let resting: Vec<usize> = (0..active.len()).filter(rests).map(|i| active[i]).collect();

        // What each node of the second half is worth.
        let halves: Vec<(usize, f64)> = stays
            .iter()
            .filter(|i| ranges[**i].len() > 1)
            .map(|&i| {
                let total = without(&gone, ranges[i].end - 1..ranges[i].end);
                (active[i], (total - lost) / (capacity.features[active[i]] - linear) as f64)
            })
            .collect();
        let sheds = |(slot, worth): &&(usize, f64)| {
            *worth < SHED && self.learned >= SHED_FROM && capacity.may_shrink(*slot)
        };
        let shrinking: Vec<usize> = halves.iter().filter(sheds).map(|(slot, _)| *slot).collect();
        let mut growing: Vec<(usize, f64)> = halves;
        growing.retain(|(slot, worth)| *worth > GROW && capacity.may_grow(*slot, self.learned));
        growing.sort_by(|a, b| b.1.total_cmp(&a.1));
        // Regressions on all samples are large, and one that has grown may make up for the others.
        let mut grows_main = false;
        growing
            .retain(|(slot, _)| !self.is_main(*slot) || !std::mem::replace(&mut grows_main, true));
        let growing = growing.into_iter().map(|(slot, _)| slot).collect();
        let kind = if recent.first() == 0 {
            capacity.best_kind(&self.kind_losses(&active, &ranges))
        } else {
            capacity.kind
        };
        self.change(&resting, &shrinking, growing, kind, features)
    }

    /// Whether a regression may rest: not the best one on all samples, nor one that notices drifts.
    fn may_rest(&self, i: usize, active: &[usize], ranges: &[Range<usize>]) -> bool {
        let Some(Adaptive { capacity, .. }) = &self.adaptive else { return false };
        let loss = |i: &usize| self.combiner.recent_loss(ranges[*i].end - 1);
        let mains = (0..active.len()).filter(|i| self.is_main(active[*i]));
        let best = mains.min_by(|a, b| loss(a).total_cmp(&loss(b)));
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
            arranged.remove(slot);
            capacity.status[*slot] = Status::Resting;
            capacity.record(learned, *slot, 0, MemberEvent::Rested);
        }
        for slot in shrinking {
            if let Some(Arranged { regression, sources, losses }) = arranged.get_mut(slot) {
                let order = capacity.halve(*slot, learned);
                let half = regression.prefix(order, &self.config)?;
                // A nested model that is new resembles the next larger one.
                let sizes = regression.readouts();
                let same = half.readouts().iter().map(|size| sizes.partition_point(|s| s < size));
                let same: Vec<usize> = same.collect();
                *sources = same.iter().map(|i| sources[*i]).collect();
                *losses = same.iter().map(|i| losses[*i]).collect();
                *regression = half;
                capacity.record(learned, *slot, order, MemberEvent::Halved);
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
        let same = sources.iter().copied().eq(0..self.combiner.members());
        if !same {
            self.combiner.reshape(&sources, losses)?;
            self.rearranged();
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
        to.value("has_restarted", self.has_restarted);
    }

    pub(super) fn restore(
        &mut self,
        from: &ReadScope<'_>,
        config: &OnlineBlsConfig,
        inputs: usize,
        classes: usize,
        learned: u64,
    ) -> Result<(), ModelFileError> {
        self.capacity.restore(&from.scope("capacity")?, config, classes)?;
        self.recent.restore(&from.scope("recent")?, inputs, classes, learned)?;
        self.has_restarted = from.flag("has_restarted")?;
        Ok(())
    }
}
