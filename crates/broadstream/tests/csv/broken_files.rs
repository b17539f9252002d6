//! The errors of broken files, whose rows before the fault are read.

use std::io::{self, Read};

use broadstream::stream::{Categories, TableOptions, csv::CsvStream};

use super::{gzip, names, open, read_all, rows_with};

/// The error of a bad file, and the number of rows before it.
fn complaint_with(bytes: impl Into<Vec<u8>>, options: &TableOptions) -> (usize, String) {
    match open(bytes, options) {
        Err(message) => (0, message),
        Ok(mut stream) => {
            let table = read_all(&mut stream, 3);
            (table.rows.len(), table.error.expect("an error"))
        }
    }
}

fn complaint(bytes: impl Into<Vec<u8>>) -> (usize, String) {
    complaint_with(bytes, &TableOptions::default())
}

#[test]
fn faulty_rows_come_after_the_good_ones() {
    for (text, good, message) in [
        ("a,b\n1,x\n2\n3,y\n", 1, "line 3: expected 2 fields, found 1"),
        ("a,b\n1,x\n2,y,z\n", 1, "line 3: expected 2 fields, found 3"),
        ("a,b\n\"1\n\",\"x\ny\"\n\n2\n", 1, "line 6: expected 2 fields, found 1"),
        ("a,b\n1,x\n2,?\n", 1, "line 3, column 'b': the label is missing"),
        ("a,b\n1,x\n2,\n", 1, "line 3, column 'b': the label is missing"),
        ("a,b\n1,x\ninf,y\n", 1, "line 3, column 'a': expected a finite number, found 'inf'"),
        ("a,b\n1,x\n 1e999 ,y\n", 1, "line 3, column 'a': expected a finite number, found '1e999'"),
        ("a,b\n1,x\n2,\"y\n3,z\n", 1, "line 3: a quote opened in this row is never closed"),
        ("p,p=u,y\nu,1,x\n", 0, "line 2, column 'p': input names must differ, but 'p=u' is taken"),
        (
            "p,p=u,y\nu,v=w,x\nu=v=w,?,x\n",
            1,
            "line 3, column 'p': input names must differ, but 'p=u=v=w' is taken",
        ),
    ] {
        assert_eq!(complaint(text), (good, message.to_owned()), "{text:?}");
    }
}

#[test]
fn a_late_text_among_numbers_is_an_error() {
    let text = format!("a,b\n{} n/a ,y\n", "1,x\n".repeat(2000));
    let message = "line 2002, column 'a': expected a number, found 'n/a' \
                   (declare the column categorical if it holds categories)";
    assert_eq!(complaint(text.as_str()), (2000, message.to_owned()));
    let options = TableOptions { categorical: names(&["a"]), ..TableOptions::default() };
    assert_eq!(rows_with(text, &options).len(), 2001);
}

#[test]
fn a_column_declared_numeric_refuses_text_from_the_start() {
    let options = TableOptions { numeric: names(&["a"]), ..TableOptions::default() };
    let message = "line 3, column 'a': expected a number, found 'u' \
                   (declare the column categorical if it holds categories)";
    assert_eq!(complaint_with("a,b\n1,x\nu,y\n", &options), (1, message.to_owned()));
}

#[test]
fn files_without_rows() {
    let message = "the stream is empty: expected at least one row of data";
    for text in ["", "\n", "\u{feff}", "a,b\n", "a,b", "a,b\r\n\r\n", " \n\t\n"] {
        assert_eq!(complaint(text), (0, message.to_owned()), "{text:?}");
        assert_eq!(complaint(gzip(text.as_bytes())).1, message);
    }
}

#[test]
fn files_that_are_not_text() {
    let message = |line, reason| {
        let expected = "expected UTF-8, plain, gzip or zstd";
        format!("line {line}: this is not text ({reason}); {expected}")
    };
    assert_eq!(complaint("a,b\n1,\0\n").1, message(2, "binary data"));
    let utf8 = "invalid UTF-8";
    assert_eq!(complaint(*b"a\xff,b\n1,x\n"), (0, message(1, utf8)));
    assert_eq!(complaint(*b"a,b\n1,x\n2,\xff\n"), (1, message(3, utf8)));
    assert_eq!(complaint(*b"a,b\nu,x\n\xfc,y\n"), (1, message(3, utf8)));
    let options =
        TableOptions { categories: Some(Categories::IntegerCodes), ..TableOptions::default() };
    assert_eq!(complaint_with(*b"a,b\nu,x\n\xfc,y\n", &options), (1, message(3, utf8)));
}

