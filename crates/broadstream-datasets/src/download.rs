//! One file over HTTP, in the face of servers and networks that fail.
//!
//! Bytes go to a file with the suffix `.part`, which keeps its name until it is complete. After a
//! failure that may pass, the same address is asked for the rest, and so is a later call; a server
//! that does not know how to give a rest sends everything, and the file starts anew.

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

/// Is told how a download goes.
pub trait Watcher {
    /// A file starts or goes on: `have` bytes of `total` are there. `total` is unknown where the
    /// server does not say.
    fn begin(&mut self, _file: &str, _have: u64, _total: Option<u64>) {}

    /// So many more bytes came.
    fn advance(&mut self, _bytes: u64) {}

    /// A failure that may pass is followed by another attempt, after a pause.
    fn retry(&mut self, _error: &DatasetError, _pause: Duration) {}

    /// All files are there, and the dataset is being prepared from them.
    fn prepare(&mut self, _dataset: &str) {}
}

/// Watches nothing.
impl Watcher for () {}

/// How patient a download is, and how greedy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Attempts after the first one, counted anew whenever one brought the file further.
    pub(crate) retries: u32,
    /// The pause before the second attempt; each further one doubles it.
    pub(crate) pause: Duration,
    /// The most bytes a file may have.
    pub(crate) limit: u64,
}

/// An agent for downloads. It gives up on silence, never on a slow but steady server.
pub(crate) fn agent() -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .timeout_resolve(Some(Duration::from_secs(30)))
        .timeout_connect(Some(Duration::from_secs(30)))
        .timeout_recv_response(Some(Duration::from_secs(60)))
        .timeout_per_read(Some(Duration::from_secs(60)))
        .user_agent(concat!("broadstream/", env!("CARGO_PKG_VERSION")))
        // A server that compresses on its own would give other bytes for the same range.
        .accept_encoding("identity")
        .build()
        .new_agent()
}

/// Downloads `url` to `target`, unless that is there already.
pub(crate) fn download(
    agent: &Agent,
    url: &str,
    target: &Path,
    patience: Patience,
    watcher: &mut dyn Watcher,
) -> Result<(), DatasetError> {
    if target.is_file() {
        return Ok(());
    }
    let part = part_of(target);
    let (mut failures, mut best) = (0, 0);
    loop {
        let error = match attempt(agent, url, &part, patience.limit, watcher) {
            Ok(()) => break,
            Err(Failure::Final(error)) => return Err(error),
            Err(Failure::Passing(error)) => error,
        };
        let have = length(&part);
        if have > best {
            (failures, best) = (0, have);
        }
        if failures == patience.retries {
            return Err(error);
        }
        let pause = patience.pause.saturating_mul(1 << failures.min(16));
        failures += 1;
        watcher.retry(&error, pause);
        thread::sleep(pause);
    }
    fs::rename(&part, target).map_err(DatasetError::file("renaming", &part))
}

/// Where the bytes of an unfinished download are.
fn part_of(target: &Path) -> PathBuf {
    let mut name = OsString::from(target);
    name.push(".part");
    name.into()
}

/// Whether it makes sense to try again.
enum Failure {
    Final(DatasetError),
    Passing(DatasetError),
}

/// One request, for the bytes that are not there yet.
fn attempt(
    agent: &Agent,
    url: &str,
    part: &Path,
    limit: u64,
    watcher: &mut dyn Watcher,
) -> Result<(), Failure> {
    let have = length(part);
    let mut request = agent.get(url);
    if have > 0 {
        request = request.header("range", format!("bytes={have}-"));
    }
    let response = request.call().map_err(|source| transfer_failure(url, source))?;
    let status = response.status().as_u16();
    let refused = DatasetError::Status { url: url.to_owned(), status };
    match status {
        200 => receive(response, url, part, 0, limit, watcher),
        206 if starts_at(&response, have) => receive(response, url, part, have, limit, watcher),
        // What is there is no beginning of the file that the server has now, or is all of it;
        // which one, only the whole file can tell.
        206 | 416 => {
            remove(part)?;
            Err(Failure::Passing(refused))
        }
        408 | 425 | 429 | 500..=599 => Err(Failure::Passing(refused)),
        _ => Err(Failure::Final(refused)),
    }
}

