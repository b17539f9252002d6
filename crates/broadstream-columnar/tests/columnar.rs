//! Parquet and Arrow through the public API: what they hold, and what is said of broken files.

use std::{io::Cursor, sync::Arc};

use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Float32Array, Float64Array,
    Int8Array, Int64Array, LargeStringArray, ListArray, NullArray, RecordBatch, StringArray,
    StringViewArray, TimestampSecondArray, UInt64Array,
    types::{Int32Type, UInt16Type},
};
use arrow_ipc::{
    CompressionType,
    writer::{FileWriter, IpcWriteOptions, StreamWriter},
};
use broadstream::{
    Block,
    stream::{Stream, TableOptions},
};
use broadstream_columnar::{
    ColumnarFormat::{self, ArrowFile, ArrowStream, Parquet},
    ColumnarSource, open_columnar,
};
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, GzipLevel, ZstdLevel},
    file::properties::WriterProperties,
};

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let nullable = columns.into_iter().map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(nullable).unwrap()
}

/// Some rows of several kinds.
fn table() -> RecordBatch {
    let codes: DictionaryArray<Int32Type> =
        ["u", "v"].iter().cycle().take(50).copied().map(Some).collect();
    batch(vec![
        (
            "a",
            Arc::new(Float64Array::from_iter(
                (0..50).map(|i| (i % 9 != 4).then_some(f64::from(i))),
            )),
        ),
        ("b", Arc::new(codes)),
        ("y", Arc::new(StringArray::from_iter_values((0..50).map(|i| ["p", "q", "r"][i % 3])))),
    ])
}

fn parquet_with(batch: &RecordBatch, compression: Compression) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(20))
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn ipc_with(batch: &RecordBatch, compression: Option<CompressionType>) -> (Vec<u8>, Vec<u8>) {
    let options = || IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let (mut file, mut stream) = (Vec::new(), Vec::new());
    let mut files =
        FileWriter::try_new_with_options(&mut file, &batch.schema(), options()).unwrap();
    let mut streams =
        StreamWriter::try_new_with_options(&mut stream, &batch.schema(), options()).unwrap();
    for start in (0..batch.num_rows()).step_by(20) {
        let part = batch.slice(start, 20.min(batch.num_rows() - start));
        files.write(&part).unwrap();
        streams.write(&part).unwrap();
    }
    files.finish().unwrap();
    streams.finish().unwrap();
    drop((files, streams));
    (file, stream)
}

/// A batch in every format.
fn written(batch: &RecordBatch) -> [(ColumnarFormat, Vec<u8>); 3] {
    let (file, stream) = ipc_with(batch, None);
    [(Parquet, parquet_with(batch, Compression::SNAPPY)), (ArrowFile, file), (ArrowStream, stream)]
}

/// A sample with the names of its inputs and its label.
type Row = (Vec<(String, f64)>, String);

/// The rows of a file, and what was said at its end.
fn read(
    format: ColumnarFormat,
    source: ColumnarSource,
    options: &TableOptions,
    most: usize,
) -> (Vec<Row>, Option<String>) {
    let message = |error: &dyn std::error::Error| match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    let mut stream = match open_columnar(format, source, options.clone()) {
        Ok(stream) => stream,
        Err(error) => return (Vec::new(), Some(message(&error))),
    };
    let mut block = Block::new();
    let error = loop {
        match stream.read_block(&mut block, most) {
            Ok(0) => break None,
            Ok(_) => {}
            Err(error) => break Some(message(&error)),
        }
    };
    let schema = stream.schema();
    let rows = (0..block.len()).map(|i| {
        let inputs = block.sample(i).iter().map(|(k, v)| (schema.inputs()[k].name.clone(), v));
        (inputs.collect(), schema.labels()[block.class(i)].clone())
    });
    (rows.collect(), error)
}

fn read_bytes(format: ColumnarFormat, bytes: &[u8]) -> (Vec<Row>, Option<String>) {
    read(format, ColumnarSource::Memory(bytes.to_vec()), &TableOptions::default(), 7)
}

fn row(inputs: &[(&str, f64)], label: &str) -> Row {
    (inputs.iter().map(|(name, value)| (name.to_string(), *value)).collect(), label.to_owned())
}

