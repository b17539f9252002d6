//! An HTTP server on this machine that answers as told, once per answer.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    thread::{self, JoinHandle},
};

/// The bytes of an answer, after which the connection is closed.
pub(crate) struct Answer(Vec<u8>);

impl Answer {
    pub(crate) fn whole(content: &[u8]) -> Self {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", content.len());
        Answer([head.as_bytes(), content].concat())
    }

    /// Says that all will come, and closes after `length` bytes.
    pub(crate) fn cut(content: &[u8], length: usize) -> Self {
        let mut answer = Self::whole(content);
        answer.0.truncate(answer.0.len() - content.len() + length);
        answer
    }

    /// The content from `start` on.
    pub(crate) fn rest(content: &[u8], start: usize) -> Self {
        Self::cut_rest(content, start, content.len() - start)
    }

    /// Says that the content from `start` on will come, and closes after `length` bytes.
    pub(crate) fn cut_rest(content: &[u8], start: usize, length: usize) -> Self {
        let (total, rest) = (content.len(), content.len() - start);
        let head = format!(
            "HTTP/1.1 206 Partial Content\r\ncontent-length: {rest}\r\n\
             content-range: bytes {start}-{}/{total}\r\n\r\n",
            total - 1,
        );
        Answer([head.as_bytes(), &content[start..start + length]].concat())
    }

    /// The content without a word on its length.
    pub(crate) fn endless(content: &[u8]) -> Self {
        Answer([b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", content].concat())
    }

    pub(crate) fn status(status: u16) -> Self {
        Answer(format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\n\r\n").into_bytes())
    }
}

/// What a client asked for.
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) range: Option<String>,
}

pub(crate) struct Server {
    address: SocketAddr,
    requests: JoinHandle<Vec<Request>>,
}

impl Server {
    /// Gives the answers in turn, each on a connection of its own; after the last one nobody
    /// listens any more.
    pub(crate) fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = thread::spawn(move || {
            answers
                .into_iter()
                .map(|answer| {
                    let (mut connection, _) = listener.accept().unwrap();
                    let request = read_request(&connection);
                    connection.write_all(&answer.0).unwrap();
                    request
                })
                .collect()
        });
        Server { address, requests }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits until all answers were given, and returns what was asked.
    pub(crate) fn finish(self) -> Vec<Request> {
        self.requests.join().unwrap()
    }
}

fn read_request(connection: &TcpStream) -> Request {
    let mut lines = BufReader::new(connection).lines().map(Result::unwrap);
    let first = lines.next().unwrap();
    let path = first.split(' ').nth(1).unwrap().to_owned();
    let mut request = Request { path, range: None };
    for line in lines.take_while(|line| !line.is_empty()) {
        if let Some((name, value)) = line.split_once(": ")
            && name.eq_ignore_ascii_case("range")
        {
            request.range = Some(value.to_owned());
        }
    }
    request
}
