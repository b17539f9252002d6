//! The curve: metrics over time.

use std::time::Duration;

use crate::{
    error::ModelFileError,
    metrics::{Summary, WindowSummary},
    state::{ReadScope, WriteScope},
};

/// The metrics after one sample of the stream.
#[derive(Clone, Debug)]
pub struct CurvePoint {
    /// The metrics of all samples so far.
    pub cumulative: Summary,
    /// The metrics of the last samples.
    pub window: WindowSummary,
    /// The number of drifts detected so far.
    pub drifts: u64,
    /// The weights of the model's [members](crate::Classifier::members) right after this sample, in
    /// their order.
    pub weights: Vec<f64>,
    /// The number of features of each of these members, and 0 for one that rests. Empty for members
    /// without broad features.
    pub features: Vec<usize>,
    /// The mean time of learning a sample since the previous point, if
    /// [`separate_times`](super::PrequentialOptions::separate_times) is on.
    pub update_time: Option<Duration>,
}

/// How many integers and floats a point has besides its weights.
const INTEGERS: usize = 6;
const FLOATS: usize = 18;

/// How many floats a point has that earlier files lack.
const ADDED: usize = 17;

/// Stands for "not measured" among saved times, which are nanoseconds.
const NO_TIME: u64 = u64::MAX;

/// Writes a curve, one point after the other.
pub(super) fn save(curve: &[CurvePoint], to: &mut WriteScope<'_>) {
    to.integers("integers", curve.iter().flat_map(integers).collect());
    to.floats("floats", curve.iter().flat_map(floats).collect());
    to.any_floats("added", curve.iter().flat_map(added).collect());
    to.floats("weights", curve.iter().flat_map(|point| point.weights.clone()).collect());
    let features = curve.iter().flat_map(|point| &point.features);
    to.integers("features", features.map(|features| *features as u64).collect());
}

/// Reads a curve whose points lie after these numbers of samples.
pub(super) fn restore(
    from: &ReadScope<'_>,
    samples: &[u64],
) -> Result<Vec<CurvePoint>, ModelFileError> {
    let points = samples.len();
    let integers = from.integers("integers", points * INTEGERS, u64::MAX)?;
    let (integers, _) = integers.as_chunks::<INTEGERS>();
    let floats = from.floats("floats", points * FLOATS)?;
    let (floats, _) = floats.as_chunks::<FLOATS>();
    let members = from.length("weights") / points.max(1);
    let weights = from.floats("weights", points * members)?;
    // Earlier files do not have them.
    let features = from.optional_integers("features");
    let sized = features.len() / points.max(1);
    let sound = features.len() == points * sized;
    from.check("features", sound, "as many for each point of the curve")?;
    let added = if from.has_floats("added") {
        from.any_floats("added")?
    } else {
        vec![0.0; points * ADDED]
    };
    from.check("added", added.len() == points * ADDED, "as many for each point of the curve")?;
    let (added, _) = added.as_chunks::<ADDED>();
    let mut curve = Vec::new();
    for (i, (integers, floats)) in integers.iter().zip(floats).enumerate() {
        let weights = &weights[i * members..(i + 1) * members];
        let point = point(integers, floats, &added[i], weights)
            .filter(|point| point.cumulative.samples == samples[i])
            .ok_or_else(|| from.invalid("integers", "sound counts at the points of the curve"))?;
        let features = features[i * sized..(i + 1) * sized].iter();
        let features = features.map(|features| *features as usize).collect();
        curve.push(CurvePoint { features, ..point });
    }
    Ok(curve)
}

fn integers(point: &CurvePoint) -> [u64; INTEGERS] {
    let CurvePoint { cumulative, window, drifts, weights: _, features: _, update_time } = point;
    let nanoseconds = update_time.map_or(NO_TIME, |time| time.as_nanos() as u64);
    let classes = [cumulative.classes, window.classes].map(|classes| classes as u64);
    [cumulative.samples, classes[0], window.samples, classes[1], *drifts, nanoseconds]
}

fn floats(point: &CurvePoint) -> [f64; FLOATS] {
    let Summary { oca, oce, bacc, avrbacc, f1, mcc, kappa, log_loss, brier, ece, .. } =
        point.cumulative;
    let w = point.window;
    [
        oca, oce, bacc, avrbacc, f1, mcc, kappa, log_loss, brier, ece, w.oca, w.oce, w.bacc, w.f1,
        w.mcc, w.kappa, w.log_loss, w.brier,
    ]
}

/// The metrics that were added later. A cost that was not given is NaN.
fn added(point: &CurvePoint) -> [f64; ADDED] {
    let CurvePoint { cumulative: c, window: w, .. } = point;
    let cost = |cost: Option<f64>| cost.unwrap_or(f64::NAN);
    [
        c.gmean,
        c.kappa_m,
        c.kappa_t,
        c.auc,
        c.auprc,
        c.recall_at_alarms,
        c.ece_by_class,
        c.coverage,
        cost(c.cost),
        w.gmean,
        w.kappa_m,
        w.kappa_t,
        w.auc,
        w.auprc,
        w.recall_at_alarms,
        w.coverage,
        cost(w.cost),
    ]
}

fn point(
    integers: &[u64; INTEGERS],
    floats: &[f64; FLOATS],
    added: &[f64; ADDED],
    weights: &[f64],
) -> Option<CurvePoint> {
    let &[samples, classes, window_samples, window_classes, drifts, nanoseconds] = integers;
    let &[oca, oce, bacc, avrbacc, f1, mcc, kappa, log_loss, brier, ece, ..] = floats;
    let classes = usize::try_from(classes).ok()?;
    let &[gmean, kappa_m, kappa_t, auc, auprc, recall_at_alarms, ece_by_class, coverage, cost, ..] =
        added;
    if added.iter().enumerate().any(|(i, x)| !x.is_finite() && ![8, ADDED - 1].contains(&i)) {
        return None;
    }
    let given = |cost: f64| Some(cost).filter(|cost| cost.is_finite());
    let cumulative = Summary {
        samples,
        classes,
        oca,
        oce,
        bacc,
        avrbacc,
        f1,
        mcc,
        kappa,
        log_loss,
        brier,
        ece,
        gmean,
        kappa_m,
        kappa_t,
        auc,
        auprc,
        recall_at_alarms,
        ece_by_class,
        coverage,
        cost: given(cost),
    };
    let &[.., oca, oce, bacc, f1, mcc, kappa, log_loss, brier] = floats;
    let (samples, classes) = (window_samples, usize::try_from(window_classes).ok()?);
    let &[.., gmean, kappa_m, kappa_t, auc, auprc, recall_at_alarms, coverage, cost] = added;
    let window = WindowSummary {
        samples,
        classes,
        oca,
        oce,
        bacc,
        f1,
        mcc,
        kappa,
        log_loss,
        brier,
        gmean,
        kappa_m,
        kappa_t,
        auc,
        auprc,
        recall_at_alarms,
        coverage,
        cost: given(cost),
    };
    let update_time = (nanoseconds != NO_TIME).then(|| Duration::from_nanos(nanoseconds));
    let (weights, features) = (weights.to_vec(), Vec::new());
    Some(CurvePoint { cumulative, window, drifts, weights, features, update_time })
}
