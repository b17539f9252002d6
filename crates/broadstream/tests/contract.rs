//! The contract that every `Classifier` keeps, checked for each of them on the same streams.

use broadstream::{
    Block, ClassWeight, Classifier, Contestant, EnhancementSource, Error, Forgetting, InputKind,
    Nodes, OnlineBls, OnlineBlsConfig, PrequentialOptions, Ridge, Sample, Scaling, Scores,
    baselines::{
        BroadBaseline, Eous, HedgeBackpropagation, HedgeOptions, IBls, Learner, Majority,
        MultilayerPerceptron, NetworkOptions, NoChange, PassiveAggressive, Perceptron,
        ScaledBaseline, ScaledBaselineConfig, Solver,
    },
    compare, evaluate,
    stream::{
        MemoryStream, Stream,
        synth::{Hyperplane, HyperplaneOptions},
    },
};

/// Small enough for many runs, with sizes that are not on a panel boundary.
fn small() -> OnlineBlsConfig {
    OnlineBlsConfig {
        feature_groups: 3,
        feature_nodes: 3,
        enhancement_nodes: Nodes::Fixed(31),
        ..OnlineBlsConfig::single()
    }
}

/// Several regressions whose predictions are combined, as small as [`small`].
fn several() -> OnlineBlsConfig {
    let OnlineBlsConfig { feature_groups, feature_nodes, enhancement_nodes, .. } = small();
    OnlineBlsConfig {
        feature_groups,
        feature_nodes,
        enhancement_nodes,
        ..OnlineBlsConfig::default()
    }
}

/// A model that chooses its own nodes and regressions.
fn adaptive() -> OnlineBlsConfig {
    OnlineBlsConfig { enhancement_nodes: Nodes::Auto, most_nodes: 260, ..several() }
}

fn online_bls(config: OnlineBlsConfig) -> Box<dyn Classifier> {
    Box::new(OnlineBls::new(config).unwrap())
}

fn broad<S: Solver + 'static>(config: OnlineBlsConfig) -> Box<dyn Classifier> {
    Box::new(BroadBaseline::<S>::new(config).unwrap())
}

fn scaled<L: Learner + 'static>(options: L::Options) -> Box<dyn Classifier> {
    Box::new(ScaledBaseline::<L>::new(ScaledBaselineConfig::default(), options).unwrap())
}

fn robust_perceptron() -> Box<dyn Classifier> {
    let config = ScaledBaselineConfig { scaling: Scaling::ROBUST, ..Default::default() };
    Box::new(ScaledBaseline::<Perceptron>::new(config, ()).unwrap())
}

fn network(seed: u64) -> NetworkOptions {
    NetworkOptions { hidden_layers: 3, hidden_nodes: 13, seed, ..NetworkOptions::default() }
}

fn hedge(seed: u64) -> HedgeOptions {
    HedgeOptions { network: network(seed), ..HedgeOptions::default() }
}

