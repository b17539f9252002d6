//! The broad baselines against Online-BLS where mathematics says that they are equal, and against
//! their definitions, solved densely, where it does not.

#[cfg(feature = "dense-baselines")]
use broadstream::baselines::{BlsCil, BlsCilOptions, Refactorise, RiBls};
use broadstream::{
    Block, Classifier, Error, Forgetting, InputKind, Nodes, OnlineBls, OnlineBlsConfig, Ridge,
    Sample, Scaling, Scores,
    baselines::{BroadBaseline, Eous, IBls, IBlsOptions, Solver},
    stream::{
        Stream,
        synth::{Hyperplane, HyperplaneOptions},
    },
};
use faer::Mat;

const INPUTS: usize = 4;

fn config(ridge: f64) -> OnlineBlsConfig {
    OnlineBlsConfig {
        feature_groups: 2,
        feature_nodes: 4,
        enhancement_nodes: Nodes::Fixed(21),
        nested_models: 1,
        ridge: Ridge::Fixed(ridge),
        ..OnlineBlsConfig::single()
    }
}

fn declared<M: Classifier>(mut model: M) -> M {
    for i in 0..INPUTS {
        model.declare_input(&i.to_string(), InputKind::Numeric).unwrap();
    }
    model
}

/// Three classes, the last of which appears late, and weights.
fn samples(count: usize) -> Block {
    let options = HyperplaneOptions { inputs: INPUTS, noise: 0.1, ..HyperplaneOptions::default() };
    let mut plain = Block::new();
    Hyperplane::new(options).unwrap().take(count as u64).read_block(&mut plain, count).unwrap();
    let mut block = Block::new();
    for i in 0..count {
        let class = if i > 30 && i % 5 == 0 { 2 } else { plain.class(i) };
        block.push(plain.sample(i), class, [1.0, 2.0, 0.5][i % 3]).unwrap();
    }
    block
}

/// The samples of a least-squares method: rows √w·a and targets √w·y.
struct Definition {
    rows: Vec<Vec<f64>>,
    targets: Vec<[f64; 3]>,
}

impl Definition {
    fn new() -> Self {
        Definition { rows: Vec::new(), targets: Vec::new() }
    }

    fn learn(&mut self, a: &[f64], class: usize, weight: f64) {
        let root = weight.sqrt();
        self.rows.push(a.iter().map(|a| root * a).collect());
        let mut target = [0.0; 3];
        target[class] = root;
        self.targets.push(target);
    }

    fn features(&self) -> Mat<f64> {
        Mat::from_fn(self.rows.len(), self.rows[0].len(), |i, j| self.rows[i][j])
    }

    fn targets(&self) -> Mat<f64> {
        Mat::from_fn(self.targets.len(), 3, |i, j| self.targets[i][j])
    }

    /// The least-squares solution of minimum norm.
    fn minimum_norm(&self) -> Mat<f64> {
        let svd = self.features().thin_svd().unwrap();
        let largest = svd.S()[0];
        let mut right = svd.U().transpose() * self.targets();
        for i in 0..right.nrows() {
            let s = svd.S()[i];
            let inverse = if s > 1e-9 * largest { 1.0 / s } else { 0.0 };
            (0..3).for_each(|j| right[(i, j)] *= inverse);
        }
        svd.V() * right
    }
}

fn product(a: &[f64], w: &Mat<f64>) -> Vec<f64> {
    (0..w.ncols()).map(|j| a.iter().zip(w.col_as_slice(j)).map(|(a, w)| a * w).sum()).collect()
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < tolerance, "{what}: {found} is not {expected}");
    }
}

