//! `broadstream predict`, `learn` and `unlearn`: what can be done with a saved model.

pub(crate) mod inspect;
pub(crate) mod merge;
pub(crate) mod rows;

use std::{
    io::{self, Write},
    path::Path,
};

use anyhow::{Context, Result, bail};
use broadstream::{
    Block, Classifier, Error, OnlineBls,
    model_file::{ModelFile, Saved},
    stream::LiveRows,
};
use broadstream_store::{LockedPath, read_model};
use serde_json::{Map, Value, json};

use crate::{
    args::{LearnArguments, PredictArguments, UnlearnArguments},
    commands::{
        run::checkpoint::RUN,
        saved::rows::{Answering, Answers},
    },
    output::failure::{BadUsage, to_stdout},
};

pub(crate) fn predict(arguments: &PredictArguments) -> Result<()> {
    let mut saved = read_model(&arguments.file)?;
    saved.model.set_threads(rows::threads(arguments.threads))?;
    let mut rows = rows::open(&arguments.rows, &saved)?;
    let mut answering = Answering::new(&mut saved.model, false, Some(Answers::new()));
    let outcome = answering.read(&mut rows, u64::MAX);
    outcome.map(|_| ()).with_context(|| rows::name(&arguments.rows))
}

pub(crate) fn learn(arguments: &LearnArguments) -> Result<()> {
    let place = LockedPath::lock(arguments.output.as_deref().unwrap_or(&arguments.file))?;
    let mut saved = read_model(&arguments.file)?;
    check_changeable(&saved, &arguments.file, arguments.output.is_some())?;
    saved.model.set_threads(rows::threads(arguments.threads))?;
    let mut rows = rows::open(&arguments.rows, &saved)?;
    let answers = (!arguments.quiet).then(Answers::new);
    let notes = notes_to_keep(&saved);
    let mut answering = Answering::new(&mut saved.model, true, answers);
    let mut kept = 0;
    loop {
        let outcome = answering.read(&mut rows, arguments.every.unwrap_or(u64::MAX));
        let more = outcome.with_context(|| match kept {
            0 => format!("{}; no row was learned", rows::name(&arguments.rows)),
            kept => format!("{}; the first {kept} rows were saved", rows::name(&arguments.rows)),
        })?;
        save(&place, answering.model, &rows, &notes)?;
        kept = answering.counts.rows;
        if !more {
            break;
        }
    }
    let rows::Counts { rows, learned } = answering.counts;
    eprintln!("{} learned, {} without a label", rows::counted(learned), rows - learned);
    Ok(())
}

fn save(
    place: &LockedPath,
    model: &OnlineBls,
    rows: &LiveRows,
    notes: &Map<String, Value>,
) -> Result<()> {
    let encoding = rows.encoding();
    Ok(place.write_model(&ModelFile {
        encoding: Some(&encoding),
        notes: Some(notes),
        ..ModelFile::new(model, rows.schema())
    })?)
}

/// What another program has noted beside a model. A run that it came from is over.
fn notes_to_keep(saved: &Saved) -> Map<String, Value> {
    let mut notes = saved.notes.clone();
    notes.remove(RUN);
    notes
}

pub(crate) fn unlearn(arguments: &UnlearnArguments) -> Result<()> {
    let place = LockedPath::lock(arguments.output.as_deref().unwrap_or(&arguments.file))?;
    let mut saved = read_model(&arguments.file)?;
    check_changeable(&saved, &arguments.file, arguments.output.is_some())?;
    let (block, lines) = gather(arguments, &saved).with_context(|| rows::name(&arguments.rows))?;
    let certificate = match saved.model.unlearn_many(&block) {
        Err(Error::Sample { sample, source }) => {
            let line = lines.get(sample as usize - 1).copied().unwrap_or_default();
            let place = format!("{}: line {line}", rows::name(&arguments.rows));
            return Err(*source).context(place);
        }
        unlearned => unlearned?,
    };
    let encoding = saved.encoding.as_ref();
    let notes = notes_to_keep(&saved);
    place.write_model(&ModelFile {
        encoding,
        notes: Some(&notes),
        ..ModelFile::new(&saved.model, &saved.schema)
    })?;
    let text = if arguments.json {
        let certificate = json!({
            "samples": certificate.samples,
            "residual_before": certificate.residual_before,
            "residual_after": certificate.residual_after,
            "learned": saved.model.learned(),
        });
        format!("{certificate}\n")
    } else {
        format!(
            "{} taken back, {} left; residual {:.1e} before, {:.1e} after\n",
            rows::counted(certificate.samples),
            saved.model.learned(),
            certificate.residual_before,
            certificate.residual_after,
        )
    };
    to_stdout(io::stdout().write_all(text.as_bytes()))
}

/// Checks that a file can be replaced by that of a model which knows something else.
fn check_changeable(saved: &Saved, path: &Path, elsewhere: bool) -> Result<()> {
    if saved.schema.labels().len() < saved.model.classes() {
        bail!("{}: this model has no labels, by which rows could tell its classes", path.display());
    }
    if saved.evaluation.is_some() && !elsewhere {
        let rule = "this is the checkpoint of a run, which could not be resumed any more: write \
                    the model to another file by --output";
        return Err(BadUsage(rule.to_owned())).with_context(|| path.display().to_string());
    }
    Ok(())
}

/// All rows that are to be taken back, and their lines.
fn gather(arguments: &UnlearnArguments, saved: &Saved) -> Result<(Block, Vec<u64>)> {
    let mut rows = rows::open(&arguments.rows, saved)?;
    let (mut block, mut lines) = (Block::new(), Vec::new());
    while let Some(row) = rows.next()? {
        let (line, weight) = (row.line, arguments.weight);
        let Some(class) = row.class else { bail!("line {line}: the label is missing") };
        block.push(row.sample, class, weight).with_context(|| format!("line {line}"))?;
        lines.push(line);
        // Whatever is new to the model cannot have been learned.
        let inputs = saved.model.inputs();
        if let Some(input) = rows.schema().inputs().get(inputs) {
            bail!("line {line}: the model does not know the input '{}'", input.name);
        }
        if let Some(label) = rows.schema().labels().get(saved.schema.labels().len()) {
            bail!("line {line}: the model does not know the label '{label}'");
        }
    }
    if block.is_empty() {
        bail!("there are no rows");
    }
    Ok((block, lines))
}
