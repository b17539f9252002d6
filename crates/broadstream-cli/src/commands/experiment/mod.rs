//! `broadstream experiment`: runs what a file declares, and writes tables, figures and a page.
//!
//! [`declaration`] reads the file ([`built_in`] has those that come with the program), [`mod@plan`] lists the runs
//! that it takes, [`runner`] carries them out ([`peer`] those of other libraries), [`pages`] shows the records.
//! [`stability`] is the one experiment that is not about streams.

mod built_in;
mod declaration;
mod pages;
mod peer;
mod plan;
#[cfg(feature = "dense-baselines")]
mod residuals;
mod runner;
mod stability;

use std::{
    io::{self, Write},
    path::Path,
};

use anyhow::Result;
use broadstream_report::{Output, Record, Rendered};

use self::{
    declaration::Declaration,
    plan::{PlannedMethod, plan},
    runner::Runner,
};
use crate::{
    args::{BadUsage, ExperimentArguments},
    output::{
        failure::to_stdout,
        printable::{note, printable_lines},
    },
};

pub(crate) fn experiment(arguments: &ExperimentArguments) -> Result<()> {
    let Some(name) = &arguments.name else { return list() };
    let (name, mut declaration, folder) = find(name)?;
    adjust(&mut declaration, arguments)?;
    let folder = folder.as_deref();
    let output = arguments.output.join(&name);
    let records = match &declaration.stability {
        Some(stability) => stability.records(&name, declaration.seeds)?,
        None => runs(&name, &declaration, folder, &output, arguments)?,
    };
    let (page, rendered) = pages::write(&declaration, &records, &output)?;
    pages::write_overview(&arguments.output)?;
    if !arguments.quiet && lacks_png(&rendered) {
        note(
            "figures are written as SVG only: PNG needs a build with --features png, as 'make build' \
             makes it",
        );
    }
    let mut text = tables(&rendered);
    text += &format!("{}\n", page.display());
    to_stdout(io::stdout().write_all(printable_lines(&text).as_bytes()))
}

fn runs(
    name: &str,
    declaration: &Declaration,
    folder: Option<&Path>,
    output: &Path,
    arguments: &ExperimentArguments,
) -> Result<Vec<Record>> {
    let mut runs = plan(declaration, folder, arguments.folder.data.as_deref())?;
    if arguments.without_peers {
        runs.retain(|run| matches!(run.contestant, PlannedMethod::Model(_)));
    }
    // Parallel runs would distort each other's times.
    let jobs = arguments.jobs.unwrap_or_else(|| if declaration.times { 1 } else { processors() });
    let runner = Runner {
        experiment: name,
        records: output.join("records"),
        jobs,
        quiet: arguments.quiet,
        peers: arguments.peers.clone(),
    };
    runner.run(&runs)
}

/// The name and the declaration of an experiment, built in or in a file, and the folder of that file.
fn find(name: &str) -> Result<(String, Declaration, Option<std::path::PathBuf>)> {
    let path = Path::new(name);
    if path.extension().is_some_and(|extension| extension == "toml") {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let folder = path.parent().map(Path::to_owned);
        return Ok((stem, Declaration::read(path)?, folder));
    }
    match built_in::find(name) {
        Some(text) => Ok((name.to_owned(), Declaration::parse(text, name)?, None)),
        None => {
            let known: Vec<&str> = built_in::EXPERIMENTS.iter().map(|(name, _)| *name).collect();
            let rule = format!(
                "there is no experiment '{name}': expected one of {}, or a file that ends in .toml",
                known.join(", ")
            );
            Err(BadUsage(rule).into())
        }
    }
}

/// Applies the options of the command line to a declaration.
fn adjust(declaration: &mut Declaration, arguments: &ExperimentArguments) -> Result<()> {
    if let Some(seeds) = arguments.seeds {
        declaration.seeds = seeds;
    }
    let limits = [declaration.limit, arguments.limit];
    declaration.limit = limits.into_iter().flatten().min();
    let streams: Vec<String> =
        declaration.streams.iter().map(|stream| stream.name.clone()).collect();
    check_chosen("--streams", &arguments.streams, &streams)?;
    let methods: Vec<String> =
        declaration.methods.iter().map(|method| method.name.clone()).collect();
    check_chosen("--methods", &arguments.methods, &methods)?;
    let chosen = |list: &[String], name: &str| list.is_empty() || list.iter().any(|n| n == name);
    declaration.streams.retain(|stream| chosen(&arguments.streams, &stream.name));
    declaration.methods.retain(|method| chosen(&arguments.methods, &method.name));
    declaration.cited.retain(|citation| chosen(&arguments.streams, &citation.stream));
    Ok(())
}

fn check_chosen(option: &str, chosen: &[String], declared: &[String]) -> Result<()> {
    match chosen.iter().find(|name| !declared.contains(name)) {
        Some(name) => {
            let declared = declared.join(", ");
            Err(BadUsage(format!("{option} must be among {declared}, got {name}")).into())
        }
        None => Ok(()),
    }
}

fn lacks_png(rendered: &Rendered) -> bool {
    rendered
        .views
        .iter()
        .any(|view| matches!(&view.output, Output::Figure(figure) if figure.png.is_none()))
}

/// The tables as text for the terminal.
fn tables(rendered: &Rendered) -> String {
    let mut text = String::new();
    for view in &rendered.views {
        if let Output::Table(table) = &view.output {
            text += &format!("{}\n\n{}\n", view.title, table.markdown);
        }
    }
    text
}

fn list() -> Result<()> {
    let mut text = String::new();
    for (name, declared) in built_in::EXPERIMENTS {
        let declaration = Declaration::parse(declared, name)?;
        text += &format!("{name:<16}{}\n", declaration.title);
    }
    to_stdout(io::stdout().write_all(text.as_bytes()))
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
