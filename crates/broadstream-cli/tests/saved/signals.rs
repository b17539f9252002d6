//! Programs that are asked to end save what they have.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use nix::sys::signal::{SigHandler, Signal, signal};
use serde_json::Value;

use super::{Folder, rows};

const SIGNALS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

fn trained() -> Folder {
    let folder = Folder::new();
    folder.write("rows.csv", rows(0..300));
    folder.stdout("run rows.csv --enhancement-nodes 20 --quiet --save a.bsm");
    folder
}

/// Starts a program that reads from a pipe and ignores no signal, even if the tests run in the background of
/// a shell, which lets them ignore SIGINT.
fn start(folder: &Folder, arguments: &str) -> Child {
    let mut command = folder.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let heed_signals = || {
        for heeded in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            // SAFETY: no handler is installed.
            unsafe { signal(heeded, SigHandler::SigDfl)? };
        }
        Ok(())
    };
    // SAFETY: between fork and exec only signal dispositions are set, which is safe there.
    unsafe { command.pre_exec(heed_signals) };
    command.spawn().unwrap()
}

/// It waits for the rest of a row, and the row is not learned.
#[test]
fn a_program_that_waits_for_rows_saves_the_model() {
    let folder = trained();
    folder.write("more.csv", rows(300..320));
    folder.stdout("learn a.bsm more.csv -o expected.bsm --quiet");
    let before = folder.read("a.bsm");
    for (signal, code) in SIGNALS {
        for options in ["", " --journal", " --journal --quiet"] {
            folder.write("a.bsm", &before);
            let mut child = start(&folder, &format!("learn a.bsm{options}"));
            let mut to = child.stdin.take().unwrap();
            to.write_all((rows(300..320) + "9.5,re").as_bytes()).unwrap();
            to.flush().unwrap();
            if options.contains("--quiet") {
                // There are no answers to wait for.
                wait_until(|| folder.json("inspect a.bsm")["journal_rows"] == 20);
            } else {
                let mut from = BufReader::new(child.stdout.take().unwrap());
                assert_eq!(count_lines(&mut from, 21), 21);
            }
            send(signal, &child);
            let output = child.wait_with_output().unwrap();
            let message = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(code), "{message}");
            let expected = format!(
                "20 rows learned, 0 without a label\nstopped by SIG{signal}; the model was saved\n"
            );
            assert_eq!(message, expected);
            assert!(folder.read("a.bsm") == folder.read("expected.bsm"), "{signal}{options}");
            assert!(!folder.path("a.bsm.journal").exists());
            drop(to);
        }
    }
}

/// Waits until something has happened that takes a moment only.
fn wait_until(has_happened: impl Fn() -> bool) {
    let begin = Instant::now();
    while !has_happened() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it does not happen");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Reads up to a number of lines, and returns how many there were.
fn count_lines(from: &mut impl BufRead, most: usize) -> usize {
    from.lines().take(most).count()
}

/// A signal that comes twice, as `timeout` sends it, is one signal.
#[test]
fn a_program_that_is_busy_saves_what_it_has_learned() {
    let folder = trained();
    let mut child = start(&folder, "learn a.bsm --quiet --journal");
    let mut to = child.stdin.take().unwrap();
    let writer = thread::spawn(move || {
        let text = rows(0..2000);
        let body = text.split_once('\n').unwrap().1;
        let _ = to.write_all(text.as_bytes());
        // Until the program ends.
        while to.write_all(body.as_bytes()).is_ok() {}
    });
    wait_until(|| folder.json("inspect a.bsm")["journal_rows"] != 0);
    send("TERM", &child);
    send("TERM", &child);
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(143), "{message}");
    let learned: u64 = message.split(' ').next().unwrap().parse().unwrap();
    assert!(learned > 0);
    assert_eq!(folder.json("inspect a.bsm")["learned"], 300 + learned);
}

