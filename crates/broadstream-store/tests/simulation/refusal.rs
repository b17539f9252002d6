//! Calls that a model must refuse, and why it may refuse others.

use broadstream::{
    Block, Classifier, Error, InputKind, LARGEST_ERROR, OnlineBls, OnlineBlsConfig, Ridge, Sample,
};

use super::{
    change::Change,
    dice::Dice,
    problem::{Kind, Problem},
    state::State,
};

/// Why a call that was sound was refused.
#[derive(Debug, PartialEq)]
pub(super) enum Reason {
    /// The model or its scaling does not permit it.
    Rule,
    /// The result could not be trusted.
    Distrust,
}

/// The reason for which a sound change was refused. Any that is not a good one fails the test.
pub(super) fn reason(problem: &Problem, change: &Change, error: &Error) -> Reason {
    let is_sum = matches!(problem.kind, Kind::Exact | Kind::Nested);
    match error {
        Error::Sample { reason: source, .. } => reason(problem, change, source),
        Error::IllConditioned { error, .. } => {
            assert!(*error > LARGEST_ERROR, "refused at {error:e}");
            Reason::Distrust
        }
        Error::CannotUnlearn { .. } => Reason::Distrust,
        Error::NotExact { .. } => {
            assert!(!is_sum || problem.scaling_runs(), "{error}");
            assert!(!matches!(change, Change::Declare(_) | Change::Learn(_)), "{error}");
            Reason::Rule
        }
        // A running scaling that is frozen knows nothing of a new input.
        Error::Config { option: "scaling", .. } if matches!(change, Change::Declare(_)) => {
            assert!(problem.scaling_runs(), "{error}");
            Reason::Rule
        }
        // What each took from its first sample.
        Error::Unlike { what: "inputs_per_sample", .. } => {
            assert!(problem.config.inputs_per_sample.is_none(), "{error}");
            Reason::Rule
        }
        error => panic!("{change} was refused: {error}"),
    }
}

/// Makes a call that the model must refuse, and returns what it was and the error, or `None` if it was
/// accepted.
pub(super) fn provoke(
    dice: &mut Dice,
    problem: &Problem,
    state: &State,
    model: &mut OnlineBls,
) -> (&'static str, Option<Error>) {
    let inputs = model.inputs();
    let classes = model.classes();
    let learn = |model: &mut OnlineBls, inputs: &[u32], value: f64, class, weight| {
        let values = vec![value; inputs.len()];
        let x = Sample::sparse(inputs, &values)?;
        // A good sample comes first, which must not be learned either.
        let mut block = Block::new();
        if classes > 0 {
            block.push(Sample::dense(&[]), 0, 1.0)?;
        }
        block.push(x, class, weight)?;
        model.learn_many(&block)
    };
    let unlearn = |model: &mut OnlineBls, class, weight| {
        model.unlearn_one(Sample::dense(&[]), class, weight).map(drop)
    };
    let (what, outcome) = match dice.below(12) {
        0 => ("an unknown input", learn(model, &[inputs as u32], 1.0, 0, 1.0)),
        1 if inputs > 0 => {
            let value = dice.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
            ("an input that is no number", learn(model, &[0], value, 0, 1.0))
        }
        2 if inputs > 0 && !problem.scaling_runs() => {
            ("an input that is too large", learn(model, &[0], -1e200, 0, 1.0))
        }
        3 => {
            let weight = dice.pick(&[f64::NAN, f64::INFINITY, -1.0, 1e13, 1e-13, 1e300]);
            ("a weight out of bounds", learn(model, &[], 0.0, 0, weight))
        }
        4 => ("a class that skips numbers", learn(model, &[], 0.0, classes + 1, 1.0)),
        5 if inputs > 0 => {
            let name = model.declared_inputs()[dice.below(inputs)].name.clone();
            ("an input of that name", model.declare_input(&name, InputKind::Numeric))
        }
        6 => ("unlearning of an unknown class", unlearn(model, classes, 1.0)),
        7 if classes > 0 => {
            let class = dice.below(classes);
            let weight = state.reference.total(class) * 1.001 + 1e-9;
            ("unlearning of more than was learned", unlearn(model, class, weight))
        }
        8 if classes > 0 => {
            let corrected = model.correct_one(Sample::dense(&[]), 0, classes + 1, 1.0).map(drop);
            ("a correction to a class that skips numbers", corrected)
        }
        9 => ("a merge with another seed", {
            let seed = problem.config.seed.wrapping_add(1);
            merge(model, OnlineBlsConfig { seed, ..problem.config.clone() })
        }),
        10 => ("a merge with another ridge", {
            let ridge = Ridge::Fixed(12.5);
            merge(model, OnlineBlsConfig { ridge, ..problem.config.clone() })
        }),
        _ => {
            let values = vec![f64::NAN; inputs + 1];
            ("a prediction for unknown inputs", model.scores_one(Sample::dense(&values)).map(drop))
        }
    };
    (what, outcome.err())
}

fn merge(model: &mut OnlineBls, config: OnlineBlsConfig) -> Result<(), Error> {
    let other = OnlineBls::new(config)?;
    model.merge(&other, &[])
}
