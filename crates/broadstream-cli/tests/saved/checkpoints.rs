//! Runs that are stopped and resumed.

use std::{
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{EXACT, Folder, rows};

/// A result without the times that it took.
fn timeless(text: &str) -> Value {
    let mut value: Value = serde_json::from_str(text).unwrap();
    for key in ["seconds", "samples_per_second", "times"] {
        value.as_object_mut().unwrap().remove(key);
    }
    value
}

const RUN: &str = "run rows.csv --enhancement-nodes 20 --json --quiet --metrics-window 70 \
                   --delay 5 --curve-every 130";

/// Killed at any moment, a run goes on from its last checkpoint, and in the end nobody can tell.
#[test]
fn a_run_that_is_killed_two_hundred_times_ends_as_if_it_had_not_been() {
    const KILLS: u64 = 200;
    let folder = Folder::new();
    folder.write("rows.csv", rows(0..2000));
    let start = Instant::now();
    let expected = folder.stdout(&format!("{RUN} --predictions p0.csv --curve c0.csv"));
    // However busy the machine is, kills come while a run is at work.
    let whole = u64::try_from(start.elapsed().as_micros()).unwrap();
    let begin = format!("{RUN} --predictions p.csv --curve c.csv --checkpoint run.bsm --every 60");
    let (mut kills, mut resumed, mut finished) = (0, 0, 0);
    for attempt in 0.. {
        if kills == KILLS {
            break;
        }
        let resume = folder.path("run.bsm").exists();
        let arguments = if resume { "run --resume run.bsm" } else { begin.as_str() };
        let mut command = folder.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Some runs are left to come to their end.
        if attempt % 25 != 24 {
            // Uneven moments, from before the program has begun to after some checkpoints.
            thread::sleep(Duration::from_micros(attempt * 7919 % whole));
            let _ = child.kill();
        }
        let output = child.wait_with_output().unwrap();
        if output.status.code().is_none() {
            kills += 1;
            resumed += u64::from(resume);
        } else {
            // It was faster than the kill, or there was none.
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "after {kills} kills: {errors}");
            check(&folder, &String::from_utf8(output.stdout).unwrap(), &expected);
            std::fs::remove_file(folder.path("run.bsm")).unwrap();
            finished += 1;
        }
    }
    let last = folder.path("run.bsm").exists();
    let last = folder.stdout(if last { "run --resume run.bsm" } else { begin.as_str() });
    check(&folder, &last, &expected);
    assert!(finished > 0, "every run was killed");
    assert!(resumed > KILLS / 4, "only {resumed} of {kills} kills met a run that had been resumed");
}

fn check(folder: &Folder, found: &str, expected: &str) {
    assert_eq!(timeless(found), timeless(expected));
    assert!(folder.read("p.csv") == folder.read("p0.csv"), "the predictions differ");
    assert!(folder.read("c.csv") == folder.read("c0.csv"), "the curves differ");
}

#[test]
fn a_run_can_go_on_after_its_end() {
    let folder = Folder::new();
    folder.write("rows.csv", rows(0..500));
    folder.write("more.csv", rows(0..800));
    let whole = folder.stdout("run more.csv --enhancement-nodes 20 --json --quiet");
    folder.stdout("run rows.csv --enhancement-nodes 20 --quiet --checkpoint a.bsm");
    // The same file has grown.
    folder.write("rows.csv", rows(0..800));
    let found = folder.stdout("run --resume a.bsm --json --block 7 --threads 2");
    let [mut found, mut whole] = [found, whole].map(|text| timeless(&text));
    for value in [&mut found, &mut whole] {
        value["source"] = Value::Null;
        value["config"]["threads"] = Value::Null;
    }
    assert_eq!(found, whole);
    assert_eq!(folder.json("inspect a.bsm")["run"]["samples"], 800);
    // A limit that was raised stays raised.
    folder.stdout("run rows.csv --enhancement-nodes 20 --quiet --checkpoint b.bsm --limit 100");
    folder.stdout("run --resume b.bsm --limit 200");
    folder.stdout("run --resume b.bsm");
    assert_eq!(folder.json("inspect b.bsm")["run"]["samples"], 200);
    // There is nothing left, and it says the same again.
    assert_eq!(timeless(&folder.stdout("run --resume a.bsm --json"))["oca"], whole["oca"]);
}

