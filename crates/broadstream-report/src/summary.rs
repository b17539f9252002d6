//! The mean and the standard deviation of a few values.

/// The mean and the sample standard deviation of some values.
///
/// ```
/// use broadstream_report::Summary;
///
/// let summary = Summary::of([1.0, 2.0, 3.0]).unwrap();
/// assert_eq!((summary.mean, summary.sd, summary.runs), (2.0, Some(1.0), 3));
/// assert_eq!(Summary::of([5.0]).unwrap().sd, None);
/// assert_eq!(Summary::of([f64::NAN]), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// The standard deviation with n − 1 in the denominator; `None` for a single value.
    pub sd: Option<f64>,
    /// The number of values.
    pub runs: usize,
}

impl Summary {
    /// Summarises the finite values; `None` if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Summary> {
        let values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        let runs = values.len();
        if runs == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / runs as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let sd = (runs > 1).then(|| (squares / (runs - 1) as f64).sqrt());
        (mean.is_finite() && sd.is_none_or(f64::is_finite)).then_some(Summary { mean, sd, runs })
    }

    /// The summary in another unit.
    pub(crate) fn scaled(self, factor: f64) -> Summary {
        let scaled = |value: f64| finite(value * factor);
        Summary { mean: scaled(self.mean), sd: self.sd.map(scaled), ..self }
    }

    /// The mean, the standard deviation and the number of values as cells of a CSV file.
    pub(crate) fn cells(self) -> [String; 3] {
        let sd = self.sd.map_or(String::new(), |sd| sd.to_string());
        [self.mean.to_string(), sd, self.runs.to_string()]
    }

    pub(crate) fn low(self) -> f64 {
        finite(self.mean - self.sd.unwrap_or(0.0))
    }

    pub(crate) fn high(self) -> f64 {
        finite(self.mean + self.sd.unwrap_or(0.0))
    }
}

/// Clamps the result of an operation on finite numbers to the finite range.
fn finite(value: f64) -> f64 {
    value.clamp(f64::MIN, f64::MAX)
}
