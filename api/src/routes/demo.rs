//! The demonstration: the page that its agents change, and the button that kills the server.
//!
//! Agents write the page, so it is served in a sandbox with an origin of its own.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path as PathRest, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use repo::{Effort, Repository};

use crate::error::{Error, Result};
use crate::extract::NoBody;
use crate::state::{AppState, DemoHooks};

const SANDBOX: &str = "sandbox allow-scripts; default-src 'self' 'unsafe-inline'";

/// Time to send the response before the server is killed.
const RESPONSE_DELAY: Duration = Duration::from_millis(150);

/// Get the page that the demonstration's agents change
#[utoipa::path(get, path = "/demo/site/", responses(
    (status = 200, description = "The page.", body = String, content_type = "text/html"),
    (status = 404),
    (status = 422, description = "The repository cannot be read."),
    (status = 500),
    (status = 503),
))]
pub(crate) async fn get_demo_index(State(state): State<AppState>, uri: Uri) -> Result<Response> {
    serve(&state, "index.html", &uri).await
}

/// Get a file of that page
#[utoipa::path(get, path = "/demo/site/{*path}", params(("path" = String, Path)), responses(
    (status = 200, description = "The file.", content_type = "*/*", body = String),
    (status = 422, description = "The repository cannot be read."),
    (status = 500),
    (status = 503),
))]
pub(crate) async fn get_demo_file(State(state): State<AppState>, PathRest(path): PathRest<String>, uri: Uri) -> Result<Response> {
    serve(&state, &path, &uri).await
}

/// Kill the server as a power cut would; the demonstration restarts it
#[utoipa::path(
    post,
    path = "/api/demo/pull-the-plug",
    responses((status = 202, description = "The server is about to be killed."), (status = 404, description = "This is not the demonstration."))
)]
pub(crate) async fn pull_the_plug(State(state): State<AppState>, uri: Uri, _: NoBody) -> Result<StatusCode> {
    let demo = hooks(&state, &uri)?;
    tokio::spawn(async move {
        tokio::time::sleep(RESPONSE_DELAY).await;
        (demo.pull_the_plug)();
    });
    Ok(StatusCode::ACCEPTED)
}

fn hooks(state: &AppState, uri: &Uri) -> Result<Arc<DemoHooks>> {
    state.demo.clone().ok_or_else(|| Error::NoSuchPath(uri.path().to_owned()))
}

/// Serves the file at `path` from the project branch, or from the base branch before that exists.
async fn serve(state: &AppState, path: &str, uri: &Uri) -> Result<Response> {
    let missing = || Error::NoSuchPath(uri.path().to_owned());
    let demo = hooks(state, uri)?;
    if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(missing());
    }
    let project = state.db.project(demo.project.get().ok_or_else(missing)?).await?;
    let file = path.to_owned();
    let git_dir = PathBuf::from(&project.git_dir);
    let found = repo::in_lane(&git_dir.clone(), Effort::Brief, move || {
        let repository = Repository::open(&git_dir)?;
        let tip = match repository.ref_sha(&project.integration_branch)? {
            Some(tip) => Some(tip),
            None => repository.ref_sha(&project.base_branch)?,
        };
        tip.map_or(Ok(None), |tip| repository.file_at(&tip, &file))
    });
    let bytes = found.await??.ok_or_else(missing)?;
    let headers = [(header::CONTENT_TYPE, content_type(path)), (header::CONTENT_SECURITY_POLICY, SANDBOX), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, bytes).into_response())
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("txt" | "md") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
