//! Sends a review back to the coder, with comments on lines. Bound to the commit that the person read.

use axum::extract::State;
use axum::{Extension, Json};
use db::{Caller, MoveRequest};
use domain::board::review::{ReviewRefusal, SendBack, Side};
use domain::board::status::Status;
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::runs::evidence::EvidenceResult;
use domain::wire::TaskView;

use super::{in_range, round_sha};
use crate::error::Result;
use crate::extract::{Body, Id};
use crate::routes::board::task::view;
use crate::state::AppState;

/// Send a submission back with what to change
///
/// The coder reads the words and, for each comment, the path, the line, its text and the comment.
#[utoipa::path(
    post,
    path = "/api/tasks/{id}/review/send-back",
    params(("id" = TaskId, Path)),
    request_body = SendBack,
    responses((status = 200, body = TaskView), (status = 409, description = "The review is of another commit."))
)]
pub(crate) async fn send_back_review(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<TaskId>,
    Body(review): Body<SendBack>,
) -> Result<Json<TaskView>> {
    review.validate()?;
    // In another status, the move says what is wrong.
    if state.db.card(&id).await?.status == Status::InReview {
        let request = state.db.required_evidence(&caller, &id, Status::Done).await?;
        ReviewRefusal::require_current(&id, &review.sha, &repo::read_evidence(request).await?)?;
    }
    let quotes = quotes(&state, &id, &review).await?;
    let request = MoveRequest { to: Status::InProgress, reason: Some(review.markdown(&quotes)), merge: false };
    let task = state.db.move_task(&caller, &id, request, EvidenceResult::Nothing).await?;
    view(&state.db, task, None).await
}

/// Reads the commented lines, because a client could quote something else.
async fn quotes(state: &AppState, id: &TaskId, review: &SendBack) -> Result<Vec<Option<String>>> {
    if review.comments.is_empty() {
        return Ok(Vec::new());
    }
    let mut earlier = Vec::with_capacity(review.comments.len());
    for comment in &review.comments {
        earlier.push(match comment.since.filter(|_| comment.side == Side::Old) {
            Some(number) => Some(round_sha(state, id, number).await?),
            None => None,
        });
    }
    let (comments, head) = (review.comments.clone(), review.sha.clone());
    let read = in_range(state, id, None, move |repository, range| {
        let mut quotes = Vec::with_capacity(comments.len());
        for (comment, earlier) in comments.iter().zip(&earlier) {
            if let Some(commit) = comment.earlier_than(&head) {
                quotes.push(match comment.side {
                    Side::New => repository.line_of_work(commit, &range.head, &comment.path, comment.line)?,
                    Side::Old => None,
                });
                continue;
            }
            let commit = if comment.side == Side::New { &range.head } else { earlier.as_ref().unwrap_or(&range.old) };
            let quote = repository.line_at(commit, &comment.path, comment.line)?;
            let missing = || {
                let problem = format!("{} has no line {}", comment.path, comment.line);
                Refusal::invalid("comments", problem, "Comment on a line of the changes.")
            };
            quotes.push(Some(quote.ok_or_else(missing)?));
        }
        Ok(quotes)
    });
    read.await
}
