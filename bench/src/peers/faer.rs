//! faer: the rank update of its LLᵀ and LDLᵀ factors, and a factorisation from scratch for each
//! sample, which is the cost of literal forgetting.

use faer::{
    Mat, MatMut, Par,
    diag::{Diag, DiagRef},
    dyn_stack::{MemBuffer, MemStack},
    linalg::cholesky::{ldlt, llt},
};

use super::Peer;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaerForm {
    Llt,
    Ldlt,
}

pub(crate) struct Faer {
    form: FaerForm,
    /// L, or L with D in place of its unit diagonal.
    factor: Mat<f64>,
    /// The sample, which the update overwrites.
    w: Mat<f64>,
}

impl Faer {
    pub(crate) fn new(form: FaerForm, order: usize, ridge: f64) -> Self {
        let diagonal = match form {
            FaerForm::Llt => ridge.sqrt(),
            FaerForm::Ldlt => ridge,
        };
        let factor = Mat::from_fn(order, order, |i, j| if i == j { diagonal } else { 0.0 });
        Faer { form, factor, w: Mat::zeros(order, 1) }
    }
}

impl Peer for Faer {
    fn name(&self) -> String {
        let routine = match self.form {
            FaerForm::Llt => "llt",
            FaerForm::Ldlt => "ldlt",
        };
        format!("faer {}, `{routine}` rank update", env!("BENCH_FAER"))
    }

    fn learn_and_solve(&mut self, features: &[f64], x: &mut [f64]) {
        self.w.col_as_slice_mut(0).copy_from_slice(features);
        let mut alpha = Diag::<f64>::ones(1);
        let order = x.len();
        let x = MatMut::from_column_major_slice_mut(x, order, 1);
        // Neither solve needs work space.
        let stack = MemStack::new(&mut []);
        match self.form {
            FaerForm::Llt => {
                llt::update::rank_r_update_clobber(
                    self.factor.as_mut(),
                    self.w.as_mut(),
                    alpha.as_mut(),
                )
                .expect("a sum of squares stays positive");
                llt::solve::solve_in_place(self.factor.as_ref(), x, Par::Seq, stack);
            }
            FaerForm::Ldlt => {
                ldlt::update::rank_r_update_clobber(
                    self.factor.as_mut(),
                    self.w.as_mut(),
                    alpha.as_mut(),
                );
                let d: DiagRef<'_, f64> = self.factor.diagonal();
                ldlt::solve::solve_in_place(self.factor.as_ref(), d, x, Par::Seq, stack);
            }
        }
    }
}

/// P ← μP + a·aᵀ, then P + ridge · I = L Lᵀ from scratch, then the two solves.
pub(crate) struct FaerLiteral {
    forgetting: f64,
    ridge: f64,
    /// The lower triangle of P.
    p: Mat<f64>,
    factor: Mat<f64>,
    memory: MemBuffer,
}

impl FaerLiteral {
    pub(crate) fn new(order: usize, ridge: f64, forgetting: f64) -> Self {
        let scratch =
            llt::factor::cholesky_in_place_scratch::<f64>(order, Par::Seq, Default::default());
        FaerLiteral {
            forgetting,
            ridge,
            p: Mat::zeros(order, order),
            factor: Mat::zeros(order, order),
            memory: MemBuffer::new(scratch),
        }
    }
}

impl Peer for FaerLiteral {
    fn name(&self) -> String {
        format!("faer {}, `llt` of P + λI for each sample", env!("BENCH_FAER"))
    }

    fn learn_and_solve(&mut self, features: &[f64], x: &mut [f64]) {
        for (j, a_j) in features.iter().enumerate() {
            let p = &mut self.p.col_as_slice_mut(j)[j..];
            let factor = &mut self.factor.col_as_slice_mut(j)[j..];
            for ((p, factor), a_i) in p.iter_mut().zip(factor.iter_mut()).zip(&features[j..]) {
                *p = a_j.mul_add(*a_i, self.forgetting * *p);
                *factor = *p;
            }
            factor[0] += self.ridge;
        }
        let stack = MemStack::new(&mut self.memory);
        llt::factor::cholesky_in_place(
            self.factor.as_mut(),
            Default::default(),
            Par::Seq,
            stack,
            Default::default(),
        )
        .expect("a sum of squares and a ridge are positive");
        let order = x.len();
        let x = MatMut::from_column_major_slice_mut(x, order, 1);
        llt::solve::solve_in_place(self.factor.as_ref(), x, Par::Seq, MemStack::new(&mut []));
    }
}
