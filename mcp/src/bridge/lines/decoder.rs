//! Splits a byte stream into lines of limited length.
//!
//! It must not know what a line means.

use std::io;

use hyper::body::Bytes;
use tokio_util::bytes::BytesMut;
use tokio_util::codec::Decoder;

/// The most bytes of a line, as of the SDK's own transport.
pub(super) const MAX_LINE: usize = 16 * 1024 * 1024;

/// The bytes up to a line feed, decoded.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Complete(Bytes),
    TooLong,
}

#[derive(Debug)]
pub(super) struct LineDecoder {
    max: usize,
    /// How much of the buffer has no line feed.
    scanned: usize,
    /// Whether the beginning of the line was discarded because the line is too long.
    is_discarding: bool,
}

impl Default for LineDecoder {
    fn default() -> Self {
        Self { max: MAX_LINE, scanned: 0, is_discarding: false }
    }
}

impl Decoder for LineDecoder {
    type Item = Line;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Line>> {
        let line_feed = buffer[self.scanned..].iter().position(|byte| *byte == b'\n').map(|place| self.scanned + place);
        let Some(end) = line_feed else {
            self.scanned = buffer.len();
            if buffer.len() > self.max {
                buffer.clear();
                (self.scanned, self.is_discarding) = (0, true);
            }
            return Ok(None);
        };
        self.scanned = 0;
        let line = buffer.split_to(end + 1).freeze().slice(..end);
        let is_too_long = std::mem::take(&mut self.is_discarding) || line.len() > self.max;
        Ok(Some(if is_too_long { Line::TooLong } else { Line::Complete(line) }))
    }

    /// An unfinished last line is not a message.
    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Line>> {
        let line = self.decode(buffer)?;
        if line.is_none() {
            buffer.clear();
        }
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_line_is_reported_once_and_the_next_is_read() {
        let mut decoder = LineDecoder { max: 4, ..LineDecoder::default() };
        let mut buffer = BytesMut::from(&b"ab\n12345"[..]);
        assert_eq!(decoder.decode(&mut buffer).unwrap(), Some(Line::Complete(Bytes::from_static(b"ab"))));
        assert_eq!(decoder.decode(&mut buffer).unwrap(), None);
        buffer.extend_from_slice(b"678\n1234\n12345\nc");
        let mut lines = Vec::new();
        while let Some(line) = decoder.decode(&mut buffer).unwrap() {
            lines.push(line);
        }
        assert_eq!(lines, [Line::TooLong, Line::Complete(Bytes::from_static(b"1234")), Line::TooLong]);
        assert_eq!(decoder.decode_eof(&mut buffer).unwrap(), None);
        assert!(buffer.is_empty());
    }
}
