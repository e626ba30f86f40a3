//! Tools that name and refresh the caller's token, for external agents. Names, arguments and JSON are those of shared-context-server.
//!
//! They give no permission: the token of the connection says who calls, and only a person decides what it permits.

use db::Caller;
use domain::team::token::refusal::TokenRefusal;
use domain::team::token::{Permission, Permissions};
use domain::text::excerpt;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use crate::call::{Call, route};
use crate::handler::REFRESH_TOKEN;
use crate::reply::{Answer, Failure};
use crate::tools::arguments;
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::Managed;

/// The longest type of an agent that an answer repeats, in bytes.
const MAX_TYPE: usize = 60;

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "authenticate_agent",
        description: "Call this to see who you are and what your token permits. It gives no permission; only the human does.",
        effect: Effect::Reads,
        admission: Admission::Store,
        audience: Audience { managed: Managed::NOBODY, human: false, external: External::Everyone, invite: true },
        identity_arguments: &["agent_id"],
        route: |definition| route(definition, authenticate_agent),
    },
    ToolDefinition {
        name: REFRESH_TOKEN,
        description: "Call this to replace your token, for example after it was exposed. The new one has the same rights and expiry; store it and connect with it. The old one expires after a minute.",
        effect: Effect::Renews,
        admission: Admission::ActiveReader,
        audience: Audience { managed: Managed::NOBODY, human: false, external: External::Everyone, invite: false },
        identity_arguments: &[],
        route: |definition| route(definition, refresh_token),
    },
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AuthenticateAgent {
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    agent_type: Option<String>,
    #[serde(default)]
    requested_permissions: Option<Vec<String>>,
}

async fn authenticate_agent(call: Call, given: AuthenticateAgent) -> Result<Answer, Failure> {
    let (held, ends_at) = match call.bearer.current(&call.db).await?.map(|holder| (permissions(&holder.caller), holder.ends_at)) {
        Some(found) => found,
        None => (Permissions::READ, None),
    };
    // A word that is no permission is one that nobody holds.
    let asked: Vec<Permission> = match given.requested_permissions {
        Some(words) => words.iter().filter_map(|word| word.parse().ok()).collect(),
        None => vec![Permission::Read, Permission::Write],
    };
    let name = call.caller.name();
    let data = json!({
        "success": true,
        "token": call.bearer.handle(),
        "token_type": "Protected",
        "token_format": "sct_*",
        "agent_id": name,
        "agent_type": given.agent_type.map(|kind| excerpt(&kind, MAX_TYPE)),
        "permissions": held.held_of(&asked),
        "issued_at": db::now(),
        "expires_at": ends_at,
        "expires_in": expires_in(ends_at),
    });
    let note = name.is_none().then(|| "Your token is an invite: call register to get a name and a token of your own.".to_owned());
    Ok(Answer::new(data.to_string(), data).with_note(note))
}

/// Returns what the token of an agent or a guest permits.
fn permissions(caller: &Caller) -> Permissions {
    match caller {
        Caller::Agent(agent) => agent.permissions,
        Caller::Invite(invite) => invite.permissions,
        Caller::Person(person) => person.role.permissions(),
        Caller::Runner | Caller::Run(_) => Permissions::default(),
    }
}

fn expires_in(ends_at: Option<Timestamp>) -> Option<u64> {
    ends_at.map(|at| at.since(db::now()).as_secs())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RefreshToken {
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    current_token: Option<String>,
    #[schemars(skip)]
    #[serde(default, rename = "auth_token")]
    _auth_token: Option<IgnoredAny>,
}

async fn refresh_token(call: Call, given: RefreshToken) -> Result<Answer, Failure> {
    if given.current_token.is_some_and(|token| !call.bearer.is_named(&token)) {
        return Err(TokenRefusal::NotYours.into());
    }
    let fresh = call.bearer.refresh(&call.db).await?;
    let data = json!({
        "success": true,
        "token": fresh.token,
        "token_type": "Bearer",
        "agent_id": call.caller.name(),
        "permissions": fresh.permissions,
        "issued_at": db::now(),
        "expires_at": fresh.expires_at,
        "expires_in": expires_in(fresh.expires_at),
        "previous_expires_at": fresh.retires_at,
    });
    Ok(Answer::new(data.to_string(), data))
}
