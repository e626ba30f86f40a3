//! Routes of the war room: claims of files, battle plans, the raid log, handovers, knowledge, results of tasks, debriefs, orders, questions to
//! oracles, zones, the heat map, the code map, formations, and the agents that are present.

mod battle_plan;
mod claim;
mod code_map;
mod debrief;
mod formation;
mod handover;
mod heat_map;
mod knowledge;
mod oracle;
mod party;
mod raid_log;
mod result;
mod trigger;
mod zone;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::AppState;

/// The routes of this area for all persons.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(claim::list_claims))
        .routes(routes!(claim::release_claim))
        .routes(routes!(party::get_party))
        .routes(routes!(battle_plan::list_battle_plans, battle_plan::set_battle_plan))
        .routes(routes!(battle_plan::end_battle_plan))
        .routes(routes!(formation::get_formation))
        .routes(routes!(handover::list_handovers))
        .routes(routes!(heat_map::get_heat_map))
        .routes(routes!(knowledge::list_knowledge, knowledge::write_knowledge))
        .routes(routes!(knowledge::resolve_trap))
        .routes(routes!(knowledge::archive_intel))
        .routes(routes!(raid_log::list_raid_log, raid_log::log_raid))
        .routes(routes!(result::get_task_result))
        .routes(routes!(debrief::list_debriefs, debrief::file_debrief))
        .routes(routes!(debrief::end_session))
        .routes(routes!(oracle::list_oracle_questions, oracle::ask_oracle))
        .routes(routes!(oracle::list_oracle_use))
        .routes(routes!(trigger::list_triggers, trigger::give_trigger))
        .routes(routes!(trigger::withdraw_trigger))
        .routes(routes!(zone::list_zones, zone::set_zone))
        .routes(routes!(zone::remove_zone))
        .routes(routes!(zone::propose_zones))
        .routes(routes!(zone::apply_zones))
        .routes(routes!(code_map::get_code_map, code_map::map_code))
}
