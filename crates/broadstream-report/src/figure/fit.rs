//! Fits power laws, y = c·xᵏ, as straight lines through the logarithms.

/// A fitted power law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PowerLaw {
    pub(crate) exponent: f64,
    pub(crate) factor: f64,
    /// The share of the variance of log y that the fit explains.
    pub(crate) r_squared: f64,
}

impl PowerLaw {
    /// Fits by least squares to the points with positive coordinates; `None` if they have fewer than
    /// two distinct x.
    pub(crate) fn fit(points: &[(f64, f64)]) -> Option<PowerLaw> {
        let logarithms: Vec<(f64, f64)> = points
            .iter()
            .filter(|(x, y)| *x > 0.0 && *y > 0.0 && x.is_finite() && y.is_finite())
            .map(|(x, y)| (x.ln(), y.ln()))
            .collect();
        let count = logarithms.len() as f64;
        let mean_x = logarithms.iter().map(|(x, _)| x).sum::<f64>() / count;
        let mean_y = logarithms.iter().map(|(_, y)| y).sum::<f64>() / count;
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        for (x, y) in &logarithms {
            xx += (x - mean_x) * (x - mean_x);
            xy += (x - mean_x) * (y - mean_y);
            yy += (y - mean_y) * (y - mean_y);
        }
        // This also rejects NaN, the result of having no points.
        if xx.partial_cmp(&1e-18) != Some(std::cmp::Ordering::Greater) {
            return None;
        }
        let exponent = xy / xx;
        let factor = (mean_y - exponent * mean_x).exp();
        let r_squared = if yy > 0.0 { xy * xy / (xx * yy) } else { 1.0 };
        factor.is_finite().then_some(PowerLaw { exponent, factor, r_squared })
    }

    pub(crate) fn at(self, x: f64) -> f64 {
        self.factor * x.powf(self.exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_is_recovered() {
        let points: Vec<(f64, f64)> =
            [100.0, 200.0, 500.0, 1000.0].map(|x: f64| (x, 3.0 * x.powf(1.75))).to_vec();
        let law = PowerLaw::fit(&points).unwrap();
        assert!((law.exponent - 1.75).abs() < 1e-12, "{law:?}");
        assert!((law.factor - 3.0).abs() < 1e-9, "{law:?}");
        assert!((law.r_squared - 1.0).abs() < 1e-12, "{law:?}");
    }

    #[test]
    fn points_without_a_slope_have_no_fit() {
        assert_eq!(PowerLaw::fit(&[]), None);
        assert_eq!(PowerLaw::fit(&[(1.0, 2.0)]), None);
        assert_eq!(PowerLaw::fit(&[(3.0, 2.0), (3.0, 4.0)]), None);
        assert_eq!(PowerLaw::fit(&[(0.0, 2.0), (-1.0, 4.0), (2.0, f64::NAN)]), None);
    }
}
