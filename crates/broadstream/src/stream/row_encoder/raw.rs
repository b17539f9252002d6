//! A whole row of raw texts, encoded at once.
//!
//! In CSV every cell is text, and every row has the same columns. Most cells are numbers, and reading
//! them is the largest part of the work, so they have a loop of their own. The result is the same as
//! that of pushing the cells one by one as [`Cell::Raw`](crate::stream::Cell).

use super::{
    Coding, RowEncoder,
    cells::{Source, check_length, utf8},
};
use crate::{
    data::Sample,
    stream::{
        InputColumn, Place, StreamError,
        cell::{Reading, read_number, read_text},
        decimal::Decimal,
    },
};

impl RowEncoder {
    /// The sample and the class of a row of raw texts. `columns` are all columns of the encoder, and
    /// `cell` returns the text at a position of the source.
    pub(in crate::stream) fn encode_raw<'c>(
        &mut self,
        place: Place,
        label: &'c [u8],
        columns: &[InputColumn],
        cell: impl Fn(usize) -> &'c [u8] + Copy,
    ) -> Result<(Sample<'_>, usize), StreamError> {
        let label = read_text(label).ok_or_else(|| self.missing_label(place))?;
        check_length(label, place, self.schema.target())?;
        let label = utf8(label, place)?;
        self.push_raw(place, columns, cell)?;
        // The class is looked up last: a row that is refused must not leave its label behind.
        let class = self.class_of(label);
        Ok((self.sample(), class))
    }

    /// Fills `inputs` and `values` in the order of the columns.
    fn push_raw<'c>(
        &mut self,
        place: Place,
        columns: &[InputColumn],
        cell: impl Fn(usize) -> &'c [u8] + Copy,
    ) -> Result<(), StreamError> {
        self.place = place;
        self.row += 1;
        self.several.clear();
        self.inputs.resize(columns.len(), 0);
        self.values.resize(columns.len(), 0.0);
        let (mut k, mut present) = (0, 0);
        // Alternates between a run of numbers and the one cell that ended it: a category, a missing
        // cell, or a fault.
        loop {
            let read = match self.decimal {
                Decimal::Point => read_numbers(
                    cell,
                    &columns[k..],
                    &self.codings[k..],
                    &mut self.inputs[present..],
                    &mut self.values[present..],
                ),
                // Numbers with a comma are few and can take the slower way.
                Decimal::Comma => 0,
            };
            k += read;
            present += read;
            if k == columns.len() {
                break;
            }
            if let Some(text) = read_text(cell(columns[k].position))
                && let Some((input, value)) = self.encode_text(k, text, Source::Raw)?
            {
                self.inputs[present] = input;
                self.values[present] = value;
                present += 1;
            }
            k += 1;
        }
        self.inputs.truncate(present);
        self.values.truncate(present);
        self.push_several();
        Ok(())
    }
}

/// Writes the inputs and values of the first columns, up to one that is not numeric or whose cell
/// is not a number, and returns how many these are.
///
/// Whole rows of most files go through this loop, so it stands alone and holds nothing else.
#[inline(never)] // within its caller it is slower
fn read_numbers<'c>(
    cell: impl Fn(usize) -> &'c [u8],
    columns: &[InputColumn],
    codings: &[Coding],
    inputs: &mut [u32],
    values: &mut [f64],
) -> usize {
    let slots = inputs.iter_mut().zip(values);
    let mut read = 0;
    for ((column, coding), (input_slot, value_slot)) in columns.iter().zip(codings).zip(slots) {
        let Coding::Numeric { input } = *coding else { break };
        let Reading::Number(value) = read_number(cell(column.position)) else { break };
        *input_slot = input;
        *value_slot = value;
        read += 1;
    }
    read
}