fn equals_online_bls<S: Solver>(name: &str) {
    let mut expected = declared(OnlineBls::new(config(1e-2)).unwrap());
    let mut found = declared(BroadBaseline::<S>::new(config(1e-2)).unwrap());
    let samples = samples(250);
    for i in 0..samples.len() {
        let (x, class, weight) = (samples.sample(i), samples.class(i), samples.weight(i));
        let (of_found, of_expected) = (found.features_one(x), expected.features_one(x));
        assert_eq!(of_found.unwrap(), of_expected.unwrap(), "{name}: the features are the same");
        let (scores, known) = (found.scores_one(x).unwrap(), expected.scores_one(x).unwrap());
        assert_eq!(scores.len(), known.len(), "{name}");
        assert_near(&scores, &known, 1e-8, name);
        found.learn_one(x, class, weight).unwrap();
        expected.learn_one(x, class, weight).unwrap();
    }
}

#[test]
fn the_papers_update_equals_online_bls() {
    equals_online_bls::<Eous>("EOUS");
}

#[cfg(feature = "dense-baselines")]
#[test]
fn refactorising_and_inverting_equal_online_bls() {
    equals_online_bls::<Refactorise>("refactorise");
    equals_online_bls::<RiBls>("RI-BLS");
}

#[test]
fn i_bls_is_the_least_squares_solution_of_minimum_norm() {
    // There are 29 nodes of a lower rank: the linear ones are 8 of 4 inputs and a bias.
    let mut model = declared(BroadBaseline::<IBls>::new(config(1e-100)).unwrap());
    let mut definition = Definition::new();
    let samples = samples(90);
    let mut checked = 0;
    for i in 0..samples.len() {
        let (x, class, weight) = (samples.sample(i), samples.class(i), samples.weight(i));
        let a = model.features_one(x).unwrap();
        // With about as many samples as the rank, the solution is barely determined.
        if (1..15).contains(&i) || i > 60 {
            let expected = product(&a, &definition.minimum_norm());
            assert_near(&model.scores_one(x).unwrap(), &expected, 1e-6, &format!("sample {i}"));
            checked += 1;
        }
        definition.learn(&a, class, weight);
        model.learn_one(x, class, weight).unwrap();
    }
    assert_eq!(checked, 14 + 29);
}

#[test]
fn i_bls_ends_at_the_memory_limit_and_stays_as_it_was() {
    let limited = OnlineBlsConfig { memory_limit: 60_000, ..config(1e-2) };
    let mut model = declared(BroadBaseline::<IBls>::new(limited).unwrap());
    let samples = samples(200);
    let refused = (0..samples.len()).find_map(|i| {
        let before = model.scores_one(samples.sample(0)).unwrap();
        let learned = model.learn_one(samples.sample(i), samples.class(i), 1.0);
        learned.err().map(|error| (i, error, before))
    });
    let Some((reached, Error::Memory { limit: 60_000, needed, .. }, before)) = refused else {
        panic!("expected the memory limit");
    };
    assert!(reached > 20 && needed > 60_000);
    assert_eq!(model.scores_one(samples.sample(0)).unwrap(), before);
    let mut scores = Scores::new();
    assert!(model.test_then_train(&samples, &mut scores).is_err());
    assert!(scores.is_empty());
    assert_eq!(model.scores_one(samples.sample(0)).unwrap(), before);
}

#[cfg(feature = "dense-baselines")]
#[test]
fn bls_cil_has_its_closed_form() {
    use faer::linalg::solvers::Solve;
    let options = BlsCilOptions { separation: 0.05, compactness: 0.2 };
    let model = BroadBaseline::<BlsCil>::with_options(config(1.0), options);
    let mut model = declared(model.unwrap());
    let m = model.features();
    let mut k = Mat::<f64>::identity(m, m);
    let mut sum = Mat::<f64>::zeros(m, 3);
    let mut previous: Option<(Vec<f64>, usize)> = None;
    let samples = samples(150);
    for i in 0..samples.len() {
        let (x, class, weight) = (samples.sample(i), samples.class(i), samples.weight(i));
        let a = model.features_one(x).unwrap();
        let expected = product(&a, &k.partial_piv_lu().solve(&sum));
        assert_near(&model.scores_one(x).unwrap(), &expected, 1e-9, &format!("sample {i}"));
        model.learn_one(x, class, weight).unwrap();
        let (p, lambda) = match &previous {
            None => (a.clone(), 0.0),
            Some((p, before)) => (p.clone(), if *before == class { 0.2 } else { -0.05 }),
        };
        for r in 0..m {
            for s in 0..m {
                k[(r, s)] += weight * a[r] * a[s] + lambda * (p[r] - a[r]) * (p[s] - a[s]);
            }
            sum[(r, class)] += weight * a[r];
        }
        previous = Some((a, class));
    }
}

