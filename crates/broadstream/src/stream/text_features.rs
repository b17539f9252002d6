//! A text as a bounded number of inputs.
//!
//! A text is its words and the sequences of three and of four characters in them, which tell what a misspelt,
//! inflected or unknown word resembles. A hash of each gives it one of [`TEXT_INPUTS`] inputs and a sign, so
//! that those that meet in one input do not simply add up (Weinberger et al., "Feature hashing for large
//! scale multitask learning", 2009). An input that t of them have in all is (1 + ln |t|) in size, and
//! all inputs of a text together have the length [`LENGTH`]: a text that repeats itself, or that is long,
//! says no more than others.
//!
//! A word is a sequence of letters and digits, in lower case, whose digits count as 0: numbers, times and
//! addresses differ in every text but look alike. A mark such as `!` or `$` is a word of its own. Blanks and
//! control characters separate words, and so do bytes that are not UTF-8. Nothing here depends on
//! texts before, so a text always becomes the same inputs.

use crate::numeric::{ln, spread, stable_hash};

/// The number of inputs of a column of texts.
pub(super) const TEXT_INPUTS: usize = 1024;

/// The length of the vector of a text's inputs: as if it had 64 inputs of size 1.
const LENGTH: f64 = 8.0;

/// The lengths of sequences of characters. The start and the end of a word count as a character.
const SEQUENCES: [usize; 2] = [3, 4];

/// Longer words are cut for their sequences of characters.
const LONGEST_WORD: usize = 64;

/// The memory for one text, which the next one can use again.
#[derive(Clone, Debug, Default)]
pub(super) struct TextFeatures {
    /// By input the sum of signs. Empty before the first text, and otherwise 0 between two texts.
    sums: Vec<i32>,
    /// The inputs that were met.
    met: Vec<u32>,
    word: String,
    /// The characters of a word between its two ends, and their bytes.
    characters: String,
    bounds: Vec<usize>,
    /// What a text became.
    pub(super) inputs: Vec<(u32, f64)>,
}

impl TextFeatures {
    /// Fills `inputs` with the inputs of a text and their values, in increasing order.
    pub(super) fn read(&mut self, text: &[u8]) {
        self.sums.resize(TEXT_INPUTS, 0);
        self.inputs.clear();
        for chunk in text.utf8_chunks() {
            for character in chunk.valid().chars() {
                if character.is_alphanumeric() {
                    let shown = if character.is_numeric() { '0' } else { character };
                    self.word.extend(shown.to_lowercase());
                    continue;
                }
                self.end_word();
                if !character.is_whitespace() && !character.is_control() {
                    self.word.push(character);
                    self.add_word();
                    self.word.clear();
                }
            }
            self.end_word();
        }
        self.finish();
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        self.add_word();
        self.bounds.clear();
        self.characters.clear();
        self.characters.push('<');
        self.characters.extend(self.word.chars().take(LONGEST_WORD));
        self.characters.push('>');
        self.bounds.extend(self.characters.char_indices().map(|(at, _)| at));
        self.bounds.push(self.characters.len());
        for length in SEQUENCES {
            for start in 0..(self.bounds.len() - 1).saturating_sub(length - 1) {
                let (from, to) = (self.bounds[start], self.bounds[start + length]);
                let hash = stable_hash(&self.characters.as_bytes()[from..to]);
                self.add(hash.rotate_left(length as u32));
            }
        }
        self.word.clear();
    }

    fn add_word(&mut self) {
        self.add(stable_hash(self.word.as_bytes()));
    }

    fn add(&mut self, hash: u64) {
        // The input comes from the upper bits, the sign from the lowest.
        let input = spread(hash, TEXT_INPUTS as u32);
        let sum = &mut self.sums[input as usize];
        if *sum == 0 {
            self.met.push(input);
        }
        *sum = sum.saturating_add(if hash & 1 == 0 { 1 } else { -1 });
    }

    fn finish(&mut self) {
        self.met.sort_unstable();
        self.met.dedup();
        let mut square = 0.0;
        for input in self.met.drain(..) {
            let sum = f64::from(std::mem::take(&mut self.sums[input as usize]));
            if sum != 0.0 {
                let value = (1.0 + ln(sum.abs())).copysign(sum);
                square += value * value;
                self.inputs.push((input, value));
            }
        }
        let scale = LENGTH / f64::sqrt(square);
        self.inputs.iter_mut().for_each(|(_, value)| *value *= scale);
    }
}

/// What follows the name of the column and `=` in the name of an input.
pub(super) fn text_input_name(input: u32) -> String {
    format!("text#{input}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn inputs(text: &[u8]) -> Vec<(u32, f64)> {
        let mut features = TextFeatures::default();
        // What came before does not matter.
        features.read(b"something else 17");
        features.read(text);
        features.inputs
    }

    #[test]
    fn inputs_never_change() {
        let found = inputs(b"Hi!");
        let places: Vec<u32> = found.iter().map(|(input, _)| *input).collect();
        assert_eq!(places, [282, 546, 748, 856, 874]);
        assert!(found.iter().all(|(_, value)| value.abs() == LENGTH / 5_f64.sqrt()));
    }

    #[test]
    fn case_digits_blanks_and_junk_make_no_difference() {
        let expected = inputs("Überweisung 17:03".as_bytes());
        assert!(expected.len() > 20);
        for text in ["überweisung\t 21:45 ", "ÜBERWEISUNG\u{0} 00:99\u{7f}"] {
            assert_eq!(inputs(text.as_bytes()), expected, "{text:?}");
        }
        let junk = ["Überweisung".as_bytes(), b"\xff\xfe", b"17:03\xc3"].concat();
        assert_eq!(inputs(&junk), expected);
        assert_ne!(inputs(b"uberweisung 17:03"), expected);
        for nothing in [&b""[..], b" \n", b"\xff\x00\x80"] {
            assert_eq!(inputs(nothing), []);
        }
    }

    #[test]
    fn similar_words_share_inputs_and_different_ones_hardly() {
        let cosine = |a: &str, b: &str| {
            let (a, b) = (inputs(a.as_bytes()), inputs(b.as_bytes()));
            let of = |place: u32| b.iter().find(|(input, _)| *input == place).map_or(0.0, |x| x.1);
            a.iter().map(|(input, value)| value * of(*input)).sum::<f64>() / (LENGTH * LENGTH)
        };
        assert!(cosine("connection refused", "connections refuse") > 0.6);
        assert!(cosine("connection refused", "good morning").abs() < 0.15);
        assert!((cosine("free free free", "free") - 1.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_text(bytes: Vec<u8>) {
            let found = inputs(&bytes);
            prop_assert!(found.is_sorted_by(|a, b| a.0 < b.0));
            prop_assert!(found.iter().all(|(input, _)| (*input as usize) < TEXT_INPUTS));
            let length = found.iter().map(|(_, value)| value * value).sum::<f64>().sqrt();
            prop_assert!(found.is_empty() || (length - LENGTH).abs() < 1e-9);
        }
    }
}
