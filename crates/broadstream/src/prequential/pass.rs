//! One pass over a stream, by one model or by several side by side.

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

/// A model on its way, and who watches it.
pub(super) struct Lane<'a> {
    pub(super) run: &'a mut Run,
    pub(super) model: &'a mut dyn Classifier,
    pub(super) observer: &'a mut dyn Observer,
}

/// How far a stream has been read.
pub(super) struct Pass {
    options: PrequentialOptions,
    /// Samples that were read, and those that were passed over.
    seen: u64,
    passed_over: u64,
    /// The fingerprint of the samples so far.
    fingerprint: Fingerprint,
    ended: bool,
}

impl Pass {
    /// A pass over a stream of which nothing was read.
    pub(super) fn new(options: &PrequentialOptions) -> Self {
        Pass {
            options: options.clone(),
            seen: 0,
            passed_over: 0,
            fingerprint: Fingerprint::new(),
            ended: false,
        }
    }

    /// Reads on to the next checkpoint, to the end or to the limit, and has all models predict and
    /// learn what comes.
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
            let to_ends = ends.iter().flatten().map(|every| every - self.seen % every);
            let longest =
                to_ends.fold((self.options.block as u64).min(limit - self.seen), u64::min);
            let started = clock();
            block.clear();
            let read = stream.read_block(&mut block, longest as usize);
            let reading = clock().saturating_sub(started);
            if self.options.checkpoint_every.is_some() {
                self.fingerprint.add(&block, stream.schema());
            }
            // What was read before a fault is evaluated too, so that the fault is met at the same
            // sample whatever the block size.
            let mut flow = ControlFlow::Continue(());
            for Lane { run, model, observer } in &mut *lanes {
                run.state.times.reading += reading;
                if run
                    .block(&mut **model, &mut **observer, &block, stream.schema(), clock)?
                    .is_break()
                {
                    flow = ControlFlow::Break(());
                }
            }
            self.ended = read? == 0;
            self.seen += block.len() as u64;
            if flow.is_break() {
                return Ok(Progress::Stopped);
            }
            if self.is_checkpoint(limit) {
                let fingerprint = self.fingerprint.value();
                for Lane { run, model, .. } in &mut *lanes {
                    run.mark_checkpoint(&**model, stream.schema(), fingerprint);
                }
                return Ok(Progress::Checkpoint);
            }
        }
        Ok(Progress::Ended)
    }

    /// Reads the samples that were evaluated before, and checks that they are the same.
    pub(super) fn pass_over(
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
        self.passed_over = samples;
        // The model may have been told of inputs that no sample has used yet.
        let same_inputs = stream.schema().inputs().starts_with(&run.state.inputs);
        if same_inputs && self.fingerprint.value() == run.state.fingerprint {
            Ok(())
        } else {
            Err(StreamError::Differs { samples }.into())
        }
    }

    /// The distances between samples at which a block has to end.
    ///
    /// Within a block a model is ahead of the sample that is counted. So a block ends at a point of the
    /// curve, if there are members whose weights are to be those of just then.
    fn block_ends(&self, lanes: &[Lane<'_>]) -> [Option<u64>; 2] {
        let members = lanes.iter().any(|lane| !lane.model.members().is_empty());
        [self.options.curve_every.filter(|_| members), self.options.checkpoint_every]
    }

    /// Whether there is a checkpoint here. The end is one too, unless there was one just before.
    fn is_checkpoint(&self, limit: u64) -> bool {
        self.options.checkpoint_every.is_some_and(|every| match self.seen.is_multiple_of(every) {
            true => !self.ended,
            false => self.seen > self.passed_over && (self.ended || self.seen == limit),
        })
    }
}