#[test]
fn what_cannot_be_resumed_is_refused_by_name() {
    let folder = Folder::new();
    folder.write("rows.csv", rows(0..300));
    let run = "run rows.csv --enhancement-nodes 20 --quiet --predictions p.csv --checkpoint a.bsm";
    folder.stdout(run);
    let before = folder.read("a.bsm");
    for (arguments, code, message) in [
        ("--ridge 3", 2, "--ridge must be that of the run, not given, got 3"),
        ("--enhancement-nodes 21", 2, "--enhancement-nodes must be that of the run, 20, got 21"),
        ("--predictions q.csv", 2, "--predictions must be that of the run, p.csv, got q.csv"),
        ("--limit 10", 2, "limit"),
        ("--checkpoint b.bsm", 2, "--checkpoint must be that of the run, a.bsm, got b.bsm"),
        ("--report r.html", 2, "--report needs a curve"),
    ] {
        let found = folder.failure(&format!("run --resume a.bsm {arguments}"));
        assert!(found.0 == code && found.1.contains(message), "{found:?}");
    }
    folder.write("rows.csv", rows(1..400));
    let (_, message) = folder.failure("run --resume a.bsm");
    assert!(message.contains("rows.csv: ") && message.contains("300"), "{message}");
    folder.write("rows.csv", rows(0..200));
    let (_, message) = folder.failure("run --resume a.bsm");
    assert!(message.contains("200"), "{message}");
    folder.write("rows.csv", rows(0..300));
    folder.write("p.csv", "sample\n");
    let (_, message) = folder.failure("run --resume a.bsm");
    assert!(message.contains("continuing p.csv: this file had "), "{message}");
    assert!(folder.read("a.bsm") == before);

    folder.stdout(&format!("run rows.csv {EXACT} --save model.bsm"));
    let (code, message) = folder.failure("run --resume model.bsm");
    assert!(code == 2 && message.contains("no checkpoint"), "{message}");
    let (code, message) = folder.failure("run rows.csv --model majority --checkpoint x.bsm");
    assert!(code == 2 && message.contains("the model majority cannot be saved"), "{message}");
    assert_eq!(folder.failure("run rows.csv --every 5").0, 2);
    assert_eq!(folder.names(), ["a.bsm", "model.bsm", "p.csv", "rows.csv"]);
}

#[test]
fn one_run_at_a_time_has_a_checkpoint() {
    let folder = Folder::new();
    folder.write("rows.csv", rows(0..100));
    let run = |source| format!("run {source} --enhancement-nodes 20 --quiet --checkpoint a.bsm");
    // It waits for rows that never come.
    let mut first = folder.command(&run("-")).stdin(Stdio::piped()).spawn().unwrap();
    let begin = Instant::now();
    while !folder.path(".a.bsm.lock").exists() {
        assert!(begin.elapsed() < Duration::from_secs(60), "the first run does not lock its file");
        thread::sleep(Duration::from_millis(10));
    }
    let (_, message) = folder.failure(&run("rows.csv"));
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(message.contains("a.bsm: another program is using this file"), "{message}");
    folder.stdout(&run("rows.csv"));
}

