//! Blocks that are learned completely or not at all.

use crate::{
    classifier::Classifier,
    data::{Block, Scores},
    error::Error,
};

/// Passes each sample of a checked block to `learn`, which appends the scores from before learning.
/// If a sample is refused for a reason that no check could foresee, the model is restored to its
/// state before the block.
///
/// That costs a copy of the model per block. A block of one sample needs no copy, since `learn`
/// must leave no trace of a sample that it refuses.
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
    (0..new.len()).for_each(|i| scores.push_decided(new.row(i), new.decisions(i)));
    Ok(())
}
