//! A table as LaTeX, for the package booktabs.

use crate::{
    escape::latex as escape,
    table::{Cell, Rank, Table},
};

impl Table {
    /// A `table` environment with the title and the caption above the table.
    pub(crate) fn latex(&self, name: &str, title: &str, caption: &str) -> String {
        let mut text =
            String::from("% needs \\usepackage{booktabs}\n\\begin{table}[tb]\n\\centering\n");
        let parts = [title, caption, &self.legend].map(|part| escape(part.trim()));
        let sentences: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let sentences: Vec<String> = sentences.iter().map(|part| sentence(part)).collect();
        text += &format!("\\caption{{{}}}\n\\label{{tab:{name}}}\n", sentences.join(" "));
        text += &format!("\\begin{{tabular}}{{l{}}}\n\\toprule\n", "r".repeat(self.columns.len()));
        text += &self.headings();
        text += "\\midrule\n";
        for (position, row) in self.rows.iter().enumerate() {
            // A rule separates cited rows from the others.
            if position > 0 && self.rows[position - 1].cited != row.cited {
                text += "\\midrule\n";
            }
            text += &label(&row.label, row.cited);
            for cell in &row.cells {
                text += " & ";
                text += &cell.as_ref().map_or("--".to_owned(), shown);
            }
            text += " \\\\\n";
        }
        text += "\\bottomrule\n\\end{tabular}\n";
        for (mark, note) in &self.notes {
            let mark = if mark == "*" { "$^{*}$".to_owned() } else { escape(mark) };
            text += &format!("\n\\vspace{{2pt}}{{\\footnotesize {mark} {}\\par}}\n", escape(note));
        }
        text += "\\end{table}\n";
        text
    }

    fn headings(&self) -> String {
        let mut text = String::new();
        let mut rules = String::new();
        if !self.groups.is_empty() {
            let mut first = 2;
            for (group, span) in &self.groups {
                text += &format!(" & \\multicolumn{{{span}}}{{c}}{{{}}}", escape(group));
                rules += &format!("\\cmidrule(lr){{{first}-{}}}", first + span - 1);
                first += span;
            }
            text += &format!(" \\\\\n{rules}\n");
        }
        text += &escape(&self.corner);
        for column in &self.columns {
            text += &format!(" & {}", label(&column.label, column.cited));
        }
        text += " \\\\\n";
        text
    }
}

fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

fn label(text: &str, cited: bool) -> String {
    let mark = if cited { "$^{\\dagger}$" } else { "" };
    format!("{}{mark}", escape(text))
}

fn shown(cell: &Cell) -> String {
    let mean = escape(&cell.mean).replace(',', "{,}");
    let mean = if mean.starts_with('-') { format!("${mean}$") } else { mean };
    let mut text = match cell.rank {
        Rank::Best => format!("\\textbf{{{mean}}}"),
        Rank::Second => format!("\\underline{{{mean}}}"),
        Rank::Other => mean,
    };
    if let Some(sd) = &cell.sd {
        text += &format!("${{\\scriptstyle\\,\\pm\\,{}}}$", sd.replace(',', "{,}"));
    }
    if cell.stopped {
        text += "$^{*}$";
    }
    text
}
