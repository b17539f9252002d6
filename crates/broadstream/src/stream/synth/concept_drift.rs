//! Concept drift: one generator giving way to another.
//!
//! Sample t, counted from 1, comes from the new generator with probability
//!
//! > p(t) = 1 / (1 + exp(-4 (t - position) / width)),
//!
//! a sigmoid whose middle is the position and whose slope there is 1 / width. Only the generator
//! chosen moves on. Either may be a `ConceptDrift` itself: drifts nest, and a nested one counts
//! only the samples taken from it.
//!
//! A. Bifet, G. Holmes, B. Pfahringer, R. Kirkby and R. Gavaldà, "New ensemble methods for evolving
//! data streams", KDD 2009; the arithmetic and the order of draws are those of River's
//! `synth.ConceptDriftStream`.

use std::fmt;

use super::{Generator, Samples, broken_rule, python_random::PythonRandom};
use crate::error::Error;

/// A change from one concept to another: River's `synth.ConceptDriftStream`.
///
/// ```
/// use broadstream::stream::synth::{ConceptDrift, Sea};
///
/// let before = Box::new(Sea::new(0, 0.0, 42)?);
/// let after = Box::new(Sea::new(1, 0.0, 43)?);
/// let stream = ConceptDrift::new(before, after, 500, 50, 1)?.take(1000);
/// # Ok::<(), broadstream::Error>(())
/// ```
///
/// Far from the position p is 0 or 1 to the last bit. River stops there with an `OverflowError`
/// when the position is still more than about 177 widths ahead; here the exponential overflows to
/// infinity and p is 0, so an abrupt drift late in a stream works.
pub struct ConceptDrift {
    before: Box<dyn Generator>,
    after: Box<dyn Generator>,
    position: u64,
    width: u64,
    /// How many samples were drawn.
    drawn: u64,
    random: PythonRandom,
}

impl ConceptDrift {
    /// A stream that turns from `before` to `after` around sample `position`, over about `width`
    /// samples (at least 1), with `seed` deciding which of the two each sample comes from.
    ///
    /// Both must have the same inputs and the same labels.
    pub fn new(
        before: Box<dyn Generator>,
        after: Box<dyn Generator>,
        position: u64,
        width: u64,
        seed: u64,
    ) -> Result<Self, Error> {
        const NAME: &str = "concept drift";
        if width == 0 {
            return Err(broken_rule(NAME, "width", "at least 1", width.to_string()));
        }
        let (inputs, labels) = (after.inputs(), after.labels());
        if inputs != before.inputs() || labels != before.labels() {
            let rule = "a generator with the inputs and labels of the one before";
            let value = format!("{} inputs and labels {}", inputs.len(), labels.join(", "));
            return Err(broken_rule(NAME, "after", rule, value));
        }
        let random = PythonRandom::new(seed);
        Ok(ConceptDrift { before, after, position, width, drawn: 0, random })
    }

