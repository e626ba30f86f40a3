//! One command of a check: started in the project's scratch checkout, or found running, and followed to its end.
//!
//! It must not know what follows from a result.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use domain::runs::output::COMMAND_OUTPUT_FILE;
use sha2::{Digest, Sha256};
use tokio::time::sleep;

use super::outcome::{Ended, MAX_OUTPUT_BYTES, ended, tail};
use super::{Subject, folder};
use crate::blocking::off_thread;
use crate::liveness::Liveness;
use crate::run_dir::{ExitRecord, RunDir};
use crate::runs::checkout::{CheckoutError, CheckoutPlan};
use crate::runs::command::{self, NewCommand, end, liveness_of, open};
use crate::runs::run::RunContext;
use crate::runs::run::preparation::Preparation;
use crate::runs::scratch::{self, Purpose};

/// The time between two looks at a running command.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How many folders of ended commands are kept for each project, the newest.
const MAX_KEPT: usize = 40;

/// A command at one attempt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Command<'a> {
    pub(super) line: &'a str,
    pub(super) attempt: u32,
    pub(super) limit_minutes: u32,
}

/// Where the commands of one stage of a project run.
pub(super) struct Place<'a> {
    context: &'a RunContext,
    subject: &'a Subject,
    /// The folders of the project's commands.
    folder: PathBuf,
    /// The plan and the setup of the checkout, once it is at the commit.
    prepared: Option<(CheckoutPlan, Preparation)>,
}

impl<'a> Place<'a> {
    pub(super) fn of(context: &'a RunContext, subject: &'a Subject) -> Self {
        Self { context, subject, folder: folder(&context.db).join(subject.project.id.as_str()), prepared: None }
    }

    /// Ends commands of this stage that run for something else, which an earlier server left.
    ///
    /// # Errors
    /// When the task no longer exists.
    pub(super) async fn end_others(&self, lines: &[String]) -> Result<(), CheckoutError> {
        let own: Vec<PathBuf> = lines.iter().flat_map(|line| (1..=2).map(|attempt| self.path(line, attempt))).collect();
        let (folder, stage) = (self.folder.clone(), format!("{}-", self.subject.stage));
        let others = off_thread(move || {
            let is_other = |path: &PathBuf| !own.contains(path) && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&stage));
            let found = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).filter(is_other);
            found.filter_map(|path| open(&path)).filter(|(run_dir, _)| run_dir.is_alive().unwrap_or(false)).collect::<Vec<_>>()
        });
        for (other, marker) in others.await.unwrap_or_default() {
            end(&other).await;
            while let Liveness::Alive = liveness_of(&other, &marker).await {
                sleep(POLL_INTERVAL).await;
            }
        }
        Ok(())
    }

    /// Runs a command to its end, or follows the one that runs. Returns how it ended and the file with its output; `None` if the task does not
    /// wait for it anymore.
    ///
    /// # Errors
    /// When the repository or the store fails.
    pub(super) async fn run(&mut self, command: &Command<'_>) -> Result<Option<(Ended, PathBuf)>, CheckoutError> {
        let path = self.path(command.line, command.attempt);
        let (run_dir, marker) = match open(&path) {
            Some(found) => found,
            None => match self.start(&path, command).await? {
                Ok(started) => started,
                Err(why) => return Ok(Some((Ended::NotRun { why }, PathBuf::new()))),
            },
        };
        let Some(exit) = self.follow(&run_dir, &marker).await? else { return Ok(None) };
        let output = run_dir.file(COMMAND_OUTPUT_FILE);
        let ended = ended(command.line, &exit, &tail(&output));
        if matches!(ended, Ended::NotRun { .. } | Ended::Lost { .. }) {
            // It is no result, so the next look must not find it.
            remove(run_dir.path());
        }
        Ok(Some((ended, output)))
    }

    /// The folder of a command. Its name follows from everything that decides the result.
    fn path(&self, line: &str, attempt: u32) -> PathBuf {
        let mut hash = Sha256::new();
        for text in [self.subject.tree.as_str(), line, &self.subject.project.profile_version.to_string(), &attempt.to_string()] {
            hash.update(text.as_bytes());
            hash.update([0]);
        }
        let key: String = hash.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(format!("{}-{key}", self.subject.stage))
    }

    /// Moves the checkout to the commit, unless it is there, and starts a command in it. The inner error says why it cannot start.
    async fn start(&mut self, path: &Path, command: &Command<'_>) -> Result<Result<(RunDir, String), String>, CheckoutError> {
        let context = self.context;
        if self.prepared.is_none() {
            let Subject { project, stage, commit, .. } = self.subject;
            self.prepared = Some(scratch::prepare(context, project, Purpose::Checks(*stage), commit).await?);
        }
        let Some((plan, setup)) = &self.prepared else { return Ok(Err("its checkout was not prepared".to_owned())) };
        let new = NewCommand {
            kind: "check",
            project: &self.subject.project,
            plan,
            setup: setup.clone(),
            line: command.line.to_owned(),
            limit: Duration::from_secs(u64::from(command.limit_minutes) * 60),
            output_limit: MAX_OUTPUT_BYTES,
            variables: Vec::new(),
            inbound: Vec::new(),
        };
        Ok(command::start(context, path, new).await?)
    }

    /// Waits for the end of a command. `None`, and the command is ended, once the task does not wait for it anymore.
    async fn follow(&self, run_dir: &RunDir, marker: &str) -> Result<Option<ExitRecord>, CheckoutError> {
        let db = &self.context.db;
        let mut commits = db.subscribe();
        commits.mark_changed();
        let mut is_wanted = true;
        loop {
            match liveness_of(run_dir, marker).await {
                Liveness::Gone(exit) => return Ok(is_wanted.then_some(exit)),
                Liveness::Alive | Liveness::Unreachable { .. } => {}
            }
            if is_wanted && commits.has_changed().unwrap_or(false) {
                commits.borrow_and_update();
                is_wanted = self.subject.is_wanted(db).await?;
                if !is_wanted {
                    end(run_dir).await;
                }
            }
            sleep(POLL_INTERVAL).await;
        }
    }

    /// Removes the folders of commands that ended long ago.
    pub(super) async fn remove_oldest(&self) {
        let folder = self.folder.clone();
        // The next check removes the rest.
        let _ = off_thread(move || remove_oldest(&folder)).await;
    }
}

fn remove(path: &Path) {
    // A folder that stays is found by its incomplete content or its age.
    let _ = fs::remove_dir_all(path);
}

fn remove_oldest(folder: &Path) {
    let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        found.push((modified, entry.path()));
    }
    found.sort();
    for (_, path) in found.iter().rev().skip(MAX_KEPT) {
        if !RunDir::open(path).and_then(|run_dir| run_dir.is_alive()).unwrap_or(false) {
            remove(path);
        }
    }
}

#[cfg(test)]
mod tests;
