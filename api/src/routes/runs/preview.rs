//! Previews: starting and ending the app of a task or a project, and its log.

use std::io::ErrorKind;
use std::path::Path;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use db::Caller;
use domain::id::{ProjectId, TaskId};
use domain::runs::preview::{Preview, PreviewSubject};

use crate::error::Result;
use crate::extract::Id;
use crate::state::AppState;

/// Start the app of a task in its checkout
///
/// The card says when the app answers, and its address. An app that is already running stays.
#[utoipa::path(
    post,
    path = "/api/tasks/{id}/preview",
    params(("id" = TaskId, Path)),
    responses((status = 200, body = Preview), (status = 409, description = "There are no files to run it on."))
)]
pub(crate) async fn open_task_app(State(state): State<AppState>, Extension(caller): Extension<Caller>, Id(id): Id<TaskId>) -> Result<Json<Preview>> {
    Ok(Json(state.db.request_preview(&caller, &PreviewSubject::Task(id)).await?))
}

/// End the app of a task, or dismiss its failure
#[utoipa::path(
    delete,
    path = "/api/tasks/{id}/preview",
    params(("id" = TaskId, Path)),
    responses((status = 204), (status = 409, description = "There is no app."))
)]
pub(crate) async fn close_task_app(State(state): State<AppState>, Extension(caller): Extension<Caller>, Id(id): Id<TaskId>) -> Result<StatusCode> {
    state.db.stop_preview(&caller, &PreviewSubject::Task(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Get everything that the app of a task printed
#[utoipa::path(
    get,
    path = "/api/tasks/{id}/preview/log",
    params(("id" = TaskId, Path)),
    responses((status = 200, body = String, content_type = "text/plain"), (status = 409, description = "There is no app."))
)]
pub(crate) async fn get_task_app_log(State(state): State<AppState>, Id(id): Id<TaskId>) -> Result<Response> {
    log(&state, &PreviewSubject::Task(id)).await
}

/// Start the app of a project on the tip of its branch
///
/// The project says when the app answers, and its address. An app that is already running stays.
#[utoipa::path(
    post,
    path = "/api/projects/{id}/preview",
    params(("id" = ProjectId, Path)),
    responses((status = 200, body = Preview), (status = 409, description = "There are no files to run it on."))
)]
pub(crate) async fn open_project_app(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
) -> Result<Json<Preview>> {
    Ok(Json(state.db.request_preview(&caller, &PreviewSubject::Project(id)).await?))
}

/// End the app of a project, or dismiss its failure
#[utoipa::path(
    delete,
    path = "/api/projects/{id}/preview",
    params(("id" = ProjectId, Path)),
    responses((status = 204), (status = 409, description = "There is no app."))
)]
pub(crate) async fn close_project_app(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
) -> Result<StatusCode> {
    state.db.stop_preview(&caller, &PreviewSubject::Project(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Get everything that the app of a project printed
#[utoipa::path(
    get,
    path = "/api/projects/{id}/preview/log",
    params(("id" = ProjectId, Path)),
    responses((status = 200, body = String, content_type = "text/plain"), (status = 409, description = "There is no app."))
)]
pub(crate) async fn get_project_app_log(State(state): State<AppState>, Id(id): Id<ProjectId>) -> Result<Response> {
    log(&state, &PreviewSubject::Project(id)).await
}

async fn log(state: &AppState, subject: &PreviewSubject) -> Result<Response> {
    let path = state.db.preview_log(subject).await?;
    let bytes =
        read(&path).await.map_err(|source| db::Error::File { attempted: format!("read the log of the app of {}", subject.name()), source })?;
    let mut response = bytes.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    Ok(response)
}

/// Reads a log. It is empty until the command starts.
async fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    match tokio::fs::read(path).await {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}
