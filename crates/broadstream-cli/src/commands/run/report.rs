//! What remains of a run: the saved model, the page, and what is printed.

use anyhow::Result;
use broadstream::model_file::ModelFile;

use super::{checkpoint::savable, evaluate::Finished};
use crate::output::{health::warn_of_rounding, run::Report};

pub(super) fn report(finished: &Finished) -> Result<()> {
    let Finished {
        arguments,
        source,
        opened,
        model,
        evaluation,
        costs,
        seconds,
        save,
        report: page,
    } = finished;
    let stream = &*opened.stream;
    if let Some(target) = save {
        target.write_model(&arguments.saving.storage.apply(ModelFile {
            encoding: stream.encoding().as_ref(),
            costs: costs.as_ref(),
            ..ModelFile::new(savable(model)?, stream.schema())
        }))?;
    }
    let options = &arguments.evaluation;
    let report = Report {
        source: source.name(),
        schema: stream.schema(),
        model,
        evaluation,
        metrics_window: options.metrics_window,
        delay: options.delay,
        seconds: *seconds,
    };
    if let Some(page) = page {
        page.write(report.page()?.as_bytes())?;
    }
    if options.json { report.print_json() } else { report.print_table() }?;
    if let Some(model) = model.online_bls() {
        warn_of_rounding(model);
    }
    Ok(())
}
