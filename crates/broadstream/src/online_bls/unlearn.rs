//! Samples that are taken back, and labels that are put right.

use super::OnlineBls;
use crate::{
    classifier::Classifier,
    data::{Block, Sample, check_class, check_weight},
    error::Error,
    regression::Batch,
};

/// How well a model solves the equations of what it has learned, before something was taken back and
/// after it.
///
/// With the sums K and Q of before, the features a, targets y and weights w of the samples taken back, and
/// the weights W of the model after it, the residual is the norm of (K − Σ w·a·aᵀ)W − (Q − Σ w·a·yᵀ),
/// relative to that of Q − Σ w·a·yᵀ: zero but for rounding if the model is the optimum of the samples that
/// are left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certificate {
    /// How many samples were taken back or put right.
    pub samples: u64,
    /// The residual of the model as it was.
    pub residual_before: f64,
    /// The residual of the model as it is, in the equations without the samples taken back.
    pub residual_after: f64,
}

impl OnlineBls {
    /// Takes back a sample that was learned with that class and weight. Afterwards the regressions are
    /// those of all other samples.
    ///
    /// That is exact while nothing is forgotten and the scaling is frozen, and refused otherwise; see
    /// [`unlearn_many`](Self::unlearn_many).
    ///
    /// ```
    /// use broadstream::{Classifier, InputKind, OnlineBls, OnlineBlsConfig, Sample, Scaling};
    ///
    /// let config = OnlineBlsConfig { scaling: Scaling::None, ..OnlineBlsConfig::single() };
    /// let mut model = OnlineBls::new(config)?;
    /// model.declare_input("x", InputKind::Numeric)?;
    /// for i in 0..20 {
    ///     model.learn_one(Sample::dense(&[f64::from(i) / 10.0]), usize::from(i > 9), 1.0)?;
    /// }
    /// let certificate = model.unlearn_one(Sample::dense(&[0.3]), 0, 1.0)?;
    /// assert!(certificate.residual_after < 1e-12);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn unlearn_one(
        &mut self,
        x: Sample<'_>,
        class: usize,
        weight: f64,
    ) -> Result<Certificate, Error> {
        let mut block = Block::new();
        block.push(x, class, weight)?;
        self.unlearn_block(&block).map_err(|(_, error)| error)
    }

    /// Takes back all samples of a block, or none if one of them is refused: because the model is not a
    /// sum over its samples, or because a sample cannot have been learned, in which case nothing sound would
    /// be left. A sample that could have been learned and was not is not noticed. Nor is one that was
    /// learned before a running scaling froze, and had other features then.
    ///
    /// The shares of nested models in predictions, which follow their recent errors, stay as they are.
    pub fn unlearn_many(&mut self, block: &Block) -> Result<Certificate, Error> {
        self.unlearn_block(block).map_err(|(sample, error)| match sample {
            Some(i) => Error::Sample { sample: i as u64 + 1, source: Box::new(error) },
            None => error,
        })
    }

    /// An error comes with the sample that it is about.
    fn unlearn_block(&mut self, block: &Block) -> Result<Certificate, (Option<usize>, Error)> {
        self.check_exact("unlearn").map_err(|error| (None, error))?;
        let mut totals = self.class_totals.clone();
        for i in 0..block.len() {
            let (class, weight) = (block.class(i), block.weight(i));
            let checked = self.features.inputs().check(block.sample(i));
            checked
                .and_then(|()| take_from(&mut totals, class, weight))
                .map_err(|error| (Some(i), error))?;
        }
        let counted: Vec<usize> = (0..block.len()).filter(|i| block.weight(*i) > 0.0).collect();
        let features = self.features.of_all(block).map_err(|error| (None, error))?.plain;
        let (order, classes) = (self.features(), self.classes());
        let mut rows = Batch::default();
        for &i in &counted {
            rows.features.plain.extend_from_slice(&features[i * order..][..order]);
            rows.push_target(block.class(i), classes, block.weight(i));
        }
        let unlearned = self.ensemble.unlearn(&rows);
        let (residual_before, residual_after) =
            unlearned.map_err(|(row, error)| (row.map(|row| counted[row]), error))?;
        self.class_totals = totals;
        let samples = counted.len() as u64;
        Ok(Certificate { samples, residual_before, residual_after })
    }

    /// Replaces the class of a sample that was learned with that weight. Afterwards the regressions are
    /// those of the sample with its new class, which may be the next new one.
    pub fn correct_one(
        &mut self,
        x: Sample<'_>,
        class: usize,
        new_class: usize,
        weight: f64,
    ) -> Result<Certificate, Error> {
        self.check_exact("correct a label")?;
        check_weight(weight)?;
        let classes = check_class(new_class, self.classes())?;
        if weight == 0.0 {
            let residual = self.ensemble.residual()?;
            let (residual_before, residual_after) = (residual, residual);
            return Ok(Certificate { samples: 0, residual_before, residual_after });
        }
        let mut totals = self.class_totals.clone();
        take_from(&mut totals, class, weight)?;
        totals.resize(classes.max(totals.len()), 0.0);
        totals[new_class] += weight;
        let features = self.features_one(x)?;
        self.check_memory("the classes", self.inputs(), classes)?;
        let mut change = vec![0.0; classes];
        change[class] -= 1.0;
        change[new_class] += 1.0;
        let (residual_before, residual_after) =
            self.ensemble.correct(&features, &change, weight)?;
        self.class_totals = totals;
        Ok(Certificate { samples: 1, residual_before, residual_after })
    }
}

/// Takes a sample's weight from what was learned of its class.
fn take_from(totals: &mut [f64], class: usize, weight: f64) -> Result<(), Error> {
    // Sums of weights that no float is exact for may have lost this much.
    const ROUNDING: f64 = 1e-9;
    let learned = totals.get(class).copied().unwrap_or(0.0);
    if weight > learned * (1.0 + ROUNDING) {
        return Err(Error::NeverLearned { class, weight, learned });
    }
    if let Some(total) = totals.get_mut(class) {
        *total = (*total - weight).max(0.0);
    }
    Ok(())
}