/// What is ignored for a program, as by `nohup`, it goes on ignoring.
#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let folder = trained();
    let program = env!("CARGO_BIN_EXE_broadstream");
    let script = format!("trap '' HUP; exec {program} learn a.bsm");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(folder.path(""));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap());
    to.write_all(rows(0..1).as_bytes()).unwrap();
    assert_eq!(count_lines(&mut from, 2), 2);
    send("HUP", &child);
    to.write_all(rows(0..1).split_once('\n').unwrap().1.as_bytes()).unwrap();
    assert_eq!(count_lines(&mut from, 1), 1);
    drop(to);
    assert!(child.wait().unwrap().success());
}

fn timeless(text: &str) -> Value {
    let mut value: Value = serde_json::from_str(text).unwrap();
    for key in ["seconds", "samples_per_second", "times"] {
        value.as_object_mut().unwrap().remove(key);
    }
    value
}

#[test]
fn a_run_with_a_checkpoint_can_be_resumed_from_where_it_was_stopped() {
    const RUN: &str =
        "run rows.csv --enhancement-nodes 40 --json --quiet --delay 5 --curve-every 130";
    let folder = Folder::new();
    folder.write("rows.csv", rows(0..20_000));
    let expected = folder.stdout(&format!("{RUN} --predictions p0.csv --curve c0.csv"));
    let begin =
        format!("{RUN} --predictions p.csv --curve c.csv --checkpoint run.bsm --every 9000");
    let mut stopped_at = Vec::new();
    for (signal, code) in SIGNALS {
        let arguments = if stopped_at.is_empty() { &begin } else { "run --resume run.bsm" };
        let child = start(&folder, arguments);
        // The first attempt is stopped before its first checkpoint, but after its lock.
        wait_until(|| folder.path("p.csv").exists());
        thread::sleep(Duration::from_millis(300));
        send(signal, &child);
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{message}");
        let expected = format!(
            "stopped by SIG{signal}; 'broadstream run --resume run.bsm' continues the run\n"
        );
        assert_eq!(message, expected);
        assert!(output.stdout.is_empty());
        stopped_at.push(folder.json("inspect run.bsm")["run"]["samples"].as_u64().unwrap());
    }
    assert!(stopped_at.is_sorted() && stopped_at[0] < stopped_at[2], "{stopped_at:?}");
    let found = folder.stdout("run --resume run.bsm");
    assert_eq!(timeless(&found), timeless(&expected));
    assert!(folder.read("p.csv") == folder.read("p0.csv"), "the predictions differ");
    assert!(folder.read("c.csv") == folder.read("c0.csv"), "the curves differ");
}

/// Standard input that is silent does not keep a run from ending.
#[test]
fn a_run_that_waits_for_samples_writes_its_checkpoint() {
    let folder = Folder::new();
    let run = "run - --enhancement-nodes 20 --quiet --checkpoint a.bsm --every 4000";
    let mut child = start(&folder, run);
    let mut to = child.stdin.take().unwrap();
    // Enough for the kinds of the columns to be known, and then some.
    to.write_all(rows(0..5000).as_bytes()).unwrap();
    to.write_all(b"1,re").unwrap();
    to.flush().unwrap();
    wait_until(|| folder.path("a.bsm").exists());
    // Time to read the rest, unless the machine is very busy.
    thread::sleep(Duration::from_millis(500));
    send("INT", &child);
    let output = child.wait_with_output().unwrap();
    drop(to);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{message}");
    let samples = folder.json("inspect a.bsm")["run"]["samples"].as_u64().unwrap();
    assert!(4000 < samples && samples <= 5000, "{samples}");
    // The same samples again, and more.
    folder.write("rows.csv", rows(0..5500));
    let mut command = folder.command("run --resume a.bsm --json");
    let input = std::fs::File::open(folder.path("rows.csv")).unwrap();
    let output = command.stdin(input).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(folder.json("inspect a.bsm")["run"]["samples"], 5500);
}
