use broadstream::{
    Block, Classifier, Forgetting, InputKind, Nodes, OnlineBls, OnlineBlsConfig, Partial, Sample,
    Scaling, Schema,
    model_file::{self, ModelFile},
};

use super::{INPUTS, configs, distance, model, samples};

/// The block with its classes numbered in order of appearance, and the original number of each.
fn renumbered(block: &Block) -> (Block, Vec<usize>) {
    let mut known: Vec<usize> = Vec::new();
    let mut new = Block::new();
    for i in 0..block.len() {
        let class = block.class(i);
        let number = known.iter().position(|known| *known == class).unwrap_or_else(|| {
            known.push(class);
            known.len() - 1
        });
        new.push(block.sample(i), number, block.weight(i)).unwrap();
    }
    (new, known)
}

#[test]
fn models_trained_apart_become_the_model_of_all_samples() {
    for config in configs() {
        let mut one = model(&config, &INPUTS);
        one.learn_many(&samples(0..300)).unwrap();
        let ranges = [0..90, 90..200, 200..300];
        // Each worker numbers classes on its own, and the merged model as the first worker does.
        for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
            let mut merged: Option<(OnlineBls, Vec<usize>)> = None;
            for part in order {
                let (block, meaning) = renumbered(&samples(ranges[part].clone()));
                let mut worker = model(&config, &INPUTS);
                worker.learn_many(&block).unwrap();
                let Some((model, known)) = &mut merged else {
                    merged = Some((worker, meaning));
                    continue;
                };
                let numbers: Vec<usize> = meaning
                    .iter()
                    .map(|class| {
                        known.iter().position(|k| k == class).unwrap_or_else(|| {
                            known.push(*class);
                            known.len() - 1
                        })
                    })
                    .collect();
                model.merge(&worker, &numbers).unwrap();
            }
            let (merged, known) = merged.unwrap();
            assert_eq!(merged.learned(), one.learned());
            let columns = |weights: Vec<f64>, order: &[usize]| -> Vec<f64> {
                weights.chunks(3).flat_map(|row| order.iter().map(|k| row[*k])).collect()
            };
            let expected = columns(one.weights().into_values(), &known);
            let apart = distance(merged.weights().values(), &expected);
            assert!(apart < 1e-9, "{} features, order {order:?}: {apart:e}", merged.features());
        }
    }
}

#[test]
fn inputs_that_only_one_of_them_saw_are_no_obstacle() {
    for config in configs() {
        let mut own = config.clone();
        if let Scaling::Given(given) = &mut own.scaling {
            given.remove("b");
        }
        let (mut one, mut left, mut right) =
            (model(&config, &INPUTS), model(&own, &["a"]), model(&config, &["c=red", "b"]));
        for i in 0..60_u32 {
            let (a, b) = (f64::from(i % 7), f64::from(i % 11) * 9.0);
            let class = usize::from(i % 5 < 2);
            let class = if i == 0 { 0 } else { class };
            one.learn_one(Sample::dense(&[a]), class, 1.0).unwrap();
            left.learn_one(Sample::dense(&[a]), class, 1.0).unwrap();
            one.learn_one(Sample::sparse(&[1, 2], &[b, 1.0]).unwrap(), class, 2.0).unwrap();
            right.learn_one(Sample::dense(&[1.0, b]), class, 2.0).unwrap();
        }
        left.merge(&right, &[0, 1]).unwrap();
        assert!(distance(left.weights().values(), one.weights().values()) < 1e-9);
        // It can be saved, with scalings that were given to only one of them.
        let mut bytes = Vec::new();
        ModelFile::new(&left, &Schema::new("y")).write(&mut bytes).unwrap();
        assert_eq!(model_file::read(&mut bytes.as_slice()).unwrap().model.config(), left.config());
        // The merged model has the inputs in another order, and predicts the same.
        let expected = one.features_one(Sample::dense(&[1.0, 2.0, 1.0])).unwrap();
        let found = left.features_one(Sample::dense(&[1.0, 1.0, 2.0])).unwrap();
        assert!(distance(&found, &expected) < 1e-12);
    }
}

#[test]
fn sums_without_a_model_make_the_same_model() {
    for config in configs() {
        let mut one = model(&config, &INPUTS);
        one.learn_many(&samples(0..300)).unwrap();
        let mut base = model(&config, &INPUTS);
        base.learn_many(&samples(0..100)).unwrap();
        let mut partials = Vec::new();
        for range in [100..250, 250..300] {
            let mut partial = Partial::like(&base).unwrap();
            for input in base.declared_inputs() {
                partial.declare_input(&input.name, input.kind).unwrap();
            }
            // Samples of weight 0 introduce the classes that others saw first.
            let mut announced = Block::new();
            for class in 0..3 {
                announced.push(Sample::dense(&[]), class, 0.0).unwrap();
            }
            partial.learn_many(&announced).unwrap();
            partial.learn_many(&samples(range)).unwrap();
            partials.push(partial);
        }
        let mut direct = base.clone();
        for partial in &partials {
            direct.merge_partial(partial, &[0, 1, 2]).unwrap();
        }
        assert!(distance(direct.weights().values(), one.weights().values()) < 1e-9);
        let [first, second] = &mut partials[..] else { unreachable!() };
        second.merge(first, &[0, 1, 2]).unwrap();
        let mut summed = second.clone().into_model().unwrap();
        assert_eq!(summed.learned(), 200);
        summed.merge(&base, &[0, 1, 2][..base.classes()]).unwrap();
        assert!(distance(summed.weights().values(), one.weights().values()) < 1e-9);
        assert_eq!(summed.class_totals().len(), one.class_totals().len());
    }
}

