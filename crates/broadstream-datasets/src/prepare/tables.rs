//! Datasets that are text tables already: one row per line, cells separated by commas or blanks.

use std::borrow::Cow;

use super::lines::Lines;
use crate::{error::DatasetError, output::Output, part::Part};

/// The format of a publisher's table, and the header to give it.
struct Table {
    header: String,
    separator: Separator,
    label: Label,
    /// Whether a line is a comment rather than a row.
    is_comment: fn(&str) -> bool,
    /// Whether to keep a row with these cells.
    keep_row: fn(&[&str]) -> bool,
    /// Converts a cell to its text in the prepared file; `None` if it is malformed.
    convert_cell: fn(&str) -> Option<Cow<'_, str>>,
}

enum Separator {
    Comma,
    Blanks,
}

/// The position of the label in the publisher's rows.
enum Label {
    First,
    Last,
}

impl Table {
    /// A table without comments whose rows and cells are kept unchanged.
    fn new(header: impl Into<String>, separator: Separator, label: Label) -> Self {
        Table {
            header: header.into(),
            separator,
            label,
            is_comment: |_| false,
            keep_row: |_| true,
            convert_cell: |cell| Some(Cow::Borrowed(cell)),
        }
    }

    fn write(&self, parts: Vec<Part>, out: &mut Output<'_>) -> Result<(), DatasetError> {
        let columns = self.header.split(',').count();
        out.line(&self.header)?;
        let mut row = String::new();
        for part in parts {
            let mut lines = Lines::new(part);
            while let Some(line) = lines.next()? {
                if (self.is_comment)(line) {
                    continue;
                }
                let mut cells: Vec<&str> = match self.separator {
                    Separator::Comma => line.split(',').map(str::trim).collect(),
                    Separator::Blanks => line.split_ascii_whitespace().collect(),
                };
                if cells.len() != columns {
                    let (expected, found) = (format!("{columns} cells"), cells.len().to_string());
                    return Err(lines.malformed(&expected, &found));
                }
                if !(self.keep_row)(&cells) {
                    continue;
                }
                if let Label::First = self.label {
                    cells.rotate_left(1);
                }
                row.clear();
                for cell in cells {
                    let Some(text) = (self.convert_cell)(cell) else {
                        let found = format!("'{cell}'");
                        return Err(lines.malformed("a number", &found));
                    };
                    row += &text;
                    row.push(',');
                }
                row.pop();
                out.line(&row)?;
            }
        }
        Ok(())
    }
}

/// Prepares UCI's segmentation.data and segmentation.test, which begin with Lisp comments and the
/// column names.
pub(crate) fn image_segment(parts: Vec<Part>, out: &mut Output<'_>) -> Result<(), DatasetError> {
    let header = "region-centroid-col,region-centroid-row,region-pixel-count,\
        short-line-density-5,short-line-density-2,vedge-mean,vedge-sd,hedge-mean,hedge-sd,\
        intensity-mean,rawred-mean,rawblue-mean,rawgreen-mean,exred-mean,exblue-mean,\
        exgreen-mean,value-mean,saturation-mean,hue-mean,class";
    Table {
        is_comment: |line| line.starts_with(";;;") || line.starts_with("REGION-CENTROID-COL"),
        ..Table::new(header, Separator::Comma, Label::First)
    }
    .write(parts, out)
}

/// Prepares zip.train and zip.test: `6.0000 -1.0000 -0.6310 …` in one, `9 -1 -0.948 …` in the other.
pub(crate) fn usps(parts: Vec<Part>, out: &mut Output<'_>) -> Result<(), DatasetError> {
    let header: String = (0..256).map(|pixel| format!("f{pixel},")).collect();
    Table {
        // Adding 0 turns -0 into 0.
        convert_cell: |cell| Some(Cow::Owned((cell.parse::<f64>().ok()? + 0.0).to_string())),
        ..Table::new(header + "class", Separator::Blanks, Label::First)
    }
    .write(parts, out)
}

