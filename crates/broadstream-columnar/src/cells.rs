//! The columns of a batch as cells.

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray, StringArray,
    StringViewArray,
    cast::AsArray,
    types::{
        Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, Float16Type,
        Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
        UInt32Type, UInt64Type,
    },
};
use arrow_schema::DataType;
use broadstream::stream::{Cell, ColumnKind};

/// What a column of that type holds, or `None` if that is neither numbers nor categories. A column of
/// the null type has no values, so its kind does not matter.
pub(crate) fn kind_of(kind: &DataType) -> Option<ColumnKind> {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(ColumnKind::Categorical),
        DataType::Dictionary(_, values) => kind_of(values),
        DataType::Null | DataType::Boolean => Some(ColumnKind::Numeric),
        DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => Some(ColumnKind::Numeric),
        kind if kind.is_integer() || kind.is_floating() => Some(ColumnKind::Numeric),
        _ => None,
    }
}

/// The values of one column in one batch.
pub(crate) enum Cells {
    Missing,
    Flags(BooleanArray),
    Integers(Int64Array),
    Numbers(Float64Array),
    Texts(StringArray),
    LargeTexts(LargeStringArray),
    TextViews(StringViewArray),
    /// For each row the position of its value in a dictionary, and the dictionary.
    Dictionary(Int64Array, Box<Cells>),
}

impl Cells {
    /// The cells of a column whose type has a kind.
    pub(crate) fn of(column: &ArrayRef) -> Self {
        match column.data_type() {
            DataType::Boolean => Cells::Flags(column.as_boolean().clone()),
            DataType::Int8 => Cells::Integers(column.as_primitive::<Int8Type>().unary(i64::from)),
            DataType::Int16 => Cells::Integers(column.as_primitive::<Int16Type>().unary(i64::from)),
            DataType::Int32 => Cells::Integers(column.as_primitive::<Int32Type>().unary(i64::from)),
            DataType::Int64 => Cells::Integers(column.as_primitive::<Int64Type>().clone()),
            DataType::UInt8 => Cells::Integers(column.as_primitive::<UInt8Type>().unary(i64::from)),
            DataType::UInt16 => {
                Cells::Integers(column.as_primitive::<UInt16Type>().unary(i64::from))
            }
            DataType::UInt32 => {
                Cells::Integers(column.as_primitive::<UInt32Type>().unary(i64::from))
            }
            DataType::UInt64 => unsigned(column),
            DataType::Float16 => {
                Cells::Numbers(column.as_primitive::<Float16Type>().unary(f64::from))
            }
            DataType::Float32 => {
                Cells::Numbers(column.as_primitive::<Float32Type>().unary(f64::from))
            }
            DataType::Float64 => Cells::Numbers(column.as_primitive::<Float64Type>().clone()),
            DataType::Decimal32(_, scale) => decimals::<Decimal32Type>(column, *scale),
            DataType::Decimal64(_, scale) => decimals::<Decimal64Type>(column, *scale),
            DataType::Decimal128(_, scale) => decimals::<Decimal128Type>(column, *scale),
            DataType::Decimal256(_, scale) => decimals::<Decimal256Type>(column, *scale),
            DataType::Utf8 => Cells::Texts(column.as_string::<i32>().clone()),
            DataType::LargeUtf8 => Cells::LargeTexts(column.as_string::<i64>().clone()),
            DataType::Utf8View => Cells::TextViews(column.as_string_view().clone()),
            DataType::Dictionary(..) => {
                let dictionary = column.as_any_dictionary();
                let keys: ArrayRef = dictionary.keys().slice(0, column.len());
                match Cells::of(&keys) {
                    Cells::Integers(keys) => {
                        Cells::Dictionary(keys, Box::new(Cells::of(dictionary.values())))
                    }
                    _ => Cells::Missing,
                }
            }
            _ => Cells::Missing,
        }
    }

    /// The cell of a row of the batch.
    pub(crate) fn cell(&self, row: usize) -> Cell<'_> {
        match self {
            Cells::Missing => Cell::Missing,
            Cells::Flags(array) => valid(array, row, || Cell::Flag(array.value(row))),
            Cells::Integers(array) => valid(array, row, || Cell::Integer(array.value(row))),
            Cells::Numbers(array) => valid(array, row, || Cell::Number(array.value(row))),
            Cells::Texts(array) => valid(array, row, || Cell::Text(array.value(row).as_bytes())),
            Cells::LargeTexts(array) => {
                valid(array, row, || Cell::Text(array.value(row).as_bytes()))
            }
            Cells::TextViews(array) => {
                valid(array, row, || Cell::Text(array.value(row).as_bytes()))
            }
            Cells::Dictionary(keys, values) if keys.is_valid(row) => {
                match usize::try_from(keys.value(row)) {
                    Ok(position) if position < values.len() => values.cell(position),
                    _ => Cell::Missing,
                }
            }
            Cells::Dictionary(..) => Cell::Missing,
        }
    }

    fn len(&self) -> usize {
        match self {
            Cells::Missing => 0,
            Cells::Flags(array) => array.len(),
            Cells::Integers(array) | Cells::Dictionary(array, _) => array.len(),
            Cells::Numbers(array) => array.len(),
            Cells::Texts(array) => array.len(),
            Cells::LargeTexts(array) => array.len(),
            Cells::TextViews(array) => array.len(),
        }
    }
}

fn valid<'a>(array: &dyn Array, row: usize, cell: impl Fn() -> Cell<'a>) -> Cell<'a> {
    if array.is_valid(row) { cell() } else { Cell::Missing }
}

/// Integers if all of them fit into a signed one, which keeps its digits as a label; otherwise floats.
fn unsigned(column: &ArrayRef) -> Cells {
    let array = column.as_primitive::<UInt64Type>();
    match array.try_unary::<_, Int64Type, _>(i64::try_from) {
        Ok(integers) => Cells::Integers(integers),
        Err(_) => Cells::Numbers(array.unary(|value| value as f64)),
    }
}

/// Decimals as floats. They are converted by way of their digits, so that only one rounding occurs.
fn decimals<T: DecimalType>(column: &ArrayRef, scale: i8) -> Cells {
    let number = |value| T::format_decimal(value, T::MAX_PRECISION, scale).parse().ok();
    let numbers: Float64Array =
        column.as_primitive::<T>().iter().map(|value| value.and_then(number)).collect();
    Cells::Numbers(numbers)
}
