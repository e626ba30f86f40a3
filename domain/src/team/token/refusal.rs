//! Refusals of tokens: one that is not valid any longer or not for this, and what cannot be done with it.

use crate::refusal::category::refusals;
use crate::team::agent::TOKEN_COMMAND;
use crate::time::Timestamp;

use super::audience::TokenAudience;
use super::permission::Permission;

refusals! {
    /// Why a token is not accepted, or cannot be changed.
    TokenRefusal {
        #[error("this token expired at {at}")]
        Expired { at: Timestamp } => Unauthorized "token-expired",
        #[error("this token is not for {}", interface(*wanted))]
        WrongAudience { wanted: TokenAudience } => Forbidden "token-audience",
        #[error("{action} needs the permission {permission}, which this token does not have")]
        NotPermitted { permission: Permission, action: String } => Forbidden "not-permitted",
        #[error("current_token is not the token of this connection")]
        NotYours => Forbidden "not-your-token",
        #[error("only the token of an external agent can be refreshed")]
        NotRefreshable => Unprocessable "not-refreshable",
        #[error("the token of the owner is in a file and cannot be revoked")]
        OfOwner => Unprocessable "token-of-owner",
        #[error("the token of a run ends with the run")]
        OfRun => Unprocessable "token-of-run",
        #[error("the role of a person decides what their token permits")]
        OfPerson => Unprocessable "token-of-person",
    }
}

impl TokenRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Expired { .. } => format!("Ask the human for another token; for an agent: {TOKEN_COMMAND}."),
            Self::WrongAudience { wanted: TokenAudience::Mcp } => {
                format!("Call the HTTP interface with it, or ask the human for a token of your own: {TOKEN_COMMAND}.")
            }
            Self::WrongAudience { .. } => "Call the tools at /mcp with it. The HTTP interface is for the tokens of people.".to_owned(),
            Self::NotPermitted { permission, .. } => {
                format!("Ask the human to give your token the permission {permission}, with `vibe-relay token change` or on the page Settings.")
            }
            Self::NotYours => "Omit current_token: the token of the connection is refreshed.".to_owned(),
            Self::NotRefreshable => "Keep using the token that you have.".to_owned(),
            Self::OfOwner => "Replace it with `vibe-relay token rotate`.".to_owned(),
            Self::OfRun => "Stop the run.".to_owned(),
            Self::OfPerson => "Change the role of the person instead.".to_owned(),
        }
    }
}

fn interface(audience: TokenAudience) -> &'static str {
    match audience {
        TokenAudience::Mcp => "the tools at /mcp",
        TokenAudience::Api => "the HTTP interface",
        TokenAudience::Both => "both interfaces",
    }
}
