//! Generators by name: from 'name:key=value,key=value' to a generator.
//!
//! Every generator has `seed` and `samples`. Those that know more than one concept have a `variant`,
//! or `variants` that follow one another; [`drift`] is about these.

mod drift;
mod parameters;

use self::{
    drift::{Drift, Variants},
    parameters::Parameters,
};
use super::{
    Agrawal, AgrawalOptions, ConceptDrift, Generator, Hyperplane, HyperplaneOptions, Led,
    LedOptions, Mixed, RandomRbf, RandomRbfOptions, RandomTree, RandomTreeOptions, Sea, Sine,
    SineOptions, Stagger, Waveform,
};
use crate::{error::Error, stream::StreamError};

/// A generator and its parameters, from their text.
///
/// ```
/// use broadstream::stream::{Stream, synth::NamedGenerator};
///
/// let sea = NamedGenerator::parse("sea:variant=2,noise=0,samples=500")?;
/// assert_eq!(sea.open()?.take(sea.samples).remaining(), Some(500));
///
/// let refused = NamedGenerator::parse("sea:seeds=1").unwrap_err().to_string();
/// assert!(refused.starts_with("sea has no parameter 'seeds': it has noise, "), "{refused}");
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct NamedGenerator {
    /// The text that it was made from.
    pub text: String,
    /// How many samples to read from it. Default 100 000.
    pub samples: u64,
    name: &'static str,
    kind: Kind,
    drift: Drift,
    seed: u64,
}

impl NamedGenerator {
    /// The names of all generators.
    pub const NAMES: [&str; 10] = [
        "sea",
        "hyperplane",
        "stagger",
        "sine",
        "mixed",
        "agrawal",
        "led",
        "waveform",
        "random-rbf",
        "random-tree",
    ];

    /// The generator that `text` names.
    pub fn parse(text: &str) -> Result<Self, Error> {
        match Self::find(text)? {
            Some(generator) => Ok(generator),
            None => {
                let (name, known) = (text.to_owned(), Self::NAMES.join(", "));
                Err(StreamError::UnknownGenerator { name, known }.into())
            }
        }
    }

    /// The generator that `text` names, or `None` if it names none and may be something else, such as a
    /// file.
    pub fn find(text: &str) -> Result<Option<Self>, Error> {
        let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
        let Some(name) = Self::NAMES.into_iter().find(|known| *known == name) else {
            return Ok(None);
        };
        let mut parameters = Parameters::parse(name, parameters)?;
        let kind = Kind::take(name, &mut parameters)?;
        let drift = match kind.variants() {
            Some(_) => Drift::take(&mut parameters)?,
            None => Drift::default(),
        };
        let seed = parameters.number("seed", 42)?;
        let samples = parameters.number("samples", 100_000)?;
        parameters.finish()?;
        Ok(Some(NamedGenerator { text: text.to_owned(), samples, name, kind, drift, seed }))
    }

    /// The generator at its start.
    ///
    /// Concepts that follow one another have consecutive seeds from `seed` on, and the changes between
    /// them have the seeds after those. With one seed for all, every concept would repeat the same inputs.
    pub fn open(&self) -> Result<Box<dyn Generator>, Error> {
        let Some(variants) = self.kind.variants() else {
            return self.kind.concept(0, self.seed);
        };
        let turns = self.drift.turns(self.name, variants, self.samples)?;
        let seeds = (0..).map(|i| self.seed.wrapping_add(i));
        let mut concepts = turns
            .variants
            .iter()
            .zip(seeds)
            .map(|(&variant, seed)| self.kind.concept(variant, seed))
            .collect::<Result<Vec<_>, Error>>()?;
        if turns.changes.is_empty() {
            return Ok(concepts.swap_remove(0));
        }
        let seed = self.seed.wrapping_add(concepts.len() as u64);
        let drift = ConceptDrift::in_turn(concepts, &turns.changes, turns.width, seed)?;
        Ok(Box::new(drift))
    }
}

/// A generator with all its parameters but the variant and the seed, which differ from concept to
/// concept.
#[derive(Clone, Debug)]
enum Kind {
    Sea { noise: f64 },
    Hyperplane(HyperplaneOptions),
    Stagger { balance: bool },
    Sine(SineOptions),
    Mixed { balance: bool },
    Agrawal(AgrawalOptions),
    Led(LedOptions),
    Waveform { irrelevant: bool },
    RandomRbf(RandomRbfOptions),
    RandomTree(RandomTreeOptions),
}

