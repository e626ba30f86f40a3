//! The step of the merge queue for a task that has a pull request of its own: it opens that instead of a merge, and finishes the task once its
//! host has merged it and the project branch has followed.
//!
//! It must not ask the host; `publication::task` does.

use std::path::Path;

use db::{Db, MergedTask};
use domain::board::attention::AttentionKind;
use domain::id::TaskId;
use domain::runs::evidence::{Sha, short};

use super::{MergeResult, Merging, Step, conflict, has_passed_checks, settled};
use crate::runs::base::Followed;
use crate::runs::checkout::{CheckoutError, with_files};
use crate::runs::publication::follow::waiting_work;
use crate::runs::publication::{Tools, task as publication};
use crate::runs::run::RunContext;

/// Commits that are counted.
const MAX_COUNTED: usize = 10_000;

/// Opens the pull request of an approved task, unless there is nothing to merge. Conflicts and red checks go back to the coder before.
pub(super) async fn open(context: &RunContext, tools: &Tools, step: &Step<'_>) -> Result<(), CheckoutError> {
    let (db, id, sha) = (&context.db, &step.task.card.id, step.sha);
    let recorded = match step.in_repository(Merging::Nothing).await? {
        MergeResult::Moved => db.revoke_approval(id, sha).await,
        MergeResult::Conflict(conflicts) => {
            let text = conflict::text(&context.config().prompts, sha, step.branch, &conflicts);
            db.record_merge_failure(id, sha, &text).await.map(drop)
        }
        // The project branch has it already.
        MergeResult::Merged { head, tree } if head == *step.tip => db.record_merge(id, sha, step.branch, &head, &tree).await.map(drop),
        MergeResult::Merged { .. } => {
            let has_checks = !step.project.profile.checks.full.commands.is_empty();
            if has_checks && !has_passed_checks(context, step).await? {
                return Ok(());
            }
            match publication::open(db, tools, step.project, step.task, sha).await {
                Err(db::Error::Refused(refusal)) if super::is_approved_at(&db.card(id).await?, sha) => {
                    let detail = format!("Its pull request was not opened: {refusal}. {} Press Retry to try again.", refusal.hint());
                    db.request_attention(id, AttentionKind::PullRequest, &detail).await
                }
                opened => opened,
            }
        }
    };
    settled(db, id, sha, recorded).await
}

/// Finishes a task whose pull request was merged on its host, if the project branch has the work. `followed` says how far it came with the base.
pub(super) async fn finish(context: &RunContext, tools: &Tools, step: &Step<'_>, followed: &Followed) -> Result<(), CheckoutError> {
    let (db, id, sha) = (&context.db, &step.task.card.id, step.sha);
    let recorded = match proof(db, step).await? {
        Proof::Followed { tree, commits, others } => {
            let merged = MergedTask { sha: sha.clone(), branch: step.branch.to_owned(), head: step.tip.clone(), tree, commits, others };
            let recorded = db.record_merged_task(id, merged).await.map(drop);
            if recorded.is_ok() {
                publication::remove_branch(db, tools, step.project, step.task).await?;
            }
            recorded
        }
        // It may have been cancelled or sent back during the checks.
        _ if !super::is_approved_at(&db.card(id).await?, sha) => Ok(()),
        // The next step follows again.
        Proof::NotFollowed if *followed == Followed::Interrupted => Ok(()),
        missing => {
            let base = &step.project.base_branch;
            let detail = match (missing, &step.project.fetch_problem, followed) {
                (_, Some(problem), _) => {
                    format!("Its pull request was merged, but the upstream of {base} cannot be fetched: {}. Press Retry once it can.", problem.detail)
                }
                (Proof::NotFollowed, None, Followed::NotChecked { why }) => format!(
                    "Its pull request was merged, but the checks of merging {base} into the project branch could not run: {why}. Fix that, then press Retry."
                ),
                (Proof::NotFollowed, None, _) => format!(
                    "Its pull request was merged, but the project branch could not follow {base} yet. Finish the task that merges {base}, or fix its checks; then press Retry."
                ),
                _ => format!(
                    "Its pull request was merged, but the upstream of {base} has neither {} nor the same changes. If someone changed the work there, \
                     finish the card without a merge; otherwise press Retry once {base} has it.",
                    short(sha)
                ),
            };
            db.request_attention(id, AttentionKind::PullRequest, &detail).await
        }
    };
    settled(db, id, sha, recorded).await
}

/// Where the work of a merged pull request is.
enum Proof {
    /// In the project branch, whose tip has the files `tree`.
    Followed {
        tree: Sha,
        commits: u32,
        /// The tasks merged here whose work the base has now too.
        others: Vec<TaskId>,
    },
    /// In commits of the base branch that the project branch lacks.
    NotFollowed,
    Nowhere,
}

async fn proof(db: &Db, step: &Step<'_>) -> Result<Proof, CheckoutError> {
    let waiting = waiting_work(db, step.project).await?;
    let (branch, base_branch) = (step.branch.to_owned(), step.project.base_branch.clone());
    let (tip, sha) = (step.tip.clone(), step.sha.clone());
    let read = move |repository: &repo::Repository| {
        let mut found = Proof::Nowhere;
        for base in [repository.upstream_tip(&base_branch)?, repository.ref_sha(&base_branch)?].into_iter().flatten() {
            if !repository.has_landed(&base, &sha)? {
                continue;
            }
            // The base may have moved on since; the rest is followed later.
            let followed = repository.fork_point(&base, &tip)?;
            if !repository.is_ancestor(&followed, &tip)? || !repository.has_landed(&followed, &sha)? {
                found = Proof::NotFollowed;
                continue;
            }
            // Its commits are not on the base if its host squashed or rebased them.
            let before = if repository.is_ancestor(&sha, &followed)? { repository.before_merge(&branch, &sha)? } else { Some(followed.clone()) };
            let commits = before.map(|before| repository.log(&before, &sha, MAX_COUNTED)).transpose()?.map_or(1, |commits| commits.len());
            let mut others = Vec::new();
            for (task, merged) in waiting {
                if repository.is_ancestor(&merged, &sha)? || repository.has_landed(&followed, &merged)? {
                    others.push(task);
                }
            }
            return Ok(Proof::Followed { tree: repository.tree_of(&tip)?, commits: u32::try_from(commits).unwrap_or(u32::MAX), others });
        }
        Ok(found)
    };
    with_files(Path::new(&step.project.git_dir), read).await
}
