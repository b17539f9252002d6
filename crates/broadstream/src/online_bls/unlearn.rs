//! Unlearning samples and correcting labels.

use super::OnlineBls;
use crate::{
    classifier::Classifier,
    data::{Block, Sample, check_class, check_weight},
    ensemble::Ensemble,
    error::Error,
    regression::{Batch, factor::Health},
};

/// How exact a model is after samples were unlearned or corrected.
///
/// The sums over the samples that remain are known to 32 digits in a random direction, and the
/// model is compared with them. From that and from the condition number follows how far its scores
/// may be from those of a model that was trained on the remaining samples alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certificate {
    /// The number of samples that were unlearned or corrected.
    pub samples: u64,
    /// The estimated error of scores after the call, relative to the largest score. It is at most
    /// [`LARGEST_ERROR`](crate::LARGEST_ERROR); otherwise the call is refused.
    pub error: f64,
    /// The estimated condition number of the regression with that error.
    pub condition: f64,
}

impl OnlineBls {
    /// Unlearns a sample that was learned with this class and weight. Afterwards the regressions
    /// are those of all other samples.
    ///
    /// This is exact if the model forgets nothing and its scaling is frozen, and refused otherwise;
    /// see [`unlearn_many`](Self::unlearn_many).
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
    /// assert!(certificate.error < 1e-12);
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

    /// Unlearns all samples of a block, or none if one of them is refused.
    ///
    /// Unlearning is refused if the model is not a sum over its samples, or if a sample cannot have
    /// been learned, since no valid model would remain. A sample that was not learned but could
    /// have been is not noticed. Neither is one that was learned before a running scaling was
    /// frozen, and had other features then.
    ///
    /// The weights of nested models in predictions follow their recent errors, and stay as they
    /// are.
    pub fn unlearn_many(&mut self, block: &Block) -> Result<Certificate, Error> {
        self.unlearn_block(block).map_err(|(sample, error)| match sample {
            Some(i) => Error::Sample { sample: i as u64 + 1, reason: Box::new(error) },
            None => error,
        })
    }

    /// Unlearns a block. An error comes with the position of the sample, if it is about one.
    fn unlearn_block(&mut self, block: &Block) -> Result<Certificate, (Option<usize>, Error)> {
        self.check_exact("unlearn").map_err(|error| (None, error))?;
        // Totals are reduced in a copy, and so are the regressions, so that a refused block changes
        // nothing.
        let mut totals = self.class_totals.clone();
        for i in 0..block.len() {
            let (class, weight) = (block.class(i), block.weight(i));
            let checked = self.features.inputs().check(block.sample(i));
            checked
                .and_then(|()| subtract(&mut totals, class, weight))
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
        let mut ensemble = self.ensemble.clone();
        ensemble.unlearn(&rows).map_err(|(row, error)| (Some(counted[row]), error))?;
        let certified = self.certify("unlearn", &ensemble, counted.len() as u64);
        let certificate = certified.map_err(|error| (None, error))?;
        self.ensemble = ensemble;
        self.take_totals(totals);
        Ok(certificate)
    }

    /// The certificate of an ensemble that is to replace the model's own.
    fn certify(
        &self,
        operation: &'static str,
        ensemble: &Ensemble,
        samples: u64,
    ) -> Result<Certificate, Error> {
        let Health { error, condition, .. } = self.check_trust(operation, ensemble)?;
        Ok(Certificate { samples, error, condition })
    }

    /// Takes over totals from which samples were subtracted, and notes which classes that emptied.
    fn take_totals(&mut self, totals: Vec<f64>) {
        for (class, total) in totals.iter().enumerate() {
            let before = self.class_totals.get(class).copied().unwrap_or(0.0);
            if *total > 0.0 {
                self.emptied.retain(|emptied| *emptied != class);
            } else if before > 0.0 {
                self.emptied.push(class);
            }
        }
        self.class_totals = totals;
    }

    /// Replaces the class of a sample that was learned with this weight. Afterwards the regressions
    /// are those of a model that learned the sample with its new class, which may be the next new
    /// one.
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
            return self.certify("correct a label", &self.ensemble, 0);
        }
        let mut totals = self.class_totals.clone();
        subtract(&mut totals, class, weight)?;
        totals.resize(classes.max(totals.len()), 0.0);
        totals[new_class] += weight;
        let features = self.features_one(x)?;
        self.check_memory("the classes", self.inputs(), classes)?;
        let mut change = vec![0.0; classes];
        change[class] -= 1.0;
        change[new_class] += 1.0;
        let mut ensemble = self.ensemble.clone();
        ensemble.correct(&features, &change, weight)?;
        let certificate = self.certify("correct a label", &ensemble, 1)?;
        self.ensemble = ensemble;
        self.take_totals(totals);
        Ok(certificate)
    }
}

/// Subtracts a sample's weight from the total of its class.
fn subtract(totals: &mut [f64], class: usize, weight: f64) -> Result<(), Error> {
    // Sums of weights such as 0.1, which no float represents exactly, may have lost this share.
    const ROUNDING: f64 = 1e-9;
    let learned = totals.get(class).copied().unwrap_or(0.0);
    if weight > learned * (1.0 + ROUNDING) {
        return Err(Error::NeverLearned { class, weight, learned });
    }
    if let Some(total) = totals.get_mut(class) {
        let left = *total - weight;
        *total = if left > ROUNDING * weight { left } else { 0.0 };
    }
    Ok(())
}
