//! Tasks that were sent back. Must not know what the schedule does with them.

use domain::board::status::Status;

use super::Draft;

impl Draft {
    pub(in crate::schedule::tests) fn rejected(mut self, times: u32) -> Self {
        self.known.task.review_rounds = times;
        self.status(Status::InProgress)
    }

    /// With so many review rounds that had the same changes and findings.
    pub(in crate::schedule::tests) fn repeated(mut self, rounds: u32) -> Self {
        self.known.repeated_rounds = rounds;
        self.status(Status::InProgress)
    }
}
