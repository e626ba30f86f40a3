//! Who takes part in a project, and the tokens by which the person lets agents in.

use std::path::Path;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use db::Caller;
use domain::id::ProjectId;
use domain::team::agent::{Agent, HUMAN, Registration, resolve};
use domain::wire::{CreatedToken, List, NewToken, RemoveAgent};

use crate::error::Result;
use crate::extract::{Body, Id, NoBody};
use crate::state::AppState;

/// Everybody who takes or took part in a project, by name
#[utoipa::path(get, path = "/api/projects/{id}/agents", params(("id" = ProjectId, Path)), responses((status = 200, body = List<Agent>)))]
pub(crate) async fn list(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<List<Agent>>> {
    state.db.project(&project).await?;
    Ok(Json(List { items: state.db.agents(&project).await?, next: None }))
}

/// Make an agent with a token of its own
///
/// The token is in this answer alone. An earlier token of the same name is worth nothing from then on.
#[utoipa::path(post, path = "/api/projects/{id}/tokens", params(("id" = ProjectId, Path)), request_body = NewToken, responses((status = 201, body = CreatedToken)))]
pub(crate) async fn token(
    State(state): State<AppState>,
    Id(project): Id<ProjectId>,
    Body(new): Body<NewToken>,
) -> Result<(StatusCode, Json<CreatedToken>)> {
    let who = Registration { name: new.agent, roles: new.roles, description: new.description, team: new.team };
    let token = state.db.create_agent_token(&Caller::Human, &project, who).await?;
    let connect = format!("claude mcp add --transport http vibe-relay http://127.0.0.1:{}/mcp --header \"Authorization: Bearer $TOKEN\"", state.port);
    Ok((StatusCode::CREATED, Json(CreatedToken { token, connect })))
}

/// Make the token with which agents join a project under names of their own
///
/// The token is in this answer alone. The earlier one lets nobody in any more; whoever joined with it stays.
#[utoipa::path(post, path = "/api/projects/{id}/room-token", params(("id" = ProjectId, Path)), responses((status = 201, body = CreatedToken)))]
pub(crate) async fn room_token(State(state): State<AppState>, Id(project): Id<ProjectId>, _: NoBody) -> Result<(StatusCode, Json<CreatedToken>)> {
    let token = state.db.create_invite_token(&Caller::Human, &project).await?;
    Ok((StatusCode::CREATED, Json(CreatedToken { token, connect: through_bridge(&state.config.borrow().config.db_path) })))
}

/// A room's token is for the bridge, which goes on with the token that `register` answers; over HTTP each call would come from the room
/// again. The bridge finds the board by its database, in whatever folder the agent is started.
fn through_bridge(db_path: &Path) -> String {
    let database = quoted(&format!("VIBE_RELAY_DB={}", db_path.display()));
    format!("claude mcp add vibe-relay -e VIBE_RELAY_TOKEN=$TOKEN -e {database} -- vibe-relay mcp")
}

/// One word of a shell's command line.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-=+,:@%".contains(&byte);
    if word.bytes().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Take an agent out of a project; its tasks stay assigned to it
#[utoipa::path(post, path = "/api/projects/{id}/agents/remove", params(("id" = ProjectId, Path)), request_body = RemoveAgent, responses((status = 200, body = Agent)))]
pub(crate) async fn remove(State(state): State<AppState>, Id(project): Id<ProjectId>, Body(who): Body<RemoveAgent>) -> Result<Json<Agent>> {
    state.db.project(&project).await?;
    let there = state.db.agents(&project).await?;
    let names: Vec<&str> = there.iter().filter(|agent| agent.left_at.is_none()).map(|agent| agent.name.as_str()).collect();
    let name = resolve(&who.name, HUMAN, &names)?;
    state.db.deregister(&Caller::Human, &project, name).await?;
    Ok(Json(state.db.agent(&project, name).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_for_the_shell() {
        assert_eq!(
            through_bridge(Path::new("/data/board.db")),
            "claude mcp add vibe-relay -e VIBE_RELAY_TOKEN=$TOKEN -e VIBE_RELAY_DB=/data/board.db -- vibe-relay mcp"
        );
        let line = through_bridge(Path::new("/home/mara's boards/$1/board.db"));
        assert!(line.contains(r"-e 'VIBE_RELAY_DB=/home/mara'\''s boards/$1/board.db' -- "), "{line}");
    }
}
