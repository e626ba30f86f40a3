//! Divides the work on tasks among parts of a repository. Must not know what the parts are.

use std::collections::BTreeMap;

use super::TaskActivity;
use crate::warroom::claim::ClaimPath;

/// Returns which share of a task each part has, by the parts of each of its paths. All shares together are 1, if the task has paths.
pub(super) fn shares(task: &TaskActivity, mut parts_of: impl FnMut(&ClaimPath) -> Vec<usize>) -> BTreeMap<usize, f64> {
    let mut shares = BTreeMap::new();
    for path in &task.paths {
        let parts = parts_of(path);
        for part in &parts {
            *shares.entry(*part).or_default() += 1.0 / (real(task.paths.len()) * real(parts.len()));
        }
    }
    shares
}

/// The figures that make a part hot.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Heat([f64; 4]);

impl Heat {
    /// Adds a share of a task.
    pub(super) fn add(&mut self, task: &TaskActivity, share: f64) {
        let figures = [
            f64::from(task.runs) + f64::from(task.updates),
            f64::from(task.send_backs),
            f64::from(task.conflicts),
            real(usize::try_from(task.cost_micro_usd).unwrap_or_default()),
        ];
        for (sum, figure) in self.0.iter_mut().zip(figures) {
            *sum += figure * share;
        }
    }

    /// Returns for each part the mean of what its figures are of the largest ones, in percent. A figure that nobody has does not count.
    pub(super) fn percents(parts: &[Self]) -> Vec<u8> {
        let largest = parts.iter().fold([0.0_f64; 4], |most, part| std::array::from_fn(|figure| most[figure].max(part.0[figure])));
        let present = real(largest.iter().filter(|most| **most > 0.0).count());
        let percent = |part: &Self| {
            let compared: f64 = part.0.iter().zip(largest).filter(|(_, most)| *most > 0.0).map(|(figure, most)| figure / most).sum();
            if present > 0.0 { whole(compared / present * 100.0) } else { 0 }
        };
        parts.iter().map(percent).collect()
    }
}

/// A share of an amount of money.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a cost is far below the limits of both types")]
pub(super) fn part_of(amount: i64, share: f64) -> i64 {
    (amount as f64 * share).round() as i64
}

#[expect(clippy::cast_precision_loss, reason = "counts and costs are far below the limit")]
fn real(number: usize) -> f64 {
    number as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the value is between 0 and 100")]
fn whole(percent: f64) -> u8 {
    percent.round().clamp(0.0, 100.0) as u8
}
