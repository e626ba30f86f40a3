//! Single files of a review: a folded one, further lines around its changes, and both versions of an image.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use domain::board::review::{ReviewRefusal, Side};
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::runs::diff::{FileDiff, FileLines, image_type};
use domain::runs::evidence::Sha;
use repo::DiffLimits;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{Range, in_range};
use crate::error::Result;
use crate::extract::{Id, QueryParameters};
use crate::state::AppState;

/// The policy of an image that is opened on its own.
const IMAGE_POLICY: &str = "default-src 'none'; sandbox";
/// The largest image that is shown, in bytes.
const MAX_IMAGE: usize = 10 * 1024 * 1024;

/// A file of the changes under review.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FileQuery {
    path: String,
    /// The earlier path of a renamed file.
    old_path: Option<String>,
    since: Option<u32>,
    /// The commit that is shown. Another one is refused.
    head: Sha,
}

/// Lines of the new version of a file.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LinesQuery {
    path: String,
    head: Sha,
    /// The first and the last line, from 1; at most 500 lines.
    from: u32,
    to: u32,
}

/// One version of an image.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImageQuery {
    /// Its path on that side.
    path: String,
    #[param(inline)]
    side: Side,
    since: Option<u32>,
    head: Sha,
}

/// Get one file of the changes under review with all of its lines
#[utoipa::path(
    get,
    path = "/api/tasks/{id}/review/file",
    params(("id" = TaskId, Path), FileQuery),
    responses((status = 200, body = FileDiff), (status = 409, description = "The review is of another commit."))
)]
pub(crate) async fn get_review_file(
    State(state): State<AppState>,
    Id(id): Id<TaskId>,
    QueryParameters(query): QueryParameters<FileQuery>,
) -> Result<Json<FileDiff>> {
    let task = id.clone();
    let file = in_range(&state, &id, query.since, move |repository, range| {
        require_head(&task, &query.head, range)?;
        let paths: Vec<&str> = [Some(query.path.as_str()), query.old_path.as_deref()].into_iter().flatten().collect();
        let mut diff = repository.diff_between(&range.old, &range.head, &paths, DiffLimits::REVIEW_FILE)?;
        repository.annotate(&mut diff)?;
        let file = diff.files.into_iter().find(|file| file.path == query.path);
        Ok(file.ok_or_else(|| Refusal::not_found("changed file", &query.path))?)
    });
    Ok(Json(file.await?))
}

/// Get unchanged lines around a change
#[utoipa::path(
    get,
    path = "/api/tasks/{id}/review/lines",
    params(("id" = TaskId, Path), LinesQuery),
    responses((status = 200, body = FileLines), (status = 409, description = "The review is of another commit."))
)]
pub(crate) async fn get_review_lines(
    State(state): State<AppState>,
    Id(id): Id<TaskId>,
    QueryParameters(query): QueryParameters<LinesQuery>,
) -> Result<Json<FileLines>> {
    let task = id.clone();
    let lines = in_range(&state, &id, None, move |repository, range| {
        require_head(&task, &query.head, range)?;
        let lines = repository.file_lines(&range.head, &query.path, query.from..=query.to)?;
        Ok(lines.ok_or_else(|| Refusal::not_found("text file", &query.path))?)
    });
    Ok(Json(lines.await?))
}

/// Get one version of a changed image: PNG, JPEG, GIF or WebP
#[utoipa::path(
    get,
    path = "/api/tasks/{id}/review/image",
    params(("id" = TaskId, Path), ImageQuery),
    responses(
        (status = 200, description = "The image.", content_type = "*/*", body = String),
        (status = 409, description = "The review is of another commit.")
    )
)]
pub(crate) async fn get_review_image(
    State(state): State<AppState>,
    Id(id): Id<TaskId>,
    QueryParameters(query): QueryParameters<ImageQuery>,
) -> Result<Response> {
    let missing = Refusal::not_found("image", &query.path);
    let Some(content_type) = image_type(&query.path) else { return Err(missing.into()) };
    let task = id.clone();
    let read = in_range(&state, &id, query.since, move |repository, range| {
        require_head(&task, &query.head, range)?;
        let commit = if query.side == Side::Old { &range.old } else { &range.head };
        Ok(repository.file_at(commit, &query.path)?)
    });
    let bytes = read.await?.filter(|bytes| bytes.len() <= MAX_IMAGE && is_image(bytes, content_type)).ok_or(missing)?;
    // The guard adds `nosniff`.
    let headers = [(header::CONTENT_TYPE, content_type), (header::CONTENT_SECURITY_POLICY, IMAGE_POLICY)];
    Ok((headers, bytes).into_response())
}

fn require_head(task: &TaskId, shown: &Sha, range: &Range) -> Result<(), ReviewRefusal> {
    if *shown == range.head {
        return Ok(());
    }
    Err(ReviewRefusal::Outdated { task: task.clone(), shown: shown.clone(), head: Some(range.head.clone()) })
}

/// Whether the content is what the extension says.
fn is_image(bytes: &[u8], content_type: &str) -> bool {
    match content_type {
        "image/png" => bytes.starts_with(b"\x89PNG\r\n\x1a\n"),
        "image/jpeg" => bytes.starts_with(b"\xff\xd8\xff"),
        "image/gif" => bytes.starts_with(b"GIF8"),
        "image/webp" => bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_with_the_extension() {
        assert!(is_image(b"\x89PNG\r\n\x1a\n..", "image/png") && is_image(b"GIF89a", "image/gif"));
        assert!(is_image(b"RIFF....WEBPVP8 ", "image/webp") && is_image(b"\xff\xd8\xff\xe0", "image/jpeg"));
        assert!(!is_image(b"<svg onload=alert(1)>", "image/png") && !is_image(b"RIFF", "image/webp") && !is_image(b"", "image/svg+xml"));
    }
}
