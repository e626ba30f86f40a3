//! Whole numbers on the command line. Must not know what they count; the board has their limits.

use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;

/// Reads a whole number.
///
/// # Errors
/// When it is not one, or does not fit.
pub(crate) fn whole<T: FromStr<Err = ParseIntError>>(given: &str) -> Result<T, &'static str> {
    given.parse().map_err(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "the number is too large",
        _ => "expected a whole number",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_says_whether_it_is_a_number() {
        assert_eq!(whole::<i64>("-4"), Ok(-4));
        assert_eq!(whole::<u16>("70000"), Err("the number is too large"));
        for wrong in ["", "none", "1.5", "-1"] {
            assert_eq!(whole::<u16>(wrong), Err("expected a whole number"), "{wrong}");
        }
    }
}
