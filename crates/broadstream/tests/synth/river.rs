//! The generators against the output of River 0.26.1, as recorded in `data/synth/cases.json` by the
//! program beside it, which also defines the fingerprints.

use std::collections::BTreeSet;

use broadstream::{
    Error,
    stream::synth::{
        Agrawal, AgrawalOptions, ConceptDrift, Generator, Led, LedOptions, Mixed, RandomRbf,
        RandomRbfOptions, RandomTree, RandomTreeOptions, Sea, Sine, SineOptions, Stagger, Waveform,
    },
};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::start_of;

const SAMPLES: usize = 10_000;

fn recorded() -> Value {
    serde_json::from_str(include_str!("../data/synth/cases.json")).unwrap()
}

#[test]
fn samples_are_those_of_river() {
    let recorded = recorded();
    assert_eq!(recorded["river"], "0.26.1");
    let same_arithmetic = recorded["arithmetic"] == arithmetic();
    let mut generators = generators().unwrap();
    let names: BTreeSet<&str> = generators.iter().map(|(name, _)| name.as_str()).collect();
    let cases = recorded["cases"].as_array().unwrap();
    assert_eq!(names, cases.iter().map(|case| case["name"].as_str().unwrap()).collect());
    for (name, generator) in &mut generators {
        let case = cases.iter().find(|case| case["name"] == **name).unwrap();
        let samples = check_first_samples(name, case, &mut **generator);
        assert_eq!(rounded_fingerprint(&samples), case["rounded"], "{name}, in millionths");
        // Normal numbers come from the C library; everything else has the same bits everywhere.
        let normal = name.starts_with("waveform") || name.starts_with("random-rbf");
        if same_arithmetic || !normal {
            assert_eq!(exact_fingerprint(&samples), case["exact"], "{name}, to the bit");
        }
    }
}

/// Compares names and the first samples, which show what is wrong where a fingerprint cannot.
fn check_first_samples(
    name: &str,
    case: &Value,
    generator: &mut dyn Generator,
) -> Vec<(Vec<f64>, usize)> {
    let inputs: Vec<&str> =
        case["inputs"].as_array().unwrap().iter().map(|input| input.as_str().unwrap()).collect();
    assert_eq!(generator.inputs(), inputs, "{name}");
    let samples: Vec<(Vec<f64>, usize)> = (0..SAMPLES)
        .map(|_| {
            let mut x = Vec::new();
            let class = generator.next(&mut x);
            (x, class)
        })
        .collect();
    let first = case["first"].as_array().unwrap();
    assert_eq!(first.len(), 5);
    for (t, (expected, (x, class))) in first.iter().zip(&samples).enumerate() {
        let expected: Vec<f64> =
            expected.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
        let found = [&x[..], &[*class as f64]].concat();
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs().max(1.0);
        assert!(
            found.len() == expected.len() && found.iter().zip(&expected).all(near),
            "{name}, sample {t}: expected {expected:?}, found {found:?}"
        );
    }
    samples
}

fn exact_fingerprint(samples: &[(Vec<f64>, usize)]) -> String {
    let mut digest = Sha256::new();
    for (x, class) in samples {
        x.iter().for_each(|value| digest.update(value.to_le_bytes()));
        digest.update([*class as u8]);
    }
    start_of(digest)
}

fn rounded_fingerprint(samples: &[(Vec<f64>, usize)]) -> String {
    let mut digest = Sha256::new();
    for (x, class) in samples {
        for value in x {
            digest.update(((value * 1e6 + 0.5).floor() as i64).to_le_bytes());
        }
        digest.update([*class as u8]);
    }
    start_of(digest)
}

/// How this machine rounds logarithm, sine, cosine and power: the fingerprint of 10 000 of each.
fn arithmetic() -> String {
    // The inputs of Sine are Python's random numbers, unchanged.
    let mut sine = Sine::new(SineOptions { seed: 1, ..SineOptions::default() }).unwrap();
    let mut digest = Sha256::new();
    let mut pair = Vec::new();
    for _ in 0..SAMPLES / 2 {
        sine.next(&mut pair);
        for &x in &pair {
            let one_half = std::hint::black_box(0.5);
            for value in [x.ln(), (6.0 * x).sin(), (6.0 * x).cos(), (5.0 * x).powf(one_half)] {
                digest.update(value.to_le_bytes());
            }
        }
    }
    start_of(digest)
}

