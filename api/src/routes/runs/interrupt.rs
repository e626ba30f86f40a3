//! Interrupts: a person ends what a running agent does now.

use axum::extract::State;
use axum::{Extension, Json};
use db::Caller;
use domain::id::RunId;
use domain::runs::run::Run;
use domain::wire::InterruptOptions;

use crate::error::Result;
use crate::extract::{Id, OptionalBody};
use crate::state::AppState;

/// End the current turn of a running agent; it continues with a message, or waits for one
#[utoipa::path(
    post, path = "/api/runs/{id}/interrupt",
    params(("id" = RunId, Path)),
    request_body(content = InterruptOptions, description = "May be empty"),
    responses((status = 200, body = Run)),
)]
pub(crate) async fn interrupt_run(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<RunId>,
    OptionalBody(options): OptionalBody<InterruptOptions>,
) -> Result<Json<Run>> {
    Ok(Json(state.db.interrupt_run(&caller, &id, options.message.as_deref()).await?))
}
