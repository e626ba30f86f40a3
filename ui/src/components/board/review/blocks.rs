//! The shown lines of a file: blocks of lines, the gaps between them, and what fills a gap. Pure.

use domain::board::review::Side;
use domain::runs::diff::{DiffLine, Hunk};

/// Lines that one press shows.
pub(crate) const STEP: u32 = 20;

/// Adjacent lines.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    /// The first lines, and those after the last ones.
    old: (u32, u32),
    new: (u32, u32),
    /// The function around it, as git found it.
    context: String,
    lines: Vec<DiffLine>,
}

/// Lines that are not shown, numbered in the new version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gap {
    /// The index of the block after it.
    pub(crate) before: usize,
    pub(crate) first: u32,
    pub(crate) last: u32,
}

/// The place of a comment in a file.
pub(crate) type LinePlace = (Side, u32);

/// One row of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Row {
    Gap(Gap, String),
    /// A line of both versions below each other.
    Line(DiffLine),
    /// Both versions side by side.
    Pair(Option<DiffLine>, Option<DiffLine>),
    /// A comment, or the field for one.
    Note(LinePlace),
}

impl Row {
    /// The same key for the same row, so that only rows that change are drawn again.
    pub(crate) fn key(&self) -> String {
        let numbers = |line: &Option<DiffLine>| line.as_ref().map(|line| (line.origin, line.old_line, line.new_line));
        match self {
            Self::Gap(gap, _) => format!("gap {}-{}", gap.first, gap.last),
            Self::Line(line) => format!("{:?}", (line.origin, line.old_line, line.new_line)),
            Self::Pair(old, new) => format!("{:?}{:?}", numbers(old), numbers(new)),
            Self::Note(place) => format!("note {place:?}"),
        }
    }
}

/// The place for a comment on a line.
pub(crate) fn place_of(line: &DiffLine) -> Option<LinePlace> {
    if line.origin == '-' { line.old_line.map(|number| (Side::Old, number)) } else { line.new_line.map(|number| (Side::New, number)) }
}

impl Block {
    pub(crate) fn of(hunk: Hunk) -> Self {
        let (ranges, context) = hunk.header.trim_start_matches("@@ ").split_once("@@").unwrap_or_default();
        let (old, new) = ranges.trim().split_once(' ').unwrap_or_default();
        Self { old: range(old), new: range(new), context: context.trim().to_owned(), lines: hunk.lines }
    }
}

/// The first line of `-12,3`, and the one after the last. A range without lines names the line before it.
fn range(text: &str) -> (u32, u32) {
    let text = text.trim_start_matches(['-', '+']);
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    let (start, count): (u32, u32) = (start.parse().unwrap_or(1), count.parse().unwrap_or(1));
    if count == 0 { (start + 1, start + 1) } else { (start, start + count) }
}

/// The gap before the block `index`, or after the last one.
fn gap(blocks: &[Block], index: usize, total: Option<u32>) -> Option<Gap> {
    let first = index.checked_sub(1).map_or(1, |before| blocks[before].new.1);
    let last = match blocks.get(index) {
        Some(block) => block.new.0.checked_sub(1)?,
        None => total?,
    };
    (first <= last).then_some(Gap { before: index, first, last })
}

/// Adds lines that a gap lacked: below the block before it, or above the block after it. Blocks that meet become one.
pub(crate) fn fill(blocks: &mut Vec<Block>, mut lines: Vec<DiffLine>) {
    let (Some(first), Some(last)) = (lines.first().and_then(|line| line.new_line), lines.last().and_then(|line| line.new_line)) else { return };
    let above = blocks.iter().position(|block| block.new.1 == first);
    let below = blocks.iter().position(|block| block.new.0 == last + 1);
    // Unchanged lines have the same distance in both versions.
    let old = match (above, below) {
        (Some(above), _) => blocks[above].old.1,
        (None, Some(below)) => blocks[below].old.0 - (last + 1 - first),
        (None, None) => return,
    };
    for (line, number) in lines.iter_mut().zip(old..) {
        line.old_line = Some(number);
    }
    let count = last + 1 - first;
    if let Some(above) = above {
        blocks[above].lines.append(&mut lines);
        blocks[above].new.1 += count;
        blocks[above].old.1 += count;
    } else if let Some(below) = below {
        blocks[below].new.0 -= count;
        blocks[below].old.0 -= count;
        lines.append(&mut blocks[below].lines);
        blocks[below].lines = lines;
    }
    if let (Some(above), Some(below)) = (above, below) {
        let joined = blocks.remove(below);
        blocks[above].new.1 = joined.new.1;
        blocks[above].old.1 = joined.old.1;
        blocks[above].lines.extend(joined.lines);
    }
}

/// The rows of a file of `total` lines, with a note below each line in `notes`.
pub(crate) fn rows(blocks: &[Block], total: Option<u32>, split: bool, notes: &[LinePlace]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        rows.extend(gap(blocks, index, total).map(|gap| Row::Gap(gap, block.context.clone())));
        let note = |line: &DiffLine| place_of(line).filter(|place| notes.contains(place)).map(Row::Note);
        if split {
            for (old, new) in pairs(&block.lines) {
                // An unchanged line is on both sides, and has one place.
                let removed = old.as_ref().filter(|line| line.origin == '-').and_then(note);
                let added = new.as_ref().and_then(note);
                rows.push(Row::Pair(old, new));
                rows.extend(removed.into_iter().chain(added));
            }
        } else {
            rows.extend(block.lines.iter().flat_map(|line| [Some(Row::Line(line.clone())), note(line)]).flatten());
        }
    }
    if !blocks.is_empty() {
        rows.extend(gap(blocks, blocks.len(), total).map(|gap| Row::Gap(gap, String::new())));
    }
    rows
}

/// Both versions side by side: each removed line beside the added one in its place.
fn pairs(lines: &[DiffLine]) -> Vec<(Option<DiffLine>, Option<DiffLine>)> {
    let mut pairs = Vec::new();
    let mut rest = lines;
    while let Some(line) = rest.first() {
        let removed = rest.iter().take_while(|line| line.origin == '-').count();
        let added = rest[removed..].iter().take_while(|line| line.origin == '+').count();
        if removed + added == 0 {
            pairs.push((Some(line.clone()), Some(line.clone())));
            rest = &rest[1..];
            continue;
        }
        let (old, new) = rest[..removed + added].split_at(removed);
        pairs.extend((0..removed.max(added)).map(|index| (old.get(index).cloned(), new.get(index).cloned())));
        rest = &rest[removed + added..];
    }
    pairs
}

#[cfg(test)]
mod tests;
