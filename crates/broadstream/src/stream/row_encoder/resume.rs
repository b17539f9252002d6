//! From an encoder to the encoding that is kept beside a model, and back.

use std::collections::HashMap;

use super::{Coding, ColumnState, NO_INPUT, RowEncoder};
use crate::{
    data::{InputKind, Schema},
    stream::{
        ColumnCoding, EncodedColumn, RowEncoding, StreamError, decimal::Decimal, moments::PARTS,
        rare_categories::shared_names, text_features::text_input_name,
    },
};

impl RowEncoder {
    /// How the rows so far were encoded, with the columns in the order of the source.
    pub fn encoding(&self) -> RowEncoding {
        let mut left_out = self.left_out.iter().peekable();
        let mut columns = Vec::with_capacity(self.columns.len() + self.left_out.len());
        for k in 0..=self.columns.len() {
            while let Some((_, name)) = left_out.next_if(|(before, _)| *before == k) {
                columns.push(EncodedColumn::new(name.as_str(), ColumnCoding::LeftOut));
            }
            if let (Some(column), Some(&coding)) = (self.columns.get(k), self.codings.get(k)) {
                let coding = column_coding(column, coding);
                let rare = column.rare.as_deref().cloned();
                let (name, part) = (column.name.clone(), column.part);
                columns.push(EncodedColumn { name, coding, rare, part });
            }
        }
        RowEncoding {
            target: self.schema.target().to_owned(),
            target_position: self.target.unwrap_or(columns.len()),
            columns,
            categories: self.categories,
            max_categories: self.limits.inputs(),
            text: self.texts.clone(),
            dates: self.dates.clone(),
            decimal_comma: self.decimal == Decimal::Comma,
        }
    }

    /// An encoder for more rows of the same columns. Its samples use the inputs and labels of `schema`, and
    /// new inputs and labels come after those.
    ///
    /// ```
    /// use broadstream::{InputKind, Schema, stream::{Cell, Place, RowEncoder, RowEncoding}};
    ///
    /// let mut schema = Schema::new("y");
    /// schema.push_input("job=clerk", InputKind::Indicator);
    /// schema.push_input("age", InputKind::Numeric);
    /// let encoding = RowEncoding::of_schema(&schema);
    /// let mut encoder = RowEncoder::resume(schema, &encoding)?;
    ///
    /// encoder.begin(Place::Row(1));
    /// encoder.push(encoder.column("age").unwrap(), Cell::Raw(b"31"))?;
    /// let (sample, class) = encoder.finish(Cell::Raw(b"yes"))?;
    /// assert_eq!(sample.iter().collect::<Vec<_>>(), [(1, 31.0)]);
    /// # Ok::<(), broadstream::stream::StreamError>(())
    /// ```
    pub fn resume(schema: Schema, encoding: &RowEncoding) -> Result<Self, StreamError> {
        let mut encoder = RowEncoder::new(encoding.target.as_str(), encoding.categories)
            .with_max_categories(encoding.max_categories)
            .with_texts(&encoding.text)
            .with_dates(&encoding.dates);
        encoder.decimal = Decimal::of(encoding.decimal_comma);
        let inputs: HashMap<&str, u32> =
            schema.inputs().iter().zip(0..).map(|(input, i)| (input.name.as_str(), i)).collect();
        for (position, EncodedColumn { name, coding, rare, part }) in
            encoding.columns.iter().enumerate()
        {
            if position == encoding.target_position {
                encoder.target_here();
            }
            let mismatch = |reason| StreamError::Encoding { column: name.clone(), reason };
            if encoder.column(name).is_some() || *name == encoding.target {
                return Err(mismatch("there are two columns of that name"));
            }
            let input = || inputs.get(name.as_str()).copied();
            let no_input = || mismatch("there is no input of that name");
            let coding = match coding {
                ColumnCoding::LeftOut => {
                    encoder.leave_out(name.as_str());
                    continue;
                }
                ColumnCoding::Undecided => Coding::Undecided,
                ColumnCoding::OneHot => Coding::OneHot,
                ColumnCoding::Text => Coding::Text,
                ColumnCoding::Numeric => Coding::Numeric { input: input().ok_or_else(no_input)? },
                ColumnCoding::IntegerCodes(_) => {
                    Coding::Codes { input: input().ok_or_else(no_input)? }
                }
            };
            encoder.insert_column(name.clone(), coding);
            if let Some(column) = encoder.columns.last_mut() {
                column.part = *part;
                column.rare = rare.clone().map(Box::new);
                for (word, number) in column.words.iter_mut().zip(0..) {
                    let input = format!("{name}={}", text_input_name(number));
                    *word = inputs.get(input.as_str()).copied().unwrap_or(NO_INPUT);
                }
            }
        }
        encoder.find_moments();
        encoder.input_names = schema.inputs().iter().map(|input| input.name.clone()).collect();
        encoder.restore_categories(&schema, encoding);
        encoder.schema = schema;
        // The columns above are not news that could be undone.
        encoder.settle();
        Ok(encoder)
    }

