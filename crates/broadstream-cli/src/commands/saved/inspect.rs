//! `broadstream inspect`: the content of a model file.

use std::{
    fs,
    io::{self, Write},
};

use anyhow::{Context, Result};
use broadstream::{
    Classifier, Costs, Input, InputKind, Member, MemberChange, Objective, OnlineBlsConfig,
    RegressionHealth, Schema,
    metrics::oca,
    model_file::{Loaded, Precision, Saved},
};
use broadstream_store::{read_journal, read_model_or_sums};
use serde_json::{Map, Value, json};

use super::{journal, rows};
use crate::{
    args::InspectArguments,
    commands::run::RUN_NOTE,
    output::{
        changes::{changes_json, members_json},
        failure::to_stdout,
        health::health_json,
        importance::importance_json,
        printable::printable,
    },
};

/// More labels than this are not listed.
const MOST_LABELS_SHOWN: usize = 12;

/// The columns that are listed, those of the largest importance.
const MOST_COLUMNS_SHOWN: usize = 12;

pub(crate) fn inspect(arguments: &InspectArguments) -> Result<()> {
    let loaded = read_model_or_sums(&arguments.file)?;
    let name = arguments.file.display().to_string();
    let size = fs::metadata(&arguments.file).with_context(|| name.clone())?.len();
    let journal_rows = journal::count(&read_journal(&arguments.file)?);
    let inspection = Inspection { journal_rows, ..Inspection::of(loaded) };
    let text = if arguments.json {
        format!("{}\n", inspection.json(size))
    } else {
        inspection.text(&name, size)
    };
    to_stdout(io::stdout().write_all(text.as_bytes()))
}

/// Everything that the command tells about a file.
struct Inspection {
    kind: &'static str,
    program: String,
    /// The format version of the file.
    version: u32,
    precision: Precision,
    config: OnlineBlsConfig,
    schema: Schema,
    inputs: Vec<Input>,
    learned: u64,
    /// How many rows the journal of the model has that the file lacks.
    journal_rows: u64,
    class_totals: Vec<f64>,
    /// Only of a model, as are the next five.
    weight_norm: Option<f64>,
    health: Vec<RegressionHealth>,
    /// How many samples the window holds, if there is one.
    window: Option<usize>,
    restarts: Vec<u64>,
    members: Vec<Member>,
    changes: Vec<MemberChange>,
    importance: Vec<(String, f64)>,
    /// The share of each class among recent samples, and by what its probability is multiplied under each
    /// objective. Only of a model.
    shares: Vec<f64>,
    factors: [Vec<f64>; 4],
    /// What decisions cost, if they are made for the least cost.
    costs: Option<Costs>,
    /// Only of a checkpoint.
    run: Option<RunProgress>,
}

/// How far the run of a checkpoint has come.
struct RunProgress {
    samples: u64,
    accuracy: f64,
    arguments: Vec<String>,
}

impl Inspection {
    fn of(loaded: Loaded) -> Self {
        match loaded {
            Loaded::Model(saved) => {
                let Saved { model, schema, evaluation, notes, program, version, costs, .. } =
                    *saved;
                let squares: f64 =
                    model.weights().values().iter().map(|weight| weight * weight).sum();
                let arguments = notes.get(RUN_NOTE).and_then(|run| run["arguments"].as_array());
                let arguments = arguments.into_iter().flatten().filter_map(Value::as_str);
                let arguments: Vec<String> = arguments.map(str::to_owned).collect();
                Inspection {
                    kind: if evaluation.is_some() { "checkpoint" } else { "model" },
                    program,
                    version,
                    precision: model.precision(),
                    config: model.config().clone(),
                    inputs: model.declared_inputs().to_vec(),
                    learned: model.learned(),
                    journal_rows: 0,
                    class_totals: model.class_totals().to_vec(),
                    weight_norm: Some(squares.sqrt()),
                    health: model.health(),
                    window: model.window_samples(),
                    restarts: model.restarts().to_vec(),
                    members: model.members(),
                    changes: model.changes().to_vec(),
                    importance: model.importance(),
                    shares: model.class_shares(),
                    factors: model.decision_factors(),
                    costs,
                    run: evaluation.map(|state| RunProgress {
                        samples: state.samples(),
                        accuracy: oca(state.metrics().confusion()),
                        arguments,
                    }),
                    schema,
                }
            }
            Loaded::Partial(saved) => {
                let Saved { model, schema, program, version, .. } = *saved;
                Inspection {
                    kind: "sums",
                    program,
                    version,
                    precision: Precision::Double,
                    config: model.config().clone(),
                    inputs: model.declared_inputs().to_vec(),
                    learned: model.learned(),
                    journal_rows: 0,
                    class_totals: model.class_totals().to_vec(),
                    weight_norm: None,
                    health: Vec::new(),
                    window: None,
                    restarts: Vec::new(),
                    members: Vec::new(),
                    changes: Vec::new(),
                    importance: Vec::new(),
                    shares: Vec::new(),
                    factors: Default::default(),
                    costs: None,
                    run: None,
                    schema,
                }
            }
        }
    }

