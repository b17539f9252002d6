//! `broadstream learn`: a saved model predicts rows, learns those with a label, and is written back.

use anyhow::{Context, Result};
use broadstream::model_file::ModelFile;

use super::{
    change,
    responder::{PredictionWriter, Responder, RowCounts},
    rows,
};
use crate::{args::LearnArguments, build::threads};

pub(crate) fn learn(arguments: &LearnArguments) -> Result<()> {
    let (target, mut saved) = change::open(&arguments.file, arguments.output.as_deref())?;
    saved.model.set_threads(threads::given_or_all_cores(arguments.threads))?;
    let mut rows = rows::open(&arguments.rows, &saved, arguments.max_categories)?;
    let predictions = (!arguments.quiet).then(PredictionWriter::new);
    let mut responder = Responder::new(&mut saved.model, true, predictions);
    let mut rows_saved = 0;
    loop {
        let outcome = responder.read(&mut rows, arguments.every.unwrap_or(u64::MAX));
        let has_more = outcome.with_context(|| match rows_saved {
            0 => format!("{}; no row was learned", rows::name(&arguments.rows)),
            saved => format!("{}; the first {saved} rows were saved", rows::name(&arguments.rows)),
        })?;
        let encoding = rows.encoding();
        target.write_model(&ModelFile {
            encoding: Some(&encoding),
            notes: Some(&saved.notes),
            ..ModelFile::new(responder.model, rows.schema())
        })?;
        rows_saved = responder.counts.rows;
        if !has_more {
            break;
        }
    }
    let RowCounts { rows, learned } = responder.counts;
    eprintln!("{} learned, {} without a label", rows::counted(learned), rows - learned);
    Ok(())
}
