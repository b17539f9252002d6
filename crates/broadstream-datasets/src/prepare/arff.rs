//! Electricity, the one dataset in WEKA's ARFF: declarations, `@data`, and then rows as in CSV.

use super::lines::Lines;
use crate::{error::DatasetError, output::Output, part::Part};

/// Prepares elecNormNew.arff, whose rows are kept unchanged.
pub(crate) fn electricity(parts: Vec<Part>, out: &mut Output<'_>) -> Result<(), DatasetError> {
    for part in parts {
        let mut lines = Lines::new(part);
        let columns = write_header(&mut lines, out)?;
        while let Some(line) = lines.next()? {
            if line.starts_with('%') {
                continue;
            }
            let cells = line.split(',').count();
            if cells != columns {
                return Err(lines.malformed(&format!("{columns} cells"), &cells.to_string()));
            }
            out.line(line)?;
        }
    }
    Ok(())
}

/// Reads the declarations up to `@data`, writes the attribute names as the header, and returns their
/// number.
fn write_header(lines: &mut Lines, out: &mut Output<'_>) -> Result<usize, DatasetError> {
    let mut names: Vec<String> = Vec::new();
    loop {
        let Some(line) = lines.next()? else {
            return Err(lines.malformed("'@data'", "the end"));
        };
        let mut words = line.split_ascii_whitespace();
        match words.next().unwrap_or_default().to_ascii_lowercase().as_str() {
            "@data" => break,
            "@attribute" => names.push(words.next().unwrap_or_default().to_owned()),
            "@relation" => {}
            word if word.starts_with('%') => {}
            _ => {
                let found = format!("'{line}'");
                return Err(lines.malformed("a declaration", &found));
            }
        }
    }
    out.line(&names.join(","))?;
    Ok(names.len())
}

#[cfg(test)]
mod tests {
    use super::{super::prepared_texts, *};

    const DECLARATIONS: &str = "@relation electricity-weka.filters\n\n@attribute date numeric\n\
        @attribute day {1,2,3,4,5,6,7}\n@ATTRIBUTE class {UP,DOWN}\n\n";

    #[test]
    fn attributes_become_the_header() {
        let text = format!("{DECLARATIONS}@data\n0,2,UP\r\n% remark\n0.000044,3,DOWN\n");
        let expected = "date,day,class\n0,2,UP\n0.000044,3,DOWN\n";
        assert_eq!(prepared_texts(electricity, &[&text]).unwrap(), expected);
    }

    #[test]
    fn malformed_files_are_errors_with_their_line() {
        for (text, message) in [
            (DECLARATIONS.to_owned(), "line 7: expected '@data', found the end"),
            (format!("{DECLARATIONS}@data\n0,2\n"), "line 8: expected 3 cells, found 2"),
            ("<html>\n".to_owned(), "line 1: expected a declaration, found '<html>'"),
        ] {
            let error = prepared_texts(electricity, &[&text]).unwrap_err().to_string();
            assert_eq!(error, format!("part 0, {message}"));
        }
    }
}
