//! The delay before a retry.

use std::time::Duration;

/// The upper bound of [`backoff`].
pub const MAX_BACKOFF: Duration = Duration::from_secs(330);

/// Returns the delay after `failures` failures in a row: 10 s, doubled each time, at most 5 minutes, plus up to 10 % jitter from `salt`.
/// The jitter prevents tasks that failed together from retrying together.
pub fn backoff(failures: u32, salt: u64) -> Duration {
    let base = 10_000u64.saturating_mul(1 << failures.saturating_sub(1).min(10)).min(300_000);
    Duration::from_millis(base + salt.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (base / 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_up_to_five_minutes_plus_jitter() {
        let bounds: Vec<(u64, u64)> = (1..=7)
            .map(|failures| {
                let waits = (0..200).map(|salt| backoff(failures, salt).as_secs());
                (waits.clone().min().unwrap(), waits.max().unwrap())
            })
            .collect();
        assert_eq!(bounds, [(10, 10), (20, 21), (40, 43), (80, 87), (160, 175), (300, 329), (300, 329)]);
        assert_eq!(backoff(u32::MAX, 0).as_secs(), 300);
        assert!((0..10_000).all(|salt| backoff(9, salt) < MAX_BACKOFF));
    }
}