/// Prepares UCI's letter-recognition.data.
pub(crate) fn letter(parts: Vec<Part>, out: &mut Output<'_>) -> Result<(), DatasetError> {
    let header = "x-box,y-box,width,high,onpix,x-bar,y-bar,x2bar,y2bar,xybar,x2ybr,xy2br,x-ege,\
        xegvy,y-ege,yegvx,class";
    Table::new(header, Separator::Comma, Label::First).write(parts, out)
}

/// Prepares UCI's adult.data and adult.test; the latter begins with a comment and has a dot after
/// each label.
pub(crate) fn adult(parts: Vec<Part>, out: &mut Output<'_>) -> Result<(), DatasetError> {
    let header = "age,workclass,fnlwgt,education,education-num,marital-status,occupation,\
        relationship,race,sex,capital-gain,capital-loss,hours-per-week,native-country,class";
    Table {
        is_comment: |line| line.starts_with('|'),
        keep_row: |cells| !cells.contains(&"?"),
        // No other cell ends with a dot.
        convert_cell: |cell| Some(Cow::Borrowed(cell.strip_suffix('.').unwrap_or(cell))),
        ..Table::new(header, Separator::Comma, Label::Last)
    }
    .write(parts, out)
}

/// Prepares UCI's shuttle.trn and shuttle.tst.
pub(crate) fn shuttle(parts: Vec<Part>, out: &mut Output<'_>) -> Result<(), DatasetError> {
    let header = "time,a2,a3,a4,a5,a6,a7,a8,a9,class";
    Table::new(header, Separator::Blanks, Label::Last).write(parts, out)
}

