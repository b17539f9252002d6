//! One run of one method on one stream with one seed, as stored on disk.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::error::Error;

/// The format that this version writes, and the newest one that it reads.
pub const RECORD_FORMAT: u64 = 1;

/// One run of one method on one stream with one seed.
///
/// Unknown fields are ignored, so that a record may carry more than this version shows. A metric
/// that is `null`, as JSON represents NaN, counts as not measured.
///
/// ```
/// use broadstream_report::Record;
///
/// let lines = r#"{"format": 1, "experiment": "table2", "stream": "letter", "method": "online-bls",
///     "seed": 0, "samples": 20000, "metrics": {"oca": 0.889, "log_loss": null}}"#;
/// let records = Record::read(lines, "results.jsonl")?;
/// assert_eq!(records[0].metrics["oca"], 0.889);
/// assert!(!records[0].metrics.contains_key("log_loss"));
///
/// let error = Record::read("{\"format\": 9}", "results.jsonl").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "results.jsonl, line 1: a record must have format 1 or older, got 9"
/// );
/// # Ok::<(), broadstream_report::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of this layout, 1.
    pub format: u64,
    /// The experiment that the run belongs to.
    pub experiment: String,
    /// The stream's key, such as `letter`.
    pub stream: String,
    /// The method's key, such as `online-bls`.
    pub method: String,
    /// The seed of the run. Default 0.
    #[serde(default)]
    pub seed: u64,
    /// The parameters that a sweep varies, such as `enhancement_nodes`. Default none.
    #[serde(default, deserialize_with = "skip_null")]
    pub parameters: BTreeMap<String, f64>,
    /// The number of evaluated samples. Default 0.
    #[serde(default)]
    pub samples: u64,
    /// Why the run stopped before the end of the stream. Default `None`: it did not.
    #[serde(default)]
    pub stopped: Option<String>,
    /// The metrics after the last sample, as fractions and seconds, never percent.
    ///
    /// A cited record may state a published standard deviation as `<metric>_sd`. Default none.
    #[serde(default, deserialize_with = "skip_null")]
    pub metrics: BTreeMap<String, f64>,
    /// The metrics over time. Default none.
    #[serde(default)]
    pub curve: Vec<CurvePoint>,
    /// The time per sample. Default `None`: not measured.
    #[serde(default)]
    pub update_time: Option<UpdateTime>,
    /// The configuration of the run. Default null.
    #[serde(default)]
    pub config: Value,
    /// The version of the program. Default empty.
    #[serde(default, deserialize_with = "null_as_empty")]
    pub version: String,
    /// The machine. Default empty.
    #[serde(default, deserialize_with = "null_as_empty")]
    pub machine: String,
    /// Whether the results are taken from a publication. Default no.
    #[serde(default)]
    pub cited: bool,
    /// A note for the reader about this run. Default `None`.
    #[serde(default)]
    pub note: Option<String>,
}

/// The metrics at one point of a stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The number of samples so far.
    pub sample: u64,
    /// The metrics over these samples, and those over the last window as `window_<metric>`.
    #[serde(flatten, deserialize_with = "skip_null")]
    pub values: BTreeMap<String, f64>,
}

/// The distribution of the time per sample, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateTime {
    /// The mean.
    #[serde(deserialize_with = "null_as_nan")]
    pub mean: f64,
    /// The standard deviation.
    #[serde(deserialize_with = "null_as_nan")]
    pub sd: f64,
    /// The minimum.
    #[serde(deserialize_with = "null_as_nan")]
    pub min: f64,
    /// The median.
    #[serde(deserialize_with = "null_as_nan")]
    pub median: f64,
    /// The 95th percentile.
    #[serde(deserialize_with = "null_as_nan")]
    pub p95: f64,
    /// The 99th percentile.
    #[serde(deserialize_with = "null_as_nan")]
    pub p99: f64,
    /// The maximum.
    #[serde(deserialize_with = "null_as_nan")]
    pub max: f64,
    /// The number of timed samples.
    pub samples: u64,
}

impl Record {
    /// Reads records from JSON: one object, several objects in a row such as JSON lines, or an array.
    ///
    /// `file` is the name to use in errors.
    pub fn read(text: &str, file: &str) -> Result<Vec<Record>, Error> {
        let failed = |cause: serde_json::Error| Error::Record {
            file: file.to_owned(),
            line: cause.line(),
            cause,
        };
        // The format is checked first: the fields of a newer one may have other types.
        for probe in documents::<FormatProbe>(text).map_err(failed)? {
            if probe.0.format > RECORD_FORMAT {
                return Err(Error::Format {
                    file: file.to_owned(),
                    line: probe.1,
                    found: probe.0.format,
                    newest: RECORD_FORMAT,
                });
            }
        }
        let records = documents::<Record>(text).map_err(failed)?;
        Ok(records.into_iter().map(|(record, _)| record).collect())
    }

