//! Several steps of the merge queue at once: merges approved commits one after another in memory, checks the result of the last merge, and moves
//! the project branch to it. If that fails, it looks for the first merge that fails, and sends back its task alone.
//!
//! It must not choose the tasks; the schedule did. A later step merges the rest of a batch, and the tasks that cannot be part of one.

use std::path::Path;

use domain::board::project::Project;
use domain::board::task::Task;
use domain::id::TaskId;
use domain::runs::check::CheckStage;
use domain::runs::evidence::Sha;
use repo::RepoError;

use super::{MergeResult, Merging, Step, merge, settled};
use crate::runs::base;
use crate::runs::branch::project_branch;
use crate::runs::check::{self, Subject, Verdict};
use crate::runs::checkout::{CheckoutError, with_repository};
use crate::runs::run::RunContext;

/// Merges approved tasks of one project, once its checks have passed on the merges together. Repeating it is harmless.
///
/// # Errors
/// When the repository or the store fails; what is not merged stays approved.
pub(crate) async fn merge_all(context: &RunContext, id: &TaskId, others: &[TaskId]) -> Result<(), CheckoutError> {
    match Batch::of(context, id, others).await? {
        Some(batch) => batch.merge().await,
        None => merge(context, id).await,
    }
}

/// The merge of one task into the project branch with all merges before it.
struct Link {
    task: Task,
    /// The approved commit.
    sha: Sha,
    head: Sha,
    tree: Sha,
}

/// Merges that no branch has yet, each onto the one before.
struct Batch<'a> {
    context: &'a RunContext,
    project: Project,
    branch: String,
    tip: Sha,
    links: Vec<Link>,
}

/// The first task with which a check fails.
enum Search {
    /// The index of its merge. All merges before it pass together.
    Found(usize),
    /// A check could not run, or is not wanted anymore.
    Ended(Verdict),
}

impl<'a> Batch<'a> {
    /// Merges the tasks in memory. `None` if the first of them has to be merged alone: no other can be merged after it, or it needs a decision.
    async fn of(context: &'a RunContext, id: &TaskId, others: &[TaskId]) -> Result<Option<Self>, CheckoutError> {
        let db = &context.db;
        let mut tasks = Vec::new();
        for id in [id].into_iter().chain(others) {
            let task = db.task(id).await?;
            let approved = task.card.approved_sha.clone().filter(|_| task.card.is_approved());
            tasks.extend(approved.map(|sha| (task, sha)));
        }
        let [(first, sha), _, ..] = tasks.as_slice() else { return Ok(None) };
        if first.card.id != *id {
            return Ok(None);
        }
        let project = &first.card.project_id;
        base::follow_before_merge(context, project, (id, sha), false).await;
        // The base may have moved the project branch.
        let project = db.project(project).await?;
        let (branch, tip) = match project_branch(db, &project).await {
            Err(CheckoutError::UnapprovedCommits(_)) => return Ok(None),
            found => found?,
        };
        // Its tip may be newer than the project that was read.
        let project = db.project(&project.id).await?;
        let mut batch = Self { context, project, branch, tip, links: Vec::new() };
        for (task, sha) in tasks {
            batch.add(task, sha).await?;
            if batch.links.is_empty() {
                return Ok(None);
            }
        }
        Ok((batch.links.len() > 1).then_some(batch))
    }

    /// Merges one more task after the others, unless it conflicts with them or its branch has moved.
    async fn add(&mut self, task: Task, sha: Sha) -> Result<(), CheckoutError> {
        let tip = self.links.last().map_or(&self.tip, |link| &link.head);
        let step = Step::new(&self.context.db, &self.project, &task, (&self.branch, tip), &sha).await?;
        if let MergeResult::Merged { head, tree } = step.in_repository(Merging::Nothing).await? {
            self.links.push(Link { task, sha, head, tree });
        }
        Ok(())
    }

