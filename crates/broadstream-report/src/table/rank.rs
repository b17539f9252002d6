//! Finds the best and second best cells. Cells that print the same rank the same, and runs that
//! stopped early are not ranked.

use std::cmp::Ordering;

use crate::{
    labels::Labels,
    select::distinct,
    table::{Rank, Table},
};

/// Ranks the cells of each metric within columns, or within rows.
pub(super) fn rank(table: &mut Table, labels: &Labels, by_row: bool) {
    let keys = distinct(table.columns.iter().map(|column| column.metric.clone()));
    let all_rows: Vec<usize> = (0..table.rows.len()).collect();
    for key in keys {
        let lower = labels.metric(&key).lower_is_better;
        let columns: Vec<usize> = (0..table.columns.len())
            .filter(|column| table.columns[*column].metric == key)
            .collect();
        let groups: Vec<Vec<(usize, usize)>> = if by_row {
            let row = |row: &usize| columns.iter().map(|column| (*row, *column)).collect();
            all_rows.iter().map(row).collect()
        } else {
            let column = |column: &usize| all_rows.iter().map(|row| (*row, *column)).collect();
            columns.iter().map(column).collect()
        };
        for group in groups {
            rank_among(table, &group, lower);
        }
    }
}

fn rank_among(table: &mut Table, group: &[(usize, usize)], lower: bool) {
    let mut entries: Vec<(f64, String, (usize, usize))> = group
        .iter()
        .filter_map(|(row, column)| {
            let cell = table.rows[*row].cells[*column].as_ref()?;
            (!cell.stopped).then(|| (cell.raw_mean, cell.mean.clone(), (*row, *column)))
        })
        .collect();
    if entries.len() < 2 {
        return;
    }
    entries.sort_by(|a, b| {
        let order = a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal);
        if lower { order } else { order.reverse() }
    });
    let printed = distinct(entries.iter().map(|entry| entry.1.clone()));
    // If all cells print the same, none is best.
    if printed.len() < 2 {
        return;
    }
    for (_, text, (row, column)) in entries {
        if let Some(cell) = &mut table.rows[row].cells[column] {
            cell.rank = match printed.iter().position(|entry| *entry == text) {
                Some(0) => Rank::Best,
                Some(1) => Rank::Second,
                _ => Rank::Other,
            };
        }
    }
}
