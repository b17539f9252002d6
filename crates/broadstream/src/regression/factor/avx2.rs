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

use super::{kernel::Kernel, panels::ROWS};
use crate::numeric::Avx2;
use crate::numeric::Column;

/// Registers of four numbers per column.
const V: usize = ROWS / 4;

/// How many entries ahead of their use columns are prefetched: about 1 KB.
const AHEAD: usize = 128;

impl Kernel for Avx2 {
    #[inline(always)]
    fn sweep<const G: usize>(
        self,
        l: &mut [Column<ROWS>],
        p: &[[f64; G]],
        beta: &[[f64; G]],
        w: &mut [Column<ROWS>; G],
    ) {
        // SAFETY: `self` exists, so the processor has AVX2 and FMA.
        unsafe { sweep(l, p, beta, w) }
    }

    #[inline(always)]
    fn sweep_diagonal<const G: usize>(
        self,
        block: &mut [Column<ROWS>],
        d_inverse: &mut [f64],
        mu_inverse: f64,
        gamma: &mut [f64; G],
        p: &mut [[f64; G]],
        beta: &mut [[f64; G]],
        w: &mut [Column<ROWS>; G],
    ) {
        // SAFETY: `self` exists, so the processor has AVX2 and FMA.
        unsafe { sweep_diagonal(block, d_inverse, mu_inverse, gamma, p, beta, w) }
    }

    #[inline(always)]
    fn forward(self, l: [&[Column<ROWS>]; 2], p: &[f64], w: &mut [Column<ROWS>; 2]) {
        // SAFETY: `self` exists, so the processor has AVX2 and FMA.
        unsafe { forward(l, p, w) }
    }

    #[inline(always)]
    fn forward_group<const G: usize>(
        self,
        l: &[Column<ROWS>],
        p: &[[f64; G]],
        w: &mut [Column<ROWS>; G],
    ) {
        // SAFETY: `self` exists, so the processor has AVX2 and FMA.
        unsafe { forward_group(l, p, w) }
    }

    #[inline(always)]
    fn backward(self, l: &[Column<ROWS>], x: &Column<ROWS>, out: &mut [f64]) {
        // SAFETY: `self` exists, so the processor has AVX2 and FMA.
        unsafe { backward(l, x, out) }
    }

    #[inline(always)]
    fn multiply<const SUBTRACT: bool, const C: usize>(
        self,
        a: &[Column<ROWS>],
        b: &[Column<ROWS>],
        first: usize,
        tile: &mut [Column<ROWS>; C],
    ) {
        // SAFETY: `self` exists, so the processor has AVX2 and FMA.
        unsafe { multiply::<SUBTRACT, C>(a, b, first, tile) }
    }
}

#[target_feature(enable = "avx2,fma")]
fn sweep<const G: usize>(
    l: &mut [Column<ROWS>],
    p: &[[f64; G]],
    beta: &[[f64; G]],
    w: &mut [Column<ROWS>; G],
) {
    let mut carried: [[__m256d; V]; G] = std::array::from_fn(|s| load(&w[s]));
    for ((column, p), beta) in l.iter_mut().zip(p).zip(beta) {
        let mut entries = load(column);
        prefetch(column);
        for s in 0..G {
            let p_s = _mm256_broadcast_sd(&p[s]);
            for v in 0..V {
                carried[s][v] = _mm256_fnmadd_pd(p_s, entries[v], carried[s][v]);
            }
            let beta_s = _mm256_broadcast_sd(&beta[s]);
            for v in 0..V {
                entries[v] = _mm256_fmadd_pd(beta_s, carried[s][v], entries[v]);
            }
        }
        store(column, entries);
    }
    for s in 0..G {
        store(&mut w[s], carried[s]);
    }
}

/// Sample by sample, since the w of one sample fits into registers where it must be taken apart
/// column by column; the block itself stays in the first-level cache.
#[target_feature(enable = "avx2,fma")]
fn sweep_diagonal<const G: usize>(
    block: &mut [Column<ROWS>],
    d_inverse: &mut [f64],
    mu_inverse: f64,
    gamma: &mut [f64; G],
    p: &mut [[f64; G]],
    beta: &mut [[f64; G]],
    w: &mut [Column<ROWS>; G],
) {
    for s in 0..G {
        let mut sample = DiagonalStep { mu_inverse, gamma: gamma[s], w: load(&w[s]) };
        let columns = block.iter_mut().zip(d_inverse.iter_mut());
        let mut columns = columns.zip(p.iter_mut().zip(beta.iter_mut()));
        // The lane that holds p must be a constant, so the columns are unrolled.
        macro_rules! columns {
            ($($lane:literal of $register:literal),*) => {
                $(if let Some(((column, d_inverse), (p, beta))) = columns.next() {
                    let p_j = _mm256_permute4x64_pd::<{ $lane * 0x55 }>(sample.w[$register]);
                    (p[s], beta[s]) = sample.column(p_j, column, d_inverse);
                })*
            };
        }
        columns!(
            0 of 0, 1 of 0, 2 of 0, 3 of 0, 0 of 1, 1 of 1, 2 of 1, 3 of 1, 0 of 2, 1 of 2, 2 of 2,
            3 of 2
        );
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
        column: &mut Column<ROWS>,
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
        let mut entries = load(column);
        for v in 0..V {
            self.w[v] = _mm256_fnmadd_pd(p_j, entries[v], self.w[v]);
            entries[v] = _mm256_fmadd_pd(beta_j, self.w[v], entries[v]);
        }
        store(column, entries);
        (p, beta)
    }
}

