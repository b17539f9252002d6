//! Rows that were answered survive whatever happens to the program that learned them.

use std::{
    io::{BufRead, BufReader, Write},
    process::Stdio,
    thread,
    time::Duration,
};

use super::{EXACT, Folder, rows};

/// Rows with categories and labels that appear late, quoted cells of several lines, and rows without a label.
fn varied(range: std::ops::Range<usize>) -> Vec<String> {
    range
        .map(|i| {
            let colour = match i % 7 {
                0 => format!("\"c\n{}\"", i / 300),
                other => format!("c{other}"),
            };
            let class = match i {
                _ if is_unlabelled(i) => "",
                _ if i > 700 && i % 9 == 0 => "late",
                _ if (i * 7 % 23) > 9 => "large",
                _ => "small",
            };
            format!("{}.5,{colour},{},{class}\n", i * 7 % 23, i * 13 % 31)
        })
        .collect()
}

fn is_unlabelled(i: usize) -> bool {
    i % 10 == 7
}

const HEADER: &str = "size,colour,weight,class\n";

/// Killed at any moment, `learn` loses no row that it has answered, and in the end nobody can tell.
#[test]
fn a_killed_program_has_kept_all_rows_that_it_answered() {
    const ROWS: usize = 2500;
    let (folder, texts) = (Folder::new(), varied(0..ROWS));
    folder.write("first.csv", rows(0..300));
    folder.write("all.csv", HEADER.to_owned() + &texts.concat());
    folder.stdout("run first.csv --enhancement-nodes 20 --quiet --save base.bsm");
    folder.stdout("learn base.bsm all.csv -o whole.bsm --quiet");
    let (mut kills, mut replayed, mut attempt) = (0, 0, 0_u64);
    while kills < 60 {
        std::fs::copy(folder.path("base.bsm"), folder.path("a.bsm")).unwrap();
        let mut next = 0;
        while next < ROWS {
            attempt += 1;
            // Some attempts save on the way, with a crash at the worst moment now and then.
            let every = ["", " --every 40", " --every 300"][attempt as usize % 3];
            let mut command = folder.command(&format!("learn a.bsm --journal{every}"));
            let mut child = command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let (mut to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
            let text = HEADER.to_owned() + &texts[next..].concat();
            let writer = thread::spawn(move || {
                // It may be killed before it has read everything.
                let _ = to.write_all(text.as_bytes());
            });
            let reader = thread::spawn(move || BufReader::new(from).lines().count());
            thread::sleep(Duration::from_micros(attempt * 7919 % 100_000));
            let _ = child.kill();
            let output = child.wait_with_output().unwrap();
            writer.join().unwrap();
            // Answers begin with a header.
            let answered = next + reader.join().unwrap().saturating_sub(1);
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            replayed += usize::from(errors.contains("learned that were not saved"));
            match output.status.code() {
                None => kills += 1,
                code => assert_eq!(code, Some(0), "{errors}"),
            }
            next = rows_kept(&folder);
            assert!(next >= answered || is_unlabelled(answered - 1), "{next} of {answered} rows");
        }
        folder.command("learn a.bsm --quiet").stdin(Stdio::null()).output().unwrap();
        assert!(folder.read("a.bsm") == folder.read("whole.bsm"), "the models differ");
        assert!(!folder.path("a.bsm.journal").exists());
    }
    assert!(replayed > 10, "only {replayed} of {attempt} programs found a journal");
}

/// How many rows the model has with its journal, counted by those with a label.
fn rows_kept(folder: &Folder) -> usize {
    let before = folder.read("a.bsm");
    let journal = folder.path("a.bsm.journal").exists();
    // A copy, since learning on would save the rows.
    std::fs::copy(folder.path("a.bsm"), folder.path("copy.bsm")).unwrap();
    let _ = std::fs::remove_file(folder.path("copy.bsm.journal"));
    if journal {
        std::fs::copy(folder.path("a.bsm.journal"), folder.path("copy.bsm.journal")).unwrap();
    }
    let output = folder.command("learn copy.bsm").stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.read("a.bsm") == before);
    let learned = folder.json("inspect copy.bsm")["learned"].as_u64().unwrap() as usize - 300;
    let labelled = |count: &usize| (0..*count).filter(|i| !is_unlabelled(*i)).count() >= learned;
    (0..).find(labelled).unwrap()
}

