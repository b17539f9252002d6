//! From views and records to files.

use crate::{
    error::Error,
    figure::{self, Figure, Styles},
    labels::Labels,
    page,
    record::Record,
    table::{self, Table},
    view::View,
};

/// All views of an experiment, rendered.
#[derive(Clone, Debug, Default)]
pub struct Rendered {
    /// One entry per view, in the order of the views.
    pub views: Vec<RenderedView>,
}

/// One rendered table or figure.
#[derive(Clone, Debug)]
pub struct RenderedView {
    /// The title as part of a file name: lower case letters, digits and hyphens, unlike the names of
    /// all other views.
    pub name: String,
    /// The view's title.
    pub title: String,
    /// The view's caption.
    pub caption: String,
    /// What was made of it.
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

/// A table in all its forms.
#[derive(Clone, Debug)]
pub struct TableOutput {
    /// For a README.
    pub markdown: String,
    /// A `table` environment with `booktabs` rules.
    pub latex: String,
    /// One line per cell, with the numbers as they were measured: fractions and seconds.
    pub csv: String,
    /// A `<table>` with its notes, to be styled by the page.
    pub html: String,
}

/// A figure in all its forms.
#[derive(Clone, Debug)]
pub struct FigureOutput {
    /// The figure itself; it scales to any size.
    pub svg: String,
    /// The same as PNG, two pixels for each unit of the SVG. Only a build with the feature `png` makes it.
    pub png: Option<Vec<u8>>,
    /// The plotted numbers as they were measured: fractions and seconds.
    pub csv: String,
    /// What the figure shows, in words.
    pub description: String,
    /// The exponents of fitted power laws, if they were asked for.
    pub table: Option<TableOutput>,
}

impl RenderedView {
    /// The files of this view: names and contents.
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
/// Methods and streams come in the order in which records first name them, unless a view has an
/// order of its own; a method looks the same in all figures.
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
/// let Output::Table(table) = &rendered.views[0].output else { panic!("a table view makes a table") };
/// assert!(table.markdown.contains("| Online-BLS | **88.20** ± 0.28 |"), "{}", table.markdown);
/// # Ok::<(), broadstream_report::Error>(())
/// ```
pub fn render(views: &[View], records: &[Record], labels: &Labels) -> Result<Rendered, Error> {
    let styles = Styles::new(records);
    let mut rendered = Rendered::default();
    for view in views {
        let name = unused_name(view.title(), &rendered.views);
        let output = match view {
            View::Table(table_view) => {
                let table = table::build(table_view, records, labels)?;
                Output::Table(print(&table, &name, view.title(), view.caption())?)
            }
            View::Curves(view) => {
                finish(&name, figure::curves(&name, view, records, labels, &styles)?)?
            }
            View::Bars(view) => {
                finish(&name, figure::bars(&name, view, records, labels, &styles)?)?
            }
            View::Lines(view) => {
                finish(&name, figure::lines(&name, view, records, labels, &styles)?)?
            }
        };
        let (title, caption) = (view.title().to_owned(), view.caption().to_owned());
        rendered.views.push(RenderedView { name, title, caption, output });
    }
    Ok(rendered)
}

fn print(table: &Table, name: &str, title: &str, caption: &str) -> Result<TableOutput, Error> {
    Ok(TableOutput {
        markdown: table.markdown(),
        latex: table.latex(name, title, caption),
        csv: table.csv(),
        html: page::table(table)?,
    })
}

fn finish(name: &str, figure: Figure) -> Result<Output, Error> {
    let table = match &figure.table {
        Some(table) => Some(print(table, &format!("{name}-fit"), "Fitted exponents", "")?),
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

/// The title as a name, made different from those that were given already.
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
