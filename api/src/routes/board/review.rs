//! The review of a task: what a person reads before they decide, and its changes with colours and marks.

pub(super) mod file;
pub(super) mod send_back;

use std::path::PathBuf;

use axum::extract::State;
use axum::{Extension, Json};
use db::{Caller, ReviewFacts};
use domain::board::review::{Decisions, latest_words};
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::runs::diff::Diff;
use domain::runs::evidence::Sha;
use domain::runs::protected_paths::ProtectedChange;
use domain::team::person::Right;
use domain::wire::{CommentView, ReviewView};
use repo::{DiffLimits, Effort, Repository};
use serde::Deserialize;
use utoipa::IntoParams;

use super::task::changes_of;
use crate::error::{Error, Result};
use crate::extract::{Id, QueryParameters};
use crate::markdown;
use crate::state::AppState;

/// The changes to show.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RangeQuery {
    /// The number of a review round: only what changed since its commit. All changes if missing.
    since: Option<u32>,
}

/// The commits whose difference is under review.
struct Range {
    old: Sha,
    head: Sha,
}

/// Get the review of a task: its commit, the reviewer's verdict, earlier rounds, conflicts, and what the caller may decide
#[utoipa::path(
    get,
    path = "/api/tasks/{id}/review",
    params(("id" = TaskId, Path)),
    responses((status = 200, body = ReviewView), (status = 422, description = "The repository cannot be read."))
)]
pub(crate) async fn get_review(State(state): State<AppState>, Extension(caller): Extension<Caller>, Id(id): Id<TaskId>) -> Result<Json<ReviewView>> {
    let ReviewFacts { task, rounds, verdict, comments } = state.db.review_facts(&id).await?;
    let project = state.db.project(&task.card.project_id).await?;
    let (git_dir, base_branch, read_task) = (PathBuf::from(&project.git_dir), project.integration_branch.clone(), task.clone());
    let read = repo::in_lane(&git_dir.clone(), Effort::Long, move || -> Result<_> {
        let repository = Repository::open(&git_dir)?;
        let Some((base, head)) = changes_of(&repository, &read_task, &project)? else { return Ok((None, None, Vec::new())) };
        let is_open = read_task.card.status.is_open();
        let conflicts = if is_open { repository.conflicts(&base, &head)? } else { Vec::new() };
        let size = repository.diff_size(&base, &head)?;
        Ok((Some(head), Some(size), conflicts))
    });
    let (head, size, conflicts) = read.await??;
    let may_work = matches!(&caller, Caller::Person(person) if person.role.may(Right::Work));
    let words = latest_words(comments).into_iter().map(|comment| CommentView { content_html: markdown::render(&comment.content), comment });
    Ok(Json(ReviewView {
        task_id: id,
        project_id: task.card.project_id.clone(),
        title: task.card.title.clone(),
        status: task.card.status,
        description_html: task.description.as_deref().map(markdown::render),
        base_branch,
        size,
        conflicts,
        protected: task.card.protected_paths.as_ref().map(ProtectedChange::named),
        verdict,
        words: words.collect(),
        rounds,
        decisions: Decisions::of(&task.card, head.as_ref(), may_work),
        head,
    }))
}

/// Get the changes under review, with the colours of their syntax and the changed words; large files are folded
#[utoipa::path(
    get,
    path = "/api/tasks/{id}/review/diff",
    params(("id" = TaskId, Path), RangeQuery),
    responses((status = 200, body = Diff), (status = 422, description = "The repository cannot be read, or the commit is missing."))
)]
pub(crate) async fn get_review_diff(
    State(state): State<AppState>,
    Id(id): Id<TaskId>,
    QueryParameters(RangeQuery { since }): QueryParameters<RangeQuery>,
) -> Result<Json<Diff>> {
    let diff = in_range(&state, &id, since, |repository, range| {
        let mut diff = repository.diff_between(&range.old, &range.head, &[], DiffLimits::REVIEW)?;
        repository.annotate(&mut diff)?;
        Ok(diff)
    });
    Ok(Json(diff.await?))
}

/// Reads the repository of a task with the commits under review: from the base, or from the commit of an earlier round.
async fn in_range<T: Send + 'static>(
    state: &AppState,
    id: &TaskId,
    since: Option<u32>,
    read: impl FnOnce(&Repository, &Range) -> Result<T> + Send + 'static,
) -> Result<T> {
    let task = state.db.task(id).await?;
    let project = state.db.project(&task.card.project_id).await?;
    let earlier = match since {
        Some(number) => Some(round_sha(state, id, number).await?),
        None => None,
    };
    let (git_dir, id) = (PathBuf::from(&project.git_dir), id.clone());
    let reading = repo::in_lane(&git_dir.clone(), Effort::Long, move || -> Result<T> {
        let repository = Repository::open(&git_dir)?;
        let (base, head) = changes_of(&repository, &task, &project)?.ok_or(Error::NoDiff(id))?;
        let old = earlier.map_or_else(|| repository.fork_point(&base, &head), Ok)?;
        read(&repository, &Range { old, head })
    });
    reading.await?
}

/// The commit of a review round.
async fn round_sha(state: &AppState, id: &TaskId, number: u32) -> Result<Sha> {
    let rounds = state.db.review_rounds(id).await?;
    let round = rounds.into_iter().find(|round| round.number == number);
    Ok(round.ok_or_else(|| Refusal::not_found("review round", number))?.sha)
}