/// Starts `learn`, waits until it has answered some rows, and kills it.
fn killed(folder: &Folder, arguments: &str, lines: &[&str]) {
    let mut command = folder.command(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    writeln!(to, "{}", lines.join("\n")).unwrap();
    to.flush().unwrap();
    let answers = BufReader::new(from).lines().take(lines.len());
    assert_eq!(answers.count(), lines.len());
    child.kill().unwrap();
    child.wait().unwrap();
}

fn trained() -> Folder {
    let folder = Folder::new();
    folder.write("rows.csv", rows(0..200));
    folder.stdout(&format!("run rows.csv {EXACT} --save a.bsm"));
    folder
}

const LINES: [&str; 3] = ["size,colour,class", "3.5,pink,small", "4.5,red,huge"];

#[test]
fn other_commands_say_that_a_model_lacks_rows() {
    let folder = trained();
    killed(&folder, "learn a.bsm --journal", &LINES);
    let before = [folder.read("a.bsm"), folder.read("a.bsm.journal")];
    assert_eq!(folder.json("inspect a.bsm")["journal_rows"], 2);
    assert!(
        folder.stdout("inspect a.bsm").contains("\njournal     2 rows more, which 'learn' adds\n")
    );
    let output = folder.output("predict a.bsm rows.csv");
    let message = "a.bsm.journal: 2 rows were learned that the model lacks; 'learn' adds them\n";
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stderr).unwrap(), message);
    assert_eq!(folder.failure("merge a.bsm -o b.bsm"), (1, format!("error: {message}")));
    assert!(before == [folder.read("a.bsm"), folder.read("a.bsm.journal")]);
    // Another file gets the rows too, and the journal stays where it is.
    let learned = |file: &str| folder.json(&format!("inspect {file}"))["learned"].clone();
    folder.write("none.csv", "");
    folder.stdout("learn a.bsm none.csv -o b.bsm");
    assert_eq!(learned("b.bsm"), 202);
    assert!(before == [folder.read("a.bsm"), folder.read("a.bsm.journal")]);
    // A row can be taken back that is in the journal only.
    folder.write("one.csv", format!("{}\n{}\n", LINES[0], LINES[2]));
    folder.stdout("unlearn a.bsm one.csv");
    assert_eq!(learned("a.bsm"), 201);
    assert!(!folder.path("a.bsm.journal").exists());
}

#[test]
fn rows_of_one_model_do_not_reach_another() {
    let folder = trained();
    folder.stdout(&format!("run rows.csv {EXACT} --seed 3 --save other.bsm"));
    killed(&folder, "learn a.bsm --journal", &LINES);
    // Its rows would be lost without a word.
    let (code, message) = folder.failure("learn other.bsm rows.csv -o a.bsm");
    let expected =
        "error: a.bsm.journal: 2 rows would be lost, which are not in the model beside it\n";
    assert_eq!((code, message.as_str()), (1, expected));
    folder.write("a.bsm", folder.read("other.bsm"));
    for arguments in ["learn a.bsm rows.csv", "predict a.bsm rows.csv", "inspect a.bsm"] {
        let (_, message) = folder.failure(arguments);
        assert!(
            message.contains("a.bsm.journal: the journal continues another model"),
            "{message}"
        );
    }
    assert!(folder.read("a.bsm") == folder.read("other.bsm"));
    std::fs::remove_file(folder.path("a.bsm")).unwrap();
    let (_, message) = folder.failure("learn other.bsm rows.csv -o a.bsm");
    assert!(message.contains("a.bsm.journal: the journal continues another model"), "{message}");
}

#[test]
fn a_torn_entry_is_cut_off_and_a_damaged_one_refused() {
    let folder = trained();
    killed(&folder, "learn a.bsm --journal", &LINES);
    let (model, journal) = (folder.read("a.bsm"), folder.read("a.bsm.journal"));
    folder.write("a.bsm.journal", [&journal[..], &[9, 0, 0, 0, 1, 2, 3]].concat());
    folder.write("none.csv", "");
    let output = folder.output("learn a.bsm none.csv");
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        message,
        "a.bsm.journal: the last 7 bytes are part of rows that were not answered\n\
         a.bsm.journal: 2 rows learned that were not saved\n\
         0 rows learned, 0 without a label\n"
    );
    assert_eq!(folder.json("inspect a.bsm")["learned"], 202);
    folder.write("a.bsm", &model);
    let mut damaged = journal.clone();
    damaged[150] ^= 1;
    folder.write("a.bsm.journal", damaged);
    let (_, message) = folder.failure("learn a.bsm none.csv");
    assert!(
        message.starts_with("error: a.bsm.journal: the journal is damaged at byte "),
        "{message}"
    );
    assert!(folder.read("a.bsm") == model);
}

#[test]
fn a_faulty_row_leaves_those_before_it_in_the_journal() {
    let folder = trained();
    folder.write("bad.csv", "size,colour,class\n3.5,pink,small\n4.5,red,huge\nx,red,huge\n");
    let (code, message) = folder.failure("learn a.bsm bad.csv --journal");
    let expected = "error: bad.csv; the first 2 rows are kept in the model and a.bsm.journal: line 4, \
                    column 'size': expected a number, found 'x'";
    assert!(code == 1 && message.starts_with(expected), "{message}");
    folder.write("none.csv", "");
    folder.stdout("learn a.bsm none.csv");
    assert_eq!(folder.json("inspect a.bsm")["learned"], 202);
    // If there are none, there is no journal.
    folder.write("bad.csv", "size,colour,class\nx,red,huge\n");
    let (_, message) = folder.failure("learn a.bsm bad.csv --journal");
    assert!(message.starts_with("error: bad.csv; no row was learned: line 2"), "{message}");
    assert_eq!(folder.names(), ["a.bsm", "bad.csv", "none.csv", "rows.csv"]);
}
