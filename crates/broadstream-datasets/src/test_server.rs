//! A local HTTP server that gives prepared responses, one per connection.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    thread::{self, JoinHandle},
};

/// The bytes of a response, after which the connection is closed.
pub(crate) struct PreparedResponse(Vec<u8>);

impl PreparedResponse {
    pub(crate) fn whole(content: &[u8]) -> Self {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", content.len());
        PreparedResponse([head.as_bytes(), content].concat())
    }

    /// Announces the whole content, and closes after `length` bytes.
    pub(crate) fn cut(content: &[u8], length: usize) -> Self {
        let mut response = Self::whole(content);
        response.0.truncate(response.0.len() - content.len() + length);
        response
    }

    /// The content from `start` on.
    pub(crate) fn rest(content: &[u8], start: usize) -> Self {
        Self::cut_rest(content, start, content.len() - start)
    }

    /// Announces the content from `start` on, and closes after `length` bytes.
    pub(crate) fn cut_rest(content: &[u8], start: usize, length: usize) -> Self {
        let (total, rest) = (content.len(), content.len() - start);
        let head = format!(
            "HTTP/1.1 206 Partial Content\r\ncontent-length: {rest}\r\n\
             content-range: bytes {start}-{}/{total}\r\n\r\n",
            total - 1,
        );
        PreparedResponse([head.as_bytes(), &content[start..start + length]].concat())
    }

    /// The content without its length.
    pub(crate) fn without_length(content: &[u8]) -> Self {
        PreparedResponse([b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", content].concat())
    }

    pub(crate) fn status(status: u16) -> Self {
        PreparedResponse(format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\n\r\n").into_bytes())
    }
}

/// A request of a client.
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) range: Option<String>,
}

pub(crate) struct Server {
    address: SocketAddr,
    requests: JoinHandle<Vec<Request>>,
}

impl Server {
    /// Gives the responses in turn, each on a connection of its own, and stops listening after the
    /// last one.
    pub(crate) fn start(responses: Vec<PreparedResponse>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = thread::spawn(move || {
            responses
                .into_iter()
                .map(|response| {
                    let (mut connection, _) = listener.accept().unwrap();
                    let request = read_request(&connection);
                    connection.write_all(&response.0).unwrap();
                    request
                })
                .collect()
        });
        Server { address, requests }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits until all responses have been given, and returns the requests.
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