#[test]
fn columns_that_do_not_exist() {
    let message = "there is no column 'z': the columns are a, b, c";
    let z = || names(&["z"]);
    for options in [
        TableOptions { target: Some("z".into()), ..TableOptions::default() },
        TableOptions { drop: z(), ..TableOptions::default() },
        TableOptions { categorical: z(), ..TableOptions::default() },
        TableOptions { numeric: z(), ..TableOptions::default() },
    ] {
        assert_eq!(complaint_with("a,b,c\n1,2,x\n", &options).1, message);
    }
    let wide = format!("{}\n", vec!["1"; 785].join(","));
    let options = TableOptions { target: Some("786".into()), ..TableOptions::default() };
    let message = "there is no column '786': the columns are 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, \
                   12, 13, 14, 15, 16, 17, 18, 19, 20 and 765 more";
    assert_eq!(complaint_with(wide, &options).1, message);
}

#[test]
fn columns_that_contradict_each_other() {
    let default = TableOptions::default;
    let (a, c) = (names(&["a"]), names(&["c"]));
    let a_and_b = names(&["a", "b"]);
    for (text, options, message) in [
        ("a,b,a\n1,2,x\n", default(), "line 1: two columns are named 'a'"),
        ("\n\na,b, a \n1,2,x\n", default(), "line 3: two columns are named 'a'"),
        ("a\n1\n", default(), "no input columns: the stream has only its target 'a'"),
        (
            "a,b,c\n1,2,x\n",
            TableOptions { drop: a_and_b, ..default() },
            "no input columns: the stream has only its target 'c'",
        ),
        (
            "a,b,c\n1,2,x\n",
            TableOptions { drop: c, ..default() },
            "the target must be read, but column 'c' is to be dropped",
        ),
        (
            "a,b,c\n1,2,x\n",
            TableOptions { numeric: a.clone(), categorical: names(&["1"]), ..default() },
            "column 'a' must be either numeric, categorical, text or dates, but is declared to be two of them",
        ),
        (
            "a,b\n1,x\n",
            TableOptions { delimiter: Some(b'"'), ..default() },
            "delimiter must be an ASCII character other than a quote or a line end, got '\\\"'",
        ),
    ] {
        assert_eq!(complaint_with(text, &options), (0, message.to_owned()));
    }
}

#[test]
fn a_line_or_row_that_does_not_end_is_refused() {
    let complaint = |text: &'static str, endless: &'static [u8]| {
        let mut position = 0;
        let endless = ReadFn(move |out: &mut [u8]| {
            for byte in out.iter_mut() {
                *byte = endless[position % endless.len()];
                position += 1;
            }
            Ok(out.len())
        });
        let reader = Box::new(text.as_bytes().chain(endless));
        match CsvStream::new(reader, TableOptions::default()) {
            Err(error) => error.to_string(),
            Ok(mut stream) => read_all(&mut stream, 10).error.unwrap(),
        }
    };
    let message = |line| format!("line {line} is longer than 16777216 bytes: is this a text file?");
    assert_eq!(complaint("", b"x"), message(1));
    assert_eq!(complaint("a,b\n1,x\n", b"1,"), message(3));
    assert_eq!(complaint("a,b\n1,x\n2,\"", b"y\n"), message(3));
}

/// A source backed by a function.
struct ReadFn<F>(F);

impl<F: FnMut(&mut [u8]) -> io::Result<usize>> Read for ReadFn<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        (self.0)(out)
    }
}

#[test]
fn a_compressed_file_cut_short_gives_its_whole_rows_first() {
    let text: String = (0..20_000).map(|i| format!("{},{},x\n", i * 7919 % 10_007, i)).collect();
    let packed = gzip(text.as_bytes());
    let (good, message) = complaint(&packed[..packed.len() / 2]);
    assert!(good > 1000);
    assert_eq!(message, format!("line {}: cannot read on", good + 1));
    let (good, message) = complaint(&packed[..40]);
    assert_eq!((good, message.as_str()), (0, "line 1: cannot read on"));
}
