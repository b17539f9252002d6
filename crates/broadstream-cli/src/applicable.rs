//! Which options a model has. One that could not have any effect is refused: whoever gives it expects
//! something of it.

use anyhow::Result;
use clap::ValueEnum;

use crate::{
    args::{ModelArguments, ModelName, Preset},
    failure::BadUsage,
};

/// Options that go together.
#[derive(Clone, Copy, PartialEq)]
enum Group {
    /// The random features.
    Broad,
    Ridge,
    /// What only the factor of Online-BLS can do.
    Factor,
    Seed,
    Inputs,
    ZeroTolerance,
    ClassTerms,
    Aggressiveness,
    Hidden,
    Hedge,
}

/// The name of a model as the user types it.
pub(crate) fn name(model: ModelName) -> String {
    model.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Refuses options that the model does not have.
pub(crate) fn check(arguments: &ModelArguments) -> Result<()> {
    let groups = groups(arguments.model);
    let name = name(arguments.model);
    if arguments.like.is_some() {
        // Threads are no property of a model.
        let given = given(arguments)
            .into_iter()
            .find(|(option, _, given)| *given && *option != "--threads");
        let other = if arguments.preset != Preset::Default { Some("--preset") } else { None };
        if let Some(option) = given.map(|(option, ..)| option).or(other) {
            let rule =
                format!("--like takes all options of the model from the file: leave {option} out");
            return Err(BadUsage(rule).into());
        }
        if !matches!(arguments.model, ModelName::OnlineBls) {
            return Err(BadUsage(format!("the model {name} has no --like")).into());
        }
    }
    let stray =
        given(arguments).into_iter().find(|(_, group, given)| *given && !groups.contains(group));
    if let Some((option, ..)) = stray {
        return Err(BadUsage(format!("the model {name} has no {option}")).into());
    }
    let forgets = groups.contains(&Group::Factor) || !groups.contains(&Group::Broad);
    if arguments.preset == Preset::PaperDrift && !forgets {
        let rule = format!("the model {name} does not forget: use --preset paper");
        return Err(BadUsage(rule).into());
    }
    Ok(())
}

/// Refuses a model that this build does not have.
pub(crate) fn check_built(model: ModelName) -> Result<()> {
    let dense = matches!(model, ModelName::Refactorise | ModelName::RiBls | ModelName::BlsCil);
    if dense && !cfg!(feature = "dense-baselines") {
        return Err(not_built(&format!("the model {}", name(model))));
    }
    Ok(())
}

/// The error of a build without the feature `dense-baselines` that is asked for something that needs
/// it.
pub(crate) fn not_built(what: &str) -> anyhow::Error {
    let rule = format!(
        "{what} needs a build with --features dense-baselines: 'make build' makes one that has \
         everything"
    );
    BadUsage(rule).into()
}

/// Whether a model draws random numbers.
pub(crate) fn takes_seed(model: ModelName) -> bool {
    groups(model).contains(&Group::Seed)
}

/// Whether a model is a broad learning system.
pub(crate) fn is_broad(model: ModelName) -> bool {
    groups(model).contains(&Group::Broad)
}

/// Whether a model can have several threads.
pub(crate) fn shares(model: ModelName) -> bool {
    groups(model).contains(&Group::Factor)
}

fn groups(model: ModelName) -> &'static [Group] {
    use Group::{
        Aggressiveness, Broad, ClassTerms, Factor, Hedge, Hidden, Inputs, Ridge, Seed,
        ZeroTolerance,
    };
    match model {
        ModelName::OnlineBls => &[Broad, Ridge, Factor, Seed, Inputs],
        ModelName::RiBls | ModelName::Refactorise | ModelName::Eous => {
            &[Broad, Ridge, Seed, Inputs]
        }
        ModelName::IBls => &[Broad, Ridge, ZeroTolerance, Seed, Inputs],
        ModelName::BlsCil => &[Broad, ClassTerms, Seed, Inputs],
        ModelName::Perceptron => &[Inputs],
        ModelName::PassiveAggressive => &[Inputs, Aggressiveness],
        ModelName::MultilayerPerceptron => &[Inputs, Seed, Hidden],
        ModelName::HedgeBackpropagation => &[Inputs, Seed, Hidden, Hedge],
        ModelName::NoChange | ModelName::Majority => &[],
    }
}

/// Each option, its group, and whether it was given.
fn given(arguments: &ModelArguments) -> [(&'static str, Group, bool); 31] {
    let a = arguments;
    [
        ("--forgetting", Group::Factor, a.forgetting.is_some()),
        ("--window", Group::Factor, a.window.is_some()),
        ("--refresh-every", Group::Factor, a.refresh_every.is_some()),
        ("--correction-steps", Group::Factor, a.correction_steps.is_some()),
        ("--nested-models", Group::Factor, a.nested_models.is_some()),
        ("--keep-weights", Group::Factor, a.keep_weights),
        ("--threads", Group::Factor, a.threads.is_some()),
        ("--stacking", Group::Factor, a.stacking.is_some()),
        ("--label-lags", Group::Factor, a.label_lags.is_some()),
        ("--class-weight", Group::Factor, a.class_weight.is_some()),
        ("--ridge", Group::Ridge, a.ridge.is_some()),
        ("--seed", Group::Seed, a.seed.is_some()),
        ("--feature-groups", Group::Broad, a.feature_groups.is_some()),
        ("--feature-nodes", Group::Broad, a.feature_nodes.is_some()),
        ("--enhancement-groups", Group::Broad, a.enhancement_groups.is_some()),
        ("--enhancement-nodes", Group::Broad, a.enhancement_nodes.is_some()),
        ("--enhancement-source", Group::Broad, a.enhancement_source.is_some()),
        ("--activation", Group::Broad, a.activation.is_some()),
        ("--scaling", Group::Inputs, a.scaling.is_some()),
        ("--scaling-file", Group::Inputs, a.scaling_file.is_some()),
        ("--freeze-scaling-after", Group::Inputs, a.freeze_scaling_after.is_some()),
        ("--memory-limit", Group::Inputs, a.memory_limit.is_some()),
        ("--zero-tolerance", Group::ZeroTolerance, a.zero_tolerance.is_some()),
        ("--separation", Group::ClassTerms, a.separation.is_some()),
        ("--compactness", Group::ClassTerms, a.compactness.is_some()),
        ("--aggressiveness", Group::Aggressiveness, a.aggressiveness.is_some()),
        ("--hidden-layers", Group::Hidden, a.hidden_layers.is_some()),
        ("--hidden-nodes", Group::Hidden, a.hidden_nodes.is_some()),
        ("--learning-rate", Group::Hidden, a.learning_rate.is_some()),
        ("--discount", Group::Hedge, a.discount.is_some()),
        ("--smoothing", Group::Hedge, a.smoothing.is_some()),
    ]
}
