//! Renders views of records as tables and figures.

use crate::{
    error::Error,
    figure::{self, Context, Figure, Styles},
    labels::Labels,
    page,
    record::Record,
    table::{self, Table},
    view::View,
};

/// All views of an experiment, rendered.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Rendered {
    /// One entry per view, in the order of the views.
    pub views: Vec<RenderedView>,
}

/// One rendered table or figure.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RenderedView {
    /// The title as a file name: lower-case letters, digits and hyphens, unique among the views.
    pub name: String,
    /// The view's title.
    pub title: String,
    /// The view's caption.
    pub caption: String,
    /// The rendered table or figure.
    pub output: Output,
}

/// A table or a figure.
#[derive(Clone, Debug)]
pub enum Output {
    /// A table.
    Table(TableOutput),
    /// A figure.
    Figure(FigureOutput),
}

/// A table in all its formats.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TableOutput {
    /// A Markdown table with its notes.
    pub markdown: String,
    /// A `table` environment with `booktabs` rules.
    pub latex: String,
    /// One line per cell, with the values as measured: fractions and seconds.
    pub csv: String,
    /// A `<table>` with its notes, to be styled by a page.
    pub html: String,
}

/// A figure in all its formats.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FigureOutput {
    /// The figure as SVG.
    pub svg: String,
    /// The figure as PNG, with two pixels per unit of the SVG. Only a build with the feature `png` makes it.
    pub png: Option<Vec<u8>>,
    /// The plotted values as measured: fractions and seconds.
    pub csv: String,
    /// A text description of the figure.
    pub description: String,
    /// The exponents of the fitted power laws, if the view requests them.
    pub table: Option<TableOutput>,
}

impl RenderedView {
    /// The files of this view, as pairs of name and content.
    pub fn files(&self) -> Vec<(String, &[u8])> {
        let name = |ending: &str| format!("{}.{ending}", self.name);
        match &self.output {
            Output::Table(table) => table_files(&name, table),
            Output::Figure(figure) => {
                let mut files = vec![(name("svg"), figure.svg.as_bytes())];
                files.extend(figure.png.as_deref().map(|png| (name("png"), png)));
                files.push((name("csv"), figure.csv.as_bytes()));
                if let Some(table) = &figure.table {
                    files.extend(table_files(&|ending| name(&format!("fit.{ending}")), table));
                }
                files
            }
        }
    }
}

fn table_files<'a>(
    name: &dyn Fn(&str) -> String,
    table: &'a TableOutput,
) -> Vec<(String, &'a [u8])> {
    vec![
        (name("md"), table.markdown.as_bytes()),
        (name("tex"), table.latex.as_bytes()),
        (name("csv"), table.csv.as_bytes()),
        (name("html"), table.html.as_bytes()),
    ]
}

/// Renders every view. The same records give the same bytes.
///
/// Methods and streams appear in the order of the records, unless a view states another order. A
/// method has the same style in all figures.
///
/// ```
/// use broadstream_report::{Labels, Output, Record, TableView, View, render};
///
/// let line = |method: &str, seed: u64, oca: f64| format!(
///     r#"{{"format": 1, "experiment": "e", "stream": "sea", "method": "{method}", "seed": {seed},
///         "metrics": {{"oca": {oca}}}}}"#
/// );
/// let lines = [
///     line("online-bls", 0, 0.880),
///     line("online-bls", 1, 0.884),
///     line("majority", 0, 0.640),
///     line("majority", 1, 0.640),
/// ];
/// let records = Record::read(&lines.join("\n"), "runs.jsonl")?;
/// let view = View::Table(TableView { title: "Accuracy".into(), ..TableView::default() });
/// let rendered = render(&[view], &records, &Labels::default())?;
/// let Output::Table(table) = &rendered.views[0].output else { panic!("a table view gives a table") };
/// assert!(table.markdown.contains("| Online-BLS | **88.20** ± 0.28 |"), "{}", table.markdown);
/// # Ok::<(), broadstream_report::Error>(())
/// ```
pub fn render(views: &[View], records: &[Record], labels: &Labels) -> Result<Rendered, Error> {
    let styles = Styles::new(records);
    let mut rendered = Rendered::default();
    for view in views {
        let name = unused_name(view.title(), &rendered.views);
        let context = Context { name: &name, records, labels, styles: &styles };
        let output = match view {
            View::Table(table_view) => {
                let table = table::build(table_view, records, labels)?;
                Output::Table(table_output(&table, &name, view.title(), view.caption())?)
            }
            View::Curves(view) => figure_output(&name, figure::curves(view, context)?)?,
            View::Bars(view) => figure_output(&name, figure::bars(view, context)?)?,
            View::Lines(view) => figure_output(&name, figure::lines(view, context)?)?,
        };
        let (title, caption) = (view.title().to_owned(), view.caption().to_owned());
        rendered.views.push(RenderedView { name, title, caption, output });
    }
    Ok(rendered)
}

fn table_output(
    table: &Table,
    name: &str,
    title: &str,
    caption: &str,
) -> Result<TableOutput, Error> {
    Ok(TableOutput {
        markdown: table.markdown(),
        latex: table.latex(name, title, caption),
        csv: table.csv(),
        html: page::table_html(table)?,
    })
}

fn figure_output(name: &str, figure: Figure) -> Result<Output, Error> {
    let table = match &figure.table {
        Some(table) => Some(table_output(table, &format!("{name}-fit"), "Fitted exponents", "")?),
        None => None,
    };
    Ok(Output::Figure(FigureOutput {
        png: pixels(name, &figure.svg)?,
        svg: figure.svg,
        csv: figure.csv,
        description: figure.description,
        table,
    }))
}

#[cfg(feature = "png")]
fn pixels(name: &str, svg: &str) -> Result<Option<Vec<u8>>, Error> {
    figure::png(name, svg).map(Some)
}

#[cfg(not(feature = "png"))]
fn pixels(_name: &str, _svg: &str) -> Result<Option<Vec<u8>>, Error> {
    Ok(None)
}

/// The title as a file name, different from those already taken.
fn unused_name(title: &str, taken: &[RenderedView]) -> String {
    let mut name = String::new();
    for character in title.chars().flat_map(char::to_lowercase) {
        if character.is_ascii_alphanumeric() {
            name.push(character);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
        if name.len() >= 60 {
            break;
        }
    }
    let name = match name.trim_end_matches('-') {
        "" => "view",
        name => name,
    };
    let is_free = |name: &String| taken.iter().all(|view| view.name != *name);
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(is_free).unwrap_or_default()
}