type Case = (String, Box<dyn Generator>);

/// Every recorded case, by its name.
fn generators() -> Result<Vec<Case>, Error> {
    let mut cases = Vec::new();
    add_rules(&mut cases)?;
    add_agrawal(&mut cases)?;
    add_displays_and_waves(&mut cases)?;
    add_random_concepts(&mut cases)?;
    add_drifting(&mut cases)?;
    Ok(cases)
}

fn add(cases: &mut Vec<Case>, name: impl Into<String>, generator: impl Generator + 'static) {
    cases.push((name.into(), Box::new(generator)));
}

fn add_rules(cases: &mut Vec<Case>) -> Result<(), Error> {
    add(cases, "stagger 0", Stagger::new(0, false, 42)?);
    add(cases, "stagger 1", Stagger::new(1, false, 7)?);
    add(cases, "stagger 2", Stagger::new(2, false, 1 << 40)?);
    add(cases, "stagger 0 balanced", Stagger::new(0, true, 42)?);
    add(cases, "stagger 1 balanced", Stagger::new(1, true, 42)?);
    add(cases, "mixed 0", Mixed::new(0, false, 42)?);
    add(cases, "mixed 1", Mixed::new(1, false, 7)?);
    add(cases, "mixed 1 balanced", Mixed::new(1, true, 42)?);
    let sine = |variant, balance, irrelevant, seed| {
        Sine::new(SineOptions { variant, balance, irrelevant, seed })
    };
    add(cases, "sine 0", sine(0, false, false, 42)?);
    add(cases, "sine 1", sine(1, false, false, 7)?);
    add(cases, "sine 2", sine(2, false, false, 42)?);
    add(cases, "sine 3", sine(3, false, true, 42)?);
    add(cases, "sine 0 balanced", sine(0, true, false, 42)?);
    add(cases, "sine 2 balanced irrelevant", sine(2, true, true, 42)?);
    Ok(())
}

fn add_agrawal(cases: &mut Vec<Case>) -> Result<(), Error> {
    for variant in 0..10 {
        let options = AgrawalOptions { variant, ..AgrawalOptions::default() };
        add(cases, format!("agrawal {variant}"), Agrawal::new(options)?);
        let options = AgrawalOptions { balance: true, seed: 7, ..options };
        add(cases, format!("agrawal {variant} balanced"), Agrawal::new(options)?);
    }
    let options = AgrawalOptions { variant: 2, perturbation: 0.3, ..AgrawalOptions::default() };
    add(cases, "agrawal 2 perturbed", Agrawal::new(options)?);
    let options = AgrawalOptions { variant: 9, balance: true, perturbation: 1.0, seed: 3 };
    add(cases, "agrawal 9 balanced perturbed", Agrawal::new(options)?);
    Ok(())
}

fn add_displays_and_waves(cases: &mut Vec<Case>) -> Result<(), Error> {
    let led = |variant, noise, irrelevant, seed| {
        Led::new(LedOptions { variant, noise, irrelevant, seed })
    };
    add(cases, "led", led(0, 0.0, false, 42)?);
    add(cases, "led noise", led(0, 0.28, false, 112)?);
    add(cases, "led noise irrelevant", led(0, 0.1, true, 7)?);
    add(cases, "led 0", led(0, 0.1, true, 7)?);
    add(cases, "led 4", led(4, 0.28, true, 112)?);
    add(cases, "led 7", led(7, 0.0, true, 42)?);
    add(cases, "waveform", Waveform::new(false, 42));
    add(cases, "waveform irrelevant", Waveform::new(true, 7));
    Ok(())
}

