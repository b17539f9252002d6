//! How much a sample counts, by its class.
//!
//! A regression fits best where most samples are, so a class with ten samples out of fifty thousand
//! is hardly ever predicted. Weighting samples by their class corrects that in closed form, since a
//! sample of weight w counts like w samples.

use crate::{
    config::ClassWeight,
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// The largest weight that [`ClassWeight::Auto`] gives.
const LARGEST_AUTO: f64 = 10.0;

/// Computes class weights from running sums of the samples' own weights.
#[derive(Clone, Debug)]
pub(crate) struct ClassWeights {
    rule: ClassWeight,
    counts: Vec<f64>,
    all: f64,
}

impl ClassWeights {
    pub(crate) fn new(rule: ClassWeight) -> Self {
        ClassWeights { rule, counts: Vec::new(), all: 0.0 }
    }

    /// Counts a sample, and returns the weight to learn it with.
    pub(crate) fn weigh(&mut self, class: usize, weight: f64) -> f64 {
        if self.rule == ClassWeight::None || weight == 0.0 {
            return weight;
        }
        self.counts.resize(self.counts.len().max(class + 1), 0.0);
        self.counts[class] += weight;
        self.all += weight;
        // A class that only had samples of weight 0 has a number but does not count as seen.
        let seen = self.counts.iter().filter(|count| **count > 0.0).count();
        let balanced = self.all / (seen as f64 * self.counts[class]);
        match self.rule {
            ClassWeight::None => weight,
            ClassWeight::Balanced => weight * balanced,
            ClassWeight::Auto => weight * balanced.sqrt().min(LARGEST_AUTO),
        }
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.floats("counts", self.counts.clone());
        to.float("all", self.all);
    }

    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let counts = from.any_floats("counts")?;
        from.check_each("counts", &counts, "finite and not negative", |count| {
            count.is_finite() && *count >= 0.0
        })?;
        self.all = from.float("all", 0.0..=f64::MAX)?;
        self.counts = counts;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_classes_weigh_more() {
        let mut weights = ClassWeights::new(ClassWeight::Balanced);
        assert_eq!(weights.weigh(0, 1.0), 1.0);
        assert_eq!(weights.weigh(0, 1.0), 1.0);
        assert_eq!(weights.weigh(1, 1.0), 3.0 / 2.0);
        assert_eq!(weights.weigh(0, 1.0), 4.0 / 6.0);
        assert_eq!(weights.weigh(1, 2.0), 2.0 * 6.0 / 6.0);
        assert_eq!(weights.weigh(1, 0.0), 0.0);
    }

    #[test]
    fn auto_is_the_square_root_within_a_bound() {
        let mut weights = ClassWeights::new(ClassWeight::Auto);
        for _ in 0..999 {
            weights.weigh(0, 1.0);
        }
        assert_eq!(weights.weigh(1, 1.0), 10.0);
        assert_eq!(weights.weigh(1, 1.0), (1001.0f64 / 4.0).sqrt().min(10.0));
        assert_eq!(ClassWeights::new(ClassWeight::None).weigh(3, 0.5), 0.5);
    }
}
