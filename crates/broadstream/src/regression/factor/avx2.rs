//! The hottest kernels in AVX2 and FMA instructions. They perform the same operations in the same
//! order as [`portable`](super::portable), and so give the same bits.
//!
//! The compiler vectorises the portable loops too, but it spills registers in the wide ones and
//! does not prefetch: at 2100 features, where the factor is larger than the inner caches, the sweep
//! of a single sample took twice as long.

use std::arch::x86_64::{
    __m256d, _MM_HINT_T0, _mm_prefetch, _mm256_add_pd, _mm256_blend_pd, _mm256_broadcast_sd,
    _mm256_cvtsd_f64, _mm256_fmadd_pd, _mm256_fnmadd_pd, _mm256_hadd_pd, _mm256_load_pd,
    _mm256_loadu_pd, _mm256_mul_pd, _mm256_permute2f128_pd, _mm256_permute4x64_pd, _mm256_set1_pd,
    _mm256_setzero_pd, _mm256_store_pd, _mm256_storeu_pd, _mm256_sub_pd,
};

use super::{
    kernel::Kernel,
    panels::{PanelColumn, ROWS},
};
use crate::numeric::Avx2;

/// Registers of four numbers per column.
const V: usize = ROWS / 4;

/// The registers of half a column, and the samples that take them at a time: with the current half
/// column and a coefficient they fill the sixteen registers.
const H: usize = V / 2;
const S: usize = 4;

/// The columns whose upper halves are computed before their lower halves: 12 KB, which are still in
/// the first-level cache then.
const TOGETHER: usize = 64;

/// How many entries ahead of their use columns are prefetched: about 1.5 KB.
const AHEAD: usize = 192;

impl Kernel for Avx2 {
    #[inline(always)]
    fn sweep<const G: usize>(
        self,
        l: &mut [PanelColumn],
        p: &[[f64; G]],
        beta: &[[f64; G]],
        w: &mut [PanelColumn; G],
    ) {
        // SAFETY: `self` exists, so the processor has AVX2 and FMA.
        unsafe { sweep(l, p, beta, w) }
    }

    #[inline(always)]
    fn sweep_diagonal<const G: usize>(
        self,
        block: &mut [PanelColumn],
        d_inverse: &mut [f64],
        mu_inverse: f64,
        gamma: &mut [f64; G],
        p: &mut [[f64; G]],
        beta: &mut [[f64; G]],
        w: &mut [PanelColumn; G],
    ) {
        // SAFETY: `self` exists, so the processor has AVX2 and FMA.
        unsafe { sweep_diagonal(block, d_inverse, mu_inverse, gamma, p, beta, w) }
    }

    #[inline(always)]
    fn forward(self, l: [&[PanelColumn]; 2], p: &[f64], w: &mut [PanelColumn; 2]) {
        // SAFETY: `self` exists, so the processor has AVX2 and FMA.
        unsafe { forward(l, p, w) }
    }

    #[inline(always)]
    fn forward_group<const G: usize>(
        self,
        l: &[PanelColumn],
        p: &[[f64; G]],
        w: &mut [PanelColumn; G],
    ) {
        // SAFETY: `self` exists, so the processor has AVX2 and FMA.
        unsafe { forward_group(l, p, w) }
    }

    #[inline(always)]
    fn backward(self, l: &[PanelColumn], x: &PanelColumn, out: &mut [f64]) {
        // SAFETY: `self` exists, so the processor has AVX2 and FMA.
        unsafe { backward(l, x, out) }
    }

    #[inline(always)]
    fn multiply<const SUBTRACT: bool, const C: usize>(
        self,
        a: &[PanelColumn],
        b: &[PanelColumn],
        first: usize,
        tile: &mut [PanelColumn; C],
    ) {
        // SAFETY: `self` exists, so the processor has AVX2 and FMA.
        unsafe { multiply::<SUBTRACT, C>(a, b, first, tile) }
    }
}

#[target_feature(enable = "avx2,fma")]
fn sweep<const G: usize>(
    l: &mut [PanelColumn],
    p: &[[f64; G]],
    beta: &[[f64; G]],
    w: &mut [PanelColumn; G],
) {
    let parts = l.chunks_mut(TOGETHER).zip(p.chunks(TOGETHER)).zip(beta.chunks(TOGETHER));
    for ((l, p), beta) in parts {
        if G > S {
            for first in (0..G).step_by(S) {
                sweep_half::<G, S, 0>(l, p, beta, w, first);
            }
            for first in (0..G).step_by(S) {
                sweep_half::<G, S, H>(l, p, beta, w, first);
            }
        } else {
            sweep_half::<G, G, 0>(l, p, beta, w, 0);
            sweep_half::<G, G, H>(l, p, beta, w, 0);
        }
    }
}

