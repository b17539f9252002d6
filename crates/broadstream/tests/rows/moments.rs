//! Columns of dates and times, which become up to three columns.

use broadstream::{
    Block, Schema,
    stream::{
        Categories, Cell, LiveOptions, LiveRows, Place, RowEncoder, RowEncoding, Stream,
        TableOptions, csv::CsvStream, jsonl::JsonLinesStream,
    },
};

use super::{Row, named, read_all, row, source};

const CSV: &str = "n,when,day,y\n1,2024-02-29T18:00:00,2024-02-29,u\n2,,2024-03-01,v\n\
                   3,2024-03-01 06:30:00.5,NA,u\n";

const JSON: &str = "{\"n\": 1, \"when\": \"2024-02-29T18:00\", \"day\": \"2024-02-29\", \"y\": \"u\"}\n\
                    {\"n\": 2, \"when\": null, \"day\": \"2024-03-01\", \"y\": \"v\"}\n\
                    {\"n\": 3, \"when\": \"2024-03-01T06:30:00.500\", \"y\": \"u\"}\n";

fn expected() -> Vec<Row> {
    let days = 1_709_274_600_500_000.0 / 86_400_000_000.0;
    let hour = 23_400_500_000.0 / 3.6e9;
    in_order(vec![
        row(
            &[
                ("n", 1.0),
                ("when", 19_782.75),
                ("when.hour", 18.0),
                ("when.weekday=Thursday", 1.0),
                ("day", 19_782.0),
                ("day.weekday=Thursday", 1.0),
            ],
            "u",
        ),
        row(&[("n", 2.0), ("day", 19_783.0), ("day.weekday=Friday", 1.0)], "v"),
        row(&[("n", 3.0), ("when", days), ("when.hour", hour), ("when.weekday=Friday", 1.0)], "u"),
    ])
}

fn in_order(mut rows: Vec<Row>) -> Vec<Row> {
    rows.iter_mut().for_each(|(cells, _)| cells.sort_by(|a, b| a.0.cmp(&b.0)));
    rows
}

fn trained(text: &str, options: TableOptions) -> (Schema, RowEncoding) {
    let mut stream = CsvStream::new(source(text), options).unwrap();
    let (_, error) = read_all(&mut stream, 64);
    assert_eq!(error, None);
    (stream.schema().clone(), stream.encoding().unwrap())
}

/// The rows of a text for a model, and the first error.
fn live(model: &(Schema, RowEncoding), text: &str) -> (Vec<Row>, Option<String>) {
    let (schema, encoding) = model.clone();
    let mut live = LiveRows::new(source(text), LiveOptions::default(), schema, encoding).unwrap();
    let mut rows = Vec::new();
    loop {
        match live.next() {
            Ok(Some(row)) => {
                let (mut block, class) = (Block::new(), row.class.unwrap());
                block.push(row.sample, class, 1.0).unwrap();
                let label = live.schema().labels()[class].clone();
                rows.push((named(block.sample(0), live.schema()), label));
            }
            Ok(None) => return (in_order(rows), None),
            Err(error) => return (in_order(rows), Some(error.to_string())),
        }
    }
}

#[test]
fn dates_mean_the_same_in_every_format() {
    let mut csv = CsvStream::new(source(CSV), TableOptions::default()).unwrap();
    let (rows, error) = read_all(&mut csv, 2);
    assert_eq!((in_order(rows), error), (expected(), None));
    let target = TableOptions { target: Some("y".into()), ..TableOptions::default() };
    let mut json = JsonLinesStream::new(source(JSON), target).unwrap();
    let (rows, error) = read_all(&mut json, 64);
    assert_eq!((in_order(rows), error), (expected(), None));
}

#[test]
fn a_model_reads_more_dates_as_those_it_knows() {
    let model = trained(CSV, TableOptions::default());
    for text in [CSV, JSON, CSV.split_once('\n').unwrap().1] {
        assert_eq!(live(&model, text), (expected(), None), "{text}");
    }
    // The parts may come by themselves, as other programs may give them.
    let parts = "{\"n\": 1, \"when\": 19782.75, \"when.hour\": 18, \"when.weekday\": \"Thursday\", \
                 \"day\": 19782, \"day.weekday\": \"Thursday\", \"y\": \"u\"}\n";
    assert_eq!(live(&model, parts), (expected()[..1].to_vec(), None));
    let both = "{\"when\": \"2024-02-29T18:00\", \"when.hour\": 18, \"y\": \"u\"}\n";
    let (_, error) = live(&model, both);
    assert!(error.unwrap().contains("expected one value per row, found two"));
}

