//! Lines of comma-separated values.

/// A head and lines as CSV, quoted where a cell needs it.
pub(crate) fn lines(head: &[&str], lines: &[Vec<String>]) -> String {
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    // Writing to memory cannot fail, and what cannot be written is left out.
    let _ = writer.write_record(head);
    for line in lines {
        let _ = writer.write_record(line);
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}
