//! What ARFF files hold, and what is said of those that are broken.

use proptest::prelude::*;

use super::ArffStream;
use crate::stream::{
    Stream, TableOptions,
    contents::{Contents, read, row},
};

const HEADER: &str = "% a comment
@RELATION 'a shop'

@attribute age\tREAL
@Attribute 'the job' {clerk, 'pastry baker',\"it's\"}
@attribute note string
@attribute class{yes,no} % last
@DATA
";

fn contents_with(text: &str, options: &TableOptions) -> Contents {
    let source = || Box::new(std::io::Cursor::new(text.as_bytes().to_vec()));
    read(|| ArffStream::new(source(), options.clone()))
}

fn contents(text: &str) -> Contents {
    contents_with(text, &TableOptions::default())
}

fn shop(rows: &str) -> Contents {
    contents(&format!("{HEADER}{rows}"))
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

#[test]
fn dense_rows() {
    let contents = shop(
        "31,clerk,x,yes\r\n\n% nothing\n ? , 'pastry baker' , '?' , no\n\
         -1e2\t\"it\\'s\"\t? yes % blanks divide too\n",
    );
    assert_eq!(contents.error, None);
    let expected = [
        row(&[("age", 31.0), ("the job=clerk", 1.0), ("note=x", 1.0)], "yes"),
        row(&[("the job=pastry baker", 1.0), ("note=?", 1.0)], "no"),
        row(&[("age", -100.0), ("the job=it's", 1.0)], "yes"),
    ];
    assert_eq!(contents.rows, expected);
}

#[test]
fn sparse_rows_leave_numbers_out_and_have_first_values() {
    let shop = shop("{0 5, 1 'pastry baker', 3 no}\n{}\n{2 'a, b',3 ?}\n");
    assert_eq!(shop.rows[0], row(&[("age", 5.0), ("the job=pastry baker", 1.0)], "no"));
    assert_eq!(shop.rows[1], row(&[("the job=clerk", 1.0)], "yes"));
    assert_eq!(shop.error.unwrap(), "line 11, column 'class': the label is missing");

    let numbers = "@attribute a numeric\n@attribute b numeric\n@data\n{0 7}\n{1 2}\n";
    assert_eq!(contents(numbers).rows, [row(&[("a", 7.0)], "0"), row(&[], "2")]);
}

#[test]
fn rows_may_have_weights() {
    let contents =
        shop("1,clerk,x,yes,{5}\n{1 clerk}, {0.5}\n{1 clerk} {0}\n1,clerk,x,yes {'2'}\n");
    assert_eq!(contents.error, None);
    let weights: Vec<f64> = contents.rows.iter().map(|row| row.2).collect();
    assert_eq!(weights, [5.0, 0.5, 0.0, 2.0]);
}

#[test]
fn columns_are_chosen_by_name_or_position() {
    let options = TableOptions {
        target: Some("the job".into()),
        drop: names(&["-1"]),
        categorical: names(&["age"]),
        ..TableOptions::default()
    };
    let contents = contents_with(&format!("{HEADER}31,clerk,x,yes\n{{0 7}}\n"), &options);
    assert_eq!(contents.rows[0], row(&[("age=31", 1.0), ("note=x", 1.0)], "clerk"));
    assert_eq!(contents.rows[1], row(&[("age=7", 1.0)], "clerk"));
}

#[test]
fn dates_and_relations_must_be_dropped() {
    let text = "@attribute when date 'yyyy-MM-dd'\n@attribute bag relational\n\
                @attribute inner numeric\n@end bag\n@attribute n integer\n@attribute y {a,b}\n\
                @data\n'2020-01-01','1\\n2',3,b\n";
    let message = "column 'when': expected numbers or categories, found the type date \
                   (leave the column out by naming it in drop)";
    assert_eq!(contents(text).error.unwrap(), message);
    let drop = names(&["when", "bag"]);
    let options = TableOptions { drop, ..TableOptions::default() };
    assert_eq!(contents_with(text, &options).rows, [row(&[("n", 3.0)], "b")]);
    let options = TableOptions {
        drop: names(&["bag"]),
        categorical: names(&["when"]),
        ..TableOptions::default()
    };
    let expected = row(&[("n", 3.0), ("when=2020-01-01", 1.0)], "b");
    assert_eq!(contents_with(text, &options).rows, [expected]);
}

#[test]
fn inputs_per_sample_are_those_that_rows_have() {
    for (rows, expected) in
        [("1,clerk,x,yes\n", 3), ("?,?,?,yes\n", 3), ("{}\n{0 1}\n{}\n", 1), ("{0 1,2 x}\n", 3)]
    {
        let text = format!("{HEADER}{rows}");
        let source = Box::new(std::io::Cursor::new(text.into_bytes()));
        let stream = ArffStream::new(source, TableOptions::default()).unwrap();
        assert_eq!(stream.inputs_per_sample(), expected, "{rows}");
    }
}

#[test]
fn faulty_rows_come_after_the_good_ones() {
    for (fault, message) in [
        ("1,clerk,x", ": expected 4 fields, found 3"),
        ("1,clerk,x,yes,no", ": expected 4 fields, found 5"),
        ("1,,clerk,x,yes", ": expected a value, found a comma"),
        (",1,clerk,x,yes", ": expected a value, found a comma"),
        ("1,clerk,x,", ": expected a value, found the end of the line"),
        ("1,clerk,x}", ": expected a value, found a brace"),
        ("x,clerk,x,yes", NOT_A_NUMBER),
        ("1e999,clerk,x,yes", ", column 'age': expected a finite number, found '1e999'"),
        (
            "1,cook,x,yes",
            ", column 'the job': expected one of clerk, pastry baker, it's, found 'cook'",
        ),
        ("1,clerk,x,maybe", ", column 'class': expected one of yes, no, found 'maybe'"),
        ("1,clerk,x,?", ", column 'class': the label is missing"),
        ("1,clerk,'x,yes", ": a quote opened in this row is never closed"),
        ("{0 1, 0 2}", ": expected an index from 1 to 3, found '0'"),
        ("{3 yes, 3 no}", ": expected no further index, found '3'"),
        ("{4 1}", ": expected an index from 0 to 3, found '4'"),
        ("{-1 1}", ": expected an index from 0 to 3, found '-1'"),
        ("{0}", ": expected a value behind the index, found none"),
        ("{0 1", ": expected index value, found something else"),
        ("{0 1} x", ": expected a weight in braces behind the row, found something else"),
        ("{} {-1}", ": expected a weight of 0 or from 1e-12 to 1e12, found '-1'"),
        ("{} {nan}", ": expected a weight of 0 or from 1e-12 to 1e12, found 'nan'"),
        ("{} {1} x", ": expected nothing behind the weight in braces, found something"),
    ] {
        let contents = shop(&format!("1,clerk,x,yes\n{fault}\n1,clerk,x,yes\n"));
        assert_eq!(contents.rows.len(), 1, "{fault}");
        assert_eq!(contents.error, Some(format!("line 10{message}")));
    }
}

const NOT_A_NUMBER: &str = ", column 'age': expected a number, found 'x' \
                            (declare the column categorical if it holds categories)";

#[test]
fn faults_of_the_header() {
    for (text, message) in [
        ("a,b\n1,2\n", "line 1: expected @relation, @attribute or @data, found 'a'"),
        ("@attribute\n", "line 1: expected the name of an attribute, found the end of the line"),
        (
            "@attribute a colour\n",
            "line 1: expected the type numeric, real, integer, string, date or {values}, \
             found 'colour'",
        ),
        (
            "@attribute a {\n",
            "line 1: expected a value or a closing brace, found the end of the line",
        ),
        ("@attribute a {}\n", "line 1: expected at least one value between braces, found none"),
        ("@attribute a real\n@attribute a real\n", "line 2: two columns are named 'a'"),
        ("@attribute a real\n", "line 2: expected @data, found the end"),
        ("@data\n1\n", "the stream is empty: expected at least one row of data"),
        ("% nothing\n", "the stream is empty: expected at least one row of data"),
        ("@attribute a real\n@data\n1\n", "no input columns: the stream has only its target 'a'"),
        (HEADER, "the stream is empty: expected at least one row of data"),
    ] {
        assert_eq!(contents(text).error.as_deref(), Some(message), "{text}");
    }
}

#[test]
fn a_header_is_bounded() {
    let line = format!("@relation {}\n", "x".repeat(1 << 20));
    let text = line.repeat(65);
    let error = ArffStream::new(Box::new(std::io::Cursor::new(text)), TableOptions::default());
    let message =
        "line 64: expected at most 67108864 bytes of declarations before @data, found more";
    assert_eq!(error.unwrap_err().to_string(), message);
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        rows in proptest::collection::vec((-1e6..1e6f64, "[a-z '\"\\\\,{}%ü]{1,8}", 0..2usize), 1..20),
    ) {
        prop_assume!(rows.iter().all(|(_, text, _)| !text.trim_ascii().is_empty()));
        let mut text = "@attribute n real\n@attribute s string\n@attribute y {a,b}\n@data\n".to_owned();
        for (number, string, class) in &rows {
            let string = string.replace('\\', "\\\\").replace('\'', "\\'");
            text += &format!("{number},'{string}',{}\n", ["a", "b"][*class]);
        }
        let contents = contents(&text);
        prop_assert_eq!(&contents.error, &None);
        let expected: Vec<_> = rows
            .iter()
            .map(|(number, string, class)| {
                let name = format!("s={}", string.trim_ascii());
                row(&[("n", *number), (&name, 1.0)], ["a", "b"][*class])
            })
            .collect();
        prop_assert_eq!(contents.rows, expected);
    }
}
