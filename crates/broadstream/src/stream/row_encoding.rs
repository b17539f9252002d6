//! How the rows of a stream were encoded, so that more rows can be encoded the same way.
//!
//! A model knows its inputs but not the columns they came from. To read further rows for it, one also
//! needs the columns, their order, and the number of each category. That is little data, and it is
//! kept beside the model.

use std::collections::HashSet;

use super::{Categories, RareCategories, StreamError, TableOptions};
use crate::{
    data::{InputKind, Schema},
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// The columns of the rows that a model was trained on, and how they became inputs.
///
/// ```
/// use broadstream::{
///     Block,
///     stream::{ColumnCoding, Stream, TableOptions, csv::CsvStream},
/// };
///
/// let text = "age,job,buys\n31,clerk,yes\n?,baker,no\n";
/// let mut stream = CsvStream::new(Box::new(text.as_bytes()), TableOptions::default())?;
/// while stream.read_block(&mut Block::new(), 100)? > 0 {}
/// let encoding = stream.encoding().expect("a CSV file has columns");
/// assert_eq!(encoding.columns[1].name, "job");
/// assert_eq!(encoding.columns[1].coding, ColumnCoding::OneHot);
/// assert_eq!((encoding.target.as_str(), encoding.target_position), ("buys", 2));
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowEncoding {
    /// The columns in the order of the rows, without the target.
    pub columns: Vec<EncodedColumn>,
    /// The name of the target.
    pub target: String,
    /// How many of the columns stand before the target.
    pub target_position: usize,
    /// How a column that is undecided, or that appears later, encodes categories.
    pub categories: Categories,
    /// The most inputs that the categories of a column may have: see [`TableOptions::max_categories`].
    pub max_categories: usize,
    /// Columns that are read as texts once they appear: see [`TableOptions::text`]. Those that have appeared may be
    /// among them.
    pub text: Vec<String>,
    /// Columns that hold dates, whose numbers are seconds since 1970: see [`TableOptions::dates`].
    pub dates: Vec<String>,
    /// Whether numbers in CSV have a decimal comma, as in `3,14`.
    pub decimal_comma: bool,
}

/// One of the columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedColumn {
    /// Its name.
    pub name: String,
    /// How its cells became inputs.
    pub coding: ColumnCoding,
    /// The categories for which there was no input left, if there are any.
    pub rare: Option<RareCategories>,
    /// Whether the rows have no such column: it is the hour or the weekday of a column of dates.
    pub part: bool,
}

impl EncodedColumn {
    /// A column without rare categories.
    pub fn new(name: impl Into<String>, coding: ColumnCoding) -> Self {
        EncodedColumn { name: name.into(), coding, rare: None, part: false }
    }
}

impl Default for RowEncoding {
    fn default() -> Self {
        RowEncoding {
            columns: Vec::new(),
            target: String::new(),
            target_position: 0,
            categories: Categories::default(),
            max_categories: TableOptions::MAX_CATEGORIES,
            text: Vec::new(),
            dates: Vec::new(),
            decimal_comma: false,
        }
    }
}

/// How the cells of a column become inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnCoding {
    /// The column has had no cell yet; its first one will decide.
    Undecided,
    /// A number is the value of the input that has the column's name.
    Numeric,
    /// A category is an input of its own, named `column=category`.
    OneHot,
    /// The input that has the column's name is the position of a category in this list.
    IntegerCodes(Vec<String>),
    /// The words of a text are inputs named `column=text#17`.
    Text,
    /// The column is not learned from.
    LeftOut,
}

impl RowEncoding {
    /// The columns that the inputs of a schema suggest, for a stream that never had columns: an
    /// indicator `a=b` is category `b` of column `a`, and any other input is a column of numbers. The
    /// target comes last.
    ///
    /// ```
    /// use broadstream::{InputKind, Schema, stream::{ColumnCoding, RowEncoding}};
    ///
    /// let mut schema = Schema::new("y");
    /// schema.push_input("age", InputKind::Numeric);
    /// schema.push_input("job=clerk", InputKind::Indicator);
    /// schema.push_input("job=baker", InputKind::Indicator);
    /// let encoding = RowEncoding::of_schema(&schema);
    /// let names: Vec<_> = encoding.columns.iter().map(|column| &column.name).collect();
    /// assert_eq!(names, ["age", "job"]);
    /// assert_eq!(encoding.columns[1].coding, ColumnCoding::OneHot);
    /// ```
    pub fn of_schema(schema: &Schema) -> Self {
        let inputs = schema.inputs();
        let numeric = inputs.iter().filter(|input| input.kind == InputKind::Numeric);
        // A column has one kind. So an indicator whose column would have the name of a numeric input
        // becomes a column of its own.
        let taken: HashSet<&str> = numeric.map(|input| input.name.as_str()).collect();
        let mut seen = HashSet::new();
        let mut columns = Vec::new();
        for input in inputs {
            let column = match (input.kind, input.name.split_once('=')) {
                (InputKind::Indicator, Some((column, _))) if !taken.contains(column) => {
                    Some(column)
                }
                _ => None,
            };
            let (name, coding) = match column {
                Some(column) => (column, ColumnCoding::OneHot),
                None => (input.name.as_str(), ColumnCoding::Numeric),
            };
            if seen.insert(name) {
                columns.push(EncodedColumn::new(name, coding));
            }
        }
        let target_position = columns.len();
        let target = schema.target().to_owned();
        RowEncoding { columns, target, target_position, ..RowEncoding::default() }
    }