type Models = Vec<(&'static str, Box<dyn Classifier>)>;

/// Every model, under every configuration that takes a different path through the code.
fn models() -> Models {
    [online_bls_models(), baselines(), dense_baselines()].into_iter().flatten().collect()
}

fn online_bls_models() -> Models {
    vec![
        ("default", online_bls(small())),
        (
            "forgetting",
            online_bls(OnlineBlsConfig { forgetting: Forgetting::Fixed(0.98), ..small() }),
        ),
        (
            "refresh every 7",
            online_bls(OnlineBlsConfig {
                forgetting: Forgetting::Fixed(0.98),
                refresh_every: Some(7),
                ..small()
            }),
        ),
        ("kept weights", online_bls(OnlineBlsConfig { keep_weights: true, ..small() })),
        (
            "kept weights that forget",
            online_bls(OnlineBlsConfig {
                keep_weights: true,
                forgetting: Forgetting::Fixed(0.98),
                refresh_every: Some(7),
                ..small()
            }),
        ),
        (
            "corrected",
            online_bls(OnlineBlsConfig {
                correction_steps: 2,
                nested_models: 1,
                forgetting: Forgetting::Fixed(0.98),
                ..small()
            }),
        ),
        (
            "threads",
            online_bls(OnlineBlsConfig {
                threads: 2,
                enhancement_nodes: Nodes::Fixed(420),
                ..small()
            }),
        ),
        (
            "threads that forget",
            online_bls(OnlineBlsConfig {
                threads: 3,
                enhancement_nodes: Nodes::Fixed(420),
                forgetting: Forgetting::Fixed(0.98),
                refresh_every: Some(20),
                ..small()
            }),
        ),
        ("several", online_bls(several())),
        ("adaptive", online_bls(adaptive())),
        ("adaptive with threads", online_bls(OnlineBlsConfig { threads: 3, ..adaptive() })),
        (
            "adaptive, without label lags",
            online_bls(OnlineBlsConfig { label_lags: 0, ..adaptive() }),
        ),
        (
            "several, averaged",
            online_bls(OnlineBlsConfig { stacking: false, label_lags: 0, ..several() }),
        ),
        (
            "several, three labels and balanced classes",
            online_bls(OnlineBlsConfig {
                label_lags: 3,
                class_weight: ClassWeight::Balanced,
                ..several()
            }),
        ),
        (
            "several, threads and kept weights",
            online_bls(OnlineBlsConfig { threads: 2, keep_weights: true, ..several() }),
        ),
        (
            "several ridges",
            online_bls(OnlineBlsConfig {
                forgetting: Forgetting::Fixed(0.98),
                class_weight: ClassWeight::Auto,
                ..several()
            }),
        ),
        (
            "several forgettings of feature nodes",
            online_bls(OnlineBlsConfig {
                ridge: Ridge::Fixed(0.5),
                enhancement_source: EnhancementSource::FeatureNodes,
                ..several()
            }),
        ),
        ("one model", online_bls(OnlineBlsConfig { nested_models: 1, ..small() })),
        ("robust", online_bls(OnlineBlsConfig { scaling: Scaling::ROBUST, ..small() })),
        (
            "robust and frozen",
            online_bls(OnlineBlsConfig {
                scaling: Scaling::ROBUST,
                freeze_scaling_after: Some(90),
                ..small()
            }),
        ),
        ("min-max", online_bls(OnlineBlsConfig { scaling: Scaling::MinMax, ..small() })),
        ("unscaled", online_bls(OnlineBlsConfig { scaling: Scaling::None, ..small() })),
        (
            "frozen scaling",
            online_bls(OnlineBlsConfig { freeze_scaling_after: Some(20), ..small() }),
        ),
        (
            "paper",
            online_bls(OnlineBlsConfig {
                feature_nodes: 3,
                enhancement_nodes: Nodes::Fixed(40),
                ..OnlineBlsConfig::paper()
            }),
        ),
    ]
}

fn baselines() -> Models {
    vec![
        ("no-change", Box::new(NoChange::new())),
        ("majority", Box::new(Majority::new())),
        ("I-BLS", broad::<IBls>(small())),
        ("EOUS", broad::<Eous>(small())),
        ("robust EOUS", broad::<Eous>(OnlineBlsConfig { scaling: Scaling::ROBUST, ..small() })),
        ("perceptron", scaled::<Perceptron>(())),
        ("robust perceptron", robust_perceptron()),
        ("passive-aggressive", scaled::<PassiveAggressive>(Default::default())),
        ("multilayer perceptron", scaled::<MultilayerPerceptron>(network(0))),
        ("hedge backpropagation", scaled::<HedgeBackpropagation>(hedge(0))),
    ]
}

#[cfg(feature = "dense-baselines")]
fn dense_baselines() -> Models {
    use broadstream::baselines::{BlsCil, Refactorise, RiBls};
    vec![
        ("RI-BLS", broad::<RiBls>(small())),
        ("BLS-CIL", broad::<BlsCil>(small())),
        ("refactorise", broad::<Refactorise>(small())),
    ]
}

#[cfg(not(feature = "dense-baselines"))]
fn dense_baselines() -> Models {
    Vec::new()
}

/// Every kind of model that has a seed.
fn seeded(seed: u64) -> Models {
    let config = OnlineBlsConfig { seed, ..small() };
    vec![
        ("default", online_bls(config.clone())),
        ("several", online_bls(OnlineBlsConfig { seed, ..several() })),
        ("EOUS", broad::<Eous>(config)),
        ("multilayer perceptron", scaled::<MultilayerPerceptron>(network(seed))),
        ("hedge backpropagation", scaled::<HedgeBackpropagation>(hedge(seed))),
    ]
}

const INPUTS: usize = 5;

fn declare(model: &mut dyn Classifier) {
    for i in 0..INPUTS {
        let kind = if i == 4 { InputKind::Indicator } else { InputKind::Numeric };
        model.declare_input(&format!("x{i}"), kind).unwrap();
    }
}

/// Four classes that appear late, absent inputs, and weights that include 0.
fn samples() -> Block {
    let options = HyperplaneOptions { inputs: INPUTS, seed: 3, ..HyperplaneOptions::default() };
    let mut source = Hyperplane::new(options).unwrap().take(150);
    let mut plain = Block::new();
    source.read_block(&mut plain, 150).unwrap();
    let mut block = Block::new();
    for i in 0..plain.len() {
        let values = plain.sample(i).values();
        let class = (plain.class(i) + i / 40) % (i / 40 + 2);
        let weight = [1.0, 0.25, 3.0, 1.0, 0.0][i % 5];
        if i % 3 == 0 {
            let inputs = [0, 2, 4];
            let present = inputs.map(|input: u32| values[input as usize]);
            block.push(Sample::sparse(&inputs, &present).unwrap(), class, weight).unwrap();
        } else {
            block.push(Sample::dense(values), class, weight).unwrap();
        }
    }
    block
}

fn part(block: &Block, range: std::ops::Range<usize>) -> Block {
    let mut part = Block::new();
    for i in range {
        part.push(block.sample(i), block.class(i), block.weight(i)).unwrap();
    }
    part
}

/// The scores of a run in blocks of a given size.
fn run(model: &mut dyn Classifier, samples: &Block, size: usize) -> Vec<Vec<u64>> {
    let mut scores = Scores::new();
    for start in (0..samples.len()).step_by(size) {
        let end = samples.len().min(start + size);
        model.test_then_train(&part(samples, start..end), &mut scores).unwrap();
    }
    scores.iter().map(|row| row.iter().map(|score| score.to_bits()).collect()).collect()
}

#[test]
fn predicting_works_before_learning_and_changes_nothing() {
    let samples = samples();
    for (name, mut model) in models() {
        declare(&mut *model);
        assert_eq!(model.predict_one(samples.sample(0)).unwrap(), None, "{name}");
        assert!(model.predict_proba_one(samples.sample(0)).unwrap().is_empty(), "{name}");
        for i in 0..samples.len() {
            let first = model.scores_one(samples.sample(i)).unwrap();
            assert_eq!(model.scores_one(samples.sample(i)).unwrap(), first, "{name}, sample {i}");
            model.learn_one(samples.sample(i), samples.class(i), samples.weight(i)).unwrap();
        }
    }
}

#[test]
fn a_block_equals_its_samples_one_by_one() {
    let samples = samples();
    for position in 0..models().len() {
        let make = || {
            let (name, mut model) = models().swap_remove(position);
            declare(&mut *model);
            (name, model)
        };
        let (name, mut one_by_one) = make();
        let mut expected = Vec::new();
        for i in 0..samples.len() {
            let scores = one_by_one.scores_one(samples.sample(i)).unwrap();
            expected.push(scores.iter().map(|score| score.to_bits()).collect::<Vec<_>>());
            one_by_one.learn_one(samples.sample(i), samples.class(i), samples.weight(i)).unwrap();
        }
        for size in [1, 2, 3, 4, 5, 8, 13, 64, 65, 150] {
            let (_, mut model) = make();
            assert!(run(&mut *model, &samples, size) == expected, "{name}, blocks of {size}");
        }
        let (_, mut learned) = make();
        learned.learn_many(&samples).unwrap();
        for i in 0..10 {
            let x = samples.sample(i);
            assert_eq!(learned.scores_one(x).unwrap(), one_by_one.scores_one(x).unwrap(), "{name}");
        }
    }
}

#[test]
fn classes_compete_only_once_they_were_seen() {
    let samples = samples();
    for (name, mut model) in models() {
        declare(&mut *model);
        let scores = run(&mut *model, &samples, 64);
        let mut seen = 0;
        for (i, row) in scores.iter().enumerate() {
            assert_eq!(row.len(), seen, "{name}, sample {i}");
            seen = seen.max(samples.class(i) + 1);
        }
        assert_eq!(model.classes(), seen, "{name}");
    }
}

#[test]
fn probabilities_are_distributions() {
    let samples = samples();
    for (name, mut model) in models() {
        declare(&mut *model);
        for i in 0..samples.len() {
            model.learn_one(samples.sample(i), samples.class(i), samples.weight(i)).unwrap();
            let probabilities = model.predict_proba_one(samples.sample(i)).unwrap();
            assert_eq!(probabilities.len(), model.classes(), "{name}");
            assert!(probabilities.iter().all(|p| (0.0..=1.0).contains(p)), "{name}");
            assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{name}");
        }
    }
}

#[test]
fn a_refused_call_leaves_no_trace() {
    let samples = samples();
    for (name, mut model) in models() {
        declare(&mut *model);
        model.learn_many(&part(&samples, 0..70)).unwrap();
        let before = model.scores_one(samples.sample(80)).unwrap();
        let classes = model.classes();
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let x = Sample::dense(std::slice::from_ref(&value));
            assert!(matches!(model.scores_one(x), Err(Error::InputNotFinite { .. })), "{name}");
            assert!(model.learn_one(x, 0, 1.0).is_err(), "{name}");
        }
        let unknown = Sample::sparse(&[9], &[1.0]).unwrap();
        assert!(matches!(model.scores_one(unknown), Err(Error::UnknownInput { .. })), "{name}");
        let mut bad = part(&samples, 70..75);
        bad.push(unknown, 0, 1.0).unwrap();
        let mut scores = Scores::new();
        assert!(model.learn_many(&bad).is_err(), "{name}");
        assert!(model.test_then_train(&bad, &mut scores).is_err(), "{name}");
        assert!(scores.is_empty(), "{name}");
        let mut gap = part(&samples, 70..75);
        gap.push(samples.sample(0), classes + 1, 1.0).unwrap();
        assert!(matches!(model.learn_many(&gap), Err(Error::ClassGap { .. })), "{name}");
        assert!(model.learn_one(samples.sample(0), 0, -1.0).is_err(), "{name}");
        assert!(model.learn_one(samples.sample(0), 0, f64::NAN).is_err(), "{name}");
        assert_eq!(model.scores_one(samples.sample(80)).unwrap(), before, "{name}");
        assert_eq!(model.classes(), classes, "{name}");
    }
}

