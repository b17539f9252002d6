//! One pass over a stream, with one model or with several side by side.

use std::{ops::ControlFlow, time::Duration};

use super::{
    evaluator::Progress, fingerprint::Fingerprint, observer::Observer, options::PrequentialOptions,
    run::Run,
};
use crate::{
    classifier::Classifier,
    data::Block,
    error::{Error, StreamError},
    stream::Stream,
};

/// A model with its evaluation and its observer.
pub(super) struct Lane<'a> {
    pub(super) run: &'a mut Run,
    pub(super) model: &'a mut dyn Classifier,
    pub(super) observer: &'a mut dyn Observer,
}

/// How far a stream has been read.
pub(super) struct Pass {
    options: PrequentialOptions,
    /// The number of samples that were read, and how many of these were skipped.
    seen: u64,
    skipped: u64,
    /// The fingerprint of the samples that were read; kept up to date only for checkpoints.
    fingerprint: Fingerprint,
    /// Whether the stream has ended.
    ended: bool,
}

impl Pass {
    /// A pass over a stream of which nothing has been read.
    pub(super) fn new(options: &PrequentialOptions) -> Self {
        Pass {
            options: options.clone(),
            seen: 0,
            skipped: 0,
            fingerprint: Fingerprint::new(),
            ended: false,
        }
    }

    /// Reads up to the next checkpoint, the end or the limit, and lets all models predict and learn
    /// what is read.
    pub(super) fn advance(
        &mut self,
        stream: &mut dyn Stream,
        lanes: &mut [Lane<'_>],
        clock: &dyn Fn() -> Duration,
    ) -> Result<Progress, Error> {
        let limit = self.options.limit.unwrap_or(u64::MAX);
        let ends = self.block_ends(lanes);
        let mut block = Block::new();
        while self.seen < limit && !self.ended {
            let until_ends = ends.iter().flatten().map(|every| every - self.seen % every);
            let longest =
                until_ends.fold((self.options.block as u64).min(limit - self.seen), u64::min);
            let started = clock();
            block.clear();
            let read = stream.read_block(&mut block, longest as usize);
            let reading = clock().saturating_sub(started);
            if self.options.checkpoint_every.is_some() {
                self.fingerprint.add(&block, stream.schema());
            }
            // If reading failed, the samples before the fault are evaluated before it is reported
            // below. The results up to the fault are then the same for any block size.
            let mut flow = ControlFlow::Continue(());
            for Lane { run, model, observer } in &mut *lanes {
                run.state.times.reading += reading;
                // A lane that breaks does not keep the others from this block: all of them stop
                // after the same sample.
                if run
                    .block(&mut **model, &mut **observer, &block, stream.schema(), clock)?
                    .is_break()
                {
                    flow = ControlFlow::Break(());
                }
            }
            self.seen += block.len() as u64;
            let has_halted = read.is_err() || flow.is_break();
            self.ended = matches!(read, Ok(0));
            if has_halted || self.is_checkpoint(limit) {
                self.mark_checkpoint(stream, lanes);
            }
            read?;
            if flow.is_break() {
                return Ok(Progress::Stopped);
            }
            if self.is_checkpoint(limit) {
                return Ok(Progress::Checkpoint);
            }
        }
        Ok(Progress::Ended)
    }

    /// Makes the state of every evaluation one that it can be resumed from, if there are checkpoints at all.
    fn mark_checkpoint(&self, stream: &dyn Stream, lanes: &mut [Lane<'_>]) {
        if self.options.checkpoint_every.is_none() {
            return;
        }
        let fingerprint = self.fingerprint.value();
        for Lane { run, model, .. } in lanes {
            run.mark_checkpoint(&**model, stream.schema(), fingerprint);
        }
    }

    /// Skips the samples that were evaluated before the run was resumed, and checks that they are
    /// the same.
    pub(super) fn skip_evaluated(
        &mut self,
        stream: &mut dyn Stream,
        run: &Run,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        const BLOCK: u64 = 1024;
        let samples = run.state.samples();
        let mut block = Block::new();
        while self.seen < samples {
            block.clear();
            if stream.read_block(&mut block, BLOCK.min(samples - self.seen) as usize)? == 0 {
                return Err(StreamError::EndsBefore { samples, found: self.seen }.into());
            }
            self.fingerprint.add(&block, stream.schema());
            self.seen += block.len() as u64;
            observer.passed(self.seen);
        }
        self.skipped = samples;
        // The fingerprint covers only inputs that a sample has used. The model may know more of
        // them, and these must have the same names too.
        let same_inputs = stream.schema().inputs().starts_with(&run.state.inputs);
        if same_inputs && self.fingerprint.value() == run.state.fingerprint {
            Ok(())
        } else {
            Err(StreamError::Differs { samples }.into())
        }
    }

    /// A block must end after every multiple of these numbers of samples.
    ///
    /// When the samples of a block are counted, the model has already learned all of them. A point
    /// of the curve shows the weights of the model's members right after its sample, so if there
    /// are members a block must end there.
    fn block_ends(&self, lanes: &[Lane<'_>]) -> [Option<u64>; 2] {
        let members = lanes.iter().any(|lane| !lane.model.members().is_empty());
        [self.options.curve_every.filter(|_| members), self.options.checkpoint_every]
    }

    /// Whether a checkpoint is due: at every multiple of `checkpoint_every`, and at the end.
    fn is_checkpoint(&self, limit: u64) -> bool {
        self.options.checkpoint_every.is_some_and(|every| match self.seen.is_multiple_of(every) {
            // If the stream has ended here, reading has found no further sample since the last
            // checkpoint.
            true => !self.ended,
            // A resumed run that finds no further sample gets no checkpoint either.
            false => self.seen > self.skipped && (self.ended || self.seen == limit),
        })
    }
}
