//! Streams made by formulas: endless, repeatable, and with a known concept for every sample.
//!
//! A [`Generator`] yields samples forever; [`Samples`] makes a [`Stream`](super::Stream) of a given
//! length of it. The generators are those of the Python package River, down to the last bit: they
//! draw from the same Mersenne Twister in the same order, so results can be compared sample by
//! sample with anything measured there.
//!
//! | here | in River's `datasets.synth` | concept |
//! |---|---|---|
//! | [`Sea`] | `SEA` | two of three inputs against a threshold |
//! | [`Hyperplane`] | `Hyperplane` | a weighted sum whose weights wander |
//! | [`Stagger`] | `STAGGER` | a rule about size, colour and shape |
//! | [`Sine`] | `Sine` | a point above or below a sine curve |
//! | [`Mixed`] | `Mixed` | two of three conditions, one of them a curve |
//! | [`Agrawal`] | `Agrawal` | ten functions of a loan application |
//! | [`Led`] | `LED`, `LEDDrift` | a digit on a faulty display |
//! | [`Waveform`] | `Waveform` | which two of three waves are mixed |
//! | [`RandomRbf`] | `RandomRBF`, `RandomRBFDrift` | clouds around random centres, which may wander |
//! | [`RandomTree`] | `RandomTree` | a random decision tree |
//! | [`ConceptDrift`] | `ConceptDriftStream` | one generator giving way to another |
//! | [`ConceptDrift::in_turn`] | nested `ConceptDriftStream` | any number of generators in turn |
//! | [`Sea::drifting`] | three nested `ConceptDriftStream` | the four thresholds of `SEA` in turn |
//!
//! [`NamedGenerator`] makes any of them from a text, as the command line does.
//!
//! A generator that knows more than one concept has a `variant`: River's `variant` or
//! `classification_function`, or the seed of what was drawn at random. All inputs are numeric and
//! have River's values, including the codes of categories, and truth values, which are 0 and 1.
//! [`RandomRbf`] and [`Waveform`] use logarithms and powers. These are the platform's, as they are in
//! Python, so the last bits are the same only on the same machine.
//!
//! ```
//! use broadstream::{Block, stream::{Stream, synth::Sea}};
//!
//! let mut stream = Sea::new(0, 0.0, 42)?.take(1000);
//! let mut block = Block::new();
//! assert_eq!(stream.read_block(&mut block, 5)?, 5);
//! assert_eq!(block.sample(0).values()[0], 6.394267984578837);
//! assert_eq!(stream.schema().labels()[block.class(0)], "false");
//! assert_eq!(stream.remaining(), Some(995));
//! # Ok::<(), broadstream::Error>(())
//! ```

mod agrawal;
mod alternation;
mod concept_drift;
mod hyperplane;
mod led;
mod mixed;
mod named;
mod python_random;
mod random_rbf;
mod random_tree;
mod samples;
mod sea;
mod sine;
mod stagger;
mod waveform;

pub use self::{
    agrawal::{Agrawal, AgrawalOptions},
    concept_drift::ConceptDrift,
    hyperplane::{Hyperplane, HyperplaneOptions},
    led::{Led, LedOptions},
    mixed::Mixed,
    named::NamedGenerator,
    random_rbf::{RandomRbf, RandomRbfOptions},
    random_tree::{RandomTree, RandomTreeOptions},
    samples::Samples,
    sea::Sea,
    sine::{Sine, SineOptions},
    stagger::Stagger,
    waveform::Waveform,
};

use crate::{error::Error, stream::StreamError};

/// An endless source of labelled samples.
///
/// A generator numbers its classes by its own list of labels, which never changes;
/// [`Samples`] renumbers them in order of first appearance, as every stream must.
///
/// ```
/// use broadstream::stream::{Stream, synth::{Generator, Samples}};
///
/// /// Counts, and tells odd from even.
/// struct Parity(u64);
///
/// impl Generator for Parity {
///     fn inputs(&self) -> Vec<String> {
///         vec!["n".to_owned()]
///     }
///
///     fn labels(&self) -> Vec<String> {
///         vec!["even".to_owned(), "odd".to_owned()]
///     }
///
///     fn next(&mut self, x: &mut Vec<f64>) -> usize {
///         self.0 += 1;
///         x.clear();
///         x.push(self.0 as f64);
///         (self.0 % 2) as usize
///     }
/// }
///
/// let stream = Samples::new(Parity(0), 100);
/// assert_eq!(stream.schema().inputs()[0].name, "n");
/// ```
pub trait Generator: Send {
    /// The names of the inputs, in the order in which [`next`](Self::next) returns their values.
    fn inputs(&self) -> Vec<String>;

    /// The labels: a class returned by [`next`](Self::next) is a position in this list.
    fn labels(&self) -> Vec<String>;

    /// The name of what is predicted.
    fn target(&self) -> &str {
        "class"
    }

    /// Replaces the contents of `x` by the next sample's values and returns its class.
    fn next(&mut self, x: &mut Vec<f64>) -> usize;
}

impl<G: Generator + ?Sized> Generator for Box<G> {
    fn inputs(&self) -> Vec<String> {
        (**self).inputs()
    }

    fn labels(&self) -> Vec<String> {
        (**self).labels()
    }

    fn target(&self) -> &str {
        (**self).target()
    }

    fn next(&mut self, x: &mut Vec<f64>) -> usize {
        (**self).next(x)
    }
}

impl dyn Generator {
    /// The next `samples` samples as a stream, for a generator chosen at run time.
    ///
    /// ```
    /// use broadstream::stream::{Stream, synth::{Generator, Hyperplane, HyperplaneOptions, Sea}};
    ///
    /// let name = "sea";
    /// let generator: Box<dyn Generator> = match name {
    ///     "sea" => Box::new(Sea::new(0, 0.1, 42)?),
    ///     _ => Box::new(Hyperplane::new(HyperplaneOptions::default())?),
    /// };
    /// assert_eq!(generator.take(500).remaining(), Some(500));
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn take(self: Box<Self>, samples: u64) -> Samples<Box<dyn Generator>> {
        Samples::new(self, samples)
    }
}

/// The names "0", "1", … that River gives to the inputs and classes of its generators.
fn numbered(names: usize) -> Vec<String> {
    (0..names).map(|name| name.to_string()).collect()
}

/// Checks a count, which must be at least 1. The limit turns a typing error on a command line into a
/// message instead of an allocation failure.
fn check_count(
    generator: &'static str,
    parameter: &'static str,
    value: usize,
) -> Result<(), Error> {
    if (1..=10_000).contains(&value) {
        Ok(())
    } else {
        Err(broken_rule(generator, parameter, "between 1 and 10000", value.to_string()))
    }
}

/// Checks a probability or another fraction of 1; NaN is refused.
fn check_share(generator: &'static str, parameter: &'static str, value: f64) -> Result<(), Error> {
    if (0.0..=1.0).contains(&value) {
        Ok(())
    } else {
        Err(broken_rule(generator, parameter, "between 0 and 1", value.to_string()))
    }
}

fn broken_rule(
    generator: &'static str,
    parameter: &'static str,
    rule: &'static str,
    value: String,
) -> Error {
    Error::Stream(StreamError::Parameter { generator, parameter, rule, value })
}
