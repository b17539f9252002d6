//! `broadstream serve` as a program: killed, asked to end, and shown off.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use ureq::Agent;

/// A service that is a program of its own.
struct Server {
    child: Child,
    base: String,
}

impl Server {
    fn start(data: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_broadstream"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .args(arguments)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let base = loop {
            let line = lines.next().expect("the service ended").unwrap();
            if let Some((_, address)) = line.split_once("the live page is at ") {
                break address.trim_end_matches('/').to_owned();
            }
        };
        // Somebody has to read what it says.
        thread::spawn(move || lines.for_each(drop));
        let server = Server { child, base };
        let started = Instant::now();
        while !server.get("/readyz").is_ok_and(|(status, _)| status == 200) {
            assert!(started.elapsed() < Duration::from_secs(60), "the service is not ready");
            thread::sleep(Duration::from_millis(5));
        }
        server
    }

    fn agent() -> Agent {
        Agent::new_with_config(Agent::config_builder().http_status_as_error(false).build())
    }

    fn get(&self, path: &str) -> Result<(u16, Vec<u8>), ureq::Error> {
        let mut answer = Server::agent().get(format!("{}{path}", self.base)).call()?;
        let status = answer.status().as_u16();
        Ok((status, answer.body_mut().with_config().limit(1 << 30).read_to_vec()?))
    }

    fn file(&self, model: &str) -> Vec<u8> {
        let (status, file) = self.get(&format!("/v1/models/{model}/file")).unwrap();
        assert_eq!(status, 200);
        file
    }

    fn create(&self, model: &str) {
        let body = json!({ "target": "y", "options": { "enhancement_nodes": 20 } });
        let url = format!("{}/v1/models/{model}", self.base);
        assert_eq!(Server::agent().put(&url).send_json(body).unwrap().status(), 201);
    }

    /// Learns rows; `false` if the service did not say that it has.
    fn learn(&self, agent: &Agent, model: &str, rows: std::ops::Range<u64>) -> bool {
        let rows: Vec<Value> = rows.map(row).collect();
        let url = format!("{}/v1/models/{model}/learn", self.base);
        agent
            .post(&url)
            .send_json(json!({ "rows": rows }))
            .is_ok_and(|answer| answer.status() == 200)
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    #[cfg(unix)]
    fn terminate(mut self) -> Option<i32> {
        let id = nix::unistd::Pid::from_raw(self.child.id() as i32);
        nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGTERM).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn row(i: u64) -> Value {
    let (a, b) = ((i * 37 % 101) as f64 / 7.0, (i * 53 % 89) as f64 / 3.0);
    json!({ "a": a, "b": b, "c": format!("c{}", i / 70 % 5), "y": if a + b > 20.0 { "high" } else { "low" } })
}

/// How often a service is killed: more with BROADSTREAM_KILLS.
fn kills() -> u64 {
    std::env::var("BROADSTREAM_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(6)
}

#[test]
fn a_service_that_is_killed_while_it_learns_has_lost_nothing_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    // One service is killed again and again, the other never learns what was not acknowledged.
    let whole = Server::start(&folder.path().join("whole"), &["--durability", "never"]);
    whole.create("m");
    let (data, agent) = (folder.path().join("killed"), Server::agent());
    let mut acknowledged = 0;
    let mut created = false;
    for round in 0..kills() {
        let durability = ["always", "every 50 ms", "never"][(round % 3) as usize];
        let server = Server::start(&data, &["--durability", durability]);
        if !created {
            server.create("m");
            created = true;
        }
        let replayed = server.file("m");
        // The request that was on its way may have been learned too, but nothing else.
        let sizes = [0, 7];
        let is_next = sizes.iter().any(|size| {
            if *size > 0 {
                assert!(whole.learn(&agent, "m", acknowledged..acknowledged + size));
                acknowledged += size;
            }
            whole.file("m") == replayed
        });
        assert!(is_next, "round {round}: after {acknowledged} rows");
        let learned = AtomicU64::new(acknowledged);
        thread::scope(|scope| {
            let learning = scope.spawn(|| {
                let agent = Server::agent();
                loop {
                    let next = learned.load(Ordering::SeqCst);
                    if !server.learn(&agent, "m", next..next + 7) {
                        break;
                    }
                    learned.store(next + 7, Ordering::SeqCst);
                }
            });
            thread::sleep(Duration::from_millis(60 + 37 * (round % 7)));
            let id = server.child.id().to_string();
            assert!(Command::new("kill").args(["-9", &id]).status().unwrap().success());
            learning.join().unwrap();
        });
        server.kill();
        let now = learned.load(Ordering::SeqCst);
        assert!(now > acknowledged, "round {round}: nothing was learned");
        assert!(whole.learn(&agent, "m", acknowledged..now));
        acknowledged = now;
    }
}

#[cfg(unix)]
#[test]
fn a_service_that_is_asked_to_end_has_nothing_to_replay() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    server.create("m");
    assert!(server.learn(&Server::agent(), "m", 0..50));
    let file = server.file("m");
    assert_eq!(server.terminate(), Some(0));
    let snapshots = folder.path().join("models/m/snapshots");
    let newest = std::fs::read_dir(&snapshots).unwrap().flatten().map(|entry| entry.path());
    let newest = newest.filter(|path| path.extension().is_some_and(|e| e == "bsm")).max().unwrap();
    assert_eq!(std::fs::read(newest).unwrap(), file);
}

#[test]
fn the_demonstration_is_alive() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("data"), &["--demo"]);
    let started = Instant::now();
    loop {
        let live = server.get("/v1/models/demo/live").unwrap();
        let live: Value = serde_json::from_slice(&live.1).unwrap_or_default();
        let labelled = live["label_delays"].as_array().is_some_and(|delays| !delays.is_empty());
        if labelled && live["model"]["accuracy"].as_f64().is_some_and(|accuracy| accuracy > 0.5) {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "{live:#}");
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn what_cannot_be_served_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_broadstream"))
            .args(["serve", "--data"])
            .arg(folder.path())
            .args(arguments)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = run(&["--listen", "0.0.0.0:0"]);
    assert!(code == Some(1) && said.contains("needs tokens"), "{code:?} {said}");
    let (code, said) = run(&["--durability", "sometimes"]);
    assert!(code == Some(2) && said.contains("'always', 'never' or 'every N ms'"), "{said}");
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "rows = 0").unwrap();
    let (code, said) = run(&["--config", config.to_str().unwrap()]);
    assert!(code == Some(2) && said.contains("rows must be at least 1"), "{code:?} {said}");
    let _running = Server::start(folder.path(), &[]);
    let (code, said) = run(&["--listen", "127.0.0.1:0"]);
    assert!(code == Some(1) && said.contains("another program is using this file"), "{said}");
}
