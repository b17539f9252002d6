//! The lines of a source, of bounded length, with a mark to go back to.
//!
//! Every text format is read through it. A row of CSV is usually one line. Returning lines rather than
//! arbitrary chunks lets the CSV reader split a line without quotes in place, and leave the others to
//! the `csv` crate, which sees through [`Read`] exactly the lines of the row that it is asked for and
//! never reads ahead.

use std::{
    io::{self, Read},
    ops::Range,
    sync::Arc,
};

use memchr::{memchr, memchr_iter};

use super::{Place, StreamError, decompress};

/// The longest line accepted, and the longest row of several lines.
pub(super) const LONGEST_LINE: usize = 16 << 20;

/// How many bytes are examined to tell whether a source is text, and the delimiter of CSV.
pub(super) const HEAD: usize = 64 << 10;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How many bytes are read at once: few enough to stay in the processor's cache until they are parsed.
const CHUNK: usize = 256 << 10;

pub(super) struct Lines {
    source: Box<dyn Read + Send>,
    /// The bytes that were read and are still needed lie in `buffer[..filled]`.
    buffer: Vec<u8>,
    filled: usize,
    /// Where the next line starts, and its number.
    next: usize,
    line: u64,
    /// No line ends in `buffer[next..searched]`, so a long line is searched only once.
    searched: usize,
    /// How many bytes of the current row [`Read`] has returned, and the line where that row starts.
    given: usize,
    row_line: u64,
    /// Where [`rewind`](Self::rewind) goes.
    mark: Option<(usize, u64)>,
    terminator: u8,
    ended: bool,
    /// Shared, so that the same failure can be reported again after rewinding.
    failure: Option<Arc<io::Error>>,
    /// Why [`Read`] failed.
    refusal: Option<StreamError>,
}

impl Lines {
    /// The lines of a text, plain or compressed, without its byte order mark.
    pub(super) fn open(reader: Box<dyn Read + Send>) -> Result<Self, StreamError> {
        let source = decompress(reader)
            .map_err(|source| StreamError::Read { place: Place::Line(1), source })?;
        let mut lines = Lines::new(source);
        let (head, _) = lines.head();
        if let Some(nul) = memchr(0, head) {
            let place = Place::Line(1 + memchr_iter(b'\n', &head[..nul]).count() as u64);
            return Err(StreamError::NotText { place, reason: "binary data" });
        }
        let text = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
        let (terminator, before) = (terminator(text), head.len() - text.len());
        lines.terminator = terminator;
        lines.skip(before);
        Ok(lines)
    }

    /// The lines of plain bytes, each of which ends with a line feed.
    pub(super) fn new(source: Box<dyn Read + Send>) -> Self {
        Lines {
            source,
            buffer: vec![0; CHUNK],
            filled: 0,
            next: 0,
            line: 1,
            searched: 0,
            given: 0,
            row_line: 1,
            mark: None,
            terminator: b'\n',
            ended: false,
            failure: None,
            refusal: None,
        }
    }

    /// The next [`HEAD`] bytes, or fewer if there are no more, and whether these are all bytes.
    ///
    /// A failure of the source is not reported here but on the line where it happened.
    pub(super) fn head(&mut self) -> (&[u8], bool) {
        while self.filled - self.next < HEAD && self.fill() {}
        let end = self.filled.min(self.next + HEAD);
        (&self.buffer[self.next..end], self.ended && self.filled == end)
    }

    /// Skips a byte order mark at the start of the next line.
    pub(super) fn skip_byte_order_mark(&mut self) -> Result<(), StreamError> {
        let line = self.peek()?;
        if line.is_some_and(|line| self.buffer[line].starts_with(BYTE_ORDER_MARK)) {
            self.skip(BYTE_ORDER_MARK.len());
        }
        Ok(())
    }

    /// Skips that many bytes of the line.
    fn skip(&mut self, bytes: usize) {
        self.next += bytes;
        self.searched = self.next;
    }

