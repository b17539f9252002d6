//! Models in pipes: a line in, a line out, at once.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use serde_json::Value;

use super::{Folder, rows};

/// A command that is asked line by line.
struct Dialogue {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Dialogue {
    fn new(folder: &Folder, arguments: &str) -> Self {
        let mut command = folder.command(arguments);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let to = child.stdin.take().unwrap();
        let from = BufReader::new(child.stdout.take().unwrap());
        Dialogue { child, to, from }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.to, "{line}").unwrap();
        self.to.flush().unwrap();
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn end(self) -> String {
        drop(self.to);
        let output = self.child.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    }
}

fn trained() -> Folder {
    let folder = Folder::new();
    folder.write("rows.csv", rows(0..300));
    folder.stdout("run rows.csv --enhancement-nodes 20 --quiet --save a.bsm");
    folder
}

#[test]
fn each_row_is_answered_before_the_next_is_written() {
    let folder = trained();
    let mut dialogue = Dialogue::new(&folder, "predict a.bsm");
    dialogue.say("weight,size,colour");
    for (i, row) in ["3,4.5,red", "30,20.5,blue", "7,,grey"].iter().enumerate() {
        dialogue.say(row);
        if i == 0 {
            assert_eq!(dialogue.hear(), "prediction,probability,leverage");
        }
        let answer = dialogue.hear();
        let cells: Vec<&str> = answer.split(',').collect();
        assert!(["small", "large", "late"].contains(&cells[0]), "{answer}");
        assert!(cells[1..].iter().all(|cell| cell.parse::<f64>().unwrap() > 0.0), "{answer}");
    }
    dialogue.end();
}

#[test]
fn rows_with_a_label_are_learned_and_others_answered() {
    let folder = trained();
    let mut dialogue = Dialogue::new(&folder, "learn a.bsm --unknown learn");
    let mut hear = |line: &str| -> Value {
        dialogue.say(line);
        serde_json::from_str(&dialogue.hear()).unwrap()
    };
    let unseen = r#"{"size": 400.5, "colour": "pink", "weight": 900, "age": 7}"#;
    let before = hear(unseen);
    for _ in 0..5 {
        hear(r#"{"size": 400.5, "colour": "pink", "weight": 900, "age": 7, "class": "novel"}"#);
    }
    let after = hear(unseen);
    assert_eq!(after["prediction"], "novel");
    assert!(after["leverage"].as_f64() < before["leverage"].as_f64());
    assert_eq!(dialogue.end(), "5 rows learned, 2 without a label\n");
    let json = folder.json("inspect a.bsm");
    assert_eq!(json["learned"], 305);
    assert_eq!(json["labels"][3], "novel");
    assert_eq!(json["inputs"].as_array().unwrap().len(), 8);
}

/// Whoever has read enough answers has not said that the rest of a file is not to be learned.
#[test]
fn a_closed_pipe_does_not_stop_learning_a_file() {
    let folder = trained();
    folder.write("more.csv", rows(300..900));
    let mut command = folder.command("learn a.bsm more.csv");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(folder.json("inspect a.bsm")["learned"], 900);
}

/// A pipe may never end, so somebody must be there to read the answers.
#[test]
fn a_closed_pipe_ends_learning_from_a_pipe() {
    let folder = trained();
    let mut command = folder.command("learn a.bsm");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap());
    let text = rows(300..400);
    to.write_all(text.as_bytes()).unwrap();
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    drop(from);
    let body = text.split_once('\n').unwrap().1;
    while to.write_all(body.as_bytes()).is_ok() {}
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{message}");
    let learned: u64 = message.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(message, format!("{learned} rows learned, 0 without a label\n"));
    assert_eq!(folder.json("inspect a.bsm")["learned"], 300 + learned);
}

#[test]
fn blocks_and_single_lines_give_the_same_answers() {
    let folder = trained();
    folder.write("more.csv", rows(300..500));
    let whole = folder.stdout("learn a.bsm more.csv -o b.bsm --threads 2");
    let mut dialogue = Dialogue::new(&folder, "learn a.bsm -o c.bsm --threads 1 --every 50");
    let mut heard = Vec::new();
    for (i, line) in rows(300..500).lines().enumerate() {
        dialogue.say(line);
        if i == 1 {
            heard.push(dialogue.hear());
        }
        if i > 0 {
            heard.push(dialogue.hear());
        }
    }
    assert_eq!(dialogue.end(), "200 rows learned, 0 without a label\n");
    assert_eq!(heard.join("\n") + "\n", whole);
    assert!(folder.read("b.bsm") == folder.read("c.bsm"), "the models differ");
}
