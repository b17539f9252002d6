//! Balanced classes: samples are thrown away until the class that is due turns up.

/// Which class a sample must have to be given out. The first is 1, then 0, 1, 0, …, as in River.
#[derive(Clone, Debug)]
pub(super) struct Alternation {
    /// `None` where classes are taken as they come.
    due: Option<usize>,
}

impl Alternation {
    pub(super) fn new(balance: bool) -> Self {
        Alternation { due: balance.then_some(1) }
    }

    /// Whether a sample of `class` may be given out; if so, the other class is due.
    pub(super) fn accepts(&mut self, class: usize) -> bool {
        match &mut self.due {
            Some(due) if *due != class => false,
            Some(due) => {
                *due = 1 - class;
                true
            }
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_turns_beginning_with_one() {
        let mut balanced = Alternation::new(true);
        let taken: Vec<bool> =
            [0, 0, 1, 1, 0, 0, 1].into_iter().map(|class| balanced.accepts(class)).collect();
        assert_eq!(taken, [false, false, true, false, true, false, true]);
        let mut unbalanced = Alternation::new(false);
        assert!([0, 0, 1, 1, 0].into_iter().all(|class| unbalanced.accepts(class)));
    }
}
