//! Axes: map data to positions between 0 and 1, and choose round tick values.

use crate::number;

/// One axis of a panel.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) log: bool,
    pub(crate) ticks: Vec<(f64, String)>,
    /// Whether grid lines are drawn at the ticks.
    pub(crate) grid: bool,
}

impl Axis {
    /// The position of a value: 0 at the low end of the axis and 1 at its high end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let place = if self.log {
            let (low, high) = (self.low.ln(), self.high.ln());
            (value.max(f64::MIN_POSITIVE).ln() - low) / (high - low)
        } else {
            (value - self.low) / (self.high - self.low)
        };
        if place.is_nan() { 0.0 } else { place.clamp(0.0, 1.0) }
    }

    /// A linear axis for the values, with at most `most` ticks. It adds some padding around the values,
    /// but stays within `bounds`, the range of possible values.
    pub(crate) fn linear(values: &[f64], bounds: (f64, f64), most: usize) -> Axis {
        let (least, greatest) = extent(values, |_| true).unwrap_or((0.0, 1.0));
        let span = greatest - least;
        // If all values are nearly equal, the padding depends on their size.
        let room = if span > 1e-9 * greatest.abs().max(1e-9) {
            0.05 * span
        } else {
            (0.05 * greatest.abs()).max(0.5e-9)
        };
        let mut low = (least - room).max(bounds.0.min(least));
        let mut high = (greatest + room).min(bounds.1.max(greatest));
        if high <= low {
            (low, high) = (least - room, greatest + room);
        }
        // An axis that would start just above zero starts at zero.
        if low > 0.0 && low < 0.15 * high {
            low = 0.0;
        }
        Axis { low, high, log: false, ticks: round_ticks(low, high, most), grid: true }
    }

    /// An axis from zero to exactly the greatest value, for counts.
    pub(crate) fn from_zero(greatest: f64, most: usize) -> Axis {
        let high = if greatest > 0.0 && greatest.is_finite() { greatest } else { 1.0 };
        Axis { low: 0.0, high, log: false, ticks: round_ticks(0.0, high, most), grid: true }
    }

    /// A logarithmic axis for the positive values.
    pub(crate) fn logarithmic(values: &[f64], most: usize) -> Axis {
        let (least, greatest) = extent(values, |value| value > 0.0).unwrap_or((1.0, 10.0));
        let room = (greatest / least).powf(0.06).clamp(1.06, 4.0);
        let low = (least / room).max(f64::MIN_POSITIVE);
        let high = (greatest * room).min(f64::MAX);
        Axis { low, high, log: true, ticks: log_ticks(low, high, most), grid: true }
    }

    /// A logarithmic axis for bars: it begins at a power of ten below the values.
    pub(crate) fn logarithmic_for_bars(values: &[f64], most: usize) -> Axis {
        let (least, greatest) = extent(values, |value| value > 0.0).unwrap_or((1.0, 10.0));
        let low = 10f64.powf((least * 0.999).log10().floor()).max(f64::MIN_POSITIVE);
        let high = (greatest * 1.35).min(f64::MAX);
        Axis { low, high, log: true, ticks: log_ticks(low, high, most), grid: true }
    }

    /// Puts ticks at the given values, unless there are more than `most`.
    pub(crate) fn with_ticks_at(mut self, values: &[f64], most: usize) -> Axis {
        if values.len() <= most {
            self.ticks = values.iter().map(|value| (*value, number::parameter(*value))).collect();
        }
        self
    }
}

fn extent(values: &[f64], wanted: impl Fn(f64) -> bool) -> Option<(f64, f64)> {
    let wanted = values.iter().copied().filter(|value| value.is_finite() && wanted(*value));
    wanted.fold(None, |extent, value| {
        let (least, greatest) = extent.unwrap_or((value, value));
        Some((value.min(least), value.max(greatest)))
    })
}

