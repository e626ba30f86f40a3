//! The demonstration: the page that its agents change, and the plug to pull.
//!
//! The page is written by agents, so it is served without any power over this server: in a sandbox, as an origin of its own.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path as PathRest, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use repo::Repository;
use tokio::task::spawn_blocking;

use crate::error::{Error, Result};
use crate::extract::NoBody;
use crate::state::{AppState, DemoHooks};

const SANDBOX: &str = "sandbox allow-scripts; default-src 'self' 'unsafe-inline'";

/// Time for the answer to leave before the server is killed.
const LAST_WORDS: Duration = Duration::from_millis(150);

/// The page that the demonstration's agents change
#[utoipa::path(get, path = "/demo/site/", responses((status = 200, description = "The page", content_type = "text/html")))]
pub(crate) async fn index(State(state): State<AppState>, uri: Uri) -> Result<Response> {
    serve(&state, "index.html", &uri).await
}

/// A file of that page
#[utoipa::path(get, path = "/demo/site/{path}", params(("path" = String, Path)), responses((status = 200, description = "The file")))]
pub(crate) async fn file(State(state): State<AppState>, PathRest(path): PathRest<String>, uri: Uri) -> Result<Response> {
    serve(&state, &path, &uri).await
}

/// Kill the server as a power cut would; the demonstration starts it again
#[utoipa::path(post, path = "/api/demo/pull-the-plug", responses((status = 202, description = "About to be killed")))]
pub(crate) async fn pull_the_plug(State(state): State<AppState>, uri: Uri, _: NoBody) -> Result<StatusCode> {
    let demo = hooks(&state, &uri)?;
    tokio::spawn(async move {
        tokio::time::sleep(LAST_WORDS).await;
        (demo.pull_the_plug)();
    });
    Ok(StatusCode::ACCEPTED)
}

fn hooks(state: &AppState, uri: &Uri) -> Result<Arc<DemoHooks>> {
    state.demo.clone().ok_or_else(|| Error::NoSuchPath(uri.path().to_owned()))
}

/// The file at `path` as the project branch has it; before there is one, as the base branch has it.
async fn serve(state: &AppState, path: &str, uri: &Uri) -> Result<Response> {
    let missing = || Error::NoSuchPath(uri.path().to_owned());
    let demo = hooks(state, uri)?;
    if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(missing());
    }
    let project = state.db.project(demo.project.get().ok_or_else(missing)?).await?;
    let wanted = path.to_owned();
    let found = spawn_blocking(move || {
        let repository = Repository::open(Path::new(&project.git_dir))?;
        let tip = match repository.ref_sha(&project.integration_branch)? {
            Some(tip) => Some(tip),
            None => repository.ref_sha(&project.base_branch)?,
        };
        tip.map_or(Ok(None), |tip| repository.file_at(&tip, &wanted))
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
