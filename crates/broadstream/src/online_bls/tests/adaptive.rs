//! Models that choose their own regressions and nodes.

use crate::{
    Block, Classifier, InputKind, MemberEvent, Nodes, OnlineBls, OnlineBlsConfig, Sample, Scores,
    features::NodeKind,
    numeric::{Random, Threads},
    preprocessing::ScaledSample,
    regression::{BatchView, RidgeRegression},
};

const INPUTS: [&str; 4] = ["a", "b", "c", "d"];

fn config(most_nodes: usize) -> OnlineBlsConfig {
    OnlineBlsConfig {
        feature_groups: 2,
        feature_nodes: 3,
        enhancement_nodes: Nodes::Auto,
        most_nodes,
        inputs_per_sample: Some(4),
        ..OnlineBlsConfig::default()
    }
}

fn model(config: OnlineBlsConfig) -> OnlineBls {
    let mut model = OnlineBls::new(config).unwrap();
    INPUTS.iter().for_each(|name| model.declare_input(name, InputKind::Numeric).unwrap());
    model
}

/// Samples whose class follows a rule. Some lack an input, weights differ, and a class appears late.
fn samples(count: usize, rule: impl Fn(usize, &[f64; 4]) -> bool) -> Block {
    let mut random = Random::new(1, "samples", "");
    let mut block = Block::new();
    for i in 0..count {
        let x: [f64; 4] = std::array::from_fn(|_| random.signed_unit());
        let class = if i == 0 { 0 } else { usize::from(rule(i, &x)) };
        let class = if i > 700 && x[0] > 0.9 { 2 } else { class };
        let weight = [1.0, 0.5, 2.0, 1.0, 0.0][i % 5];
        match i % 9 {
            3 => {
                block.push(Sample::sparse(&[0, 1, 3], &[x[0], x[1], x[3]]).unwrap(), class, weight)
            }
            _ => block.push(Sample::dense(&x), class, weight),
        }
        .unwrap();
    }
    block
}

/// A rule that takes many nodes to learn.
fn is_odd_cell(x: &[f64; 4]) -> bool {
    x.iter().map(|x| (2.5 * (x + 1.0)) as usize).sum::<usize>() % 2 == 1
}

/// The scores of all samples, learned in blocks of that size, and the model afterwards.
fn run(config: OnlineBlsConfig, block: &Block, size: usize) -> (Scores, OnlineBls) {
    let mut model = model(config);
    let (mut scores, mut part) = (Scores::new(), Block::new());
    for i in 0..block.len() {
        part.push(block.sample(i), block.class(i), block.weight(i)).unwrap();
        if part.len() == size || i + 1 == block.len() {
            model.test_then_train(&part, &mut scores).unwrap();
            part.clear();
        }
    }
    (scores, model)
}

fn has(model: &OnlineBls, event: MemberEvent) -> bool {
    model.changes().iter().any(|change| change.event == event)
}

#[test]
fn blocks_and_threads_change_nothing() {
    // After a drift the opposite is true.
    let block = samples(3000, |i, x| (x[0] + x[1] > 0.0) == (i < 1600));
    let (expected, model) = run(config(500), &block, 64);
    for event in [MemberEvent::Joined, MemberEvent::Rested, MemberEvent::ReturnedAfterDrift] {
        assert!(has(&model, event), "{event:?} is not among {:?}", model.changes());
    }
    for (size, threads) in [(1, 1), (7, 2), (64, 4), (1000, 2), (3000, 1)] {
        let (scores, other) = run(OnlineBlsConfig { threads, ..config(500) }, &block, size);
        assert_eq!(other.changes(), model.changes(), "blocks of {size}, {threads} threads");
        assert!(scores == expected, "blocks of {size}, {threads} threads");
    }
}

/// Whenever it has joined, and however large it has become, a regression on all samples is the one that
/// has learned all of them with its nodes.
#[test]
fn each_regression_is_what_it_would_be_alone() {
    let block = samples(2500, |_, x| is_odd_cell(x));
    let mut model = model(config(1000));
    let mut seen: Vec<(ScaledSample, usize, f64)> = Vec::new();
    for i in 0..block.len() {
        let (x, class, weight) = (block.sample(i), block.class(i), block.weight(i));
        if weight > 0.0 {
            seen.push((model.features.prepare(x).unwrap().scaled().clone(), class, weight));
        }
        model.learn_one(x, class, weight).unwrap();
    }
    assert!(has(&model, MemberEvent::Doubled), "{:?}", model.changes());
    let classes = model.classes();
    let mut kinds = Vec::new();
    let plans = model.ensemble.regressions().iter().map(RidgeRegression::plan);
    for (i, plan) in plans.enumerate().filter(|(_, plan)| plan.forgetting == 1.0) {
        let mut alone = RidgeRegression::new(plan.clone(), &model.config, &Threads::default());
        alone.add_classes(classes);
        for (x, class, weight) in &seen {
            let mut features = Default::default();
            model.features.of_scaled(std::iter::once(x), &mut features);
            let targets: Vec<f64> =
                (0..classes).map(|k| f64::from(u8::from(k == *class))).collect();
            let batch = BatchView { features: &features, targets: &targets, weights: &[*weight] };
            alone.learn(batch).unwrap();
        }
        assert_eq!(alone.weights(), model.ensemble.regressions()[i].weights(), "{}", plan.name);
        kinds.push(plan.kind);
    }
    assert!(kinds.iter().any(|kind| *kind != NodeKind::Random), "{kinds:?}");
}