    /// Adds the columns that only `other` has, for a model that was merged with another one. A column
    /// that both have must have the same meaning in both.
    pub fn merge(&mut self, other: RowEncoding) -> Result<(), StreamError> {
        let new = other.text.iter().filter(|name| !self.text.contains(name));
        let new: Vec<String> = new.cloned().collect();
        self.text.extend(new);
        let new = other.dates.iter().filter(|name| !self.dates.contains(name));
        let new: Vec<String> = new.cloned().collect();
        self.dates.extend(new);
        for column in other.columns {
            let EncodedColumn { name, coding, rare, part } = &column;
            let mismatch = |reason| StreamError::Encoding { column: name.clone(), reason };
            let Some(known) = self.columns.iter_mut().find(|known| known.name == *name) else {
                self.columns.push(column);
                continue;
            };
            known.part &= part;
            match (&mut known.rare, rare) {
                (None, None) => {}
                (Some(own), Some(other)) if own.shared() != other.shared() => {
                    return Err(mismatch(
                        "its rare categories share another number of inputs in the other model: give \
                         both the same max_categories",
                    ));
                }
                (Some(own), Some(other)) => own.merge(other),
                (Some(own), None) => own.note_merge(),
                (own, Some(other)) => own.insert(other.clone()).note_merge(),
            }
            match (&known.coding, coding) {
                (own, other) if own == other => {}
                (ColumnCoding::Undecided | ColumnCoding::LeftOut, _) => {
                    known.coding = column.coding;
                }
                (_, ColumnCoding::Undecided | ColumnCoding::LeftOut) => {}
                (ColumnCoding::IntegerCodes(own), ColumnCoding::IntegerCodes(other)) => {
                    // Codes agree if one list continues the other. The longer one is kept.
                    if other.starts_with(own) {
                        known.coding = column.coding;
                    } else if !own.starts_with(other) {
                        return Err(mismatch(
                            "its categories are numbered differently in the other model",
                        ));
                    }
                }
                (ColumnCoding::Text, _) | (_, ColumnCoding::Text) => {
                    return Err(mismatch("it holds texts in only one of the two models"));
                }
                _ => {
                    return Err(mismatch(
                        "it holds numbers in one model and categories in the other",
                    ));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.value("target", self.target.as_str());
        to.integer("target_position", self.target_position);
        to.value("categories", self.categories.name());
        // Left out where it is usual, so that files stay readable by programs that do not know it.
        if self.max_categories != TableOptions::MAX_CATEGORIES {
            to.integer("max_categories", self.max_categories);
        }
        if !self.text.is_empty() {
            to.texts("text", self.text.iter().map(String::as_str));
        }
        if !self.dates.is_empty() {
            to.texts("dates", self.dates.iter().map(String::as_str));
        }
        if self.decimal_comma {
            to.value("decimal_comma", true);
        }
        to.texts("columns", self.columns.iter().map(|column| column.name.as_str()));
        to.texts("codings", self.columns.iter().map(|column| column.coding.name()));
        let mut codes = to.scope("codes");
        for (k, column) in self.columns.iter().enumerate() {
            if let ColumnCoding::IntegerCodes(categories) = &column.coding {
                codes.texts(&k.to_string(), categories.iter().map(String::as_str));
            }
        }
        let parts = self.columns.iter().zip(0..).filter(|(column, _)| column.part);
        let parts: Vec<u64> = parts.map(|(_, k)| k).collect();
        if !parts.is_empty() {
            to.integers("parts", parts);
        }
        if self.columns.iter().any(|column| column.rare.is_some()) {
            let mut rare = to.scope("rare");
            for (k, column) in self.columns.iter().enumerate() {
                if let Some(of_column) = &column.rare {
                    of_column.save(&mut rare.scope(&k.to_string()));
                }
            }
        }
    }

    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let names = from.texts("columns")?;
        let codings = from.texts("codings")?;
        from.check("columns", are_unique(&names), "different names")?;
        from.check("codings", codings.len() == names.len(), "as many as there are columns")?;
        let codes = from.scope("codes")?;
        let parts = from.optional_integers("parts");
        from.check_each("parts", &parts, "positions of columns", |k| *k < names.len() as u64)?;
        let mut columns = Vec::with_capacity(names.len());
        for (k, (name, coding)) in names.iter().zip(codings).enumerate() {
            let coding = match coding {
                "undecided" => ColumnCoding::Undecided,
                "numeric" => ColumnCoding::Numeric,
                "one-hot" => ColumnCoding::OneHot,
                "integer-codes" => {
                    let categories = codes.texts(&k.to_string())?;
                    codes.check(&k.to_string(), are_unique(&categories), "different categories")?;
                    ColumnCoding::IntegerCodes(categories.into_iter().map(str::to_owned).collect())
                }
                "text" => ColumnCoding::Text,
                "left-out" => ColumnCoding::LeftOut,
                _ => return Err(from.invalid("codings", "names of codings")),
            };
            let rare = match from.has("rare") {
                true => {
                    let rare = from.scope("rare")?;
                    let k = k.to_string();
                    rare.has(&k).then(|| RareCategories::restore(&rare.scope(&k)?)).transpose()?
                }
                false => None,
            };
            let part = parts.contains(&(k as u64));
            columns.push(EncodedColumn { name: (*name).to_owned(), coding, rare, part });
        }
        let target = from.text("target")?.to_owned();
        from.check("target", !names.contains(&target.as_str()), "none of the columns")?;
        *self = RowEncoding {
            target_position: from.count("target_position", columns.len())?,
            categories: Categories::parse(from.text("categories")?)
                .map_err(|_| from.invalid("categories", "one-hot or integer-codes"))?,
            columns,
            target,
            max_categories: match from.has("max_categories") {
                true => from.count("max_categories", usize::MAX)?,
                false => TableOptions::MAX_CATEGORIES,
            },
            text: match from.has("text") {
                true => from.texts("text")?.into_iter().map(str::to_owned).collect(),
                false => Vec::new(),
            },
            dates: match from.has("dates") {
                true => from.texts("dates")?.into_iter().map(str::to_owned).collect(),
                false => Vec::new(),
            },
            decimal_comma: from.has("decimal_comma") && from.flag("decimal_comma")?,
        };
        Ok(())
    }
}

impl ColumnCoding {
    fn name(&self) -> &'static str {
        match self {
            ColumnCoding::Undecided => "undecided",
            ColumnCoding::Numeric => "numeric",
            ColumnCoding::OneHot => Categories::OneHot.name(),
            ColumnCoding::IntegerCodes(_) => Categories::IntegerCodes.name(),
            ColumnCoding::Text => "text",
            ColumnCoding::LeftOut => "left-out",
        }
    }
}

fn are_unique(names: &[&str]) -> bool {
    let mut seen = HashSet::new();
    names.iter().all(|name| seen.insert(*name))
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        state::{StateReader, StateWriter},
        stream::{Cell, ColumnKind, Place, RowEncoder},
    };

