//! The interface over HTTP, as a client sees it.

mod access;
mod conformity;
mod learning;
mod limits;
mod operation;
mod schema;

use broadstream_serve::{Service, Settings};
use serde_json::{Value, json};
use tempfile::TempDir;
use ureq::{Agent, http::Response};

/// A service in a folder of its own, and a client.
pub(crate) struct Client {
    pub(crate) folder: TempDir,
    service: Option<Service>,
    base: String,
    agent: Agent,
    pub(crate) token: Option<String>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: ureq::http::HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The answer, which must have this status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self.json()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl Client {
    pub(crate) fn new() -> Self {
        Client::with(|_| ())
    }

    /// A service with settings other than the usual ones.
    pub(crate) fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = Agent::config_builder().http_status_as_error(false).build();
        let agent = Agent::new_with_config(config);
        let (base, service, token) = (String::new(), None, None);
        let mut client = Client { folder, service, base, agent, token };
        client.start(change);
        client
    }

    /// Starts the service again on the same folder.
    pub(crate) fn start(&mut self, change: impl FnOnce(&mut Settings)) {
        self.stop();
        let mut settings = Settings::default();
        settings.data = self.folder.path().join("data");
        settings.listen = ([127, 0, 0, 1], 0).into();
        settings.drain_seconds = 2;
        change(&mut settings);
        let service = Service::start(settings).unwrap();
        assert!(service.wait_until_ready());
        self.base = format!("http://{}", service.address());
        self.service = Some(service);
    }

    pub(crate) fn stop(&mut self) {
        if let Some(service) = self.service.take() {
            service.stop();
        }
    }

    pub(crate) fn address(&self) -> std::net::SocketAddr {
        self.service.as_ref().unwrap().address()
    }

    /// Sends a request, and compares the answer with the description of the interface.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut request =
            ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let response: Response<ureq::Body> = self.agent.run(request.body(body).unwrap()).unwrap();
        let (parts, mut body) = response.into_parts();
        let body = body.with_config().limit(1 << 30).read_to_vec().unwrap();
        let answer = Answer { status: parts.status.as_u16(), headers: parts.headers, body };
        schema::check(method, path, &answer);
        answer
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[JSON], body.to_string().as_bytes())
    }

    pub(crate) fn put(&self, path: &str, body: &Value) -> Answer {
        self.send("PUT", path, &[JSON], body.to_string().as_bytes())
    }

    /// Makes a small model.
    pub(crate) fn create(&self, name: &str) {
        let options = json!({ "enhancement_nodes": 30 });
        let body = json!({ "target": "y", "options": options });
        self.put(&format!("/v1/models/{name}"), &body).expect(201);
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.stop();
    }
}

pub(crate) const JSON: (&str, &str) = ("content-type", "application/json");
pub(crate) const LINES: (&str, &str) = ("content-type", "application/x-ndjson");
pub(crate) const FILE: (&str, &str) = ("content-type", "application/octet-stream");

/// Rows whose label depends on their numbers.
pub(crate) fn rows(range: std::ops::Range<u64>) -> Vec<Value> {
    let row = |i: u64| {
        let (a, b) = ((i * 37 % 101) as f64 / 7.0, (i * 53 % 89) as f64 / 3.0);
        json!({ "a": a, "b": b, "c": format!("c{}", i % 3), "y": if a + b > 20.0 { "high" } else { "low" } })
    };
    range.map(row).collect()
}
