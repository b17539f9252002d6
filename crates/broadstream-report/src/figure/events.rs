//! Events of a run, such as drifts, as vertical lines in its figures.

use crate::figure::chart::{Key, Mark};

/// The smallest distance between two lines, as a share of the axis: closer lines look like one.
const CLOSEST: f64 = 1.0 / 800.0;

/// The lines for events up to the last sample, and their entry in the legend. If all events are of one
/// kind, only the legend names it; otherwise each line has its own label.
pub(super) fn event_marks(
    events: &[(u64, String)],
    last: u64,
) -> (Vec<Mark>, Option<(String, Key)>) {
    let mut events: Vec<&(u64, String)> =
        events.iter().filter(|(sample, _)| *sample <= last).collect();
    events.sort();
    let kind = events.first().map_or("", |(_, label)| label.as_str());
    let alike = events.iter().all(|(_, label)| label == kind);
    let legend = (alike && !kind.is_empty()).then(|| (kind.to_owned(), Key::Event));
    let mut marks = Vec::new();
    let mut before = f64::NEG_INFINITY;
    for (sample, label) in events {
        let x = *sample as f64;
        if x - before >= CLOSEST * last as f64 {
            before = x;
            let label = if alike { String::new() } else { label.clone() };
            marks.push(Mark::Event { x, label });
        }
    }
    (marks, legend)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(events: &[(u64, &str)]) -> (Vec<(f64, String)>, Option<String>) {
        let events: Vec<(u64, String)> =
            events.iter().map(|(sample, label)| (*sample, (*label).to_owned())).collect();
        let (marks, legend) = event_marks(&events, 1000);
        let line = |mark: Mark| match mark {
            Mark::Event { x, label } => (x, label),
            _ => panic!("an event"),
        };
        (marks.into_iter().map(line).collect(), legend.map(|(label, _)| label))
    }

    #[test]
    fn events_of_one_kind_are_named_once() {
        let (lines, legend) = labels(&[(20, "drift"), (10, "drift"), (2000, "other")]);
        assert_eq!(lines, [(10.0, String::new()), (20.0, String::new())]);
        assert_eq!(legend.as_deref(), Some("drift"));
        let (lines, legend) = labels(&[(10, "drift"), (20, "restart")]);
        assert_eq!(lines[1], (20.0, "restart".to_owned()));
        assert_eq!(legend, None);
        assert_eq!(labels(&[]), (Vec::new(), None));
    }

    #[test]
    fn lines_at_the_same_pixel_are_one() {
        let crowd: Vec<(u64, &str)> = (0..1000).flat_map(|k| [(k, ""); 50]).collect();
        assert!(labels(&crowd).0.len() <= 801);
    }
}