    fn json(&self, size: u64) -> Value {
        let kind = |input: &Input| match input.kind {
            InputKind::Numeric => "numeric",
            InputKind::Indicator => "indicator",
        };
        let inputs = self.inputs.iter();
        let inputs: Vec<Value> =
            inputs.map(|input| json!({ "name": input.name, "kind": kind(input) })).collect();
        let run = self.run.as_ref().map(|RunProgress { samples, accuracy, arguments }| {
            json!({ "samples": samples, "oca": accuracy, "arguments": arguments })
        });
        json!({
            "kind": self.kind,
            "format": self.version,
            "precision": precision_name(self.precision),
            "program": self.program,
            "bytes": size,
            "target": self.schema.target(),
            "labels": self.schema.labels(),
            "class_totals": self.class_totals,
            "inputs": inputs,
            "learned": self.learned,
            "journal_rows": self.journal_rows,
            "weight_norm": self.weight_norm,
            "window_samples": self.window,
            "restarts": self.restarts,
            "members": members_json(&self.members),
            "changes": changes_json(&self.changes),
            "decisions": self.decisions(),
            "importance": importance_json(&self.importance),
            "run": run,
            "health": health_json(&self.health),
            "config": self.config.to_json(),
        })
    }

    fn text(&self, name: &str, size: u64) -> String {
        let (version, program) = (self.version, &self.program);
        let (name, program) = (printable(name), printable(program));
        let mut text = format!(
            "{name}: {}, {}, format {version}, written by broadstream {program}\n\n",
            self.kind,
            bytes(size)
        );
        let mut line = |name: &str, value: String| {
            text += &format!("{name:<12}{}\n", printable(&value));
        };
        let config = &self.config;
        let largest = self.health.iter().map(|regression| regression.features).max();
        let enhancement = config.enhancement_nodes.fixed().unwrap_or(0);
        let features = largest.unwrap_or(
            config.feature_groups * config.feature_nodes + config.enhancement_groups * enhancement,
        );
        let (ridge, forgetting, seed) = (config.ridge, config.forgetting, config.seed);
        line(
            "model",
            format!("{features} features, ridge {ridge}, forgetting {forgetting}, seed {seed}"),
        );
        line("target", self.schema.target().to_owned());
        let indicators =
            self.inputs.iter().filter(|input| input.kind == InputKind::Indicator).count();
        line("inputs", format!("{}, of which {indicators} categories", self.inputs.len()));
        line("classes", self.classes());
        line("samples", self.learned.to_string());
        if self.journal_rows > 0 {
            let rows = rows::counted(self.journal_rows);
            line("journal", format!("{rows} more, which 'learn' adds"));
        }
        if let (Some(held), Some(window)) = (self.window, config.window) {
            line("window", format!("{held} of {window}"));
        }
        if let Some(norm) = self.weight_norm {
            line("weights", format!("norm {norm:.8}"));
        }
        if self.precision == Precision::Single {
            line(
                "precision",
                "single: predictions are close to those of the model that was saved".to_owned(),
            );
        }
        if let Some(RunProgress { samples, accuracy, arguments }) = &self.run {
            line("run", arguments.join(" "));
            line("", format!("{samples} samples evaluated, accuracy {accuracy:.4}"));
        }
        text + &self.decisions_table()
            + &self.importance_table()
            + &self.health_table()
            + &self.changes_table()
    }

    /// What decisions are made for, and by which numbers.
    fn decisions(&self) -> Value {
        let by_name = Objective::ALL.iter().zip(&self.factors);
        let factors: Map<String, Value> = by_name
            .map(|(objective, factors)| (objective.as_str().into(), json!(factors)))
            .collect();
        json!({
            "objective": self.config.objective.as_str(),
            "costs": self.costs.as_ref().map(Costs::to_json),
            "class_shares": self.shares,
            "factors": factors,
        })
    }

