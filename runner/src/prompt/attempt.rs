//! Words the earlier attempts of a task for the next one: what was tried, and how it ended.
//!
//! Pure. Attempts with an outcome are told by the thread, and attempts that an outage ended say nothing about the task.

use domain::runs::failure::EndClass;
use domain::runs::run::Run;
use domain::text::{excerpt, excerpt_end};

use super::indented;

/// The most attempts that a prompt describes.
const MAX_DESCRIBED: usize = 5;
/// The most characters about the end of an attempt.
const MAX_CHARS: usize = 1200;
/// The most characters of the failure in the issue.
const MAX_FAILURE_CHARS: usize = 200;

/// The lines about attempts without an outcome, the newest at the end; empty without any.
pub(super) fn lines(attempts: &[Run]) -> String {
    let told: Vec<String> = attempts.iter().filter_map(line).collect();
    let omitted = told.len().saturating_sub(MAX_DESCRIBED);
    let note = if omitted > 0 { format!("({omitted} earlier ones omitted)\n") } else { String::new() };
    note + &told[omitted..].concat()
}

fn line(run: &Run) -> Option<String> {
    let how = end(run)?;
    let error = run.error.as_deref().map(|error| format!(": {}", indented(&excerpt_end(error, MAX_CHARS)))).unwrap_or_default();
    Some(format!("Attempt {} ({}): {how}{error}\n", run.attempt, effort(run)))
}

/// How an attempt without an outcome ended.
fn end(run: &Run) -> Option<&'static str> {
    match run.end_class? {
        EndClass::Failed | EndClass::Limited => run.failure.map(|failure| failure.sentence()),
        EndClass::Stopped => Some("it was stopped"),
        EndClass::Finished | EndClass::AwaitingAnswer | EndClass::Parked => None,
    }
}

fn effort(run: &Run) -> String {
    let ended = run.completed_at.unwrap_or(run.started_at);
    let minutes = ended.milliseconds().saturating_sub(run.started_at.milliseconds()) / 60_000;
    let requests = if run.turns == 1 { "1 request".to_owned() } else { format!("{} requests", run.turns) };
    format!("{minutes} min, {requests}")
}

/// Why the last attempt failed, unless a later one had an outcome.
pub(super) fn last_failure(attempts: &[Run]) -> Option<String> {
    let last = attempts.iter().rev().find(|run| run.end_class != Some(EndClass::Parked))?;
    let failure = last.failure.filter(|_| matches!(last.end_class, Some(EndClass::Failed | EndClass::Limited)))?;
    let error = last.error.as_deref().map(|error| format!(": {}", excerpt(error, MAX_FAILURE_CHARS))).unwrap_or_default();
    Some(format!("{}{error}", failure.sentence()))
}

#[cfg(test)]
mod tests;
