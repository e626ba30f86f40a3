//! Refusals that belong to no noun of the board: of ids, of values, of callers, and of repositories.
//!
//! Must not know a noun, because nouns use them.

use crate::refusal::category::{Category, refusals};

refusals! {
    /// Why a request is refused, whatever it is about.
    GeneralRefusal {
        #[error("{what} {id} does not exist")]
        NotFound { what: &'static str, id: String } => NotFound "not-found",
        #[error("{field}: {problem}")]
        Invalid { field: &'static str, problem: String, hint: String } => Unprocessable "invalid",
        #[error("the request carries no valid token")]
        Unauthorized => Unauthorized "unauthorized",
        #[error("this caller has used up its {what} for now")]
        RateLimited { what: &'static str, seconds: u64 } => TooMany "rate-limited",
    }
}

impl GeneralRefusal {
    pub fn invalid(field: &'static str, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Invalid { field, problem: problem.into(), hint: hint.into() }
    }

    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NotFound { what, .. } => match example_id(what) {
                Some(example) => format!("Look up the {what} on the board; ids have the form {example}."),
                None => format!("Look up the {what} on the board."),
            },
            Self::Invalid { hint, .. } => hint.clone(),
            Self::RateLimited { seconds, .. } => format!("Try again after {seconds} s, and less often from then on."),
            Self::Unauthorized => {
                "Open the link that `vibe-relay serve` printed, or send `Authorization: Bearer` with the token from the file next to the database."
                    .to_owned()
            }
        }
    }
}

/// An example of the ids of a noun, or none if they are plain numbers.
fn example_id(what: &str) -> Option<&'static str> {
    match what {
        "project" => Some("PROJ-001"),
        "run" => Some("RUN-001"),
        "goal" => Some("GOAL-001"),
        "token" => Some("0123456789ab"),
        "session" => Some("session_0123456789abcdef"),
        "message" | "handshake" | "contract" | "browser session" | "person" | "battle plan" => None,
        _ => Some("TASK-001"),
    }
}

/// A problem with a repository, as `repo` describes it with a code of its own.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct RepositoryRefusal {
    pub code: &'static str,
    pub detail: String,
    pub hint: String,
}

impl RepositoryRefusal {
    #[cfg(test)]
    pub(crate) const VARIANTS: &'static [&'static str] = &["RepositoryRefusal"];

    pub(crate) const fn category(&self) -> Category {
        Category::Unprocessable
    }

    pub(crate) const fn code(&self) -> &'static str {
        self.code
    }

    pub(crate) fn hint(&self) -> String {
        self.hint.clone()
    }
}