#[target_feature(enable = "avx2,fma")]
fn forward(l: [&[Column<ROWS>]; 2], p: &[f64], w: &mut [Column<ROWS>; 2]) {
    let mut carried: [[__m256d; V]; 2] = std::array::from_fn(|n| load(&w[n]));
    for ((first, second), p) in l[0].iter().zip(l[1]).zip(p) {
        prefetch(first);
        prefetch(second);
        let p = _mm256_broadcast_sd(p);
        for (carried, column) in carried.iter_mut().zip([first, second]) {
            let entries = load(column);
            for v in 0..V {
                carried[v] = _mm256_fnmadd_pd(p, entries[v], carried[v]);
            }
        }
    }
    for n in 0..2 {
        store(&mut w[n], carried[n]);
    }
}

#[target_feature(enable = "avx2,fma")]
fn forward_group<const G: usize>(l: &[Column<ROWS>], p: &[[f64; G]], w: &mut [Column<ROWS>; G]) {
    let mut carried: [[__m256d; V]; G] = std::array::from_fn(|s| load(&w[s]));
    for (column, p) in l.iter().zip(p) {
        prefetch(column);
        let entries = load(column);
        for s in 0..G {
            let p = _mm256_broadcast_sd(&p[s]);
            for v in 0..V {
                carried[s][v] = _mm256_fnmadd_pd(p, entries[v], carried[s][v]);
            }
        }
    }
    for s in 0..G {
        store(&mut w[s], carried[s]);
    }
}

#[target_feature(enable = "avx2,fma")]
fn backward(l: &[Column<ROWS>], x: &Column<ROWS>, out: &mut [f64]) {
    let x = load(x);
    for (columns, out) in l.as_chunks::<4>().0.iter().zip(out.as_chunks_mut::<4>().0) {
        let mut lanes = [_mm256_setzero_pd(); 4];
        for (column, lanes) in columns.iter().zip(&mut lanes) {
            prefetch(column);
            let l = load(column);
            let sum = _mm256_mul_pd(l[0], x[0]);
            *lanes = _mm256_fmadd_pd(l[2], x[2], _mm256_fmadd_pd(l[1], x[1], sum));
        }
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
    a: &[Column<ROWS>],
    b: &[Column<ROWS>],
    first: usize,
    tile: &mut [Column<ROWS>; C],
) {
    assert!(first + C <= ROWS);
    let mut sums: [[__m256d; V]; C] = std::array::from_fn(|c| load(&tile[c]));
    for (a, b) in a.iter().zip(b) {
        let a = load(a);
        for c in 0..C {
            let factor = _mm256_broadcast_sd(&b.0[first + c]);
            for v in 0..V {
                sums[c][v] = if SUBTRACT {
                    _mm256_fnmadd_pd(factor, a[v], sums[c][v])
                } else {
                    _mm256_fmadd_pd(factor, a[v], sums[c][v])
                };
            }
        }
    }
    for c in 0..C {
        store(&mut tile[c], sums[c]);
    }
}

#[target_feature(enable = "avx2,fma")]
#[inline]
fn load(column: &Column<ROWS>) -> [__m256d; V] {
    let mut registers = [_mm256_setzero_pd(); V];
    for v in 0..V {
        // SAFETY: a column has 4·V entries and is aligned to 32 bytes.
        registers[v] = unsafe { _mm256_load_pd(column.0.as_ptr().add(4 * v)) };
    }
    registers
}

#[target_feature(enable = "avx2,fma")]
#[inline]
fn store(column: &mut Column<ROWS>, registers: [__m256d; V]) {
    for v in 0..V {
        // SAFETY: a column has 4·V entries and is aligned to 32 bytes.
        unsafe { _mm256_store_pd(column.0.as_mut_ptr().add(4 * v), registers[v]) };
    }
}

/// Prefetches the columns that will be needed soon; beyond the end this has no effect.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn prefetch(column: &Column<ROWS>) {
    let ahead = column.0.as_ptr().wrapping_add(AHEAD).cast::<i8>();
    // A column of 96 bytes touches at most two cache lines that the previous one did not.
    _mm_prefetch::<_MM_HINT_T0>(ahead);
    _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(64));
}
