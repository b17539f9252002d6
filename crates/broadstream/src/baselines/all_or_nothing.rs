//! Blocks that are learned whole or not at all.

use crate::{
    classifier::Classifier,
    data::{Block, Scores},
    error::Error,
};

/// Takes each sample of a checked block to `learn`, which appends its scores of before. Should a
/// sample be refused that no check could foresee, the model becomes what it was before the block.
///
/// A copy of the model per block is what that costs; `learn` must itself leave no trace of a sample
/// that it refuses, which spares the copy where there is only one.
pub(super) fn learn_block<M: Classifier + Clone>(
    model: &mut M,
    block: &Block,
    scores: &mut Scores,
    mut learn: impl FnMut(&mut M, usize, &mut Scores) -> Result<(), Error>,
) -> Result<(), Error> {
    let before = (block.len() > 1).then(|| model.clone());
    let mut new = Scores::new();
    for i in 0..block.len() {
        if let Err(error) = learn(model, i, &mut new) {
            if let Some(before) = before {
                *model = before;
            }
            return Err(error);
        }
    }
    new.iter().for_each(|row| scores.push(row));
    Ok(())
}
