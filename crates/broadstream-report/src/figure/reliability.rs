//! The reliability diagram: accuracy against confidence.

use crate::{
    figure::{
        axis::Axis,
        chart::{Chart, Key, Mark, Panel, Shape},
        draw::draw,
        style::Style,
    },
    number,
};

/// The diagonal of perfect calibration, in the grey of the colour cycle.
const IDEAL: Style = Style { index: 6 };

/// A disc for each bin, with an area proportional to its count, and the diagonal of perfect calibration.
/// Bins are (confidence, accuracy, count), as fractions; `None` if all are empty. Figures on a page need
/// different names.
pub(crate) fn reliability(name: &str, bins: &[(f64, f64, u64)]) -> Option<String> {
    let style = Style { index: 0 };
    let percent = |share: f64| 100.0 * share.clamp(0.0, 1.0);
    let mut discs: Vec<(f64, f64, u64)> = bins
        .iter()
        .filter(|bin| bin.0.is_finite() && bin.1.is_finite() && bin.2 > 0)
        .map(|(confidence, accuracy, count)| (percent(*confidence), percent(*accuracy), *count))
        .collect();
    discs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let most = discs.iter().map(|disc| disc.2).max()?;
    let samples: u128 = discs.iter().map(|disc| u128::from(disc.2)).sum();
    let mut marks = vec![
        Mark::Trend { points: vec![(0.0, 0.0), (100.0, 100.0)], style: IDEAL },
        Mark::Trend { points: discs.iter().map(|disc| (disc.0, disc.1)).collect(), style },
    ];
    marks.extend(discs.iter().map(|(x, y, count)| {
        let share = *count as f64 / most as f64;
        Mark::Disc { x: *x, y: *y, share, style }
    }));
    let panel = Panel {
        title: String::new(),
        x: Axis::from_zero(100.0, 6),
        y: Axis::from_zero(100.0, 6),
        marks,
    };
    let samples = number::count(u64::try_from(samples).unwrap_or(u64::MAX));
    Some(draw(&Chart {
        name: name.to_owned(),
        title: "Accuracy against confidence".to_owned(),
        description: format!(
            "Accuracy of {samples} predictions by their confidence, both in percent: {} bins, \
             with the diagonal of perfect calibration.",
            discs.len()
        ),
        x_title: "confidence (%)".to_owned(),
        y_title: "accuracy (%)".to_owned(),
        panels: vec![panel],
        legend: vec![
            ("predictions".to_owned(), Key::Line(style)),
            ("perfect calibration".to_owned(), Key::Trend(IDEAL)),
        ],
        shape: Shape::Square,
    }))
}
