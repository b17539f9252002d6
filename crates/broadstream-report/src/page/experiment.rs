//! The page of one experiment: its setup, its tables and figures, and a list of all runs.

use minijinja::Value;
use serde::Serialize;

use crate::{
    error::Error,
    labels::Labels,
    number,
    page::{markup, render_template},
    record::Record,
    render::{Output, Rendered, RenderedView, TableOutput},
    select::distinct,
};

/// The content of an experiment's page.
#[derive(Clone, Copy, Debug)]
pub struct ExperimentPage<'a> {
    /// The title.
    pub title: &'a str,
    /// The question that the experiment answers, in a paragraph. May be empty.
    pub description: &'a str,
    /// The date of the experiment, as text; this crate reads no clock.
    pub date: Option<&'a str>,
    /// The rendered views.
    pub rendered: &'a Rendered,
    /// The runs.
    pub records: &'a [Record],
    /// The labels with which the views were rendered.
    pub labels: &'a Labels,
}

#[derive(Serialize)]
struct Context {
    title: String,
    description: String,
    facts: Vec<(String, String)>,
    views: Vec<ViewContext>,
    run_head: Vec<String>,
    runs: Vec<Vec<String>>,
}

#[derive(Serialize)]
struct ViewContext {
    name: String,
    title: String,
    caption: String,
    number: String,
    picture: Value,
    table: Value,
    sources: Vec<(&'static str, String)>,
}

/// A self-contained page with all views of an experiment.
pub fn experiment_page(page: &ExperimentPage) -> Result<String, Error> {
    let (run_head, runs) = runs(page.records, page.labels);
    let (mut tables, mut figures) = (0, 0);
    let views = page.rendered.views.iter().map(|view| {
        let number = match view.output {
            Output::Table(_) => {
                tables += 1;
                format!("Table {tables}")
            }
            Output::Figure(_) => {
                figures += 1;
                format!("Figure {figures}")
            }
        };
        view_context(view, number)
    });
    let views = views.collect();
    render_template(
        "experiment.html",
        Context {
            title: page.title.to_owned(),
            description: page.description.to_owned(),
            facts: facts(page),
            views,
            run_head,
            runs,
        },
    )
}

fn view_context(view: &RenderedView, number: String) -> ViewContext {
    let sources_of = |table: &TableOutput| {
        vec![("LaTeX", table.latex.clone()), ("Markdown", table.markdown.clone())]
    };
    let (picture, table, mut sources) = match &view.output {
        Output::Table(table) => {
            let mut sources = sources_of(table);
            sources.push(("CSV", table.csv.clone()));
            (markup(""), markup(&table.html), sources)
        }
        Output::Figure(figure) => {
            let table = figure.table.as_ref();
            let mut sources = vec![("CSV", figure.csv.clone())];
            sources.extend(table.map(sources_of).unwrap_or_default());
            (markup(&figure.svg), markup(table.map_or("", |table| &table.html)), sources)
        }
    };
    sources.retain(|(_, text)| !text.is_empty());
    ViewContext {
        name: view.name.clone(),
        title: view.title.clone(),
        caption: view.caption.clone(),
        number,
        picture,
        table,
        sources,
    }
}

/// The setup of the experiment in a few lines.
fn facts(page: &ExperimentPage) -> Vec<(String, String)> {
    let own = || page.records.iter().filter(|record| !record.cited);
    let list = |values: Vec<String>| values.join(", ");
    let streams = distinct(page.records.iter().map(|record| page.labels.stream(&record.stream)));
    let methods = distinct(own().map(|record| page.labels.method(&record.method)));
    let cited = distinct(
        page.records
            .iter()
            .filter(|record| record.cited)
            .map(|record| page.labels.method(&record.method)),
    );
    let mut seeds = distinct(own().map(|record| record.seed));
    seeds.sort_unstable();
    let samples: u64 = own().map(|record| record.samples).sum();
    let stopped = own().filter(|record| record.stopped.is_some()).count();
    let mut facts = vec![
        ("Streams".to_owned(), list(streams)),
        ("Methods".to_owned(), list(methods)),
        ("Cited".to_owned(), list(cited)),
        ("Seeds".to_owned(), seed_range(&seeds)),
        ("Runs".to_owned(), number::count(own().count() as u64)),
        ("Samples in total".to_owned(), number::count(samples)),
    ];
    if stopped > 0 {
        facts.push(("Stopped early".to_owned(), number::count(stopped as u64)));
    }
    facts.push(("Machine".to_owned(), list(distinct(own().map(|r| r.machine.clone())))));
    facts.push(("Version".to_owned(), list(distinct(own().map(|r| r.version.clone())))));
    facts.push(("Date".to_owned(), page.date.unwrap_or_default().to_owned()));
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

fn seed_range(seeds: &[u64]) -> String {
    match (seeds.first(), seeds.last()) {
        (Some(first), Some(last)) if seeds.len() > 2 && last - first + 1 == seeds.len() as u64 => {
            format!("{} ({first} to {last})", seeds.len())
        }
        _ => seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// A table of all runs: its header and its rows.
fn runs(records: &[Record], labels: &Labels) -> (Vec<String>, Vec<Vec<String>>) {
    let mut parameters: Vec<&String> = records.iter().flat_map(|r| r.parameters.keys()).collect();
    parameters.sort();
    parameters.dedup();
    let metrics: Vec<String> =
        Record::metric_keys(records).into_iter().filter(|key| !key.ends_with("_sd")).collect();
    let mut head: Vec<String> = ["Stream", "Method", "Seed"].map(str::to_owned).to_vec();
    head.extend(parameters.iter().map(|key| labels.parameter(key)));
    head.push("Samples".to_owned());
    head.extend(metrics.iter().map(|key| labels.metric(key).label));
    head.push("Remarks".to_owned());
    let lines = records.iter().map(|record| {
        let mut line = vec![
            labels.stream(&record.stream),
            labels.method(&record.method),
            if record.cited { "–".to_owned() } else { record.seed.to_string() },
        ];
        let values = parameters.iter().map(|key| record.parameters.get(*key).copied());
        line.extend(values.map(|value| value.map_or("–".to_owned(), number::parameter)));
        line.push(if record.cited { "–".to_owned() } else { number::count(record.samples) });
        line.extend(metrics.iter().map(|key| {
            let metric = labels.metric(key);
            record.metric(key).map_or("–".to_owned(), |value| {
                let value = value * metric.scale;
                metric
                    .decimals
                    .map_or_else(|| number::significant(value), |d| number::fixed(value, d))
            })
        }));
        let cited = record.cited.then(|| "cited".to_owned());
        let stopped = record.stopped.as_ref().map(|reason| format!("stopped: {reason}"));
        let remarks: Vec<String> =
            [cited, stopped, record.note.clone()].into_iter().flatten().collect();
        line.push(remarks.join("; "));
        line
    });
    (head, lines.collect())
}
