//! What an evaluation reports besides its metrics, for models of several members and drifting
//! streams; late labels; evaluations that are stopped and resumed.

mod delay;
mod resume;
mod varied;

use broadstream::{
    Classifier, CurvePoint, Evaluation, Evaluator, Forgetting, Nodes, Observer, OnlineBls,
    OnlineBlsConfig, PrequentialOptions,
    baselines::{HedgeBackpropagation, HedgeOptions, NetworkOptions, NoChange, ScaledBaseline},
    evaluate,
    stream::synth::{ConceptDrift, Generator, Stagger},
};

/// The concepts of STAGGER in turn, each for 1000 samples.
fn stagger() -> ConceptDrift {
    let concepts = (0..4).map(|i| -> Box<dyn Generator> {
        Box::new(Stagger::new(i % 3, false, 42 + i as u64).unwrap())
    });
    ConceptDrift::in_turn(concepts.collect(), &[1000, 2000, 3000], 1, 7).unwrap()
}

fn online_bls() -> OnlineBls {
    let config = OnlineBlsConfig {
        enhancement_nodes: Nodes::Fixed(60),
        forgetting: Forgetting::Fixed(0.99),
        ..OnlineBlsConfig::single()
    };
    OnlineBls::new(config).unwrap()
}

/// Several regressions whose predictions are combined.
fn several() -> OnlineBls {
    let config = OnlineBlsConfig {
        feature_groups: 3,
        feature_nodes: 3,
        enhancement_nodes: Nodes::Fixed(31),
        ..OnlineBlsConfig::default()
    };
    OnlineBls::new(config).unwrap()
}

fn hedge() -> ScaledBaseline<HedgeBackpropagation> {
    let network = NetworkOptions { hidden_layers: 3, hidden_nodes: 9, ..NetworkOptions::default() };
    let options = HedgeOptions { network, ..HedgeOptions::default() };
    ScaledBaseline::new(Default::default(), options).unwrap()
}

fn evaluation(model: &mut dyn Classifier, options: &PrequentialOptions) -> Evaluation {
    evaluate(&mut stagger().take(3700), model, options).unwrap()
}

#[test]
fn drifts_and_weights_do_not_depend_on_the_block_size() {
    let of = |model: &mut dyn Classifier, block, separate_times| {
        let curve_every = Some(50);
        let defaults = PrequentialOptions::default();
        let options = PrequentialOptions { block, curve_every, separate_times, ..defaults };
        let evaluation = evaluation(model, &options);
        assert!(evaluation.curve.iter().all(|point| point.weights.len() > 1));
        let curve = evaluation.curve.into_iter();
        let points: Vec<_> =
            curve.map(|point| (point.cumulative.samples, point.drifts, point.weights)).collect();
        (points, evaluation.drifts, evaluation.members)
    };
    let bls = of(&mut online_bls(), 1, false);
    let hedged = of(&mut hedge(), 1, false);
    for (block, separate_times) in [(7, false), (50, false), (64, false), (5000, false), (64, true)]
    {
        assert!(of(&mut online_bls(), block, separate_times) == bls, "{block}, {separate_times}");
        assert!(of(&mut hedge(), block, separate_times) == hedged, "{block}, {separate_times}");
    }
}

#[test]
fn weights_at_a_point_are_those_after_its_sample() {
    let options = PrequentialOptions { curve_every: Some(500), ..PrequentialOptions::default() };
    let whole = evaluation(&mut online_bls(), &options);
    for point in &whole.curve {
        let limit = Some(point.cumulative.samples);
        let short = PrequentialOptions { limit, ..PrequentialOptions::default() };
        let mut model = online_bls();
        let members = evaluation(&mut model, &short).members;
        assert_eq!(point.weights, members.iter().map(|m| m.weight).collect::<Vec<_>>());
        assert_eq!(model.members(), members);
        let sum: f64 = point.weights.iter().sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }
    assert_eq!(whole.curve.len(), 8);
}

#[test]
fn each_change_of_concept_is_seen_soon_and_recovery_is_no_drift() {
    let found = evaluation(&mut online_bls(), &PrequentialOptions::default()).drifts;
    assert_eq!(found.len(), 3, "{found:?}");
    for (drift, change) in found.iter().zip([1000, 2000, 3000]) {
        assert!((change..change + 200).contains(drift), "{found:?}");
    }
}

#[test]
fn an_observer_hears_of_drifts_in_time() {
    #[derive(Default)]
    struct Heard {
        drifts: Vec<u64>,
        samples: u64,
    }
    impl Observer for Heard {
        fn sample(&mut self, outcome: broadstream::Outcome<'_>) {
            self.samples = outcome.sample;
        }
        fn drift(&mut self, sample: u64) {
            assert_eq!(sample, self.samples);
            self.drifts.push(sample);
        }
        fn curve(&mut self, point: &CurvePoint) {
            assert_eq!(point.drifts, self.drifts.len() as u64);
        }
    }
    let options = PrequentialOptions { curve_every: Some(32), ..PrequentialOptions::default() };
    let mut heard = Heard::default();
    let model = &mut online_bls();
    let evaluator = Evaluator::new(&options).unwrap();
    let evaluation = evaluator.run(&mut stagger().take(3700), model, &mut heard).unwrap();
    assert_eq!(evaluation.drifts, heard.drifts);
}

#[test]
fn a_model_of_one_piece_has_no_members() {
    let single = OnlineBlsConfig { nested_models: 1, ..OnlineBlsConfig::single() };
    assert!(OnlineBls::new(single).unwrap().members().is_empty());
    let options = PrequentialOptions { curve_every: Some(1000), ..PrequentialOptions::default() };
    let evaluation = evaluation(&mut NoChange::new(), &options);
    assert!(evaluation.members.is_empty());
    assert!(evaluation.curve.iter().all(|point| point.weights.is_empty()));
}

#[test]
fn a_confidence_that_is_none_is_refused() {
    let options = PrequentialOptions { drift_confidence: 1.0, ..PrequentialOptions::default() };
    let message = options.check().unwrap_err().to_string();
    assert_eq!(message, "drift_confidence must be between 0 and 1, both excluded, got 1");
}
