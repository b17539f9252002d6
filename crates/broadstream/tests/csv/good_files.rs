//! The contents of good files, written and read in every way.

use broadstream::{
    Block, InputKind,
    stream::{Categories, Place, Stream, TableOptions},
};

use super::{gzip, names, open, read_all, read_with, row, rows, rows_with};

#[test]
fn dialects_of_the_same_table() {
    let expected = [row(&[("a", 1.0), ("b", -2.5)], "x"), row(&[("a", 3.0), ("b", 4.0)], "y, z")];
    for text in [
        "a,b,c\n1,-2.5,x\n3,4,\"y, z\"\n",
        "a,b,c\r\n1,-2.5,x\r\n\r\n3,4,\"y, z\"\r\n",
        "a,b,c\r1,-2.5,x\r3,4,\"y, z\"",
        "\u{feff}a,b,c\n1,-2.5,x\n3,4,\"y, z\"",
        "\u{feff}\"a\",\"b\",\"c\"\n\"1\",\"-2.5\",\"x\"\n3,4,\"y, z\"",
        "a\tb\tc\n1\t-2.5\tx\n3\t4\ty, z\n",
        "a;b;c\n1;-2.5;x\n3;4;y, z\n",
        "a|b|c\n1|-2.5|x\n3|4|y, z\n",
        "\n\n a , b , c \n\n 1 , -2.5, x \n  \n3,4,\"y, z\" \n\n",
    ] {
        assert_eq!(rows(text), expected, "{text:?}");
        assert_eq!(rows(gzip(text.as_bytes())), expected);
        assert_eq!(rows(zstd::encode_all(text.as_bytes(), 1).unwrap()), expected);
        let (first, second) = text.as_bytes().split_at(9);
        assert_eq!(rows([gzip(first), gzip(second)].concat()), expected, "two members");
    }
}

#[test]
fn columns_without_a_header_are_numbered() {
    let text = "1,2,x\n3,4,y\n";
    let expected = [row(&[("1", 1.0), ("2", 2.0)], "x"), row(&[("1", 3.0), ("2", 4.0)], "y")];
    assert_eq!(rows(text), expected);
    let options = TableOptions { target: Some("1".into()), ..TableOptions::default() };
    assert_eq!(rows_with(text, &options)[0], row(&[("2", 2.0), ("3=x", 1.0)], "1"));
    let stream = open(text, &options).unwrap();
    assert_eq!(stream.schema().target(), "1");
    assert_eq!(rows("a,?,x\nb,2,y\n").len(), 2, "a missing cell is no name");
}

#[test]
fn numbers_that_count_the_columns_are_names() {
    for (text, names) in [
        ("0,1,2,class\n5,6,7,a\n", vec!["0", "1", "2"]),
        ("1,2,3,class\n5,6,7,a\n", vec!["1", "2", "3"]),
        ("0,1,class\n5,6,8\n", vec!["1", "2"]),
        ("0,1,3,class\n5,6,7,a\n", vec!["1", "2", "3"]),
        ("0,1,2,3\n5,6,7,8\n", vec!["1", "2", "3"]),
    ] {
        let mut stream = open(text, &TableOptions::default()).unwrap();
        assert_eq!(read_all(&mut stream, 10).inputs, names, "{text:?}");
    }
}

#[test]
fn an_index_column_may_have_no_name() {
    let text = ",a,class\n0,7,x\n1,8,y\n";
    assert_eq!(rows(text)[0], row(&[("", 0.0), ("a", 7.0)], "x"));
    let options = TableOptions { drop: names(&["1"]), ..TableOptions::default() };
    assert_eq!(rows_with(text, &options)[1], row(&[("a", 8.0)], "y"));
}

#[test]
fn the_header_can_be_declared() {
    let years = "2020,2021,class\n1,2,x\n";
    let with = |header| TableOptions { header: Some(header), ..TableOptions::default() };
    assert_eq!(rows_with(years, &with(true)), [row(&[("2020", 1.0), ("2021", 2.0)], "x")]);
    let texts = "a,b\nc,d\n";
    assert_eq!(rows_with(texts, &with(true)), [row(&[("a=c", 1.0)], "d")]);
    assert_eq!(rows_with(texts, &with(false)).len(), 2);
}

