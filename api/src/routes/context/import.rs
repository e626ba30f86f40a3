//! Importing the database of another program.

use axum::extract::State;
use axum::{Extension, Json};
use db::Caller;
use domain::context::import::{ImportReport, NewImport};

use crate::error::Result;
use crate::extract::Body;
use crate::state::AppState;

/// Import a database of shared-context-server or dead-drop into a project, or say what an import would do
///
/// The board reads the file, which stays as it is. A repeated import adds only what is new.
#[utoipa::path(
    post,
    path = "/api/import",
    request_body = NewImport,
    responses((status = 200, body = ImportReport), (status = 422, description = "The file is not a database of that program."))
)]
pub(crate) async fn import_database(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Body(new): Body<NewImport>,
) -> Result<Json<ImportReport>> {
    Ok(Json(state.db.import(&caller, &new).await?))
}
