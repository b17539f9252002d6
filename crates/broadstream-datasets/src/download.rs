//! Downloads one file over HTTP, with retries and resumption.
//!
//! Bytes go to a partial file with the suffix `.part`, which is renamed once it is complete. After a
//! transient failure, in the same call or a later one, the next request asks only for the missing
//! bytes. If the server does not support ranges and sends the whole file, the download starts over.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use ureq::{Agent, Body, http::Response};

use crate::error::DatasetError;

/// How the names of downloads end, so that they are told from files that somebody else put there.
pub(crate) const FETCHED: &str = ".fetched";

/// Observes the progress of a fetch.
pub trait FetchObserver {
    /// A download starts or resumes: `have` bytes of `total` are already on disk. `total` is `None`
    /// if the server does not announce a length.
    fn begin(&mut self, _file: &str, _have: u64, _total: Option<u64>) {}

    /// More bytes have arrived.
    fn advance(&mut self, _bytes: u64) {}

    /// A transient failure is followed by another attempt after a pause.
    fn retry(&mut self, _error: &DatasetError, _pause: Duration) {}

    /// All files are downloaded, and preparing the dataset begins.
    fn prepare(&mut self, _dataset: &str) {}
}

/// Ignores all progress.
impl FetchObserver for () {}

/// How often a download is retried, and how large it may get.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DownloadLimits {
    /// Attempts after the first one; the count starts over whenever an attempt makes progress.
    pub(crate) retries: u32,
    /// The pause before the second attempt, doubled before each further one.
    pub(crate) pause: Duration,
    /// The maximum size of a file in bytes.
    pub(crate) max_size: u64,
}

/// An agent for downloads. It times out on a silent server, never on a slow but steady one.
pub(crate) fn agent() -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .timeout_resolve(Some(Duration::from_secs(30)))
        .timeout_connect(Some(Duration::from_secs(30)))
        .timeout_recv_response(Some(Duration::from_secs(60)))
        .timeout_per_read(Some(Duration::from_secs(60)))
        .user_agent(concat!("broadstream/", env!("CARGO_PKG_VERSION")))
        // If a server compressed on its own, the same range would have different bytes.
        .accept_encoding("identity")
        .build()
        .new_agent()
}

/// Downloads `url` to `target`, unless that file exists already.
pub(crate) fn download(
    agent: &Agent,
    url: &str,
    target: &Path,
    limits: DownloadLimits,
    observer: &mut dyn FetchObserver,
) -> Result<(), DatasetError> {
    if target.is_file() {
        return Ok(());
    }
    let partial = partial_path(target);
    let (mut failures, mut best) = (0, 0);
    loop {
        let error = match attempt(agent, url, &partial, limits.max_size, observer) {
            Ok(()) => break,
            Err(Failure::Permanent(error)) => return Err(error),
            Err(Failure::Transient(error)) => error,
        };
        let have = length(&partial);
        if have > best {
            (failures, best) = (0, have);
        }
        if failures == limits.retries {
            return Err(error);
        }
        let pause = limits.pause.saturating_mul(1 << failures.min(16));
        failures += 1;
        observer.retry(&error, pause);
        thread::sleep(pause);
    }
    fs::rename(&partial, target).map_err(DatasetError::file("renaming", &partial))
}

/// The path of the partial file of an unfinished download.
fn partial_path(target: &Path) -> PathBuf {
    let mut name = OsString::from(target);
    name.push(".part");
    name.into()
}

/// A failed attempt, by whether another one may succeed.
enum Failure {
    Permanent(DatasetError),
    Transient(DatasetError),
}

/// Makes one request, for the bytes that are missing.
fn attempt(
    agent: &Agent,
    url: &str,
    partial: &Path,
    max_size: u64,
    observer: &mut dyn FetchObserver,
) -> Result<(), Failure> {
    let have = length(partial);
    let mut request = agent.get(url);
    if have > 0 {
        request = request.header("range", format!("bytes={have}-"));
    }
    let response = request.call().map_err(|source| transfer_failure(url, source))?;
    let status = response.status().as_u16();
    let refused = DatasetError::Status { url: url.to_owned(), status };
    match status {
        200 => receive(response, url, partial, 0, max_size, observer),
        206 if starts_at(&response, have) => {
            receive(response, url, partial, have, max_size, observer)
        }
        // Either the partial file is not a prefix of the server's current file, or it is complete.
        // Only downloading the whole file can tell which.
        206 | 416 => {
            remove(partial)?;
            Err(Failure::Transient(refused))
        }
        408 | 425 | 429 | 500..=599 => Err(Failure::Transient(refused)),
        _ => Err(Failure::Permanent(refused)),
    }
}