    /// A stream of two to a thousand `concepts`, each giving way to the next around a sample of
    /// `changes`, over about `width` samples.
    ///
    /// The samples count from the start of the stream, in increasing order, one fewer than there
    /// are concepts. A width of 1 is an abrupt change; a wider one is gradual. A concept recurs when
    /// it is listed again, best with a seed of its own, since two generators of one seed would
    /// repeat the same inputs.
    ///
    /// In River this is a nest of streams, each with a seed one larger than the one around it, and
    /// a clock that starts with its own first sample:
    ///
    /// ```python
    /// synth.ConceptDriftStream(
    ///     concepts[0],
    ///     synth.ConceptDriftStream(
    ///         concepts[1], concepts[2],
    ///         position=changes[1] - changes[0], width=width, seed=seed + 1,
    ///     ),
    ///     position=changes[0], width=width, seed=seed,
    /// )
    /// ```
    ///
    /// ```
    /// use broadstream::stream::synth::{ConceptDrift, Generator, Stagger};
    ///
    /// // Variant 0, then 2, then 0 again.
    /// let concepts = [0, 2, 0].into_iter().zip(42..);
    /// let concepts = concepts
    ///     .map(|(variant, seed)| Ok(Box::new(Stagger::new(variant, false, seed)?) as _))
    ///     .collect::<Result<Vec<Box<dyn Generator>>, broadstream::Error>>()?;
    /// let stream = ConceptDrift::in_turn(concepts, &[5000, 10_000], 1, 45)?.take(15_000);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn in_turn(
        concepts: Vec<Box<dyn Generator>>,
        changes: &[u64],
        width: u64,
        seed: u64,
    ) -> Result<Self, Error> {
        const NAME: &str = "concept drift";
        // Every sample passes through all changes before it, which is how deep the call stack gets.
        const MOST_CONCEPTS: usize = 1000;
        let count = concepts.len();
        let wrong_count =
            || broken_rule(NAME, "concepts", "two to a thousand generators", count.to_string());
        if count > MOST_CONCEPTS {
            return Err(wrong_count());
        }
        let mut concepts = concepts.into_iter().enumerate();
        let (Some((_, first)), Some((_, mut rest))) = (concepts.next(), concepts.next_back())
        else {
            return Err(wrong_count());
        };
        if changes.len() != count - 1 {
            let value = format!("{} for {count} concepts", changes.len());
            return Err(broken_rule(NAME, "changes", "one fewer than the concepts", value));
        }
        if let Some(pair) = changes.windows(2).find(|pair| pair[0] >= pair[1]) {
            let value = format!("{} before {}", pair[0], pair[1]);
            return Err(broken_rule(NAME, "changes", "in increasing order", value));
        }
        // Seeds wrap around at 2⁶⁴, where Python's would go on.
        let seed = |i: usize| seed.wrapping_add(i as u64);
        for (i, concept) in concepts.rev() {
            let length = changes[i] - changes[i - 1];
            rest = Box::new(ConceptDrift::new(concept, rest, length, width, seed(i))?);
        }
        ConceptDrift::new(first, rest, changes[0], width, seed(0))
    }

    /// The next `samples` samples as a stream.
    pub fn take(self, samples: u64) -> Samples<Self> {
        Samples::new(self, samples)
    }
}

impl Generator for ConceptDrift {
    fn inputs(&self) -> Vec<String> {
        self.before.inputs()
    }

    fn labels(&self) -> Vec<String> {
        self.before.labels()
    }

    fn target(&self) -> &str {
        self.before.target()
    }

    fn next(&mut self, x: &mut Vec<f64>) -> usize {
        self.drawn += 1;
        let probability = probability_of_new(self.drawn, self.position, self.width);
        if self.random.random() > probability { self.before.next(x) } else { self.after.next(x) }
    }
}

impl fmt::Debug for ConceptDrift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConceptDrift")
            .field("position", &self.position)
            .field("width", &self.width)
            .field("drawn", &self.drawn)
            .finish_non_exhaustive()
    }
}

