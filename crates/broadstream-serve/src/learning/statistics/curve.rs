//! Accuracy over time, in a bounded number of points.

/// The most points that are kept.
pub(super) const MOST_POINTS: usize = 480;

/// The time between two points at first, in milliseconds.
const FIRST_STEP: u64 = 500;

/// Points over time. When there are too many, every second one goes, and the following are twice as far apart.
pub(crate) struct Curve {
    points: Vec<CurvePoint>,
    step: u64,
}

/// How things were at a time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CurvePoint {
    /// In milliseconds since 1970.
    pub(crate) at: u64,
    pub(crate) labels: u64,
    pub(crate) accuracy: Option<f64>,
    pub(crate) estimated: Option<f64>,
    pub(crate) no_change: Option<f64>,
    pub(crate) majority: Option<f64>,
}

impl Default for Curve {
    fn default() -> Self {
        Curve { points: Vec::new(), step: FIRST_STEP }
    }
}

impl Curve {
    /// Whether there is room for a point at a time.
    pub(crate) fn is_due(&self, at: u64) -> bool {
        self.points.last().is_none_or(|last| at >= last.at + self.step)
    }

    pub(crate) fn push(&mut self, point: CurvePoint) {
        if self.points.len() == MOST_POINTS {
            let mut keep = false;
            self.points.retain(|_| {
                keep = !keep;
                keep
            });
            self.step *= 2;
        }
        self.points.push(point);
    }

    pub(crate) fn points(&self) -> &[CurvePoint] {
        &self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_grow_apart() {
        let mut curve = Curve::default();
        for at in (0..3_000_000).step_by(100) {
            if curve.is_due(at) {
                let none = (None, None, None, None);
                let (accuracy, estimated, no_change, majority) = none;
                curve.push(CurvePoint { at, labels: 0, accuracy, estimated, no_change, majority });
            }
            assert!(curve.points().len() <= MOST_POINTS);
        }
        assert!(curve.points().len() > MOST_POINTS / 2);
        let gaps = curve.points().windows(2).map(|pair| pair[1].at - pair[0].at);
        assert!(gaps.max().unwrap() <= curve.step);
        assert_eq!(curve.points()[0].at, 0);
    }
}
