//! The non-linearities of the enhancement nodes, over whole slices.

use crate::numeric::InstructionSet;

/// The non-linearity σ of the enhancement nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activation {
    /// The hyperbolic tangent.
    #[default]
    Tanh,
    /// The logistic function 1 / (1 + e⁻ˣ).
    Sigmoid,
    /// max(x, 0).
    Relu,
}

impl Activation {
    /// Replaces each x by σ(x), as the model does.
    ///
    /// ```
    /// let mut xs = [0.5];
    /// broadstream::Activation::Tanh.apply(&mut xs);
    /// assert!((xs[0] - 0.5f64.tanh()).abs() < 1e-15);
    /// ```
    pub fn apply(self, xs: &mut [f64]) {
        self.apply_on(InstructionSet::detect(), xs);
    }

    /// The same with the given instruction set.
    pub(crate) fn apply_on(self, instructions: InstructionSet, xs: &mut [f64]) {
        instructions.run(
            #[inline(always)]
            || match self {
                Activation::Tanh => xs.iter_mut().for_each(|x| *x = tanh(*x)),
                // σ(x) = (1 + tanh(x/2)) / 2
                Activation::Sigmoid => {
                    xs.iter_mut().for_each(|x| *x = 0.5f64.mul_add(tanh(0.5 * *x), 0.5));
                }
                Activation::Relu => xs.iter_mut().for_each(|x| *x = x.max(0.0)),
            },
        );
    }
}

/// tanh without branches, so that a loop over it compiles to vector code; the standard library
/// makes a call per number.
///
/// With t = e^{2|x|} − 1 it is t / (t + 2), which keeps all digits where x is small.
#[inline(always)]
fn tanh(x: f64) -> f64 {
    // tanh(20) is 1 to the last bit.
    let t = exp_m1(2.0 * x.abs().min(20.0));
    (t / (t + 2.0)).copysign(x)
}

/// 1/k! for k = 2 … 13. The later terms of eʳ − 1 vanish next to r for |r| ≤ ln(2)/2.
const INVERSE_FACTORIALS: [f64; 12] = [
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5040.0,
    1.0 / 40320.0,
    1.0 / 362880.0,
    1.0 / 3628800.0,
    1.0 / 39916800.0,
    1.0 / 479001600.0,
    1.0 / 6227020800.0,
];

/// e^y − 1 for 0 ≤ y ≤ 700, with the same bits on every platform.
///
/// From y = n·ln 2 + r, |r| ≤ ln(2)/2, it is 2ⁿ·(eʳ − 1) + (2ⁿ − 1).
#[inline(always)]
pub(crate) fn exp_m1(y: f64) -> f64 {
    const LN_2_HIGH: f64 = f64::from_bits(0x3fe62e42fefa3800);
    const LN_2_LOW: f64 = f64::from_bits(0x3d2ef35793c76730);
    // Adding this leaves the nearest integer in the low bits of the sum.
    const ROUND: f64 = (3u64 << 51) as f64;

    let shifted = y.mul_add(std::f64::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = (-n).mul_add(LN_2_LOW, (-n).mul_add(LN_2_HIGH, y));
    let mut tail = INVERSE_FACTORIALS[11];
    for k in (0..11).rev() {
        tail = tail.mul_add(r, INVERSE_FACTORIALS[k]);
    }
    let exp_m1_r = (r * r).mul_add(tail, r);
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    power.mul_add(exp_m1_r, power - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tanh_is_accurate_to_1e_15() {
        let mut worst = 0.0f64;
        // Exponents from denormals to overflow, and a fine grid where tanh bends.
        let wide = (-1074..1024).map(|e| 1.37 * 2f64.powi(e));
        let fine = (0..200_000).map(|i| i as f64 * 1.1e-4);
        for x in wide.chain(fine).flat_map(|x| [x, -x]) {
            let exact = x.tanh();
            let found = tanh(x);
            if exact == 0.0 {
                assert_eq!(found, 0.0);
            } else {
                worst = worst.max(((found - exact) / exact).abs());
            }
        }
        assert!(worst < 1e-15, "relative error {worst:e}");
    }

    #[test]
    fn exp_m1_is_accurate_over_its_range() {
        for y in (0..7000).map(|i| i as f64 * 0.1).chain([1e-300, 1e-17, 3e-9]) {
            let (found, exact) = (exp_m1(y), y.exp_m1());
            assert!((found - exact).abs() <= 1e-15 * exact, "e^{y} - 1: {found}, not {exact}");
        }
    }

    #[test]
    fn the_paths_give_the_same_bits() {
        let xs: Vec<f64> = (-5000..5000).map(|i| i as f64 * 0.00437).collect();
        for activation in [Activation::Tanh, Activation::Sigmoid, Activation::Relu] {
            let mut portable = xs.clone();
            activation.apply_on(InstructionSet::Portable, &mut portable);
            for instructions in InstructionSet::available() {
                let mut found = xs.clone();
                activation.apply_on(instructions, &mut found);
                assert!(portable.iter().zip(&found).all(|(a, b)| a.to_bits() == b.to_bits()));
            }
        }
    }

    #[test]
    fn sigmoid_and_relu_are_what_they_say() {
        for x in [-700.0f64, -3.0, -1e-9, 0.0, 0.5, 8.0, 700.0] {
            let mut values = [x];
            Activation::Sigmoid.apply_on(InstructionSet::detect(), &mut values);
            assert!((values[0] - 1.0 / (1.0 + (-x).exp())).abs() < 1e-15);
            let mut values = [x];
            Activation::Relu.apply_on(InstructionSet::detect(), &mut values);
            assert_eq!(values[0], x.max(0.0));
        }
    }
}