    /// An encoding with a column of every kind.
    pub(in crate::stream) fn encoding() -> RowEncoding {
        let mut encoder = RowEncoder::new("y", Categories::IntegerCodes);
        let place = Place::Row(1);
        encoder.leave_out("id");
        encoder.add_column("n", Some(ColumnKind::Numeric), place).unwrap();
        encoder.target_here();
        let c = encoder.add_column("c", Some(ColumnKind::Categorical), place).unwrap();
        encoder.leave_out("note");
        encoder.add_column("u", None, place).unwrap();
        for category in ["z", "a", "m"] {
            encoder.begin(place);
            encoder.push(c, Cell::Text(category.as_bytes())).unwrap();
        }
        encoder.encoding()
    }

    fn restore(values: Value) -> Result<RowEncoding, ModelFileError> {
        let Value::Object(values) = values else { panic!("{values}") };
        let (floats, integers) = Default::default();
        let mut restored = RowEncoding::default();
        restored.restore(&StateReader { values, floats, integers }.root())?;
        Ok(restored)
    }

    #[test]
    fn what_is_saved_is_restored_and_what_is_broken_refused() {
        let mut encoding = encoding();
        let saved = |encoding: &RowEncoding| {
            let mut state = StateWriter::default();
            encoding.save(&mut state.root());
            Value::Object(state.values)
        };
        assert!(saved(&encoding).get("decimal_comma").is_none(), "files keep their bytes");
        assert_eq!(restore(saved(&encoding)).unwrap(), encoding);
        encoding.decimal_comma = true;
        encoding.max_categories = 5;
        encoding.text = vec!["note".to_owned()];
        encoding.dates = vec!["day".to_owned()];
        let saved = saved(&encoding);
        assert_eq!(restore(saved.clone()).unwrap(), encoding);
        for (entry, broken) in [
            ("target", json!("n")),
            ("target", json!(7)),
            ("target_position", json!(6)),
            ("categories", json!("both")),
            ("decimal_comma", json!("yes")),
            ("max_categories", json!(-1)),
            ("text", json!("note")),
            ("dates", json!([1])),
            ("rare", json!([])),
            ("rare", json!({ "2": {} })),
            ("columns", json!(["id", "n", "c", "note", "n"])),
            ("columns", json!(["id"])),
            ("codings", json!(["numeric"])),
            ("codings", json!(["numeric", "numeric", "numeric", "numeric", "texts"])),
            ("codings", json!(["integer-codes", "numeric", "numeric", "numeric", "numeric"])),
            ("codes", json!({ "2": ["z", "z"] })),
            ("codes", json!([])),
        ] {
            let mut values = saved.clone();
            values[entry] = broken.clone();
            assert!(restore(values).is_err(), "{entry}: {broken}");
        }
    }
}