#[test]
fn extreme_inputs_are_learned_or_refused_but_never_break_a_model() {
    let samples = samples();
    for (name, mut model) in models() {
        declare(&mut *model);
        model.learn_many(&part(&samples, 0..50)).unwrap();
        for value in [1e300, -1e300, f64::MAX, f64::MIN_POSITIVE, 5e-324, -0.0, 1e14] {
            for x in [[value, 0.1, 0.2, 0.3, 1.0], [0.1, 0.2, 0.3, 0.4, value]] {
                let learned = model.learn_one(Sample::dense(&x), 0, 1.0);
                let sound = match &learned {
                    Ok(()) => true,
                    Err(error) => matches!(
                        error,
                        Error::InputTooLarge { .. }
                            | Error::StepTooLarge { .. }
                            | Error::Singular { .. }
                    ),
                };
                assert!(sound, "{name}: {value} gave {learned:?}");
                let scores = model.scores_one(samples.sample(60)).unwrap();
                assert!(scores.iter().all(|s| s.is_finite()), "{name}: {value} gave {scores:?}");
            }
        }
    }
}

#[test]
fn a_block_whose_last_sample_is_refused_leaves_no_trace() {
    let samples = samples();
    let mut refusing = Vec::new();
    for (name, mut model) in models() {
        declare(&mut *model);
        model.learn_many(&part(&samples, 0..70)).unwrap();
        let before = model.scores_one(samples.sample(80)).unwrap();
        // No check can foresee that a gradient step of this weight would be too large.
        let mut block = part(&samples, 70..75);
        block.push(samples.sample(76), 0, 1e12).unwrap();
        let mut scores = Scores::new();
        if model.test_then_train(&block, &mut scores).is_err() {
            assert!(scores.is_empty(), "{name}");
            assert_eq!(model.scores_one(samples.sample(80)).unwrap(), before, "{name}");
            refusing.push(name);
        }
        let after = model.scores_one(samples.sample(80)).unwrap();
        assert!(after.iter().all(|score| score.is_finite()), "{name}: {after:?}");
    }
    assert!(refusing.contains(&"multilayer perceptron"), "{refusing:?}");
    assert!(refusing.contains(&"hedge backpropagation"), "{refusing:?}");
}