    /// By what each objective multiplies the probability of a class, the smallest factor being 1.
    fn decisions_table(&self) -> String {
        let labels = self.schema.labels();
        if labels.is_empty()
            || labels.len() > MOST_LABELS_SHOWN
            || self.shares.len() != labels.len()
        {
            return String::new();
        }
        let made_for = match &self.costs {
            Some(_) => "the least expected cost",
            None => self.config.objective.as_str(),
        };
        let mut text =
            format!("\ndecisions are made for {made_for}; probabilities are multiplied by\n");
        let labels: Vec<_> = labels.iter().map(|label| printable(label)).collect();
        let widest = labels.iter().map(|label| label.chars().count()).fold(5, usize::max);
        text += &format!("{:<widest$}{:>9}", "class", "share");
        Objective::ALL.iter().for_each(|name| text += &format!("{:>10}", name.as_str()));
        text.push('\n');
        for (class, label) in labels.iter().enumerate() {
            text += &format!("{label:<widest$}{:>9.4}", self.shares[class]);
            for factors in &self.factors {
                let least = factors.iter().copied().fold(f64::INFINITY, f64::min);
                text += &format!("{:>10.2}", factors[class] / least);
            }
            text.push('\n');
        }
        text
    }

    /// By how much predictions depend on each column.
    fn importance_table(&self) -> String {
        if self.importance.is_empty() {
            return String::new();
        }
        let mut text =
            "\nimportance of columns: the mean change of a probability without it\n".to_owned();
        let shown = self.importance.iter().take(MOST_COLUMNS_SHOWN);
        let shown: Vec<_> = shown.map(|(column, mean)| (printable(column), mean)).collect();
        let widest = shown.iter().map(|(column, _)| column.chars().count()).fold(10, usize::max);
        for (column, mean) in &shown {
            text += &format!("{column:<widest$}{mean:>9.4}\n");
        }
        if self.importance.len() > shown.len() {
            text += &format!("and {} more\n", self.importance.len() - shown.len());
        }
        text
    }

    fn classes(&self) -> String {
        let labels = self.schema.labels();
        if labels.is_empty() || labels.len() > MOST_LABELS_SHOWN {
            return self.class_totals.len().to_string();
        }
        let totals = self.class_totals.iter().copied().chain(std::iter::repeat(0.0));
        let classes = labels.iter().zip(totals).map(|(label, total)| format!("{label} ({total})"));
        classes.collect::<Vec<String>>().join(", ")
    }

    /// What the model has chosen, if it chooses its regressions and their nodes.
    fn changes_table(&self) -> String {
        if self.changes.is_empty() {
            return String::new();
        }
        let mut text = "\nchanges of regressions\n".to_owned();
        for change in &self.changes {
            let MemberChange { learned, member, features_before, features, nodes, event, .. } =
                change;
            let (member, event, reason) = (printable(member), event.as_str(), event.reason());
            let size = format!("{features_before} to {features} features, {nodes}");
            text += &format!("{learned:>8}  {member} {event}: {size}; {reason}\n");
        }
        text
    }

    fn health_table(&self) -> String {
        if self.health.is_empty() {
            return String::new();
        }
        let widths = self.health.iter().map(|regression| regression.name.chars().count());
        let widest = widths.fold(10, usize::max);
        let columns = ["features", "error", "residual", "worst", "condition", "refreshes"];
        let mut text = format!("\n{:<widest$}", "regression");
        columns.iter().for_each(|column| text += &format!("{column:>11}"));
        text.push('\n');
        for RegressionHealth { name, features, now, worst_residual, refreshes, .. } in &self.health
        {
            let name = printable(name);
            text += &format!(
                "{name:<widest$}{features:>11}{:>11.1e}{:>11.1e}{worst_residual:>11.1e}{:>11.1e}{refreshes:>11}\n",
                now.error, now.residual, now.condition,
            );
        }
        text
    }
}

fn precision_name(precision: Precision) -> &'static str {
    match precision {
        Precision::Double => "double",
        Precision::Single => "single",
    }
}

fn bytes(size: u64) -> String {
    match size {
        0..10_000 => format!("{size} bytes"),
        10_000..1_000_000 => format!("{:.1} kB", size as f64 / 1e3),
        _ => format!("{:.1} MB", size as f64 / 1e6),
    }
}
