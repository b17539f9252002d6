use broadstream::{Classifier, Nodes, OnlineBlsConfig, Scores};

use super::{INPUTS, model, samples};

fn config() -> OnlineBlsConfig {
    OnlineBlsConfig {
        enhancement_nodes: Nodes::Fixed(40),
        inputs_per_sample: Some(3),
        ..Default::default()
    }
}

#[test]
fn many_predictions_are_those_of_one_by_one() {
    for keep_weights in [false, true] {
        for threads in [1, 2] {
            let config = OnlineBlsConfig { keep_weights, threads, ..config() };
            let mut model = model(&config, &INPUTS);
            for learned in [0, 1, 100] {
                model.learn_many(&samples(0..learned)).unwrap();
                for count in [0, 1, 3, 4, 5, 70] {
                    let block = samples(200..200 + count);
                    let (scores, leverages) = model.scores_many(&block).unwrap();
                    assert_eq!((scores.len(), leverages.len()), (block.len(), block.len()));
                    for i in 0..block.len() {
                        assert_eq!(scores.row(i), model.scores_one(block.sample(i)).unwrap());
                        assert_eq!(leverages[i], model.leverage_one(block.sample(i)).unwrap());
                    }
                }
            }
        }
    }
}

#[test]
fn leverages_come_with_learning() {
    let mut config = config();
    for window in [None, Some(20)] {
        if window.is_some() {
            config = OnlineBlsConfig {
                window,
                enhancement_nodes: Nodes::Fixed(40),
                ..OnlineBlsConfig::single()
            };
        }
        let (mut blocks, mut single) = (model(&config, &INPUTS), model(&config, &INPUTS));
        let mut block = samples(0..130);
        block.push(samples(7..8).sample(0), 0, 0.0).unwrap();
        let (mut scores, mut leverages) = (Scores::new(), Vec::new());
        blocks.test_then_train_with_leverages(&block, &mut scores, &mut leverages).unwrap();
        assert_eq!(leverages.len(), block.len());
        for i in 0..block.len() {
            let expected = single.leverage_one(block.sample(i)).unwrap();
            let apart = (leverages[i] - expected).abs();
            assert!(apart <= 1e-9 * expected.max(1.0), "sample {i}: {} {expected}", leverages[i]);
            single.learn_one(block.sample(i), block.class(i), block.weight(i)).unwrap();
        }
    }
}
