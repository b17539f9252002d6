//! Selects the runs of a view, orders its streams and methods, and makes sure that no average mixes
//! different kinds of runs.

use std::collections::BTreeMap;

use crate::{error::Error, record::Record, summary::Summary};

/// A method as a line or a row. Results cited from a publication are a series of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Series {
    pub(crate) method: String,
    pub(crate) cited: bool,
}

/// The runs of one view, with its streams and methods in the order shown.
pub(crate) struct Selection<'a> {
    pub(crate) view: &'a str,
    pub(crate) records: Vec<&'a Record>,
    pub(crate) streams: Vec<String>,
    pub(crate) series: Vec<Series>,
}

/// A stream, and the values of its series that have one, each with the series' position in the selection.
pub(crate) type OfStream<'a, T> = (&'a str, Vec<(usize, T)>);

/// The runs that a view requests.
#[derive(Clone, Copy)]
pub(crate) struct Filter<'a> {
    view: &'a str,
    streams: &'a [String],
    methods: &'a [String],
    only: &'a BTreeMap<String, f64>,
}

impl<'a> Filter<'a> {
    pub(crate) fn new(
        view: &'a str,
        streams: &'a [String],
        methods: &'a [String],
        only: &'a BTreeMap<String, f64>,
    ) -> Self {
        Filter { view, streams, methods, only }
    }

    pub(crate) fn select(&self, records: &'a [Record]) -> Selection<'a> {
        let wanted = |list: &[String], key: &String| list.is_empty() || list.contains(key);
        let kept: Vec<&Record> = records
            .iter()
            .filter(|record| wanted(self.streams, &record.stream))
            .filter(|record| wanted(self.methods, &record.method))
            .filter(|record| record.cited || self.matches(record))
            .collect();
        let mut streams = distinct(kept.iter().map(|record| record.stream.clone()));
        let mut series = distinct(
            kept.iter().map(|record| Series { method: record.method.clone(), cited: record.cited }),
        );
        let place = |list: &[String], key: &String| list.iter().position(|entry| entry == key);
        streams.sort_by_key(|stream| place(self.streams, stream));
        // Without a stated order, cited results come first, as is customary in tables.
        if self.methods.is_empty() {
            series.sort_by_key(|series| !series.cited);
        } else {
            series.sort_by_key(|series| (place(self.methods, &series.method), !series.cited));
        }
        Selection { view: self.view, records: kept, streams, series }
    }

    fn matches(&self, record: &Record) -> bool {
        self.only.iter().all(|(name, value)| record.parameters.get(name) == Some(value))
    }
}

impl<'a> Selection<'a> {
    /// Drops cited results.
    pub(crate) fn without_cited(mut self) -> Self {
        self.records.retain(|record| !record.cited);
        self.series.retain(|series| !series.cited);
        let records = &self.records;
        self.streams.retain(|stream| records.iter().any(|record| record.stream == *stream));
        self
    }

    /// The runs of one method on one stream.
    pub(crate) fn of(&self, stream: &str, series: &Series) -> Vec<&'a Record> {
        let same = |record: &&&Record| record.stream == stream && series.matches(record);
        self.records.iter().filter(same).copied().collect()
    }

    /// Computes a value from the runs of each series on each stream. Series without a value are omitted,
    /// and so are streams without any.
    pub(crate) fn by_stream<T>(
        &self,
        value: impl Fn(&[&Record]) -> Result<Option<T>, Error>,
    ) -> Result<Vec<OfStream<'_, T>>, Error> {
        let mut streams = Vec::new();
        for stream in &self.streams {
            let mut values = Vec::new();
            for (position, series) in self.series.iter().enumerate() {
                if let Some(value) = value(&self.of(stream, series))? {
                    values.push((position, value));
                }
            }
            if !values.is_empty() {
                streams.push((stream.as_str(), values));
            }
        }
        Ok(streams)
    }

    /// The values of a parameter among the runs, in increasing order.
    pub(crate) fn values_of(&self, parameter: &str) -> Vec<f64> {
        let values = self.records.iter().filter_map(|record| record.parameters.get(parameter));
        let mut values: Vec<f64> = values.copied().filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    }

    /// Summarises a metric over runs that may differ only in their seed.
    pub(crate) fn summary(&self, runs: &[&Record], metric: &str) -> Result<Option<Summary>, Error> {
        self.check_alike(runs)?;
        let mut summary = Summary::of(runs.iter().filter_map(|run| run.metric(metric)));
        // A cited result is one record, which states the published standard deviation.
        if let (Some(summary), [run]) = (&mut summary, runs)
            && run.cited
        {
            summary.sd = run.metric(&format!("{metric}_sd"));
        }
        Ok(summary)
    }

    /// Returns an error if runs differ in more than their seed, or share a seed.
    pub(crate) fn check_alike(&self, runs: &[&Record]) -> Result<(), Error> {
        let Some((first, rest)) = runs.split_first() else { return Ok(()) };
        let place = format!("{} on {}", first.method, first.stream);
        let mixed = |differs: &str, values: [String; 2]| Error::MixedRuns {
            view: self.view.to_owned(),
            place: place.clone(),
            differs: differs.to_owned(),
            values: values.join(" and "),
        };
        for run in rest {
            if run.stream != first.stream {
                return Err(mixed("stream", [first.stream.clone(), run.stream.clone()]));
            }
            if run.method != first.method {
                return Err(mixed("method", [first.method.clone(), run.method.clone()]));
            }
            if run.cited != first.cited {
                return Err(mixed("cited", [first.cited.to_string(), run.cited.to_string()]));
            }
            let names = first.parameters.keys().chain(run.parameters.keys());
            for name in names {
                let (a, b) = (first.parameters.get(name), run.parameters.get(name));
                if a != b {
                    let text = |v: Option<&f64>| v.map_or("none".into(), f64::to_string);
                    return Err(mixed(name, [text(a), text(b)]));
                }
            }
        }
        let mut seeds: Vec<u64> = runs.iter().map(|run| run.seed).collect();
        seeds.sort_unstable();
        match seeds.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => {
                Err(Error::DuplicateRun { view: self.view.to_owned(), place, seed: pair[0] })
            }
            None => Ok(()),
        }
    }
}

impl Series {
    pub(crate) fn matches(&self, record: &Record) -> bool {
        record.method == self.method && record.cited == self.cited
    }
}

/// The distinct values, in order of appearance.
pub(crate) fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}
