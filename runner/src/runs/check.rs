//! The checks of a project: decides which commands of a stage are still to run on a tree, runs them, and records their results.
//!
//! A command runs in a checkout that is used again and again, under a shim and in the jail of agents. The name of its folder follows from
//! the tree, the command and the profile, so a server that restarts finds the one that still runs. This module must not choose the work to
//! check; the schedule did.

mod command;
mod outcome;
pub(crate) mod submission;
mod turn;

use std::path::PathBuf;

use db::{Db, NewCheckResult};
use domain::board::attention::{Attention, AttentionKind};
use domain::board::project::Project;
use domain::id::TaskId;
use domain::prompt::Prompts;
use domain::runs::check::{CheckOutcome, CheckResult, CheckStage, CheckState, TaskChecks, failed, missing};
use domain::runs::evidence::Sha;
use domain::runs::profile::checks::CheckList;

use self::command::Command;
use self::outcome::Ended;
pub(super) use self::outcome::tail;
use super::checkout::CheckoutError;
use crate::prompt;
use crate::runs::run::RunContext;

/// The most characters of the outputs that a coder is sent.
const MAX_SENT_CHARS: usize = 12_000;
/// How often a command is started that something outside of it ended.
const MAX_STARTS: u32 = 3;

/// The work to check.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    pub(super) project: Project,
    /// The tasks that wait for the result, each with its commit. There are several if their merges are checked together.
    pub(super) work: Vec<(TaskId, Sha)>,
    pub(super) stage: CheckStage,
    /// The commit to check out: that of the task, or the last merge.
    pub(super) commit: Sha,
    pub(super) tree: Sha,
}

/// The outcome of all checks of a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    /// The results that failed.
    Failed(Vec<CheckResult>),
    /// They cannot run, and the person has to repair the cause.
    NotRun {
        why: String,
    },
    /// The task no longer waits for them.
    Unwanted,
}

impl Subject {
    fn list(&self) -> &CheckList {
        self.stage.list(&self.project.profile.checks)
    }

    /// The attempts after which a failure is believed. Work that was approved is not sent back because of a test that fails now and then.
    fn max_attempts(&self) -> u32 {
        match self.stage {
            CheckStage::Quick => 1,
            CheckStage::Full => 2,
        }
    }

    /// Shows on the cards of the tasks how far their checks are.
    async fn show(&self, db: &Db, state: CheckState) -> db::Result<()> {
        for (task, sha) in &self.work {
            let (sha, tree, profile_version) = (sha.clone(), self.tree.clone(), self.project.profile_version);
            db.set_task_checks(task, TaskChecks { stage: self.stage, state, sha, tree, profile_version }).await?;
        }
        Ok(())
    }

