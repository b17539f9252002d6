//! Splits long work into pieces and checks Python's signals between them.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use pyo3::prelude::*;

/// The target duration of a piece. Ctrl-C seems to work immediately, and a prediction that another thread asks
/// for meanwhile comes soon.
const PIECE: Duration = Duration::from_millis(25);

/// The number of samples in the first piece, when the speed is still unknown: one group of samples that
/// pass through a factor together.
pub(crate) const FIRST: usize = 64;

/// The maximum number of samples in a piece, which bounds its memory.
const MOST: usize = 4096;

/// Calls `work` on consecutive ranges of `0..samples`. Ctrl-C, or any exception raised by a signal handler,
/// ends it between two pieces.
pub(crate) fn in_pieces(
    py: Python<'_>,
    samples: usize,
    mut work: impl FnMut(Range<usize>) -> PyResult<()>,
) -> PyResult<()> {
    let (mut start, mut length) = (0, FIRST);
    while start < samples {
        let end = samples.min(start + length);
        let begun = Instant::now();
        work(start..end)?;
        py.check_signals()?;
        let taken = begun.elapsed().max(Duration::from_micros(1));
        let fitting = (end - start) as f64 * (PIECE.as_secs_f64() / taken.as_secs_f64());
        length = (fitting as usize).clamp(1, MOST);
        // Whole groups, since a group that is not full takes as long.
        length -= if length > FIRST { length % FIRST } else { 0 };
        start = end;
    }
    Ok(())
}
