//! Formats numbers for print.

/// From this size on, numbers are printed in scientific notation.
const HUGE: f64 = 1e15;

/// A number with a fixed number of decimals, and thousands separators from 10,000 on.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    if value.abs() >= HUGE {
        return format!("{value:.2e}");
    }
    let text = format!("{value:.decimals$}");
    let text = if text.trim_start_matches(['-', '0', '.']).is_empty() {
        text.trim_start_matches('-').to_owned()
    } else {
        text
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let point = if fraction.is_empty() { "" } else { "." };
    let digits = whole.trim_start_matches('-');
    if digits.len() < 5 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return text;
    }
    let sign = if whole.starts_with('-') { "-" } else { "" };
    format!("{sign}{}{point}{fraction}", thousands(digits))
}

/// A count with thousands separators from 1,000 on.
pub(crate) fn count(value: u64) -> String {
    thousands(&value.to_string())
}

/// A tick label, with just enough digits to tell ticks apart that are `step` apart.
pub(crate) fn at_step(value: f64, step: f64) -> String {
    if step >= HUGE {
        return format!("{value:.0e}").replace('-', "−");
    }
    if step >= 1.0 {
        let text = format!("{value:.0}");
        let digits = text.trim_start_matches('-');
        let sign = if text.starts_with('-') && digits != "0" { "−" } else { "" };
        return format!("{sign}{}", thousands(digits));
    }
    let decimals = (-step.log10() - 1e-9).ceil().clamp(0.0, 12.0) as usize;
    fixed(value, decimals).replace('-', "−")
}

/// The number of decimals that gives a number three significant digits.
pub(crate) fn decimals_for(value: f64) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    (2.0 - value.abs().log10().floor()).clamp(0.0, 9.0) as usize
}

/// A number with three significant digits.
pub(crate) fn significant(value: f64) -> String {
    fixed(value, decimals_for(value))
}

/// A parameter's value in its shortest form.
pub(crate) fn parameter(value: f64) -> String {
    if value != 0.0 && (value.abs() < 1e-4 || value.abs() >= 1e9) {
        return format!("{value:e}");
    }
    let text = value.to_string();
    match text.split_once('.') {
        None if value.is_finite() => at_step(value, 1.0),
        _ => text,
    }
}

/// A duration in the unit that fits it.
pub(crate) fn seconds(value: f64) -> String {
    let (factor, unit) = match value.abs() {
        v if v >= 120.0 => (1.0 / 60.0, "min"),
        v if v >= 1.0 => (1.0, "s"),
        v if v >= 1e-3 => (1e3, "ms"),
        v if v >= 1e-6 || v == 0.0 => (1e6, "µs"),
        _ => (1e9, "ns"),
    };
    format!("{} {unit}", significant(value * factor))
}

fn thousands(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_for_reading() {
        assert_eq!(fixed(88.914, 2), "88.91");
        assert_eq!(fixed(-0.0001, 2), "0.00");
        assert_eq!(fixed(-12345.678, 1), "-12,345.7");
        assert_eq!(fixed(9999.0, 0), "9999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(999), "999");
        assert_eq!(at_step(0.30000000000000004, 0.1), "0.3");
        assert_eq!(at_step(-2000.0, 1000.0), "−2,000");
        assert_eq!(significant(0.012345), "0.0123");
        assert_eq!(significant(61.234), "61.2");
        assert_eq!(parameter(1000.0), "1,000");
        assert_eq!(parameter(0.999), "0.999");
        assert_eq!(parameter(1e-8), "1e-8");
        assert_eq!(seconds(6.1e-5), "61.0 µs");
    }
}