/// The half of a sweep that begins with this register of each column, for `N` of the samples.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn sweep_half<const G: usize, const N: usize, const HALF: usize>(
    l: &mut [PanelColumn],
    p: &[[f64; G]],
    beta: &[[f64; G]],
    w: &mut [PanelColumn; G],
    first: usize,
) {
    assert!(first + N <= G);
    let mut carried: [[__m256d; H]; N] = std::array::from_fn(|s| load(&w[first + s], HALF));
    for ((column, p), beta) in l.iter_mut().zip(p).zip(beta) {
        let mut entries = load::<H>(column, HALF);
        if HALF == 0 {
            prefetch(column);
        }
        for s in 0..N {
            let p_s = _mm256_broadcast_sd(&p[first + s]);
            for v in 0..H {
                carried[s][v] = _mm256_fnmadd_pd(p_s, entries[v], carried[s][v]);
            }
            let beta_s = _mm256_broadcast_sd(&beta[first + s]);
            for v in 0..H {
                entries[v] = _mm256_fmadd_pd(beta_s, carried[s][v], entries[v]);
            }
        }
        store(column, HALF, entries);
    }
    for s in 0..N {
        store(&mut w[first + s], HALF, carried[s]);
    }
}

/// Sample by sample, since the w of one sample fits into registers where it must be taken apart
/// column by column; the block itself stays in the first-level cache.
#[target_feature(enable = "avx2,fma")]
fn sweep_diagonal<const G: usize>(
    block: &mut [PanelColumn],
    d_inverse: &mut [f64],
    mu_inverse: f64,
    gamma: &mut [f64; G],
    p: &mut [[f64; G]],
    beta: &mut [[f64; G]],
    w: &mut [PanelColumn; G],
) {
    for s in 0..G {
        let mut sample = DiagonalStep { mu_inverse, gamma: gamma[s], w: load(&w[s], 0) };
        let columns = block.iter_mut().zip(d_inverse.iter_mut());
        let mut columns = columns.zip(p.iter_mut().zip(beta.iter_mut()));
        // The lane that holds p must be a constant, so the columns are unrolled.
        macro_rules! columns {
            ($register:literal: $($lane:literal)*) => {
                $(if let Some(((column, d_inverse), (p, beta))) = columns.next() {
                    let p_j = _mm256_permute4x64_pd::<{ $lane * 0x55 }>(sample.w[$register]);
                    (p[s], beta[s]) = sample.column(p_j, column, d_inverse);
                })*
            };
        }
        columns!(0: 0 1 2 3);
        columns!(1: 0 1 2 3);
        columns!(2: 0 1 2 3);
        columns!(3: 0 1 2 3);
        columns!(4: 0 1 2 3);
        columns!(5: 0 1 2 3);
        gamma[s] = sample.gamma;
    }
}

/// The state of one sample within a diagonal block.
struct DiagonalStep {
    mu_inverse: f64,
    gamma: f64,
    w: [__m256d; V],
}

impl DiagonalStep {
    /// Updates a column for p, which is broadcast to all four lanes, and returns p and β.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn column(
        &mut self,
        p_j: __m256d,
        column: &mut PanelColumn,
        d_inverse: &mut f64,
    ) -> (f64, f64) {
        let p = _mm256_cvtsd_f64(p_j);
        let q = p * *d_inverse;
        let gamma_next = p.mul_add(q, self.gamma);
        let gamma_inverse = 1.0 / gamma_next;
        let beta = q * gamma_inverse;
        *d_inverse *= self.gamma * gamma_inverse * self.mu_inverse;
        self.gamma = gamma_next;
        let beta_j = _mm256_set1_pd(beta);
        let mut entries = load::<V>(column, 0);
        for v in 0..V {
            self.w[v] = _mm256_fnmadd_pd(p_j, entries[v], self.w[v]);
            entries[v] = _mm256_fmadd_pd(beta_j, self.w[v], entries[v]);
        }
        store(column, 0, entries);
        (p, beta)
    }
}

#[target_feature(enable = "avx2,fma")]
fn forward(l: [&[PanelColumn]; 2], p: &[f64], w: &mut [PanelColumn; 2]) {
    let mut carried: [[__m256d; V]; 2] = std::array::from_fn(|n| load(&w[n], 0));
    for ((first, second), p) in l[0].iter().zip(l[1]).zip(p) {
        prefetch(first);
        prefetch(second);
        let p = _mm256_broadcast_sd(p);
        for (carried, column) in carried.iter_mut().zip([first, second]) {
            let entries = load::<V>(column, 0);
            for v in 0..V {
                carried[v] = _mm256_fnmadd_pd(p, entries[v], carried[v]);
            }
        }
    }
    for n in 0..2 {
        store(&mut w[n], 0, carried[n]);
    }
}

#[target_feature(enable = "avx2,fma")]
fn forward_group<const G: usize>(l: &[PanelColumn], p: &[[f64; G]], w: &mut [PanelColumn; G]) {
    for (l, p) in l.chunks(TOGETHER).zip(p.chunks(TOGETHER)) {
        if G > S {
            for first in (0..G).step_by(S) {
                forward_half::<G, S, 0>(l, p, w, first);
                forward_half::<G, S, H>(l, p, w, first);
            }
        } else {
            forward_half::<G, G, 0>(l, p, w, 0);
            forward_half::<G, G, H>(l, p, w, 0);
        }
    }
}

