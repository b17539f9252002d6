//! The drift detector against River's ADWIN, as recorded in `data/drift/cases.json` by the program
//! beside it, which also defines the sequences.

use broadstream::drift::Adwin;
use serde_json::Value;

#[test]
fn changes_are_those_of_river() {
    let recorded: Value = serde_json::from_str(include_str!("data/drift/cases.json")).unwrap();
    assert_eq!(recorded["river"], "0.26.1");
    let mut changes = 0;
    for case in recorded["cases"].as_array().unwrap() {
        let mut adwin = Adwin::new(number(&case["delta"])).unwrap();
        let mut found = Vec::new();
        for (k, value) in (1_u64..).zip(sequence(case)) {
            if adwin.add(value).unwrap().is_some() {
                found.push((k, adwin.width()));
            }
        }
        let expected: Vec<(u64, u64)> = case["changes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|change| (change[0].as_u64().unwrap(), change[1].as_u64().unwrap()))
            .collect();
        assert_eq!(found, expected, "{} at {}", case["name"], case["delta"]);
        changes += found.len();
    }
    assert!(changes > 100, "{changes}");
}

fn sequence(case: &Value) -> Vec<f64> {
    let mut numbers = Numbers(case["seed"].as_u64().unwrap());
    let mut values = Vec::new();
    for stretch in case["stretches"].as_array().unwrap() {
        let (low, high) = (number(&stretch[1]), number(&stretch[2]));
        for _ in 0..stretch[0].as_u64().unwrap() {
            let u = numbers.next();
            let error = f64::from(u8::from(u < high));
            values.push(if case["errors"] == true { error } else { low + (high - low) * u });
        }
    }
    values
}

/// `SplitMix64`.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}
