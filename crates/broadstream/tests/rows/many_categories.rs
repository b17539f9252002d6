//! A column with more categories than it may have inputs.

use std::{collections::HashSet, fmt::Write};

use broadstream::{
    Block, Schema,
    stream::{
        Categories, Cell, JsonRows, LiveOptions, LiveRows, Place, RowEncoder, RowEncoding,
        RowPurpose, Stream, TableOptions, csv::CsvStream, jsonl::JsonLinesStream,
    },
};

use super::{Row, named, read_all, source};

/// Users of which few are frequent, some of these only later, and most occur once.
fn users(rows: u64) -> Vec<String> {
    let mut state = 7_u64;
    let mut draw = move |n: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    (0..rows)
        .map(|row| match draw(4) {
            0 => format!("early{}", draw(5)),
            1 => format!("late{}", draw(3) + 3 * (row / 700)),
            _ => format!("once{row}"),
        })
        .collect()
}

fn csv(users: &[String]) -> String {
    let rows =
        users.iter().zip(0..).map(|(user, i): (_, u32)| format!("{user},{},{}\n", i % 7, i % 2));
    format!("user,n,y\n{}", rows.collect::<String>())
}

fn json(users: &[String]) -> String {
    users.iter().zip(0..).fold(String::new(), |mut text, (user, i): (_, u32)| {
        writeln!(text, "{{\"user\": \"{user}\", \"n\": {}, \"y\": \"{}\"}}", i % 7, i % 2).unwrap();
        text
    })
}

fn options(most: usize, categories: Categories) -> TableOptions {
    TableOptions {
        max_categories: Some(most),
        categories: Some(categories),
        ..TableOptions::default()
    }
}

/// All samples of a text and the encoding after them, read in blocks of that size.
fn read(text: &str, most: usize, categories: Categories, block: usize) -> (Vec<Row>, RowEncoding) {
    let options = options(most, categories);
    let mut stream: Box<dyn Stream> = match text.starts_with('{') {
        true => {
            let options = TableOptions { target: Some("y".into()), ..options };
            Box::new(JsonLinesStream::new(source(text), options).unwrap())
        }
        false => Box::new(CsvStream::new(source(text), options).unwrap()),
    };
    let (rows, error) = read_all(&mut *stream, block);
    assert_eq!(error, None);
    (rows, stream.encoding().unwrap())
}

/// Formats number inputs in different orders.
fn in_order(mut rows: Vec<Row>) -> Vec<Row> {
    rows.iter_mut().for_each(|(cells, _)| cells.sort_by(|a, b| a.0.cmp(&b.0)));
    rows
}

/// The inputs of the column.
fn inputs(rows: &[Row]) -> Vec<&str> {
    rows.iter()
        .map(|(cells, _)| cells.iter().find(|(name, _)| name != "n").unwrap().0.as_str())
        .collect()
}

#[test]
fn few_categories_are_encoded_as_without_a_limit() {
    let users: Vec<String> = (0..500).map(|i| format!("u{}", i * i % 97)).collect();
    let different = users.iter().collect::<HashSet<_>>().len();
    for categories in [Categories::OneHot, Categories::IntegerCodes] {
        let unlimited = read(&csv(&users), usize::MAX / 2, categories, 64);
        let limited = read(&csv(&users), 2 * different, categories, 64);
        assert!(limited.0 == unlimited.0);
        assert!(limited.1.columns[0].rare.is_none());
        let fewer = read(&csv(&users), 2 * different - 2, categories, 64);
        assert!(fewer.0 != unlimited.0);
    }
}

#[test]
fn rare_categories_share_inputs_and_those_that_prove_frequent_get_their_own() {
    let users = users(4000);
    let (rows, encoding) = read(&csv(&users), 40, Categories::OneHot, 64);
    let inputs = inputs(&rows);
    let different: HashSet<&str> = inputs.iter().copied().collect();
    assert!(different.len() <= 40, "{}", different.len());
    let mut own = HashSet::new();
    for (user, input) in users.iter().zip(&inputs) {
        let name = format!("user={user}");
        match input.strip_prefix("user=other#") {
            Some(number) => {
                assert!(number.parse::<u32>().unwrap() < 10);
                assert!(!own.contains(&name), "{name} shares an input after it had its own");
            }
            None => {
                assert_eq!(**input, name);
                own.insert(name);
            }
        }
    }
    for user in
        (0..5).map(|i| format!("user=early{i}")).chain((0..3).map(|i| format!("user=late{i}")))
    {
        assert!(own.contains(&user), "{user}");
    }
    // These appear when all of the first inputs are taken.
    assert!(own.contains("user=late3") && own.contains("user=late4") && own.contains("user=late5"));
    assert_eq!(encoding.columns[0].rare.as_ref().unwrap().shared(), 10);
}