    /// The byte that ends a line.
    pub(super) fn terminator(&self) -> u8 {
        self.terminator
    }

    /// Where the next line lies, without its terminator; `None` at the end.
    pub(super) fn peek(&mut self) -> Result<Option<Range<usize>>, StreamError> {
        loop {
            if let Some(found) = memchr(self.terminator, &self.buffer[self.searched..self.filled]) {
                self.searched += found;
                return match self.searched - self.next {
                    0..=LONGEST_LINE => Ok(Some(self.next..self.searched)),
                    _ => Err(self.too_long(self.line)),
                };
            }
            self.searched = self.filled;
            if self.filled - self.next > LONGEST_LINE {
                return Err(self.too_long(self.line));
            }
            if !self.fill() {
                match &self.failure {
                    Some(failure) => return Err(read_error(self.line, failure)),
                    None if self.next == self.filled => return Ok(None),
                    None => self.terminate_last_line(),
                }
            }
        }
    }

    /// Where the next line lies, if it has been read already.
    pub(super) fn ready(&mut self) -> Option<Range<usize>> {
        match memchr(self.terminator, &self.buffer[self.searched..self.filled]) {
            Some(found) => {
                self.searched += found;
                Some(self.next..self.searched).filter(|line| line.len() <= LONGEST_LINE)
            }
            None => {
                self.searched = self.filled;
                None
            }
        }
    }

    /// Whether the next line that holds a row, or the end, can be read without waiting for the source.
    /// Lines before it, which hold none, are passed over.
    pub(super) fn is_row_ready(&mut self, holds_row: impl Fn(&[u8]) -> bool) -> bool {
        while let Some(range) = self.ready() {
            if holds_row(self.text(range)) {
                return true;
            }
            self.pass();
        }
        self.ended
    }

    /// Moves past the next lines for as long as they are blank. A failure of the source is not reported
    /// here but when the line is read.
    pub(super) fn pass_blank(&mut self, is_blank: impl Fn(&[u8]) -> bool) {
        while let Ok(Some(range)) = self.peek()
            && is_blank(self.text(range))
        {
            self.pass();
        }
    }

    /// Whether the source has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Moves past the line that was just peeked at.
    pub(super) fn pass(&mut self) {
        self.next = self.searched + 1;
        self.searched = self.next;
        self.line += 1;
    }

    pub(super) fn text(&self, range: Range<usize>) -> &[u8] {
        &self.buffer[range]
    }

    /// The number of the next line.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Begins a row that is to be read through [`Read`].
    pub(super) fn begin_row(&mut self) {
        self.given = 0;
        self.row_line = self.line;
    }

    /// Why [`Read`] failed.
    pub(super) fn take_refusal(&mut self) -> Option<StreamError> {
        self.refusal.take()
    }

    /// Marks the next line and keeps what follows in memory, until the mark is forgotten.
    pub(super) fn mark(&mut self) {
        self.mark = Some((self.next, self.line));
    }

    /// How many bytes have been kept since the mark.
    pub(super) fn kept(&self) -> usize {
        self.mark.map_or(0, |(start, _)| self.next - start)
    }

    /// The bytes since the mark.
    pub(super) fn since_mark(&self) -> &[u8] {
        self.mark.map_or(&[], |(start, _)| &self.buffer[start..self.next])
    }

    /// Goes back to the marked line.
    pub(super) fn rewind(&mut self) {
        if let Some((start, line)) = self.mark {
            self.next = start;
            self.searched = start;
            self.line = line;
        }
    }

    pub(super) fn forget_mark(&mut self) {
        self.mark = None;
    }

