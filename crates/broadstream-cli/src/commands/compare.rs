//! `broadstream compare`: several models on one stream, in one pass.

use std::{
    io::{self, Write},
    ops::ControlFlow,
    time::Instant,
};

use anyhow::{Context, Result};
use broadstream::{Contestant, Observer, PrequentialOptions, metrics::Metrics};
use broadstream_report::{
    BarsView, CurvesView, ExperimentPage, Labels, Output, Record, TableView, View, experiment_page,
    render,
};

use crate::{
    args::{BadUsage, CompareArguments, ModelArguments},
    build::{
        decisions::read_costs,
        model::{self, Model},
        source::Source,
    },
    output::{
        failure::to_stdout,
        machine,
        printable::{printable, printable_lines},
        progress::Progress,
        record,
        reserved_file::ReservedFile,
    },
};

/// The metrics in the table.
const METRICS: [&str; 6] = ["oca", "bacc", "f1", "mcc", "kappa", "log_loss"];

pub(crate) fn compare(arguments: &CompareArguments) -> Result<()> {
    let CompareArguments { input, .. } = arguments;
    let options = PrequentialOptions {
        limit: input.limit,
        metrics_window: arguments.metrics_window,
        curve_every: Some(arguments.curve_every),
        separate_times: arguments.separate_times,
        delay: arguments.delay,
        costs: arguments.costs.as_deref().map(read_costs).transpose()?,
        ..PrequentialOptions::default()
    };
    options.check()?;
    let source = Source::parse(&arguments.source)?;
    let declared = declared(arguments)?;
    let preset = declared[0].1.preset;
    let categories = preset.categories();
    let alike = declared.iter().all(|(_, options)| options.preset.categories() == categories);
    if input.categories.is_none() && !alike {
        let rule = "presets differ in how they read categories: choose with --categories";
        return Err(BadUsage(rule.to_owned()).into());
    }
    // Before the source is opened, so that a file in use is refused at once.
    let report = arguments.report.as_deref().map(ReservedFile::new).transpose()?;
    let mut opened = source.open(input, preset)?;
    opened.warn(&source);
    let mut models = Vec::new();
    for (name, options) in &declared {
        let model = model::build(options, &source, input, &*opened.stream)
            .with_context(|| format!("model '{name}'"))?;
        models.push((name.clone(), model));
    }

    let start = Instant::now();
    let progress = Progress::new(&opened, input.limit, arguments.quiet);
    let mut observers: Vec<CompareObserver<'_>> = (0..models.len())
        .map(|i| CompareObserver { progress: (i == 0).then_some(&progress), start })
        .collect();
    let mut contestants: Vec<Contestant<'_>> = models
        .iter_mut()
        .zip(&mut observers)
        .map(|((_, model), observer)| Contestant { model: model.classifier_mut(), observer })
        .collect();
    let clock = || start.elapsed();
    let evaluations = broadstream::compare(&mut *opened.stream, &mut contestants, &options, &clock);
    progress.finish();
    let evaluations = evaluations.with_context(|| source.name())?;
    // A delay is a parameter of the records, so that they are not averaged with those of other delays.
    let delay = (options.delay > 0).then(|| ("delay".to_owned(), options.delay as f64));
    let records: Vec<Record> = models
        .into_iter()
        .zip(&evaluations)
        .map(|((name, Model { config, .. }), evaluation)| Record {
            experiment: "compare".to_owned(),
            stream: source.name(),
            method: name,
            parameters: delay.clone().into_iter().collect(),
            machine: machine::name(),
            ..record::of(evaluation, config)
        })
        .collect();
    // Before anything is printed: whoever closes the pipe still wants the page.
    if let Some(report) = report {
        report.write(page(&source.name(), &records)?.as_bytes())?;
    }
    show(arguments, &source.name(), &records)
}

/// The names of the models and their options. There is at least one, since --models has a default.
fn declared(arguments: &CompareArguments) -> Result<Vec<(String, ModelArguments)>> {
    let mut declared = Vec::new();
    let plain = arguments.models.iter().map(|model| {
        let name = model.name();
        (name.clone(), format!("--model {name}"))
    });
    for (name, options) in plain.chain(arguments.with.iter().cloned()) {
        if declared.iter().any(|(known, _)| *known == name) {
            return Err(BadUsage(format!("two models are called '{name}'")).into());
        }
        let parsed = model::parse_options(options.split_whitespace().map(str::to_owned))
            .with_context(|| format!("model '{name}'"))?;
        declared.push((name, parsed));
    }
    Ok(declared)
}

fn show(arguments: &CompareArguments, source: &str, records: &[Record]) -> Result<()> {
    if arguments.json {
        let text = serde_json::to_string(records)? + "\n";
        to_stdout(io::stdout().write_all(text.as_bytes()))?;
    } else {
        let labels = Labels::default();
        let rendered = render(&[table(records)], records, &labels)?;
        if let Some(Output::Table(table)) = rendered.views.first().map(|view| &view.output) {
            let samples = records.first().map_or(0, |record| record.samples);
            let (source, table) = (printable(source), printable_lines(&table.markdown));
            let text = format!("{source}: {samples} samples\n\n{table}");
            to_stdout(io::stdout().write_all(text.as_bytes()))?;
        }
    }
    Ok(())
}

fn table(records: &[Record]) -> View {
    let timed = records.iter().any(|record| record.update_time.is_some());
    let has_costs = records.iter().any(|record| record.metrics.contains_key("cost"));
    let cost: &[&str] = if has_costs { &["cost", "coverage"] } else { &[] };
    let speed = if timed { "update_time" } else { "samples_per_second" };
    View::Table(TableView {
        title: "Metrics".to_owned(),
        columns: "metric".to_owned(),
        metrics: METRICS.iter().chain(cost).chain([&speed]).map(|m| (*m).to_owned()).collect(),
        ..TableView::default()
    })
}

fn page(source: &str, records: &[Record]) -> Result<String> {
    let curves = |title: &str, metric: &str| {
        View::Curves(CurvesView {
            title: title.to_owned(),
            metric: metric.to_owned(),
            ..CurvesView::default()
        })
    };
    let mut views = vec![
        table(records),
        curves("Accuracy so far", "oca"),
        curves("Accuracy of the last samples", "window_oca"),
    ];
    if records.iter().any(|record| record.update_time.is_some()) {
        views.push(View::Bars(BarsView {
            title: "Time to learn a sample".to_owned(),
            log: true,
            ..BarsView::default()
        }));
    }
    let labels = Labels::default();
    let rendered = render(&views, records, &labels)?;
    Ok(experiment_page(&ExperimentPage {
        title: &format!("Models on {source}"),
        description: "Each model predicts every sample before it learns it.",
        date: None,
        rendered: &rendered,
        records,
        labels: &labels,
    })?)
}

/// Shows the progress of the first model; all models learn the same sample at the same time.
struct CompareObserver<'a> {
    progress: Option<&'a Progress>,
    start: Instant,
}

impl Observer for CompareObserver<'_> {
    fn block(&mut self, metrics: &Metrics) -> ControlFlow<()> {
        if let Some(progress) = self.progress {
            progress.show(metrics, self.start.elapsed());
        }
        ControlFlow::Continue(())
    }
}