impl Kind {
    fn take(name: &str, parameters: &mut Parameters) -> Result<Self, Error> {
        Ok(match name {
            "sea" => Kind::Sea { noise: parameters.number("noise", 0.1)? },
            "hyperplane" => Kind::Hyperplane(hyperplane(parameters)?),
            "stagger" => Kind::Stagger { balance: parameters.flag("balance", false)? },
            "sine" => Kind::Sine(SineOptions {
                balance: parameters.flag("balance", false)?,
                irrelevant: parameters.flag("irrelevant", false)?,
                ..SineOptions::default()
            }),
            "mixed" => Kind::Mixed { balance: parameters.flag("balance", false)? },
            "agrawal" => Kind::Agrawal(AgrawalOptions {
                balance: parameters.flag("balance", false)?,
                perturbation: parameters.number("perturbation", 0.0)?,
                ..AgrawalOptions::default()
            }),
            "led" => Kind::Led(LedOptions {
                noise: parameters.number("noise", 0.0)?,
                irrelevant: parameters.flag("irrelevant", false)?,
                ..LedOptions::default()
            }),
            "waveform" => Kind::Waveform { irrelevant: parameters.flag("irrelevant", false)? },
            "random-rbf" => Kind::RandomRbf(random_rbf(parameters)?),
            _ => Kind::RandomTree(random_tree(parameters)?),
        })
    }

    /// The variants that there are; `None` for a generator of one concept.
    fn variants(&self) -> Option<Variants> {
        match self {
            Kind::Hyperplane(_) | Kind::Waveform { .. } => None,
            Kind::Sea { .. } => Some(Variants::AllInTurn(4)),
            Kind::Sine(_) => Some(Variants::Some(4)),
            Kind::Stagger { .. } => Some(Variants::Some(3)),
            Kind::Mixed { .. } => Some(Variants::Some(2)),
            Kind::Agrawal(_) => Some(Variants::Some(10)),
            Kind::Led(_) => Some(Variants::Some(8)),
            Kind::RandomRbf(_) | Kind::RandomTree(_) => Some(Variants::Endless),
        }
    }

    /// The generator of one concept.
    fn concept(&self, variant: u64, seed: u64) -> Result<Box<dyn Generator>, Error> {
        // A number that does not fit is larger than every list of variants, and is refused as such.
        let listed = usize::try_from(variant).unwrap_or(usize::MAX);
        Ok(match *self {
            Kind::Sea { noise } => Box::new(Sea::new(listed, noise, seed)?),
            Kind::Hyperplane(options) => {
                Box::new(Hyperplane::new(HyperplaneOptions { seed, ..options })?)
            }
            Kind::Stagger { balance } => Box::new(Stagger::new(listed, balance, seed)?),
            Kind::Sine(options) => {
                Box::new(Sine::new(SineOptions { variant: listed, seed, ..options })?)
            }
            Kind::Mixed { balance } => Box::new(Mixed::new(listed, balance, seed)?),
            Kind::Agrawal(options) => {
                Box::new(Agrawal::new(AgrawalOptions { variant: listed, seed, ..options })?)
            }
            Kind::Led(options) => {
                Box::new(Led::new(LedOptions { variant: listed, seed, ..options })?)
            }
            Kind::Waveform { irrelevant } => Box::new(Waveform::new(irrelevant, seed)),
            Kind::RandomRbf(options) => {
                Box::new(RandomRbf::new(RandomRbfOptions { variant, seed, ..options })?)
            }
            Kind::RandomTree(options) => {
                Box::new(RandomTree::new(RandomTreeOptions { variant, seed, ..options })?)
            }
        })
    }
}

fn hyperplane(parameters: &mut Parameters) -> Result<HyperplaneOptions, Error> {
    let default = HyperplaneOptions::default();
    Ok(HyperplaneOptions {
        inputs: parameters.number("inputs", default.inputs)?,
        drifting_inputs: parameters.number("drifting_inputs", default.drifting_inputs)?,
        magnitude: parameters.number("magnitude", default.magnitude)?,
        noise: parameters.number("noise", default.noise)?,
        sigma: parameters.number("sigma", default.sigma)?,
        ..default
    })
}

fn random_rbf(parameters: &mut Parameters) -> Result<RandomRbfOptions, Error> {
    let default = RandomRbfOptions::default();
    Ok(RandomRbfOptions {
        classes: parameters.number("classes", default.classes)?,
        inputs: parameters.number("inputs", default.inputs)?,
        centroids: parameters.number("centroids", default.centroids)?,
        drifting_centroids: parameters.number("drifting_centroids", default.drifting_centroids)?,
        speed: parameters.number("speed", default.speed)?,
        ..default
    })
}

fn random_tree(parameters: &mut Parameters) -> Result<RandomTreeOptions, Error> {
    let default = RandomTreeOptions::default();
    Ok(RandomTreeOptions {
        classes: parameters.number("classes", default.classes)?,
        numeric_inputs: parameters.number("numeric_inputs", default.numeric_inputs)?,
        categorical_inputs: parameters.number("categorical_inputs", default.categorical_inputs)?,
        categories: parameters.number("categories", default.categories)?,
        depth: parameters.number("depth", default.depth)?,
        first_leaf_level: parameters.number("first_leaf_level", default.first_leaf_level)?,
        leaves: parameters.number("leaves", default.leaves)?,
        ..default
    })
}
