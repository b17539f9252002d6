//! The console blocks of the README and of the guide, run as a reader would run them.
//!
//! All console blocks of a page run in one bash session, in an empty folder of their own, with the
//! `broadstream` of this build first on the path. A command must succeed. Where the page shows output,
//! the command must print it: `[..]` stands for any text within a line, and a line that is `...` for
//! any number of lines. Nothing here may need the network or files from outside the repository.
//!
//! Two comments in the Markdown, directly above a block, say something about it:
//!
//! - `<!-- not run: REASON -->` leaves a block out: downloads, installations, minutes of work.
//! - `<!-- file: NAME -->` makes the block a file of that name, which later commands of the page use.
//!
//! `UPDATE_GOLDEN=1 cargo test -p broadstream-cli pages_show` writes what the commands print now into
//! the pages. Python and Rust blocks are run elsewhere: see `python/tests/test_documentation.py` and the
//! end of the library's `lib.rs`. The crate `trycmd` does something similar, but it starts programs without a
//! shell, so that pipes and redirections, which streams live by, could not be shown.

#![cfg(unix)]

mod links;
mod page;
mod pattern;
mod session;

use std::{
    fs,
    path::{Path, PathBuf},
};

use self::page::{Marker, Page};
use self::session::Outcome;

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every page that a reader may follow: the README, the guide and what contributors read.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md", "bench/README.md"]
            .iter()
            .map(|name| root().join(name))
            .collect();
    add_pages(&root().join("docs"), &mut pages);
    pages.sort();
    pages
}

fn add_pages(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add_pages(&path, pages);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
}

#[test]
fn commands_print_what_the_pages_show() {
    let mut commands = 0;
    let mut faults = Vec::new();
    for path in pages() {
        let mut page = Page::read(&path);
        let outcomes = session::run(&page);
        commands += outcomes.len();
        let mut fault = |outcome: &Outcome| faults.extend(outcome.fault(&page));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            // A page never shows a failure by accident: such a command is still a fault.
            outcomes.iter().filter(|outcome| !outcome.has_succeeded()).for_each(&mut fault);
            page.update(&outcomes);
        } else {
            outcomes.iter().for_each(&mut fault);
        }
    }
    assert!(faults.is_empty(), "\n\n{}\n", faults.join("\n\n"));
    assert!(commands > 30, "only {commands} commands were found in the pages");
}

#[test]
fn every_block_is_run_or_says_why_not() {
    let library = fs::read_to_string(root().join("crates/broadstream/src/lib.rs")).unwrap();
    for path in pages() {
        let page = Page::read(&path);
        for block in &page.blocks {
            let place = format!("{}:{}", page.name, block.first_line);
            match (block.language.as_str(), &block.marker) {
                (_, Some(Marker::NotRun(reason))) => {
                    assert!(!reason.is_empty(), "{place}: 'not run' needs a reason");
                }
                ("console", Some(Marker::File(_))) => panic!("{place}: a session is not a file"),
                // Diagrams and formulas, and what the Python block above prints.
                ("console" | "python" | "text", _) | (_, Some(Marker::File(_))) => {}
                ("rust", None) => assert!(
                    library.contains(&format!("../../../{}\"", page.name)),
                    "{place}: Rust blocks run as doctests, so lib.rs has to include this page"
                ),
                (language, None) => {
                    panic!(
                        "{place}: nothing runs a block of '{language}'; mark it 'file' or 'not run'"
                    )
                }
            }
        }
    }
}

#[test]
fn links_between_pages_lead_somewhere() {
    let broken: Vec<String> = pages().iter().flat_map(|path| links::broken(path)).collect();
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

/// What the guide's index leaves out can only be found by chance.
#[test]
fn the_index_lists_every_page() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let mut pages = Vec::new();
    add_pages(&docs, &mut pages);
    for page in pages {
        let name = page.strip_prefix(&docs).unwrap().to_str().unwrap();
        let listed = summary.contains(&format!("({name})"));
        assert!(listed || name == "SUMMARY.md", "docs/SUMMARY.md does not list {name}");
    }
}
