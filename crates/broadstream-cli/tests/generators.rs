//! Generators as they are typed, against River's samples as recorded for the library's tests.

use std::process::{Command, Output};

use serde_json::Value;
use sha2::{Digest, Sha256};

fn broadstream(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_broadstream")).args(arguments).output().unwrap()
}

/// The fingerprint of a CSV file: its inputs as little-endian floats and its class as a byte.
fn fingerprint(csv: &str) -> String {
    let mut digest = Sha256::new();
    for line in csv.lines().skip(1) {
        let (inputs, class) = line.rsplit_once(',').unwrap();
        for input in inputs.split(',') {
            digest.update(input.parse::<f64>().unwrap().to_le_bytes());
        }
        let class = match class {
            "false" => 0,
            "true" => 1,
            number => number.parse().unwrap(),
        };
        digest.update([class]);
    }
    digest.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn specifications_give_the_streams_of_river() {
    let recorded: Value =
        serde_json::from_str(include_str!("../../broadstream/tests/data/synth/cases.json"))
            .unwrap();
    let cases = recorded["cases"].as_array().unwrap();
    for (name, specification) in [
        ("stagger 1 balanced", "stagger:variant=1,balance=true"),
        ("sine 2 balanced irrelevant", "sine:variant=2,balance=true,irrelevant=true"),
        ("mixed 1", "mixed:variant=1,seed=7"),
        ("agrawal 2 perturbed", "agrawal:variant=2,perturbation=0.3"),
        ("led 4", "led:variant=4,noise=0.28,irrelevant=true,seed=112"),
        (
            "random-tree numeric",
            "random-tree:variant=5,seed=6,classes=7,numeric_inputs=3,categorical_inputs=0,depth=9,\
             first_leaf_level=2,leaves=0.3",
        ),
        ("stagger recurring", "stagger:drift=recurring,every=2000,samples=10000"),
        ("agrawal in turn", "agrawal:variants=0-3-7,width=500,samples=10000"),
        ("led in turn", "led:variants=0-3-5-7,every=2500,width=1000,noise=0.1,irrelevant=true"),
        ("random-tree recurring", "random-tree:variants=1-2,drift=recurring,every=4000,width=50"),
        ("sea in turn", "sea:variants=3-1,every=4000,width=200"),
    ] {
        let output = broadstream(&["generate", specification, "--samples", "10000"]);
        let csv = String::from_utf8(output.stdout).unwrap();
        let case = cases.iter().find(|case| case["name"] == name).unwrap();
        assert_eq!(fingerprint(&csv), case["exact"], "{specification}");
    }
}

/// The same samples as if the parameters were left out.
#[test]
fn defaults_are_as_the_help_says() {
    for (short, long) in [
        ("sea", "sea:variants=0-1-2-3,every=250,width=1,drift=once,noise=0.1,seed=42,samples=1000"),
        ("stagger", "stagger:variant=0,balance=false,seed=42"),
        ("sine", "sine:variant=0,balance=false,irrelevant=false"),
        ("mixed", "mixed:variant=0,balance=false"),
        ("agrawal", "agrawal:variant=0,balance=false,perturbation=0"),
        ("led", "led:variant=0,noise=0,irrelevant=false"),
        ("waveform", "waveform:irrelevant=false,seed=42"),
        (
            "random-rbf",
            "random-rbf:variant=0,classes=2,inputs=10,centroids=50,drifting_centroids=50,speed=0",
        ),
        (
            "random-tree",
            "random-tree:variant=0,classes=2,numeric_inputs=5,categorical_inputs=5,categories=5,\
             depth=5,first_leaf_level=3,leaves=0.15",
        ),
    ] {
        let [short, long] = [short, long]
            .map(|specification| broadstream(&["generate", specification, "--samples", "1000"]));
        assert!(short.status.success(), "{}", String::from_utf8_lossy(&short.stderr));
        assert_eq!(String::from_utf8(short.stdout), String::from_utf8(long.stdout));
    }
}

#[test]
fn bad_parameters_are_told_by_rule_and_value() {
    for (specification, expected) in [
        ("stagger:variant=3", "stagger: variant must be 0, 1 or 2, got 3"),
        ("agrawal:variants=0-10", "agrawal: variant must be between 0 and 9, got 10"),
        ("led:variants=0-2", "led: variant must be 0 without irrelevant inputs, got 2"),
        ("sine:balance=yes", "sine: balance: expected true or false, got 'yes'"),
        ("mixed:width=0", "concept drift: width must be at least 1, got 0"),
        ("mixed:every", "mixed: expected parameters as key=value, got 'every'"),
        ("random-rbf:inputs=0", "random-rbf: inputs must be between 1 and 10000, got 0"),
        (
            "waveform:variant=1",
            "waveform has no parameter 'variant': it has irrelevant, seed, samples",
        ),
        (
            "river",
            "there is no generator 'river': expected one of sea, hyperplane, stagger, sine, \
             mixed, agrawal, led, waveform, random-rbf, random-tree",
        ),
    ] {
        let output = broadstream(&["generate", specification]);
        assert_eq!(output.status.code(), Some(2), "{specification}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), format!("error: {expected}\n"));
    }
}