#[test]
fn every_type_that_is_a_number_or_a_category() {
    let dictionary: DictionaryArray<UInt16Type> =
        vec![Some("u"), None, Some("v")].into_iter().collect();
    let decimals = Decimal128Array::from(vec![Some(-12_345), None, Some(7)]);
    let batch = batch(vec![
        ("int8", Arc::new(Int8Array::from(vec![Some(-3), None, Some(7)]))),
        ("uint64", Arc::new(UInt64Array::from(vec![1, u64::MAX, 0]))),
        ("float32", Arc::new(Float32Array::from(vec![0.5, f32::NAN, -2.0]))),
        ("decimal", Arc::new(decimals.with_precision_and_scale(10, 3).unwrap())),
        ("flag", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("dictionary", Arc::new(dictionary)),
        ("large", Arc::new(LargeStringArray::from(vec![Some(" x "), None, Some("")]))),
        ("view", Arc::new(StringViewArray::from(vec![None, Some("a text of some length"), None]))),
        ("label", Arc::new(Int64Array::from(vec![i64::MAX, 5, -1]))),
    ]);
    let expected = [
        row(
            &[
                ("int8", -3.0),
                ("uint64", 1.0),
                ("float32", 0.5),
                ("decimal", -12.345),
                ("flag", 1.0),
                ("dictionary=u", 1.0),
                ("large=x", 1.0),
            ],
            "9223372036854775807",
        ),
        row(&[("uint64", u64::MAX as f64), ("view=a text of some length", 1.0)], "5"),
        row(
            &[
                ("int8", 7.0),
                ("uint64", 0.0),
                ("float32", -2.0),
                ("decimal", 0.007),
                ("flag", 0.0),
                ("dictionary=v", 1.0),
            ],
            "-1",
        ),
    ];
    for (format, bytes) in written(&batch) {
        let (rows, error) = read_bytes(format, &bytes);
        assert_eq!(error, None, "{format:?}");
        assert_eq!(rows, expected, "{format:?}");
    }
}

#[test]
fn codecs_sources_and_block_sizes_do_not_matter() {
    let table = table();
    let (expected, error) = read_bytes(Parquet, &parquet_with(&table, Compression::UNCOMPRESSED));
    assert_eq!((expected.len(), error), (50, None));
    let zstd = ZstdLevel::try_new(3).unwrap();
    let mut files: Vec<(ColumnarFormat, Vec<u8>)> = [
        Compression::SNAPPY,
        Compression::LZ4_RAW,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(zstd),
    ]
    .map(|compression| (Parquet, parquet_with(&table, compression)))
    .to_vec();
    for compression in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        let (file, stream) = ipc_with(&table, compression);
        files.extend([(ArrowFile, file), (ArrowStream, stream)]);
    }
    for (format, bytes) in files {
        assert_eq!(ColumnarFormat::detect(&bytes[..ColumnarFormat::HEAD]), Some(format));
        for most in [1, 20, 1000] {
            let options = TableOptions::default();
            let memory = ColumnarSource::Memory(bytes.clone());
            assert_eq!(read(format, memory, &options, most), (expected.clone(), None));
            let pipe = ColumnarSource::Pipe(Box::new(Cursor::new(bytes.clone())));
            assert_eq!(read(format, pipe, &options, most), (expected.clone(), None));
        }
    }
}

#[test]
fn other_types_must_be_dropped() {
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1), None])]);
    let batch = batch(vec![
        ("when", Arc::new(TimestampSecondArray::from(vec![5]))),
        ("list", Arc::new(list)),
        ("none", Arc::new(NullArray::new(1))),
        ("n", Arc::new(Int8Array::from(vec![4]))),
        ("y", Arc::new(StringArray::from(vec!["a"]))),
    ]);
    let remedy = "(leave the column out by naming it in drop)";
    for (format, bytes) in written(&batch) {
        let source = || ColumnarSource::Memory(bytes.clone());
        let complaint = |options: &TableOptions| read(format, source(), options, 1).1.unwrap();
        let drop = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        let found = "expected numbers or categories, found the type";
        let message = format!("column 'when': {found} timestamp(s) {remedy}");
        assert_eq!(complaint(&TableOptions::default()), message);
        let options = TableOptions { drop: drop(&["when"]), ..TableOptions::default() };
        assert_eq!(complaint(&options), format!("column 'list': {found} list {remedy}"));
        let options = TableOptions {
            target: Some("when".into()),
            drop: drop(&["list"]),
            ..TableOptions::default()
        };
        assert_eq!(complaint(&options), message);
        let options = TableOptions { drop: drop(&["when", "2"]), ..TableOptions::default() };
        assert_eq!(read(format, source(), &options, 1), (vec![row(&[("n", 4.0)], "a")], None));
    }
}

#[test]
fn faulty_rows_come_after_the_good_ones() {
    let batch = batch(vec![
        ("n", Arc::new(Float64Array::from(vec![1.0, 2.0, f64::INFINITY]))),
        ("y", Arc::new(StringArray::from(vec![Some("a"), None, Some("b")]))),
    ]);
    for (format, bytes) in written(&batch) {
        let (rows, error) = read_bytes(format, &bytes);
        assert_eq!(rows, [row(&[("n", 1.0)], "a")]);
        assert_eq!(error.unwrap(), "row 2, column 'y': the label is missing");
        let (rows, error) = read_bytes(format, &written(&batch.slice(2, 1))[format as usize].1);
        assert!(rows.is_empty());
        assert_eq!(error.unwrap(), "row 1, column 'n': expected a finite number, found 'inf'");
        let (_, error) = read_bytes(format, &written(&batch.slice(0, 0))[format as usize].1);
        assert_eq!(error.unwrap(), "the stream is empty: expected at least one row of data");
    }
}

