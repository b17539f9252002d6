//! Decisions are apart from learning: they follow from the same probabilities, whatever blocks
//! samples come in, and a saved model decides as if it had never been saved.

use broadstream::{
    Block, Classifier, Costs, Evaluator, InputKind, Nodes, Objective, OnlineBls, OnlineBlsConfig,
    PrequentialOptions, Progress, Sample, Scaling, Scores, evaluate,
    metrics::ObjectiveSummary,
    model_file::{ModelFile, read},
    stream::{TableOptions, csv::CsvStream},
};

/// A rare class that is likely, but not most probable, for large values.
fn rows(samples: u64) -> Vec<(f64, usize)> {
    let mut state = 1_u64;
    let mut next = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1_u64 << 24) as f64
    };
    let row = |i| {
        let x = next();
        (x, usize::from(i > 0 && next() < if x > 0.8 { 0.35 } else { 0.01 }))
    };
    (0..samples).map(row).collect()
}

fn stream(samples: u64) -> CsvStream {
    let line = |(x, class): (f64, usize)| format!("{x},{}\n", ["ok", "fraud"][class]);
    let text: String = rows(samples).into_iter().map(line).collect();
    let text = format!("x,class\n{text}").into_bytes();
    CsvStream::new(Box::new(std::io::Cursor::new(text)), TableOptions::default()).unwrap()
}

fn block(samples: u64) -> Block {
    let mut block = Block::new();
    for (x, class) in rows(samples) {
        block.push(Sample::dense(&[x]), class, 1.0).unwrap();
    }
    block
}

/// One that averages and one that is stacked and calibrated.
fn models(objective: Objective) -> [OnlineBls; 2] {
    [OnlineBlsConfig::single(), OnlineBlsConfig::default()].map(|config| {
        let nodes = Nodes::Fixed(20);
        let config = OnlineBlsConfig { enhancement_nodes: nodes, objective, ..config };
        let mut model = OnlineBls::new(config).unwrap();
        model.declare_input("x", InputKind::Numeric).unwrap();
        model
    })
}

/// The scores and decisions of a block, learned in pieces.
fn in_pieces(model: &mut OnlineBls, block: &Block, size: usize) -> Scores {
    let mut all = Scores::new();
    for start in (0..block.len()).step_by(size) {
        let mut piece = Block::new();
        for i in start..block.len().min(start + size) {
            piece.push(block.sample(i), block.class(i), block.weight(i)).unwrap();
        }
        model.test_then_train(&piece, &mut all).unwrap();
    }
    all
}

#[test]
fn decisions_do_not_depend_on_blocks_and_threads() {
    let block = block(1500);
    for (k, model) in models(Objective::F1).into_iter().enumerate() {
        let expected = in_pieces(&mut model.clone(), &block, 1);
        let different = (0..expected.len()).filter(|i| {
            let all = expected.decisions(*i).all();
            all.iter().any(|class| *class != all[0])
        });
        assert!(different.count() > 50, "the objectives of model {k} hardly ever differ");
        for size in [3, 64, 1500] {
            let mut model = model.clone();
            model.set_threads(2).unwrap();
            assert_eq!(in_pieces(&mut model, &block, size), expected, "blocks of {size}");
        }
        // One by one, deciding before each sample is learned.
        let mut model = model;
        for i in 0..block.len() {
            let scores = model.scores_one(block.sample(i)).unwrap();
            assert_eq!(model.decide(&scores), expected.decisions(i), "sample {i}");
            let decided = expected.decisions(i).of(Objective::F1);
            assert_eq!(model.predict_one(block.sample(i)).unwrap(), decided);
            model.learn_one(block.sample(i), block.class(i), 1.0).unwrap();
        }
    }
}

#[test]
fn objectives_change_decisions_and_nothing_else() {
    let block = block(800);
    let learned = Objective::ALL.map(|objective| {
        models(objective).map(|mut model| {
            let scores = in_pieces(&mut model, &block, 64);
            (model, scores)
        })
    });
    for all in &learned {
        for ((model, scores), (first, expected)) in all.iter().zip(&learned[0]) {
            assert_eq!(scores, expected);
            let x = Sample::dense(&[0.9]);
            let p = model.predict_proba_one(x).unwrap();
            assert_eq!(p, first.predict_proba_one(x).unwrap());
            // A model that changes its objective decides like one that always had it.
            let mut changed = first.clone();
            changed.set_objective(model.config().objective);
            assert_eq!(changed.predict_one(x).unwrap(), model.predict_one(x).unwrap());
            let (found, _) = changed.scores_many(&block).unwrap();
            assert_eq!(found, model.scores_many(&block).unwrap().0);
        }
    }
}

