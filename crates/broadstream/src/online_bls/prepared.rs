//! Samples whose features are fixed before their labels are known.

use super::OnlineBls;
use crate::{
    classifier::Classifier,
    data::{Sample, check_class, check_weight},
    error::Error,
    features::PreparedSample,
};

impl OnlineBls {
    /// Keeps what is needed to learn a sample later with the features that it has now.
    ///
    /// [`LateLabels`](crate::LateLabels) keeps such samples by ticket. This is for programs that keep them in
    /// a place of their own.
    ///
    /// ```
    /// use broadstream::{Classifier, InputKind, OnlineBls, OnlineBlsConfig, Sample};
    ///
    /// let mut model = OnlineBls::new(OnlineBlsConfig::single())?;
    /// model.declare_input("amount", InputKind::Numeric)?;
    /// let payment = model.prepare(Sample::dense(&[12.5]))?;
    /// // A month later:
    /// model.learn_prepared(&payment, 0, 1.0)?;
    /// assert_eq!(model.learned(), 1);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn prepare(&self, x: Sample<'_>) -> Result<PreparedSample, Error> {
        self.features.prepare(x)
    }

    /// Learns a sample with the features that it had when it was [prepared](Self::prepare), by this model
    /// or by an earlier state of it. A sample with inputs or labels that the model does not know is refused.
    pub fn learn_prepared(
        &mut self,
        prepared: &PreparedSample,
        class: usize,
        weight: f64,
    ) -> Result<(), Error> {
        check_weight(weight)?;
        self.check_window()?;
        self.features.check_prepared(prepared)?;
        let known = self.classes();
        let classes = check_class(class, known)?;
        self.check_memory("the classes", self.inputs(), classes)?;
        self.ensemble.add_classes(classes);
        self.class_totals.resize(classes, 0.0);
        if weight == 0.0 {
            return Ok(());
        }
        if self.is_explanation_due(known) {
            self.count_importance(prepared, known)?;
        }
        self.fit_linear_nodes(prepared.sample());
        self.batch.clear();
        let counted = self.class_weights.weigh(class, weight);
        self.batch.push_target(class, classes, counted);
        self.batch.scaled.extend_from_slice(prepared.sample().values());
        self.features.learn_prepared(prepared, class, weight, &mut self.batch.features);
        if self.ensemble.remembers() {
            self.ensemble.remember(prepared.scaled().clone(), class, counted);
        }
        let learned = self.learn_batch(prepared.sample(), class)?;
        let mut prediction = self.ensemble.count(&learned, 0, known, class, counted)?;
        self.ensemble.exclude(&mut prediction, &self.emptied);
        self.count_decisions(&prediction.scores, class, weight);
        self.add_total(class, weight);
        self.ensemble.adapt(&mut self.features)
    }
}
