//! The hottest kernels in AVX-512 instructions, with the operations of [`portable`](super::portable)
//! in the same order, and so with the same bits.
//!
//! A column of a panel is three registers of eight. There are 32 registers, so none of the loops
//! spills, and a multiply-add handles twice as many numbers as one of AVX2.

use std::arch::x86_64::{
    __m256d, __m512d, _MM_HINT_T0, _mm_prefetch, _mm256_add_pd, _mm256_blend_pd, _mm256_hadd_pd,
    _mm256_loadu_pd, _mm256_permute2f128_pd, _mm256_storeu_pd, _mm256_sub_pd,
    _mm512_castpd512_pd256, _mm512_cvtsd_f64, _mm512_extractf64x4_pd, _mm512_fmadd_pd,
    _mm512_fnmadd_pd, _mm512_load_pd, _mm512_mul_pd, _mm512_permutexvar_pd, _mm512_set1_epi64,
    _mm512_set1_pd, _mm512_setzero_pd, _mm512_store_pd,
};

use super::{
    kernel::Kernel,
    panels::{PanelColumn, ROWS},
};
use crate::numeric::Avx512;

/// Registers of eight numbers per column.
const V: usize = ROWS / 8;

/// How many entries ahead of their use columns are prefetched: about 1.5 KB.
const AHEAD: usize = 192;

impl Kernel for Avx512 {
    #[inline(always)]
    fn sweep<const G: usize>(
        self,
        l: &mut [PanelColumn],
        p: &[[f64; G]],
        beta: &[[f64; G]],
        w: &mut [PanelColumn; G],
    ) {
        // SAFETY: `self` exists, so the processor has AVX-512.
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
        // SAFETY: `self` exists, so the processor has AVX-512.
        unsafe { sweep_diagonal(block, d_inverse, mu_inverse, gamma, p, beta, w) }
    }

    #[inline(always)]
    fn forward(self, l: [&[PanelColumn]; 2], p: &[f64], w: &mut [PanelColumn; 2]) {
        // SAFETY: `self` exists, so the processor has AVX-512.
        unsafe { forward(l, p, w) }
    }

    #[inline(always)]
    fn forward_group<const G: usize>(
        self,
        l: &[PanelColumn],
        p: &[[f64; G]],
        w: &mut [PanelColumn; G],
    ) {
        // SAFETY: `self` exists, so the processor has AVX-512.
        unsafe { forward_group(l, p, w) }
    }

    #[inline(always)]
    fn backward(self, l: &[PanelColumn], x: &PanelColumn, out: &mut [f64]) {
        // SAFETY: `self` exists, so the processor has AVX-512.
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
        // SAFETY: `self` exists, so the processor has AVX-512.
        unsafe { multiply::<SUBTRACT, C>(a, b, first, tile) }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn sweep<const G: usize>(
    l: &mut [PanelColumn],
    p: &[[f64; G]],
    beta: &[[f64; G]],
    w: &mut [PanelColumn; G],
) {
    let mut carried: [[__m512d; V]; G] = std::array::from_fn(|s| load(&w[s]));
    for ((column, p), beta) in l.iter_mut().zip(p).zip(beta) {
        let mut entries = load(column);
        prefetch(column);
        for s in 0..G {
            let p_s = _mm512_set1_pd(p[s]);
            for v in 0..V {
                carried[s][v] = _mm512_fnmadd_pd(p_s, entries[v], carried[s][v]);
            }
            let beta_s = _mm512_set1_pd(beta[s]);
            for v in 0..V {
                entries[v] = _mm512_fmadd_pd(beta_s, carried[s][v], entries[v]);
            }
        }
        store(column, entries);
    }
    for s in 0..G {
        store(&mut w[s], carried[s]);
    }
}

/// Sample by sample, as with AVX2.
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
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
        let mut sample = DiagonalStep { mu_inverse, gamma: gamma[s], w: load(&w[s]) };
        let columns = block.iter_mut().zip(d_inverse.iter_mut());
        let mut columns = columns.zip(p.iter_mut().zip(beta.iter_mut()));
        // The register that holds p must be a constant, so the columns are unrolled.
        macro_rules! columns {
            ($register:literal: $($lane:literal)*) => {
                $(if let Some(((column, d_inverse), (p, beta))) = columns.next() {
                    let lane = _mm512_set1_epi64($lane);
                    let p_j = _mm512_permutexvar_pd(lane, sample.w[$register]);
                    (p[s], beta[s]) = sample.column(p_j, column, d_inverse);
                })*
            };
        }
        columns!(0: 0 1 2 3 4 5 6 7);
        columns!(1: 0 1 2 3 4 5 6 7);
        columns!(2: 0 1 2 3 4 5 6 7);
        gamma[s] = sample.gamma;
    }
}

/// The state of one sample within a diagonal block.
struct DiagonalStep {
    mu_inverse: f64,
    gamma: f64,
    w: [__m512d; V],
}