#[test]
fn each_objective_is_worth_most_by_its_own_metric() {
    for mut model in models(Objective::Accuracy)
        .map(|model| model.config().clone())
        .map(|config| OnlineBls::new(config).unwrap())
    {
        let result =
            evaluate(&mut stream(8000), &mut model, &PrequentialOptions::default()).unwrap();
        let [accuracy, balanced, f1, mcc] = Objective::ALL
            .map(|objective| ObjectiveSummary::of(result.metrics.by_objective(objective).unwrap()));
        assert!(balanced.bacc > accuracy.bacc + 0.2, "{} {}", balanced.bacc, accuracy.bacc);
        assert!(f1.f1 > accuracy.f1 + 0.05 && f1.f1 >= balanced.f1);
        assert!(mcc.mcc > accuracy.mcc + 0.05, "{} {}", mcc.mcc, accuracy.mcc);
        assert!(mcc.mcc > balanced.mcc - 0.01, "{} {}", mcc.mcc, balanced.mcc);
        assert!(accuracy.oca >= f1.oca && accuracy.oca >= balanced.oca);
        assert_eq!(accuracy.oca, result.summary().oca);
        assert_eq!(result.summary().cost, None);
    }
}

#[test]
fn a_saved_model_decides_and_continues_as_if_it_had_never_been_saved() {
    let block = block(900);
    for mut model in models(Objective::Mcc) {
        in_pieces(&mut model, &block, 64);
        let mut schema = broadstream::Schema::new("class");
        schema.push_input("x", InputKind::Numeric);
        for label in ["ok", "fraud"] {
            schema.class_of(label);
        }
        let costs = Costs::from_csv(b"t,ok,fraud\nok,0,1\nfraud,9,0\n").unwrap();
        let mut bytes = Vec::new();
        let file = ModelFile { costs: Some(&costs), ..ModelFile::new(&model, &schema) };
        file.write(&mut bytes).unwrap();
        let mut saved = read(&mut bytes.as_slice()).unwrap();
        assert_eq!(saved.costs, Some(costs));
        assert_eq!(saved.model.decision_factors(), model.decision_factors());
        assert_eq!(saved.model.class_shares(), model.class_shares());
        assert_eq!(in_pieces(&mut saved.model, &block, 7), in_pieces(&mut model, &block, 64));
    }
}

fn costs(text: &str) -> PrequentialOptions {
    let costs = Some(Costs::from_csv(text.as_bytes()).unwrap());
    PrequentialOptions { costs, ..PrequentialOptions::default() }
}

#[test]
fn costs_are_lower_than_for_the_most_probable_class_and_abstaining_lowers_them_further() {
    let mut found = Vec::new();
    for text in
        ["t,ok,fraud\nok,0,5\nfraud,100,0\n", "t,ok,fraud,abstain\nok,0,5,1\nfraud,100,0,1\n"]
    {
        let [mut model, _] = models(Objective::Accuracy)
            .map(|model| OnlineBls::new(model.config().clone()).unwrap());
        let result = evaluate(&mut stream(6000), &mut model, &costs(text)).unwrap();
        let rows = result.trade_offs();
        let [others @ .., own] = rows.as_slice() else { panic!("no rows") };
        assert_eq!((own.name, own.is_chosen), ("costs", true));
        assert_eq!(own.cost, result.summary().cost);
        for row in others.iter().filter(|row| row.name == "accuracy") {
            assert!(own.cost < row.cost, "{}: {:?} {:?}", row.name, own.cost, row.cost);
            assert!(!row.is_chosen);
        }
        found.push((own.cost.unwrap(), result.summary().coverage));
    }
    assert!(found[1].0 < found[0].0, "{found:?}");
    assert!(found[0].1 > 0.999 && found[1].1 < 0.95, "{found:?}");
}

#[test]
fn a_label_without_costs_ends_an_evaluation_at_its_sample_for_any_block_size() {
    let text = "x,class\n1,a\n2,b\n3,a\n4,c\n5,b\n";
    for block in [1, 2, 64] {
        let options = PrequentialOptions { block, ..costs("t,a,b\na,0,1\nb,1,0\n") };
        let rows = Box::new(std::io::Cursor::new(text.to_owned().into_bytes()));
        let mut stream = CsvStream::new(rows, TableOptions::default()).unwrap();
        let [mut model, _] = models(Objective::Accuracy)
            .map(|model| OnlineBls::new(model.config().clone()).unwrap());
        let mut evaluator = Evaluator::new(&options).unwrap();
        let refused = evaluator.advance(&mut stream, &mut model, &mut ()).unwrap_err();
        let message = "sample 4: there are no costs for the label 'c': there are some for a, b";
        assert_eq!(refused.to_string(), message);
        assert_eq!((evaluator.state().samples(), model.learned()), (3, 3), "block {block}");
    }
}

