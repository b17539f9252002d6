//! Data may contain anything: markup, control characters, NaN and infinity, or nothing at all.

use std::collections::BTreeMap;

use broadstream_report::{
    BarsView, ClassReliability, ClassRow, CurvePoint, CurvesView, Error, Event, ExperimentLink,
    ExperimentPage, ImportanceRow, Labels, LinesView, MemberRow, ObjectiveRow, Output,
    OverviewPage, Record, ReliabilityRow, Rendered, RunReport, TableView, TimeBin, UpdateTime,
    View, experiment_page, overview_page, render, run_page,
};

const HOSTILE: &str = "<script>alert('x')</script>\"&\\%$#_{}~^|\u{1}µ±";

fn views() -> Vec<View> {
    let title = HOSTILE.to_owned();
    let caption = format!("{HOSTILE} and more");
    vec![
        View::Table(TableView {
            title: title.clone(),
            caption: caption.clone(),
            ..TableView::default()
        }),
        View::Curves(CurvesView {
            title: title.clone(),
            caption: caption.clone(),
            ..CurvesView::default()
        }),
        View::Bars(BarsView {
            title: title.clone(),
            caption: caption.clone(),
            log: true,
            ..BarsView::default()
        }),
        View::Lines(LinesView {
            title,
            caption,
            x: "size".to_owned(),
            log_x: true,
            log_y: true,
            fit: true,
            ..LinesView::default()
        }),
    ]
}

fn record(stream: &str, method: &str, seed: u64, value: f64) -> Record {
    Record {
        format: 1,
        experiment: HOSTILE.to_owned(),
        stream: stream.to_owned(),
        method: method.to_owned(),
        seed,
        parameters: [("size".to_owned(), 10.0)].into(),
        samples: 100,
        stopped: Some(HOSTILE.to_owned()),
        metrics: [("oca".to_owned(), value)].into(),
        curve: vec![CurvePoint { sample: 100, values: [("oca".to_owned(), value)].into() }],
        update_time: Some(UpdateTime { mean: value, ..UpdateTime::default() }),
        config: serde_json::json!({ HOSTILE: HOSTILE }),
        version: HOSTILE.to_owned(),
        machine: HOSTILE.to_owned(),
        note: Some(HOSTILE.to_owned()),
        ..Record::default()
    }
}

fn page(rendered: &Rendered, records: &[Record]) -> String {
    experiment_page(&ExperimentPage {
        title: HOSTILE,
        description: HOSTILE,
        date: Some(HOSTILE),
        rendered,
        records,
        labels: &Labels::default(),
    })
    .unwrap()
}

/// Every element that is opened is closed, in order. Text must not contain a `<`.
fn assert_balanced(page: &str) {
    let mut open: Vec<String> = Vec::new();
    let mut rest = page.strip_prefix("<!doctype html>").unwrap_or(page);
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        let name: String =
            tag.trim_start_matches('/').chars().take_while(|c| c.is_alphanumeric()).collect();
        assert!(!name.is_empty(), "'<{tag}>' is no tag");
        let is_void = ["meta", "img", "br"].contains(&name.as_str()) || tag.ends_with('/');
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name.as_str()), "'<{tag}>' closes another");
        } else if !is_void {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "never closed: {open:?}");
}

fn assert_harmless(page: &str) {
    assert!(!page.contains("<script"), "a label became markup");
    assert!(
        !page.contains("http://")
            || page.matches("http://").count()
                == page.matches("http://www.w3.org/2000/svg").count()
    );
    assert_balanced(page);
}

#[test]
fn markup_in_data_stays_text() {
    let records = [record(HOSTILE, HOSTILE, 0, 0.5), record(HOSTILE, "other", 0, 0.25)];
    let rendered = render(&views(), &records, &Labels::default()).unwrap();
    assert_harmless(&page(&rendered, &records));
    for view in &rendered.views {
        match &view.output {
            Output::Figure(figure) => assert_harmless(&figure.svg),
            Output::Table(table) => {
                assert_harmless(&table.html);
                assert!(!table.markdown.contains("<script"));
                let escaped = r"\textless{}script\textgreater{}";
                assert!(table.latex.contains(escaped), "{}", table.latex);
                assert!(
                    table.latex.contains(
                        r"\textbackslash{}\%\$\#\_\{\}\textasciitilde{}\textasciicircum{}"
                    )
                );
                assert!(table.latex.contains(r"$\mu$$\pm$"));
            }
        }
    }
}

