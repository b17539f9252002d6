//! Dependencies between the library's rooms point one way.
//!
//! A room is a module of the crate's root. Each may use those that come before it in [`ROOMS`], and
//! no other. Tests inside the sources are exempt.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The rooms from the ground up.
const ROOMS: [&str; 18] = [
    "error",
    "numeric",
    "data",
    "state",
    "drift",
    "metrics",
    "stream",
    "preprocessing",
    "config",
    "decision",
    "classifier",
    "features",
    "regression",
    "ensemble",
    "online_bls",
    "baselines",
    "prequential",
    "model_file",
];

#[test]
fn every_room_uses_only_rooms_below_it() {
    let mut faults = Vec::new();
    for file in sources(&root()) {
        let room = room_of(&file);
        if room == "lib" {
            continue;
        }
        let rank = ROOMS.iter().position(|known| *known == room);
        let rank = rank.unwrap_or_else(|| panic!("'{room}' is not listed in ROOMS"));
        let text = fs::read_to_string(&file).unwrap();
        for used in rooms_used(&text).difference(&ROOMS[..=rank].iter().copied().collect()) {
            faults.push(format!("{} uses {used}", file.display()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_room_that_is_listed_exists() {
    let found: BTreeSet<String> = sources(&root()).iter().map(|file| room_of(file)).collect();
    for room in ROOMS {
        assert!(found.contains(room), "there is no room '{room}'");
    }
}

#[test]
fn uses_are_found_in_every_form() {
    let text = "use crate::{data::{Block, Sample}, error::Error};\n\
                fn f() { crate::numeric::ln(1.0) }\n\
                /// See [`x`](crate::stream).\n\
                #[cfg(test)]\nmod tests { use crate::model_file::read; }\n";
    let used: Vec<&str> = rooms_used(text).into_iter().collect();
    assert_eq!(used, ["data", "error", "numeric"]);
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// All source files except those that contain only tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
        if path.is_dir() && !is_test {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test {
            files.push(path);
        }
    }
    files
}

/// The name of the room that a file is in.
fn room_of(file: &Path) -> String {
    let within = file.strip_prefix(root()).unwrap();
    let first = within.components().next().unwrap();
    Path::new(&first).file_stem().unwrap().to_str().unwrap().to_owned()
}

/// The rooms that a source refers to by a path from the crate's root, outside comments and tests.
fn rooms_used(text: &str) -> BTreeSet<&'static str> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = lines.flat_map(|line| [line, "\n"]).collect();
    let mut used = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => used.extend(names_in_group(group)),
            None => used.extend([identifier(rest)]),
        }
    }
    ROOMS.into_iter().filter(|room| used.contains(*room)).collect()
}

/// The first names of the paths in a group `{a::{b, c}, d::e}`, after its opening brace.
fn names_in_group(group: &str) -> Vec<&str> {
    let (mut depth, mut names, mut start) = (1, Vec::new(), 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if (c == ',' && depth == 1) || depth == 0 {
            names.push(identifier(group[start..at].trim_start()));
            start = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    names
}

fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}
