//! Words the earlier attempts of a task for the next one: what was tried, and how it ended.
//!
//! Pure. Attempts with an outcome are told by the thread, and attempts that an outage ended say nothing about the task.

use domain::runs::evidence::short;
use domain::runs::failure::EndClass;
use domain::runs::run::Run;
use domain::text::{excerpt, excerpt_end};
use domain::time::Timestamp;
use repo::Commit;

use super::indented;

/// The most attempts that a prompt describes.
const MAX_DESCRIBED: usize = 5;
/// The most characters about the end of an attempt.
const MAX_CHARS: usize = 1200;
/// The most characters of the failure in the issue.
const MAX_FAILURE_CHARS: usize = 200;

/// The most commits of an attempt that a prompt names.
const MAX_COMMITS: usize = 5;
/// The most characters of the subject of a commit.
const MAX_SUBJECT_CHARS: usize = 80;

/// The lines about attempts without an outcome, the newest at the end; empty without any. `commits` are those of the branch, newest first.
pub(super) fn lines(attempts: &[Run], commits: &[Commit]) -> String {
    let told: Vec<String> = attempts.iter().filter_map(|run| line(run, commits)).collect();
    let omitted = told.len().saturating_sub(MAX_DESCRIBED);
    let note = if omitted > 0 { format!("({omitted} earlier ones omitted)\n") } else { String::new() };
    note + &told[omitted..].concat()
}

fn line(run: &Run, commits: &[Commit]) -> Option<String> {
    let how = end(run)?;
    let error = run.error.as_deref().map(|error| format!(": {}", indented(&excerpt_end(error, MAX_CHARS)))).unwrap_or_default();
    Some(format!("Attempt {} ({}): {how}{error}{}\n", run.attempt, effort(run), committed(run, commits)))
}

/// The commits that were made while an attempt worked, oldest first. Only its agent works on the branch meanwhile.
fn committed(run: &Run, commits: &[Commit]) -> String {
    let seconds = |at: Timestamp| at.milliseconds().div_euclid(1000);
    let worked = seconds(run.started_at)..=seconds(run.completed_at.unwrap_or(run.started_at));
    let own: Vec<&Commit> = commits.iter().rev().filter(|commit| worked.contains(&commit.at_seconds)).collect();
    let name = |commit: &&Commit| format!("{} {}", short(&commit.sha), indented(&excerpt(&commit.subject, MAX_SUBJECT_CHARS)));
    let named: Vec<String> = own.iter().take(MAX_COMMITS).map(name).collect();
    let more = own.len().saturating_sub(named.len());
    match (named.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => format!(". It committed {}", named.join(", ")),
        (false, more) => format!(". It committed {} and {more} more", named.join(", ")),
    }
}

/// How an attempt without an outcome ended.
fn end(run: &Run) -> Option<&'static str> {
    match run.end_class? {
        EndClass::Failed | EndClass::Limited => run.failure.map(|failure| failure.sentence()),
        EndClass::Stopped => Some("it was stopped"),
        EndClass::Finished | EndClass::AwaitingAnswer | EndClass::Parked | EndClass::NotSetUp => None,
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
    let last = attempts.iter().rev().find(|run| !matches!(run.end_class, Some(EndClass::Parked | EndClass::NotSetUp)))?;
    let failure = last.failure.filter(|_| matches!(last.end_class, Some(EndClass::Failed | EndClass::Limited)))?;
    let error = last.error.as_deref().map(|error| format!(": {}", excerpt(error, MAX_FAILURE_CHARS))).unwrap_or_default();
    Some(format!("{}{error}", failure.sentence()))
}

#[cfg(test)]
mod tests;
