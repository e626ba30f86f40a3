//! Tokens: what each opens, what its holder may do with it, and until when. Their values are not part of them.
//!
//! Must not know how a token is stored, hashed or sent.

mod audience;
mod permission;
mod reach;
pub mod refusal;

pub use audience::TokenAudience;
pub use permission::{Permission, Permissions};
pub use reach::TokenReach;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::id::{InvalidId, ProjectId};
use crate::refusal::general::GeneralRefusal;
use crate::schema::string_schema;
use crate::team::agent::HUMAN;
use crate::team::token::refusal::TokenRefusal;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

/// The longest time for which a token can be valid, unless it has no end.
const MAX_LIFETIME: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// How long a refreshed token stays valid beside its successor, because the answer with the successor may be lost.
pub const REFRESH_OVERLAP: Duration = Duration::from_secs(60);

vocabulary! {
    /// The kind of a token.
    TokenKind, "kind of token" {
        /// Of a person.
        Human = "human",
        /// Of a person's own coding agent, which makes no decisions.
        Companion = "companion",
        /// Of a managed agent, for one run.
        Run = "run",
        /// Of an external agent.
        Agent = "agent",
        /// Of a project: its holder may register as an agent.
        Invite = "invite",
    }
}

/// The public name of a token: the first digits of the hash of its value. The audit log names it so, too.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TokenName(String);

/// How many hexadecimal digits a name has.
const NAME_DIGITS: usize = 12;

const EXAMPLE_NAME: &str = "0123456789ab";

string_schema!(TokenName, "TokenName", "Name of a token: the first digits of its hash.", EXAMPLE_NAME, pattern = "^[0-9a-f]{12}$");

impl TokenName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TokenName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for TokenName {
    type Err = InvalidId;

    fn from_str(given: &str) -> Result<Self, InvalidId> {
        let is_name = given.len() == NAME_DIGITS && given.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let invalid = || InvalidId { given: given.chars().take(60).collect(), kind: "a token's", example: EXAMPLE_NAME };
        is_name.then(|| Self(given.to_owned())).ok_or_else(invalid)
    }
}

impl TryFrom<String> for TokenName {
    type Error = InvalidId;

    fn try_from(given: String) -> Result<Self, InvalidId> {
        given.parse()
    }
}

impl From<TokenName> for String {
    fn from(name: TokenName) -> Self {
        name.0
    }
}

/// A token in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Token {
    pub name: TokenName,
    pub kind: TokenKind,
    /// The participant that it identifies; none for an invite token.
    pub holder: Option<String>,
    /// The only project that it opens; none for a person. The token of a general opens the others too.
    pub project_id: Option<ProjectId>,
    pub reach: TokenReach,
    pub audience: TokenAudience,
    /// For a person, those of the role.
    #[schema(value_type = Vec<Permission>)]
    pub permissions: Permissions,
    pub created_at: Timestamp,
    /// When it stops to be valid, if it does.
    pub expires_at: Option<Timestamp>,
    /// When the agent that holds it called last.
    pub last_used_at: Option<Timestamp>,
}

impl Token {
    /// Whether it is the permanent token of the owner, which is kept in a file.
    pub fn is_owners(&self) -> bool {
        self.kind == TokenKind::Human && self.holder.as_deref() == Some(HUMAN)
    }

    /// Whether the owner can revoke it, and change until when it is valid. Others have an action of their own for that.
    ///
    /// # Errors
    /// For the token of the owner and those of runs.
    pub fn require_revocable(&self) -> Result<(), TokenRefusal> {
        match self.kind {
            TokenKind::Run => Err(TokenRefusal::OfRun),
            TokenKind::Human if self.is_owners() => Err(TokenRefusal::OfOwner),
            TokenKind::Human | TokenKind::Companion | TokenKind::Agent | TokenKind::Invite => Ok(()),
        }
    }
}

/// The terms of an agent's token, which a person decides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenTerms {
    pub permissions: Permissions,
    pub reach: TokenReach,
    /// The seconds after which it expires; never if missing.
    pub expires_in: Option<u64>,
}

/// Returns the end of a token that is valid for `expires_in` seconds from `now` on.
///
/// # Errors
/// When the number is zero or more than ten years.
pub fn validate_lifetime(expires_in: u64, now: Timestamp) -> Result<Timestamp, GeneralRefusal> {
    if (1..=MAX_LIFETIME.as_secs()).contains(&expires_in) {
        return Ok(now.after(Duration::from_secs(expires_in)));
    }
    let problem = format!("{expires_in} is not between 1 and {} seconds", MAX_LIFETIME.as_secs());
    Err(GeneralRefusal::invalid(
        "expires_in",
        problem,
        "Give a number of seconds, such as 86400 for a day, or omit it for a token that does not expire.",
    ))
}

events! {
    /// A change of the tokens of agents or persons.
    TokenEvent {
        Created "token_made" {}
        /// Its permissions or its expiry changed.
        Changed "token_changed" { token: TokenName }
        /// Its holder replaced it.
        Refreshed "token_refreshed" { token: TokenName }
        Revoked "token_revoked" { token: TokenName }
    }
}

#[cfg(test)]
mod tests;
