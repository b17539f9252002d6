//! Self-contained HTML pages: style and figures are embedded.
//!
//! The templates escape everything that comes from data. Only the SVG and the tables that this crate
//! generates are inserted unescaped.

mod confusion;
mod experiment;
mod overview;
mod run;

use std::sync::OnceLock;

use minijinja::{AutoEscape, Environment, Value, context, syntax::SyntaxConfig, value::Serde};
use serde::Serialize;

use crate::{error::Error, table::Table};

pub use self::{
    experiment::{ExperimentPage, experiment_page},
    overview::{ExperimentLink, OverviewPage, overview_page},
    run::{
        ChangeRow, ClassReliability, ClassRow, Event, ImportanceRow, MemberRow, ObjectiveRow,
        ReliabilityRow, RunReport, TimeBin, run_page,
    },
};

const STYLE: &str = include_str!("../../templates/style.css");

fn render_template<T: Serialize>(template: &str, page: T) -> Result<String, Error> {
    let style = Value::from_safe_string(STYLE.to_owned());
    let values = context! { style, page => Value::from(Serde(page)) };
    Ok(environment().get_template(template)?.render(values)?)
}

fn environment() -> &'static Environment<'static> {
    static ENVIRONMENT: OnceLock<Environment<'static>> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.expect("the default delimiters are valid"));
        for (name, source) in [
            ("base.html", include_str!("../../templates/base.html")),
            ("experiment.html", include_str!("../../templates/experiment.html")),
            ("overview.html", include_str!("../../templates/overview.html")),
            ("run.html", include_str!("../../templates/run.html")),
            ("table.html", include_str!("../../templates/table.html")),
        ] {
            // The templates are part of the crate, and the tests render every one.
            environment.add_template(name, source).expect("a template of the crate is well-formed");
        }
        environment
    })
}

/// A table with its notes as HTML.
pub(crate) fn table_html(table: &Table) -> Result<String, Error> {
    render_template("table.html", table)
}

/// SVG or HTML that this crate has generated, which is not escaped again.
fn markup(text: &str) -> Value {
    Value::from_safe_string(text.to_owned())
}

/// Flattens a nested configuration into pairs of dotted name and value.
fn settings(config: &serde_json::Value) -> Vec<(String, String)> {
    fn collect(name: &str, value: &serde_json::Value, lines: &mut Vec<(String, String)>) {
        match value {
            serde_json::Value::Object(fields) if !fields.is_empty() => {
                for (field, value) in fields {
                    let name =
                        if name.is_empty() { field.clone() } else { format!("{name}.{field}") };
                    collect(&name, value, lines);
                }
            }
            serde_json::Value::Null => lines.push((name.to_owned(), "–".to_owned())),
            serde_json::Value::String(text) => lines.push((name.to_owned(), text.clone())),
            other => lines.push((name.to_owned(), other.to_string())),
        }
    }
    let mut lines = Vec::new();
    if !config.is_null() {
        collect("", config, &mut lines);
    }
    lines
}