    /// Whether all tasks still wait for these checks.
    async fn is_wanted(&self, db: &Db) -> db::Result<bool> {
        let project = db.project(&self.project.id).await?;
        if project.profile_version != self.project.profile_version || project.archived_at.is_some() {
            return Ok(false);
        }
        for (task, sha) in &self.work {
            let waits = match self.stage {
                CheckStage::Quick => db.submission_in_review(task).await?.as_ref() == Some(sha),
                CheckStage::Full => {
                    let card = db.card(task).await?;
                    card.is_approved() && card.approved_sha.as_ref() == Some(sha)
                }
            };
            if !waits {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Runs the commands that have no result on this tree, and shows on the cards what all of them showed. A failure of several tasks together is
/// not shown, because it does not say yet which of them is at fault.
///
/// # Errors
/// When the repository or the store fails.
pub(super) async fn check(context: &RunContext, subject: &Subject) -> Result<Verdict, CheckoutError> {
    let db = &context.db;
    let results = async || db.check_results(&subject.project.id, &subject.tree, subject.project.profile_version).await;
    let commands = &subject.list().commands;
    if !missing(commands, &results().await?).is_empty() {
        let _turn = turn::take(db, &subject.project.id).await;
        // The one before may have run the same commands.
        let to_run: Vec<String> = missing(commands, &results().await?).into_iter().cloned().collect();
        subject.show(db, CheckState::Running).await?;
        match run_all(context, subject, &to_run).await? {
            None => {}
            Some(verdict) => {
                subject.show(db, CheckState::NotRun).await?;
                return Ok(verdict);
            }
        }
    }
    let results = results().await?;
    let failed: Vec<CheckResult> = failed(commands, &results).into_iter().cloned().collect();
    if failed.is_empty() {
        subject.show(db, CheckState::Passed).await?;
        return Ok(Verdict::Passed);
    }
    if let [_] = subject.work.as_slice() {
        subject.show(db, CheckState::Failed).await?;
    }
    Ok(Verdict::Failed(failed))
}

/// Runs commands one after another, all of them even if one fails. Returns why that ended early, if it did.
async fn run_all(context: &RunContext, subject: &Subject, commands: &[String]) -> Result<Option<Verdict>, CheckoutError> {
    let mut place = command::Place::of(context, subject);
    place.end_others(commands).await?;
    for line in commands {
        let mut attempt = 1;
        let (ended, output) = loop {
            let command = Command { line, attempt, limit_minutes: subject.list().minutes };
            match run_to_its_end(&mut place, &command).await? {
                Some((Ended::Failed { .. }, _)) if attempt < subject.max_attempts() => attempt += 1,
                Some((Ended::NotRun { why }, _)) => return Ok(Some(Verdict::NotRun { why })),
                Some(ended) => break ended,
                None => return Ok(Some(Verdict::Unwanted)),
            }
        };
        let result = result(subject, line, attempt, ended, output);
        let task = if let [(task, _)] = subject.work.as_slice() { Some(task) } else { None };
        context.db.record_check_result(&subject.project.id, task, result).await?;
    }
    place.remove_oldest().await;
    Ok(None)
}

/// Starts a command again that something outside of it ended, such as the end of the machine.
async fn run_to_its_end(place: &mut command::Place<'_>, command: &Command<'_>) -> Result<Option<(Ended, PathBuf)>, CheckoutError> {
    let mut starts = 0;
    loop {
        starts += 1;
        match place.run(command).await? {
            Some((Ended::Lost { why }, _)) if starts == MAX_STARTS => {
                let why = format!("`{}` was ended {MAX_STARTS} times: {why}", command.line);
                return Ok(Some((Ended::NotRun { why }, PathBuf::new())));
            }
            Some((Ended::Lost { why }, _)) => tracing::warn!(check = command.line, why, "a check was ended from outside; it starts again"),
            ended => return Ok(ended),
        }
    }
}

fn result(subject: &Subject, line: &str, attempts: u32, ended: Ended, output: PathBuf) -> NewCheckResult {
    let (outcome, duration_ms, tail) = match ended {
        Ended::Passed { duration_ms, tail } => (CheckOutcome::Passed, duration_ms, tail),
        Ended::Failed { duration_ms, tail } => (CheckOutcome::Failed, duration_ms, tail),
        Ended::NotRun { why } | Ended::Lost { why } => (CheckOutcome::Failed, 0, why),
    };
    let (tree, profile_version) = (subject.tree.clone(), subject.project.profile_version);
    NewCheckResult { tree, profile_version, command: line.to_owned(), outcome, attempts, duration_ms, tail, output }
}

/// Asks the person to repair the cause why checks cannot run.
pub(super) async fn request_repair(db: &Db, task: &TaskId, why: &str) -> db::Result<()> {
    let Attention { detail, .. } = Attention::checks_not_run(why);
    db.request_attention(task, AttentionKind::Checks, &detail).await
}

/// The comment for a coder whose work failed checks: `branch` is that into which it was merged.
pub(super) fn text(prompts: &Prompts, sha: &str, branch: Option<&str>, failed: &[CheckResult]) -> String {
    prompt::failed_checks(prompts, sha, branch, &results_markdown(failed))
}

/// The ends of the outputs of failed checks, as Markdown.
pub(super) fn results_markdown(failed: &[CheckResult]) -> String {
    let mut left = MAX_SENT_CHARS;
    let shown = failed.iter().map(|result| {
        let characters = result.tail.chars().count().min(left);
        left -= characters;
        let skipped = result.tail.chars().count() - characters;
        let tail: String = result.tail.chars().skip(skipped).collect();
        let lines: Vec<String> = tail.lines().map(|line| format!("    {line}").trim_end().to_owned()).collect();
        format!("`{}` {}:\n\n{}", result.command, result.sentence(), lines.join("\n")).trim_end().to_owned()
    });
    shown.collect::<Vec<_>>().join("\n\n")
}

/// The folder of all checks, with one folder for each project.
pub(crate) fn folder(db: &Db) -> PathBuf {
    db.folder().join("checks")
}

#[cfg(test)]
mod tests;
