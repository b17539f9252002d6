//! Which options a model has. One that could not have any effect is refused: whoever gives it expects
//! something of it.

use anyhow::Result;
use broadstream::{OnlineBlsConfig, Preset, Scope};

use crate::args::{BadUsage, BaselineArguments, ModelArguments, ModelName};

/// Options that go together: a model has all of them or none.
#[derive(Clone, Copy, PartialEq)]
enum OptionSet {
    /// Options of the online broad learning system that others have too.
    Of(Scope),
    ZeroTolerance,
    ClassTerms,
    Aggressiveness,
    HiddenLayers,
    Hedge,
}

/// Refuses options that the model does not have.
pub(crate) fn check(arguments: &ModelArguments) -> Result<()> {
    let name = arguments.model.name();
    let given = given(arguments);
    if arguments.like.is_some() {
        check_like(arguments, &given)?;
    }
    let option_sets = option_sets(arguments.model);
    if let Some((option, _)) = given.iter().find(|(_, of)| !option_sets.contains(of)) {
        return Err(BadUsage(format!("the model {name} has no {option}")).into());
    }
    if arguments.preset == Preset::PaperDrift
        && is_broad(arguments.model)
        && !shares(arguments.model)
    {
        let rule = format!("the model {name} does not forget: use --preset paper");
        return Err(BadUsage(rule).into());
    }
    Ok(())
}

/// Refuses a model that this build does not have.
pub(crate) fn check_built(model: ModelName) -> Result<()> {
    let dense = matches!(model, ModelName::Refactorise | ModelName::RiBls | ModelName::BlsCil);
    if dense && !cfg!(feature = "dense-baselines") {
        return Err(not_built(&format!("the model {}", model.name())));
    }
    Ok(())
}

/// The error of a build without the feature `dense-baselines` that is asked for something that needs it.
pub(crate) fn not_built(what: &str) -> anyhow::Error {
    let rule = format!(
        "{what} needs a build with --features dense-baselines: 'make build' makes one that has \
         everything"
    );
    BadUsage(rule).into()
}

/// Refuses whatever a saved model already decides.
fn check_like(arguments: &ModelArguments, given: &[(String, OptionSet)]) -> Result<()> {
    // How many threads are at work is no property of a model.
    let option = given.iter().map(|(option, _)| option.as_str()).find(|name| *name != "--threads");
    let preset = (arguments.preset != Preset::Default).then_some("--preset");
    if let Some(option) = option.or(preset) {
        let rule =
            format!("--like takes all options of the model from the file: leave {option} out");
        return Err(BadUsage(rule).into());
    }
    if arguments.model != ModelName::OnlineBls {
        let name = arguments.model.name();
        return Err(BadUsage(format!("the model {name} has no --like")).into());
    }
    Ok(())
}

/// Whether a model draws random numbers.
pub(crate) fn takes_seed(model: ModelName) -> bool {
    option_sets(model).contains(&OptionSet::Of(Scope::Seeded))
}

/// Whether a model is a broad learning system.
pub(crate) fn is_broad(model: ModelName) -> bool {
    option_sets(model).contains(&OptionSet::Of(Scope::Broad))
}

/// Whether a model can have several threads.
pub(crate) fn shares(model: ModelName) -> bool {
    option_sets(model).contains(&OptionSet::Of(Scope::OnlineBls))
}

/// Whether a model has the options of a scope.
pub(crate) fn has(model: ModelName, scope: Scope) -> bool {
    option_sets(model).contains(&OptionSet::Of(scope))
}

fn option_sets(model: ModelName) -> &'static [OptionSet] {
    use OptionSet::{Aggressiveness, ClassTerms, Hedge, HiddenLayers, Of, ZeroTolerance};
    use Scope::{Broad, Inputs, OnlineBls, Ridge, Seeded};
    match model {
        ModelName::OnlineBls => &[Of(Broad), Of(Ridge), Of(OnlineBls), Of(Seeded), Of(Inputs)],
        ModelName::RiBls | ModelName::Refactorise | ModelName::Eous => {
            &[Of(Broad), Of(Ridge), Of(Seeded), Of(Inputs)]
        }
        ModelName::IBls => &[Of(Broad), Of(Ridge), ZeroTolerance, Of(Seeded), Of(Inputs)],
        ModelName::BlsCil => &[Of(Broad), ClassTerms, Of(Seeded), Of(Inputs)],
        ModelName::Perceptron => &[Of(Inputs)],
        ModelName::PassiveAggressive => &[Of(Inputs), Aggressiveness],
        ModelName::MultilayerPerceptron => &[Of(Inputs), Of(Seeded), HiddenLayers],
        ModelName::HedgeBackpropagation => &[Of(Inputs), Of(Seeded), HiddenLayers, Hedge],
        ModelName::NoChange | ModelName::Majority => &[],
    }
}

/// The options that were given, as the user typed them, and to which set each belongs.
fn given(arguments: &ModelArguments) -> Vec<(String, OptionSet)> {
    let options = OnlineBlsConfig::options().iter();
    let options = options.filter(|option| arguments.options.given.contains_key(option.name));
    let flag = |name: &str| format!("--{}", name.replace('_', "-"));
    let mut given: Vec<_> =
        options.map(|option| (flag(option.name), OptionSet::Of(option.scope))).collect();
    let BaselineArguments {
        zero_tolerance,
        separation,
        compactness,
        aggressiveness,
        hidden_layers,
        hidden_nodes,
        learning_rate,
        discount,
        smoothing,
    } = &arguments.baseline;
    let others = [
        ("--scaling-file", OptionSet::Of(Scope::Inputs), arguments.scaling_file.is_some()),
        ("--zero-tolerance", OptionSet::ZeroTolerance, zero_tolerance.is_some()),
        ("--separation", OptionSet::ClassTerms, separation.is_some()),
        ("--compactness", OptionSet::ClassTerms, compactness.is_some()),
        ("--aggressiveness", OptionSet::Aggressiveness, aggressiveness.is_some()),
        ("--hidden-layers", OptionSet::HiddenLayers, hidden_layers.is_some()),
        ("--hidden-nodes", OptionSet::HiddenLayers, hidden_nodes.is_some()),
        ("--learning-rate", OptionSet::HiddenLayers, learning_rate.is_some()),
        ("--discount", OptionSet::Hedge, discount.is_some()),
        ("--smoothing", OptionSet::Hedge, smoothing.is_some()),
    ];
    let others = others.into_iter().filter(|(_, _, is_given)| *is_given);
    given.extend(others.map(|(option, of, _)| (option.to_owned(), of)));
    given
}
