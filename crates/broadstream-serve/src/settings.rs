//! How a service is run: a file in TOML, environment variables, and the command line, each over the one
//! before.

use std::{collections::BTreeMap, fs, net::SocketAddr, path::PathBuf, time::Duration};

use serde::Deserialize;

use crate::learning::{Durability, ModelOptions};

/// What environment variables begin with, before the name of a setting in capitals.
pub const VARIABLE_PREFIX: &str = "BROADSTREAM_SERVE_";

/// How a service is run. The fields are the keys of its file.
///
/// ```
/// use broadstream_serve::Settings;
///
/// let settings = Settings::read("listen = \"127.0.0.1:9000\"\ndurability = \"always\"", &[])?;
/// assert_eq!(settings.listen.port(), 9000);
/// assert_eq!(settings.queue_rows, 10_000);
/// assert!(Settings::read("port = 80", &[]).is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Settings {
    /// The folder with everything that the service knows.
    pub data: PathBuf,
    /// Where it listens. Other addresses than those of this machine need tokens.
    pub listen: SocketAddr,
    /// When what is acknowledged is on the disk: `always`, `every N ms` or `never`.
    #[serde(deserialize_with = "durability")]
    pub durability: Durability,
    /// How many rows of a model may wait to be learned.
    pub queue_rows: u64,
    /// How many bytes these may have.
    pub queue_bytes: u64,
    /// A snapshot is written after this many bytes of log.
    pub snapshot_bytes: u64,
    /// And this many seconds after something has changed.
    pub snapshot_seconds: u64,
    /// How many snapshots of a model are kept.
    pub snapshots_kept: usize,
    /// How many threads learn a block of rows; the result is the same.
    pub threads: usize,
    /// The most models.
    pub most_models: usize,
    /// The most bytes of a request.
    pub body_bytes: usize,
    /// The most bytes of a model file that is uploaded.
    pub upload_bytes: usize,
    /// The most rows of a request.
    pub rows: usize,
    /// The most bytes of the memory of a model that is created.
    pub model_bytes: u64,
    /// The most connections.
    pub connections: usize,
    /// How long a client may take to send the head of a request, in seconds.
    pub header_seconds: u64,
    /// How long a request may take, in seconds.
    pub request_seconds: u64,
    /// How long requests may take to end when the service does, in seconds.
    pub drain_seconds: u64,
    /// Other names under which the service is reached, for requests without a token.
    pub hosts: Vec<String>,
    /// What the log on standard error has: `error`, `warn`, `info`, or `debug`, which has every request.
    pub log_level: LogLevel,
    /// The certificates for HTTPS, in PEM.
    pub tls_certificate: Option<PathBuf>,
    /// Their key, in PEM.
    pub tls_key: Option<PathBuf>,
}

/// What the log of a service has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// What went wrong.
    Error,
    /// Also what may be wrong.
    Warn,
    /// Also what happens to models, and requests that were refused.
    Info,
    /// Also every request.
    Debug,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            data: PathBuf::from("broadstream-data"),
            listen: SocketAddr::from(([127, 0, 0, 1], 7878)),
            durability: Durability::Every(Duration::from_millis(50)),
            queue_rows: 10_000,
            queue_bytes: 64 << 20,
            snapshot_bytes: 64 << 20,
            snapshot_seconds: 300,
            snapshots_kept: 5,
            threads: 1,
            most_models: 10_000,
            body_bytes: 16 << 20,
            upload_bytes: 1 << 30,
            rows: 10_000,
            model_bytes: 4 << 30,
            connections: 4096,
            header_seconds: 10,
            request_seconds: 60,
            drain_seconds: 30,
            hosts: Vec::new(),
            log_level: LogLevel::Info,
            tls_certificate: None,
            tls_key: None,
        }
    }
}