/// Appends a response to the first `start` bytes of the partial file.
fn receive(
    mut response: Response<Body>,
    url: &str,
    partial: &Path,
    start: u64,
    max_size: u64,
    observer: &mut dyn FetchObserver,
) -> Result<(), Failure> {
    let too_large =
        || Failure::Permanent(DatasetError::TooLarge { name: url.to_owned(), limit: max_size });
    let total = response.body().content_length().map(|rest| start.saturating_add(rest));
    if total.is_some_and(|total| total > max_size) {
        return Err(too_large());
    }
    let name = partial.file_stem().unwrap_or_default().to_string_lossy();
    observer.begin(name.strip_suffix(FETCHED).unwrap_or(&name), start, total);

    let failed = |source| Failure::Permanent(DatasetError::file("writing", partial)(source));
    let mut file = open(partial, start).map_err(failed)?;
    // The limit is enforced below, where the partial file can be removed too.
    let mut body = response.body_mut().with_config().limit(u64::MAX).reader();
    let mut buffer = vec![0; 1 << 16];
    let mut length = start;
    loop {
        let read = match body.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) => return Err(transfer_failure(url, error.into())),
        };
        length += read as u64;
        if length > max_size {
            drop(file);
            remove(partial)?;
            return Err(too_large());
        }
        file.write_all(&buffer[..read]).map_err(failed)?;
        observer.advance(read as u64);
    }
    if total.is_some_and(|total| length < total) {
        let cut = io::Error::from(io::ErrorKind::UnexpectedEof);
        return Err(transfer_failure(url, cut.into()));
    }
    file.sync_all().map_err(failed)
}

/// Whether the response to a request for the bytes from `start` on begins there.
fn starts_at(response: &Response<Body>, start: u64) -> bool {
    let range = response.headers().get("content-range").and_then(|value| value.to_str().ok());
    range
        .and_then(|range| range.trim().strip_prefix("bytes ")?.split('-').next()?.parse().ok())
        .is_some_and(|first: u64| first == start)
}

/// Opens the file to append at `start`, and truncates it there.
fn open(partial: &Path, start: u64) -> io::Result<File> {
    let file = OpenOptions::new().create(true).append(true).open(partial)?;
    file.set_len(start)?;
    Ok(file)
}

fn length(partial: &Path) -> u64 {
    partial.metadata().map_or(0, |metadata| metadata.len())
}

/// Removes the partial file, if it exists.
fn remove(partial: &Path) -> Result<(), Failure> {
    match fs::remove_file(partial) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(Failure::Permanent(DatasetError::file("removing", partial)(source)))
        }
        _ => Ok(()),
    }
}

