//! Lengths on the page, as the style sheet language writes them.

/// A length in whole pixels. The code that writes fractions is large, and the first page has no other use for it.
pub(crate) fn pixels(length: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "a page is smaller than that")]
    let whole = length.round() as i32;
    format!("{whole}px")
}

#[cfg(test)]
mod tests {
    #[test]
    fn lengths_are_rounded() {
        assert_eq!([-0.4, 0.5, 199.6].map(super::pixels), ["0px", "1px", "200px"]);
    }
}