    /// A column of numbers is one of moments if there is a column of weekdays beside it, or if it was declared to be.
    fn find_moments(&mut self) {
        for k in 0..self.columns.len() {
            let name = &self.columns[k].name;
            let is_moment = self.positions.contains_key(&format!("{name}{}", PARTS[1]));
            if let Coding::Numeric { input } = self.codings[k]
                && (is_moment || self.dates.contains(name))
            {
                self.codings[k] = Coding::Moment { input, epoch: self.has_epochs(name) };
            }
        }
    }

    /// Takes over the categories that a model has seen already.
    fn restore_categories(&mut self, schema: &Schema, encoding: &RowEncoding) {
        for column in &encoding.columns {
            if let ColumnCoding::IntegerCodes(categories) = &column.coding
                && let Some(k) = self.column(&column.name)
            {
                let codes = categories.iter().map(|category| category.as_bytes().into()).zip(0..);
                self.columns[k].categories = codes.collect();
            }
        }
        for (input, i) in schema.inputs().iter().zip(0..) {
            if input.kind != InputKind::Indicator {
                continue;
            }
            // An indicator is named `column=category`, and both parts may contain the sign themselves.
            // The first division at which the left part is a one-hot column is taken.
            let divisions = input.name.match_indices('=').map(|(at, _)| at);
            let column = divisions.filter_map(|at| Some((self.column(&input.name[..at])?, at)));
            let one_hot = |k: usize| matches!(self.codings[k], Coding::OneHot);
            if let Some((k, at)) = { column }.find(|(k, _)| one_hot(*k)) {
                let category = input.name.as_bytes()[at + 1..].into();
                self.columns[k].categories.insert(category, i);
            }
        }
        for column in &mut self.columns {
            let is_known = |name: &String| column.categories.contains_key(name.as_bytes());
            let shared = column.rare.as_ref().map_or(0, |rare| rare.shared());
            let shared = shared_names(shared).filter(is_known).count();
            column.own = column.categories.len() - shared;
        }
    }
}

fn column_coding(column: &ColumnState, coding: Coding) -> ColumnCoding {
    match coding {
        Coding::Undecided => ColumnCoding::Undecided,
        Coding::Numeric { .. } | Coding::Moment { .. } => ColumnCoding::Numeric,
        Coding::OneHot => ColumnCoding::OneHot,
        Coding::Text => ColumnCoding::Text,
        Coding::Codes { .. } => {
            let mut categories: Vec<_> = column.categories.iter().collect();
            categories.sort_unstable_by_key(|(_, code)| **code);
            let text = |category: &[u8]| String::from_utf8_lossy(category).into_owned();
            ColumnCoding::IntegerCodes(
                categories.iter().map(|(category, _)| text(category)).collect(),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{Cell, Place, row_encoding::tests::encoding};

    #[test]
    fn columns_keep_their_order_and_categories_their_codes() {
        let encoding = encoding();
        let columns: Vec<_> =
            encoding.columns.iter().map(|c| (c.name.as_str(), c.coding.clone())).collect();
        let categories = ["z", "a", "m"].map(str::to_owned).to_vec();
        let expected = [
            ("id", ColumnCoding::LeftOut),
            ("n", ColumnCoding::Numeric),
            ("c", ColumnCoding::IntegerCodes(categories)),
            ("note", ColumnCoding::LeftOut),
            ("u", ColumnCoding::Undecided),
        ];
        assert_eq!(columns, expected);
        assert_eq!((encoding.target.as_str(), encoding.target_position), ("y", 2));
    }

    #[test]
    fn an_encoding_that_does_not_fit_its_schema_is_refused() {
        let resume = |encoding: &RowEncoding| {
            let mut schema = Schema::new("y");
            schema.push_input("n", InputKind::Numeric);
            schema.push_input("c", InputKind::Numeric);
            RowEncoder::resume(schema, encoding)
        };
        let good = encoding();
        assert_eq!(resume(&good).unwrap().encoding(), good);
        for (k, name) in [(1, "m"), (2, "n"), (4, "y"), (4, "c")] {
            let mut bad = good.clone();
            bad.columns[k].name = name.to_owned();
            assert!(resume(&bad).is_err(), "{name}");
        }
    }

    #[test]
    fn inputs_without_columns_suggest_some() {
        let mut schema = Schema::new("y");
        for name in ["a=b", "x", "a=c=d", "x=1", "plain"] {
            let indicator = name.contains('=') || name == "plain";
            let kind = if indicator { InputKind::Indicator } else { InputKind::Numeric };
            schema.push_input(name, kind);
        }
        let encoding = RowEncoding::of_schema(&schema);
        let columns: Vec<_> =
            encoding.columns.iter().map(|c| (c.name.as_str(), c.coding.clone())).collect();
        let expected = [
            ("a", ColumnCoding::OneHot),
            ("x", ColumnCoding::Numeric),
            ("x=1", ColumnCoding::Numeric),
            ("plain", ColumnCoding::Numeric),
        ];
        assert_eq!(columns, expected);
        let mut encoder = RowEncoder::resume(schema, &encoding).unwrap();
        encoder.begin(Place::Row(1));
        for (column, cell) in [("a", Cell::Text(b"c=d")), ("x=1", Cell::Number(1.0))] {
            encoder.push(encoder.column(column).unwrap(), cell).unwrap();
        }
        assert_eq!(encoder.sample().iter().collect::<Vec<_>>(), [(2, 1.0), (3, 1.0)]);
    }
}
