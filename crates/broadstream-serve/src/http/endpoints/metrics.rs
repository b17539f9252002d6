//! `GET /metrics`
//!
//! The text format of Prometheus, written here: it is a line per number, and the crates for it bring a registry
//! of their own for numbers that the models have already.

use std::{fmt::Write, sync::Arc};

use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};

use crate::{
    http::{
        app::{App, Caller},
        problem::Problem,
    },
    learning::{Histogram, Model},
    security::Role,
};

/// Figures for Prometheus.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "operation",
    responses(
        (status = 200, body = String, content_type = "text/plain", description = "The figures, in Prometheus's text format"),
        (status = "4XX", body = Problem, content_type = "application/problem+json", description = "The request was refused"),
    )
)]
pub(crate) async fn metrics(
    State(app): State<Arc<App>>,
    caller: Caller,
) -> Result<Response, Problem> {
    if let Caller::Nobody = caller {
        caller.check(Role::Predict, None)?;
    }
    let (models, unusable) = app.registry.all();
    let models: Vec<Arc<Model>> =
        models.into_iter().filter(|model| caller.sees(model.name.as_str())).collect();
    let mut text = String::new();
    write_all(&mut text, &app, &models, unusable.len());
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok((kind, text).into_response())
}

fn write_all(text: &mut String, app: &App, models: &[Arc<Model>], unusable: usize) {
    head(text, "ready", "gauge", "Whether requests are answered");
    line(text, "ready", "", f64::from(u8::from(app.registry.is_ready())));
    head(text, "models_unusable", "gauge", "Models that could not be opened");
    line(text, "models_unusable", "", unusable as f64);
    head(text, "http_responses_total", "counter", "Answers by the first digit of their status");
    for (digit, count) in app.answers.counts() {
        line(text, "http_responses_total", &format!("{{code=\"{digit}xx\"}}"), count as f64);
    }
    type Figure = (&'static str, &'static str, &'static str, fn(&Model) -> Option<f64>);
    let figures: [Figure; 11] = [
        ("version", "gauge", "Requests that have changed the model", |m| Some(m.latest() as f64)),
        ("rows_learned_total", "counter", "Rows that the service has learned", |m| {
            let published = m.published();
            Some((published.rows_learned + m.lag(&published)) as f64)
        }),
        ("rows_predicted_total", "counter", "Rows predicted since the service began", |m| {
            Some(m.statistics().predicted as f64)
        }),
        ("rows_waiting", "gauge", "Rows that wait to be learned", |m| Some(m.waiting() as f64)),
        ("lag_rows", "gauge", "Rows learned that readers do not see yet", |m| {
            Some(m.lag(&m.published()) as f64)
        }),
        ("pending_predictions", "gauge", "Predictions that wait for their labels", |m| {
            Some(m.published().pending as f64)
        }),
        ("accuracy_ratio", "gauge", "Share of the last labelled rows predicted right", |m| {
            m.statistics().accuracy()
        }),
        ("estimated_accuracy_ratio", "gauge", "Mean probability of the predicted label", |m| {
            m.statistics().estimated_accuracy()
        }),
        ("drifts_total", "counter", "Rises of the error that were noticed", |m| {
            Some(m.statistics().drifts.len() as f64)
        }),
        ("memory_bytes", "gauge", "Memory of the model, as counted for its limit", |m| {
            Some(m.published().model().bytes() as f64)
        }),
        ("storage_failing", "gauge", "Whether the log could not be written last time", |m| {
            Some(f64::from(u8::from(m.is_storage_failing())))
        }),
    ];
    for (name, kind, help, figure) in figures {
        let name = format!("model_{name}");
        head(text, &name, kind, help);
        for model in models {
            if let Some(value) = figure(model) {
                line(text, &name, &format!("{{model=\"{}\"}}", model.name), value);
            }
        }
    }
    histograms(text, models);
}

fn histograms(text: &mut String, models: &[Arc<Model>]) {
    type Times = fn(&crate::learning::Statistics) -> &Histogram;
    let times: [(&str, &str, Times); 4] = [
        ("predict_seconds", "Time to predict the rows of a request", |s| &s.predict_times),
        ("learn_seconds", "Time to learn the rows of a request", |s| &s.learn_times),
        ("sync_seconds", "Time to bring the log to the disk", |s| &s.sync_times),
        ("label_delay_seconds", "Time from a prediction to its label", |s| &s.label_delays),
    ];
    for (name, help, times) in times {
        let name = format!("model_{name}");
        head(text, &name, "histogram", help);
        for model in models {
            let statistics = model.statistics();
            let (histogram, of) = (times(&statistics), format!("model=\"{}\"", model.name));
            for (bound, count) in histogram.cumulative() {
                let labels = format!("{{{of},le=\"{bound}\"}}");
                line(text, &format!("{name}_bucket"), &labels, count as f64);
            }
            let count = histogram.count() as f64;
            line(text, &format!("{name}_bucket"), &format!("{{{of},le=\"+Inf\"}}"), count);
            line(text, &format!("{name}_sum"), &format!("{{{of}}}"), histogram.sum());
            line(text, &format!("{name}_count"), &format!("{{{of}}}"), count);
        }
    }
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a text cannot fail.
    let _ = writeln!(text, "# HELP broadstream_{name} {help}\n# TYPE broadstream_{name} {kind}");
}

fn line(text: &mut String, name: &str, labels: &str, value: f64) {
    let _ = writeln!(text, "broadstream_{name}{labels} {value}");
}
