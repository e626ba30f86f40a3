//! Bodies of the HTTP interface by which the person takes part among agents: tokens, messages, hand-overs and gates.
//!
//! What an agent or a message is, and who may do what, is in the nouns themselves.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::id::GoalId;
use crate::team::message::Message;
use crate::team::role::Role;

/// `POST /api/projects/{id}/tokens`: an agent that the person vouches for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// Its name; an earlier token of that name is worth nothing from then on.
    #[schema(value_type = crate::schema::ParticipantName)]
    pub agent: String,
    pub roles: Vec<Role>,
    #[serde(default)]
    pub team: Option<String>,
    /// What it is there for.
    #[serde(default)]
    #[schema(value_type = Option<crate::schema::OptionalBody>)]
    pub description: Option<String>,
}

/// A message with its text rendered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MessageView {
    #[serde(flatten)]
    pub message: Message,
    /// The content as safe HTML.
    pub content_html: String,
}

/// A token that was made. It is shown this once: only its hash is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CreatedToken {
    pub token: String,
    /// The command that connects Claude Code. It reads `$TOKEN` where the token belongs, which stays out of shells' histories that way.
    pub connect: String,
}

/// The answer to `POST /api/token/rotate`. The new token is in its file, never in a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RotatedToken {
    /// Browsers that were signed out.
    pub revoked_sessions: u64,
}

/// `POST /api/projects/{id}/agents/remove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveAgent {
    /// Short where that is clear.
    #[schema(value_type = crate::schema::ParticipantName)]
    pub name: String,
}

/// `POST /api/projects/{id}/inbox/read`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadInbox {
    /// The newest message of an earlier answer that arrived: nothing up to it is given again.
    #[serde(default)]
    pub ack: Option<i64>,
}

/// `POST /api/projects/{id}/handshakes`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewHandshake {
    #[schema(value_type = crate::schema::Body)]
    pub message: String,
    /// Who is to acknowledge it; everybody who does not lead when empty.
    #[serde(default)]
    #[schema(value_type = Vec<crate::schema::ParticipantName>)]
    pub agents: Vec<String>,
}

/// `PUT /api/projects/{id}/spawn-policies`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetSpawnPolicy {
    /// `global`, or the name of an agent.
    #[schema(value_type = crate::schema::ParticipantName)]
    pub scope: String,
    pub enabled: bool,
    /// Minions at once.
    #[schema(maximum = 100)]
    pub max_minions: u32,
}

/// What goes along with an approval or a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Notes {
    /// Kept with what is judged.
    #[serde(default)]
    #[schema(value_type = Option<crate::schema::OptionalBody>)]
    pub notes: Option<String>,
}

/// `POST /api/tasks/{id}/reject-verification`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RejectVerification {
    /// What is wrong with the finished work, for whoever takes it up again.
    #[schema(value_type = crate::schema::Body)]
    pub reason: String,
}

/// `POST /api/tasks/{id}/assign`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Assign {
    /// The agent from outside that is to do it; `null` gives the task back to the agents that the runner starts.
    #[serde(deserialize_with = "explicit_null")]
    #[schema(required, value_type = Option<crate::schema::ParticipantName>)]
    pub assigned_to: Option<String>,
    /// In which role.
    #[serde(default)]
    pub role_hat: Option<Role>,
}

/// `POST /api/tasks/{id}/goal`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkGoal {
    /// `null` takes the task from its goal.
    #[serde(deserialize_with = "explicit_null")]
    #[schema(required)]
    pub goal_id: Option<GoalId>,
}

/// A value that may be `null` and must be there: what was forgotten takes nothing away.
fn explicit_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

#[cfg(test)]
mod tests;
