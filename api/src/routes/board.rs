//! Routes of the board: projects, plans, tasks, their threads, review gates and goals.

mod activity;
mod card;
mod comment;
mod gate;
mod goal;
mod needs_you;
mod plan;
mod project;
mod question;
mod replay;
mod report;
mod review;
mod review_round;
mod search;
mod statistics;
mod takeover;
pub(super) mod task;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::AppState;

/// The routes of this area for all persons.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(project::list_projects, project::create_project))
        .routes(routes!(project::get_project, project::edit_project))
        .routes(routes!(project::relocate_project))
        .routes(routes!(project::archive_project))
        .routes(routes!(project::restore_project))
        .routes(routes!(project::get_board))
        .routes(routes!(report::get_report))
        .routes(routes!(needs_you::list_needs_you))
        .routes(routes!(activity::list_activity))
        .routes(routes!(search::search))
        .routes(routes!(replay::get_replay))
        .routes(routes!(statistics::get_statistics))
        .routes(routes!(card::list_finished_cards))
        .routes(routes!(card::list_open_cards))
        .routes(routes!(plan::get_plan))
        .routes(routes!(plan::approve_plan))
        .routes(routes!(plan::revise_plan))
        .routes(routes!(task::create_task))
        .routes(routes!(task::get_task, task::change_task))
        .routes(routes!(task::reorder_task))
        .routes(routes!(task::start_task))
        .routes(routes!(task::retry_task))
        .routes(routes!(task::stop_task))
        .routes(routes!(task::cancel_task))
        .routes(routes!(takeover::take_over_task))
        .routes(routes!(takeover::give_back_task))
        .routes(routes!(task::get_task_diff))
        .routes(routes!(review_round::list_review_rounds))
        .routes(routes!(review_round::get_review_round_diff))
        .routes(routes!(question::answer_question))
        .routes(routes!(gate::assign_task))
        .routes(routes!(review::get_review))
        .routes(routes!(review::get_review_diff))
        .routes(routes!(review::file::get_review_file))
        .routes(routes!(review::file::get_review_lines))
        .routes(routes!(review::file::get_review_image))
        .routes(routes!(review::send_back::send_back_review))
        .routes(routes!(gate::approve_task))
        .routes(routes!(gate::verify_task))
        .routes(routes!(gate::reject_verification))
        .routes(routes!(comment::list_comments, comment::add_comment))
        .routes(routes!(comment::edit_comment, comment::remove_comment))
        .routes(routes!(goal::list_goals, goal::create_goal))
        .routes(routes!(goal::get_goal))
        .routes(routes!(goal::verify_goal))
        .routes(routes!(goal::link_task))
}

/// The routes of this area for the owner.
pub(super) fn owner_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(project::delete_project))
}
