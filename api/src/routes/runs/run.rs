//! Runs: reading them and their output, stopping them, and sending messages to their agents.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Seek, SeekFrom};
use std::path::Path;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use db::Caller;
use domain::id::{RunId, TaskId};
use domain::runs::output::{Output, RAW_OUTPUT_FILE, TRANSCRIPT_FILE};
use domain::runs::run::Run;
use domain::wire::{List, TextBody};
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio::task::spawn_blocking;
use tokio_util::io::ReaderStream;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Body, Id, NoBody, QueryParameters};
use crate::state::AppState;

/// Bytes of a raw log in one response.
const MAX_LOG_BYTES: u64 = 256 * 1024 * 1024;
/// Bytes of the transcript in one response. A longer line is sent alone.
const MAX_PAGE_BYTES: usize = 512 * 1024;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct OutputQuery {
    /// `next` of the previous page; 0 for the beginning.
    #[serde(default)]
    offset: u64,
}

/// List the runs of a task, oldest first
#[utoipa::path(get, path = "/api/tasks/{id}/runs", params(("id" = TaskId, Path)), responses((status = 200, body = List<Run>)))]
pub(crate) async fn list_runs(State(state): State<AppState>, Id(id): Id<TaskId>) -> Result<Json<List<Run>>> {
    Ok(Json(List { items: state.db.runs(&id).await?, next: None }))
}

/// Get a run
#[utoipa::path(get, path = "/api/runs/{id}", params(("id" = RunId, Path)), responses((status = 200, body = Run)))]
pub(crate) async fn get_run(State(state): State<AppState>, Id(id): Id<RunId>) -> Result<Json<Run>> {
    Ok(Json(state.db.run(&id).await?))
}

/// Get a page of the output of a run
#[utoipa::path(get, path = "/api/runs/{id}/output", params(("id" = RunId, Path), OutputQuery), responses((status = 200, body = Output)))]
pub(crate) async fn get_run_output(
    State(state): State<AppState>,
    Id(id): Id<RunId>,
    QueryParameters(query): QueryParameters<OutputQuery>,
) -> Result<Json<Output>> {
    // Read before the transcript, because the transcript of an ended run is complete.
    let ended = !state.db.run(&id).await?.is_live();
    let path = state.db.run_dir(&id).await?.join(TRANSCRIPT_FILE);
    let page = spawn_blocking(move || read(&path, query.offset)).await?;
    let (mut output, at_end) = page.map_err(|source| db::Error::File { attempted: format!("read the output of {id}"), source })?;
    output.complete = ended && at_end;
    Ok(Json(output))
}

/// Download what the agent program of a run wrote so far, one JSON object per line; of a very long log, its end
#[utoipa::path(
    get,
    path = "/api/runs/{id}/log",
    params(("id" = RunId, Path)),
    responses((status = 200, body = String, content_type = "application/jsonl"))
)]
pub(crate) async fn get_run_log(State(state): State<AppState>, Id(id): Id<RunId>) -> Result<Response> {
    let path = state.db.run_dir(&id).await?.join(RAW_OUTPUT_FILE);
    let body = raw_log(&path).await.map_err(|source| db::Error::File { attempted: format!("read the log of {id}"), source })?;
    let name = HeaderValue::from_str(&format!("attachment; filename=\"{id}.jsonl\"")).ok();
    let mut response = body.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/jsonl"));
    response.headers_mut().extend(name.map(|name| (header::CONTENT_DISPOSITION, name)));
    Ok(response)
}

/// Streams the end of a file as it is now. A run without output has none.
async fn raw_log(path: &Path) -> std::io::Result<axum::body::Body> {
    let mut file = match tokio::fs::File::open(path).await {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(axum::body::Body::empty()),
        Err(error) => return Err(error),
    };
    let length = file.metadata().await?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_LOG_BYTES))).await?;
    Ok(axum::body::Body::from_stream(ReaderStream::new(file.take(MAX_LOG_BYTES.min(length)))))
}

/// Stop a run and hold its task in its column
#[utoipa::path(post, path = "/api/runs/{id}/stop", params(("id" = RunId, Path)), responses((status = 200, body = Run)))]
pub(crate) async fn stop_run(State(state): State<AppState>, Extension(caller): Extension<Caller>, Id(id): Id<RunId>, _: NoBody) -> Result<Json<Run>> {
    state.db.stop_run(&caller, &id).await?;
    Ok(Json(state.db.run(&id).await?))
}

/// Send a message to a running agent
#[utoipa::path(post, path = "/api/runs/{id}/message", params(("id" = RunId, Path)), request_body = TextBody, responses((status = 200, body = Run)))]
pub(crate) async fn message_run(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<RunId>,
    Body(text): Body<TextBody>,
) -> Result<Json<Run>> {
    state.db.message_run(&caller, &id, &text.content).await?;
    Ok(Json(state.db.run(&id).await?))
}

/// Reads a page of whole lines, and whether it includes the last one. A run without output has no file.
fn read(path: &Path, offset: u64) -> std::io::Result<(Output, bool)> {
    let mut output = Output { lines: Vec::new(), next: offset, complete: false };
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((output, true)),
        Err(error) => return Err(error),
    };
    file.seek(SeekFrom::Start(offset))?;
    let mut reader = BufReader::new(file);
    let (mut line, mut taken) = (Vec::new(), 0);
    loop {
        line.clear();
        reader.read_until(b'\n', &mut line)?;
        if line.last() != Some(&b'\n') {
            return Ok((output, true));
        }
        if taken > 0 && taken + line.len() > MAX_PAGE_BYTES {
            return Ok((output, false));
        }
        taken += line.len();
        output.next += line.len() as u64;
        // Only an offset inside a line makes a line unreadable.
        output.lines.extend(serde_json::from_slice(&line).ok());
    }
}

#[cfg(test)]
mod tests;