/// Classifies a failure: networks recover, but a wrong address or certificate stays wrong.
fn transfer_failure(url: &str, source: ureq::Error) -> Failure {
    let transient = matches!(
        source,
        ureq::Error::Io(_)
            | ureq::Error::Timeout(_)
            | ureq::Error::HostNotFound
            | ureq::Error::ConnectionFailed
            | ureq::Error::Protocol(_)
    );
    let error = DatasetError::Transfer { url: url.to_owned(), source: Box::new(source) };
    if transient { Failure::Transient(error) } else { Failure::Permanent(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_server::{PreparedResponse, Server};

    const CONTENT: &[u8] = b"0123456789abcdefghij";

    fn limits() -> DownloadLimits {
        DownloadLimits { retries: 2, pause: Duration::from_millis(1), max_size: 1000 }
    }

    /// The result of a download.
    struct Run {
        outcome: Result<(), DatasetError>,
        file: Option<Vec<u8>>,
        partial: Option<Vec<u8>>,
        /// The requested ranges.
        ranges: Vec<Option<String>>,
    }

    /// Downloads from a server that gives these responses in turn, after an earlier call left the
    /// bytes `before`.
    fn run(responses: Vec<PreparedResponse>, before: &[u8], limits: DownloadLimits) -> Run {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("file.zip");
        if !before.is_empty() {
            fs::write(partial_path(&target), before).unwrap();
        }
        let server = Server::start(responses);
        let url = format!("{}/file.zip", server.address());
        let outcome = download(&agent(), &url, &target, limits, &mut ());
        let ranges = server.finish().into_iter().map(|request| request.range).collect();
        let (file, partial) = (fs::read(&target).ok(), fs::read(partial_path(&target)).ok());
        Run { outcome, file, partial, ranges }
    }

    #[test]
    fn a_file_is_downloaded_whole() {
        let Run { outcome, file, partial, ranges } =
            run(vec![PreparedResponse::whole(CONTENT)], b"", limits());
        outcome.unwrap();
        assert_eq!(file.as_deref(), Some(CONTENT));
        assert_eq!(partial, None);
        assert_eq!(ranges, [None]);
    }

    #[test]
    fn a_broken_connection_is_resumed_where_it_ended() {
        let responses = vec![PreparedResponse::cut(CONTENT, 7), PreparedResponse::rest(CONTENT, 7)];
        let Run { outcome, file, ranges, .. } = run(responses, b"", limits());
        outcome.unwrap();
        assert_eq!(file.as_deref(), Some(CONTENT));
        assert_eq!(ranges, [None, Some("bytes=7-".to_owned())]);
    }

    #[test]
    fn a_partial_file_of_an_earlier_call_is_resumed() {
        let Run { outcome, file, ranges, .. } =
            run(vec![PreparedResponse::rest(CONTENT, 3)], &CONTENT[..3], limits());
        outcome.unwrap();
        assert_eq!(file.as_deref(), Some(CONTENT));
        assert_eq!(ranges, [Some("bytes=3-".to_owned())]);
    }

    #[test]
    fn a_server_without_ranges_starts_over() {
        let Run { outcome, file, .. } =
            run(vec![PreparedResponse::whole(CONTENT)], b"0123456", limits());
        outcome.unwrap();
        assert_eq!(file.as_deref(), Some(CONTENT));
    }

    #[test]
    fn a_range_that_starts_elsewhere_is_not_used() {
        let responses = vec![PreparedResponse::rest(CONTENT, 5), PreparedResponse::whole(CONTENT)];
        let Run { outcome, file, ranges, .. } = run(responses, b"012", limits());
        outcome.unwrap();
        assert_eq!(file.as_deref(), Some(CONTENT));
        assert_eq!(ranges, [Some("bytes=3-".to_owned()), None]);
    }

    #[test]
    fn a_partial_file_longer_than_the_file_is_discarded() {
        let responses = vec![PreparedResponse::status(416), PreparedResponse::whole(CONTENT)];
        let Run { outcome, file, .. } = run(responses, &[b'x'; 99], limits());
        outcome.unwrap();
        assert_eq!(file.as_deref(), Some(CONTENT));
    }

    #[test]
    fn a_busy_server_is_retried_but_not_for_ever() {
        let responses = vec![
            PreparedResponse::status(503),
            PreparedResponse::status(429),
            PreparedResponse::whole(CONTENT),
        ];
        run(responses, b"", limits()).outcome.unwrap();
        let responses = vec![
            PreparedResponse::status(503),
            PreparedResponse::status(503),
            PreparedResponse::status(500),
        ];
        let Run { outcome, file, ranges, .. } = run(responses, b"", limits());
        assert!(matches!(outcome, Err(DatasetError::Status { status: 500, .. })));
        assert_eq!((file, ranges.len()), (None, 3));
    }

    #[test]
    fn a_file_that_does_not_exist_is_requested_once() {
        let Run { outcome, ranges, .. } = run(vec![PreparedResponse::status(404)], b"", limits());
        let message = outcome.unwrap_err().to_string();
        assert!(message.ends_with("/file.zip: the server answered with status 404"), "{message}");
        assert_eq!(ranges.len(), 1);
    }

    #[test]
    fn attempts_that_make_progress_do_not_count() {
        let mut responses = vec![PreparedResponse::cut(CONTENT, 2)];
        responses.extend((2..19).map(|have| PreparedResponse::cut_rest(CONTENT, have, 1)));
        responses.push(PreparedResponse::rest(CONTENT, 19));
        let Run { outcome, file, .. } = run(responses, b"", limits());
        outcome.unwrap();
        assert_eq!(file.as_deref(), Some(CONTENT));
    }

    #[test]
    fn an_interrupted_download_is_kept_for_later() {
        let limits = DownloadLimits { retries: 0, ..limits() };
        let Run { outcome, file, partial, .. } =
            run(vec![PreparedResponse::cut(CONTENT, 7)], b"", limits);
        assert!(matches!(outcome, Err(DatasetError::Transfer { .. })));
        assert_eq!((file, partial.as_deref()), (None, Some(&CONTENT[..7])));
    }

    #[test]
    fn no_file_may_be_larger_than_the_limit() {
        let small = DownloadLimits { max_size: 19, ..limits() };
        for response in
            [PreparedResponse::whole(CONTENT), PreparedResponse::without_length(CONTENT)]
        {
            let Run { outcome, file, partial, .. } = run(vec![response], b"", small);
            assert!(matches!(outcome, Err(DatasetError::TooLarge { limit: 19, .. })));
            assert_eq!((file, partial), (None, None));
        }
        let Run { outcome, file, .. } =
            run(vec![PreparedResponse::without_length(CONTENT)], b"", limits());
        outcome.unwrap();
        assert_eq!(file.as_deref(), Some(CONTENT), "a length need not be announced");
    }

    #[test]
    fn a_host_that_does_not_answer_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("file.zip");
        let server = Server::start(Vec::new());
        let url = format!("{}/file.zip", server.address());
        server.finish();
        let outcome = download(&agent(), &url, &target, limits(), &mut ());
        assert!(matches!(outcome, Err(DatasetError::Transfer { .. })), "{outcome:?}");
    }
}
