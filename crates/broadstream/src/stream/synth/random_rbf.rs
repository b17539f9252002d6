//! Random radial basis functions: clouds around random centres, which may wander.
//!
//! A centroid has a random centre in the unit cube, a class, a spread and a weight. A sample picks a
//! centroid by weight and lies in a random direction from its centre, at a distance that is normal
//! with the centroid's spread. With a speed above zero the first centroids move before every sample,
//! each on a line of its own, and turn back at the walls of the cube.
//!
//! A. Bifet, G. Holmes, R. Kirkby and B. Pfahringer, "MOA: massive online analysis", JMLR 11, 2010;
//! the arithmetic and the order of draws are those of River's `synth.RandomRBF` and
//! `synth.RandomRBFDrift`.

use super::{
    Generator, Samples, broken_rule, check_count, numbered,
    python_random::{PythonRandom, power_of_one_half},
};
use crate::error::Error;

/// The options of [`RandomRbf`]. The defaults are River's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomRbfOptions {
    /// Which concept: the seed that the centroids are drawn from. Default 0.
    ///
    /// River's `seed_model`, there random.
    pub variant: u64,

    /// How many classes there are, 1 to 10 000. Default 2.
    ///
    /// River's `n_classes`.
    pub classes: u32,

    /// How many inputs a sample has, 1 to 10 000. Default 10.
    ///
    /// River's `n_features`.
    pub inputs: usize,

    /// How many centroids there are, 1 to 10 000, with at most ten million coordinates in all.
    /// Default 50.
    ///
    /// River's `n_centroids`.
    pub centroids: usize,

    /// How many centroids, from the first on, move; a larger number than there are means all.
    /// Default 50.
    ///
    /// River's `n_drift_centroids`.
    pub drifting_centroids: usize,

    /// How far a moving centroid goes before every sample, finite and not negative. Default 0,
    /// which is River's `RandomRBF`.
    ///
    /// River's `change_speed`.
    pub speed: f64,

    /// Where the random numbers of the samples start: Python's `random.Random(seed)`. Default 42.
    ///
    /// River's `seed_sample`, there random.
    pub seed: u64,
}

impl Default for RandomRbfOptions {
    fn default() -> Self {
        RandomRbfOptions {
            variant: 0,
            classes: 2,
            inputs: 10,
            centroids: 50,
            drifting_centroids: 50,
            speed: 0.0,
            seed: 42,
        }
    }
}

/// The random RBF generator: River's `synth.RandomRBF`, and with a speed its
/// `synth.RandomRBFDrift`.
///
/// Normal numbers need a logarithm, a sine and a cosine, lengths a power. Here as in River they are
/// the platform's, so the last bits of a value may differ from machine to machine. Python adds up
/// the weights more precisely from version 3.12 on; here they are added as before, one by one, which
/// could pick another centroid only for a draw within rounding of a border.
///
/// ```
/// use broadstream::stream::synth::{Generator, RandomRbf, RandomRbfOptions};
///
/// let options =
///     RandomRbfOptions { variant: 42, classes: 4, inputs: 4, centroids: 20, ..Default::default() };
/// let mut rbf = RandomRbf::new(options)?;
/// let mut x = Vec::new();
/// assert_eq!(rbf.next(&mut x), 2);
/// assert!((x[0] - 1.0989).abs() < 1e-4);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RandomRbf {
    centroids: Vec<Centroid>,
    classes: u32,
    /// By moving centroid, the step along each input; directions have the length 1.
    directions: Vec<Vec<f64>>,
    speed: f64,
    random: PythonRandom,
}

#[derive(Clone, Debug)]
struct Centroid {
    centre: Vec<f64>,
    class: usize,
    spread: f64,
    weight: f64,
}

impl RandomRbf {
    /// A generator, from its first sample on.
    pub fn new(options: RandomRbfOptions) -> Result<Self, Error> {
        const MOST_COORDINATES: usize = 10_000_000;
        let RandomRbfOptions { variant, classes, inputs, centroids, .. } = options;
        check_count("random-rbf", "classes", classes as usize)?;
        check_count("random-rbf", "inputs", inputs)?;
        check_count("random-rbf", "centroids", centroids)?;
        if inputs * centroids > MOST_COORDINATES {
            let rule = "few enough for ten million coordinates in all";
            let value = format!("{centroids} of {inputs} inputs");
            return Err(broken_rule("random-rbf", "centroids", rule, value));
        }
        if !(options.speed.is_finite() && options.speed >= 0.0) {
            let rule = "finite and not negative";
            return Err(broken_rule("random-rbf", "speed", rule, options.speed.to_string()));
        }
        let mut random = PythonRandom::new(variant);
        let drawn = (0..centroids).map(|_| Centroid::draw(inputs, classes, &mut random)).collect();
        // River restarts the random numbers of the concept for the directions.
        let mut random = PythonRandom::new(variant);
        let moving =
            if options.speed > 0.0 { options.drifting_centroids.min(centroids) } else { 0 };
        let directions = (0..moving).map(|_| direction(inputs, &mut random)).collect();
        Ok(RandomRbf {
            centroids: drawn,
            classes,
            directions,
            speed: options.speed,
            random: PythonRandom::new(options.seed),
        })
    }