impl DiagonalStep {
    /// Updates a column for p, which is broadcast to all lanes, and returns p and β.
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    #[inline]
    fn column(
        &mut self,
        p_j: __m512d,
        column: &mut PanelColumn,
        d_inverse: &mut f64,
    ) -> (f64, f64) {
        let p = _mm512_cvtsd_f64(p_j);
        let q = p * *d_inverse;
        let gamma_next = p.mul_add(q, self.gamma);
        let gamma_inverse = 1.0 / gamma_next;
        let beta = q * gamma_inverse;
        *d_inverse *= self.gamma * gamma_inverse * self.mu_inverse;
        self.gamma = gamma_next;
        let beta_j = _mm512_set1_pd(beta);
        let mut entries = load(column);
        for v in 0..V {
            self.w[v] = _mm512_fnmadd_pd(p_j, entries[v], self.w[v]);
            entries[v] = _mm512_fmadd_pd(beta_j, self.w[v], entries[v]);
        }
        store(column, entries);
        (p, beta)
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn forward(l: [&[PanelColumn]; 2], p: &[f64], w: &mut [PanelColumn; 2]) {
    let mut carried: [[__m512d; V]; 2] = std::array::from_fn(|n| load(&w[n]));
    for ((first, second), p) in l[0].iter().zip(l[1]).zip(p) {
        prefetch(first);
        prefetch(second);
        let p = _mm512_set1_pd(*p);
        for (carried, column) in carried.iter_mut().zip([first, second]) {
            let entries = load(column);
            for v in 0..V {
                carried[v] = _mm512_fnmadd_pd(p, entries[v], carried[v]);
            }
        }
    }
    for n in 0..2 {
        store(&mut w[n], carried[n]);
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn forward_group<const G: usize>(l: &[PanelColumn], p: &[[f64; G]], w: &mut [PanelColumn; G]) {
    let mut carried: [[__m512d; V]; G] = std::array::from_fn(|s| load(&w[s]));
    for (column, p) in l.iter().zip(p) {
        prefetch(column);
        let entries = load(column);
        for s in 0..G {
            let p = _mm512_set1_pd(p[s]);
            for v in 0..V {
                carried[s][v] = _mm512_fnmadd_pd(p, entries[v], carried[s][v]);
            }
        }
    }
    for s in 0..G {
        store(&mut w[s], carried[s]);
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn backward(l: &[PanelColumn], x: &PanelColumn, out: &mut [f64]) {
    let x = load(x);
    for (columns, out) in l.as_chunks::<4>().0.iter().zip(out.as_chunks_mut::<4>().0) {
        let lanes: [__m256d; 4] = std::array::from_fn(|i| {
            prefetch(&columns[i]);
            let l = load(&columns[i]);
            let sum = _mm512_mul_pd(l[0], x[0]);
            let sum = _mm512_fmadd_pd(l[2], x[2], _mm512_fmadd_pd(l[1], x[1], sum));
            _mm256_add_pd(_mm512_castpd512_pd256(sum), _mm512_extractf64x4_pd::<1>(sum))
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

#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn multiply<const SUBTRACT: bool, const C: usize>(
    a: &[PanelColumn],
    b: &[PanelColumn],
    first: usize,
    tile: &mut [PanelColumn; C],
) {
    assert!(first + C <= ROWS);
    let mut sums: [[__m512d; V]; C] = std::array::from_fn(|c| load(&tile[c]));
    for (a, b) in a.iter().zip(b) {
        let a = load(a);
        for c in 0..C {
            let factor = _mm512_set1_pd(b.0[first + c]);
            for v in 0..V {
                sums[c][v] = if SUBTRACT {
                    _mm512_fnmadd_pd(factor, a[v], sums[c][v])
                } else {
                    _mm512_fmadd_pd(factor, a[v], sums[c][v])
                };
            }
        }
    }
    for c in 0..C {
        store(&mut tile[c], sums[c]);
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
#[inline]
fn load(column: &PanelColumn) -> [__m512d; V] {
    let mut registers = [_mm512_setzero_pd(); V];
    for v in 0..V {
        // SAFETY: a column has 8·V entries and is aligned to 64 bytes.
        registers[v] = unsafe { _mm512_load_pd(column.0.as_ptr().add(8 * v)) };
    }
    registers
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
#[inline]
fn store(column: &mut PanelColumn, registers: [__m512d; V]) {
    for v in 0..V {
        // SAFETY: a column has 8·V entries and is aligned to 64 bytes.
        unsafe { _mm512_store_pd(column.0.as_mut_ptr().add(8 * v), registers[v]) };
    }
}

/// Prefetches a column that will be needed soon; beyond the end this has no effect.
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
#[inline]
fn prefetch(column: &PanelColumn) {
    let ahead = column.0.as_ptr().wrapping_add(AHEAD).cast::<i8>();
    _mm_prefetch::<_MM_HINT_T0>(ahead);
    _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(64));
    _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(128));
}