#[test]
fn a_seed_repeats_and_another_differs() {
    let samples = samples();
    for position in 0..seeded(0).len() {
        let scores = |seed| {
            let (name, mut model) = seeded(seed).swap_remove(position);
            declare(&mut *model);
            (name, run(&mut *model, &samples, 16))
        };
        assert!(scores(1) == scores(1), "{}", scores(1).0);
        assert!(scores(1) != scores(2), "{}", scores(1).0);
    }
}

#[test]
fn inputs_may_come_late_and_in_any_order() {
    for position in 0..seeded(0).len() {
        let make = || seeded(0).swap_remove(position);
        let (name, forward) = make();
        late_inputs_in_any_order(name, forward, make().1);
    }
}

/// Learns the same stream with the inputs declared in reverse, some of them only when needed.
fn late_inputs_in_any_order(
    name: &str,
    mut forward: Box<dyn Classifier>,
    mut backward: Box<dyn Classifier>,
) {
    let samples = samples();
    declare(&mut *forward);
    for i in [4, 2, 0] {
        let kind = if i == 4 { InputKind::Indicator } else { InputKind::Numeric };
        backward.declare_input(&format!("x{i}"), kind).unwrap();
    }
    let position = [2, 4, 1, 3, 0];
    // Both layers scale by the inputs of the first sample, which has three.
    for i in 0..samples.len() {
        if i == 1 {
            backward.declare_input("x3", InputKind::Numeric).unwrap();
            backward.declare_input("x1", InputKind::Numeric).unwrap();
        }
        let mut pairs: Vec<(u32, f64)> =
            samples.sample(i).iter().map(|(input, x)| (position[input], x)).collect();
        pairs.sort_by_key(|(input, _)| *input);
        let (inputs, values): (Vec<u32>, Vec<f64>) = pairs.into_iter().unzip();
        let x = Sample::sparse(&inputs, &values).unwrap();
        let expected = forward.scores_one(samples.sample(i)).unwrap();
        for (found, expected) in backward.scores_one(x).unwrap().iter().zip(&expected) {
            let near = (found - expected).abs() < 1e-9;
            assert!(near, "{name}, sample {i}: {found} is not {expected}");
        }
        forward.learn_one(samples.sample(i), samples.class(i), samples.weight(i)).unwrap();
        backward.learn_one(x, samples.class(i), samples.weight(i)).unwrap();
    }
}

