//! The machine's limits: no sweep can be faster than one pass over the factor's memory, nor than
//! its multiply-adds at the processor's peak.

use std::{hint::black_box, time::Instant};

use broadstream::factor::Factor;

/// A cache line, so that no load of a pass crosses two.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([f64; 8]);

/// Memory of exactly a factor's size, read and written in place.
pub(crate) struct Pass(Vec<Line>);

impl Pass {
    pub(crate) fn new(order: usize) -> Self {
        let bytes = usize::try_from(Factor::bytes(order)).expect("the factor fits into memory");
        Pass(vec![Line([1.0; 8]); bytes.div_ceil(size_of::<Line>())])
    }

    /// x ← a·x + b for every number x, with a fixed point at 1: values neither grow nor shrink.
    pub(crate) fn run(&mut self) {
        let (a, b) = black_box((0.5, 0.5));
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            // SAFETY: the processor has the features.
            unsafe { scale_avx2(&mut self.0, a, b) };
            black_box(&mut self.0);
            return;
        }
        scale(&mut self.0, a, b);
        black_box(&mut self.0);
    }
}

/// The floating-point operations of one sample's sweep: two fused multiply-adds, of two operations
/// each, for each of m²/2 entries.
pub(crate) fn sweep_flops(order: usize) -> f64 {
    2.0 * (order as f64).powi(2)
}

/// The most floating-point operations that one core performs per second, counting a fused
/// multiply-add as two.
pub(crate) fn peak_flops() -> f64 {
    // About 10 ms each, and the best of many: the clock frequency has to rise first.
    (0..30).map(|_| flops_once(1_000_000)).fold(0.0, f64::max)
}

/// Enough independent sums to hide the latency of a multiply-add: two units of up to five cycles.
const SUMS: usize = 12;
/// The numbers in a register of AVX2, and in one of AVX-512.
const LANES: usize = 4;
#[cfg(target_arch = "x86_64")]
const WIDE_LANES: usize = 8;

fn flops_once(steps: usize) -> f64 {
    let started = Instant::now();
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has the feature.
        unsafe { multiply_add_avx512(steps) };
        return flops(steps * WIDE_LANES, started);
    }
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the processor has the features.
        unsafe { multiply_add_avx2(steps) };
        return flops(steps * LANES, started);
    }
    multiply_add(steps);
    flops(steps * LANES, started)
}

fn flops(multiply_adds_of_a_sum: usize, started: Instant) -> f64 {
    (2 * multiply_adds_of_a_sum * SUMS) as f64 / started.elapsed().as_secs_f64()
}

#[inline(always)]
fn scale(lines: &mut [Line], a: f64, b: f64) {
    for line in lines {
        for x in &mut line.0 {
            *x = a.mul_add(*x, b);
        }
    }
}

fn multiply_add(steps: usize) {
    let (a, b) = black_box((0.5_f64, 0.5));
    let mut sums = [[1.0_f64; LANES]; SUMS];
    for _ in 0..steps {
        for sum in &mut sums {
            for x in sum {
                *x = a.mul_add(*x, b);
            }
        }
    }
    black_box(sums);
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn scale_avx2(lines: &mut [Line], a: f64, b: f64) {
    scale(lines, a, b);
}

/// With intrinsics, since everything here depends on the sums staying in registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn multiply_add_avx2(steps: usize) {
    use std::arch::x86_64::{_mm256_fmadd_pd, _mm256_set1_pd};

    let (a, b) = black_box((0.5, 0.5));
    let (a, b) = (_mm256_set1_pd(a), _mm256_set1_pd(b));
    let mut sums = [_mm256_set1_pd(1.0); SUMS];
    for _ in 0..steps {
        for sum in &mut sums {
            *sum = _mm256_fmadd_pd(a, *sum, b);
        }
    }
    black_box(sums);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn multiply_add_avx512(steps: usize) {
    use std::arch::x86_64::{_mm512_fmadd_pd, _mm512_set1_pd};

    let (a, b) = black_box((0.5, 0.5));
    let (a, b) = (_mm512_set1_pd(a), _mm512_set1_pd(b));
    let mut sums = [_mm512_set1_pd(1.0); SUMS];
    for _ in 0..steps {
        for sum in &mut sums {
            *sum = _mm512_fmadd_pd(a, *sum, b);
        }
    }
    black_box(sums);
}