/// Appends an answer to the first `start` bytes of the part.
fn receive(
    mut response: Response<Body>,
    url: &str,
    part: &Path,
    start: u64,
    limit: u64,
    watcher: &mut dyn Watcher,
) -> Result<(), Failure> {
    let too_large = || Failure::Final(DatasetError::TooLarge { name: url.to_owned(), limit });
    let total = response.body().content_length().map(|rest| start.saturating_add(rest));
    if total.is_some_and(|total| total > limit) {
        return Err(too_large());
    }
    let name = part.file_stem().unwrap_or_default().to_string_lossy();
    watcher.begin(&name, start, total);

    let failed = |source| Failure::Final(DatasetError::file("writing", part)(source));
    let mut file = open(part, start).map_err(failed)?;
    // The limit is kept below, where the part can be removed too.
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
        if length > limit {
            drop(file);
            remove(part)?;
            return Err(too_large());
        }
        file.write_all(&buffer[..read]).map_err(failed)?;
        watcher.advance(read as u64);
    }
    if total.is_some_and(|total| length < total) {
        let cut = io::Error::from(io::ErrorKind::UnexpectedEof);
        return Err(transfer_failure(url, cut.into()));
    }
    file.sync_all().map_err(failed)
}

/// Whether the answer to a request for the bytes from `start` on begins there.
fn starts_at(response: &Response<Body>, start: u64) -> bool {
    let range = response.headers().get("content-range").and_then(|value| value.to_str().ok());
    range
        .and_then(|range| range.trim().strip_prefix("bytes ")?.split('-').next()?.parse().ok())
        .is_some_and(|first: u64| first == start)
}

/// Opens the file for the bytes from `start` on; what it holds beyond is dropped.
fn open(part: &Path, start: u64) -> io::Result<File> {
    let file = OpenOptions::new().create(true).append(true).open(part)?;
    file.set_len(start)?;
    Ok(file)
}

fn length(part: &Path) -> u64 {
    part.metadata().map_or(0, |metadata| metadata.len())
}

/// Removes the part, if there is one.
fn remove(part: &Path) -> Result<(), Failure> {
    match fs::remove_file(part) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(Failure::Final(DatasetError::file("removing", part)(source)))
        }
        _ => Ok(()),
    }
}