#[test]
fn a_weight_of_zero_changes_nothing() {
    let samples = samples();
    for (name, mut model) in models() {
        declare(&mut *model);
        model.learn_many(&part(&samples, 0..60)).unwrap();
        let before = model.scores_one(samples.sample(70)).unwrap();
        for i in 0..60 {
            model.learn_one(samples.sample(i), samples.class(i), 0.0).unwrap();
        }
        assert_eq!(model.scores_one(samples.sample(70)).unwrap(), before, "{name}");
    }
}

#[test]
fn features_before_the_first_sample_are_those_it_is_learned_with() {
    let mut model = OnlineBls::new(OnlineBlsConfig { scaling: Scaling::None, ..small() }).unwrap();
    declare(&mut model);
    let x = Sample::dense(&[0.1, 0.2, 0.3, 0.4, 1.0]);
    let before = model.features_one(x).unwrap();
    model.learn_one(x, 0, 1.0).unwrap();
    assert_eq!(model.features_one(x).unwrap(), before);
}

#[test]
fn an_evaluation_wants_a_new_model() {
    let stream = || Hyperplane::new(HyperplaneOptions::default()).unwrap().take(50);
    let options = PrequentialOptions::default();
    let mut model = OnlineBls::new(small()).unwrap();
    evaluate(&mut stream(), &mut model, &options).unwrap();
    let refused = evaluate(&mut stream(), &mut model, &options);
    assert!(matches!(refused, Err(Error::Config { option: "model", .. })));
}

