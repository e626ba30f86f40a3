//! The conversation of a run: that of an earlier one, or a new one. It must not know how a conversation is stored.

use db::Db;
use domain::board::task::Task;
use domain::runs::agent_kind::AgentKind;
use uuid::Uuid;

use crate::backend::Session;

/// Coders, planners and oracles resume their session; reviewers and orchestrators start a new one.
pub(super) async fn session(db: &Db, task: &Task, phase: AgentKind) -> db::Result<Session> {
    let last = match phase {
        AgentKind::Coder | AgentKind::Planner | AgentKind::Oracle => db.last_session(&task.card.id, phase).await?,
        AgentKind::Reviewer | AgentKind::Orchestrator => None,
    };
    Ok(match last.and_then(|last| Uuid::parse_str(&last).ok()) {
        Some(id) => Session::Resume(id),
        None => Session::New(Uuid::new_v4()),
    })
}