    /// How many bytes of memory the lines take.
    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        self.buffer.len()
    }

    /// Reads more; `false` if there is no more.
    fn fill(&mut self) -> bool {
        if self.ended {
            return false;
        }
        self.make_room();
        let room = self.buffer.len().min(self.filled + CHUNK);
        match self.source.read(&mut self.buffer[self.filled..room]) {
            Ok(read) => {
                self.filled += read;
                self.ended = read == 0;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                self.ended = true;
                self.failure = Some(Arc::new(error));
            }
        }
        !self.ended
    }

    /// Adds the terminator that the last line lacks.
    fn terminate_last_line(&mut self) {
        self.make_room();
        self.buffer[self.filled] = self.terminator;
        self.filled += 1;
    }

    /// Makes room for at least one byte.
    fn make_room(&mut self) {
        // Without a mark only the start of one line is still needed, so moving it is cheap.
        let start = self.mark.map_or(self.next, |(start, _)| start);
        if start > 0 {
            self.buffer.copy_within(start..self.filled, 0);
            self.filled -= start;
            self.next -= start;
            self.searched -= start;
            self.mark = self.mark.map(|(_, line)| (0, line));
        }
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.filled + CHUNK, 0);
        }
    }

    fn too_long(&self, line: u64) -> StreamError {
        StreamError::LineTooLong { line, limit: LONGEST_LINE }
    }

    fn refuse(&mut self, error: StreamError) -> io::Result<usize> {
        self.refusal = Some(error);
        Err(io::Error::other("see take_refusal"))
    }
}

/// Returns the lines of one row, terminators included. Being asked for more than the source has means
/// that a quote is still open.
impl Read for Lines {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let line = match self.peek() {
            Ok(Some(line)) => line,
            Ok(None) => return self.refuse(StreamError::OpenQuote { line: self.row_line }),
            Err(error) => return self.refuse(error),
        };
        let left = line.len() + 1;
        // The parser would take a byte order mark at the start of a row for that of a file, and remove
        // it. A first read of one byte hides it.
        let most = if self.given == 0 { 1 } else { left };
        let read = most.min(out.len());
        self.given += read;
        if self.given > LONGEST_LINE + 1 {
            return self.refuse(self.too_long(self.row_line));
        }
        out[..read].copy_from_slice(&self.buffer[line.start..line.start + read]);
        if read == left {
            self.pass();
        } else {
            self.next += read;
        }
        Ok(read)
    }
}

/// Line feeds end lines, also after a carriage return; old files have carriage returns alone.
fn terminator(text: &[u8]) -> u8 {
    // A carriage return at the very end may be half of a line end.
    let inner = &text[..text.len().saturating_sub(1)];
    if memchr(b'\r', inner).is_some() && memchr(b'\n', text).is_none() { b'\r' } else { b'\n' }
}

