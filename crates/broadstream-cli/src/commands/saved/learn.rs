//! `broadstream learn`: a saved model predicts rows, learns those with a label, and is written back.

use anyhow::{Error, Result};
use broadstream::{
    Costs,
    model_file::ModelFile,
    stream::{LiveRows, RowPurpose},
};
use broadstream_store::LockedPath;
use serde_json::{Map, Value};

use super::{
    change,
    journal::RowJournal,
    responder::{Halt, Output, Responder, RowCounts},
    rows,
};
use crate::{
    args::{BadUsage, LearnArguments, PrecisionName, StorageArguments},
    build::{
        decisions,
        stop::{self, Stopped},
        threads,
    },
    output::{
        failure::{StdoutFailure, is_closed},
        health::warn_of_rounding,
        printable::note,
    },
};

pub(crate) fn learn(arguments: &LearnArguments) -> Result<()> {
    let storage = &arguments.storage;
    if arguments.journal && storage.precision == PrecisionName::Single {
        let rule = "--journal needs --precision double: rows that are learned again continue the model \
                    to the bit";
        return Err(BadUsage(rule.to_owned()).into());
    }
    let (target, mut saved) = change::open(&arguments.file, arguments.output.as_deref())?;
    saved.model.set_threads(threads::given_or_all_cores(arguments.threads))?;
    decisions::apply(&arguments.decisions, &mut saved)?;
    let mut rows =
        rows::open(&arguments.rows, &saved, RowPurpose::Learn, arguments.max_categories)?;
    let output = match (arguments.quiet, rows::is_regular_file(&arguments.rows)) {
        (true, _) => Output::None,
        (_, true) => Output::WhileOpen,
        (_, false) => Output::Needed,
    };
    let mut responder =
        Responder::new(&mut saved.model, true, output).deciding_by(saved.costs.as_ref());
    if arguments.journal {
        if arguments.output.is_some() {
            // A journal continues the file beside it, so that file must have the model.
            save(&target, &mut responder, &rows, &saved.notes, saved.costs.as_ref(), storage)?;
        }
        responder.journal = Some(RowJournal::new(target.start_journal()?));
    }
    stop::watch()?;
    let mut rows_saved = 0;
    let halt = loop {
        let halt = match responder.read(&mut rows, arguments.every.unwrap_or(u64::MAX)) {
            Err(error) if is_closed(&error) => Halt::Ended,
            Err(error) => return Err(abandon(error, &target, responder, rows_saved, arguments)),
            Ok(halt) => halt,
        };
        save(&target, &mut responder, &rows, &saved.notes, saved.costs.as_ref(), storage)?;
        rows_saved = responder.counts.rows;
        if halt != Halt::Paused {
            break halt;
        }
    };
    if let Some(journal) = responder.journal.take() {
        target.remove_journal(journal.into_inner())?;
    }
    let RowCounts { rows, learned } = responder.counts;
    note(&format!("{} learned, {} without a label", rows::counted(learned), rows - learned));
    warn_of_rounding(&saved.model);
    match stop::received() {
        Some(signal) if halt == Halt::Stopped => {
            Err(Stopped { signal, saved: "the model was saved".to_owned() }.into())
        }
        _ => Ok(()),
    }
}

/// Writes the model, which then has all rows of the journal.
fn save(
    target: &LockedPath,
    responder: &mut Responder<'_>,
    rows: &LiveRows,
    notes: &Map<String, Value>,
    costs: Option<&Costs>,
    storage: &StorageArguments,
) -> Result<()> {
    let encoding = rows.encoding();
    let file = storage.apply(ModelFile {
        encoding: Some(&encoding),
        notes: Some(notes),
        costs,
        ..ModelFile::new(responder.model, rows.schema())
    });
    match &mut responder.journal {
        Some(journal) => target.write_model_and_restart(&file, journal.restart())?,
        None => target.write_model(&file)?,
    }
    Ok(())
}

/// Says of an error what it means for the rows before it.
fn abandon(
    error: Error,
    target: &LockedPath,
    responder: Responder<'_>,
    rows_saved: u64,
    arguments: &LearnArguments,
) -> Error {
    let learned = match responder.journal {
        // The model in memory may know of a faulty row, so it is not saved. The journal has what is needed.
        Some(journal) if journal.has_rows() => {
            let rows = responder.counts.rows;
            format!("the first {rows} rows are kept in the model and {}", journal.name())
        }
        journal => {
            if let Some(Err(failure)) =
                journal.map(|journal| target.remove_journal(journal.into_inner()))
            {
                return failure.into();
            }
            match rows_saved {
                0 => "no row was learned".to_owned(),
                saved => format!("the first {saved} rows were saved"),
            }
        }
    };
    let is_of_output = error.is::<StdoutFailure>();
    error.context(match is_of_output {
        true => learned,
        false => format!("{}; {learned}", rows::name(&arguments.rows)),
    })
}