#[test]
fn a_resumed_evaluation_has_the_decisions_and_metrics_of_one_that_never_stopped() {
    let text = "t,ok,fraud,abstain\nok,0,5,1\nfraud,100,0,1\n";
    let options = PrequentialOptions {
        checkpoint_every: Some(700),
        curve_every: Some(300),
        metrics_window: 200,
        ..costs(text)
    };
    let new = || {
        let [_, model] = models(Objective::F1);
        OnlineBls::new(model.config().clone()).unwrap()
    };
    let whole =
        Evaluator::new(&options).unwrap().run(&mut stream(1500), &mut new(), &mut ()).unwrap();
    let (mut source, mut model) = (stream(1500), new());
    let mut first = Evaluator::new(&options).unwrap();
    assert_eq!(first.advance(&mut source, &mut model, &mut ()).unwrap(), Progress::Checkpoint);
    let mut bytes = Vec::new();
    let schema = broadstream::stream::Stream::schema(&source).clone();
    let file = ModelFile { evaluation: Some(first.state()), ..ModelFile::new(&model, &schema) };
    file.write(&mut bytes).unwrap();
    let mut saved = read(&mut bytes.as_slice()).unwrap();
    let state = saved.evaluation.unwrap();
    let other = PrequentialOptions { costs: None, ..options.clone() };
    let refused = Evaluator::resume(state.clone(), &other).err().unwrap().to_string();
    assert!(
        refused.starts_with("costs must be the one that the evaluation started with"),
        "{refused}"
    );
    let rest = Evaluator::resume(state, &options).unwrap();
    let rest = rest.run(&mut stream(1500), &mut saved.model, &mut ()).unwrap();
    assert_eq!(rest.summary(), whole.summary());
    assert_eq!(rest.window_summary(), whole.window_summary());
    assert_eq!(rest.trade_offs(), whole.trade_offs());
    assert!(rest.summary().cost.is_some());
    let costs = |result: &broadstream::Evaluation| -> Vec<Option<f64>> {
        result.curve.iter().map(|point| point.cumulative.cost).collect()
    };
    assert_eq!(costs(&rest), costs(&whole));
    assert!(costs(&rest).iter().all(Option::is_some));
}

#[test]
fn one_class_is_decided_for_under_every_objective() {
    for mut model in models(Objective::Balanced) {
        for _ in 0..300 {
            model.learn_one(Sample::dense(&[0.5]), 0, 1.0).unwrap();
        }
        for objective in Objective::ALL {
            model.set_objective(objective);
            assert_eq!(model.predict_one(Sample::dense(&[0.9])).unwrap(), Some(0));
        }
    }
    // A stream of one class has nothing to decide, with or without an objective.
    let mut rows = CsvStream::new(
        Box::new(std::io::Cursor::new(b"x,class\n1,a\n2,a\n".to_vec())),
        TableOptions::default(),
    )
    .unwrap();
    let mut model = OnlineBls::new(models(Objective::F1)[0].config().clone()).unwrap();
    let refused = evaluate(&mut rows, &mut model, &PrequentialOptions::default()).unwrap_err();
    assert!(refused.to_string().contains("has only the class 'a'"), "{refused}");
}

#[test]
fn merged_models_decide_by_the_shares_of_both() {
    let config = OnlineBlsConfig {
        scaling: Scaling::None,
        enhancement_nodes: Nodes::Fixed(10),
        objective: Objective::Balanced,
        ..OnlineBlsConfig::single()
    };
    let mut parts = [OnlineBls::new(config.clone()).unwrap(), OnlineBls::new(config).unwrap()];
    for (k, model) in parts.iter_mut().enumerate() {
        model.declare_input("x", InputKind::Numeric).unwrap();
        for (x, class) in rows(400).into_iter().skip(k).step_by(2) {
            // The second model numbers the classes the other way round.
            let class = if k == 0 { class } else { 1 - class };
            if k == 1 && model.classes() == 0 {
                model.learn_one(Sample::dense(&[0.9]), 0, 1.0).unwrap();
            }
            model.learn_one(Sample::dense(&[x]), class, 1.0).unwrap();
        }
    }
    let [mut merged, other] = parts;
    let expected: Vec<f64> = merged
        .class_shares()
        .iter()
        .zip(other.class_shares().iter().rev())
        .map(|(a, b)| (a + b) / 2.0)
        .collect();
    merged.merge(&other, &[1, 0]).unwrap();
    for (found, expected) in merged.class_shares().iter().zip(expected) {
        assert!((found - expected).abs() < 0.01, "{found}, {expected}");
    }
    assert_eq!(merged.predict_one(Sample::dense(&[0.95])).unwrap(), Some(1));
}