fn read_error(line: u64, failure: &Arc<io::Error>) -> StreamError {
    let source = io::Error::new(failure.kind(), Arc::clone(failure));
    StreamError::Read { place: Place::Line(line), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns its pieces one per read, then fails.
    struct Pieces(Vec<&'static [u8]>);

    impl Read for Pieces {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Err(io::Error::new(io::ErrorKind::ConnectionReset, "gone"));
            }
            let piece = self.0.remove(0);
            if piece == b"interrupted" {
                return Err(io::ErrorKind::Interrupted.into());
            }
            out[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    type Numbered = (u64, Vec<u8>);

    fn lines(text: &'static [u8]) -> Lines {
        Lines::new(Box::new(text))
    }

    /// The rest of the lines with their numbers, and how it ended.
    fn rest(lines: &mut Lines) -> (Vec<Numbered>, Result<(), StreamError>) {
        let mut read = Vec::new();
        loop {
            match lines.peek() {
                Ok(Some(range)) => {
                    read.push((lines.line(), lines.text(range).to_vec()));
                    lines.pass();
                }
                Ok(None) => return (read, Ok(())),
                Err(error) => return (read, Err(error)),
            }
        }
    }

    fn texts(lines: &mut Lines) -> Vec<String> {
        let (read, outcome) = rest(lines);
        outcome.unwrap();
        read.into_iter().map(|(_, text)| String::from_utf8(text).unwrap()).collect()
    }

    #[test]
    fn line_ends() {
        for (text, expected) in
            [("a\nb", b'\n'), ("a\r\nb", b'\n'), ("a\rb\r", b'\r'), ("a\r", b'\n'), ("", b'\n')]
        {
            assert_eq!(terminator(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_not_text() {
        let mut lines = Lines::open(Box::new("\u{feff}a\rb".as_bytes())).unwrap();
        assert_eq!(lines.head(), (&b"a\rb"[..], true));
        assert_eq!(texts(&mut lines), ["a", "b"]);
    }

    #[test]
    fn a_zero_byte_is_binary_data() {
        let error = Lines::open(Box::new(&b"a,b\n1,\0"[..])).err();
        let line_2 = Place::Line(2);
        assert!(matches!(error, Some(StreamError::NotText { place, .. }) if place == line_2));
    }

    #[test]
    fn a_last_line_may_lack_its_end() {
        assert_eq!(texts(&mut lines(b"")), [""; 0]);
        assert_eq!(texts(&mut lines(b"a")), ["a"]);
        assert_eq!(texts(&mut lines(b"a\n")), ["a"]);
        assert_eq!(texts(&mut lines(b"a\n\nb")), ["a", "", "b"]);
    }

    #[test]
    fn a_failing_source_yields_its_whole_lines_first_and_fails_again_after_rewinding() {
        let mut lines = Lines::new(Box::new(Pieces(vec![b"ab", b"interrupted", b"c\nd", b"e\nf"])));
        lines.mark();
        for _ in 0..2 {
            let (read, outcome) = rest(&mut lines);
            assert_eq!(read, [(1, b"abc".to_vec()), (2, b"de".to_vec())]);
            match outcome {
                Err(StreamError::Read { place: Place::Line(3), source }) => {
                    assert_eq!(source.kind(), io::ErrorKind::ConnectionReset);
                    assert_eq!(source.to_string(), "gone");
                }
                other => panic!("{other:?}"),
            }
            lines.rewind();
        }
    }

    #[test]
    fn a_mark_survives_many_chunks() {
        let text: String = (0..200_000).map(|i| format!("{i}\n")).collect();
        let mut lines = Lines::new(Box::new(io::Cursor::new(text.into_bytes())));
        lines.peek().unwrap();
        lines.pass();
        lines.mark();
        let (first, _) = rest(&mut lines);
        assert!(lines.kept() > 4 * CHUNK);
        lines.rewind();
        lines.forget_mark();
        let (second, _) = rest(&mut lines);
        assert_eq!(first.len(), 199_999);
        assert_eq!(first[0], (2, b"1".to_vec()));
        assert!(first == second);
    }

    #[test]
    fn the_longest_line_is_just_accepted() {
        let line = |length| io::repeat(b'x').take(length as u64);
        let end = || io::Cursor::new(b"\ny");
        let mut accepted = Lines::new(Box::new(line(LONGEST_LINE).chain(end())));
        let (read, outcome) = rest(&mut accepted);
        outcome.unwrap();
        assert_eq!((read[0].1.len(), read[1].1.len()), (LONGEST_LINE, 1));

        let mut refused = Lines::new(Box::new(line(LONGEST_LINE + 1).chain(end())));
        assert!(matches!(refused.peek(), Err(StreamError::LineTooLong { line: 1, .. })));
    }

    #[test]
    fn an_endless_line_is_refused_in_bounded_memory() {
        let mut lines = Lines::new(Box::new(io::repeat(b'x')));
        assert!(matches!(lines.peek(), Err(StreamError::LineTooLong { line: 1, .. })));
        assert!(lines.buffer.len() <= LONGEST_LINE + 2 * CHUNK);
    }
}