/// The half of a substitution that begins with this register of each column, for `N` of the samples.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn forward_half<const G: usize, const N: usize, const HALF: usize>(
    l: &[PanelColumn],
    p: &[[f64; G]],
    w: &mut [PanelColumn; G],
    first: usize,
) {
    assert!(first + N <= G);
    let mut carried: [[__m256d; H]; N] = std::array::from_fn(|s| load(&w[first + s], HALF));
    for (column, p) in l.iter().zip(p) {
        let entries = load::<H>(column, HALF);
        if HALF == 0 {
            prefetch(column);
        }
        for s in 0..N {
            let p = _mm256_broadcast_sd(&p[first + s]);
            for v in 0..H {
                carried[s][v] = _mm256_fnmadd_pd(p, entries[v], carried[s][v]);
            }
        }
    }
    for s in 0..N {
        store(&mut w[first + s], HALF, carried[s]);
    }
}

#[target_feature(enable = "avx2,fma")]
fn backward(l: &[PanelColumn], x: &PanelColumn, out: &mut [f64]) {
    let x = load::<V>(x, 0);
    for (columns, out) in l.as_chunks::<4>().0.iter().zip(out.as_chunks_mut::<4>().0) {
        let lanes: [__m256d; 4] = std::array::from_fn(|i| {
            prefetch(&columns[i]);
            let l = load::<V>(&columns[i], 0);
            // The lower four of the eight lanes, and the upper four.
            let halves = [0, 1].map(|half| {
                let sum = _mm256_mul_pd(l[half], x[half]);
                let sum = _mm256_fmadd_pd(l[2 + half], x[2 + half], sum);
                _mm256_fmadd_pd(l[4 + half], x[4 + half], sum)
            });
            _mm256_add_pd(halves[0], halves[1])
        });
        // Neighbouring lanes of two columns side by side, then the halves of all four.
        let low = _mm256_hadd_pd(lanes[0], lanes[1]);
        let high = _mm256_hadd_pd(lanes[2], lanes[3]);
        let inner = _mm256_permute2f128_pd::<0x21>(low, high);
        let outer = _mm256_blend_pd::<0b1100>(low, high);
        let sums = _mm256_add_pd(inner, outer);
        // SAFETY: `out` has four entries; these loads and stores need no alignment.
        unsafe {
            let entries = _mm256_loadu_pd(out.as_ptr());
            _mm256_storeu_pd(out.as_mut_ptr(), _mm256_sub_pd(entries, sums));
        }
    }
}

#[target_feature(enable = "avx2,fma")]
fn multiply<const SUBTRACT: bool, const C: usize>(
    a: &[PanelColumn],
    b: &[PanelColumn],
    first: usize,
    tile: &mut [PanelColumn; C],
) {
    multiply_half::<SUBTRACT, C, 0>(a, b, first, tile);
    multiply_half::<SUBTRACT, C, H>(a, b, first, tile);
}

/// The half of a product that begins with this register of each column.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn multiply_half<const SUBTRACT: bool, const C: usize, const HALF: usize>(
    a: &[PanelColumn],
    b: &[PanelColumn],
    first: usize,
    tile: &mut [PanelColumn; C],
) {
    assert!(first + C <= ROWS);
    let mut sums: [[__m256d; H]; C] = std::array::from_fn(|c| load(&tile[c], HALF));
    for (a, b) in a.iter().zip(b) {
        let a = load::<H>(a, HALF);
        for c in 0..C {
            let factor = _mm256_broadcast_sd(&b.0[first + c]);
            for v in 0..H {
                sums[c][v] = if SUBTRACT {
                    _mm256_fnmadd_pd(factor, a[v], sums[c][v])
                } else {
                    _mm256_fmadd_pd(factor, a[v], sums[c][v])
                };
            }
        }
    }
    for c in 0..C {
        store(&mut tile[c], HALF, sums[c]);
    }
}

/// The registers of a column from this one on.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn load<const N: usize>(column: &PanelColumn, first: usize) -> [__m256d; N] {
    assert!(first + N <= V);
    let mut registers = [_mm256_setzero_pd(); N];
    for v in 0..N {
        // SAFETY: a column has 4·V entries and is aligned to 64 bytes.
        registers[v] = unsafe { _mm256_load_pd(column.0.as_ptr().add(4 * (first + v))) };
    }
    registers
}

#[target_feature(enable = "avx2,fma")]
#[inline]
fn store<const N: usize>(column: &mut PanelColumn, first: usize, registers: [__m256d; N]) {
    assert!(first + N <= V);
    for v in 0..N {
        // SAFETY: a column has 4·V entries and is aligned to 64 bytes.
        unsafe { _mm256_store_pd(column.0.as_mut_ptr().add(4 * (first + v)), registers[v]) };
    }
}

/// Prefetches a column that will be needed soon; beyond the end this has no effect.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn prefetch(column: &PanelColumn) {
    let ahead = column.0.as_ptr().wrapping_add(AHEAD).cast::<i8>();
    _mm_prefetch::<_MM_HINT_T0>(ahead);
    _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(64));
    _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(128));
}