    /// The value of a metric, if the run has a finite one.
    ///
    /// Besides the keys of `metrics` there are `update_time` (the mean), `update_time_p99` and the
    /// like, and `oce` as the complement of `oca`.
    pub fn metric(&self, key: &str) -> Option<f64> {
        value_of(&self.metrics, key)
            .or_else(|| self.update_time.and_then(|times| times.statistic(key)))
            .filter(|value| value.is_finite())
    }

    /// The metrics that any record has, in alphabetical order.
    pub(crate) fn metric_keys(records: &[Record]) -> Vec<String> {
        let mut keys: BTreeSet<&str> = BTreeSet::new();
        for record in records {
            keys.extend(record.metrics.keys().map(String::as_str));
            if record.update_time.is_some() {
                keys.insert("update_time");
            }
        }
        keys.into_iter().map(str::to_owned).collect()
    }
}

impl CurvePoint {
    /// The value of a metric at this point, if it has a finite one.
    pub fn metric(&self, key: &str) -> Option<f64> {
        value_of(&self.values, key).filter(|value| value.is_finite())
    }
}

impl UpdateTime {
    fn statistic(&self, key: &str) -> Option<f64> {
        Some(match key.strip_prefix("update_time")? {
            "" | "_mean" => self.mean,
            "_sd" => self.sd,
            "_min" => self.min,
            "_median" => self.median,
            "_p95" => self.p95,
            "_p99" => self.p99,
            "_max" => self.max,
            _ => return None,
        })
    }
}

fn value_of(values: &BTreeMap<String, f64>, key: &str) -> Option<f64> {
    let complement = match key {
        "oce" => "oca",
        "window_oce" => "window_oca",
        _ => "",
    };
    values.get(key).copied().or_else(|| values.get(complement).map(|accuracy| 1.0 - accuracy))
}

#[derive(Deserialize)]
struct FormatProbe {
    format: u64,
}

/// Parses the documents of a text, each with the line on which it ends.
fn documents<'a, T: Deserialize<'a>>(text: &'a str) -> serde_json::Result<Vec<(T, usize)>> {
    if text.trim_start().starts_with('[') {
        let list: Vec<T> = serde_json::from_str(text)?;
        return Ok(list.into_iter().map(|document| (document, 1)).collect());
    }
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<T>();
    let mut documents = Vec::new();
    let (mut line, mut counted) = (1, 0);
    while let Some(document) = stream.next() {
        let end = stream.byte_offset();
        line += text.as_bytes()[counted..end].iter().filter(|byte| **byte == b'\n').count();
        counted = end;
        documents.push((document?, line));
    }
    Ok(documents)
}

/// Deserialises numbers by name, without those that are `null`.
fn skip_null<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, f64>, D::Error> {
    let values: BTreeMap<String, Option<f64>> = Deserialize::deserialize(from)?;
    Ok(values.into_iter().filter_map(|(key, value)| Some((key, value?))).collect())
}

fn null_as_empty<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

fn null_as_nan<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"format":1,"experiment":"e","stream":"s","method":"m","metrics":{}}"#;

    #[test]
    fn lines_arrays_and_unknown_fields_are_read() {
        let lines = format!("{LINE}\n\n{LINE}\n");
        assert_eq!(Record::read(&lines, "f").unwrap().len(), 2);
        assert_eq!(Record::read(&format!("[{LINE},{LINE}]"), "f").unwrap().len(), 2);
        assert_eq!(Record::read("", "f").unwrap().len(), 0);
        let more = LINE.replace("\"metrics\"", "\"weather\":[1],\"machine\":null,\"metrics\"");
        assert_eq!(Record::read(&more, "f").unwrap().len(), 1);
    }

    #[test]
    fn an_error_names_file_and_line() {
        let text = format!("{LINE}\n{}", LINE.replace("\"s\"", "7"));
        let error = Record::read(&text, "runs.jsonl").unwrap_err().to_string();
        assert!(error.starts_with("runs.jsonl, line 2: "), "{error}");
        let newer = format!("{LINE}\n{{\"format\":2,\"stream\":[]}}");
        let error = Record::read(&newer, "runs.jsonl").unwrap_err().to_string();
        assert_eq!(error, "runs.jsonl, line 2: a record must have format 1 or older, got 2");
    }

    #[test]
    fn written_records_can_be_read_again() {
        let mut record = Record::read(LINE, "f").unwrap().remove(0);
        record.metrics.insert("oca".into(), 0.25);
        record.metrics.insert("mcc".into(), f64::NAN);
        record.curve.push(CurvePoint {
            sample: 10,
            values: [("oca".to_owned(), 0.5), ("f1".to_owned(), f64::NAN)].into(),
        });
        record.update_time = Some(UpdateTime { mean: 2e-6, ..UpdateTime::default() });
        let text = serde_json::to_string(&record).unwrap();
        let again = Record::read(&text, "f").unwrap().remove(0);
        assert_eq!(again.metric("oce"), Some(0.75));
        assert_eq!(again.metric("mcc"), None);
        assert_eq!(again.curve[0].metric("oca"), Some(0.5));
        assert_eq!(again.curve[0].metric("f1"), None);
        assert_eq!(again.metric("update_time"), Some(2e-6));
    }
}
