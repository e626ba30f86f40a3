//! Pages of a transcript: whole lines, each once.

use domain::runs::output::{OutputKind, OutputLine};

use super::*;

fn line(offset: u64, length: usize) -> String {
    let line = OutputLine { offset, kind: OutputKind::Text, text: "x".repeat(length), detail: None };
    format!("{}\n", serde_json::to_string(&line).unwrap())
}

#[test]
fn pages_cover_the_transcript_without_gaps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(TRANSCRIPT_FILE);
    let lengths = [10, 400_000, 200_000, 900_000, 5, 0, 300_000];
    let whole: String = lengths.iter().enumerate().map(|(number, length)| line(number as u64, *length)).collect();
    std::fs::write(&path, format!("{whole}{{\"offset\":99,")).unwrap();
    let (mut next, mut offsets, mut pages) = (0, Vec::new(), 0);
    loop {
        let (page, at_end) = read(&path, next).unwrap();
        pages += 1;
        let size = page.next - next;
        assert!(size <= MAX_PAGE_BYTES as u64 || page.lines.len() == 1, "{size}");
        offsets.extend(page.lines.iter().map(|line| line.offset));
        next = page.next;
        if at_end {
            break;
        }
    }
    assert_eq!(offsets, [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(next, whole.len() as u64, "an unfinished line is left for the next page");
    assert_eq!(pages, 4);
    let (rest, at_end) = read(&path, next).unwrap();
    assert_eq!((rest.lines.len(), rest.next, at_end), (0, next, true));
}

#[test]
fn run_without_output_has_an_empty_page() {
    let (page, at_end) = read(Path::new("/nowhere/transcript.jsonl"), 0).unwrap();
    assert_eq!((page, at_end), (Output { lines: Vec::new(), next: 0, complete: false }, true));
}

#[test]
fn offset_inside_a_line_skips_only_that_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(TRANSCRIPT_FILE);
    std::fs::write(&path, line(1, 20) + &line(2, 20)).unwrap();
    let (page, _) = read(&path, 7).unwrap();
    assert_eq!(page.lines.iter().map(|line| line.offset).collect::<Vec<_>>(), [2]);
    assert_eq!(read(&path, 1_000_000).unwrap().0.next, 1_000_000);
}
