//! The weights of a model's members over time.

use crate::{
    figure::{
        axis::Axis,
        chart::{Chart, Key, Mark, Panel, Shape},
        curves::{marked, thinned},
        draw::draw,
        events::event_marks,
        style::Style,
    },
    number,
    record::CurvePoint,
};

/// More lines than this cannot be told apart; the members with the smallest weights then share one
/// line, their mean.
const MOST_LINES: usize = 10;

/// A line for the weight of each member, taken from the curve's `weight:NAME`, with vertical lines at
/// events. `None` for fewer than two members or without points.
pub(crate) fn member_weights(
    curve: &[CurvePoint],
    members: &[String],
    events: &[(u64, String)],
) -> Option<String> {
    let keys: Vec<String> = members.iter().map(|name| format!("weight:{name}")).collect();
    let rows: Vec<(u64, Vec<f64>)> = thinned(curve)
        .filter_map(|point| {
            let weights = keys.iter().map(|key| Some(100.0 * point.metric(key)?.clamp(0.0, 1.0)));
            Some((point.sample, weights.collect::<Option<Vec<f64>>>()?))
        })
        .collect();
    if members.len() < 2 || rows.is_empty() {
        return None;
    }
    let lines = lines(members, &rows);
    let last = rows.iter().map(|(sample, _)| *sample).max().unwrap_or(0);
    let most = lines.iter().flat_map(|(_, points)| points).map(|(_, y)| *y).fold(0.0, f64::max);
    let mut marks = Vec::new();
    let mut legend = Vec::new();
    for (index, (label, points)) in lines.iter().enumerate() {
        let style = Style { index };
        let markers = marked(points.len(), index, lines.len());
        marks.push(Mark::Line { points: points.clone(), style, markers });
        legend.push((label.clone(), Key::Line(style)));
    }
    let (events, event_key) = event_marks(events, last);
    marks.splice(..0, events);
    legend.extend(event_key);
    let panel = Panel {
        title: String::new(),
        x: Axis::from_zero(last as f64, 8),
        y: Axis::from_zero((1.05 * most).min(100.0), 5),
        marks,
    };
    Some(draw(&Chart {
        name: "members".to_owned(),
        title: "Weights of the members".to_owned(),
        description: format!(
            "The weight of each of {} members in percent over {} samples.",
            members.len(),
            number::count(last)
        ),
        x_title: "samples".to_owned(),
        y_title: "weight (%)".to_owned(),
        panels: vec![panel],
        legend,
        shape: Shape::Strip,
    }))
}

type Line = (String, Vec<(f64, f64)>);

/// The lines of the members in order. If there are too many, those with the smallest weights share one
/// line: their mean, which stays on the scale of the others, unlike their sum.
fn lines(members: &[String], rows: &[(u64, Vec<f64>)]) -> Vec<Line> {
    let total = |member: usize| rows.iter().map(|(_, weights)| weights[member]).sum::<f64>();
    let mut heaviest: Vec<usize> = (0..members.len()).collect();
    heaviest.sort_by(|a, b| total(*b).total_cmp(&total(*a)));
    let own = if members.len() > MOST_LINES { MOST_LINES - 1 } else { members.len() };
    let (own, rest) = heaviest.split_at_mut(own);
    own.sort_unstable();
    let line = |members: &[usize]| {
        let mean = |weights: &[f64]| {
            members.iter().map(|member| weights[*member]).sum::<f64>() / members.len() as f64
        };
        rows.iter().map(|(sample, weights)| (*sample as f64, mean(weights))).collect()
    };
    let mut lines: Vec<Line> =
        own.iter().map(|member| (members[*member].clone(), line(&[*member]))).collect();
    if !rest.is_empty() {
        lines.push((format!("mean of the other {}", rest.len()), line(rest)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_too_many_members_the_smallest_share_a_line() {
        let names: Vec<String> = (0..40).map(|k| k.to_string()).collect();
        let weights: Vec<f64> = (0..40).map(f64::from).collect();
        let lines = lines(&names, &[(10, weights)]);
        let labels: Vec<&str> = lines.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels[..2], ["31", "32"]);
        assert_eq!(labels[8..], ["39", "mean of the other 31"]);
        assert_eq!(lines[9].1, [(10.0, 15.0)]);
    }
}
