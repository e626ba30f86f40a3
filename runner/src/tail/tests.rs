//! Output in pieces, output that is not text, and output without an end.

use std::collections::BTreeMap;
use std::io::Write;

use domain::id::RunId;

use super::*;
use crate::run_dir::RunSpec;

/// A run whose lock this test holds, as its shim would.
struct Run {
    dir: RunDir,
    lock: Option<std::fs::File>,
    stdout: std::fs::File,
    _folder: tempfile::TempDir,
}

impl Run {
    fn alive() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let spec = RunSpec {
            run_id: Some(RunId::new(1)),
            marker: "RUN-001.x".to_owned(),
            argv: Vec::new(),
            cwd: "/".into(),
            env: BTreeMap::new(),
            first_line: None,
            output_limit: RunSpec::OUTPUT_LIMIT,
            jail: None,
            setup: None,
            check: None,
        };
        let dir = RunDir::create(&folder.path().join("run"), &spec).unwrap();
        let lock = dir.lock().unwrap();
        let stdout = dir.append("stdout").unwrap();
        Self { dir, lock, stdout, _folder: folder }
    }

    fn ended_with(output: &[u8]) -> Self {
        let mut run = Self::alive();
        run.write(output);
        run.lock = None;
        run
    }

    fn write(&mut self, bytes: &[u8]) {
        self.stdout.write_all(bytes).unwrap();
    }

    async fn rest(&self, offset: u64) -> Vec<TailLine> {
        let mut tail = Tail::open(&self.dir, offset).await.unwrap();
        let mut lines = Vec::new();
        while let Some(line) = tail.next().await.unwrap() {
            lines.push(line);
        }
        assert_eq!(tail.next().await.unwrap(), None, "the end stays the end");
        lines
    }
}

fn text(text: &str, end: u64) -> TailLine {
    TailLine::Text { text: text.to_owned(), end }
}

/// Whether the tail is waiting, rather than about to answer.
async fn waits(tail: &mut Tail) -> bool {
    tokio::time::timeout(POLL_INTERVAL * 3, tail.next()).await.is_err()
}

#[tokio::test]
async fn lines_have_end_offsets_and_the_last_needs_no_newline() {
    let run = Run::ended_with(b"one\n\nthree\ncut o");
    assert_eq!(run.rest(0).await, [text("one", 4), text("", 5), text("three", 11), text("cut o", 16)]);
}

#[tokio::test]
async fn reading_resumes_at_every_returned_offset() {
    let run = Run::ended_with("eins\nzwei ü\ndrei\nvier".as_bytes());
    let all = run.rest(0).await;
    for (index, line) in all.iter().enumerate() {
        assert_eq!(run.rest(line.end()).await, all[index + 1..]);
    }
}

#[tokio::test]
async fn incomplete_line_is_awaited_even_inside_a_character() {
    let mut run = Run::alive();
    let mut tail = Tail::open(&run.dir, 0).await.unwrap();
    let [first, second] = ["ü".as_bytes()[0], "ü".as_bytes()[1]];
    run.write(&[b'a', first]);
    assert!(waits(&mut tail).await);
    run.write(&[second, b'\n', b'b']);
    assert_eq!(tail.next().await.unwrap(), Some(text("aü", 4)));
    assert!(waits(&mut tail).await);
    run.lock = None;
    assert_eq!(tail.next().await.unwrap(), Some(text("b", 5)));
    assert_eq!(tail.next().await.unwrap(), None);
}

#[tokio::test]
async fn invalid_utf8_is_replaced_and_counted() {
    let run = Run::ended_with(b"a\xFFb\nc\n");
    assert_eq!(run.rest(0).await, [text("a\u{FFFD}b", 4), text("c", 6)]);
}

#[tokio::test]
async fn too_long_line_is_skipped() {
    let long = MAX_LINE_BYTES * 3;
    let mut run = Run::alive();
    run.write(b"before\n");
    run.write(&vec![b'x'; long]);
    run.write(b"\nafter\n");
    run.write(&vec![b'y'; MAX_LINE_BYTES]);
    run.write(b"\n");
    run.lock = None;
    let mut tail = Tail::open(&run.dir, 0).await.unwrap();
    assert_eq!(tail.next().await.unwrap(), Some(text("before", 7)));
    let end = 7 + long as u64 + 1;
    assert_eq!(tail.next().await.unwrap(), Some(TailLine::TooLong { bytes: long as u64, end }));
    assert!(tail.buffer.capacity() < CHUNK * 4, "{} bytes are held", tail.buffer.capacity());
    assert_eq!(tail.next().await.unwrap(), Some(text("after", end + 6)));
    let Some(TailLine::Text { text, .. }) = tail.next().await.unwrap() else { panic!("exactly the limit is kept") };
    assert_eq!(text.len(), MAX_LINE_BYTES);
    assert_eq!(tail.next().await.unwrap(), None);
    assert!(tail.buffer.capacity() < CHUNK * 4, "{} bytes are held", tail.buffer.capacity());
}

#[tokio::test]
async fn unfinished_too_long_line_is_reported() {
    let run = Run::ended_with(&vec![b'x'; MAX_LINE_BYTES + 1]);
    let bytes = MAX_LINE_BYTES as u64 + 1;
    assert_eq!(run.rest(0).await, [TailLine::TooLong { bytes, end: bytes }]);
}

#[tokio::test]
async fn flood_between_messages_is_counted() {
    let flood = "y\n".repeat(500_000);
    let run = Run::ended_with(format!("{{\"a\":1}}\nwarning\n{{}}\n{flood}{{\"b\":2}}\n").as_bytes());
    let lines = run.rest(0).await;
    assert_eq!(lines[..3], [text("{\"a\":1}", 8), text("warning", 16), text("{}", 19)], "a few lines are read");
    assert_eq!(lines.last(), Some(&text("{\"b\":2}", 19 + 1_000_000 + 8)));
    let counted: u64 = lines.iter().map(|line| if let TailLine::Flood { lines, .. } = line { *lines } else { 0 }).sum();
    // A line may be cut by the end of a chunk.
    let single = lines.iter().filter(|line| matches!(line, TailLine::Text { text, .. } if text == "y")).count();
    assert_eq!(counted + single as u64, 500_000);
    assert!(lines.len() < 200, "{} steps for half a million lines", lines.len());
}

#[tokio::test]
async fn cancelled_wait_loses_nothing() {
    let mut run = Run::alive();
    let mut tail = Tail::open(&run.dir, 0).await.unwrap();
    let mut got = Vec::new();
    for number in 0..50 {
        run.write(format!("line {number}\n").as_bytes());
        // A poll and a drop, wherever that leaves the read.
        if let Ok(line) = tokio::time::timeout(Duration::ZERO, tail.next()).await {
            got.push(line.unwrap().unwrap());
        }
    }
    run.lock = None;
    while let Some(line) = tail.next().await.unwrap() {
        got.push(line);
    }
    let expected: Vec<String> = (0..50).map(|number| format!("line {number}")).collect();
    let got: Vec<String> = got.into_iter().map(|line| if let TailLine::Text { text, .. } = line { text } else { String::new() }).collect();
    assert_eq!(got, expected);
}
