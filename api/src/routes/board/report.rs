//! Reports: what happened since a time, and what the human should do next.

use std::path::PathBuf;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use db::Db;
use domain::board::report::{ProjectReport, Report};
use domain::runs::diff::DiffSize;
use domain::time::Timestamp;
use futures_util::future::join_all;
use repo::{Effort, Repository};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::QueryParameters;
use crate::state::AppState;

/// The period of a report without a start: a night.
const DEFAULT_PERIOD: Duration = Duration::from_secs(8 * 3600);

/// How long a report waits for the sizes of changes. A repository that does not answer must not keep the rest from its reader.
const SIZE_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReportQuery {
    /// The start of the period; eight hours ago if missing.
    since: Option<Timestamp>,
}

/// Get a report on all projects: what is ready to land, what needs you, what was sent back and why, what waits, and what it cost
#[utoipa::path(get, path = "/api/report", params(ReportQuery), responses((status = 200, body = Report)))]
pub(crate) async fn get_report(State(state): State<AppState>, QueryParameters(query): QueryParameters<ReportQuery>) -> Result<Json<Report>> {
    let since = query.since.unwrap_or_else(|| db::now().before(DEFAULT_PERIOD));
    let mut report = state.db.report(since).await?;
    join_all(report.projects.iter_mut().map(|project| add_size(&state.db, project))).await;
    Ok(Json(report))
}

/// Adds the size of the change that is ready to land. It stays unknown if the repository cannot be read in time.
async fn add_size(db: &Db, project: &mut ProjectReport) {
    let Some(ready) = &mut project.ready_to_land else { return };
    let Ok(stored) = db.project(&project.project_id).await else { return };
    let git_dir = PathBuf::from(&stored.git_dir);
    let size = repo::in_lane(&git_dir.clone(), Effort::Brief, move || {
        let repository = Repository::open(&git_dir).ok()?;
        let base = repository.ref_sha(&stored.base_branch).ok()??;
        let head = repository.ref_sha(&stored.integration_branch).ok()??;
        repository.diff_size(&base, &head).ok()
    });
    ready.diff = tokio::time::timeout(SIZE_TIMEOUT, size).await.ok().and_then(|answer: std::result::Result<Option<DiffSize>, _>| answer.ok()?);
}
