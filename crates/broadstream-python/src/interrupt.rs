//! Long work in pieces, between which Python's signals are looked at.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use pyo3::prelude::*;

/// How long a piece may take: short enough that Ctrl-C seems to work at once.
const PIECE: Duration = Duration::from_millis(100);

/// Samples of the first piece, whose speed is not known yet. As many as go through a factor together.
const FIRST: usize = 64;

/// The most samples of a piece, which bounds its memory.
const MOST: usize = 4096;

/// Does work on samples `0..samples` piece by piece. Ctrl-C, or whatever a signal handler raises, ends
/// it between two pieces.
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
        start = end;
    }
    Ok(())
}