/// Prepares UCI's covtype.data.
pub(crate) fn covertype(parts: Vec<Part>, out: &mut Output<'_>) -> Result<(), DatasetError> {
    let mut header = "Elevation,Aspect,Slope,Horizontal_Distance_To_Hydrology,\
        Vertical_Distance_To_Hydrology,Horizontal_Distance_To_Roadways,Hillshade_9am,\
        Hillshade_Noon,Hillshade_3pm,Horizontal_Distance_To_Fire_Points,"
        .to_owned();
    header.extend((1..=4).map(|area| format!("Wilderness_Area{area},")));
    header.extend((1..=40).map(|soil| format!("Soil_Type{soil},")));
    Table::new(header + "class", Separator::Comma, Label::Last).write(parts, out)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{part, prepared, prepared_texts},
        *,
    };

    fn rows(text: &str) -> Vec<&str> {
        text.lines().skip(1).collect()
    }

    #[test]
    fn image_segment_comments_are_removed() {
        let data = ";;; -*- Mode:Common-Lisp; Base:10 -*-\n;;; Last-edit\n\n\
            REGION-CENTROID-COL,REGION-CENTROID-ROW\n\n\
            BRICKFACE,140.0,125.0,9,0.0,0.0,0.2777779,0.06296301,0.66666675,0.31111118,6.185185,\
            7.3333335,7.6666665,3.5555556,3.4444444,4.4444447,-7.888889,7.7777777,0.5456349,\
            -1.1218182\n";
        let test = "SKY,1,2,9,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19\r\n";
        let text = prepared_texts(image_segment, &[data, test]).unwrap();
        assert!(text.starts_with("region-centroid-col,"));
        assert_eq!(
            rows(&text),
            [
                "140.0,125.0,9,0.0,0.0,0.2777779,0.06296301,0.66666675,0.31111118,6.185185,\
                 7.3333335,7.6666665,3.5555556,3.4444444,4.4444447,-7.888889,7.7777777,0.5456349,\
                 -1.1218182,BRICKFACE",
                "1,2,9,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,SKY",
            ]
        );
    }

    #[test]
    fn usps_pixels_have_the_shortest_decimals() {
        let train = format!("6.0000 -0.6310 0.8620 0.0000 -0.0000{} \n", " -1.0000".repeat(252));
        let test = format!("9{} 0.1 1\n", " -1".repeat(254));
        let text = prepared_texts(usps, &[&train, &test]).unwrap();
        assert!(text.starts_with("f0,f1,") && text.lines().next().unwrap().ends_with("f255,class"));
        let expected = format!("-0.631,0.862,0,0,{}6", "-1,".repeat(252));
        assert_eq!(rows(&text)[0], expected);
        assert_eq!(rows(&text)[1], format!("{}0.1,1,9", "-1,".repeat(254)));
        let broken = train.replacen("0.8620", "o.8620", 1);
        let message = prepared_texts(usps, &[&test, &broken]).unwrap_err().to_string();
        assert_eq!(message, "part 1, line 1: expected a number, found 'o.8620'");
    }

    #[test]
    fn the_letter_moves_to_the_last_column() {
        let text = prepared_texts(letter, &["T,2,8,3,5,1,8,13,0,6,6,10,8,0,8,0,8\n"]).unwrap();
        assert_eq!(rows(&text), ["2,8,3,5,1,8,13,0,6,6,10,8,0,8,0,8,T"]);
    }

    #[test]
    fn adult_rows_with_a_missing_cell_are_dropped() {
        let data = "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, \
            Not-in-family, White, Male, 2174, 0, 40, United-States, <=50K\n\
            18, ?, 103497, Some-college, 10, Never-married, ?, Own-child, White, Female, 0, 0, 30, \
            United-States, <=50K\n\n";
        let test = "|1x3 Cross validator\n\
            25, Private, 226802, 11th, 7, Never-married, Machine-op-inspct, Own-child, Black, \
            Male, 0, 0, 40, United-States, >50K.\n\n";
        let text = prepared_texts(adult, &[data, test]).unwrap();
        assert_eq!(
            rows(&text),
            [
                "39,State-gov,77516,Bachelors,13,Never-married,Adm-clerical,Not-in-family,White,\
                 Male,2174,0,40,United-States,<=50K",
                "25,Private,226802,11th,7,Never-married,Machine-op-inspct,Own-child,Black,Male,0,\
                 0,40,United-States,>50K",
            ]
        );
    }

    #[test]
    fn shuttle_cells_are_separated_by_blanks() {
        let text = prepared_texts(
            shuttle,
            &["50 21 77 0 28 0 27 48 22 2 \n", "55  0 81 0 -6 11 25 88 64 4"],
        )
        .unwrap();
        assert_eq!(rows(&text), ["50,21,77,0,28,0,27,48,22,2", "55,0,81,0,-6,11,25,88,64,4"]);
    }

    #[test]
    fn covertype_gets_a_header() {
        let row = format!("2596,51{}", ",0".repeat(53));
        let text = prepared_texts(covertype, &[&format!("{row}\n")]).unwrap();
        let header = text.lines().next().unwrap();
        assert!(header.contains(",Wilderness_Area4,Soil_Type1,Soil_Type2,"), "{header}");
        assert!(header.ends_with("Soil_Type39,Soil_Type40,class"));
        assert_eq!(header.split(',').count(), 55);
        assert_eq!(rows(&text), [row]);
    }

    #[test]
    fn rows_of_the_wrong_length_are_errors_with_their_line() {
        let message = prepared_texts(letter, &["\n\n<html>\n"]).unwrap_err().to_string();
        assert_eq!(message, "part 0, line 3: expected 17 cells, found 1");
        let long = "x".repeat(1 << 17);
        let message = prepared_texts(letter, &[&long]).unwrap_err().to_string();
        assert_eq!(message, "part 0, line 1: expected at most 65536 bytes, found more");
    }

    #[test]
    fn bytes_that_are_not_text_are_an_error() {
        let parts = vec![part("noise", vec![0xff, 0xfe, b'\n'])];
        let error = prepared(letter, parts).unwrap_err();
        assert!(matches!(error, DatasetError::Unreadable { .. }), "{error}");
    }
}
