//! Links from one file of the repository to another.

use std::{fs, path::Path};

use super::root;

/// The links of a page to files that do not exist, and to headings that do not.
pub(crate) fn broken(path: &Path) -> Vec<String> {
    let name = path.strip_prefix(root()).unwrap().display().to_string();
    let text = fs::read_to_string(path).unwrap();
    let fault = |target: &str| {
        let (file, heading) = target.split_once('#').unwrap_or((target, ""));
        let file = if file.is_empty() { path.to_owned() } else { path.parent()?.join(file) };
        if !file.exists() {
            return Some(format!("{name}: {target} does not exist"));
        }
        let is_missing = !heading.is_empty() && !anchors(&file).iter().any(|a| a == heading);
        is_missing.then(|| format!("{name}: {target} has no such heading"))
    };
    targets(&text).into_iter().filter(|target| !is_elsewhere(target)).filter_map(fault).collect()
}

fn is_elsewhere(target: &str) -> bool {
    target.starts_with("https://") || target.starts_with("http://")
}

/// What links and images of a Markdown text point to: `](target)`, outside of fenced blocks.
fn targets(text: &str) -> Vec<&str> {
    let mut targets = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        let mut rest = if fenced { "" } else { line };
        while let Some((_, after)) = rest.split_once("](") {
            let Some((target, more)) = after.split_once(')') else { break };
            targets.push(target);
            rest = more;
        }
    }
    targets
}

/// The anchors that GitHub and mdBook give the headings of a page.
fn anchors(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}