/// Ticks at multiples of 1, 2 or 5 times a power of ten.
fn round_ticks(low: f64, high: f64, most: usize) -> Vec<(f64, String)> {
    let span = high - low;
    if !(span.is_finite() && span > 0.0) {
        return Vec::new();
    }
    let mut power = 10f64.powf((span / most.max(1) as f64).log10().floor());
    let step = loop {
        let fitting = [1.0, 2.0, 5.0].map(|factor| factor * power);
        let within = |step: &f64| ((high / step).floor() - (low / step).ceil()) as i64 + 1;
        if let Some(step) = fitting.into_iter().find(|step| within(step) <= most.max(2) as i64) {
            break step;
        }
        power *= 10.0;
    };
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    (first..=last)
        .map(|multiple| multiple as f64 * step)
        .map(|value| (value, number::at_step(value, step)))
        .collect()
}

/// Ticks at powers of ten, and at multiples of those if the range is short.
fn log_ticks(low: f64, high: f64, most: usize) -> Vec<(f64, String)> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let within = |value: &f64| {
        value.is_finite() && *value >= low * (1.0 - 1e-9) && *value <= high * (1.0 + 1e-9)
    };
    let factors_by_number: [&[f64]; 4] =
        [&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0], &[1.0, 2.0, 3.0, 5.0], &[1.0, 2.0, 5.0], &[1.0]];
    for factors in factors_by_number {
        let ticks: Vec<f64> = (first..=last)
            .flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)))
            .filter(within)
            .collect();
        if ticks.len() <= most.max(2) && (ticks.len() > 1 || factors.len() == 1) {
            return ticks.into_iter().map(|value| (value, log_label(value))).collect();
        }
    }
    let stride = ((last - first) as usize).div_ceil(most.max(2)).max(1);
    (first..=last)
        .step_by(stride)
        .map(|power| 10f64.powi(power))
        .filter(within)
        .map(|value| (value, log_label(value)))
        .collect()
}

fn log_label(value: f64) -> String {
    if (1e-3..1e6).contains(&value) {
        return number::at_step(value, 10f64.powf(value.log10().floor()).min(value));
    }
    let power = value.log10().floor() as i32;
    let factor = (value / 10f64.powi(power)).round();
    let exponent: String = power.to_string().chars().map(superscript).collect();
    if factor == 1.0 { format!("10{exponent}") } else { format!("{factor}·10{exponent}") }
}

/// The superscript form of a digit or a minus sign.
pub(crate) fn superscript(character: char) -> char {
    match character {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(labels(&Axis::from_zero(70_000.0, 5)), ["0", "20,000", "40,000", "60,000"]);
        assert_eq!(labels(&Axis::linear(&[88.0, 91.0], (0.0, 100.0), 5)), ["88", "89", "90", "91"]);
        assert_eq!(
            labels(&Axis::logarithmic(&[3.0, 20_000.0], 6)),
            ["10", "100", "1,000", "10,000"]
        );
    }

    #[test]
    fn degenerate_ranges_have_an_axis() {
        let cases: [&[f64]; 7] = [
            &[],
            &[0.0],
            &[5.0, 5.0],
            &[f64::MAX],
            &[f64::NAN, f64::INFINITY],
            &[-1e300, 1e300],
            &[1e-300],
        ];
        for values in cases {
            let bounds = (f64::NEG_INFINITY, f64::INFINITY);
            for axis in [
                Axis::linear(values, bounds, 5),
                Axis::linear(values, (0.0, 100.0), 5),
                Axis::logarithmic(values, 5),
                Axis::logarithmic_for_bars(values, 5),
                Axis::from_zero(values.first().copied().unwrap_or(0.0), 5),
            ] {
                assert!(axis.low < axis.high, "{values:?}: {axis:?}");
                assert!(axis.ticks.len() < 40, "{values:?}: {axis:?}");
                assert!(axis.ticks.iter().all(|(value, _)| value.is_finite()), "{axis:?}");
                assert!((0.0..=1.0).contains(&axis.place(5.0)), "{values:?}: {axis:?}");
            }
        }
    }
}
