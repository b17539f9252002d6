//! A Markdown page as its fenced blocks, and the commands of those that are console sessions.

use std::{
    fs,
    ops::Range,
    path::{Path, PathBuf},
};

use super::{pattern, root, session::Outcome};

pub(crate) struct Page {
    path: PathBuf,
    /// Its path within the repository.
    pub(crate) name: String,
    lines: Vec<String>,
    pub(crate) blocks: Vec<Block>,
}

/// A fenced block.
pub(crate) struct Block {
    pub(crate) language: String,
    pub(crate) marker: Option<Marker>,
    /// The number of its first line in the file, counted from 1.
    pub(crate) first_line: usize,
    pub(crate) text: String,
    /// Of a console session.
    pub(crate) commands: Vec<Command>,
}

/// What a comment above a block says about it.
pub(crate) enum Marker {
    NotRun(String),
    File(String),
}

/// A command of a console session, with the output that the page shows.
#[derive(Clone)]
pub(crate) struct Command {
    pub(crate) text: String,
    pub(crate) output: Vec<String>,
    /// The number of the command's line in the file, counted from 1.
    pub(crate) line: usize,
    /// Where its output lies among the lines of the page.
    output_lines: Range<usize>,
}

impl Page {
    pub(crate) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        let blocks = blocks(&lines);
        Page { path: path.to_owned(), name, lines, blocks }
    }

    /// Writes into the page what its commands have printed, where that is not what the page shows.
    pub(crate) fn update(&mut self, outcomes: &[Outcome]) {
        // From the end of the page, so that the lines before stay where they are.
        let outdated = |outcome: &&Outcome| outcome.has_succeeded() && !outcome.is_as_shown();
        for outcome in outcomes.iter().rev().filter(outdated) {
            let shown = &outcome.command.output;
            let printed = outcome.printed.lines().map(|line| line.trim_end().to_owned());
            let printed: Vec<String> = printed.collect();
            let one_by_one = shown.len() == printed.len();
            let keep = |(i, line): (usize, String)| {
                if one_by_one && pattern::matches(&shown[i], &line) {
                    shown[i].clone()
                } else {
                    line
                }
            };
            let lines: Vec<String> = printed.into_iter().enumerate().map(keep).collect();
            self.lines.splice(outcome.command.output_lines.clone(), lines);
        }
        fs::write(&self.path, self.lines.join("\n") + "\n").unwrap();
    }
}

fn blocks(lines: &[String]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut marker = None;
    let mut i = 0;
    while i < lines.len() {
        if let Some(language) = lines[i].strip_prefix("```") {
            let end = (i + 1..lines.len()).find(|&j| lines[j] == "```").expect("a fence is closed");
            let content = i + 1..end;
            let is_session = language == "console";
            blocks.push(Block {
                language: language.to_owned(),
                marker: marker.take(),
                first_line: i + 2,
                text: lines[content.clone()].iter().map(|line| format!("{line}\n")).collect(),
                commands: if is_session { commands(lines, content) } else { Vec::new() },
            });
            i = end;
        } else if !lines[i].is_empty() {
            marker = parse_marker(&lines[i]);
        }
        i += 1;
    }
    blocks
}

fn parse_marker(line: &str) -> Option<Marker> {
    let comment = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    let (kind, text) = comment.split_once(": ")?;
    match kind {
        "not run" => Some(Marker::NotRun(text.to_owned())),
        "file" => Some(Marker::File(text.to_owned())),
        _ => None,
    }
}

/// The commands of a session: a line that begins with `$ `, and as many more as begin with `> `.
fn commands(lines: &[String], session: Range<usize>) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    for i in session {
        let line = &lines[i];
        if let Some(text) = line.strip_prefix("$ ") {
            let (text, output_lines) = (text.to_owned(), i + 1..i + 1);
            commands.push(Command { text, output: Vec::new(), line: i + 1, output_lines });
            continue;
        }
        let command = commands.last_mut().expect("a session begins with a command");
        match line.strip_prefix("> ") {
            Some(more) if command.output.is_empty() => {
                command.text += &format!("\n{more}");
                command.output_lines = i + 1..i + 1;
            }
            _ => {
                command.output.push(line.clone());
                command.output_lines.end = i + 1;
            }
        }
    }
    commands
}
