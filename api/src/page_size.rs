//! The size of a page: how many texts fit into one answer. Must not know what they are.

/// Bytes of text in a page, unless its only text is longer.
pub(crate) const MAX_PAGE_BYTES: usize = 1024 * 1024;

/// Counts how many of `sizes` fit into `limit` together, but at least one.
pub(crate) fn count_within(sizes: impl Iterator<Item = usize>, limit: usize) -> usize {
    let sums = sizes.scan(0, |sum, size| {
        *sum += size;
        Some(*sum)
    });
    sums.enumerate().take_while(|(place, sum)| *place == 0 || *sum <= limit).count()
}

#[cfg(test)]
mod tests {
    use super::count_within;

    #[test]
    fn page_is_bounded_but_never_empty() {
        let within = |sizes: &[usize]| count_within(sizes.iter().copied(), 10);
        assert_eq!([within(&[]), within(&[4, 6]), within(&[4, 7]), within(&[4, 7, 1]), within(&[11]), within(&[11, 0])], [0, 2, 1, 1, 1, 1]);
    }
}