fn add_random_concepts(cases: &mut Vec<Case>) -> Result<(), Error> {
    let rbf = RandomRbfOptions::default();
    add(cases, "random-rbf", RandomRbf::new(rbf)?);
    add(cases, "random-rbf at rest", RandomRbf::new(rbf)?);
    let four = RandomRbfOptions { variant: 42, classes: 4, inputs: 4, centroids: 20, ..rbf };
    add(cases, "random-rbf 42", RandomRbf::new(four)?);
    let options = RandomRbfOptions { drifting_centroids: 10, speed: 0.87, ..four };
    add(cases, "random-rbf drifting", RandomRbf::new(options)?);
    let options =
        RandomRbfOptions { variant: 3, classes: 1, inputs: 1, centroids: 1, seed: 4, ..rbf };
    add(cases, "random-rbf one of each", RandomRbf::new(options)?);
    let options = RandomRbfOptions {
        variant: 1,
        classes: 3,
        inputs: 5,
        centroids: 7,
        drifting_centroids: 50,
        speed: 0.001,
        seed: 2,
    };
    add(cases, "random-rbf all drifting", RandomRbf::new(options)?);

    let tree = RandomTreeOptions::default();
    add(cases, "random-tree", RandomTree::new(tree)?);
    let options = RandomTreeOptions {
        variant: 42,
        numeric_inputs: 2,
        categorical_inputs: 2,
        categories: 2,
        depth: 6,
        ..tree
    };
    add(cases, "random-tree 42", RandomTree::new(options)?);
    let options = RandomTreeOptions {
        variant: 5,
        classes: 7,
        numeric_inputs: 3,
        categorical_inputs: 0,
        categories: 5,
        depth: 9,
        first_leaf_level: 2,
        leaves: 0.3,
        seed: 6,
    };
    add(cases, "random-tree numeric", RandomTree::new(options)?);
    let options = RandomTreeOptions {
        classes: 3,
        numeric_inputs: 0,
        categorical_inputs: 6,
        categories: 3,
        depth: 5,
        first_leaf_level: 4,
        leaves: 0.5,
        ..options
    };
    add(cases, "random-tree categorical", RandomTree::new(options)?);
    Ok(())
}

fn add_drifting(cases: &mut Vec<Case>) -> Result<(), Error> {
    let agrawal = |(variant, seed)| {
        Agrawal::new(AgrawalOptions { variant, seed, ..AgrawalOptions::default() })
    };
    let concepts = boxed([(0, 42), (3, 43), (7, 44)].map(agrawal))?;
    let drift = ConceptDrift::in_turn(concepts, &[3333, 6666], 500, 45)?;
    add(cases, "agrawal in turn", drift);

    let stagger = |i: usize| Stagger::new(i % 3, false, 42 + i as u64);
    let concepts = boxed([0, 1, 2, 3, 4].map(stagger))?;
    let drift = ConceptDrift::in_turn(concepts, &[2000, 4000, 6000, 8000], 1, 47)?;
    add(cases, "stagger recurring", drift);

    let led =
        |(variant, seed)| Led::new(LedOptions { variant, noise: 0.1, irrelevant: true, seed });
    let concepts = boxed([(0, 42), (3, 43), (5, 44), (7, 45)].map(led))?;
    let drift = ConceptDrift::in_turn(concepts, &[2500, 5000, 7500], 1000, 46)?;
    add(cases, "led in turn", drift);

    let tree = |(variant, seed)| {
        RandomTree::new(RandomTreeOptions { variant, seed, ..RandomTreeOptions::default() })
    };
    let concepts = boxed([(1, 42), (2, 43), (1, 44)].map(tree))?;
    let drift = ConceptDrift::in_turn(concepts, &[4000, 8000], 50, 45)?;
    add(cases, "random-tree recurring", drift);

    let concepts = boxed([Sea::new(3, 0.1, 42), Sea::new(1, 0.1, 43)])?;
    add(cases, "sea in turn", ConceptDrift::in_turn(concepts, &[4000], 200, 44)?);
    Ok(())
}

fn boxed<G: Generator + 'static, const N: usize>(
    concepts: [Result<G, Error>; N],
) -> Result<Vec<Box<dyn Generator>>, Error> {
    concepts.into_iter().map(|concept| Ok(Box::new(concept?) as _)).collect()
}
