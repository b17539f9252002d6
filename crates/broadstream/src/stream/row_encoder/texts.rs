//! The inputs of a text.

use super::{Change, NO_INPUT, RowEncoder};
use crate::{
    data::InputKind,
    stream::{StreamError, text_features::text_input_name},
};

impl RowEncoder {
    /// Adds the inputs of a text in column `k` to those of cells that are several.
    pub(super) fn encode_words(&mut self, k: usize, text: &[u8]) -> Result<(), StreamError> {
        let mut features = std::mem::take(&mut self.text_features);
        features.read(text);
        let found = features.inputs.iter().try_for_each(|(number, value)| {
            let input = self.word_input(k, *number)?;
            self.several.push((input, *value));
            Ok(())
        });
        self.text_features = features;
        found
    }

    /// The input of that number in a column of texts.
    fn word_input(&mut self, k: usize, number: u32) -> Result<u32, StreamError> {
        let known = self.columns[k].words[number as usize];
        if known != NO_INPUT {
            return Ok(known);
        }
        let column = self.columns[k].name.clone();
        let name = format!("{column}={}", text_input_name(number));
        // It is scaled already, so no scaling is learned for it.
        let input = self.declare(&column, name, InputKind::Indicator, self.place)?;
        self.columns[k].words[number as usize] = input;
        self.undo_log.push(Change::Word { column: k, number });
        Ok(input)
    }
}