#[test]
fn names_of_views_are_safe_and_distinct() {
    let rendered = render(&views(), &[], &Labels::default()).unwrap();
    let mut names: Vec<&str> = rendered.views.iter().map(|view| view.name.as_str()).collect();
    assert!(names.iter().all(|n| n.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')));
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 4);
}

#[test]
fn no_records_still_give_a_page() {
    let rendered = render(&views(), &[], &Labels::default()).unwrap();
    assert_harmless(&page(&rendered, &[]));
    assert_harmless(&run_page(&RunReport::default()).unwrap());
    assert_harmless(&overview_page(&OverviewPage::default()).unwrap());
}

#[test]
fn odd_numbers_never_panic() {
    let odd = [0.0, -1.0, f64::NAN, f64::INFINITY, 1e308, -1e308, 1e-308, 0.5];
    let pairs = (0..odd.len()).flat_map(|a| (a..odd.len()).map(move |b| (odd[a], odd[b])));
    for (first, second) in pairs {
        let records = [record("s", "m", 0, first), record("s", "m", 1, second)];
        for mut view in views() {
            if let View::Bars(bars) = &mut view {
                bars.log = first < second;
            }
            if let View::Lines(lines) = &mut view {
                (lines.log_x, lines.log_y) = (first < second, first < 0.5);
            }
            let rendered = render(&[view], &records, &Labels::default()).unwrap();
            if let Output::Figure(figure) = &rendered.views[0].output {
                let svg = &figure.svg;
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{first}, {second}: {svg}");
            }
        }
    }
}

#[test]
fn long_names_and_many_methods_fit() {
    let long = "a very long name ".repeat(40);
    let records: Vec<Record> = (0..30)
        .flat_map(|method| {
            let long = &long;
            (0..14).map(move |stream| {
                record(&format!("{stream} {long}"), &format!("{method} {long}"), 0, 0.5)
            })
        })
        .collect();
    let rendered = render(&views(), &records, &Labels::default()).unwrap();
    assert_harmless(&page(&rendered, &records));
}

#[test]
fn a_missing_run_is_a_dash() {
    let records = [record("a", "m", 0, 0.5), record("b", "n", 0, 0.5)];
    let rendered = render(&views()[..1], &records, &Labels::default()).unwrap();
    let Output::Table(table) = &rendered.views[0].output else { panic!("a table") };
    assert!(table.markdown.contains("| m | 50.00\\* | – |"), "{}", table.markdown);
}

#[test]
fn runs_of_different_kinds_are_not_averaged() {
    let mut other = record("s", "m", 1, 0.5);
    other.parameters.insert("size".to_owned(), 20.0);
    let error = render(&views()[..1], &[record("s", "m", 0, 0.5), other], &Labels::default());
    let error = error.unwrap_err();
    assert!(matches!(&error, Error::MixedRuns { differs, .. } if differs == "size"), "{error}");
    let twice = [record("s", "m", 0, 0.5), record("s", "m", 0, 0.5)];
    let error = render(&views()[..1], &twice, &Labels::default()).unwrap_err();
    assert!(matches!(error, Error::DuplicateRun { seed: 0, .. }), "{error}");
}

#[test]
fn a_view_of_the_wrong_shape_is_refused() {
    let view = |rows: &str, columns: &str| {
        let (rows, columns) = (rows.to_owned(), columns.to_owned());
        View::Table(TableView { title: "t".into(), rows, columns, ..TableView::default() })
    };
    let records = [record("s", "m", 0, 0.5)];
    for (rows, columns) in [("method", "method"), ("method", "seed"), ("weather", "stream")] {
        let error = render(&[view(rows, columns)], &records, &Labels::default()).unwrap_err();
        assert!(matches!(error, Error::View { .. }), "{error}");
    }
    assert!(toml::from_str::<View>("kind = 'table'\ntitle = 't'\nrow = 'method'").is_err());
}

fn run(classes: usize) -> RunReport {
    let values: BTreeMap<String, Option<f64>> = [
        ("oca".to_owned(), Some(0.9)),
        ("mcc".to_owned(), None),
        (HOSTILE.to_owned(), Some(f64::NAN)),
    ]
    .into();
    RunReport {
        source: HOSTILE.to_owned(),
        model: HOSTILE.to_owned(),
        samples: 100,
        labels: (0..classes).map(|class| format!("{class}{HOSTILE}")).collect(),
        metrics: values.clone(),
        window: values,
        curve: vec![CurvePoint { sample: 50, values: [("oca".to_owned(), 0.5)].into() }],
        events: vec![Event { sample: 20, label: HOSTILE.to_owned() }],
        confusion: (0..classes)
            .map(|row| (0..classes).map(|column| ((row * 7 + column) % 5) as u64).collect())
            .collect(),
        per_class: (0..classes)
            .map(|class| ClassRow {
                label: format!("{class}{HOSTILE}"),
                precision: Some(f64::NAN),
                recall: None,
                f1: Some(0.5),
                auc: Some(f64::INFINITY),
                auprc: None,
                support: class as u64,
            })
            .collect(),
        class_reliability: vec![
            ClassReliability {
                label: HOSTILE.to_owned(),
                error: 0.1,
                bins: vec![ReliabilityRow {
                    from: 0.0,
                    to: 1.0,
                    count: 3,
                    confidence: Some(0.5),
                    accuracy: Some(1e9),
                }],
            },
            ClassReliability { error: f64::NAN, ..ClassReliability::default() },
        ],
        objectives: vec![
            ObjectiveRow {
                name: HOSTILE.to_owned(),
                is_chosen: true,
                metrics: [("oca".to_owned(), Some(f64::NAN)), ("cost".to_owned(), None)].into(),
            },
            ObjectiveRow::default(),
        ],
        seconds: Some(0.0),
        times: vec![(HOSTILE.to_owned(), 1.0), ("none".to_owned(), f64::NAN)],
        histogram: vec![
            TimeBin { from: 0.0, to: 1e-6, count: 3 },
            TimeBin { from: 1e-6, to: 2e-6, count: 3 },
            TimeBin { from: 2e-6, to: f64::INFINITY, count: 3 },
        ],
        config: serde_json::json!({ "a": { HOSTILE: [1, HOSTILE] } }),
        ..RunReport::default()
    }
}

#[test]
fn runs_with_few_and_many_classes_have_a_page() {
    for classes in [0, 1, 2, 30, 31, 400] {
        let page = run_page(&run(classes)).unwrap();
        assert_harmless(&page);
        assert_eq!(page.contains("<table class=\"heat\">"), (2..=30).contains(&classes));
        assert_eq!(page.contains("most confused pairs"), classes > 30);
    }
}

/// A run of a model with this many members, and a curve of this many points with equal weights.
fn run_of_members(members: usize, points: u64, weight: f64) -> RunReport {
    let name = |member: usize| format!("{member}{HOSTILE}");
    let weights = || (0..members).map(|m| (format!("weight:{}", name(m)), weight)).collect();
    RunReport {
        members: (0..members)
            .map(|member| MemberRow { name: name(member), weight: Some(weight), features: None })
            .collect(),
        curve: (1..=points).map(|k| CurvePoint { sample: 10 * k, values: weights() }).collect(),
        events: (0..points).map(|k| Event { sample: k, label: "drift".to_owned() }).collect(),
        ..RunReport::default()
    }
}

#[test]
fn any_number_of_columns_with_any_importance_has_a_page() {
    for columns in [0, 1, 30, 31, 300] {
        for importance in [0.0, 0.5, -1.0, 7.0, 1e308, f64::NAN, f64::INFINITY] {
            let row = |column: usize| ImportanceRow {
                column: format!("{column}{HOSTILE}"),
                importance: Some(importance / (column + 1) as f64),
            };
            let importance = (0..columns).map(row).collect();
            let page = run_page(&RunReport { importance, ..RunReport::default() }).unwrap();
            assert_harmless(&page);
            assert_eq!(page.contains("<h2>Importance of columns</h2>"), columns > 0);
            assert_eq!(page.contains("270 more are not shown"), columns == 300);
            assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
        }
    }
}

#[test]
fn any_number_of_members_with_any_weights_has_a_page() {
    for members in [0, 1, 2, 10, 11, 40, 300] {
        for points in [0, 1, 3, 1000] {
            for weight in [0.0, 0.5, -1.0, 1e308, f64::NAN, f64::INFINITY] {
                let page = run_page(&run_of_members(members, points, weight)).unwrap();
                assert_harmless(&page);
                let drawn = members > 1 && points > 0 && weight.is_finite();
                assert_eq!(page.contains("<h2>Members</h2>"), drawn, "{members} {points} {weight}");
                assert!(!page.contains("NaN") && !page.contains("inf\""), "{page}");
                assert_eq!(page.contains("more are not shown"), drawn && members > 24);
            }
        }
    }
}

#[test]
fn any_reliability_has_a_page() {
    let odd = [0.0, 0.5, 1.0, -1.0, 7.0, 1e308, f64::NAN, f64::INFINITY];
    for (confidence, accuracy) in odd.iter().flat_map(|a| odd.iter().map(move |b| (*a, *b))) {
        for count in [0, 1, u64::MAX] {
            let row = ReliabilityRow {
                from: confidence,
                to: accuracy,
                count,
                confidence: Some(confidence),
                accuracy: Some(accuracy),
            };
            let reliability = vec![row, ReliabilityRow { count, ..ReliabilityRow::default() }, row];
            let page = run_page(&RunReport { reliability, ..RunReport::default() }).unwrap();
            assert_harmless(&page);
            let drawn = count > 0 && confidence.is_finite() && accuracy.is_finite();
            assert_eq!(page.contains("<h2>Calibration</h2>"), drawn);
            let svg = page.split("<svg").nth(1).unwrap_or("").split("</svg>").next().unwrap_or("");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}

#[test]
fn a_report_with_only_a_source_can_be_read() {
    let report: RunReport = serde_json::from_str(r#"{"source": "x.csv"}"#).unwrap();
    assert!(run_page(&report).unwrap().contains("x.csv"));
}

#[test]
fn only_addresses_of_pages_are_linked() {
    let page = overview_page(&OverviewPage {
        title: HOSTILE.to_owned(),
        experiments: vec![ExperimentLink {
            title: HOSTILE.to_owned(),
            href: "javascript:alert(1)".to_owned(),
            picture: Some(HOSTILE.to_owned()),
            ..ExperimentLink::default()
        }],
        ..OverviewPage::default()
    })
    .unwrap();
    assert_harmless(&page);
    assert!(!page.contains("javascript:"));
}
