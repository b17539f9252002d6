//! `broadstream predict`, `learn` and `unlearn`: what can be done with a saved model.

use std::io::{self, Write};

use anyhow::{Context, Result, bail};
use broadstream::{
    Block, Classifier, OnlineBls,
    model_file::{ModelFile, Saved},
    stream::LiveRows,
};
use serde_json::json;

use crate::{
    args::{LearnArguments, PredictArguments, UnlearnArguments},
    failure::to_stdout,
    rows::{self, Answering, Answers},
    store::{self, Place},
};

pub(crate) fn predict(arguments: &PredictArguments) -> Result<()> {
    let mut saved = store::read(&arguments.file)?;
    saved.model.set_threads(rows::threads(arguments.threads))?;
    let mut rows = rows::open(&arguments.rows, &saved)?;
    let mut answering = Answering::new(&mut saved.model, false, Some(Answers::new()));
    let outcome = answering.read(&mut rows, u64::MAX);
    outcome.map(|_| ()).with_context(|| rows::name(&arguments.rows))
}

pub(crate) fn learn(arguments: &LearnArguments) -> Result<()> {
    let place = Place::lock(arguments.output.as_deref().unwrap_or(&arguments.file))?;
    let mut saved = store::read(&arguments.file)?;
    saved.model.set_threads(rows::threads(arguments.threads))?;
    let mut rows = rows::open(&arguments.rows, &saved)?;
    let answers = (!arguments.quiet).then(Answers::new);
    let mut answering = Answering::new(&mut saved.model, true, answers);
    let mut kept = 0;
    loop {
        let outcome = answering.read(&mut rows, arguments.every.unwrap_or(u64::MAX));
        let more = outcome.with_context(|| match kept {
            0 => format!("{}; no row was learned", rows::name(&arguments.rows)),
            rows => {
                format!("{}; the first {rows} rows were learned", self::rows::name(&arguments.rows))
            }
        })?;
        save(&place, answering.model, &rows)?;
        kept = answering.counts.rows;
        if !more {
            break;
        }
    }
    let rows::Counts { rows, learned } = answering.counts;
    eprintln!("{} learned, {} without a label", rows::counted(learned), rows - learned);
    Ok(())
}

fn save(place: &Place, model: &OnlineBls, rows: &LiveRows) -> Result<()> {
    let encoding = rows.encoding();
    place.write(&ModelFile { encoding: Some(&encoding), ..ModelFile::new(model, rows.schema()) })
}

pub(crate) fn unlearn(arguments: &UnlearnArguments) -> Result<()> {
    let place = Place::lock(arguments.output.as_deref().unwrap_or(&arguments.file))?;
    let mut saved = store::read(&arguments.file)?;
    let block = gather(arguments, &saved).with_context(|| rows::name(&arguments.rows))?;
    let certificate = saved.model.unlearn_many(&block)?;
    let encoding = saved.encoding.as_ref();
    place.write(&ModelFile { encoding, ..ModelFile::new(&saved.model, &saved.schema) })?;
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

/// All rows that are to be taken back.
fn gather(arguments: &UnlearnArguments, saved: &Saved) -> Result<Block> {
    let mut rows = rows::open(&arguments.rows, saved)?;
    let mut block = Block::new();
    while let Some(row) = rows.next()? {
        let (line, weight) = (row.line, arguments.weight);
        let Some(class) = row.class else { bail!("line {line}: the label is missing") };
        block.push(row.sample, class, weight).with_context(|| format!("line {line}"))?;
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
    Ok(block)
}
