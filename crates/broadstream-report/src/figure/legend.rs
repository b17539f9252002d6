//! The legend of a figure with one entry per method.

use crate::{
    figure::{Context, chart::Key, style::Style},
    select::{OfStream, Selection},
};

/// The entries of the series that have a value on some stream, in order.
pub(super) fn legend<T>(
    selection: &Selection,
    values: &[OfStream<'_, T>],
    context: Context,
    key: fn(Style) -> Key,
) -> Vec<(String, Key)> {
    let has_value = |position: usize| {
        values.iter().flat_map(|(_, values)| values).any(|(shown, _)| *shown == position)
    };
    let series = selection.series.iter().enumerate().filter(|(position, _)| has_value(*position));
    series
        .map(|(_, series)| (context.labels.method(&series.method), key(context.styles.of(series))))
        .collect()
}

/// The labels of a legend as a list, for the description of its figure.
pub(super) fn list(legend: &[(String, Key)]) -> String {
    legend.iter().map(|(label, _)| label.as_str()).collect::<Vec<_>>().join(", ")
}