#[test]
fn columns_are_chosen_by_name_or_position() {
    let text = "id,a,class,b\n1,2,x,3\n";
    let options = TableOptions {
        target: Some("class".into()),
        drop: names(&["1"]),
        categorical: names(&["-1"]),
        ..TableOptions::default()
    };
    let mut stream = open(text, &options).unwrap();
    assert_eq!(stream.inputs_per_sample(), 2);
    assert_eq!(stream.remaining(), None);
    assert_eq!(stream.schema().target(), "class");
    assert_eq!(stream.place(), Place::Row(0));
    assert_eq!(read_all(&mut stream, 1).rows, [row(&[("a", 2.0), ("b=3", 1.0)], "x")]);
    assert_eq!(stream.place(), Place::Line(2));
    let kinds: Vec<_> = stream.schema().inputs().iter().map(|input| input.kind).collect();
    assert_eq!(kinds, [InputKind::Numeric, InputKind::Indicator]);
}

#[test]
fn missing_cells_are_absent() {
    let text = "a,b,c,y\n1,2,u,x\n,?,NA,x\n nan ,3,?,x\n4,,v,x\n5,6,u,x\n";
    let expected = [
        row(&[("a", 1.0), ("b", 2.0), ("c=u", 1.0)], "x"),
        row(&[], "x"),
        row(&[("b", 3.0)], "x"),
        row(&[("a", 4.0), ("c=v", 1.0)], "x"),
        row(&[("a", 5.0), ("b", 6.0), ("c=u", 1.0)], "x"),
    ];
    assert_eq!(rows(text), expected);
}

#[test]
fn categories_discovered_out_of_order_are_sorted() {
    let text = "p,q,n,y\nu,r,1,x\nv,r,2,x\nu,s,3,x\nw,s,4,x\n";
    let table = read_with(text, &TableOptions::default());
    assert_eq!(table.inputs, ["n", "p=u", "q=r", "p=v", "q=s", "p=w"]);
    assert_eq!(table.rows[1], row(&[("n", 2.0), ("q=r", 1.0), ("p=v", 1.0)], "x"));
    assert_eq!(table.rows[3], row(&[("n", 4.0), ("q=s", 1.0), ("p=w", 1.0)], "x"));
}

#[test]
fn a_category_may_appear_late() {
    let mut text = String::from("a,b,y\n");
    for i in 0..3000 {
        text += &format!("{i},{},x\n", if i < 2500 { "u" } else { "late" });
    }
    let table = read_with(text, &TableOptions::default());
    assert_eq!(table.inputs, ["a", "b=u", "b=late"]);
    assert_eq!(table.rows[2999], row(&[("a", 2999.0), ("b=late", 1.0)], "x"));
}

#[test]
fn categories_may_be_numbered() {
    let text = "p,n,q,y\nu,1,r,x\nv,2,?,x\nw,3,s,x\nu,4,r,x\n";
    let options =
        TableOptions { categories: Some(Categories::IntegerCodes), ..TableOptions::default() };
    let mut stream = open(text, &options).unwrap();
    let expected = [
        row(&[("p", 0.0), ("n", 1.0), ("q", 0.0)], "x"),
        row(&[("p", 1.0), ("n", 2.0)], "x"),
        row(&[("p", 2.0), ("n", 3.0), ("q", 1.0)], "x"),
        row(&[("p", 0.0), ("n", 4.0), ("q", 0.0)], "x"),
    ];
    assert_eq!(read_all(&mut stream, 2).rows, expected);
    assert!(stream.schema().inputs().iter().all(|input| input.kind == InputKind::Numeric));
}

#[test]
fn a_column_is_decided_by_its_first_cell_if_the_first_rows_lack_it() {
    for (late, name, value) in [("7", "a", 7.0), ("u", "a=u", 1.0)] {
        let text = format!("a,b,y\n{}{late},2,x\n", "?,1,x\n".repeat(1500));
        let table = read_with(text.as_str(), &TableOptions::default());
        assert_eq!(table.inputs, ["b", name]);
        assert_eq!(table.rows[0], row(&[("b", 1.0)], "x"));
        assert_eq!(table.rows[1500], row(&[("b", 2.0), (name, value)], "x"));
    }
}

#[test]
fn rows_of_numbers_are_dense() {
    let mut block = Block::new();
    open("a,b,y\n1,2,x\n", &TableOptions::default()).unwrap().read_block(&mut block, 1).unwrap();
    assert!(block.sample(0).inputs().is_none());
}
