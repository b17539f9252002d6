//! Merging models that were trained separately.
//!
//! A model that forgets nothing is a sum over its samples: K = λI + P with P = Σ w·a·aᵀ, and
//! Q = Σ w·a·yᵀ. If several models have the same features, the sums of their P and of their Q are
//! those of one model that learned all samples; the ridge λI counts once. The sums are never formed:
//! a factor learns another one's columns as if they were samples, which is as exact as learning the
//! samples themselves. Inputs are matched by name. Classes are matched by the caller, since each
//! model numbers them in order of appearance.

use super::{OnlineBls, partial::Partial};
use crate::{
    classifier::Classifier, config::OnlineBlsConfig, data::check_class, ensemble::Ensemble,
    error::Error, features::BroadFeatures, preprocessing::Scaling,
};

impl OnlineBls {
    /// A model without inputs that has learned nothing, but will have the same features as this
    /// one: it takes over the configuration, and the scaling as it is now, frozen. Models that were
    /// made like this can be [merged](Self::merge) with each other after learning.
    pub fn like(&self) -> Result<Self, Error> {
        let mut model = OnlineBls::new(self.config.clone())?;
        // A scaling that has seen no sample must not be frozen: it would map everything to 0
        // forever.
        if self.learned() > 0 || self.features.inputs().is_frozen() {
            model.features.take_scaling(&self.features);
        }
        Ok(model)
    }

    /// Adds what another model has learned: the regressions become those of one model that learned
    /// the samples of both. `classes[k]` is the number in this model of the other model's class k;
    /// it may be a new class.
    ///
    /// Both models must be sums over their samples (forgetting 1, no stacking, no window, no class
    /// weights) and have the same features: seed, sizes, ridge and frozen scaling. Anything else is
    /// refused, and so are models so badly conditioned that scores of either, or of the result, could
    /// be off by more than 1e-7.
    /// Each model may have inputs and classes that the other does not know. Nested models
    /// are combined by the errors of both.
    ///
    /// ```
    /// use broadstream::{Classifier, InputKind, OnlineBls, OnlineBlsConfig, Sample, Scaling};
    ///
    /// let config = OnlineBlsConfig { scaling: Scaling::None, ..OnlineBlsConfig::single() };
    /// let mut models = [OnlineBls::new(config.clone())?, OnlineBls::new(config.clone())?];
    /// let mut one = OnlineBls::new(config)?;
    /// one.declare_input("x", InputKind::Numeric)?;
    /// for (part, model) in models.iter_mut().enumerate() {
    ///     model.declare_input("x", InputKind::Numeric)?;
    ///     for i in 0..20 {
    ///         let (x, class) = ([f64::from(i) + part as f64], usize::from(i > 9));
    ///         model.learn_one(Sample::dense(&x), class, 1.0)?;
    ///         one.learn_one(Sample::dense(&x), class, 1.0)?;
    ///     }
    /// }
    /// let [mut merged, other] = models;
    /// merged.merge(&other, &[0, 1])?;
    /// let pairs = merged.weights().into_values().into_iter().zip(one.weights().into_values());
    /// assert!(pairs.into_iter().all(|(merged, one)| (merged - one).abs() < 1e-9));
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn merge(&mut self, other: &OnlineBls, classes: &[usize]) -> Result<(), Error> {
        other.check_exact("merge")?;
        let totals = &other.class_totals;
        self.check_merge(&other.config, &other.features, totals.len(), classes)?;
        other.check_trust("merge", &other.ensemble)?;
        let mut ensemble = self.ensemble.clone();
        ensemble.merge(&other.ensemble, classes)?;
        self.take_merged(ensemble, &other.features, totals, classes)?;
        self.decisions.merge(&other.decisions, classes);
        let (own, theirs) = (self.features.inputs().columns(), other.features.inputs().columns());
        self.importance.merge(&other.importance, own, theirs);
        Ok(())
    }

    /// Adds the samples that were [added up](Partial) without a model. `classes[k]` is the number
    /// in this model of their class k, and the same rules apply as to [`merge`](Self::merge).
    pub fn merge_partial(&mut self, partial: &Partial, classes: &[usize]) -> Result<(), Error> {
        let totals = partial.class_totals();
        self.check_merge(partial.config(), partial.features(), totals.len(), classes)?;
        let mut ensemble = self.ensemble.clone();
        ensemble.merge_sums(partial.sums(), partial.probes(), classes, partial.learned())?;
        self.take_merged(ensemble, partial.features(), totals, classes)?;
        self.decisions.add_totals(totals, classes);
        Ok(())
    }