/// Networks recover, but a wrong address or certificate stays wrong.
fn transfer_failure(url: &str, source: ureq::Error) -> Failure {
    let passing = matches!(
        source,
        ureq::Error::Io(_)
            | ureq::Error::Timeout(_)
            | ureq::Error::HostNotFound
            | ureq::Error::ConnectionFailed
            | ureq::Error::Protocol(_)
    );
    let error = DatasetError::Transfer { url: url.to_owned(), source: Box::new(source) };
    if passing { Failure::Passing(error) } else { Failure::Final(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_server::{Answer, Server};

    const CONTENT: &[u8] = b"0123456789abcdefghij";

    fn patience() -> Patience {
        Patience { retries: 2, pause: Duration::from_millis(1), limit: 1000 }
    }

    /// What came of a download.
    struct Run {
        outcome: Result<(), DatasetError>,
        file: Option<Vec<u8>>,
        part: Option<Vec<u8>>,
        /// The ranges that were asked for.
        ranges: Vec<Option<String>>,
    }

    /// Downloads from a server that gives those answers in turn, after an earlier call left the
    /// bytes `before`.
    fn run(answers: Vec<Answer>, before: &[u8], patience: Patience) -> Run {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("file.zip");
        if !before.is_empty() {
            fs::write(part_of(&target), before).unwrap();
        }
        let server = Server::start(answers);
        let url = format!("{}/file.zip", server.address());
        let outcome = download(&agent(), &url, &target, patience, &mut ());
        let ranges = server.finish().into_iter().map(|request| request.range).collect();
        let (file, part) = (fs::read(&target).ok(), fs::read(part_of(&target)).ok());
        Run { outcome, file, part, ranges }
    }

    #[test]
    fn a_file_comes_whole() {
        let Run { outcome, file, part, ranges } =
            run(vec![Answer::whole(CONTENT)], b"", patience());
        outcome.unwrap();
        assert_eq!(file.as_deref(), Some(CONTENT));
        assert_eq!(part, None);
        assert_eq!(ranges, [None]);
    }

    #[test]
    fn a_cut_connection_is_taken_up_where_it_ended() {
        let answers = vec![Answer::cut(CONTENT, 7), Answer::rest(CONTENT, 7)];
        let Run { outcome, file, ranges, .. } = run(answers, b"", patience());
        outcome.unwrap();
        assert_eq!(file.as_deref(), Some(CONTENT));
        assert_eq!(ranges, [None, Some("bytes=7-".to_owned())]);
    }

    #[test]
    fn what_an_earlier_call_left_is_used() {
        let Run { outcome, file, ranges, .. } =
            run(vec![Answer::rest(CONTENT, 3)], &CONTENT[..3], patience());
        outcome.unwrap();
        assert_eq!(file.as_deref(), Some(CONTENT));
        assert_eq!(ranges, [Some("bytes=3-".to_owned())]);
    }

    #[test]
    fn a_server_without_ranges_starts_anew() {
        let Run { outcome, file, .. } = run(vec![Answer::whole(CONTENT)], b"0123456", patience());
        outcome.unwrap();
        assert_eq!(file.as_deref(), Some(CONTENT));
    }

    #[test]
    fn a_rest_that_starts_elsewhere_is_not_used() {
        let answers = vec![Answer::rest(CONTENT, 5), Answer::whole(CONTENT)];
        let Run { outcome, file, ranges, .. } = run(answers, b"012", patience());
        outcome.unwrap();
        assert_eq!(file.as_deref(), Some(CONTENT));
        assert_eq!(ranges, [Some("bytes=3-".to_owned()), None]);
    }

    #[test]
    fn a_part_longer_than_the_file_is_thrown_away() {
        let answers = vec![Answer::status(416), Answer::whole(CONTENT)];
        let Run { outcome, file, .. } = run(answers, &[b'x'; 99], patience());
        outcome.unwrap();
        assert_eq!(file.as_deref(), Some(CONTENT));
    }

    #[test]
    fn a_busy_server_is_asked_again_but_not_for_ever() {
        let answers = vec![Answer::status(503), Answer::status(429), Answer::whole(CONTENT)];
        run(answers, b"", patience()).outcome.unwrap();
        let answers = vec![Answer::status(503), Answer::status(503), Answer::status(500)];
        let Run { outcome, file, ranges, .. } = run(answers, b"", patience());
        assert!(matches!(outcome, Err(DatasetError::Status { status: 500, .. })));
        assert_eq!((file, ranges.len()), (None, 3));
    }

    #[test]
    fn a_file_that_is_not_there_is_not_asked_for_twice() {
        let Run { outcome, ranges, .. } = run(vec![Answer::status(404)], b"", patience());
        let message = outcome.unwrap_err().to_string();
        assert!(message.ends_with("/file.zip: the server answered with status 404"), "{message}");
        assert_eq!(ranges.len(), 1);
    }

    #[test]
    fn attempts_that_make_progress_do_not_count() {
        let mut answers = vec![Answer::cut(CONTENT, 2)];
        answers.extend((2..19).map(|have| Answer::cut_rest(CONTENT, have, 1)));
        answers.push(Answer::rest(CONTENT, 19));
        let Run { outcome, file, .. } = run(answers, b"", patience());
        outcome.unwrap();
        assert_eq!(file.as_deref(), Some(CONTENT));
    }

    #[test]
    fn a_broken_off_download_is_kept_for_later() {
        let patience = Patience { retries: 0, ..patience() };
        let Run { outcome, file, part, .. } = run(vec![Answer::cut(CONTENT, 7)], b"", patience);
        assert!(matches!(outcome, Err(DatasetError::Transfer { .. })));
        assert_eq!((file, part.as_deref()), (None, Some(&CONTENT[..7])));
    }

    #[test]
    fn no_file_may_be_larger_than_the_limit() {
        let limit = Patience { limit: 19, ..patience() };
        for answer in [Answer::whole(CONTENT), Answer::endless(CONTENT)] {
            let Run { outcome, file, part, .. } = run(vec![answer], b"", limit);
            assert!(matches!(outcome, Err(DatasetError::TooLarge { limit: 19, .. })));
            assert_eq!((file, part), (None, None));
        }
        let Run { outcome, file, .. } = run(vec![Answer::endless(CONTENT)], b"", patience());
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
        let outcome = download(&agent(), &url, &target, patience(), &mut ());
        assert!(matches!(outcome, Err(DatasetError::Transfer { .. })), "{outcome:?}");
    }
}
