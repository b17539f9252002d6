//! Builds a table from runs: selects the runs of each cell, formats its numbers and ranks it.

use crate::{
    error::Error,
    labels::{Labels, Metric},
    number,
    record::Record,
    select::{Filter, Selection, Series, distinct},
    summary::Summary,
    table::{Cell, Heading, Rank, Row, Table, rank::rank},
    view::{TableView, or_default},
};

/// One row or column of a table, and the runs that belong to it.
#[derive(Clone, Default)]
struct Line {
    label: String,
    key: String,
    stream: Option<String>,
    series: Option<Series>,
    parameter: Option<(String, f64)>,
}

impl Line {
    fn contains(&self, record: &Record) -> bool {
        self.stream.as_ref().is_none_or(|stream| record.stream == *stream)
            && self.series.as_ref().is_none_or(|series| series.matches(record))
            && self
                .parameter
                .as_ref()
                .is_none_or(|(name, value)| record.parameters.get(name) == Some(value))
    }

    fn cited(&self) -> bool {
        self.series.as_ref().is_some_and(|series| series.cited)
    }
}

pub(crate) fn build(view: &TableView, records: &[Record], labels: &Labels) -> Result<Table, Error> {
    let (row_kind, column_kind) =
        (or_default(&view.rows, "method"), or_default(&view.columns, "stream"));
    check(view, row_kind, column_kind, records)?;
    let filter = Filter::new(&view.title, &view.streams, &view.methods, &view.only);
    let selection = filter.select(records);
    let metrics: Vec<String> =
        if view.metrics.is_empty() { vec!["oca".to_owned()] } else { view.metrics.clone() };
    let rows = lines(row_kind, &selection, labels);
    let across = match column_kind {
        "metric" => vec![Line::default()],
        kind => lines(kind, &selection, labels),
    };
    let columns: Vec<(&Line, &String)> =
        across.iter().flat_map(|line| metrics.iter().map(move |metric| (line, metric))).collect();

    let mut table = Table {
        corner: corner(row_kind, labels),
        groups: Vec::new(),
        columns: columns.iter().map(|(line, key)| heading(line, key, &metrics, labels)).collect(),
        rows: Vec::new(),
        legend: String::new(),
        notes: Vec::new(),
    };
    if column_kind != "metric" && metrics.len() > 1 {
        let group = |line: &Line| (mark_cited(&line.label, line.cited()), metrics.len());
        table.groups = across.iter().map(group).collect();
    }
    let mut stops = Vec::new();
    for row in &rows {
        let mut cells = Vec::with_capacity(columns.len());
        for (column, metric) in &columns {
            cells.push(cell(&selection, row, column, metric, labels, &mut stops)?);
        }
        table.rows.push(Row {
            label: row.label.clone(),
            key: row.key.clone(),
            cited: row.cited(),
            cells,
        });
    }
    print_numbers(&mut table, view.decimals, labels, &selection);
    // Different metrics cannot be ranked against each other.
    if row_kind != "stream" || column_kind != "metric" {
        rank(&mut table, labels, row_kind == "stream");
    }
    table.legend = legend(&table, &metrics, column_kind, labels);
    table.notes = notes(&selection, &stops);
    Ok(table)
}

fn check(view: &TableView, rows: &str, columns: &str, records: &[Record]) -> Result<(), Error> {
    let refuse = |option, rule, value: &str| {
        Err(Error::View { view: view.title.clone(), option, rule, value: value.to_owned() })
    };
    if !["stream", "method", "metric"].contains(&columns) {
        return refuse("columns", "stream, method or metric", columns);
    }
    if rows == columns {
        return refuse("columns", "different from rows", columns);
    }
    let is_parameter = || records.iter().any(|record| record.parameters.contains_key(rows));
    if rows != "method" && rows != "stream" && !records.is_empty() && !is_parameter() {
        return refuse("rows", "method, stream or a parameter of the runs", rows);
    }
    Ok(())
}

fn lines(kind: &str, selection: &Selection, labels: &Labels) -> Vec<Line> {
    match kind {
        "stream" => selection
            .streams
            .iter()
            .map(|stream| Line {
                label: labels.stream(stream),
                key: stream.clone(),
                stream: Some(stream.clone()),
                ..Line::default()
            })
            .collect(),
        "method" => selection
            .series
            .iter()
            .map(|series| Line {
                label: labels.method(&series.method),
                key: series.method.clone(),
                series: Some(series.clone()),
                ..Line::default()
            })
            .collect(),
        parameter => selection
            .values_of(parameter)
            .into_iter()
            .map(|value| Line {
                label: number::parameter(value),
                key: value.to_string(),
                parameter: Some((parameter.to_owned(), value)),
                ..Line::default()
            })
            .collect(),
    }
}

fn corner(kind: &str, labels: &Labels) -> String {
    match kind {
        "method" => "Method".to_owned(),
        "stream" => "Stream".to_owned(),
        parameter => labels.parameter(parameter),
    }
}

fn heading(line: &Line, metric: &str, metrics: &[String], labels: &Labels) -> Heading {
    let shown = labels.metric(metric);
    let alone = !line.label.is_empty() && metrics.len() == 1;
    Heading {
        label: if alone {
            line.label.clone()
        } else {
            format!("{} {}", shown.label, if shown.lower_is_better { "↓" } else { "↑" })
        },
        cited: alone && line.cited(),
        key: line.key.clone(),
        metric: metric.to_owned(),
    }
}