    /// Checks everything that could prevent a merge, so that a refused one leaves no trace.
    fn check_merge(
        &self,
        config: &OnlineBlsConfig,
        features: &BroadFeatures,
        known: usize,
        classes: &[usize],
    ) -> Result<(), Error> {
        self.check_exact("merge")?;
        check_alike(&self.config, config)?;
        self.features.check_mergeable(features)?;
        let new = check_numbering(classes, known, self.classes())?;
        let inputs = self.features.inputs();
        let added = features.inputs().declared().iter();
        let added = added.filter(|input| inputs.position(&input.name).is_none()).count();
        self.check_memory("the inputs and classes", inputs.len() + added, new)?;
        // What others learned would hide the errors of this model, but not undo them.
        self.check_trust("merge", &self.ensemble)?;
        Ok(())
    }

    /// Takes over a merged ensemble after all checks. `totals` are the other's, in its own numbering
    /// of classes.
    fn take_merged(
        &mut self,
        ensemble: Ensemble,
        features: &BroadFeatures,
        totals: &[f64],
        classes: &[usize],
    ) -> Result<(), Error> {
        self.check_trust("merge", &ensemble)?;
        // Weights need no reordering by input: the random weights of an input depend on its name,
        // not on its position.
        self.features.take_inputs(features)?;
        // A given scaling has grown by the other's inputs, and the configuration must say so.
        self.config.scaling = self.features.inputs().rule().clone();
        self.ensemble = ensemble;
        self.class_totals.resize(self.ensemble.classes(), 0.0);
        for (total, class) in totals.iter().zip(classes) {
            self.class_totals[*class] += total;
            self.emptied.retain(|emptied| emptied != class || *total == 0.0);
        }
        Ok(())
    }
}

/// Checks that two configurations have the same features and solve the same problem.
pub(super) fn check_alike(own: &OnlineBlsConfig, other: &OnlineBlsConfig) -> Result<(), Error> {
    let describe = |config: &OnlineBlsConfig| {
        [
            ("seed", config.seed.to_string()),
            ("numbers of feature nodes", config.linear().to_string()),
            ("numbers of enhancement nodes", config.enhancement().to_string()),
            ("enhancement source", format!("{:?}", config.enhancement_source)),
            ("activation", format!("{:?}", config.activation)),
            ("weight scale", format!("{:?}", config.weight_scale)),
            ("ridge", config.ridge.to_string()),
            ("forgetting", config.forgetting.to_string()),
            ("numbers of nested models", config.nested_models.to_string()),
        ]
    };
    for ((what, own), (_, other)) in describe(own).into_iter().zip(describe(other)) {
        if own != other {
            return Err(Error::Unlike { what, own, other });
        }
    }
    // Given scalings may list different inputs. Those that both list are compared where the inputs
    // are matched.
    let both_given =
        matches!((&own.scaling, &other.scaling), (Scaling::Given(_), Scaling::Given(_)));
    if own.scaling != other.scaling && !both_given {
        let [own, other] = [own, other].map(|config| config.to_json()["scaling"].to_string());
        return Err(Error::Unlike { what: "scaling", own, other });
    }
    Ok(())
}

/// Checks that the other's classes get different numbers here and that new numbers leave no gaps.
/// Returns how many classes there will be. `known` is the other's number of classes, `own` this
/// model's.
pub(super) fn check_numbering(classes: &[usize], known: usize, own: usize) -> Result<usize, Error> {
    if classes.len() != known {
        let (expected, found) = (known, classes.len());
        return Err(Error::Length { what: "the numbers of the other's classes", expected, found });
    }
    let mut sorted = classes.to_vec();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        let reason = format!("two classes of the other would both be class {}", pair[0]);
        return Err(Error::NotExact { operation: "merge", reason });
    }
    // In increasing order each number must be a known class or the next new one.
    let mut next = own;
    for class in sorted {
        next = check_class(class, next)?;
    }
    Ok(next)
}