#[test]
fn a_cell_that_is_no_date_of_the_same_form_is_refused() {
    let model = trained(CSV, TableOptions::default());
    for (cells, message) in [
        (
            "soon,,",
            "column 'when': expected a date and a time such as 2024-02-29T17:03:59Z, found 'soon'",
        ),
        ("2024-02-29,,", "column 'when': expected a date and a time such as"),
        (
            ",2024-02-29 17:03,",
            "column 'day': expected a date such as 2024-02-29, found '2024-02-29 17:03'",
        ),
        (",2024-02-30,", "column 'day': expected a date such as 2024-02-29, found '2024-02-30'"),
        (",29.02.2024,", "column 'day': expected a date such as 2024-02-29, found '29.02.2024'"),
    ] {
        let (rows, error) = live(&model, &format!("n,when,day,y\n1,,2024-01-01,u\n1,{cells}u\n"));
        let error = error.unwrap();
        assert!(error.starts_with("line 3, ") && error.contains(message), "{error}");
        assert!(error.ends_with("(declare the column categorical if it does not hold dates)"));
        assert_eq!(rows.len(), 1);
    }
    // After the first rows, a file is held to what they showed.
    let rows = "2024-01-01,u\n".repeat(1000);
    let mut stream =
        CsvStream::new(source(format!("day,y\n{rows}late,v\n")), TableOptions::default()).unwrap();
    let (rows, error) = read_all(&mut stream, 64);
    assert_eq!(rows.len(), 1000);
    assert!(
        error.unwrap().starts_with("line 1002, column 'day': expected a date such as 2024-02-29")
    );
}

#[test]
fn numbers_are_moments_only_where_that_is_declared() {
    let text = "t,y\n1709229600,u\n1709274600.5,v\n";
    let plain = trained(text, TableOptions::default());
    assert_eq!(plain.0.inputs().len(), 1);
    let dates = TableOptions { dates: vec!["t".into()], ..TableOptions::default() };
    let declared = trained(text, dates);
    let of_form = |rows: &[Row]| {
        let of_when = |(cells, label): &Row| {
            let cells = cells.iter().filter(|(name, _)| name.starts_with("when"));
            (
                cells.map(|(name, value)| (name.replace("when", "t"), *value)).collect(),
                label.clone(),
            )
        };
        rows.iter().map(of_when).collect::<Vec<Row>>()
    };
    let mut moments = of_form(&expected());
    moments.remove(1);
    moments[1].1 = "v".to_owned();
    assert_eq!(live(&declared, text), (moments.clone(), None));
    assert_eq!(live(&declared, "{\"t\": 1709229600, \"y\": \"u\"}\n").0, moments[..1]);
    // A date without a time is no epoch, and neither is a number far beyond every calendar.
    for cell in ["1e15", "2024-01-01"] {
        let (_, error) = live(&declared, &format!("t,y\n{cell},u\n"));
        assert!(error.unwrap().contains("column 't': expected a date and a time"), "{cell}");
    }
}

#[test]
fn what_is_declared_to_be_categories_stays_categories() {
    let options = TableOptions { categorical: vec!["day".into()], ..TableOptions::default() };
    let names: Vec<String> =
        trained(CSV, options).0.inputs().iter().map(|input| input.name.clone()).collect();
    assert!(names.contains(&"day=2024-02-29".to_owned()), "{names:?}");
    // A column that has the name of a part leaves the dates what they are.
    let text = "day,day.weekday,y\n2024-02-29,4,u\n2024-03-01,5,v\n";
    let names: Vec<String> = trained(text, TableOptions::default())
        .0
        .inputs()
        .iter()
        .map(|input| input.name.clone())
        .collect();
    assert!(names.contains(&"day=2024-02-29".to_owned()), "{names:?}");
}

#[test]
fn a_date_that_is_undone_leaves_nothing_behind() {
    let mut encoder = RowEncoder::new("y", Categories::OneHot);
    let when = encoder.add_column("when", None, Place::Row(1)).unwrap();
    encoder.settle();
    let before = encoder.encoding();
    for _ in 0..2 {
        encoder.begin(Place::Row(1));
        encoder.push(when, Cell::Text(b"2024-02-29T18:00Z")).unwrap();
        assert_eq!(encoder.sample().len(), 3);
        assert!(encoder.undo());
        assert_eq!(encoder.encoding(), before);
        assert!(encoder.schema().inputs().is_empty());
    }
    encoder.begin(Place::Row(1));
    encoder.push(when, Cell::Text(b"noon")).unwrap();
    assert_eq!(encoder.schema().inputs()[0].name, "when=noon");
}
