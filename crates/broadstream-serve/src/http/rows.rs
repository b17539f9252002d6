//! Rows and labels in the body of a request: JSON, JSON lines or Arrow.

use std::borrow::Cow;

use axum::http::{HeaderMap, StatusCode, header};
use broadstream_columnar::arrow_rows_as_json;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::problem::Problem;
use crate::{
    Settings,
    learning::{Label, LabelledRow, ServeError, excerpt},
};

/// The longest label, in bytes of JSON, and the longest idempotency key.
const LONGEST_LABEL: usize = 4096;
const LONGEST_KEY: usize = 255;

/// The format of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    JsonLines,
    Arrow,
}

impl Format {
    /// The format that the header of a request tells.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, Problem> {
        let text = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = text.map(|kind| kind.split(';').next().unwrap_or_default().trim());
        match kind.map(str::to_ascii_lowercase).as_deref() {
            Some("application/json") => Ok(Format::Json),
            Some("application/x-ndjson" | "application/jsonl") => Ok(Format::JsonLines),
            Some("application/vnd.apache.arrow.stream" | "application/vnd.apache.arrow.file") => {
                Ok(Format::Arrow)
            }
            found => Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "media-type",
                "the format of the request is not known",
                format!(
                    "content-type must be application/json, application/x-ndjson or \
                     application/vnd.apache.arrow.stream, got {}",
                    found.map_or("none".to_owned(), |found| format!("'{}'", excerpt(found)))
                ),
            )),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowsBody<'b> {
    #[serde(borrow)]
    rows: Vec<&'b RawValue>,
    weights: Option<Vec<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LabelsBody<'b> {
    #[serde(borrow)]
    labels: Vec<LabelBody<'b>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LabelBody<'b> {
    #[serde(borrow)]
    id: Cow<'b, str>,
    #[serde(borrow)]
    label: &'b RawValue,
    weight: Option<f64>,
}

/// The rows of a body, with their weights.
pub(crate) fn rows(
    headers: &HeaderMap,
    body: &[u8],
    settings: &Settings,
) -> Result<Vec<LabelledRow>, Problem> {
    let (texts, weights) = match Format::of(headers)? {
        Format::Json => {
            let RowsBody { rows, weights } = serde_json::from_slice(body).map_err(|e| json(&e))?;
            check_count(rows.len(), settings)?;
            let rows: Vec<Box<str>> = rows.into_iter().map(|row| row.get().into()).collect();
            (rows, weights)
        }
        Format::JsonLines => {
            let lines = lines(body)?;
            let rows: Vec<Box<str>> = lines.map(|(_, line)| line.into()).collect();
            (rows, None)
        }
        Format::Arrow => {
            let rows = arrow_rows_as_json(body.to_vec(), settings.rows)
                .map_err(|error| Problem::malformed(error.to_string()))?;
            (rows.into_iter().map(Into::into).collect(), None)
        }
    };
    check_count(texts.len(), settings)?;
    if let Some(weights) = &weights
        && weights.len() != texts.len()
    {
        let (rows, weights) = (texts.len(), weights.len());
        return Err(Problem::malformed(format!(
            "weights must be {rows}, one for each row, got {weights}"
        )));
    }
    let weights = weights.unwrap_or_else(|| vec![1.0; texts.len()]);
    let rows = texts.into_iter().zip(weights).zip(1_u64..);
    rows.map(|((text, weight), row)| {
        if !text.trim_start().starts_with('{') {
            return Err(Problem {
                row: Some(row),
                ..Problem::malformed(format!(
                    "row {row}: expected an object, found '{}'",
                    excerpt(&text)
                ))
            });
        }
        Ok(LabelledRow { text, weight })
    })
    .collect()
}

/// The labels of a body. An id must be one of the service that `read_id` understands; others stand for no
/// prediction.
pub(crate) fn labels(
    headers: &HeaderMap,
    body: &[u8],
    settings: &Settings,
    read_id: impl Fn(&str) -> u64,
) -> Result<(Vec<String>, Vec<Label>), Problem> {
    let labels: Vec<LabelBody<'_>> = match Format::of(headers)? {
        Format::Json => {
            let LabelsBody { labels } =
                serde_json::from_slice(body).map_err(|error| json(&error))?;
            labels
        }
        Format::JsonLines => lines(body)?
            .map(|(number, line)| {
                serde_json::from_str(line).map_err(|error| {
                    Problem::malformed(format!("line {number}: {}", reason(&error)))
                })
            })
            .collect::<Result<_, _>>()?,
        Format::Arrow => {
            return Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "media-type",
                "the format of the request is not known",
                "labels must be application/json or application/x-ndjson, got Arrow",
            ));
        }
    };
    check_count(labels.len(), settings)?;
    let mut ids = Vec::with_capacity(labels.len());
    let mut read = Vec::with_capacity(labels.len());
    for (LabelBody { id, label, weight }, row) in labels.into_iter().zip(1..) {
        let text = label.get();
        if !text.starts_with(['"', '-', 't', 'f', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
            || text.len() > LONGEST_LABEL
        {
            let rule = "a string, a number or a truth value of at most 4096 bytes";
            let detail = format!("label {row}: expected {rule}, found '{}'", excerpt(text));
            return Err(Problem { row: Some(row), ..Problem::malformed(detail) });
        }
        let weight = weight.unwrap_or(1.0);
        read.push(Label { id: read_id(&id), label: text.into(), weight });
        ids.push(id.into_owned());
    }
    Ok((ids, read))
}

/// The idempotency key of a request.
pub(crate) fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(key) = headers.get("idempotency-key") else { return Ok(None) };
    match key.to_str() {
        Ok(key) if (1..=LONGEST_KEY).contains(&key.len()) => Ok(Some(key.to_owned())),
        _ => Err(Problem::malformed(format!(
            "Idempotency-Key must be 1 to {LONGEST_KEY} printable ASCII characters, got {} bytes",
            key.len()
        ))),
    }
}

/// The lines that are not blank, with their numbers.
fn lines(body: &[u8]) -> Result<impl Iterator<Item = (usize, &str)>, Problem> {
    let text = std::str::from_utf8(body).map_err(|error| {
        Problem::malformed(format!("byte {}: expected UTF-8", error.valid_up_to() + 1))
    })?;
    Ok((1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()))
}

fn check_count(count: usize, settings: &Settings) -> Result<(), Problem> {
    if count == 0 {
        return Err(Problem::malformed("a request must have at least one row or label, got none"));
    }
    if count > settings.rows {
        let (limit, found) = (settings.rows as u64, count as u64);
        return Err(ServeError::Limit { what: "the rows of a request", limit, found }.into());
    }
    Ok(())
}

/// What is wrong with a JSON body, with the place.
pub(crate) fn json(error: &serde_json::Error) -> Problem {
    Problem::malformed(format!("line {}, byte {}: {}", error.line(), error.column(), reason(error)))
}

/// The same without the place.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    excerpt(text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason))
}