#[test]
fn sums_do_not_depend_on_blocks() {
    let config = configs().remove(2);
    let block = samples(0..150);
    let weights = |size: usize| {
        let mut partial = Partial::new(config.clone()).unwrap();
        for input in model(&config, &INPUTS).declared_inputs() {
            partial.declare_input(&input.name, input.kind).unwrap();
        }
        for start in (0..block.len()).step_by(size) {
            let mut part = Block::new();
            for i in start..block.len().min(start + size) {
                part.push(block.sample(i), block.class(i), block.weight(i)).unwrap();
            }
            partial.learn_many(&part).unwrap();
        }
        partial.into_model().unwrap().weights()
    };
    let expected = weights(150);
    for size in [1, 7, 64] {
        assert_eq!(weights(size), expected, "blocks of {size}");
    }
}

#[test]
fn a_running_scaling_that_froze_can_be_shared() {
    let config = OnlineBlsConfig {
        scaling: Scaling::ROBUST,
        freeze_scaling_after: Some(50),
        ..configs().remove(3)
    };
    let mut one = model(&config, &INPUTS);
    one.learn_many(&samples(0..200)).unwrap();
    let mut first = model(&config, &INPUTS);
    first.learn_many(&samples(0..120)).unwrap();
    let mut second = first.like().unwrap();
    assert_eq!((second.learned(), second.classes(), second.inputs()), (0, 0, 0));
    let second_file = {
        let mut bytes = Vec::new();
        ModelFile::new(&second, &Schema::new("y")).write(&mut bytes).unwrap();
        bytes
    };
    // The scaling of inputs that were not declared yet survives saving.
    second = model_file::read(&mut second_file.as_slice()).unwrap().model;
    for name in ["c=red", "b", "a"] {
        let kind = if name == "c=red" { InputKind::Indicator } else { InputKind::Numeric };
        second.declare_input(name, kind).unwrap();
    }
    let (block, meaning) = renumbered(&samples(120..200));
    for i in 0..block.len() {
        let x = block.sample(i).values();
        let turned: Vec<(u32, f64)> = x
            .iter()
            .rev()
            .enumerate()
            .map(|(k, x)| (k as u32 + 3 - block.sample(i).len() as u32, *x))
            .collect();
        let (inputs, values): (Vec<u32>, Vec<f64>) = turned.into_iter().unzip();
        let x = Sample::sparse(&inputs, &values).unwrap();
        second.learn_one(x, block.class(i), block.weight(i)).unwrap();
    }
    first.merge(&second, &meaning).unwrap();
    assert!(distance(first.weights().values(), one.weights().values()) < 1e-9);
}

#[test]
fn what_cannot_be_merged_is_refused_by_name_and_leaves_no_trace() {
    let base = configs().remove(1);
    let trained = |config: &OnlineBlsConfig| {
        let mut model = model(config, &INPUTS);
        model.learn_many(&samples(0..30)).unwrap();
        model
    };
    let mut own = trained(&base);
    let before = own.weights();
    let other = |change: &dyn Fn(&mut OnlineBlsConfig)| {
        let mut config = base.clone();
        change(&mut config);
        trained(&config)
    };
    let running = OnlineBlsConfig { scaling: Scaling::STANDARD, ..base.clone() };
    let frozen = OnlineBlsConfig { freeze_scaling_after: Some(10), ..running.clone() };
    let clipped = OnlineBlsConfig { scaling: Scaling::Standard { clip: 2.0 }, ..frozen.clone() };
    let error = trained(&frozen).merge(&trained(&clipped), &[0, 1]).unwrap_err().to_string();
    assert!(error.contains("different scaling") && error.contains("2.0"), "{error}");
    let error = trained(&frozen).like().unwrap().declare_input("z", InputKind::Numeric);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("seen every numeric input, got nothing about 'z'"), "{error}");
    for (other, message) in [
        (other(&|c| c.seed = 7), "different seed: 0 here, 7 there"),
        (
            other(&|c| c.enhancement_nodes = Nodes::Fixed(7)),
            "different numbers of enhancement nodes: 18 here, 7",
        ),
        (
            other(&|c| c.ridge = broadstream::Ridge::Fixed(2.0)),
            "different ridge: 0.1 here, 2 there",
        ),
        (other(&|c| c.inputs_per_sample = Some(2)), "different inputs_per_sample: 3 here, 2 there"),
        (other(&|c| c.nested_models = 1), "different numbers of nested models: 5 here, 1 there"),
        (other(&|c| c.scaling = Scaling::None), "different scaling"),
        (
            other(&|c| {
                if let Scaling::Given(given) = &mut c.scaling {
                    given.get_mut("b").unwrap().scale = 7.0;
                }
            }),
            "different scaling: centre 45, scale 25 for 'b' (Numeric) here, centre 45, scale 7",
        ),
        (other(&|c| c.forgetting = Forgetting::Fixed(0.9)), "forgetting must be 1, got 0.9"),
        (trained(&running), "cannot merge: the scaling must be frozen"),
        (trained(&frozen), "different scaling: {\"given\""),
    ] {
        let error = own.merge(&other, &[0, 1]).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert_eq!(own.weights(), before);
    }
    let other = trained(&base);
    for (classes, message) in [
        (&[0][..], "the numbers of the other's classes must have 2 entries, got 1"),
        (&[0, 0], "two classes of the other would both be class 0"),
        (&[0, 3], "class 3 skips numbers: the next new class is 2"),
    ] {
        assert_eq!(own.classes(), 2);
        let error = own.merge(&other, classes).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    assert!(Partial::new(running).unwrap_err().to_string().contains("scaling must be frozen"));
    own.merge(&other, &[0, 1]).unwrap();
    assert_ne!(own.weights(), before);
}
