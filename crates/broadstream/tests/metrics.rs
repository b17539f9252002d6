//! The metrics equal scikit-learn's on stored streams, and the calibration error its definition in
//! numpy; `data/metrics/generate.py` wrote them.

use broadstream::metrics::{Metrics, bacc, per_class};
use serde_json::Value;

const CASES: &str = include_str!("data/metrics/cases.json");

/// A stored stream with its expected values.
struct Case {
    name: String,
    samples: Vec<(usize, Option<usize>, Vec<f64>)>,
    expected: Value,
}

#[test]
fn all_metrics_equal_those_of_scikit_learn() {
    for case in cases() {
        let summary = metrics_of(&case, case.samples.len()).summary();
        assert_eq!(summary.samples, case.samples.len() as u64, "{}", case.name);
        assert_eq!(summary.classes, array(&case.expected["classes"]).len(), "{}", case.name);
        let found = [
            ("oca", summary.oca),
            ("oce", summary.oce),
            ("bacc", summary.bacc),
            ("avrbacc", summary.avrbacc),
            ("f1", summary.f1),
            ("mcc", summary.mcc),
            ("kappa", summary.kappa),
            ("log_loss", summary.log_loss),
            ("brier", summary.brier),
            ("ece", summary.ece),
            ("gmean", summary.gmean),
            ("kappa_m", summary.kappa_m),
            ("kappa_t", summary.kappa_t),
            ("auc", summary.auc),
            ("auprc", summary.auprc),
            ("recall_at_alarms", summary.recall_at_alarms),
            ("ece_by_class", summary.ece_by_class),
            ("coverage", summary.coverage),
        ];
        for (metric, value) in found {
            assert_close(value, number(&case.expected[metric]), &case.name, metric);
        }
    }
}

#[test]
fn balanced_accuracy_equals_that_of_scikit_learn_along_the_way() {
    for case in cases() {
        for at in array(&case.expected["bacc_at"]) {
            let samples = index(&at[0]);
            let found = bacc(metrics_of(&case, samples).confusion());
            assert_close(found, number(&at[1]), &case.name, &format!("bacc at {samples}"));
        }
    }
}

#[test]
fn each_class_equals_scikit_learn() {
    for case in cases() {
        let metrics = metrics_of(&case, case.samples.len());
        let found = per_class(metrics.confusion());
        assert_eq!(found.len(), array(&case.expected["classes"]).len(), "{}", case.name);
        for (i, class) in found.iter().enumerate() {
            let expected = |list: &str| &case.expected[list][i];
            assert_eq!(class.class, index(expected("classes")), "{}", case.name);
            assert_eq!(class.support, index(expected("support")) as u64, "{}", case.name);
            assert_close(class.precision, number(expected("precision")), &case.name, "precision");
            assert_close(class.recall, number(expected("recall")), &case.name, "recall");
            assert_close(class.f1, number(expected("class_f1")), &case.name, "class F1");
        }
    }
}

#[test]
fn the_areas_of_each_class_equal_those_of_scikit_learn() {
    for case in cases() {
        let metrics = metrics_of(&case, case.samples.len());
        let found = |class| {
            [metrics.ranking().auc_of(class), metrics.ranking().average_precision_of(class)]
        };
        for (k, list) in ["class_auc", "class_auprc"].into_iter().enumerate() {
            for (class, expected) in array(&case.expected[list]).iter().enumerate() {
                match (found(class)[k], expected.as_f64()) {
                    (Some(found), Some(expected)) => {
                        assert_close(found, expected, &case.name, list);
                    }
                    (found, expected) => assert_eq!(found, expected, "{}: {list}", case.name),
                }
            }
        }
    }
}

#[test]
fn a_window_that_holds_the_whole_stream_agrees_with_it() {
    for case in cases() {
        let metrics = metrics_of(&case, case.samples.len());
        let (whole, window) = (metrics.summary(), metrics.window_summary());
        assert_eq!((window.samples, window.classes), (whole.samples, whole.classes));
        assert_eq!((window.oca, window.oce), (whole.oca, whole.oce), "{}", case.name);
        assert_eq!((window.bacc, window.f1), (whole.bacc, whole.f1), "{}", case.name);
        assert_eq!((window.mcc, window.kappa), (whole.mcc, whole.kappa), "{}", case.name);
        assert_eq!((window.gmean, window.coverage), (whole.gmean, whole.coverage), "{}", case.name);
        assert_eq!(
            (window.kappa_m, window.kappa_t),
            (whole.kappa_m, whole.kappa_t),
            "{}",
            case.name
        );
        assert_eq!((window.auc, window.auprc), (whole.auc, whole.auprc), "{}", case.name);
        assert_eq!(window.recall_at_alarms, whole.recall_at_alarms, "{}", case.name);
        assert_close(window.log_loss, whole.log_loss, &case.name, "log loss");
        assert_close(window.brier, whole.brier, &case.name, "Brier score");
    }
}

/// The metrics of a case's first samples, with a window that holds them all.
fn metrics_of(case: &Case, samples: usize) -> Metrics {
    let mut metrics = Metrics::new(case.samples.len());
    for (truth, predicted, probabilities) in &case.samples[..samples] {
        metrics.add(*truth, *predicted, probabilities);
    }
    metrics
}

fn assert_close(found: f64, expected: f64, case: &str, metric: &str) {
    let error = (found - expected).abs();
    assert!(error <= 1e-12, "{case}: {metric} is {found}, expected {expected}");
}

fn cases() -> Vec<Case> {
    let document: Value = serde_json::from_str(CASES).unwrap();
    let cases: Vec<Case> = array(&document["cases"]).iter().map(case).collect();
    assert!(cases.len() >= 8);
    cases
}

fn case(stored: &Value) -> Case {
    let lists = array(&stored["truth"])
        .iter()
        .zip(array(&stored["predicted"]))
        .zip(array(&stored["probabilities"]));
    let samples = lists.map(|((truth, predicted), probabilities)| {
        let predicted = if predicted.is_null() { None } else { Some(index(predicted)) };
        (index(truth), predicted, array(probabilities).iter().map(number).collect())
    });
    Case {
        name: stored["name"].as_str().unwrap().to_owned(),
        samples: samples.collect(),
        expected: stored.clone(),
    }
}

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn index(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}
