//! The natural logarithm with the same bits on every platform. The standard library uses the
//! platform's, and those differ in their last bits.

#![allow(clippy::inline_always)]

/// ln 2 as a head, whose product with an exponent is exact, and the rest.
const LN_2_HEAD: f64 = 0.693_147_180_369_123_8;
const LN_2_REST: f64 = 1.908_214_929_270_587_7e-10;

/// ln x of a positive, finite, normal x.
///
/// With x = m·2ᵉ, √½ < m ≤ √2 and s = (m − 1)/(m + 1), it is e·ln 2 + 2·(s + s³/3 + s⁵/5 + …).
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    const FRACTION: u64 = (1 << 52) - 1;
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut m = f64::from_bits(bits & FRACTION | 1023 << 52);
    if m > std::f64::consts::SQRT_2 {
        m *= 0.5;
        exponent += 1;
    }
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    // |s| ≤ 0.172: terms beyond s²¹ are lost in the rounding of s.
    let series =
        (1..=10).rev().fold(0.0f64, |sum, k| sum.mul_add(square, 1.0 / f64::from(2 * k + 1)));
    let exponent = exponent as f64;
    let small = (s * square).mul_add(2.0 * series, exponent * LN_2_REST);
    exponent * LN_2_HEAD + (2.0 * s + small)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_logarithm() {
        let mut x = 1e-300;
        while x < 1e300 {
            let error = (ln(x) - x.ln()).abs();
            assert!(error <= 4e-16 * x.ln().abs().max(1e-3), "ln {x} is off by {error}");
            x *= 1.003_7;
        }
        for x in [1.0, 1.0 + 1e-12, 1.0 - 1e-12, 0.5, 2.0, std::f64::consts::SQRT_2] {
            assert!((ln(x) - x.ln()).abs() <= 4e-16 * x.ln().abs(), "{x}");
        }
    }
}
