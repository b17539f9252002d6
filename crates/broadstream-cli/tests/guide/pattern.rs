//! Output as a page shows it, with wildcards for what differs from machine to machine.

/// Whether lines are as shown, where a line that is `...` stands for any number of them.
pub(crate) fn all_match(shown: &[String], lines: &[&str]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first == "..." => {
            (0..=lines.len()).any(|skipped| all_match(rest, &lines[skipped..]))
        }
        Some((first, rest)) => lines
            .split_first()
            .is_some_and(|(line, others)| matches(first, line) && all_match(rest, others)),
    }
}

/// Whether a line is as shown, where `[..]` stands for any text. Blanks at the end of a line do not
/// matter: editors remove them.
pub(crate) fn matches(shown: &str, line: &str) -> bool {
    matches_trimmed(shown.trim_end(), line.trim_end())
}

fn matches_trimmed(shown: &str, line: &str) -> bool {
    match shown.split_once("[..]") {
        None => shown == line,
        Some((before, after)) => line.strip_prefix(before).is_some_and(|rest| {
            let mut starts = rest.char_indices().map(|(i, _)| i).chain([rest.len()]);
            starts.any(|start| matches_trimmed(after, &rest[start..]))
        }),
    }
}

#[test]
fn wildcards_stand_for_what_differs() {
    assert!(matches("took [..] s", "took 1.25 s"));
    assert!(matches("[..]", ""));
    assert!(matches("| 1 |", "| 1 | "));
    assert!(matches("a[..]b[..]c", "a b b c"));
    assert!(!matches("took [..] s", "took 1.25 ms!"));
    let shown = ["first", "...", "last"].map(str::to_owned);
    assert!(all_match(&shown, &["first", "last"]));
    assert!(all_match(&shown, &["first", "last", "last"]));
    assert!(!all_match(&shown, &["first", "last", "more"]));
    assert!(!all_match(&shown, &["first"]));
}
