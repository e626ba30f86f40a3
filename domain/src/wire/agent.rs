//! Bodies of the HTTP API for teamwork: tokens, messages, handshakes, assignments and review gates.
//!
//! Must not define nouns or permissions.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::id::GoalId;
use crate::team::message::Message;
use crate::team::role::Role;
use crate::team::token::{Permission, Permissions, TokenAudience, TokenReach};

/// `POST /api/projects/{id}/tokens`: a trusted agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// Its name. Any earlier token for that name is revoked.
    #[schema(value_type = crate::text_schema::ParticipantName)]
    pub agent: String,
    pub roles: Vec<Role>,
    #[serde(default)]
    pub team: Option<String>,
    /// Its purpose.
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::OptionalBody>)]
    pub description: Option<String>,
    /// `read` and `write` if missing.
    #[serde(default)]
    #[schema(value_type = Option<Vec<Permission>>)]
    pub permissions: Option<Permissions>,
    /// `all` makes a lead a general, which acts in every project; `project` if missing.
    #[serde(default)]
    pub reach: Option<TokenReach>,
    /// The seconds after which it expires; never if missing.
    #[serde(default)]
    pub expires_in: Option<u64>,
}

/// `POST /api/persons/{id}/token`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPersonToken {
    /// The interfaces that accept it; `both` if missing.
    #[serde(default)]
    pub audience: Option<TokenAudience>,
    /// The seconds after which it expires; never if missing.
    #[serde(default)]
    pub expires_in: Option<u64>,
}

/// `PATCH /api/tokens/{name}`: the fields to change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenPatch {
    /// Not for the token of a person, whose role decides.
    #[serde(default)]
    #[schema(value_type = Option<Vec<Permission>>)]
    pub permissions: Option<Permissions>,
    /// The seconds from now after which it expires.
    #[serde(default)]
    pub expires_in: Option<u64>,
}

/// A message with its rendered content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MessageView {
    #[serde(flatten)]
    pub message: Message,
    /// The content as sanitized HTML.
    pub content_html: String,
    /// Whether its recipient, or each of them, is known to have read it. One that was delivered may have been lost on the way.
    #[serde(default)]
    pub acknowledged: bool,
}

/// A new token. It is shown only once, because only its hash is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CreatedToken {
    pub token: String,
    /// The command that connects Claude Code. It contains `$TOKEN` instead of the token, to keep it out of shell histories.
    pub connect: String,
}

/// The answer to `POST /api/persons/{id}/token`. Both are shown only once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CreatedPersonToken {
    /// For programs of the person.
    pub token: String,
    /// The link that signs one browser of the person in, once.
    pub sign_in_link: String,
}

/// The answer to `POST /api/sign-in-link`. It is shown only once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SignInLink {
    /// The link that signs one browser in, once.
    pub sign_in_link: String,
}

/// The answer to `POST /api/companion-token`. It is shown only once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CompanionToken {
    pub token: String,
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
    /// A full or unambiguous short name.
    #[schema(value_type = crate::text_schema::ParticipantName)]
    pub name: String,
}

/// `POST /api/projects/{id}/inbox/read`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadInbox {
    /// The id of the newest message that arrived. It acknowledges all messages up to it.
    #[serde(default)]
    pub ack: Option<i64>,
}

/// `POST /api/projects/{id}/handshakes`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewHandshake {
    #[schema(value_type = crate::text_schema::Body)]
    pub message: String,
    /// The targets. If empty, everyone except leads.
    #[serde(default)]
    #[schema(value_type = Vec<crate::text_schema::ParticipantName>)]
    pub agents: Vec<String>,
}

/// `PUT /api/projects/{id}/spawn-policies`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetSpawnPolicy {
    /// `global`, or the name of an agent.
    #[schema(value_type = crate::text_schema::ParticipantName)]
    pub scope: String,
    pub enabled: bool,
    /// The maximum number of minions at the same time.
    #[schema(maximum = 100)]
    pub max_minions: u32,
}

/// The notes of an approval or a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Notes {
    /// Stored with the task or goal.
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::OptionalBody>)]
    pub notes: Option<String>,
}

/// `POST /api/tasks/{id}/reject-verification`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RejectVerification {
    /// The problem of the finished work.
    #[schema(value_type = crate::text_schema::Body)]
    pub reason: String,
}

/// `POST /api/tasks/{id}/assign`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Assign {
    /// The new assignee; `null` returns the task to managed agents.
    #[serde(deserialize_with = "explicit_null")]
    #[schema(required, value_type = Option<crate::text_schema::ParticipantName>)]
    pub assigned_to: Option<String>,
    /// The hat of the assignee.
    #[serde(default)]
    pub role_hat: Option<Role>,
}

/// `POST /api/tasks/{id}/goal`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkGoal {
    /// `null` unlinks the task from its goal.
    #[serde(deserialize_with = "explicit_null")]
    #[schema(required)]
    pub goal_id: Option<GoalId>,
}

/// Deserializes a required value that can be `null`, so that an omitted field never removes anything.
fn explicit_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

#[cfg(test)]
mod tests;
