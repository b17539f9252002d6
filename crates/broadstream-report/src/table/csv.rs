//! A table as CSV: one line per cell, with the values as measured.

use crate::table::Table;

impl Table {
    pub(crate) fn csv(&self) -> String {
        let mut lines = Vec::new();
        for row in &self.rows {
            for (column, cell) in self.columns.iter().zip(&row.cells) {
                let Some(cell) = cell else { continue };
                lines.push(vec![
                    row.key.clone(),
                    column.key.clone(),
                    column.metric.clone(),
                    cell.raw_mean.to_string(),
                    cell.raw_sd.map_or(String::new(), |sd| sd.to_string()),
                    cell.runs.to_string(),
                    (row.cited || column.cited).to_string(),
                    cell.stopped.to_string(),
                ]);
            }
        }
        let head = ["row", "column", "metric", "mean", "sd", "runs", "cited", "stopped"];
        crate::csv_text::write(&head, &lines)
    }
}
