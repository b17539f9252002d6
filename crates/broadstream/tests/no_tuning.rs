//! What the default, which has nothing to tune, costs compared with the best choice in hindsight.

use broadstream::{
    Evaluator, Forgetting, Nodes, Observer, OnlineBls, OnlineBlsConfig, Outcome,
    PrequentialOptions,
    stream::{
        Stream,
        synth::{
            Agrawal, AgrawalOptions, ConceptDrift, Generator, Hyperplane, HyperplaneOptions, Led,
            LedOptions, Mixed, RandomRbf, RandomRbfOptions, RandomTree, RandomTreeOptions, Sea,
            Sine, SineOptions, Stagger, Waveform,
        },
    },
};

const FIXED: [f64; 4] = [0.9, 0.99, 0.999, 1.0];

/// Small enough for many runs.
fn auto() -> OnlineBlsConfig {
    OnlineBlsConfig {
        feature_groups: 5,
        feature_nodes: 10,
        enhancement_nodes: Nodes::Fixed(160),
        ..OnlineBlsConfig::default()
    }
}

fn fixed(share: f64) -> OnlineBlsConfig {
    OnlineBlsConfig {
        forgetting: Forgetting::Fixed(share),
        feature_groups: 5,
        feature_nodes: 10,
        enhancement_nodes: Nodes::Fixed(160),
        ..OnlineBlsConfig::single()
    }
}

/// The squared error of each prediction, and whether it was right.
#[derive(Default)]
struct Outcomes {
    losses: Vec<f64>,
    right: usize,
}

impl Observer for Outcomes {
    fn sample(&mut self, outcome: Outcome<'_>) {
        let truth = |k| f64::from(u8::from(k == outcome.truth));
        let squares = outcome.probabilities.iter().enumerate().map(|(k, p)| (p - truth(k)).powi(2));
        let unknown = outcome.truth >= outcome.probabilities.len();
        self.losses.push(squares.sum::<f64>() + f64::from(u8::from(unknown)));
        self.right += usize::from(outcome.predicted == Some(outcome.truth));
    }
}

fn run(config: OnlineBlsConfig, stream: &mut dyn Stream) -> Outcomes {
    let mut model = OnlineBls::new(config).unwrap();
    let mut outcomes = Outcomes::default();
    let options = PrequentialOptions::default();
    Evaluator::new(&options).unwrap().run(stream, &mut model, &mut outcomes).unwrap();
    outcomes
}

/// Concepts that alternate every `every` samples, with transitions of `width` samples.
fn in_turn<G: Generator + 'static>(concepts: Vec<G>, every: u64, width: u64) -> Box<dyn Stream> {
    let count = concepts.len() as u64;
    let changes: Vec<u64> = (1..count).map(|change| change * every).collect();
    let concepts = concepts.into_iter().map(|concept| Box::new(concept) as _).collect();
    let stream = ConceptDrift::in_turn(concepts, &changes, width, 1).unwrap();
    Box::new(stream.take(count * every))
}

/// Several seeds, since a single stream can favour one model by chance.
const SEEDS: [u64; 3] = [42, 142, 242];

/// Ten kinds of stream, with abrupt, gradual, recurring and no drift.
fn streams(seed: u64) -> Vec<(&'static str, Box<dyn Stream>)> {
    let seeded = |variants: &[usize]| variants.iter().copied().zip(seed..).collect::<Vec<_>>();
    let sea = seeded(&[0, 1, 2, 3]).into_iter().map(|(v, s)| Sea::new(v, 0.1, s).unwrap());
    let stagger = seeded(&[0, 1, 2, 0, 1, 2]).into_iter();
    let stagger = stagger.map(|(v, s)| Stagger::new(v, false, s).unwrap());
    let sine = seeded(&[0, 1]).into_iter().map(|(variant, seed)| {
        Sine::new(SineOptions { variant, seed, ..SineOptions::default() }).unwrap()
    });
    let mixed = seeded(&[0, 1, 0]).into_iter().map(|(v, s)| Mixed::new(v, false, s).unwrap());
    let agrawal = seeded(&[0, 3, 7]).into_iter().map(|(variant, seed)| {
        Agrawal::new(AgrawalOptions { variant, seed, ..AgrawalOptions::default() }).unwrap()
    });
    let hyperplane =
        Hyperplane::new(HyperplaneOptions { magnitude: 0.01, seed, ..Default::default() });
    let led = Led::new(LedOptions { noise: 0.1, seed, ..LedOptions::default() });
    let rbf = RandomRbfOptions { speed: 0.001, classes: 4, seed, ..Default::default() };
    let tree = RandomTree::new(RandomTreeOptions { seed, ..RandomTreeOptions::default() });
    vec![
        ("sea", in_turn(sea.collect(), 1500, 1)),
        ("stagger", in_turn(stagger.collect(), 1000, 1)),
        ("sine", in_turn(sine.collect(), 3000, 1000)),
        ("mixed", in_turn(mixed.collect(), 2000, 1)),
        ("agrawal", in_turn(agrawal.collect(), 2000, 200)),
        ("hyperplane", Box::new(hyperplane.unwrap().take(6000))),
        ("led", Box::new(led.unwrap().take(6000))),
        ("waveform", Box::new(Waveform::new(false, seed).take(6000))),
        ("random RBF", Box::new(RandomRbf::new(rbf).unwrap().take(6000))),
        ("random tree", Box::new(tree.unwrap().take(6000))),
    ]
}

fn stream(name: &str, seed: u64) -> Box<dyn Stream> {
    streams(seed).into_iter().find(|(known, _)| *known == name).unwrap().1
}

#[test]
fn no_fixed_forgetting_is_better_by_half_a_point() {
    for name in streams(0).into_iter().map(|(name, _)| name) {
        let accuracy = |config: &dyn Fn() -> OnlineBlsConfig| -> f64 {
            let runs = SEEDS.map(|seed| run(config(), &mut *stream(name, seed)));
            let samples: usize = runs.iter().map(|run| run.losses.len()).sum();
            100.0 * runs.iter().map(|run| run.right).sum::<usize>() as f64 / samples as f64
        };
        let chosen = accuracy(&auto);
        let best = FIXED.map(|share| accuracy(&|| fixed(share))).into_iter().fold(0.0, f64::max);
        assert!(chosen >= best - 0.5, "{name}: {chosen:.2} against {best:.2}");
    }
}

/// Compared with the best member between two changes of concept, summed over all such stretches,
/// the default loses nothing, although it has to find that member each time: together its members
/// are better than any of them. Each bound is the regret that was found, with some margin.
#[test]
fn the_regret_of_switching_is_bounded() {
    for (name, stretch, bound) in
        [("stagger", 1000, 0.0), ("mixed", 2000, -150.0), ("sea", 1500, -60.0)]
    {
        let chosen = run(auto(), &mut *stream(name, 42)).losses;
        let others = FIXED.map(|share| run(fixed(share), &mut *stream(name, 42)).losses);
        let regret: f64 = chosen
            .chunks(stretch)
            .enumerate()
            .map(|(i, chosen)| {
                let sum = |losses: &[f64]| losses[i * stretch..][..stretch].iter().sum::<f64>();
                let best = others.iter().map(|losses| sum(losses)).fold(f64::INFINITY, f64::min);
                chosen.iter().sum::<f64>() - best
            })
            .sum();
        assert!(regret <= bound, "{name}: {regret}");
    }
}