#[test]
fn an_input_is_declared_once() {
    for (model_name, mut model) in models() {
        // These two ignore the inputs.
        if ["no-change", "majority"].contains(&model_name) {
            continue;
        }
        model.declare_input("a", InputKind::Numeric).unwrap();
        let refused = model.declare_input("a", InputKind::Indicator);
        assert!(matches!(refused, Err(Error::DuplicateInput { name }) if name == "a"));
        assert_eq!(model.inputs(), 1, "{model_name}");
    }
}

#[test]
fn memory_is_bounded() {
    let enough_for_nodes = OnlineBlsConfig { memory_limit: 100_000, ..small() };
    let mut model = OnlineBls::new(enough_for_nodes).unwrap();
    let refused = (0..).find_map(|i: u32| {
        model.declare_input(&i.to_string(), InputKind::Numeric).err().map(|error| (i, error))
    });
    let Some((declared, Error::Memory { what: "the inputs", limit: 100_000, .. })) = refused else {
        panic!("expected the memory limit, got {refused:?}");
    };
    assert_eq!(model.inputs(), declared as usize);
}

#[test]
fn shuffling_depends_on_the_seed_alone() {
    let read = |seed| {
        let options = HyperplaneOptions { inputs: 2, ..HyperplaneOptions::default() };
        let mut source = Hyperplane::new(options).unwrap().take(200);
        let mut stream = MemoryStream::read(&mut source, None).unwrap();
        stream.shuffle(seed);
        let mut block = Block::new();
        while stream.read_block(&mut block, 33).unwrap() > 0 {}
        let rows: Vec<_> = (0..block.len())
            .map(|i| {
                let label = stream.schema().labels()[block.class(i)].clone();
                (block.sample(i).values()[0].to_bits(), label)
            })
            .collect();
        assert_eq!(block.class(0), 0, "classes are numbered by first appearance");
        rows
    };
    assert_eq!(read(1), read(1));
    assert_ne!(read(1), read(2));
    let sorted = |mut rows: Vec<_>| {
        rows.sort();
        rows
    };
    assert_eq!(sorted(read(1)), sorted(read(2)), "shuffling loses and invents nothing");
}

