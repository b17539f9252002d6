use super::*;
use crate::{
    metrics::{ConfusionMatrix, bacc, macro_f1, mcc},
    numeric::Random,
    state::StateWriter,
};

/// Samples of a rare class whose probabilities are calibrated, and grow with its share.
fn rare(random: &mut Random, share: f64) -> (usize, [f64; 2]) {
    let p = share * 4.0 * random.signed_unit().abs().powi(3);
    let p = p.clamp(0.001, 0.999);
    (usize::from(random.signed_unit().abs() < p), [1.0 - p, p])
}

fn judge_and_learn(rules: &mut DecisionRules, class: usize, p: &[f64]) -> Decisions {
    let judged = rules.judge(p, p);
    let decisions = rules.decisions(&judged);
    rules.observe(&judged, class, 1.0);
    decisions
}

#[test]
fn the_two_ends_are_the_most_probable_class_and_the_largest_ratio_to_its_share() {
    let mut random = Random::new(1, "test", "ends");
    let mut rules = DecisionRules::new();
    for _ in 0..500 {
        let (class, p) = rare(&mut random, 0.1);
        let share = |weights: &[f64], unit: f64, k: usize| {
            let weight = weights.get(k).map_or(0.0, |weight| weight / unit);
            (weight + 1.0) / (weights.iter().sum::<f64>() / unit + 1.0)
        };
        let share = |k| share(&rules.truths, rules.unit, k).max(share(&rules.totals, 1.0, k));
        let ratio = arg_max(&[p[0] / share(0), p[1] / share(1)]);
        let decisions = judge_and_learn(&mut rules, class, &p);
        assert_eq!(decisions.of(crate::Objective::Accuracy), arg_max(&p));
        assert_eq!(decisions.of(crate::Objective::Balanced), ratio);
    }
}

#[test]
fn counts_are_the_weighted_ones_of_the_definition_and_the_best_rule_is_the_best_of_them() {
    let mut random = Random::new(2, "test", "definition");
    let mut rules = DecisionRules::new();
    let mut seen = Vec::new();
    for _ in 0..320 {
        let p: Vec<f64> = (0..3).map(|_| random.signed_unit().abs().powi(2) + 0.01).collect();
        let class = random.below(3) as usize % (1 + random.below(3) as usize);
        let judged = rules.judge(&p, &p);
        seen.push((class, judged));
        rules.observe(&judged, class, 1.0 + random.below(2) as f64);
        let last = seen.len() - 1;
        seen[last].0 = class;
    }
    // All weights again, the last sample having weight 1 times its own.
    let mut again = Random::new(2, "test", "definition");
    let n = seen.len();
    let mut tables = vec![[[0.0f64; 3]; 3]; RULES];
    for (i, (class, judged)) in seen.iter().enumerate() {
        for _ in 0..3 {
            again.signed_unit();
        }
        again.below(3);
        again.below(3);
        let weight = (1.0 + again.below(2) as f64) * 0.5f64.powf((n - 1 - i) as f64 / 10_000.0);
        for (table, decided) in tables.iter_mut().zip(judged.classes) {
            table[*class][decided.unwrap()] += weight;
        }
    }
    let mut scores = Vec::new();
    for (rule, table) in tables.iter().enumerate() {
        let total: f64 = table.iter().flatten().sum();
        let row = |k: usize| table[k].iter().sum::<f64>();
        let column = |k: usize| table.iter().map(|row| row[k]).sum::<f64>();
        let f1 = (0..3).map(|k| 2.0 * table[k][k] / (row(k) + column(k))).sum::<f64>() / 3.0;
        let correct: f64 = (0..3).map(|k| table[k][k]).sum();
        let chance: f64 = (0..3).map(|k| row(k) * column(k)).sum();
        let squares = |sums: [f64; 3]| total * total - sums.iter().map(|x| x * x).sum::<f64>();
        let room = squares([row(0), row(1), row(2)]) * squares([column(0), column(1), column(2)]);
        let mcc = (correct * total - chance) / room.sqrt();
        assert!((rules.f1(rule) - f1).abs() < 1e-9, "F1 of rule {rule}");
        assert!((rules.mcc(rule) - mcc).abs() < 1e-9, "MCC of rule {rule}");
        scores.push((f1, mcc));
    }
    // The last review was at this very sample, since 320 is a multiple of 32.
    let highest = scores.iter().fold((0.0f64, 0.0f64), |m, s| (m.0.max(s.0), m.1.max(s.1)));
    assert!(scores[rules.best[0]].0 >= highest.0 - 1e-12);
    assert!(scores[rules.best[1]].1 >= highest.1 - 1e-12);
}

#[test]
fn each_objective_is_best_by_its_own_metric() {
    let mut random = Random::new(3, "test", "objectives");
    let mut rules = DecisionRules::new();
    let mut confusion = [(); 4].map(|()| ConfusionMatrix::new());
    for _ in 0..20_000 {
        let (class, p) = rare(&mut random, 0.1);
        let decisions = judge_and_learn(&mut rules, class, &p).all();
        confusion.iter_mut().zip(decisions).for_each(|(matrix, class_)| matrix.add(class, class_));
    }
    let [accuracy, balanced, f1, correlated] = &confusion;
    assert!(accuracy.correct() >= f1.correct() && f1.correct() > balanced.correct());
    assert!(bacc(balanced) > bacc(accuracy) + 0.1 && bacc(balanced) > bacc(f1));
    assert!(macro_f1(f1) > macro_f1(accuracy) + 0.02 && macro_f1(f1) > macro_f1(balanced) + 0.02);
    assert!(mcc(correlated) > mcc(accuracy) + 0.02 && mcc(correlated) > mcc(balanced));
}