#[test]
fn a_column_of_different_values_has_a_bounded_number_of_inputs() {
    let users: Vec<String> = (0..30_000).map(|i| format!("u{i}")).collect();
    for most in [1, 2, 3, 4, 5, 7, 100] {
        for categories in [Categories::OneHot, Categories::IntegerCodes] {
            let (rows, _) = read(&csv(&users), most, categories, 256);
            let different: HashSet<String> = rows
                .iter()
                .map(|(cells, _)| {
                    format!("{:?}", cells.iter().find(|(name, _)| name != "n").unwrap())
                })
                .collect();
            assert!(different.len() <= most, "{most}: {}", different.len());
            assert!(different.len() > most / 2, "{most}: {}", different.len());
        }
    }
}

#[test]
fn every_way_to_read_rows_gives_the_same_samples() {
    let users = users(3000);
    for categories in [Categories::OneHot, Categories::IntegerCodes] {
        let expected = read(&csv(&users), 40, categories, 1);
        assert!(read(&csv(&users), 40, categories, 333) == expected);
        let from_json = read(&json(&users), 40, categories, 64);
        assert!(in_order(from_json.0) == in_order(expected.0.clone()));
        assert_eq!(from_json.1.columns[0], expected.1.columns[0]);
        for trained in [1, 10, 30, 1500] {
            let live = live(&users, trained, 40, categories);
            assert!(live.0 == expected.0[trained..]);
            assert_eq!(live.1, expected.1);
        }
    }
}

/// The samples of the rows that follow the first ones, read as live rows, which are predicted and then learned.
fn live(
    users: &[String],
    trained: usize,
    most: usize,
    categories: Categories,
) -> (Vec<Row>, RowEncoding) {
    let text = csv(&users[..trained]);
    let mut stream = CsvStream::new(source(text.as_str()), options(most, categories)).unwrap();
    while stream.read_block(&mut Block::new(), 100).unwrap() > 0 {}
    let (schema, encoding) = (stream.schema().clone(), stream.encoding().unwrap());
    let text = csv(users);
    let lines: Vec<&str> = text.lines().collect();
    let rows = [&lines[..1], &lines[trained + 1..]].concat().join("\n") + "\n";
    let options = LiveOptions::default();
    let mut live =
        LiveRows::new(source(rows.as_str()), options, schema.clone(), encoding.clone()).unwrap();
    let mut looked = JsonRows::new(LiveOptions::default(), schema, encoding).unwrap();
    let json = json(users);
    let mut objects = json.lines().skip(trained);
    let mut samples = Vec::new();
    while let Some(row) = live.next().unwrap() {
        let (mut block, class) = (Block::new(), row.class.unwrap());
        block.push(row.sample, class, 1.0).unwrap();
        live.settle();
        let label = live.schema().labels()[class].clone();
        samples.push((named(block.sample(0), live.schema()), label));

        let object = objects.next().unwrap().as_bytes();
        let before = looked.encoding();
        looked.set_purpose(RowPurpose::Predict);
        let predicted = looked.read_inputs(object, Place::Row(1)).unwrap().len();
        looked.undo();
        assert_eq!(looked.encoding(), before, "what is only predicted does not count");
        looked.set_purpose(RowPurpose::Learn);
        looked.read(object, Place::Row(1)).unwrap();
        // A row that is refused does not count either.
        if samples.len() % 3 == 0 {
            looked.undo();
            looked.read(object, Place::Row(1)).unwrap();
        }
        looked.settle();
        assert_eq!(predicted, 2);
    }
    assert_eq!(looked.encoding().columns, live.encoding().columns);
    (samples, live.encoding())
}