/// Streams that tell nothing, or the opposite every time it is looked at.
#[test]
fn capacity_neither_oscillates_nor_runs_away() {
    let mut random = Random::new(2, "streams", "");
    let mut point = || -> [f64; 4] { std::array::from_fn(|_| random.signed_unit()) };
    type Labelled = Vec<([f64; 4], usize)>;
    let streams: [(&str, Labelled); 5] = [
        ("constant", (0..6000).map(|_| ([1.0; 4], 0)).collect()),
        ("one class", (0..6000).map(|_| (point(), 0)).collect()),
        ("noise", (0..6000).map(|i| (point(), usize::from(i * i % 7 < 3))).collect()),
        ("alternating", (0..6000).map(|i| (point(), i % 2)).collect()),
        // Easy and hard in turns, each for as long as reviews are apart.
        (
            "switching",
            (0..12_000)
                .map(|i| {
                    let x = point();
                    let is_easy = i / 1024 % 2 == 0;
                    (x, usize::from(if is_easy { x[0] > 0.0 } else { is_odd_cell(&x) }))
                })
                .collect(),
        ),
    ];
    for (name, samples) in streams {
        let mut model = model(config(500));
        let mut block = Block::new();
        for (x, class) in &samples {
            // Classes are numbered in the order of their appearance.
            block.push(Sample::dense(x), class ^ samples[0].1, 1.0).unwrap();
        }
        let mut scores = Scores::new();
        model.test_then_train(&block, &mut scores).unwrap();
        assert!(scores.iter().flatten().all(|score| score.is_finite()), "{name}");
        let members = model.members().len();
        for member in model.members() {
            let changes = model.changes().iter().filter(|change| change.member == member.name);
            let resized = changes.filter(|change| {
                matches!(change.event, MemberEvent::Doubled | MemberEvent::Halved)
            });
            assert!(resized.count() <= 8, "{name}: {} in {:?}", member.name, model.changes());
        }
        // A member can rest and return once between two reviews.
        let most = members * samples.len() / 512;
        assert!(model.changes().len() < most, "{name}: {:?}", model.changes());
        let bytes = model.ensemble.bytes(INPUTS.len(), 2);
        assert!(bytes < 40 << 20, "{name}: {bytes} bytes");
    }
}

/// A class that is new late finds members at rest, and changes little.
#[test]
fn a_class_that_is_new_after_long_causes_few_changes() {
    let mut random = Random::new(3, "late class", "");
    let mut model = model(config(60));
    let mut block = Block::new();
    let mut before = 0;
    for i in 0..52_000 {
        let x: [f64; 4] = std::array::from_fn(|_| random.signed_unit());
        let class = if i >= 50_000 && x[2] > 0.5 { 2 } else { usize::from(i > 0 && x[0] > 0.0) };
        block.push(Sample::dense(&x), class, 1.0).unwrap();
        if block.len() == 1000 {
            model.learn_many(&block).unwrap();
            block.clear();
        }
        if i == 49_999 {
            before = model.changes().len();
        }
    }
    let members = model.members().len();
    assert_eq!(model.classes(), 3);
    assert!(before < 8 * members, "{before}");
    let after = model.changes().len() - before;
    assert!(after <= 4 * members, "{after} changes: {:?}", &model.changes()[before..]);
}

/// What each member has follows from the changes, and there are no others.
#[test]
fn changes_tell_both_sizes() {
    let block = samples(3000, |i, x| (x[0] + x[1] > 0.0) == (i < 1600));
    let (_, model) = run(config(500), &block, 64);
    for change in model.changes() {
        let (before, after) = (change.features_before, change.features);
        match change.event {
            MemberEvent::Rested => assert!(before > 0 && after == 0, "{change:?}"),
            MemberEvent::Joined | MemberEvent::ReturnedForComparison => {
                assert!(before == 0 && after > 0, "{change:?}");
            }
            MemberEvent::Doubled => assert!(0 < before && before < after, "{change:?}"),
            MemberEvent::Halved => assert!(0 < after && after < before, "{change:?}"),
            _ => assert!(after > 0, "{change:?}"),
        }
    }
}

/// Growth stops at the memory limit, whatever the blocks, and no error follows from it.
#[test]
fn no_member_begins_or_grows_beyond_the_memory_limit() {
    let block = samples(2500, |_, x| is_odd_cell(x));
    let (_, free) = run(config(1000), &block, 64);
    assert!(has(&free, MemberEvent::Doubled), "{:?}", free.changes());
    let begins = config(1000).bytes(INPUTS.len(), 3) as u64;
    for limit in [begins * 8 / 7 + 1, begins * 8 / 7 + (2 << 20), begins * 2] {
        let limited = OnlineBlsConfig { memory_limit: limit, ..config(1000) };
        let (expected, model) = run(limited.clone(), &block, 64);
        assert!(model.ensemble.bytes(INPUTS.len(), 3) <= u128::from(limit), "{limit}");
        let (scores, other) = run(OnlineBlsConfig { threads: 2, ..limited }, &block, 7);
        assert_eq!(other.changes(), model.changes(), "{limit}");
        assert!(scores == expected, "{limit}");
        if limit == begins * 8 / 7 + 1 {
            assert!(!has(&model, MemberEvent::Joined), "{:?}", model.changes());
        }
    }
    let refused = OnlineBls::new(OnlineBlsConfig { memory_limit: begins / 4, ..config(1000) });
    assert!(refused.is_err());
}