fn weight_is_repetition<S: Solver>(name: &str) {
    let unscaled = OnlineBlsConfig { scaling: Scaling::None, ..config(1e-2) };
    let make = || declared(BroadBaseline::<S>::new(unscaled.clone()).unwrap());
    let (mut weighted, mut repeated) = (make(), make());
    let samples = samples(60);
    for i in 0..samples.len() {
        let times = i % 3 + 1;
        weighted.learn_one(samples.sample(i), samples.class(i), times as f64).unwrap();
        for _ in 0..times {
            repeated.learn_one(samples.sample(i), samples.class(i), 1.0).unwrap();
        }
    }
    for i in 0..10 {
        let x = samples.sample(i);
        let expected = repeated.scores_one(x).unwrap();
        assert_near(&weighted.scores_one(x).unwrap(), &expected, 1e-8, name);
    }
}

#[test]
fn an_integer_weight_is_a_repetition() {
    weight_is_repetition::<Eous>("EOUS");
    #[cfg(feature = "dense-baselines")]
    {
        weight_is_repetition::<Refactorise>("refactorise");
        weight_is_repetition::<RiBls>("RI-BLS");
        weight_is_repetition::<BlsCil>("BLS-CIL");
    }
}

#[cfg(feature = "dense-baselines")]
#[test]
fn a_singular_matrix_is_an_error_that_leaves_no_trace() {
    // A sum of three products has rank three, which a ridge of 1e-100 cannot repair.
    let config = OnlineBlsConfig { scaling: Scaling::None, ..config(1e-100) };
    let mut model = declared(BroadBaseline::<Refactorise>::new(config).unwrap());
    let samples = samples(3);
    let refused = model.learn_many(&samples);
    assert!(matches!(refused, Err(Error::Singular { .. })), "{refused:?}");
    let refused = model.learn_one(samples.sample(0), 0, 1.0);
    assert!(matches!(refused, Err(Error::Singular { .. })), "{refused:?}");
    assert_eq!(model.classes(), 0);
    assert!(model.scores_one(samples.sample(0)).unwrap().is_empty());
}

#[test]
fn what_has_no_meaning_is_refused() {
    let forgetting = OnlineBlsConfig { forgetting: Forgetting::Fixed(0.99), ..config(1.0) };
    let refused = BroadBaseline::<Eous>::new(forgetting).unwrap_err().to_string();
    let message = "forgetting must be unset for a model that does not forget, got 0.99";
    assert_eq!(refused, message);
    let refresh = OnlineBlsConfig { refresh_every: Some(5), ..config(1.0) };
    assert!(BroadBaseline::<Eous>::new(refresh).is_err());
    let options = IBlsOptions { zero_tolerance: -1.0 };
    assert!(BroadBaseline::<IBls>::with_options(config(1.0), options).is_err());
    let immense = OnlineBlsConfig { enhancement_nodes: Nodes::Fixed(usize::MAX), ..config(1.0) };
    let refused = BroadBaseline::<Eous>::new(immense.clone());
    assert!(matches!(refused, Err(Error::Memory { what: "the nodes", .. })));
    assert!(BroadBaseline::<IBls>::new(immense).is_err());
    let mut model = declared(BroadBaseline::<Eous>::new(config(1.0)).unwrap());
    assert!(model.learn_one(Sample::dense(&[0.0; 5]), 0, 1.0).is_err());
}
