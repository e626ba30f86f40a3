//! The only place that decides the HTTP status of a failure, and what its body says.
//!
//! Sentences and codes of refusals come from `domain`; here are only those of the transport itself.

use axum::Json;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::id::{InvalidId, TaskId};
use domain::refusal::Refusal;
use domain::wire::Problem;
use repo::RepoError;

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a request was not carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Store(#[from] db::Error),
    #[error("this server does not answer under the name \"{0}\"")]
    ForeignHost(String),
    #[error("pages of \"{0}\" may not use this server")]
    ForeignOrigin(String),
    #[error("the request does not come from the board's own page")]
    CrossSite,
    #[error("the address {0}")]
    Address(&'static str),
    #[error("{0}")]
    Query(String),
    #[error(transparent)]
    Id(#[from] InvalidId),
    #[error("the body is sent as {0}, and only JSON is taken")]
    ContentType(String),
    #[error("the body is no JSON: {0}")]
    Syntax(String),
    #[error("{field}: {problem}")]
    Field { field: String, problem: String },
    #[error("the request is larger than {limit} bytes")]
    TooLarge { limit: usize },
    #[error("there is nothing at {0}")]
    NoSuchPath(String),
    #[error("{method} is not possible at {path}")]
    Method { method: Method, path: String },
    #[error("{0} has no changes to show")]
    NoDiff(TaskId),
    #[error("this address is for WebSockets")]
    NoUpgrade,
    /// Work on another thread panicked or was cut off.
    #[error("the work was not finished")]
    Unfinished(#[from] tokio::task::JoinError),
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Store(refusal.into())
    }
}

impl From<RepoError> for Error {
    fn from(error: RepoError) -> Self {
        Refusal::Repository { code: error.code(), detail: error.to_string(), hint: error.hint() }.into()
    }
}

impl Error {
    /// Status and code. Codes of refusals are `domain`'s.
    fn answer(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Store(db::Error::Refused(refusal)) => (refused(refusal), refusal.code()),
            Self::Store(db::Error::Closed) => (StatusCode::SERVICE_UNAVAILABLE, "closed"),
            Self::Store(
                db::Error::Locked { .. }
                | db::Error::NewerSchema { .. }
                | db::Error::OldDatabase { .. }
                | db::Error::NotOurDatabase { .. }
                | db::Error::OldSqlite { .. }
                | db::Error::File { .. }
                | db::Error::Storage(_)
                | db::Error::Unreadable(_)
                | db::Error::NoEvent,
            ) => (StatusCode::INTERNAL_SERVER_ERROR, "storage"),
            Self::ForeignHost(_) => (StatusCode::FORBIDDEN, "foreign-host"),
            Self::ForeignOrigin(_) => (StatusCode::FORBIDDEN, "foreign-origin"),
            Self::CrossSite => (StatusCode::FORBIDDEN, "cross-site"),
            Self::Address(_) => (StatusCode::BAD_REQUEST, "bad-address"),
            Self::Query(_) => (StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
            Self::Id(_) => (StatusCode::NOT_FOUND, "not-found"),
            Self::ContentType(_) => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-json"),
            Self::Syntax(_) => (StatusCode::BAD_REQUEST, "bad-json"),
            Self::Field { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
            Self::TooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "too-large"),
            Self::NoSuchPath(_) => (StatusCode::NOT_FOUND, "no-such-path"),
            Self::Method { .. } => (StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed"),
            Self::NoDiff(_) => (StatusCode::NOT_FOUND, "no-diff"),
            Self::NoUpgrade => (StatusCode::UPGRADE_REQUIRED, "no-upgrade"),
            Self::Unfinished(_) => (StatusCode::INTERNAL_SERVER_ERROR, "unfinished"),
        }
    }

    /// The next legal step.
    fn hint(&self) -> String {
        match self {
            Self::Store(db::Error::Refused(refusal)) => return refusal.hint(),
            Self::Store(db::Error::Closed) => "The server is ending; repeat the request when it runs again.",
            Self::Store(_) | Self::Unfinished(_) => "Look at the server's own output for the cause, then repeat the request.",
            Self::ForeignHost(_) => "Use the address that `vibe-relay serve` printed.",
            Self::ForeignOrigin(_) | Self::CrossSite => "Use the board's own page, or send `Authorization: Bearer` from a program.",
            Self::Address(_) => "Write it as in /api/openapi.json.",
            Self::Query(_) => "The parameters and their types are listed in /api/openapi.json.",
            Self::Id(bad) => return format!("Look it up on the board; ids are written like {}.", bad.example),
            Self::ContentType(_) => "Send it with `Content-Type: application/json`.",
            Self::Syntax(_) => "Send one JSON object in UTF-8.",
            Self::Field { .. } => "The fields and their types are listed in /api/openapi.json.",
            Self::TooLarge { .. } => "Shorten it, or put the long part into a file of the repository and name the file.",
            Self::NoSuchPath(_) => "Every address is listed in /api/openapi.json.",
            Self::Method { .. } => "Use one of the methods in the `Allow` header.",
            Self::NoDiff(_) => "They appear with the first commit on its branch, and go when it is closed without a merge.",
            Self::NoUpgrade => "Connect with a WebSocket client, or read /api/events.",
        }
        .to_owned()
    }

    /// The body. What only the operator should know goes to the log, not into it.
    fn problem(&self) -> Problem {
        let (status, code) = self.answer();
        let detail = match self {
            Self::Store(db::Error::Refused(refusal)) => refusal.to_string(),
            Self::Store(db::Error::Closed) => "the server is ending".to_owned(),
            Self::Store(_) => "the store failed, so the request was not carried out".to_owned(),
            other => other.to_string(),
        };
        let (from, to, allowed) = match self {
            Self::Store(db::Error::Refused(refusal @ Refusal::IllegalMove { from, to, .. })) => (Some(*from), Some(*to), refusal.allowed()),
            _ => (None, None, Vec::new()),
        };
        Problem { status: status.as_u16(), code: code.to_owned(), detail, hint: self.hint(), from, to, allowed }
    }
}

fn refused(refusal: &Refusal) -> StatusCode {
    match refusal {
        Refusal::NotFound { .. } => StatusCode::NOT_FOUND,
        Refusal::Unauthorized => StatusCode::UNAUTHORIZED,
        // Somebody else might.
        Refusal::HumanOnly { .. }
        | Refusal::WrongAgentKind { .. }
        | Refusal::WrongTask { .. }
        | Refusal::WrongIdentity { .. }
        | Refusal::NotRegistered
        | Refusal::AgentLeft { .. }
        | Refusal::LeadOnly { .. }
        | Refusal::Untrusted { .. }
        | Refusal::NotAssignee { .. }
        | Refusal::NotIndependent { .. }
        | Refusal::NotATarget { .. } => StatusCode::FORBIDDEN,
        // It stands in the way of what is there already.
        Refusal::StaleRun { .. }
        | Refusal::AgentUnresponsive { .. }
        | Refusal::NameTaken { .. }
        | Refusal::UnreadMessages { .. }
        | Refusal::HatConflict { .. }
        | Refusal::AlreadyAcknowledged { .. }
        | Refusal::GoalUnfinished { .. }
        | Refusal::MinionLimit { .. } => StatusCode::CONFLICT,
        Refusal::IllegalMove { .. }
        | Refusal::Invalid { .. }
        | Refusal::NotClean { .. }
        | Refusal::NoCommits { .. }
        | Refusal::EmptyDiff { .. }
        | Refusal::CommentNeeded { .. }
        | Refusal::ReasonNeeded { .. }
        | Refusal::EmptyPlan { .. }
        | Refusal::SelfReview { .. }
        | Refusal::HeadMoved { .. }
        | Refusal::NothingToApprove { .. }
        | Refusal::DependenciesUnfinished { .. }
        | Refusal::DependencyCycle { .. }
        | Refusal::RunEnding { .. }
        | Refusal::NoLiveRun(_)
        | Refusal::WrongStatus { .. }
        | Refusal::NoQuestion { .. }
        | Refusal::NoPendingPlan
        | Refusal::NothingToLand { .. }
        | Refusal::UnknownAgent { .. }
        | Refusal::AmbiguousAgent { .. }
        | Refusal::IllegalStage { .. }
        | Refusal::Repository { .. } => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let problem = self.problem();
        if problem.status >= 500 {
            let cause = std::error::Error::source(&self).map(ToString::to_string);
            tracing::error!(error = %self, cause, "a request failed");
        }
        let mut response = (self.answer().0, Json(problem)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        match self {
            Self::Store(db::Error::Refused(Refusal::Unauthorized)) => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Self::NoUpgrade => {
                headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
            }
            _ => {}
        }
        response
    }
}

#[cfg(test)]
mod tests;
