//! Numbers for readers. Must not know what they count.

/// A number whose thousands are apart, such as `12,345`.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its noun, such as `1 line` or `1,200 lines`. The plural of the noun has an *s*.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_apart() {
        assert_eq!([0, 12, 999, 1_000, 12_345, 1_234_567].map(grouped), ["0", "12", "999", "1,000", "12,345", "1,234,567"]);
        assert_eq!([counted(0, "line"), counted(1, "line"), counted(1_200, "line")], ["0 lines", "1 line", "1,200 lines"]);
    }
}
