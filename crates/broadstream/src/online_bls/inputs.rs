//! Declaring inputs together, withdrawing unused ones, and fitting their scaling before learning.

use super::OnlineBls;
use crate::{
    classifier::Classifier,
    data::{Block, Input},
    error::Error,
};

impl OnlineBls {
    /// Declares several inputs, or none if one of them is refused.
    pub fn declare_inputs(&mut self, inputs: &[Input]) -> Result<(), Error> {
        let before = self.inputs();
        for input in inputs {
            if let Err(error) = self.declare_input(&input.name, input.kind) {
                self.withdraw_inputs(before);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Withdraws the inputs that were declared after the first `keep`. An input that a learned
    /// sample has used stays, and so do all inputs before it. This way a sample with new inputs can
    /// be predicted as it would be learned, without leaving these inputs in the model.
    ///
    /// ```
    /// use broadstream::{Classifier, Input, InputKind, OnlineBls, OnlineBlsConfig, Sample};
    ///
    /// let mut model = OnlineBls::new(OnlineBlsConfig::single())?;
    /// model.declare_input("volts", InputKind::Numeric)?;
    /// model.learn_one(Sample::dense(&[231.5]), 0, 1.0)?;
    /// model.declare_inputs(&[Input { name: "mode=eco".into(), kind: InputKind::Indicator }])?;
    /// model.predict_one(Sample::dense(&[231.5, 1.0]))?;
    /// model.withdraw_inputs(0);
    /// assert_eq!(model.inputs(), 1);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn withdraw_inputs(&mut self, keep: usize) {
        self.features.withdraw_inputs(keep);
    }

    /// Checks that a model with this many inputs and classes stays within the memory limit.
    pub fn check_room(&self, inputs: usize, classes: usize) -> Result<(), Error> {
        self.check_memory("the inputs and classes", inputs, classes)
    }

    /// Checks that a block can be learned once the model knows this many classes, and returns how
    /// many it will know afterwards. Several blocks can be checked one after the other before any
    /// of them is learned; learning them will then not be refused. An error names the sample.
    pub fn check_many(&self, block: &Block, classes: usize) -> Result<usize, Error> {
        let mut known = classes;
        for i in 0..block.len() {
            let checked = block.sample(i).check_declared(self.inputs());
            known = checked
                .and_then(|()| self.features.inputs().check_size(block.sample(i)))
                .and_then(|()| crate::data::check_class(block.class(i), known))
                .map_err(|reason| Error::Sample {
                    sample: i as u64 + 1,
                    reason: Box::new(reason),
                })?;
        }
        self.check_memory("the classes", self.inputs(), known)?;
        Ok(known)
    }

    /// Fits a running scaling to samples without learning them. Classes are ignored, and so are
    /// samples of weight 0. After [`freeze_scaling`](Self::freeze_scaling) every sample is scaled
    /// in the same way, so that the order of samples does not matter and models can be merged.
    ///
    /// This is refused once the model has learned a sample, or if its scaling is frozen.
    ///
    /// ```
    /// use broadstream::{Block, Classifier, InputKind, OnlineBls, OnlineBlsConfig, Sample};
    ///
    /// let mut model = OnlineBls::new(OnlineBlsConfig::single())?;
    /// model.declare_input("volts", InputKind::Numeric)?;
    /// let mut block = Block::new();
    /// for volts in [228.0, 230.0, 235.0] {
    ///     block.push(Sample::dense(&[volts]), 0, 1.0)?;
    /// }
    /// model.observe_scaling(&block)?;
    /// model.freeze_scaling();
    /// model.learn_many(&block)?;
    /// assert!(model.unlearn_one(Sample::dense(&[230.0]), 0, 1.0).is_ok());
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn observe_scaling(&mut self, block: &Block) -> Result<(), Error> {
        let operation = "fit the scaling";
        let refused = |reason: String| Err(Error::NotExact { operation, reason });
        if self.learned() > 0 {
            return refused(format!("the model has learned {} samples with it", self.learned()));
        }
        if self.features.inputs().is_frozen() {
            return refused("it is frozen: given, none, or taken from another model".to_owned());
        }
        for i in 0..block.len() {
            block.sample(i).check_declared(self.inputs())?;
        }
        for i in (0..block.len()).filter(|i| block.weight(*i) > 0.0) {
            self.features.observe_scaling(block.sample(i), block.weight(i));
        }
        Ok(())
    }

    /// Freezes the scaling: it stays as it is from now on.
    pub fn freeze_scaling(&mut self) {
        self.features.freeze_scaling();
    }
}