#[test]
fn threads_and_kept_weights_do_not_change_the_model() {
    let samples = samples();
    let config = OnlineBlsConfig {
        enhancement_nodes: Nodes::Fixed(450),
        forgetting: Forgetting::Fixed(0.98),
        ..small()
    };
    let learned = |config: OnlineBlsConfig| {
        let mut model = OnlineBls::new(config).unwrap();
        declare(&mut model);
        let scores = run(&mut model, &samples, 64);
        (model.weights().into_values(), scores)
    };
    let several = OnlineBlsConfig { enhancement_nodes: Nodes::Fixed(450), ..several() };
    for config in [config.clone(), several] {
        let alone = learned(config.clone());
        for threads in 2..=4 {
            assert!(learned(OnlineBlsConfig { threads, ..config.clone() }) == alone);
        }
    }
    let (weights, scores) = learned(config.clone());
    let (kept, kept_scores) = learned(OnlineBlsConfig { keep_weights: true, ..config });
    for (kept, solved) in kept.iter().zip(&weights) {
        assert!((kept - solved).abs() < 1e-11, "{kept} is not {solved}");
    }
    for (kept, swept) in kept_scores.iter().flatten().zip(scores.iter().flatten()) {
        assert!((f64::from_bits(*kept) - f64::from_bits(*swept)).abs() < 1e-11);
    }
}

#[test]
fn models_side_by_side_do_as_they_would_alone() {
    let stream = || {
        let options = HyperplaneOptions { inputs: INPUTS, ..HyperplaneOptions::default() };
        Hyperplane::new(options).unwrap().take(300)
    };
    let clock = || std::time::Duration::ZERO;
    for separate_times in [false, true] {
        let options = PrequentialOptions { separate_times, ..PrequentialOptions::default() };
        let mut models = models();
        let mut observers = vec![(); models.len()];
        let mut contestants: Vec<Contestant<'_>> = models
            .iter_mut()
            .zip(&mut observers)
            .map(|((_, model), observer)| Contestant { model: &mut **model, observer })
            .collect();
        let together = compare(&mut stream(), &mut contestants, &options, &clock).unwrap();
        for ((name, mut model), together) in self::models().into_iter().zip(together) {
            let alone = evaluate(&mut stream(), &mut *model, &options).unwrap();
            let log_losses =
                (alone.metrics.summary().log_loss, together.metrics.summary().log_loss);
            assert_eq!(log_losses.0, log_losses.1, "{name}");
            let timed = if separate_times { 300 } else { 0 };
            assert_eq!(together.times.updates.count(), timed, "{name}");
        }
    }
}

#[test]
fn absurd_weights_and_a_single_class_leave_probabilities_sound() {
    let mut model = OnlineBls::new(several()).unwrap();
    declare(&mut model);
    let x = [0.3, -1.0, 2.0, 1e300, 1.0];
    let sound = |model: &OnlineBls| {
        let probabilities = model.predict_proba_one(Sample::dense(&x)).unwrap();
        let sum: f64 = probabilities.iter().sum();
        assert!((sum - 1.0).abs() < 1e-12, "{probabilities:?}");
        assert!(probabilities.iter().all(|p| (0.0..=1.0).contains(p)), "{probabilities:?}");
    };
    for weight in [1e-12, 1.0, 1e12] {
        model.learn_one(Sample::dense(&x), 0, weight).unwrap();
        sound(&model);
    }
    assert_eq!(model.predict_proba_one(Sample::dense(&x)).unwrap(), [1.0]);
    for (i, weight) in [1.0, 1e12, 1e-12, 1.0, 1.0].into_iter().cycle().take(60).enumerate() {
        let x = [i as f64, -(i as f64), 1.0, 2.0, 0.0];
        model.learn_one(Sample::dense(&x), i % 3, weight).unwrap();
        sound(&model);
    }
}