#[test]
fn a_file_may_be_cut_anywhere() {
    let (zipped, _) = ipc_with(&table(), Some(CompressionType::ZSTD));
    let files = written(&table()).into_iter().chain([(ArrowFile, zipped)]);
    for (format, bytes) in files {
        let (all, _) = read_bytes(format, &bytes);
        for length in (0..bytes.len()).step_by(7) {
            let (rows, error) = read_bytes(format, &bytes[..length]);
            assert!(all.starts_with(&rows), "{format:?} cut to {length}");
            assert!(error.is_some() || rows == all, "{format:?} cut to {length}");
        }
    }
}

/// The lengths at which a stream of messages ends between two of them.
fn ends_of_messages(stream: &[u8]) -> Vec<usize> {
    let whole = |length: &usize| read_bytes(ArrowStream, &stream[..*length]).1.is_none();
    (0..stream.len()).step_by(8).filter(whole).collect()
}

/// Where the messages of a file begin, which are those of a stream, after the magic bytes and zeros.
fn start_of_messages(file: &[u8]) -> usize {
    file.windows(4).position(|bytes| bytes == [0xff; 4]).unwrap()
}

#[test]
fn a_file_that_was_cut_is_refused() {
    let files = written(&table()).into_iter().filter(|(format, _)| *format != ArrowStream);
    for (format, bytes) in files {
        assert_eq!(read_bytes(format, &bytes).1, None);
        for length in 0..bytes.len() {
            let source = || ColumnarSource::Memory(bytes[..length].to_vec());
            assert!(
                open_columnar(format, source(), TableOptions::default()).is_err(),
                "{format:?} cut to {length}"
            );
        }
    }
    let (file, stream) = ipc_with(&table(), None);
    let ends = ends_of_messages(&stream);
    assert_eq!(ends.len(), 3, "{ends:?}");
    for end in ends {
        let cut = &file[..start_of_messages(&file) + end];
        let message = "row 1: cannot read on: Ipc error: expected a footer at the end of the Arrow \
                       file, found none: the file was cut short";
        assert_eq!(read_bytes(ArrowFile, cut), (Vec::new(), Some(message.to_owned())));
        // A pipe has no end to look at before, so its rows come first.
        let pipe = ColumnarSource::Pipe(Box::new(Cursor::new(cut.to_vec())));
        let (rows, error) = read(ArrowFile, pipe, &TableOptions::default(), 7);
        assert_eq!(rows, read_bytes(ArrowStream, &stream[..end]).0);
        assert!(error.unwrap().ends_with("found none: the file was cut short"));
    }
}

#[test]
fn a_footer_lists_the_batches_of_its_file() {
    let (file, stream) = ipc_with(&table(), None);
    let start = start_of_messages(&file);
    let ends: Vec<usize> = ends_of_messages(&stream).iter().map(|end| start + end).collect();
    // The second batch is taken out, and the footer stays.
    let without = [&file[..ends[0]], &file[ends[1]..]].concat();
    let (rows, error) = read_bytes(ArrowFile, &without);
    assert_eq!(rows.len(), 30);
    let message =
        "row 31: cannot read on: Ipc error: the footer of the file lists 3 batches, found 2";
    assert_eq!(error.unwrap(), message);
    // The footer is replaced by noise of its length.
    let mut noise = file.clone();
    let end = noise.len() - 10;
    noise[start + stream.len()..end].fill(0xff);
    let (rows, error) = read_bytes(ArrowFile, &noise);
    assert_eq!(rows.len(), 50);
    assert!(error.unwrap().contains("the footer of the file is broken"));
}

/// The format allows it: a stream may simply end.
#[test]
fn a_stream_needs_no_end_marker() {
    let (_, stream) = ipc_with(&table(), None);
    let (rows, error) = read_bytes(ArrowStream, &stream[..stream.len() - 8]);
    assert_eq!((rows.len(), error), (50, None));
}

#[test]
fn claims_of_a_message_are_held_against_it() {
    let (_, stream) = ipc_with(&table(), None);
    let huge = |at: usize, claim: u32| {
        let mut bytes = stream.clone();
        bytes[at..at + 4].copy_from_slice(&claim.to_le_bytes());
        read_bytes(ArrowStream, &bytes).1.unwrap()
    };
    let message = huge(4, 0x7fff_fff0);
    assert!(message.contains("must have at most 67108864 bytes, found 2147483632"), "{message}");
    assert!(huge(4, 0x0100_0000).contains("row 1: cannot read on"));
}

/// The readers of both formats panic on some of these files, which is an error here.
#[test]
fn any_damage_is_survived() {
    let small = table().slice(0, 8);
    let (zipped, _) = ipc_with(&small, Some(CompressionType::LZ4_FRAME));
    let mut contradictions = 0;
    for (format, bytes) in written(&small).into_iter().chain([(ArrowFile, zipped)]) {
        for place in 0..bytes.len() {
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[place] = byte;
                let (rows, error) = read_bytes(format, &damaged);
                assert!(rows.len() <= 8 || error.is_some());
                contradictions += usize::from(error.is_some_and(|e| e.contains("contradicts")));
            }
        }
    }
    assert!(contradictions > 0, "no panic is left to be caught: the guard can go");
}
