//! From records to the files of an experiment: tables, figures and pages.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use broadstream_report::{
    ExperimentLink, ExperimentPage, Output, OverviewPage, Record, Rendered, experiment_page,
    overview_page, render,
};
use broadstream_store::write_bytes;
use serde::{Deserialize, Serialize};

use super::declaration::{Citation, Declaration};

/// Writes the tables, the figures and the page of an experiment into a folder. Returns the path of the page
/// and what is on it.
pub(crate) fn write(
    declaration: &Declaration,
    records: &[Record],
    folder: &Path,
) -> Result<(PathBuf, Rendered)> {
    let mut records: Vec<Record> =
        records.iter().flat_map(|record| shown_records(declaration, record)).collect();
    records.extend(declaration.cited.iter().map(cited));
    let rendered = render(&declaration.views, &records, &declaration.labels)?;
    fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    for view in &rendered.views {
        for (name, content) in view.files() {
            write_bytes(&folder.join(name), content)?;
        }
    }
    let page = experiment_page(&ExperimentPage {
        title: &declaration.title,
        description: &declaration.description,
        date: None,
        rendered: &rendered,
        records: &records,
        labels: &declaration.labels,
    })?;
    let path = folder.join("index.html");
    write_bytes(&path, page.as_bytes())?;
    let summary = Summary::of(declaration, &records, &rendered);
    write_bytes(&folder.join(SUMMARY), serde_json::to_string(&summary)?.as_bytes())?;
    Ok((path, rendered))
}

/// The records to show for a run: its own, or one for each point of its curve if the stream asks for that.
fn shown_records(declaration: &Declaration, record: &Record) -> Vec<Record> {
    let stream = declaration.streams.iter().find(|stream| stream.shown() == record.stream);
    let Some(parameter) = stream.and_then(|stream| stream.samples_as.as_ref()) else {
        return vec![record.clone()];
    };
    let points = record.curve.iter().map(|point| {
        let mut one = Record { curve: Vec::new(), update_time: None, ..record.clone() };
        one.parameters.insert(parameter.clone(), point.sample as f64);
        one.samples = point.sample;
        one.metrics.clone_from(&point.values);
        one
    });
    points.collect()
}

fn cited(citation: &Citation) -> Record {
    let Citation { stream, method, percent } = citation;
    Record {
        format: broadstream_report::RECORD_FORMAT,
        stream: stream.clone(),
        method: method.clone(),
        metrics: percent.iter().map(|(name, value)| (name.clone(), value / 100.0)).collect(),
        cited: true,
        ..Record::default()
    }
}

/// Writes the page that links to all experiments in a folder.
pub(crate) fn write_overview(folder: &Path) -> Result<()> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    let experiments = names.iter().filter_map(|name| link(folder, name)).collect();
    let page =
        OverviewPage { title: "Experiments".to_owned(), experiments, ..OverviewPage::default() };
    Ok(write_bytes(&folder.join("index.html"), overview_page(&page)?.as_bytes())?)
}

/// The link to an experiment, from the summary in its folder; `None` for a folder without one.
fn link(folder: &Path, name: &str) -> Option<ExperimentLink> {
    let text = fs::read_to_string(folder.join(name).join(SUMMARY)).ok()?;
    let summary: Summary = serde_json::from_str(&text).ok()?;
    let picture =
        summary.picture.and_then(|file| fs::read_to_string(folder.join(name).join(file)).ok());
    Some(ExperimentLink {
        title: summary.title,
        href: format!("{name}/index.html"),
        description: summary.description,
        size: summary.size,
        picture,
    })
}

/// The file that summarises the experiment of a folder.
const SUMMARY: &str = "summary.json";

#[derive(Serialize, Deserialize)]
struct Summary {
    title: String,
    description: String,
    size: String,
    /// The file of a figure.
    picture: Option<String>,
}

impl Summary {
    fn of(declaration: &Declaration, records: &[Record], rendered: &Rendered) -> Self {
        let count = |key: &dyn Fn(&Record) -> String| {
            records.iter().filter(|record| !record.cited).map(key).collect::<BTreeSet<_>>().len()
        };
        let plural = |count: usize, word: &str| {
            if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
        };
        let parts = [
            plural(count(&|record| record.stream.clone()), "stream"),
            plural(count(&|record| record.method.clone()), "method"),
            plural(count(&|record| record.seed.to_string()), "seed"),
        ];
        let figure = rendered.views.iter().find(|view| matches!(view.output, Output::Figure(_)));
        Summary {
            title: declaration.title.clone(),
            description: declaration.description.clone(),
            size: parts.join(" · "),
            picture: figure.map(|view| format!("{}.svg", view.name)),
        }
    }
}
