//! Properties of all files: what is written is read back, and no file does harm.

use broadstream::stream::TableOptions;
use proptest::{collection::vec, prelude::*};

use super::{Row, gzip, open, read_all};

/// A cell to be written and read back.
#[derive(Clone, Debug)]
enum Cell {
    Number(f64),
    Category(String),
    Missing(&'static str),
}

impl Cell {
    fn text(&self) -> String {
        match self {
            Cell::Number(value) => value.to_string(),
            Cell::Category(text) => text.clone(),
            Cell::Missing(text) => text.to_string(),
        }
    }
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        (-1000..1000i32).prop_map(f64::from),
        (-100_000..100_000i32).prop_map(|n| f64::from(n) / 100.0),
        any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |value| value.is_finite()),
    ]
}

fn category() -> impl Strategy<Value = String> + Clone {
    prop_oneof![
        "[a-d]",
        "[a-d,;|\t\"\r\n ü𝄞=\u{feff}]{1,8}".prop_map(|text| text.trim_ascii().to_owned())
    ]
    .prop_filter("neither missing nor a number", |text| {
        !text.is_empty() && text.parse::<f64>().is_err()
    })
}

fn missing() -> impl Strategy<Value = Cell> {
    prop_oneof![Just(""), Just("?"), Just("NaN"), Just("na"), Just("NA")].prop_map(Cell::Missing)
}

/// The cells of a column of either kind.
fn column(
    category: impl Strategy<Value = String>,
    rows: usize,
) -> impl Strategy<Value = Vec<Cell>> {
    let numeric = prop_oneof![8 => number().prop_map(Cell::Number), 1 => missing()];
    let categorical = prop_oneof![
        8 => category.prop_map(Cell::Category),
        2 => number().prop_map(Cell::Number),
        1 => missing(),
    ];
    prop_oneof![vec(numeric, rows), vec(categorical, rows)]
}

/// Columns, labels, the choice of quoting and of blanks per cell, and a delimiter.
type Written = (Vec<Vec<Cell>>, Vec<String>, Vec<(bool, bool)>, u8);

fn table(category: impl Strategy<Value = String> + Clone) -> impl Strategy<Value = Written> {
    (1..5usize, 1..20usize).prop_flat_map(move |(columns, rows)| {
        (
            vec(column(category.clone(), rows), columns),
            vec(category.clone(), rows),
            vec((any::<bool>(), any::<bool>()), (columns + 1) * rows),
            prop_oneof![Just(b','), Just(b'\t'), Just(b';'), Just(b'|'), Just(b' ')],
        )
    })
}

fn write((columns, labels, choices, delimiter): &Written) -> String {
    let delimiter = char::from(*delimiter);
    let mut text: String = (0..columns.len()).map(|c| format!("c{c}{delimiter}")).collect();
    text += "y\n";
    let mut choices = choices.iter();
    for (i, label) in labels.iter().enumerate() {
        let cells = columns.iter().map(|column| column[i].text()).chain([label.clone()]);
        let cells: Vec<String> = cells
            .map(|cell| {
                let &(quote, blanks) = choices.next().unwrap();
                if quote || cell.contains([delimiter, '"', '\n', '\r']) {
                    format!("\"{}\"", cell.replace('"', "\"\""))
                } else if blanks && delimiter != ' ' {
                    format!(" {cell}  ")
                } else {
                    cell
                }
            })
            .collect();
        text += &cells.join(&delimiter.to_string());
        text += if i % 3 == 0 { "\r\n" } else { "\n" };
    }
    text
}

/// The contents of the table, in the order of its columns.
fn expected((columns, labels, ..): &Written) -> Vec<Row> {
    let categorical: Vec<bool> = columns
        .iter()
        .map(|column| column.iter().any(|cell| matches!(cell, Cell::Category(_))))
        .collect();
    let cells = |i: usize| {
        let present = columns.iter().enumerate().filter_map(|(c, column)| match &column[i] {
            Cell::Missing(_) => None,
            cell if categorical[c] => Some((format!("c{c}={}", cell.text()), 1.0)),
            Cell::Number(value) => Some((format!("c{c}"), *value)),
            Cell::Category(_) => unreachable!(),
        });
        let mut present: Vec<_> = present.collect();
        present.sort_by(|a, b| a.0.cmp(&b.0));
        present
    };
    labels.iter().enumerate().map(|(i, label)| (cells(i), label.clone())).collect()
}

/// Reads the table and compares it with what was written, bit by bit.
fn read_back(written: &Written, options: &TableOptions, most: usize) -> Result<(), TestCaseError> {
    let text = write(written);
    let mut table = read_all(&mut open(text.as_str(), options).unwrap(), most);
    for (cells, _) in &mut table.rows {
        cells.sort_by(|a, b| a.0.cmp(&b.0));
    }
    let bits = |rows: &[Row]| -> Vec<Vec<u64>> {
        let values = |(cells, _): &Row| cells.iter().map(|cell| cell.1.to_bits()).collect();
        rows.iter().map(values).collect()
    };
    let expected = expected(written);
    prop_assert_eq!(&table.error, &None, "{}", text);
    prop_assert_eq!(&table.rows, &expected, "{}", text);
    prop_assert_eq!(bits(&table.rows), bits(&expected), "{}", text);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_is_written_is_read_back(written in table(category()), most in 1..30usize) {
        let options = TableOptions { delimiter: Some(written.3), ..TableOptions::default() };
        read_back(&written, &options, most)?;
    }

    #[test]
    fn the_delimiter_is_found(written in table("[a-d]{1,3}")) {
        prop_assume!(written.3 != b' ');
        read_back(&written, &TableOptions::default(), 10)?;
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..300)) {
        read_or_refuse(bytes);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[ab0-9.,;\\-?\"\r\n\n \u{fc}]{0,200}") {
        read_or_refuse(text);
    }

    #[test]
    fn any_damage_to_a_compressed_file_is_survived(
        written in table(category()),
        place in any::<proptest::sample::Index>(),
        byte: u8,
    ) {
        let text = write(&written);
        for mut packed in [gzip(text.as_bytes()), zstd::encode_all(text.as_bytes(), 1).unwrap()] {
            let place = place.index(packed.len());
            packed[place] = byte;
            read_or_refuse(packed);
        }
    }

    #[test]
    fn the_block_size_does_not_change_what_is_read(
        text in "(a,b,y\n)?([a0-9]{0,2},[ab]?,[xyz]?\n){0,30}([a,\"]{0,5}\n)?",
        most in 1..40usize,
    ) {
        let options = TableOptions::default();
        if let Ok(mut stream) = open(text.as_str(), &options) {
            let table = read_all(&mut stream, most);
            prop_assert_eq!(table, read_all(&mut open(text, &options).unwrap(), 1));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn a_file_may_be_cut_anywhere(written in table(category())) {
        let text = write(&written);
        for bytes in [
            text.clone().into_bytes(),
            gzip(text.as_bytes()),
            zstd::encode_all(text.as_bytes(), 1).unwrap(),
        ] {
            for length in 0..bytes.len() {
                read_or_refuse(&bytes[..length]);
            }
        }
    }
}

/// Reads an arbitrary file; it only has to return.
fn read_or_refuse(bytes: impl Into<Vec<u8>>) {
    if let Ok(mut stream) = open(bytes, &TableOptions::default()) {
        read_all(&mut stream, 5);
    }
}
