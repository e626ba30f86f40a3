//! Comments: the thread of a task.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::Caller;
use domain::board::comment::Comment;
use domain::id::{CommentId, TaskId};
use domain::wire::{CommentView, List, TextBody};

use crate::error::Result;
use crate::extract::{Body, Id};
use crate::markdown;
use crate::state::AppState;

/// List the comments of a task, oldest first
#[utoipa::path(get, path = "/api/tasks/{id}/comments", params(("id" = TaskId, Path)), responses((status = 200, body = List<CommentView>)))]
pub(crate) async fn list_comments(State(state): State<AppState>, Id(id): Id<TaskId>) -> Result<Json<List<CommentView>>> {
    let comments = state.db.comments(&id).await?;
    Ok(Json(List { items: comments.into_iter().map(view).collect(), next: None }))
}

/// Add a comment to a task
#[utoipa::path(
    post,
    path = "/api/tasks/{id}/comments",
    params(("id" = TaskId, Path)),
    request_body = TextBody,
    responses((status = 201, body = CommentView))
)]
pub(crate) async fn add_comment(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<TaskId>,
    Body(text): Body<TextBody>,
) -> Result<(StatusCode, Json<CommentView>)> {
    let comment = state.db.add_comment(&caller, &id, &text.content, None).await?;
    Ok((StatusCode::CREATED, Json(view(comment))))
}

/// Change the text of your own comment
#[utoipa::path(
    patch,
    path = "/api/comments/{id}",
    params(("id" = CommentId, Path)),
    request_body = TextBody,
    responses((status = 200, body = CommentView))
)]
pub(crate) async fn edit_comment(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<CommentId>,
    Body(text): Body<TextBody>,
) -> Result<Json<CommentView>> {
    Ok(Json(view(state.db.edit_comment(&caller, &id, &text.content).await?)))
}

/// Delete your own comment
#[utoipa::path(delete, path = "/api/comments/{id}", params(("id" = CommentId, Path)), responses((status = 204, description = "Deleted")))]
pub(crate) async fn remove_comment(State(state): State<AppState>, Extension(caller): Extension<Caller>, Id(id): Id<CommentId>) -> Result<StatusCode> {
    state.db.remove_comment(&caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) fn view(comment: Comment) -> CommentView {
    CommentView { content_html: markdown::render(&comment.content), comment }
}
