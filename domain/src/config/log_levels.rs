//! The form of the levels of the log. Must not know the parts of the program.

const LEVELS: [&str; 6] = ["error", "warn", "info", "debug", "trace", "off"];

/// Completes the refusal of levels that are not in the form `info` or `info,runner=debug`. The log itself would take any other word for the
/// name of a part, and print all of that part and nothing else.
pub(super) fn problem(levels: &str) -> Option<String> {
    let level = |part: &'_ str| part.rsplit_once('=').map_or(part, |(_, level)| level).trim().to_lowercase();
    let wrong = levels.split(',').map(level).find(|level| !LEVELS.contains(&level.as_str()))?;
    Some(format!("\"{wrong}\" is not a level; expected levels such as info or info,runner=debug, each one of {}", LEVELS.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_alone_or_behind_a_part() {
        for levels in ["info", "DEBUG", "info,runner=debug", "warn, runner::watch=trace,mcp=off"] {
            assert_eq!(problem(levels), None, "{levels}");
        }
        for levels in ["", "loud", "info,", "runner", "info,runner=loud", "info;debug", "3"] {
            assert!(problem(levels).is_some(), "{levels}");
        }
        assert_eq!(
            problem("info,runner=loud").unwrap(),
            "\"loud\" is not a level; expected levels such as info or info,runner=debug, each one of error, warn, info, debug, trace, off"
        );
    }
}
