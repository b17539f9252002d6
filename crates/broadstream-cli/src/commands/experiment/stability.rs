//! The experiment on stability as it is recorded.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use broadstream_report::{RECORD_FORMAT, Record};

use super::declaration::Stability;
#[cfg(feature = "dense-baselines")]
use super::residuals::residuals;

impl Stability {
    /// A record for each way, condition number and seed.
    pub(crate) fn records(&self, experiment: &str, seeds: u64) -> Result<Vec<Record>> {
        let Stability { order, classes, .. } = *self;
        ensure!(order >= 2 && classes >= 1, "order must be at least 2 and classes 1");
        let mut records = Vec::new();
        for seed in 0..seeds {
            for exponent in &self.exponents {
                for (method, residual) in residuals(order, classes, *exponent, seed)? {
                    records.push(Record {
                        format: RECORD_FORMAT,
                        experiment: experiment.to_owned(),
                        stream: "K".to_owned(),
                        method: method.to_owned(),
                        seed,
                        parameters: [("condition".to_owned(), 10f64.powi(*exponent))].into(),
                        metrics: BTreeMap::from([("residual".to_owned(), residual)]),
                        version: env!("CARGO_PKG_VERSION").to_owned(),
                        ..Record::default()
                    });
                }
            }
        }
        Ok(records)
    }
}

#[cfg(not(feature = "dense-baselines"))]
fn residuals(
    _order: usize,
    _classes: usize,
    _exponent: i32,
    _seed: u64,
) -> Result<Vec<(&'static str, f64)>> {
    Err(crate::build::applicable::not_built("the experiment on stability"))
}