#[test]
fn the_best_rule_follows_a_drift() {
    let mut random = Random::new(4, "test", "drift");
    let mut rules = DecisionRules::new();
    let mut best = Vec::new();
    for share in [0.02, 0.5] {
        for _ in 0..40_000 {
            let (class, p) = rare(&mut random, share);
            judge_and_learn(&mut rules, class, &p);
        }
        best.push(rules.shares(2)[1]);
        let chosen = rules.f1(rules.best[0]);
        assert!((0..RULES).all(|rule| rules.f1(rule) <= chosen + 0.01));
    }
    assert!(best[0] < 0.05 && best[1] > 0.3, "{best:?}");
}

#[test]
fn a_class_that_is_away_does_not_count_as_ever_rarer() {
    let mut rules = DecisionRules::new();
    for i in 0..60_000 {
        let class = if i < 20_000 { i % 3 } else { i % 2 };
        judge_and_learn(&mut rules, class, &[0.4, 0.4, 0.2]);
    }
    assert!(rules.shares(3)[2] < 0.03);
    // A ninth of all samples were of the third class, and four ninths of either other one; lately half.
    let decided =
        |p: [f64; 3]| rules.decisions(&rules.judge(&p, &p)).of(crate::Objective::Balanced);
    assert_eq!(decided([0.5, 0.42, 0.08]), Some(0));
    assert_eq!(decided([0.5, 0.36, 0.14]), Some(2));
}

#[test]
fn weights_stay_finite_and_rescaling_changes_no_decision() {
    let mut random = Random::new(5, "test", "rescaling");
    let (mut rules, mut rescaled) = (DecisionRules::new(), DecisionRules::new());
    for i in 0..2000 {
        let (class, p) = rare(&mut random, 0.2);
        // Powers of two leave all digits alone.
        if i % 100 == 0 {
            rescaled.unit *= 2.0f64.powi(20);
            let rows = rescaled.decided.iter_mut().chain(&mut rescaled.correct);
            rows.flatten().chain(&mut rescaled.truths).for_each(|w| *w *= 2.0f64.powi(20));
        }
        let found = judge_and_learn(&mut rescaled, class, &p);
        assert_eq!(found, judge_and_learn(&mut rules, class, &p));
    }
    rules.unit = LARGEST_UNIT;
    rules.truths.iter_mut().for_each(|weight| *weight *= LARGEST_UNIT);
    judge_and_learn(&mut rules, 0, &[0.5, 0.5]);
    assert_eq!(rules.unit, 1.0);
    assert!(rules.truths.iter().all(|weight| *weight < 1e6));
}

#[test]
fn restored_rules_are_those_that_were_saved_and_altered_ones_do_no_harm() {
    let mut random = Random::new(6, "test", "saved");
    let mut rules = DecisionRules::new();
    for _ in 0..333 {
        let (class, p) = rare(&mut random, 0.2);
        judge_and_learn(&mut rules, class, &p);
    }
    let mut state = StateWriter::default();
    rules.save(&mut state.root());
    let mut restored = DecisionRules::new();
    state.read_back(|from| restored.restore(from, 2)).unwrap();
    assert_eq!(format!("{restored:?}"), format!("{rules:?}"));
    let alterations = state.alterations();
    let mut refused = 0;
    for (entry, altered) in &alterations {
        let mut restored = DecisionRules::new();
        if altered.read_back(|from| restored.restore(from, 2)).is_err() {
            refused += 1;
            continue;
        }
        for _ in 0..40 {
            let (class, p) = rare(&mut random, 0.2);
            judge_and_learn(&mut restored, class, &p);
        }
        assert!(restored.truths.iter().all(|weight| weight.is_finite()), "{entry}");
    }
    assert!(refused > alterations.len() / 2, "{refused} of {}", alterations.len());
}

#[test]
fn merged_rules_have_the_counts_of_both() {
    let mut random = Random::new(7, "test", "merged");
    let mut parts = [DecisionRules::new(), DecisionRules::new()];
    for i in 0..400 {
        let (class, p) = rare(&mut random, 0.3);
        judge_and_learn(&mut parts[i % 2], class, &p);
    }
    let [mut one, other] = parts;
    let expected: Vec<f64> = [1, 0]
        .map(|k| (one.truths[k] / one.unit, other.truths[1 - k] / other.unit))
        .map(|(own, theirs)| own + theirs)
        .to_vec();
    one.merge(&other, &[1, 0]);
    for (found, expected) in [1, 0].map(|k| one.truths[k] / one.unit).iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9);
    }
    let mut summed = DecisionRules::new();
    summed.add_totals(&[1e6, 1e6], &[0, 2]);
    assert_eq!(summed.shares(3), [0.5, 0.0, 0.5]);
    assert!(summed.truths[0] < 1e4);
}
