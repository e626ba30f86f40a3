//! Gaps shrink until blocks meet, and both layouts show every line once.

use super::*;

fn line(origin: char, old: u32, new: u32) -> DiffLine {
    DiffLine::plain(origin, (origin != '+').then_some(old), (origin != '-').then_some(new), format!("{origin}{old}/{new}"))
}

fn context(numbers: std::ops::RangeInclusive<u32>) -> Vec<DiffLine> {
    numbers.map(|number| DiffLine::plain(' ', None, Some(number), number.to_string())).collect()
}

/// Line 10 is replaced by two lines, and line 50 is removed.
fn blocks() -> Vec<Block> {
    let first = vec![line(' ', 9, 9), line('-', 10, 0), line('+', 0, 10), line('+', 0, 11), line(' ', 11, 12)];
    let second = vec![line(' ', 49, 50), line('-', 50, 0), line(' ', 51, 51)];
    let hunk = |header: &str, lines| Block::of(Hunk { header: header.to_owned(), lines });
    vec![hunk("@@ -9,3 +9,4 @@ fn main() {", first), hunk("@@ -49,3 +50,2 @@", second)]
}

fn gaps(blocks: &[Block], total: Option<u32>) -> Vec<(usize, u32, u32)> {
    let gap = |row| match row {
        Row::Gap(gap, _) => Some((gap.before, gap.first, gap.last)),
        _ => None,
    };
    rows(blocks, total, false, &[]).into_iter().filter_map(gap).collect()
}

#[test]
fn gaps_are_before_between_and_after_blocks() {
    assert_eq!(gaps(&blocks(), Some(60)), [(0, 1, 8), (1, 13, 49), (2, 52, 60)]);
    assert_eq!(gaps(&blocks(), None), [(0, 1, 8), (1, 13, 49)], "the end is unknown");
    let added = [Block::of(Hunk { header: "@@ -0,0 +1,2 @@".to_owned(), lines: vec![line('+', 0, 1), line('+', 0, 2)] })];
    assert_eq!(gaps(&added, Some(2)), []);
    let emptied = [Block::of(Hunk { header: "@@ -1 +0,0 @@".to_owned(), lines: vec![line('-', 1, 0)] })];
    assert_eq!(gaps(&emptied, Some(0)), []);
}

#[test]
fn filled_gap_joins_its_blocks() {
    let mut filled = blocks();
    fill(&mut filled, context(13..=32));
    assert_eq!(gaps(&filled, None), [(0, 1, 8), (1, 33, 49)]);
    fill(&mut filled, context(40..=49));
    assert_eq!(gaps(&filled, None), [(0, 1, 8), (1, 33, 39)]);
    fill(&mut filled, context(33..=39));
    assert_eq!((filled.len(), gaps(&filled, Some(60))), (1, vec![(0, 1, 8), (1, 52, 60)]));
    fill(&mut filled, context(1..=8));
    fill(&mut filled, context(52..=60));
    assert_eq!(gaps(&filled, Some(60)), []);
    let numbers: Vec<_> = filled[0].lines.iter().filter(|line| line.origin == ' ').map(|line| line.old_line.zip(line.new_line).unwrap()).collect();
    assert!(
        numbers.iter().all(|(old, new)| *new
            == if *old < 10 {
                *old
            } else if *old < 50 {
                old + 1
            } else {
                *old
            }),
        "{numbers:?}"
    );
    assert_eq!(numbers.len(), 58);
    let before = filled.clone();
    fill(&mut filled, context(500..=510));
    assert_eq!(filled, before, "lines of another place are ignored");
}

#[test]
fn split_layout_puts_replaced_lines_side_by_side() {
    let sides = |row: Row| match row {
        Row::Pair(old, new) => Some((old.map_or(String::new(), |line| line.text), new.map_or(String::new(), |line| line.text))),
        _ => None,
    };
    let shown: Vec<_> = rows(&blocks()[..1], None, true, &[]).into_iter().filter_map(sides).collect();
    let expected = [(" 9/9", " 9/9"), ("-10/0", "+0/10"), ("", "+0/11"), (" 11/12", " 11/12")];
    assert_eq!(shown, expected.map(|(old, new)| (old.to_owned(), new.to_owned())));
}

#[test]
fn note_follows_its_line_in_both_layouts() {
    let notes = [(Side::Old, 10), (Side::New, 12), (Side::New, 99)];
    for split in [false, true] {
        let rows = rows(&blocks(), None, split, &notes);
        let found: Vec<_> = rows.iter().filter(|row| matches!(row, Row::Note(_))).cloned().collect();
        assert_eq!(found, [Row::Note((Side::Old, 10)), Row::Note((Side::New, 12))]);
        let keys: std::collections::BTreeSet<_> = rows.iter().map(Row::key).collect();
        assert_eq!(keys.len(), rows.len(), "keys are unique");
    }
}
