//! A table as Markdown.

use crate::{
    escape::markdown as escape,
    table::{Cell, MISSING, Rank, Table, build::mark_cited},
};

impl Table {
    pub(crate) fn markdown(&self) -> String {
        let mut text = String::new();
        let spans = self.groups.iter().flat_map(|(label, span)| {
            std::iter::once(label.as_str()).chain(std::iter::repeat_n("", span.saturating_sub(1)))
        });
        // Markdown has one line of headings, so the group's label joins that of its first column.
        let groups: Vec<&str> = spans.collect();
        text += &format!("| {} |", escape(&self.corner));
        for (position, column) in self.columns.iter().enumerate() {
            let label = escape(&mark_cited(&column.label, column.cited));
            match groups.get(position) {
                Some(group) if !group.is_empty() => {
                    text += &format!(" {}: {label} |", escape(group));
                }
                _ => text += &format!(" {label} |"),
            }
        }
        text += "\n|:---|";
        text += &"---:|".repeat(self.columns.len());
        text.push('\n');
        for row in &self.rows {
            text += &format!("| {} |", escape(&mark_cited(&row.label, row.cited)));
            for cell in &row.cells {
                text += &format!(" {} |", cell.as_ref().map_or(MISSING.to_owned(), shown));
            }
            text.push('\n');
        }
        if !self.legend.is_empty() {
            text += &format!("\n{}\n", escape(&self.legend));
        }
        for (mark, note) in &self.notes {
            text += &format!("\n{} {}\n", escape(mark), escape(note));
        }
        text
    }
}

fn shown(cell: &Cell) -> String {
    let mut text = match cell.rank {
        Rank::Best => format!("**{}**", cell.mean),
        Rank::Second => format!("<u>{}</u>", cell.mean),
        Rank::Other => cell.mean.clone(),
    };
    if let Some(sd) = &cell.sd {
        text += &format!(" ± {sd}");
    }
    if cell.stopped {
        text += "\\*";
    }
    text
}