#[test]
fn the_limit_of_a_model_stays_unless_rows_have_another() {
    let users: Vec<String> = (0..20).map(|i| format!("u{i}")).collect();
    let mut stream =
        CsvStream::new(source(csv(&users[..5])), options(8, Categories::OneHot)).unwrap();
    while stream.read_block(&mut Block::new(), 100).unwrap() > 0 {}
    let (schema, encoding) = (stream.schema().clone(), stream.encoding().unwrap());
    let rest = csv(&users[5..]);
    for (max_categories, expected) in [(None, 1 + 6), (Some(1000), 1 + 5 + 15)] {
        let options = LiveOptions { max_categories, ..LiveOptions::default() };
        let mut live =
            LiveRows::new(source(rest.as_str()), options, schema.clone(), encoding.clone())
                .unwrap();
        while live.next().unwrap().is_some() {}
        // Once rare categories share inputs, others come to their own only by their frequency.
        let rare = encoding.columns[0].rare.is_some();
        assert_eq!((live.schema().inputs().len() <= expected, rare), (true, true));
        assert_eq!(live.encoding().max_categories, 8, "the option is about these rows only");
    }
}

fn pushed(encoder: &mut RowEncoder, text: &str) -> Result<String, String> {
    encoder.begin(Place::Row(1));
    encoder.push(0, Cell::Text(text.as_bytes())).map_err(|error| error.to_string())?;
    let input = encoder.sample().iter().next().unwrap().0;
    Ok(encoder.schema().inputs()[input].name.clone())
}

fn encoder(most: usize) -> RowEncoder {
    let mut encoder = RowEncoder::new("y", Categories::OneHot).with_max_categories(most);
    encoder.add_column("a", None, Place::Row(1)).unwrap();
    encoder
}

#[test]
fn rows_whose_category_has_changed_its_input_cannot_be_unlearned() {
    let mut encoder = encoder(8);
    for text in ["p", "q", "r", "s"] {
        pushed(&mut encoder, text).unwrap();
    }
    let shared: Vec<String> = (0..10).map(|_| pushed(&mut encoder, "late").unwrap()).collect();
    assert!(shared[..9].iter().all(|input| input.starts_with("a=other#")));
    assert_eq!(shared[9], "a=late");
    let rare = pushed(&mut encoder, "rare").unwrap();
    encoder.settle();
    encoder.set_purpose(RowPurpose::Unlearn);
    assert_eq!(pushed(&mut encoder, "p").unwrap(), "a=p");
    assert_eq!(pushed(&mut encoder, "rare").unwrap(), rare);
    let message = pushed(&mut encoder, "late").unwrap_err();
    assert!(
        message.contains("column 'a': expected a category that has always had the same input"),
        "{message}"
    );
    assert!(message.contains("'late'"), "{message}");
}

/// What a column is after these categories.
fn encoding_of(most: usize, texts: impl Iterator<Item = String>) -> (Schema, RowEncoding) {
    let mut encoder = encoder(most);
    texts.for_each(|text| _ = pushed(&mut encoder, &text).unwrap());
    (encoder.schema().clone(), encoder.encoding())
}

#[test]
fn models_with_rare_categories_are_merged_if_they_share_alike() {
    let many = |prefix: &'static str, n: u32| (0..n).map(move |i| format!("{prefix}{i}"));
    let (schema, own) = encoding_of(8, many("u", 50));
    let (_, other) = encoding_of(8, many("v", 50));
    let (_, few) = encoding_of(8, many("w", 3));
    let (_, wider) = encoding_of(16, many("u", 50));
    for (one, two) in [(&own, &other), (&own, &few), (&few, &own)] {
        let mut merged = one.clone();
        merged.merge(two.clone()).unwrap();
        assert_eq!(merged.columns[0].rare.as_ref().unwrap().shared(), 2);
    }
    let message = own.clone().merge(wider).unwrap_err().to_string();
    assert!(message.contains("give both the same max_categories"), "{message}");

    let mut merged = own.clone();
    merged.merge(other).unwrap();
    let mut encoder = RowEncoder::resume(schema, &merged).unwrap();
    encoder.set_purpose(RowPurpose::Unlearn);
    // It may have been rare in the other model.
    assert!(pushed(&mut encoder, "u0").is_err());
    assert!(pushed(&mut encoder, "x").unwrap().starts_with("a=other#"));
}