#[test]
fn a_checkpoint_is_overwritten_only_on_request() {
    let folder = Folder::new();
    folder.write("rows.csv", rows(0..100));
    let run = "run rows.csv --enhancement-nodes 20 --quiet --checkpoint a.bsm";
    folder.stdout(run);
    let before = folder.read("a.bsm");
    let (code, message) = folder.failure(&format!("{run} --limit 50 --predictions p.csv"));
    assert_eq!(
        (code, message.as_str()),
        (
            2,
            "error: a.bsm exists: continue its run with --resume a.bsm, or replace it with --overwrite\n"
        )
    );
    assert!(folder.read("a.bsm") == before && !folder.path("p.csv").exists());
    folder.stdout(&format!("{run} --limit 50 --overwrite"));
    assert_eq!(folder.json("inspect a.bsm")["run"]["samples"], 50);
    // It was a wish for that moment.
    folder.stdout("run --resume a.bsm --limit 80");
    assert_eq!(folder.json("inspect a.bsm")["run"]["samples"], 80);
    let (code, message) = folder.failure("run rows.csv --overwrite");
    assert!(code == 2 && message.contains("--overwrite needs --checkpoint"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_followed() {
    let folder = Folder::new();
    folder.write("rows.csv", rows(0..100));
    let run = "run rows.csv --enhancement-nodes 20 --quiet";
    for option in ["checkpoint", "save", "predictions", "curve", "report"] {
        let (link, target) = (format!("{option}.link"), format!("{option}.file"));
        std::os::unix::fs::symlink(&target, folder.path(&link)).unwrap();
        folder.stdout(&format!("{run} --{option} {link}"));
        assert!(folder.path(&link).is_symlink() && !folder.path(&target).is_symlink());
        assert!(!folder.read(&target).is_empty());
    }
}

/// The second would destroy what the first has written.
#[test]
fn one_run_at_a_time_writes_a_file() {
    let folder = Folder::new();
    folder.write("rows.csv", rows(0..100));
    for option in ["predictions", "curve", "report", "save"] {
        let run = |source| format!("run {source} --enhancement-nodes 20 --quiet --{option} a.out");
        let mut command = folder.command(&run("-"));
        let mut first = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut to = first.stdin.take().unwrap();
        std::io::Write::write_all(&mut to, rows(0..5000).as_bytes()).unwrap();
        let begin = Instant::now();
        while !folder.path(".a.out.lock").exists() {
            assert!(begin.elapsed() < Duration::from_secs(60), "the first run locks nothing");
            thread::sleep(Duration::from_millis(10));
        }
        let (_, message) = folder.failure(&run("rows.csv"));
        assert!(message.contains("a.out: another program is using this file"), "{message}");
        let compare = "compare rows.csv --models majority --quiet --report a.out";
        assert!(folder.failure(compare).1.contains("a.out: another program is using this file"));
        drop(to);
        assert!(first.wait().unwrap().success());
        folder.stdout(&run("rows.csv"));
        std::fs::remove_file(folder.path("a.out")).unwrap();
    }
    // A device has room for everybody.
    folder.stdout(
        "run rows.csv --enhancement-nodes 20 --quiet --predictions /dev/null --curve /dev/null",
    );
}

/// A file that may not grow stands for a disk that is full.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_checkpoint() {
    let folder = Folder::new();
    folder.write("rows.csv", rows(0..300));
    let run = "run rows.csv --enhancement-nodes 20 --quiet --checkpoint a.bsm --every 100";
    folder.stdout(run);
    let before = folder.read("a.bsm");
    let program = env!("CARGO_BIN_EXE_broadstream");
    let script = format!("trap '' XFSZ; ulimit -f 20; exec {program} {run} --overwrite");
    let mut command = std::process::Command::new("bash");
    let output = command.args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && message.contains("writing "), "{message}");
    assert!(folder.read("a.bsm") == before);
    assert_eq!(folder.names(), ["a.bsm", "rows.csv"]);
    for arguments in ["--checkpoint .", "--save .", "--checkpoint missing/a.bsm"] {
        folder.failure(&format!("run rows.csv --enhancement-nodes 20 --quiet {arguments}"));
    }
}