    /// The next `samples` samples as a stream.
    pub fn take(self, samples: u64) -> Samples<Self> {
        Samples::new(self, samples)
    }

    fn move_centroids(&mut self) {
        for (centroid, direction) in self.centroids.iter_mut().zip(&mut self.directions) {
            for (coordinate, step) in centroid.centre.iter_mut().zip(direction) {
                *coordinate += *step * self.speed;
                if !(0.0..=1.0).contains(coordinate) {
                    *coordinate = coordinate.clamp(0.0, 1.0);
                    *step = -*step;
                }
            }
        }
    }

    /// A centroid by weight.
    fn pick(&mut self) -> usize {
        let all: f64 = self.centroids.iter().fold(0.0, |sum, centroid| sum + centroid.weight);
        let drawn = self.random.random() * all;
        let mut sum = 0.0;
        let reaches_beyond = |centroid: &Centroid| {
            sum += centroid.weight;
            sum > drawn
        };
        self.centroids.iter().position(reaches_beyond).unwrap_or(self.centroids.len() - 1)
    }
}

impl Generator for RandomRbf {
    fn inputs(&self) -> Vec<String> {
        numbered(self.centroids[0].centre.len())
    }

    fn labels(&self) -> Vec<String> {
        numbered(self.classes as usize)
    }

    fn next(&mut self, x: &mut Vec<f64>) -> usize {
        self.move_centroids();
        let picked = self.pick();
        let Centroid { centre, class, spread, .. } = &self.centroids[picked];
        x.clear();
        let mut square = 0.0;
        for _ in centre {
            let value = self.random.random() * 2.0 - 1.0;
            square += value * value;
            x.push(value);
        }
        let distance = self.random.normal() * spread;
        let scale = distance / power_of_one_half(square);
        for (value, coordinate) in x.iter_mut().zip(centre) {
            *value = coordinate + *value * scale;
        }
        *class
    }
}

impl Centroid {
    fn draw(inputs: usize, classes: u32, random: &mut PythonRandom) -> Self {
        let centre = (0..inputs).map(|_| random.random()).collect();
        let class = random.below(classes) as usize;
        Centroid { centre, class, spread: random.random(), weight: random.random() }
    }
}

/// A random direction of length 1.
fn direction(inputs: usize, random: &mut PythonRandom) -> Vec<f64> {
    let mut direction: Vec<f64> = (0..inputs).map(|_| random.random()).collect();
    let square = direction.iter().fold(0.0, |sum, step| sum + step * step);
    let length = power_of_one_half(square);
    direction.iter_mut().for_each(|step| *step /= length);
    direction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_checked() {
        let message = |options| RandomRbf::new(options).unwrap_err().to_string();
        let rbf = RandomRbfOptions::default();
        assert_eq!(
            message(RandomRbfOptions { classes: 0, ..rbf }),
            "random-rbf: classes must be between 1 and 10000, got 0"
        );
        assert_eq!(
            message(RandomRbfOptions { inputs: 20_000, ..rbf }),
            "random-rbf: inputs must be between 1 and 10000, got 20000"
        );
        assert_eq!(
            message(RandomRbfOptions { inputs: 10_000, centroids: 1001, ..rbf }),
            "random-rbf: centroids must be few enough for ten million coordinates in all, got 1001 \
             of 10000 inputs"
        );
        for speed in [-0.1, f64::NAN, f64::INFINITY] {
            let expected =
                format!("random-rbf: speed must be finite and not negative, got {speed}");
            assert_eq!(message(RandomRbfOptions { speed, ..rbf }), expected);
        }
    }

    #[test]
    fn only_the_drifting_centroids_move_and_they_stay_in_the_cube() {
        let options = RandomRbfOptions { drifting_centroids: 3, speed: 0.3, ..Default::default() };
        let mut rbf = RandomRbf::new(options).unwrap();
        let start = rbf.clone();
        let mut x = Vec::new();
        for _ in 0..1000 {
            rbf.next(&mut x);
            let mut coordinates = rbf.centroids.iter().flat_map(|centroid| &centroid.centre);
            assert!(coordinates.all(|coordinate| (0.0..=1.0).contains(coordinate)));
        }
        for (i, (after, before)) in rbf.centroids.iter().zip(&start.centroids).enumerate() {
            assert_eq!(after.centre != before.centre, i < 3, "centroid {i}");
        }
    }
}