/// p(t) of the module's introduction, in River's order of operations.
fn probability_of_new(t: u64, position: u64, width: u64) -> f64 {
    // Python subtracts exactly and rounds once; 128 bits do the same for every pair.
    let past = (i128::from(t) - i128::from(position)) as f64;
    1.0 / (1.0 + (-4.0 * past / width as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{
        StreamError,
        synth::{Hyperplane, HyperplaneOptions, Sea},
    };

    fn sea(variant: usize, seed: u64) -> Box<dyn Generator> {
        Box::new(Sea::new(variant, 0.0, seed).unwrap())
    }

    fn draw(generator: &mut dyn Generator, n: usize) -> Vec<(Vec<f64>, usize)> {
        (0..n)
            .map(|_| {
                let mut x = Vec::new();
                let class = generator.next(&mut x);
                (x, class)
            })
            .collect()
    }

    fn hyperplane(inputs: usize) -> Box<dyn Generator> {
        let options = HyperplaneOptions { inputs, ..HyperplaneOptions::default() };
        Box::new(Hyperplane::new(options).unwrap())
    }

    #[test]
    fn parameters_are_checked() {
        let parameter = |result: Result<ConceptDrift, Error>| match result {
            Err(Error::Stream(StreamError::Parameter { parameter, .. })) => parameter,
            other => panic!("expected a parameter error, got {other:?}"),
        };
        assert_eq!(parameter(ConceptDrift::new(sea(0, 1), sea(1, 2), 10, 0, 1)), "width");
        assert_eq!(parameter(ConceptDrift::new(hyperplane(4), hyperplane(5), 10, 1, 1)), "after");
        let same_inputs_other_labels = ConceptDrift::new(sea(0, 1), hyperplane(3), 10, 1, 1);
        assert_eq!(
            same_inputs_other_labels.unwrap_err().to_string(),
            "concept drift: after must be a generator with the inputs and labels of the one \
             before, got 3 inputs and labels 0, 1"
        );
    }

    #[test]
    fn concepts_in_turn_are_checked() {
        let message = |concepts: usize, changes: &[u64]| {
            let concepts = (0..concepts).map(|i| sea(i % 4, i as u64)).collect();
            ConceptDrift::in_turn(concepts, changes, 1, 1).unwrap_err().to_string()
        };
        for (concepts, changes, expected) in [
            (0, &[][..], "concepts must be two to a thousand generators, got 0"),
            (1, &[], "concepts must be two to a thousand generators, got 1"),
            (1001, &[], "concepts must be two to a thousand generators, got 1001"),
            (3, &[10], "changes must be one fewer than the concepts, got 1 for 3 concepts"),
            (3, &[20, 20], "changes must be in increasing order, got 20 before 20"),
        ] {
            assert_eq!(message(concepts, changes), format!("concept drift: {expected}"));
        }
    }

    #[test]
    fn a_thousand_concepts_take_turns() {
        let concepts = (0..1000).map(|i| sea(i % 4, i as u64)).collect();
        let changes: Vec<u64> = (1..1000).collect();
        let mut drift = ConceptDrift::in_turn(concepts, &changes, 1, 1).unwrap();
        assert_eq!(draw(&mut drift, 3000).len(), 3000);
    }

    #[test]
    fn the_probability_saturates() {
        assert_eq!(probability_of_new(500, 500, 50), 0.5);
        assert_eq!(probability_of_new(1, 25_000, 1), 0.0);
        assert_eq!(probability_of_new(1, u64::MAX, 1), 0.0);
        assert_eq!(probability_of_new(u64::MAX, 0, 1), 1.0);
        assert_eq!(probability_of_new(u64::MAX, 0, u64::MAX), 1.0 / (1.0 + (-4.0_f64).exp()));
        for t in 1..2000 {
            let p = probability_of_new(t, 1000, 1);
            assert!(p.is_finite() && p <= probability_of_new(t + 1, 1000, 1), "t = {t}");
        }
    }

    #[test]
    fn far_from_its_position_it_is_one_of_the_two() {
        let mut early = ConceptDrift::new(sea(0, 42), sea(1, 43), u64::MAX, 1, 1).unwrap();
        assert_eq!(draw(&mut early, 1000), draw(&mut *sea(0, 42), 1000));

        let mut late = ConceptDrift::new(sea(0, 42), sea(1, 43), 100, 1, 1).unwrap();
        draw(&mut late, 120);
        let rest = draw(&mut late, 1000);
        let all_new = draw(&mut *sea(1, 43), 1200);
        let start = all_new.iter().position(|sample| *sample == rest[0]).unwrap();
        assert!((10..30).contains(&start), "the drift came {start} samples before the 120th");
        assert_eq!(rest, all_new[start..start + 1000]);
    }

    /// Over the width of the change both concepts are drawn from, the new one more and more.
    #[test]
    fn the_change_takes_about_its_width() {
        let mut drift = ConceptDrift::new(sea(0, 42), sea(1, 43), 5000, 2000, 7).unwrap();
        let old = draw(&mut *sea(0, 42), 10_000);
        let samples = draw(&mut drift, 10_000);
        let mut taken_from_old = 0;
        let from_old: Vec<bool> = samples
            .iter()
            .map(|sample| {
                let is_old = *sample == old[taken_from_old];
                taken_from_old += usize::from(is_old);
                is_old
            })
            .collect();
        let share = |range: std::ops::Range<usize>| {
            let n = range.len() as f64;
            from_old[range].iter().filter(|&&is_old| is_old).count() as f64 / n
        };
        assert!(share(0..3000) > 0.98);
        assert!((0.4..0.6).contains(&share(4750..5250)));
        assert!(share(7000..10_000) < 0.02);
    }
}