impl Settings {
    /// The settings of a text in TOML, with those of variables over them: pairs of the name of a setting and
    /// its value.
    pub fn read(text: &str, variables: &[(String, String)]) -> Result<Self, String> {
        let mut table: toml::Table = text.parse().map_err(|error| format!("{error}"))?;
        for (name, value) in variables {
            let name = name.to_ascii_lowercase();
            // Whatever is not a number, a truth value or a list is a text.
            let value = format!("value = {value}")
                .parse::<toml::Table>()
                .ok()
                .and_then(|mut parsed| parsed.remove("value"))
                .unwrap_or_else(|| toml::Value::String(value.clone()));
            table.insert(name, value);
        }
        let settings: Settings = table
            .try_into()
            .map_err(|error: toml::de::Error| error.to_string().trim_end().to_owned())?;
        settings.check()?;
        Ok(settings)
    }

    /// The settings of a file, if one is given, and of the environment.
    pub fn load(file: Option<&std::path::Path>) -> Result<Self, String> {
        let text = match file {
            Some(path) => {
                fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?
            }
            None => String::new(),
        };
        let variables: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| {
                let name = name.to_str()?.strip_prefix(VARIABLE_PREFIX)?.to_owned();
                Some((name, value.to_str()?.to_owned()))
            })
            .collect();
        let variables: Vec<_> = variables.into_iter().collect();
        Settings::read(&text, &variables).map_err(|error| match file {
            Some(path) => format!("{}: {error}", path.display()),
            None => error,
        })
    }

    fn check(&self) -> Result<(), String> {
        let counts = [
            ("queue_rows", self.queue_rows),
            ("queue_bytes", self.queue_bytes),
            ("snapshot_bytes", self.snapshot_bytes),
            ("snapshot_seconds", self.snapshot_seconds),
            ("snapshots_kept", self.snapshots_kept as u64),
            ("threads", self.threads as u64),
            ("most_models", self.most_models as u64),
            ("body_bytes", self.body_bytes as u64),
            ("upload_bytes", self.upload_bytes as u64),
            ("rows", self.rows as u64),
            ("connections", self.connections as u64),
            ("header_seconds", self.header_seconds),
            ("request_seconds", self.request_seconds),
        ];
        if let Some((name, _)) = counts.iter().find(|(_, value)| *value == 0) {
            return Err(format!("{name} must be at least 1, got 0"));
        }
        if self.tls_certificate.is_some() != self.tls_key.is_some() {
            return Err("tls_certificate and tls_key must be given together".to_owned());
        }
        Ok(())
    }

    pub(crate) fn model_options(&self) -> ModelOptions {
        ModelOptions {
            durability: self.durability,
            queue_rows: self.queue_rows,
            queue_bytes: self.queue_bytes,
            snapshot_bytes: self.snapshot_bytes,
            snapshot_every: Duration::from_secs(self.snapshot_seconds),
            snapshots_kept: self.snapshots_kept,
            threads: self.threads,
        }
    }
}

fn durability<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Durability, D::Error> {
    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_over_the_file() {
        let file = "listen = \"127.0.0.1:1\"\nrows = 5\nhosts = [\"a\"]";
        let variables = [("LISTEN", "127.0.0.1:2"), ("SNAPSHOTS_KEPT", "7"), ("DATA", "/x y")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let settings = Settings::read(file, &variables).unwrap();
        assert_eq!((settings.listen.port(), settings.rows), (2, 5));
        assert_eq!((settings.snapshots_kept, settings.data), (7, PathBuf::from("/x y")));
        assert_eq!(settings.hosts, ["a"]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (file, message) in [
            ("durability = \"sometimes\"", "durability must be 'always', 'never' or 'every N ms'"),
            ("lisen = 1", "unknown field `lisen`"),
            ("rows = 0", "rows must be at least 1, got 0"),
            ("tls_key = \"k\"", "must be given together"),
        ] {
            let refused = Settings::read(file, &[]).unwrap_err();
            assert!(refused.contains(message), "{refused}");
        }
    }
}
