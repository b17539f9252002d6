//! The hottest kernels in AVX2 and FMA instructions: the same operations in the same order as in
//! [`portable`](super::portable), and so the same bits.
//!
//! The compiler makes vector code of the portable loops too, but it spills registers in the wide
//! ones, and does not fetch ahead: when the factor is larger than the inner caches that doubles the
//! time of a sweep.

use std::arch::x86_64::{
    __m256d, _MM_HINT_T0, _mm_prefetch, _mm256_broadcast_sd, _mm256_cvtsd_f64, _mm256_fmadd_pd,
    _mm256_fnmadd_pd, _mm256_load_pd, _mm256_permute4x64_pd, _mm256_set1_pd, _mm256_setzero_pd,
    _mm256_store_pd,
};

use super::{
    kernel::Kernel,
    panels::{Column, ROWS},
};
use crate::simd::Avx2;

/// Registers of four per column.
const V: usize = ROWS / 4;

/// How many entries ahead of their use columns are fetched: about 1 KB.
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
    let mut carried: [[__m256d; V]; G] = std::array::from_fn(|s| load(&w[s]));
    for (j, column) in block.iter_mut().enumerate() {
        let mut entries = load(column);
        for s in 0..G {
            let p_j = lane(carried[s][j / 4], j % 4);
            let scalar = _mm256_cvtsd_f64(p_j);
            let q = scalar * d_inverse[j];
            let gamma_next = scalar.mul_add(q, gamma[s]);
            let gamma_inverse = 1.0 / gamma_next;
            let beta_j = q * gamma_inverse;
            d_inverse[j] *= gamma[s] * gamma_inverse * mu_inverse;
            gamma[s] = gamma_next;
            p[j][s] = scalar;
            beta[j][s] = beta_j;
            for v in 0..V {
                carried[s][v] = _mm256_fnmadd_pd(p_j, entries[v], carried[s][v]);
            }
            let beta_j = _mm256_set1_pd(beta_j);
            for v in 0..V {
                entries[v] = _mm256_fmadd_pd(beta_j, carried[s][v], entries[v]);
            }
        }
        store(column, entries);
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

/// Fetches the columns that will be needed soon; beyond the end that has no effect.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn prefetch(column: &Column<ROWS>) {
    let ahead = column.0.as_ptr().wrapping_add(AHEAD).cast::<i8>();
    // A column of 96 bytes touches at most two cache lines that the one before did not.
    _mm_prefetch::<_MM_HINT_T0>(ahead);
    _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(64));
}

/// One of a register's four numbers in all four places.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn lane(register: __m256d, lane: usize) -> __m256d {
    match lane {
        0 => _mm256_permute4x64_pd::<0x00>(register),
        1 => _mm256_permute4x64_pd::<0x55>(register),
        2 => _mm256_permute4x64_pd::<0xaa>(register),
        _ => _mm256_permute4x64_pd::<0xff>(register),
    }
}