pub(crate) fn mark_cited(label: &str, cited: bool) -> String {
    if cited { format!("{label}†") } else { label.to_owned() }
}

/// A run that stopped before the end of its stream.
#[derive(PartialEq)]
struct Stop {
    method: String,
    stream: String,
    reason: String,
    samples: u64,
}

fn cell(
    selection: &Selection,
    row: &Line,
    column: &Line,
    metric: &str,
    labels: &Labels,
    stops: &mut Vec<Stop>,
) -> Result<Option<Cell>, Error> {
    let in_cell = |record: &&&Record| row.contains(record) && column.contains(record);
    let runs: Vec<&Record> = selection.records.iter().filter(in_cell).copied().collect();
    let Some(summary) = selection.summary(&runs, metric)? else { return Ok(None) };
    let mut stopped = false;
    for run in &runs {
        if let Some(reason) = &run.stopped {
            stopped = true;
            let stop = Stop {
                method: labels.method(&run.method),
                stream: labels.stream(&run.stream),
                reason: reason.clone(),
                samples: run.samples,
            };
            if !stops.contains(&stop) {
                stops.push(stop);
            }
        }
    }
    Ok(Some(Cell {
        stopped,
        raw_mean: summary.mean,
        raw_sd: summary.sd,
        runs: summary.runs,
        ..Cell::default()
    }))
}

/// Formats the numbers of all cells; those of one metric have the same number of decimals.
fn print_numbers(
    table: &mut Table,
    decimals: Option<usize>,
    labels: &Labels,
    selection: &Selection,
) {
    let any_cited = selection.records.iter().any(|record| record.cited);
    let keys = distinct(table.columns.iter().map(|column| column.metric.clone()));
    for key in keys {
        let metric = labels.metric(&key);
        let of_metric: Vec<usize> = (0..table.columns.len())
            .filter(|column| table.columns[*column].metric == key)
            .collect();
        let smallest = table
            .rows
            .iter()
            .flat_map(|row| of_metric.iter().filter_map(|column| row.cells[*column].as_ref()))
            .map(|cell| (cell.raw_mean * metric.scale).abs())
            .filter(|value| *value > 0.0)
            .fold(f64::INFINITY, f64::min);
        let fitting = match metric.decimals {
            Some(2) if any_cited => 1,
            Some(decimals) => decimals,
            None => number::decimals_for(smallest),
        };
        let decimals = decimals.unwrap_or(fitting).min(12);
        for row in &mut table.rows {
            for column in &of_metric {
                if let Some(cell) = &mut row.cells[*column] {
                    print_cell(cell, &metric, decimals);
                }
            }
        }
    }
}

fn print_cell(cell: &mut Cell, metric: &Metric, decimals: usize) {
    let shown = Summary { mean: cell.raw_mean, sd: cell.raw_sd, runs: cell.runs };
    let shown = shown.scaled(metric.scale);
    cell.mean = number::fixed(shown.mean, decimals);
    // With one decimal, most standard deviations of percentages would print as zero.
    let spread_decimals = if metric.decimals == Some(2) { decimals.max(2) } else { decimals };
    cell.sd = shown.sd.map(|sd| number::fixed(sd, spread_decimals));
}

fn legend(table: &Table, metrics: &[String], column_kind: &str, labels: &Labels) -> String {
    let cells = || table.rows.iter().flat_map(|row| row.cells.iter().flatten());
    let mut parts = Vec::new();
    let most = cells().map(|cell| cell.runs).max().unwrap_or(0);
    let what = match metrics {
        [metric] if column_kind != "metric" => {
            let metric = labels.metric(metric);
            let better = if metric.lower_is_better { "lower" } else { "higher" };
            format!("{}, {better} is better", metric.label)
        }
        _ => String::new(),
    };
    if !what.is_empty() {
        parts.push(what);
    }
    if most > 1 {
        parts.push(format!("mean ± standard deviation over {most} seeds"));
    }
    if cells().any(|cell| cell.rank == Rank::Best) {
        parts.push("best in bold, second best underlined".to_owned());
    }
    let text = parts.join("; ");
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str()),
        None => text,
    }
}

fn notes(selection: &Selection, stops: &[Stop]) -> Vec<(String, String)> {
    let mut notes = Vec::new();
    if selection.series.iter().any(|series| series.cited) {
        notes.push(("†".to_owned(), "Published result, not rerun here.".to_owned()));
    }
    let kinds = distinct(stops.iter().map(|stop| (stop.method.clone(), stop.reason.clone())));
    for (method, reason) in kinds {
        let alike = || stops.iter().filter(|stop| stop.method == method && stop.reason == reason);
        let streams = distinct(alike().map(|stop| stop.stream.clone()));
        let least = alike().map(|stop| stop.samples).min().unwrap_or(0);
        let most = alike().map(|stop| stop.samples).max().unwrap_or(0);
        let prefix = if least == most {
            number::count(least)
        } else {
            format!("{}–{}", number::count(least), number::count(most))
        };
        let place = match streams.as_slice() {
            [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            streams => streams.join(""),
        };
        let text = format!(
            "{method} on {place} covers only the first {prefix} samples and is not ranked: {reason}."
        );
        notes.push(("*".to_owned(), text));
    }
    notes
}
