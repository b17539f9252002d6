//! The page that links to the pages of several experiments.

use serde::Serialize;

use crate::{error::Error, page::render_template};

/// The content of the overview page.
#[derive(Clone, Debug, Default, Serialize)]
pub struct OverviewPage {
    /// The title.
    pub title: String,
    /// A paragraph below the title. May be empty.
    pub description: String,
    /// The date of the experiments, as text.
    pub date: Option<String>,
    /// The experiments, in this order.
    pub experiments: Vec<ExperimentLink>,
}

/// One experiment in the overview.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ExperimentLink {
    /// Its title.
    pub title: String,
    /// The address of its page, relative to the overview. Addresses that could run a script are
    /// replaced by `#`.
    pub href: String,
    /// The question that it answers. May be empty.
    pub description: String,
    /// Its size in a few words, such as `6 streams · 5 methods · 10 seeds`. May be empty.
    pub size: String,
    /// One of its figures as SVG, as returned by [`render`](crate::render), to show as a thumbnail.
    /// Default `None`.
    #[serde(skip)]
    pub picture: Option<String>,
}

/// A self-contained page of links to experiments.
///
/// ```
/// use broadstream_report::{ExperimentLink, OverviewPage, overview_page};
///
/// let page = overview_page(&OverviewPage {
///     title: "Experiments".into(),
///     experiments: vec![ExperimentLink {
///         title: "Accuracy & speed".into(),
///         href: "table2/index.html".into(),
///         ..ExperimentLink::default()
///     }],
///     ..OverviewPage::default()
/// })?;
/// assert!(page.contains("Accuracy &amp; speed"));
/// # Ok::<(), broadstream_report::Error>(())
/// ```
pub fn overview_page(page: &OverviewPage) -> Result<String, Error> {
    let mut page = page.clone();
    for experiment in &mut page.experiments {
        if runs_a_script(&experiment.href) {
            experiment.href = "#".to_owned();
        }
    }
    render_template("overview.html", context(&page))
}

#[derive(Serialize)]
struct Context<'a> {
    title: &'a str,
    description: &'a str,
    date: Option<&'a str>,
    experiments: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    #[serde(flatten)]
    link: &'a ExperimentLink,
    picture: Option<String>,
}

fn context(page: &OverviewPage) -> Context<'_> {
    let entry = |link| Entry { link, picture: picture(link) };
    Context {
        title: &page.title,
        description: &page.description,
        date: page.date.as_deref(),
        experiments: page.experiments.iter().map(entry).collect(),
    }
}

/// The figure as a data URL for an image. Figures of different experiments may use the same ids, which
/// do not clash between images, and an image never runs scripts.
fn picture(link: &ExperimentLink) -> Option<String> {
    link.picture.as_ref().map(|svg| {
        let mut address = String::from("data:image/svg+xml,");
        for byte in svg.bytes() {
            match byte {
                b'A'..=b'Z'
                | b'a'..=b'z'
                | b'0'..=b'9'
                | b' '
                | b'='
                | b'/'
                | b':'
                | b'.'
                | b','
                | b'-'
                | b'('
                | b')' => address.push(byte as char),
                b'\n' => address.push(' '),
                _ => address += &format!("%{byte:02X}"),
            }
        }
        address
    })
}

/// Whether an address has a scheme other than those of pages.
fn runs_a_script(href: &str) -> bool {
    let before = href.split(['/', '?', '#']).next().unwrap_or_default();
    let scheme = before.split_once(':').map(|(scheme, _)| scheme.trim().to_ascii_lowercase());
    scheme.is_some_and(|scheme| !["http", "https", "file"].contains(&scheme.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_pages_are_linked() {
        assert!(runs_a_script("javascript:alert(1)"));
        assert!(runs_a_script(" JavaScript:alert(1)"));
        assert!(runs_a_script("data:text/html,x"));
        assert!(!runs_a_script("table2/index.html"));
        assert!(!runs_a_script("a/b:c.html"));
        assert!(!runs_a_script("https://example.org/x"));
    }
}
