//! `broadstream unlearn`: rows that a saved model has learned are taken out of it again.

use std::io::{self, Write};

use anyhow::{Context, Result, bail};
use broadstream::{
    Block, Certificate, Classifier, Error,
    model_file::{ModelFile, Saved},
    stream::RowPurpose,
};
use serde_json::json;

use super::{change, rows};
use crate::{args::UnlearnArguments, output::failure::to_stdout};

pub(crate) fn unlearn(arguments: &UnlearnArguments) -> Result<()> {
    let (target, mut saved) = change::open(&arguments.file, arguments.output.as_deref())?;
    let (block, lines) =
        read_all(arguments, &saved).with_context(|| rows::name(&arguments.rows))?;
    let certificate = match saved.model.unlearn_many(&block) {
        Err(Error::Sample { sample, reason }) => {
            let line = lines.get(sample as usize - 1).copied().unwrap_or_default();
            let place = format!("{}: line {line}", rows::name(&arguments.rows));
            return Err(*reason).context(place);
        }
        unlearned => unlearned?,
    };
    target.write_model(&arguments.storage.apply(ModelFile {
        costs: saved.costs.as_ref(),
        encoding: saved.encoding.as_ref(),
        notes: Some(&saved.notes),
        ..ModelFile::new(&saved.model, &saved.schema)
    }))?;
    let text = if arguments.json {
        json(&certificate, saved.model.learned())
    } else {
        text(&certificate, saved.model.learned())
    };
    to_stdout(io::stdout().write_all(text.as_bytes()))
}

/// All rows to unlearn, and their lines. They are read before the first is unlearned, so that either all
/// are or none.
fn read_all(arguments: &UnlearnArguments, saved: &Saved) -> Result<(Block, Vec<u64>)> {
    let mut rows = rows::open(&arguments.rows, saved, RowPurpose::Unlearn, None)?;
    let (mut block, mut lines) = (Block::new(), Vec::new());
    while let Some(row) = rows.next()? {
        let (line, weight) = (row.line, arguments.weight);
        let Some(class) = row.class else { bail!("line {line}: the label is missing") };
        block.push(row.sample, class, weight).with_context(|| format!("line {line}"))?;
        lines.push(line);
        // A row with anything that is new to the model cannot have been learned.
        if let Some(input) = rows.schema().inputs().get(saved.model.inputs()) {
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

fn json(certificate: &Certificate, learned: u64) -> String {
    let certificate = json!({
        "samples": certificate.samples,
        "error": certificate.error,
        "condition": certificate.condition,
        "learned": learned,
    });
    format!("{certificate}\n")
}

fn text(certificate: &Certificate, learned: u64) -> String {
    format!(
        "{} taken back, {learned} left; scores are exact to {:.0e}, the condition number is {:.0e}\n",
        rows::counted(certificate.samples),
        certificate.error,
        certificate.condition,
    )
}
