//! Routes of what happens while agents work: runs and landing.

mod check;
mod interrupt;
mod land;
mod limit;
mod pause;
mod permission;
mod preview;
pub(crate) mod publication;
mod rescue;
mod run;
pub(super) mod sandbox;
mod usage;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::AppState;

/// The routes of this area for all persons.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(run::list_runs))
        .routes(routes!(run::get_run))
        .routes(routes!(run::get_run_output))
        .routes(routes!(run::get_run_log))
        .routes(routes!(run::stop_run))
        .routes(routes!(run::message_run))
        .routes(routes!(check::list_checks))
        .routes(routes!(check::get_check_output))
        .routes(routes!(interrupt::interrupt_run))
        .routes(routes!(permission::answer_permission))
        .routes(routes!(land::land_project))
        .routes(routes!(land::preview::preview_landing))
        .routes(routes!(land::preview::get_landing_diff))
        .routes(routes!(preview::open_task_app, preview::close_task_app))
        .routes(routes!(preview::get_task_app_log))
        .routes(routes!(preview::open_project_app, preview::close_project_app))
        .routes(routes!(preview::get_project_app_log))
        .routes(routes!(land::undo::undo_landing))
        .routes(routes!(publication::get_publication_target, publication::publish_project))
        .routes(routes!(publication::settle_pull_request))
        .routes(routes!(publication::import_issue))
        .routes(routes!(rescue::list_rescues))
        .routes(routes!(rescue::get_rescue_diff))
        .routes(routes!(rescue::restore_rescue))
        .routes(routes!(rescue::drop_rescue))
        .routes(routes!(usage::get_usage))
        .routes(routes!(limit::raise_task_limit))
        .routes(routes!(limit::raise_project_limit))
        .routes(routes!(pause::pause_project))
        .routes(routes!(pause::resume_project))
        .routes(routes!(pause::pause_all))
        .routes(routes!(pause::resume_all))
}

/// The routes of this area for the owner.
pub(super) fn owner_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(sandbox::choose_sandbox)).routes(routes!(sandbox::allow_access))
}
