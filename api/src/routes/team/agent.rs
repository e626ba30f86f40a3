//! The participants of a project, and the tokens with which the human admits agents.

use std::path::Path;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::Caller;
use domain::id::ProjectId;
use domain::team::agent::{Agent, HUMAN, Registration, resolve};
use domain::team::token::TokenTerms;
use domain::wire::{CreatedToken, List, NewToken, RemoveAgent};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Body, Id, NoBody, QueryParameters};
use crate::state::AppState;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AgentParameters {
    /// Also list the last 50 agents that left, after the current ones.
    #[serde(default)]
    departed: bool,
}

/// List current agents of a project, by name
#[utoipa::path(get, path = "/api/projects/{id}/agents", params(("id" = ProjectId, Path), AgentParameters), responses((status = 200, body = List<Agent>)))]
pub(crate) async fn list_agents(
    State(state): State<AppState>,
    Id(project): Id<ProjectId>,
    QueryParameters(parameters): QueryParameters<AgentParameters>,
) -> Result<Json<List<Agent>>> {
    state.db.project(&project).await?;
    let mut items = state.db.agents(&project).await?;
    if parameters.departed {
        items.extend(state.db.departed_agents(&project).await?);
    }
    Ok(Json(List { items, next: None }))
}

/// Create an agent with a token of its own
///
/// Only this response contains the token. Any earlier token for that name is revoked.
#[utoipa::path(
    post,
    path = "/api/projects/{id}/tokens",
    params(("id" = ProjectId, Path)),
    request_body = NewToken,
    responses((status = 201, body = CreatedToken))
)]
pub(crate) async fn create_token(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(new): Body<NewToken>,
) -> Result<(StatusCode, Json<CreatedToken>)> {
    let registration = Registration { name: new.agent, roles: new.roles, description: new.description, team: new.team, ..Registration::default() };
    let (permissions, reach) = (new.permissions.unwrap_or_default(), new.reach.unwrap_or_default());
    let terms = TokenTerms { permissions, reach, expires_in: new.expires_in };
    let token = state.db.create_agent_token(&caller, &project, registration, terms).await?;
    let connect = format!("claude mcp add --transport http vibe-relay http://127.0.0.1:{}/mcp --header \"Authorization: Bearer $TOKEN\"", state.port);
    Ok((StatusCode::CREATED, Json(CreatedToken { token, connect })))
}

/// Create the invite token, with which agents register under names they choose
///
/// Only this response contains the token. The previous one is revoked; agents that registered with it stay.
#[utoipa::path(post, path = "/api/projects/{id}/invite-token", params(("id" = ProjectId, Path)), responses((status = 201, body = CreatedToken)))]
pub(crate) async fn create_invite_token(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    _: NoBody,
) -> Result<(StatusCode, Json<CreatedToken>)> {
    let token = state.db.create_invite_token(&caller, &project).await?;
    Ok((StatusCode::CREATED, Json(CreatedToken { token, connect: bridge_command(&state.config.borrow().config.db_path) })))
}

/// The command that connects Claude Code through the bridge, which switches to the token that `register` returns. Over plain HTTP every call
/// would use the invite token again. The bridge finds the board by its database, whatever folder the agent runs in.
fn bridge_command(db_path: &Path) -> String {
    let database = quoted(&format!("VIBE_RELAY_DB={}", db_path.display()));
    format!("claude mcp add vibe-relay -e VIBE_RELAY_TOKEN=$TOKEN -e {database} -- vibe-relay mcp")
}

/// Quotes `word` for a shell's command line.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-=+,:@%".contains(&byte);
    if word.bytes().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Remove an agent from a project; its tasks stay assigned to it
#[utoipa::path(
    post,
    path = "/api/projects/{id}/agents/remove",
    params(("id" = ProjectId, Path)),
    request_body = RemoveAgent,
    responses((status = 200, body = Agent), (status = 409, description = "The agent already left."))
)]
pub(crate) async fn remove_agent(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(removed): Body<RemoveAgent>,
) -> Result<Json<Agent>> {
    state.db.project(&project).await?;
    let agents = state.db.agents(&project).await?;
    let names: Vec<&str> = agents.iter().filter(|agent| agent.left_at.is_none()).map(|agent| agent.name.as_str()).collect();
    let name = resolve(&removed.name, HUMAN, &names)?;
    state.db.deregister(&caller, &project, name).await?;
    Ok(Json(state.db.agent(&project, name).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bridge_command_quotes_the_path() {
        assert_eq!(
            bridge_command(Path::new("/data/board.db")),
            "claude mcp add vibe-relay -e VIBE_RELAY_TOKEN=$TOKEN -e VIBE_RELAY_DB=/data/board.db -- vibe-relay mcp"
        );
        let line = bridge_command(Path::new("/home/mara's boards/$1/board.db"));
        assert!(line.contains(r"-e 'VIBE_RELAY_DB=/home/mara'\''s boards/$1/board.db' -- "), "{line}");
    }
}
