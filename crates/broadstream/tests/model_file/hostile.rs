//! Files that are truncated, modified, or crafted to do harm.

use std::sync::LazyLock;

use broadstream::{Classifier, OnlineBls, Scores, model_file::ModelFile};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::{bytes, model, read, samples, schema, small};

fn message(bytes: &[u8]) -> String {
    read(bytes).map(|_| String::new()).unwrap_or_else(|error| error.to_string())
}

/// The file of a trained model.
static FILE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut model = model(small());
    model.learn_many(&samples(0..150)).unwrap();
    bytes(&model)
});

/// Gives a modified body its correct checksum.
fn seal(file: &mut [u8]) {
    let digest = Sha256::digest(&file[64..]);
    file[24..56].copy_from_slice(&digest);
}

#[test]
fn every_cut_is_noticed() {
    let file = &*FILE;
    for length in (0..64).chain((64..file.len()).step_by(997)).chain([file.len() - 1]) {
        let message = message(&file[..length]);
        let expected = match length {
            0 => "this is not a broadstream model file".to_owned(),
            1..64 => {
                format!("the file is truncated: its header declares 64 bytes, but {length} follow")
            }
            _ => format!(
                "the file is truncated: its header declares {} bytes, but {} follow",
                file.len() - 64,
                length - 64
            ),
        };
        assert_eq!(message, expected);
    }
    assert!(message(&[&file[..], b"x"].concat()).contains("too long"));
}

#[test]
fn every_change_is_noticed() {
    let file = &*FILE;
    for place in (0..64).chain((64..file.len()).step_by(499)) {
        let mut altered = file.clone();
        altered[place] ^= 0x10;
        let message = message(&altered);
        let expected = match place {
            0..8 => "not a broadstream model file",
            8..12 => "reads versions up to 2",
            12..16 | 56..64 => "unknown entries",
            16..24 => "header declares",
            _ => "its checksum does not match",
        };
        assert!(message.contains(expected), "byte {place}: {message}");
    }
}

#[test]
fn sizes_that_are_only_claimed_take_no_memory() {
    let file = &*FILE;
    let mut huge = file.clone();
    huge[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(message(&huge).contains("truncated"));
    // A model of a million nodes would take terabytes; its arrays are missing.
    let text = r#"\"enhancement_nodes\":30,"#;
    let place = file.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
    let mut altered = file.clone();
    for claim in ["99", "9e9"] {
        altered.clone_from(file);
        let replaced = text.replace("30", claim);
        let cut = &replaced.as_bytes()[..text.len().min(replaced.len())];
        altered[place..place + cut.len()].copy_from_slice(cut);
        seal(&mut altered);
        assert!(message(&altered).contains("malformed"), "{claim}");
    }
}

/// A map without a known number of inputs per sample would have no weights for any input.
#[test]
fn inputs_cannot_be_without_weights() {
    let text = r#"\"fan_in\":3,"#;
    let file = &*FILE;
    let place = file.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
    let mut altered = file[..place].to_vec();
    altered.extend(br#"\"fan_in\":null,"#);
    altered.extend(&file[place + text.len()..]);
    // The header of the arrays, and the whole file, have become longer.
    let longer = (altered.len() - file.len()) as u64;
    for field in [64..72, 16..24] {
        let length = u64::from_le_bytes(altered[field.clone()].try_into().unwrap()) + longer;
        altered[field].copy_from_slice(&length.to_le_bytes());
    }
    seal(&mut altered);
    let message = message(&altered);
    assert!(message.contains("'model/features/map/fan_in' must be"), "{message}");
}

/// Whatever was read must be able to predict, to learn and to be saved again.
fn exercise(mut model: OnlineBls) {
    let mut scores = Scores::new();
    // Samples may be refused, since a model may have fewer inputs than they do.
    let mut leverages = Vec::new();
    let _ = model.test_then_train_with_leverages(&samples(0..40), &mut scores, &mut leverages);
    assert!(leverages.iter().all(|leverage| leverage.is_finite()), "{leverages:?}");
    for i in 0..3 {
        let _ = model.scores_one(samples(i..i + 1).sample(0));
        let leverage = model.leverage_one(samples(i..i + 1).sample(0));
        assert!(leverage.is_err() || leverage.is_ok_and(f64::is_finite));
    }
    let _ = (model.weights(), model.members(), model.health());
    // A state that has overflowed is refused; whatever is written can be read.
    let (mut bytes, schema) = (Vec::new(), schema(&model));
    if ModelFile::new(&model, &schema).write(&mut bytes).is_ok() {
        read(&bytes).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn altered_contents_with_a_matching_checksum_do_no_harm(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        in_values: bool,
    ) {
        let mut file = FILE.clone();
        // The values lie before the arrays, which take most of the file.
        let header = u64::from_le_bytes(file[64..72].try_into().unwrap()) as usize;
        let range = if in_values { 64..72 + header } else { 64..file.len() };
        for (place, byte) in changes {
            let place = range.start + place.index(range.len());
            file[place] = byte;
        }
        seal(&mut file);
        if let Ok(saved) = read(&file) {
            exercise(saved.model);
        }
    }

    /// Numbers among the values are counts, positions and sizes.
    #[test]
    fn altered_numbers_do_no_harm(
        place: prop::sample::Index,
        number in prop_oneof![Just("0"), Just("1"), Just("9"), Just("-"), Just("n")],
    ) {
        let mut file = FILE.clone();
        let header = u64::from_le_bytes(file[64..72].try_into().unwrap()) as usize;
        let digits: Vec<usize> =
            (72..72 + header).filter(|at| file[*at].is_ascii_digit()).collect();
        file[digits[place.index(digits.len())]] = number.as_bytes()[0];
        seal(&mut file);
        if let Ok(saved) = read(&file) {
            exercise(saved.model);
        }
    }
}