    async fn merge(&self) -> Result<(), CheckoutError> {
        let guilty = match self.search().await? {
            None => return self.record(&self.links).await.map(drop),
            Some(Search::Ended(Verdict::NotRun { why })) => {
                return Ok(check::request_repair(&self.context.db, &self.links[0].task.card.id, &why).await?);
            }
            Some(Search::Ended(_)) => return Ok(()),
            Some(Search::Found(index)) => index,
        };
        if !self.record(&self.links[..guilty]).await? {
            return Ok(());
        }
        let Link { task, sha, .. } = &self.links[guilty];
        let db = &self.context.db;
        // Its results are known, so this runs nothing. It shows them on its card.
        if let Verdict::Failed(failed) = check::check(self.context, &self.subject(guilty..guilty + 1)).await? {
            let reason = check::text(&self.context.config().prompts, sha, Some(&self.branch), &failed);
            let recorded = db.record_merge_failure(&task.card.id, sha, &reason).await.map(drop);
            settled(db, &task.card.id, sha, recorded).await?;
        }
        Ok(())
    }

    /// Checks all merges together and, if that fails, halves the part in which the first failure is. `None` if all of them pass.
    async fn search(&self) -> Result<Option<Search>, CheckoutError> {
        // The merges before `passed` pass together. Those up to `failed` do not.
        let (mut passed, mut failed) = (0, self.links.len());
        let mut next = failed;
        loop {
            match check::check(self.context, &self.subject(0..next)).await? {
                Verdict::Passed if next == self.links.len() => return Ok(None),
                Verdict::Passed => passed = next,
                Verdict::Failed(_) => failed = next,
                ended => return Ok(Some(Search::Ended(ended))),
            }
            if failed - passed == 1 {
                return Ok(Some(Search::Found(passed)));
            }
            next = passed + (failed - passed) / 2;
        }
    }

    /// The check of the files of the last merge in `range`, for which the tasks of the range wait.
    fn subject(&self, range: std::ops::Range<usize>) -> Subject {
        let last = &self.links[range.end - 1];
        let work = self.links[range].iter().map(|link| (link.task.card.id.clone(), link.sha.clone())).collect();
        let (commit, tree) = (last.head.clone(), last.tree.clone());
        Subject { project: self.project.clone(), work, stage: CheckStage::Full, commit, tree }
    }

    /// Moves the project branch to the last of the merges and records all of them. Returns false if something changed meanwhile, so that a later
    /// step has to look again.
    async fn record(&self, links: &[Link]) -> Result<bool, CheckoutError> {
        let db = &self.context.db;
        let Some(Link { head, tree, .. }) = links.last() else { return Ok(true) };
        for link in links {
            if !db.may_record_merge(&link.task.card.id, &link.sha, tree).await? {
                return Ok(false);
            }
        }
        match self.advance(links, head).await {
            Ok(true) => {}
            Ok(false) | Err(CheckoutError::Repository { error: RepoError::Moved { .. } }) => return Ok(false),
            Err(error) => return Err(error),
        }
        let merged = links.iter().map(|link| (link.task.card.id.clone(), link.sha.clone())).collect();
        match db.record_merges(merged, &self.branch, head, tree).await {
            // The human moved a card meanwhile, and that decision stands. The next look at the branch finds its commits.
            Err(db::Error::Refused(_)) => Ok(false),
            recorded => Ok(recorded.map(|()| true)?),
        }
    }

    /// Returns false, and moves nothing, if the branch of a task has another commit now.
    async fn advance(&self, links: &[Link], head: &Sha) -> Result<bool, CheckoutError> {
        let own: Vec<(String, Sha)> = links.iter().filter_map(|link| Some((link.task.branch.clone()?, link.sha.clone()))).collect();
        let tasks: Vec<&str> = links.iter().map(|link| link.task.card.id.as_str()).collect();
        let reason = format!("vibe-relay: Merge {}", tasks.join(", "));
        let (branch, tip, head) = (self.branch.clone(), self.tip.clone(), head.clone());
        let git_dir = Path::new(&self.project.git_dir);
        // A landing of the same repository reads the project branch and must not see it move.
        let exclusive = repo::exclusive(git_dir).await?;
        with_repository(git_dir, move |repository| {
            let _exclusive = exclusive;
            for (branch, sha) in own {
                if repository.ref_sha(&branch)?.is_some_and(|own_tip| own_tip != sha) {
                    return Ok(false);
                }
            }
            repository.advance(&branch, &tip, &head, &reason).map(|()| true)
        })
        .await
    }
}

#[cfg(test)]
mod tests;
