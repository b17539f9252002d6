use broadstream::{Classifier, LateLabels, Nodes, OnlineBls, OnlineBlsConfig, Sample, Scaling};

use super::{INPUTS, configs, distance, model, samples};

/// The definition: a late label is learned with the features at the time of the prediction.
#[test]
fn a_late_label_is_learned_with_the_features_of_its_prediction() {
    let config = OnlineBlsConfig { scaling: Scaling::ROBUST, ..configs().remove(2) };
    let mut late_model = model(&config, &INPUTS);
    let all = samples(0..90);
    let mut late = LateLabels::new(100);
    let mut rows = Vec::new();
    for i in 0..all.len() {
        rows.push(late_model.features_one(all.sample(i)).unwrap());
        let expected = late_model.predict_proba_one(all.sample(i)).unwrap();
        let prediction = late.predict(&late_model, all.sample(i)).unwrap();
        assert_eq!((prediction.ticket, prediction.evicted), (i as u64, None));
        assert_eq!(prediction.probabilities, expected);
        if i >= 30 {
            let due = i - 30;
            late.learn(&mut late_model, due as u64, all.class(due), all.weight(due)).unwrap();
        }
    }
    // The features at that time, learned by a factor alone.
    let mut factor = broadstream::factor::Factor::new(late_model.features(), 1.0);
    factor.add_targets(2);
    for (i, row) in rows.iter().enumerate().take(60) {
        let targets = [0, 1].map(|k| f64::from(u8::from(k == all.class(i))));
        let update = broadstream::factor::Update {
            features: row,
            targets: &targets,
            weights: &[all.weight(i)],
            forgetting: 1.0,
        };
        factor.sweep(update, &mut [0.0; 2]).unwrap();
    }
    assert_eq!(late_model.learned(), 60);
    assert!(distance(late_model.weights().values(), &factor.weights()) < 1e-12);
}

#[test]
fn a_label_that_comes_at_once_is_not_late() {
    for config in
        [OnlineBlsConfig { enhancement_nodes: Nodes::Fixed(50), ..OnlineBlsConfig::default() }]
    {
        let (mut plain, mut ticketed) = (model(&config, &INPUTS), model(&config, &INPUTS));
        let all = samples(0..120);
        let mut late = LateLabels::new(1);
        for i in 0..all.len() {
            let ticket = late.predict(&ticketed, all.sample(i)).unwrap().ticket;
            late.learn(&mut ticketed, ticket, all.class(i), all.weight(i)).unwrap();
            plain.learn_one(all.sample(i), all.class(i), all.weight(i)).unwrap();
        }
        assert_eq!(ticketed.weights(), plain.weights());
        let x = all.sample(7);
        assert_eq!(ticketed.scores_one(x).unwrap(), plain.scores_one(x).unwrap());
    }
}

#[test]
fn the_store_is_bounded_and_says_who_had_to_go() {
    let mut model: OnlineBls = model(&configs()[0], &INPUTS);
    let mut late = LateLabels::new(2);
    let x = Sample::dense(&[1.0, 2.0, 1.0]);
    let evicted: Vec<Option<u64>> =
        (0..5).map(|_| late.predict(&model, x).unwrap().evicted).collect();
    assert_eq!(evicted, [None, None, Some(0), Some(1), Some(2)]);
    assert_eq!((late.waiting(), late.evicted()), (2, 3));
    let error = late.learn(&mut model, 1, 0, 1.0).unwrap_err().to_string();
    assert!(error.contains("ticket 1") && error.contains("at most 2 samples may wait"), "{error}");
    // Nor does it accept a sample of another model that had more inputs.
    let more = self::model(&configs()[0], &["a", "b", "c=red", "d=blue"]);
    let mut others = LateLabels::new(2);
    let ticket = others.predict(&more, Sample::sparse(&[3], &[1.0]).unwrap()).unwrap().ticket;
    assert!(others.learn(&mut model, ticket, 0, 1.0).is_err());
    // A refused sample is still waiting.
    assert!(late.learn(&mut model, 3, 5, 1.0).is_err());
    assert!(late.learn(&mut model, 3, 0, f64::NAN).is_err());
    late.learn(&mut model, 3, 0, 1.0).unwrap();
    assert!(late.learn(&mut model, 3, 0, 1.0).is_err());
    assert!(late.discard(4) && !late.discard(4));
    assert!(late.predict(&model, Sample::dense(&[f64::NAN])).is_err());
    assert_eq!(late.waiting(), 0);
    assert_eq!(LateLabels::new(0).predict(&model, x).unwrap().evicted, Some(0));
}
